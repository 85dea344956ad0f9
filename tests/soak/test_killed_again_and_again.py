"""Twenty kills at random moments, with eyes that are told and with the real ones: the result is that of a whole run."""

from __future__ import annotations

from pathlib import Path

import broken_off
import live_scene as scene
import pytest
from broken_off import content

from vision_referee.pipeline.recorded import AnalysisRequest, Sight, analyze
from vision_referee.record.match_folder import publish

pytestmark = pytest.mark.soak

SAMPLE = Path(__file__).parents[2] / "sample_videos" / "hanging_ball.mp4"


def test_twenty_kills_at_random_moments(tmp_path: Path) -> None:
    video = scene.write_video(tmp_path / "scene.mp4")
    expected_s = broken_off.took_s(tmp_path / "whole", (video,))
    expected = content(tmp_path / "whole")
    middle = broken_off.killed_at_random(tmp_path / "m", (video,), kills=20, seed=5, within_s=expected_s)
    assert middle >= 8
    assert content(tmp_path / "m") == expected


@pytest.mark.parametrize("stop_at_s", [0.5, 1.5, 2.5])
def test_the_real_eyes_go_on_where_they_were_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at_s: float
) -> None:
    """What the detector and the follower have learned is part of the checkpoint."""
    import av

    from vision_referee.pipeline.eye import Eye

    video = tmp_path / "a.mp4"
    with av.open(str(SAMPLE)) as source, av.open(str(video), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None and float(packet.pts * packet.time_base) < 3.5:
                packet.stream = stream
                out.mux(packet)

    def asked(name: str) -> AnalysisRequest:
        return AnalysisRequest(
            sources=(video,), rules="american", out=tmp_path / name, players=("A", "B"), table="pyramid-12ft"
        )

    analyze(asked("whole"), checkpoint_every_s=0.0)
    look = Eye.look

    def stopped(self: Eye, changed):  # type: ignore[no-untyped-def]
        if changed.frame.t_s >= stop_at_s:
            monkeypatch.setattr(Eye, "look", look)
            raise KeyboardInterrupt
        return look(self, changed)

    monkeypatch.setattr(Eye, "look", stopped)
    with pytest.raises(KeyboardInterrupt):
        analyze(asked("m"), see=Sight(), checkpoint_every_s=0.0)
    looks = []
    monkeypatch.setattr(Eye, "look", lambda self, changed: looks.append(changed.frame.t_s) or look(self, changed))
    analyze(asked("m"), resume=True)
    assert min(looks) >= stop_at_s - 0.2, "what was seen is not looked at again"
    assert content(publish(tmp_path / "m")) == content(publish(tmp_path / "whole"))
