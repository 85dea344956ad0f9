"""An archive on a real Ray cluster of two nodes: a worker is killed, a node is lost, and all matches are done."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import live_scene as scene
import pytest

from vision_referee.archive.inputs import Wishes, jobs_of
from vision_referee.archive.ray_runner import RayRunner
from vision_referee.archive.run import Archive
from vision_referee.domain.errors import InputError
from vision_referee.pipeline.recorded import Sight
from vision_referee.record.match_folder import MatchFolder

ray = pytest.importorskip("ray", reason="needs Ray (extra 'cluster')")
pytestmark = pytest.mark.soak

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    # Workers find this module and the scene by their names.
    paths = [TESTS, TESTS / "unit", TESTS / "soak", TESTS.parent]
    os.environ["PYTHONPATH"] = os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")])
    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    made = Cluster(initialize_head=True, head_node_args=node)
    made.second = made.add_node(**node)
    made.wait_for_nodes()
    yield made
    made.shutdown()


class MarkedEye(scene.ToldEye):
    """When it has seen half of a match for the first time: writes down its process, and waits to be killed."""

    def look(self, changed):  # type: ignore[no-untyped-def]
        mark = Path(os.environ.get("MARKED_EYE", "/nowhere")) / "pid"
        if changed.frame.index >= 60 and not mark.exists():
            mark.write_text(str(os.getpid()))
            time.sleep(60)
        return super().look(changed)


def marked(folder: Path) -> Sight:
    def opened(*given: Any) -> MarkedEye:
        os.environ["MARKED_EYE"] = str(folder)
        return MarkedEye(*given)

    return Sight(find=scene.finder, open_eye=opened)


def videos(folder: Path, count: int) -> Path:
    first = scene.write_video(folder / "v0.mp4", length_s=3.6)
    for k in range(1, count):
        shutil.copy(first, folder / f"v{k}.mp4")
    (folder / "broken.mp4").write_bytes(b"no video")
    return folder


def strikes(folder: Path) -> list[float]:
    return [round(event.t, 1) for event in MatchFolder(folder).events() if event.type == "strike"]


def test_a_worker_is_killed_in_the_middle(cluster: Any, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    jobs = jobs_of([str(videos(tmp_path, 4))], [], Wishes(rules="american"), archive.matches)
    runner = RayRunner(cluster.address, see=marked(tmp_path), cores_a_match=1)
    assert len([node for node in ray.nodes() if node["Alive"]]) == 2
    killed: list[int] = []

    def kill() -> None:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.05)
        killed.append(int((tmp_path / "pid").read_text()))
        os.kill(killed[0], signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    told: list[str] = []
    tally = archive.run(jobs, runner, tell=told.append)
    assert killed and any("its worker was lost" in line and "trying again" in line for line in told)
    assert tally.done == 4
    assert [record.source.split("/")[-1] for record in tally.failed] == ["broken.mp4"]
    for job in jobs:
        if "broken" not in job.name:
            assert strikes(job.request.out) == [1.5]
    assert len(list((archive.out / "tables" / "strokes").iterdir())) == 4


def test_a_node_is_lost(cluster: Any, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    jobs = jobs_of([str(videos(tmp_path, 3))], [], Wishes(rules="none"), archive.matches)
    (tmp_path / "pid").touch()  # nobody waits
    runner = RayRunner(cluster.address, see=marked(tmp_path), cores_a_match=1)
    lost = threading.Timer(1.0, lambda: cluster.remove_node(cluster.second, allow_graceful=False))
    lost.start()
    tally = archive.run(jobs, runner, tell=lambda line: None)
    lost.join()
    assert tally.done == 3 and len(tally.failed) == 1


def test_no_cluster_is_one_clear_line() -> None:
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9"):
        RayRunner("127.0.0.1:9")
