"""Analyses the real clips and compares with what was seen in them by eye.

usage: python benchmarks/real_clips.py [--only NAME…] [--json FILE] [--enter]

The clips and the scorer lie outside the repository (they may not be published): in ``../shared/real``, or in the
folder ``real`` of VISION_REFEREE_SHARED.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from analyses import ROOT, Analysis, analyze, code_state, revision
from tables import enter, table

from vision_referee.evaluation.matching import one_to_one

KINDS = ("strike", "pocketed", "rest", "hanging")
CENTRE_WITHIN_RADII = 1.0


def shared() -> Path:
    """Where the clips are."""
    return Path(os.environ.get("VISION_REFEREE_SHARED", ROOT.parent / "shared")) / "real"


def scorer() -> ModuleType:
    """The script that comes with the clips."""
    spec = importlib.util.spec_from_file_location("score_real", shared() / "score_real.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def corner_error_px(truth: dict[str, Any], calibration: dict[str, Any]) -> float | None:
    """Mean distance of the four corners, whichever end is called the head."""
    true = (truth.get("surface_corners_px") or {}).get("points")
    found = (calibration.get("corners_px") or {}).get("points")
    if not true or not found:
        return None
    a, b = np.array(true, float), np.array(found, float)
    return min(float(np.linalg.norm(a - b[list(order)], axis=1).mean()) for order in permutations(range(4)))


def tracks_at(analysis: Analysis, t_s: float) -> tuple[np.ndarray, float]:
    """Positions (n, 2) in mm of the balls on the table in the frame nearest to ``t_s``, and that frame's time."""
    import pyarrow.parquet as pq

    assert analysis.folder is not None
    rows = pq.read_table(analysis.folder / "tracks.parquet", columns=["t", "x", "y", "state"])
    t = rows.column("t").to_numpy()
    if len(t) == 0:
        return np.zeros((0, 2)), t_s
    nearest = t[np.argmin(np.abs(t - t_s))]
    on = np.isin(np.array(rows.column("state").to_pylist()), ["moving", "resting", "hidden"]) & (
        np.abs(t - nearest) < 1e-6
    )
    return np.column_stack([rows.column("x").to_numpy()[on], rows.column("y").to_numpy()[on]]).astype(float), float(
        nearest
    )


def ball_figures(truth: dict[str, Any], analysis: Analysis) -> dict[str, Any]:
    """Counts against the truth's counts, and found centres against its centres, in pixels."""
    from vision_referee.calibration.calibration import calibration_from_json

    out: dict[str, Any] = {"counts": [], "right": 0, "missed": 0, "false": 0, "errors_px": []}
    match = analysis.match()
    if analysis.folder is None or not match.get("calibration"):
        return out
    calibration = calibration_from_json(match["calibration"])
    for entry in truth.get("counts") or []:
        places, _ = tracks_at(analysis, entry["t"])
        out["counts"].append(len(places) - entry["count"])
    for entry in truth.get("centres_px") or []:
        true = np.array([[ball["x"], ball["y"]] for ball in entry["balls"]], float).reshape(-1, 2)
        places, _ = tracks_at(analysis, entry["t"])
        found = calibration.camera.project_plane(places, calibration.table.ball_radius_mm)
        radius_px = calibration.camera.ball_radius_px(places, calibration.table.ball_radius_mm)
        distance = np.linalg.norm(true[:, None] - found[None], axis=2)
        limit = np.maximum(CENTRE_WITHIN_RADII * radius_px, 4.0)[None, :]
        pairs = one_to_one(distance, distance <= limit)
        out["right"] += len(pairs)
        out["missed"] += len(true) - len(pairs)
        out["false"] += len(found) - len(pairs)
        out["errors_px"] += [float(distance[i, k]) for i, k in pairs]
    return out


def f1(right: int, missed: int, false: int) -> float | None:
    total = 2 * right + missed + false
    return 2 * right / total if total else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--enter", action="store_true", help="put the tables into RESULTS.md")
    args = parser.parse_args()
    if not (shared() / "clips").is_dir():
        print(f"{shared()}: the real clips are not here; nothing measured", file=sys.stderr)
        return 1
    score = scorer().score
    code, state = code_state(), revision()
    rows: list[list[object]] = []
    clips: dict[str, Any] = {}
    total = {kind: {"truth": 0, "hit": 0, "false": 0, "errors": []} for kind in KINDS}
    balls = {"right": 0, "missed": 0, "false": 0}
    errors_px: list[float] = []
    off_counts: list[int] = []
    residuals: list[float] = []
    video_s = wall_s = 0.0
    for path in sorted((shared() / "clips").glob("*.truth.json")):
        name = path.name.removesuffix(".truth.json")
        if args.only and not any(word in name for word in args.only):
            continue
        truth = json.loads(path.read_text(encoding="utf-8"))
        analysis = analyze(path.with_name(name + ".mp4"), ["--rules", "none"], code=code)
        result = score(truth, analysis.events())
        figures = ball_figures(truth, analysis)
        calibration = analysis.match().get("calibration") or {}
        corner = corner_error_px(truth, calibration)
        residual = calibration.get("residual_mm")
        for kind in KINDS:
            for key in ("truth", "hit", "false"):
                total[kind][key] += result[kind][key]
            total[kind]["errors"] += result[kind]["errors"]
        for key in balls:
            balls[key] += figures[key]
        errors_px += figures["errors_px"]
        off_counts += figures["counts"]
        residuals += [residual] if residual is not None else []
        video_s, wall_s = video_s + truth["media"]["t_last"], wall_s + analysis.wall_s
        row: list[object] = [name]
        row += [f"{result[k]['hit']}/{result[k]['truth']} +{result[k]['false']}" for k in KINDS]
        median_px = float(np.median(figures["errors_px"])) if figures["errors_px"] else None
        row += [
            residual,
            corner,
            " ".join(f"{n:+d}" for n in figures["counts"]) or None,
            f"{figures['right']}/{figures['right'] + figures['missed']} +{figures['false']}",
            median_px,
            truth["media"]["t_last"] / analysis.wall_s,
        ]
        rows.append(row)
        clips[name] = {
            "events": result,
            "balls": figures,
            "residual_mm": residual,
            "corner_px": corner,
            "error": analysis.error,
        }
        print(" ".join(map(str, row)) + (f"  FAILED: {analysis.error}" if analysis.error else ""), flush=True)
    columns = [
        "clip",
        "strikes",
        "pots",
        "rests",
        "hanging",
        "residual mm",
        "corners px",
        "balls too many",
        "centres",
        "px off",
        "x real time",
    ]
    summary: list[list[object]] = []
    for kind in KINDS:
        entry = total[kind]
        hit, missed = entry["hit"], entry["truth"] - entry["hit"]
        errors = sorted(abs(e) for e in entry["errors"])
        summary.append(
            [
                kind,
                entry["truth"],
                hit,
                missed,
                entry["false"],
                f1(hit, missed, entry["false"]),
                errors[len(errors) // 2] if errors else None,
            ]
        )
    found = balls["right"] + balls["missed"]
    lines = [
        f"Balls at the times looked at: {balls['right']} of {found} found, {balls['false']} false; centres "
        f"{np.median(errors_px) if errors_px else float('nan'):.1f} px off in the median; counts right at "
        f"{sum(n == 0 for n in off_counts)} of {len(off_counts)} times. Calibration residual "
        f"{np.median(residuals) if residuals else float('nan'):.1f} mm in the median of {len(residuals)} clips. "
        f"{video_s / wall_s if wall_s else 0:.1f} times real time. Failed: "
        + ("; ".join(f"{n}: {c['error']}" for n, c in clips.items() if c["error"]) or "none")
        + ".",
    ]
    body = "\n\n".join(
        [
            table(["event", "true", "found", "missed", "false", "F1", "|dt| median s"], summary),
            *lines,
            "Found/true +false:\n\n" + table(columns, rows),
        ]
    )
    print("\n" + body)
    if args.json:
        args.json.write_text(json.dumps({"total": total, "balls": balls, "clips": clips}, indent=1), encoding="utf-8")
    if args.enter:
        enter("Real clips", "python benchmarks/real_clips.py", body, state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
