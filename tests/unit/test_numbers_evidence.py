"""What many looks at a ball say of its number, and numbers given to a whole set at once."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from vision_referee.tracking.number_evidence import NumberEvidence, fair_log, number_marginals, number_posterior

F64 = npt.NDArray[np.float64]


def looks_like(number: int, p: float) -> F64:
    row = np.full(17, 0.0)
    row[1:16] = (1 - p) / 14
    row[number] = p
    return row


def seen(number: int, p: float, places_mm: list[float]) -> NumberEvidence:
    evidence = NumberEvidence()
    for x in places_mm:
        evidence.see(np.array([x, 0.0]), looks_like(number, p))
    return evidence


def test_a_ball_that_lies_still_stays_in_doubt_however_long_it_is_looked_at():
    once, long = seen(7, 0.5, [0.0]), seen(7, 0.5, [0.0] * 300)
    assert number_posterior(long.log())[7] < 0.9
    assert number_posterior(long.log())[7] >= number_posterior(once.log())[7]


def test_a_ball_that_rolls_becomes_known():
    assert number_posterior(seen(7, 0.5, [20.0 * k for k in range(8)]).log())[7] > 0.99


def test_looks_that_tell_nothing_change_nothing():
    evidence = seen(7, 0.5, [0.0, 30.0])
    before = evidence.log()
    nothing = np.zeros(17)
    nothing[16] = 1.0
    evidence.see(np.array([60.0, 0.0]), nothing)
    assert np.array_equal(evidence.log(), before)


def test_one_wild_look_does_not_undo_ten_good_ones():
    evidence = seen(7, 0.6, [20.0 * k for k in range(10)])
    evidence.see(np.array([500.0, 0.0]), looks_like(12, 1.0))
    assert number_posterior(evidence.log())[7] > 0.9


def test_colour_seen_a_thousand_times_is_one_fact():
    row = np.zeros(17)
    row[0], row[16] = 0.3, 0.7
    evidence = NumberEvidence()
    for k in range(1000):
        evidence.see(np.array([20.0 * k, 0.0]), row)
    assert number_posterior(evidence.log())[0] < 0.7


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_a_set_are_those_of_all_ways_to_give_the_numbers(seed):
    rng = np.random.default_rng(seed)
    evidence, none = rng.normal(0, 2, (4, 3)), -1.0
    total, sums = 0.0, np.zeros((4, 4))
    for way in itertools.product(range(4), repeat=4):
        given = [number for number in way if number < 3]
        if len(set(given)) == len(given):
            weight = np.exp(sum(evidence[i, j] if j < 3 else none for i, j in enumerate(way)))
            total += weight
            for i, j in enumerate(way):
                sums[i, j] += weight
    assert number_marginals(evidence, none) == pytest.approx(sums / total)


def test_the_last_ball_of_a_set_is_known_by_the_others():
    evidence = np.zeros((15, 15))
    evidence[np.arange(14), np.arange(14)] = 12.0
    chance = number_marginals(evidence, -3.0)
    assert chance[14].argmax() == 14


def test_evidence_of_any_size_makes_no_overflow():
    evidence = np.random.default_rng(1).normal(0, 400, (15, 15))
    chance = number_marginals(evidence, -3.0)
    assert np.all(np.isfinite(chance)) and chance.sum(axis=1) == pytest.approx(1.0)


def test_many_views_of_one_print_are_worth_ten_at_most():
    worth = [fair_log(seen(7, 0.5, [20.0 * k for k in range(n)]).log())[7] for n in (1, 10, 1000)]
    assert worth[0] < worth[1] < worth[2] < 10.1 * worth[0]
