"""Rulings: right, wrong, sent to a person, missing; each judged by its own decision."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import (
    CountedBall,
    CueBallState,
    Foul,
    FoulCode,
    NextStroke,
    Penalty,
    Ruling,
    RulingKind,
)
from vision_referee.domain.table import PocketName
from vision_referee.evaluation.identity import IdentityMap
from vision_referee.evaluation.labels import Labels
from vision_referee.evaluation.rulings_scores import RulingScore, score_rulings

LABELS = Labels.of(IdentityMap(None, None, []), [])

POT = Ruling(
    id=1,
    kind=RulingKind.STROKE,
    t_start=10.0,
    t_end=16.0,
    player="A",
    counted=(CountedBall(ball="7", pocket=PocketName.FOOT_LEFT, points=7),),
    next=NextStroke(player="A", cue_ball=CueBallState.IN_PLACE),
    score={"A": 7, "B": 0},
)
FOUL = Ruling(
    id=2,
    kind=RulingKind.STROKE,
    t_start=30.0,
    t_end=36.0,
    player="A",
    fouls=(Foul(code=FoulCode.CUE_BALL_POCKETED, rule="G-20.13", t=33.0),),
    penalty=Penalty(points=5, to="B"),
    spotted=(BallAt(ball="3", x=2662.5, y=887.5),),
    next=NextStroke(player="B", cue_ball=CueBallState.IN_HAND_HOUSE),
    score={"A": 2, "B": 5},
)


def scored(truth: list[Ruling], seen: list[Ruling], players: dict[str, str] | None = None) -> RulingScore:
    return score_rulings(truth, seen, LABELS, players or {}, 68.0)


def test_the_same_rulings_are_right():
    score = scored([POT, FOUL], [POT, FOUL])
    assert (score.right, score.wrong, score.review, score.missing, score.extra) == (2, 0, 0, 0, 0)
    assert score.right_or_review == 1.0 and score.clips_with_right_score == 1


@pytest.mark.parametrize(
    "change",
    [
        {"fouls": (Foul(code=FoulCode.NO_CONTACT, rule="G-20.1", t=33.0),)},
        {"fouls": ()},
        {"penalty": None},
        {"penalty": Penalty(points=5, to="A")},
        {"spotted": ()},
        {"spotted": (BallAt(ball="3", x=2562.5, y=887.5),)},
        {"counted": (CountedBall(ball="3", pocket=PocketName.FOOT_LEFT, points=3),)},
        {"next": NextStroke(player="A", cue_ball=CueBallState.IN_HAND_HOUSE)},
        {"next": NextStroke(player="B", cue_ball=CueBallState.IN_PLACE)},
        {"next": None, "game_over": True, "winner": "B"},
        {"replay": True},
        {"kind": RulingKind.INTERFERENCE},
    ],
)
def test_any_other_decision_is_wrong_and_says_in_what(change: dict[str, object]):
    score = scored([FOUL], [replace(FOUL, **change)])
    assert (score.right, score.wrong) == (0, 1)
    assert score.errors[0].silent and score.errors[0].differences


def test_doubt_sent_to_a_person_is_not_wrong():
    score = scored([FOUL], [replace(FOUL, fouls=(), review=True)])
    assert (score.right, score.wrong, score.review, score.review_right) == (0, 0, 1, 0)
    assert score.right_or_review == 1.0 and not score.errors[0].silent
    assert scored([FOUL], [replace(FOUL, review=True)]).review_right == 1


def test_a_ruling_too_few_or_too_many():
    score = scored([POT, FOUL], [POT])
    assert (score.right, score.missing, score.due) == (1, 1, 2)
    assert scored([POT], [POT, FOUL]).extra == 1


def test_the_strokes_bounds_need_not_agree_to_the_frame():
    late = replace(POT, id=9, t_start=10.05, t_end=16.4)
    assert scored([POT, FOUL], [late, FOUL]).right == 2


def test_an_earlier_error_is_not_counted_again_in_later_scores():
    wrong_score = replace(FOUL, score={"A": 95, "B": 5})
    score = scored([POT, FOUL], [POT, wrong_score])
    assert score.right == 2 and score.clips_with_right_score == 0


def test_roles_count_not_names():
    renamed = replace(
        FOUL, player="Anna", penalty=Penalty(points=5, to="Boris"), score={"Anna": 2, "Boris": 5},
        next=NextStroke(player="Boris", cue_ball=CueBallState.IN_HAND_HOUSE),
    )  # fmt: skip
    score = scored([FOUL], [renamed], {"Anna": "A", "Boris": "B"})
    assert score.right == 1 and score.clips_with_right_score == 1


def test_notes_between_strokes_that_change_nothing_may_stand_or_not():
    note = Ruling(id=5, kind=RulingKind.BETWEEN, t_start=20.0, t_end=21.0, player=None)
    assert (scored([POT], [POT, note]).extra, scored([POT, note], [POT]).missing) == (0, 0)


def test_deciding_what_the_truth_leaves_open_is_a_silent_guess():
    assert scored([replace(POT, review=True)], [POT]).wrong == 1
