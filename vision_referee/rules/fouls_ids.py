"""The rule id that each foul's code stands for."""

from __future__ import annotations

from vision_referee.domain.rulings import FoulCode

RULE_OF: dict[FoulCode, str] = {
    FoulCode.NO_CONTACT: "G-20.1",
    FoulCode.CUE_BALL_OFF_TABLE: "G-20.2",
    FoulCode.STROKE_BEFORE_REST: "G-20.3",
    FoulCode.FEET_OFF_FLOOR: "G-20.4",
    FoulCode.BALL_TOUCHED: "G-20.5",
    FoulCode.ILLEGAL_STROKE: "G-20.6",
    FoulCode.CLOSE_BALL: "G-20.7",
    FoulCode.PUSH: "G-20.8",
    FoulCode.DOUBLE_HIT: "G-20.9",
    FoulCode.SQUEEZE: "G-20.10",
    FoulCode.HOUSE_BALL_HIT: "G-20.11",
    FoulCode.WRONG_CUE_BALL: "G-20.12",
    FoulCode.CUE_BALL_POCKETED: "G-20.13",
    FoulCode.BAD_SAFETY: "G-20.14",
    FoulCode.HOUSE_VIOLATION: "G-20.15",
    FoulCode.INTERFERENCE: "G-20.16",
    FoulCode.TIME_OVER: "G-19",
}
