"""A ruling in the words of clips, report and pages, built on the text that the ruling itself carries."""

from __future__ import annotations

from vision_referee.domain.rulings import Penalty, Ruling
from vision_referee.review.wording import Wording


def ruling_text(ruling: Ruling, words: Wording) -> str:
    """The announcement in the reader's language; English where there is no other."""
    return ruling.text.get(words.lang) or ruling.text.get("en", "")


def kind_and_player(ruling: Ruling, words: Wording) -> str:
    kind = words(f"kind.{ruling.kind.value}")
    if ruling.player is None:
        return words("clip.stroke_nobody", kind=kind, number=ruling.id)
    return words("clip.stroke", kind=kind, number=ruling.id, player=ruling.player)


def headline(ruling: Ruling, words: Wording, *, told: bool = True) -> str:
    """One line: the foul, else the doubt, else what is put back; before it is ``told`` only whose stroke it is."""
    if told and ruling.fouls:
        return "; ".join(
            words("clip.foul", what=words(f"foul.{foul.code.value}"), rule=foul.rule) for foul in ruling.fouls
        )
    if told and ruling.review:
        return words("clip.doubt")
    if told and ruling.restored:
        return words("clip.restored", balls=words.balls(b.ball for b in ruling.restored))
    return kind_and_player(ruling, words)


def penalty_words(penalty: Penalty | None, words: Wording) -> str:
    if penalty is None:
        return ""
    to = penalty.to or words("report.nobody")
    if penalty.points and penalty.offender:
        return words("report.penalty_points_off", points=penalty.points, player=to, offender=penalty.offender)
    if penalty.points:
        return words("report.penalty_points", points=penalty.points, player=to)
    if penalty.balls:
        return words("report.penalty_balls", balls=penalty.balls, player=to)
    return ""


def consequences(ruling: Ruling, words: Wording) -> list[str]:
    """What follows from the ruling, a short sentence each."""
    lines: list[str] = []
    if ruling.counted:
        pots = ", ".join(
            f"{words.ball(c.ball)} ({words(f'pocket.{c.pocket.value}')})" if c.pocket else words.ball(c.ball)
            for c in ruling.counted
        )
        lines.append(words("report.counted", balls=pots))
    if ruling.spotted:
        lines.append(words("report.spotted", balls=words.balls(b.ball for b in ruling.spotted)))
    if ruling.restored:
        lines.append(words("report.restored", balls=words.balls(b.ball for b in ruling.restored)))
    if penalty := penalty_words(ruling.penalty, words):
        lines.append(f"{words('report.penalty')}: {penalty}")
    if ruling.replay:
        lines.append(words("report.replay"))
    if ruling.next is not None:
        how = words(f"next.{ruling.next.cue_ball.value}")
        lines.append(words("report.next", player=ruling.next.player, how=how))
    if ruling.game_over:
        lines.append(words("report.game_over"))
    return lines
