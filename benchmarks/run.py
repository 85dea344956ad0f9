"""``make bench``: every benchmark, one after another; each can also be run alone.

usage: python benchmarks/run.py [--quick] [--enter]

What was filmed and analysed before is taken from the cache (benchmarks/.cache, or VISION_REFEREE_BENCH_CACHE), so a
broken-off run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

FULL = (
    ("motion.py", "--shots", "24"),
    ("simulated_clips.py", "--clips", "10"),
    ("simulated_clips.py", "--clips", "10", "--true-camera"),
    ("real_clips.py",),
    ("speed.py",),
)
QUICK = (
    ("motion.py", "--shots", "4", "--only", "good, 30"),
    ("simulated_clips.py", "--clips", "2"),
    ("real_clips.py", "--only", "pot_middle"),
    ("speed.py", "--seconds", "8", "--sizes", "1280x720", "--rates", "3"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few minutes, to see that everything runs")
    parser.add_argument("--enter", action="store_true", help="put the tables into RESULTS.md")
    args = parser.parse_args()
    failed = []
    for script, *words in QUICK if args.quick else FULL:
        command = [sys.executable, str(HERE / script), *words, *(["--enter"] if args.enter else [])]
        print(f"\n== {script} {' '.join(words)}", flush=True)
        if subprocess.run(command, check=False).returncode:
            failed.append(script)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
