"""Labels said against labels true: which true ball an event's label meant, and whether its number was right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from vision_referee.domain.balls import CUE, ball_number
from vision_referee.evaluation.facts import Fact
from vision_referee.evaluation.identity import IdentityMap


class NumberVerdict(Enum):
    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Labels:
    """Translates labels of what was seen into the truth's, near a time."""

    map: IdentityMap
    numbers: dict[str, str]
    """Label -> the label that ``identified`` events gave it in the end."""

    @staticmethod
    def of(identity: IdentityMap, seen: Iterable[Fact]) -> Labels:
        """Labels with the numbers that the seen ``identified`` events tell."""
        numbers = {f.balls[0]: str(f.number) for f in seen if f.type == "identified" and f.number is not None}
        return Labels(identity, numbers)

    def said(self, label: str) -> str:
        """The label with its number, where one became known."""
        return self.numbers.get(label, label)

    def may_be(self, label: str, true_label: str, t_s: float) -> bool:
        """Whether ``label``, at ``t_s``, was on the ball that is truly ``true_label``.

        By the tracks where they tell. Else by the label itself; a ball whose number is unknown may then be any.
        """
        candidates = self.map.candidates(label, t_s)
        if candidates:
            return true_label in candidates
        said = self.said(label)
        return said == true_label or is_unnumbered(said) or is_unnumbered(true_label)

    def same_balls(self, seen: Fact, true: Fact) -> bool:
        """Whether the two events' balls are the same, in any order."""
        if len(seen.balls) != len(true.balls):
            return False
        if len(seen.balls) == 2:
            (a, b), (p, q) = seen.balls, true.balls
            t = seen.t
            straight = self.may_be(a, p, t) and self.may_be(b, q, t)
            return straight or (self.may_be(a, q, t) and self.may_be(b, p, t))
        return all(self.may_be(a, p, seen.t) for a, p in zip(seen.balls, true.balls, strict=True))

    def verdict(self, label: str, true_label: str) -> NumberVerdict | None:
        """Whether the number said is the ball's; None where the truth itself gives no number."""
        if is_unnumbered(true_label):
            return None
        said = self.said(label)
        if is_unnumbered(said):
            return NumberVerdict.UNKNOWN
        return NumberVerdict.RIGHT if said == true_label else NumberVerdict.WRONG

    def verdict_of_event(self, seen: Fact, true: Fact) -> NumberVerdict | None:
        """The worst verdict over an event's balls, paired the way that fits their labels best."""
        if not true.balls or len(seen.balls) != len(true.balls):
            return None
        orders = [true.balls] if len(true.balls) == 1 else [true.balls, true.balls[::-1]]
        rank = (NumberVerdict.RIGHT, None, NumberVerdict.UNKNOWN, NumberVerdict.WRONG)
        worst = []
        for order in orders:
            verdicts = [self.verdict(a, b) for a, b in zip(seen.balls, order, strict=True)]
            worst.append(max(verdicts, key=rank.index))
        return min(worst, key=rank.index)


def is_unnumbered(label: str) -> bool:
    """Whether the label tells no identity (``u1``, ``u2`` …)."""
    return label != CUE and ball_number(label) is None
