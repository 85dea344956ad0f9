"""What people get from a finished match: clips, restoration pictures, the report."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import av
import handmade_match as handmade
import numpy as np
import pytest
from PIL import Image

from vision_referee.domain.errors import InputError
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.record.events_jsonl import write_events
from vision_referee.record.match_folder import EVENTS, RULINGS, MatchFolder
from vision_referee.record.rulings_jsonl import write_rulings
from vision_referee.review.clips import clip_span_s, crowded, needs_clip
from vision_referee.review.products import make_products
from vision_referee.review.report import report_html
from vision_referee.review.source_frames import SourceVideo
from vision_referee.review.wording import LANGUAGES, wording


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MatchFolder:
    copy = handmade.copied_match(tmp_path_factory.mktemp("products") / "match")
    assert make_products(copy.folder, lang="ru") == []
    return MatchFolder(copy.folder)


def test_fouls_restorations_and_doubts_get_a_clip_and_nothing_else(made: MatchFolder) -> None:
    assert sorted(p.name for p in (made.path / "clips").iterdir()) == ["0002.mp4", "0003.mp4", "0004.mp4"]
    assert [p.name for p in (made.path / "restore").iterdir()] == ["0003.png"]


def test_a_clip_plays_in_a_browser_and_keeps_the_videos_times(made: MatchFolder) -> None:
    path = made.path / "clips" / "0002.mp4"
    head = path.read_bytes()[:4096]
    assert head.index(b"moov") < head.index(b"mdat") if b"mdat" in head else b"moov" in head
    with av.open(str(path)) as clip:
        stream = clip.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        times = [frame.time for frame in clip.decode(stream)]
    start, end = clip_span_s(made.rulings()[1])
    assert (start, end) == (6.5, 12.0)
    # The source has frames at every 0.04 s: the first at or after 6.5 is 6.52, the last is 12.0.
    assert times[0] == pytest.approx(0.02, abs=1e-3)
    assert times[-1] == pytest.approx(5.5, abs=1e-3)
    assert np.allclose(np.diff(times), 0.04, atol=1e-3)


def test_the_overlay_lies_on_the_balls(made: MatchFolder) -> None:
    """Where the source shows bare cloth, the clip shows the cue ball's path, projected by the camera."""
    camera = handmade.shared_match().camera
    on_path = camera.project_plane([handmade.place("cue", 8.5)], handmade.TABLE.ball_radius_mm)[0]
    x, y = np.round(on_path).astype(int)
    frames = {}
    with av.open(str(made.path / "clips" / "0002.mp4")) as clip:
        for frame in clip.decode(video=0):
            frames[round(frame.time + 6.5, 2)] = frame.to_ndarray(format="bgr24")
    before, after = frames[8.0][y, x].astype(int), frames[9.52][y, x].astype(int)
    assert before[1] > before[2], "green cloth before the ball has come by"
    assert after[2] > after[1] + 40, "the red path afterwards"
    assert len(frames[8.0]) > 360, "the words stand below the picture, not on it"


def test_seeking_gives_the_same_frames_as_reading_from_the_start() -> None:
    match = MatchFolder(handmade.shared_match().folder)
    video = SourceVideo(match.info, match.path)
    sought = [f.t_s for f in video.frames(18.0, 18.5)]
    assert sought == pytest.approx([18 + k * 0.04 for k in range(13)], abs=1e-6)
    frame = video.frame_at(20.41)
    assert frame is not None and frame.t_s == pytest.approx(20.40)
    cue = handmade.overhead_camera().project_plane([handmade.place("cue", 20.40)], 34.0)[0]
    b, _, r = frame.bgr[round(cue[1]), round(cue[0])].astype(int)
    assert r > b + 60, "the red cue ball is where it is at that time"


def test_a_very_long_ruling_gets_a_clip_of_what_matters() -> None:
    foul = handmade.rulings()[1].fouls[0]
    long = Ruling(id=9, kind=RulingKind.BETWEEN, t_start=100, t_end=1000, player=None, fouls=(replace(foul, t=500.0),))
    start, end = clip_span_s(long)
    assert start <= 499 and end >= 501 and end - start <= 75
    assert needs_clip(long)


def test_the_restoration_picture_says_where_in_millimetres(made: MatchFolder) -> None:
    image = Image.open(made.path / "restore" / "0003.png")
    assert image.width == 1600
    # diagram (1600 wide) and below it the frame (16:9)
    assert image.height > 1600 * 9 / 16 + 1600 * 0.5
    gold = np.asarray(image.convert("RGB")).astype(int)
    ringed = (abs(gold - (255, 196, 60)).sum(axis=2) < 60).sum()
    assert ringed > 2000


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [v for k, v in attrs if k in ("href", "src") and v]
        if values.get("id"):
            self.ids.add(str(values["id"]))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_report_needs_nothing_from_elsewhere(made: MatchFolder, lang: str) -> None:
    html = report_html(made, lang=lang)
    found = _Links()
    found.feed(html)
    for link in found.links:
        if link.startswith("#"):
            assert link[1:] in found.ids
        else:
            assert (made.path / link).exists(), link
    assert not re.search(r"url\(|@import|<script|<link", html)
    assert html.count("<svg") == 4 + 2
    assert f'lang="{lang}"' in html


def test_the_report_speaks_the_readers_language(made: MatchFolder) -> None:
    russian, english = (report_html(made, lang=lang) for lang in ("ru", "en"))
    assert "падение битка" in russian and "Падение битка. 5 очков Борису" in russian
    assert "cue ball pocketed" in english and "5 points to Boris" in english
    assert "G-20.13" in russian and "G-20.13" in english


def test_names_are_text_not_markup(tmp_path: Path) -> None:
    copy = handmade.copied_match(tmp_path / "match")
    bad = "<script>alert(1)</script>"
    write_rulings(copy.folder / RULINGS, [replace(r, player=bad, score={bad: 1}) for r in handmade.rulings()])
    html = report_html(MatchFolder(copy.folder), lang="en")
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_match_of_events_only_has_a_report(tmp_path: Path) -> None:
    copy = handmade.copied_match(tmp_path / "match")
    write_rulings(copy.folder / RULINGS, [])
    assert make_products(copy.folder, lang="en") == []
    html = (copy.folder / "report.html").read_text(encoding="utf-8")
    assert "events only" in html and "strike" in html
    write_events(copy.folder / EVENTS, [])
    assert "Nothing happened" in report_html(MatchFolder(copy.folder), lang="en")


def test_without_its_video_a_match_still_has_pictures_and_report(tmp_path: Path) -> None:
    copy = handmade.copied_match(tmp_path / "match")
    match_json = copy.folder / "match.json"
    match_json.write_text(match_json.read_text().replace(str(copy.video), "/nowhere/gone.mp4"))
    (warning,) = make_products(copy.folder, lang="en")
    assert "gone.mp4" in warning
    assert (copy.folder / "report.html").exists()
    assert (copy.folder / "restore" / "0003.png").exists()
    assert not list((copy.folder / "clips").iterdir())


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="language"):
        wording("fr")


def test_both_languages_say_the_same_things() -> None:
    english, russian = (wording(lang) for lang in LANGUAGES)
    assert english.keys() == russian.keys()
    for key in sorted(english.keys()):
        names = [set(re.findall(r"{(\w+)}", w(key))) for w in (english, russian)]
        assert names[0] == names[1], key


def test_balls_that_nearly_touch_are_crowded() -> None:
    """A ball is 68 mm wide; its label would hide a neighbour whose centre is less than 1.6 of that away."""
    places = {"u1": np.array([0.0, 0.0]), "u2": np.array([68.0, 0.0]), "u3": np.array([68.0, 120.0])}
    assert crowded(places, 34.0) == {"u1", "u2"}
    assert crowded({"u1": places["u1"]}, 34.0) == set() == crowded({}, 34.0)
