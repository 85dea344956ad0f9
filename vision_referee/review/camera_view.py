"""Which camera looked at the table when: the match's calibration, and later ones where the camera was moved."""

from __future__ import annotations

from vision_referee.calibration.calibration import Calibration, calibration_from_json
from vision_referee.record.match_info import MatchInfo


class CameraView:
    """The calibrations of a match by time."""

    def __init__(self, info: MatchInfo) -> None:
        """Raises InputError when match.json holds something that is no calibration."""
        self._by_time: list[tuple[float, Calibration]] = []
        if info.calibration is not None:
            self._by_time.append((float("-inf"), calibration_from_json(info.calibration, "match.json")))
        for change in info.recalibrated:
            self._by_time.append((float(change["t"]), calibration_from_json(change["calibration"], "match.json")))

    def at(self, t_s: float) -> Calibration | None:
        """The calibration in force at ``t_s``; None where the match has none."""
        chosen = None
        for since, calibration in self._by_time:
            if since <= t_s:
                chosen = calibration
        return chosen
