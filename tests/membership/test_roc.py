"""Curves, areas and bounds: closed forms, brute force, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from epsilometer.core import Array, EpsilometerError, Guarantee
from epsilometer.membership.roc import (
    Scores,
    advantage,
    allowed_advantage,
    allowed_area,
    allowed_tpr,
    area,
    beats,
    certified_epsilon,
    inside_allowed_region,
    roc,
    summary,
)

SHIFT = 1.5
REPETITIONS = 400
MOST_MISSES = int(stats.binom.isf(1e-6, REPETITIONS, 0.05))
"""More misses than this occur with probability 1e-6 if an interval misses in 5% of repetitions."""
GUARANTEES = [Guarantee(1.0, "replace-one"), Guarantee(0.3, "replace-one", 0.05), Guarantee(5.0, "replace-one", 1e-5)]


def gaussian(rng: np.random.Generator, trials: int) -> Scores:
    return Scores(rng.normal(SHIFT, 1, trials), rng.normal(0, 1, trials))


def coins(rng: np.random.Generator, trials: int, share: float) -> Array:
    return (rng.random(trials) < share).astype(float)


@pytest.mark.slow
def test_the_curve_of_gaussian_scores_is_covered() -> None:
    """tpr = Phi(shift - Phi^-1(1 - fpr)); the band must hold at each fpr in 95% of repetitions."""
    rng, rates = np.random.default_rng(0), np.array([0.01, 0.1, 0.5])
    truth = stats.norm.cdf(SHIFT - stats.norm.isf(rates))
    misses = np.zeros(3)
    for _ in range(REPETITIONS):
        curve = roc(gaussian(rng, 300), rates)
        assert (curve.low <= curve.tpr).all()
        assert (curve.tpr <= curve.high).all()
        misses += (truth < curve.low) | (truth > curve.high)
    assert (misses <= MOST_MISSES).all()


def test_the_band_of_scores_with_ties_holds() -> None:
    """Members are 1 with 0.6, others with 0.2, and 0 else: tpr = 3 fpr up to fpr = 0.2, randomising at 1."""
    rng, rates = np.random.default_rng(1), np.array([0.05, 0.2, 0.6])
    truth = np.array([0.15, 0.6, 0.8])
    misses = np.zeros(3)
    for _ in range(REPETITIONS):
        curve = roc(Scores(coins(rng, 200, 0.6), coins(rng, 200, 0.2)), rates)
        misses += (truth < curve.low) | (truth > curve.high)
    assert (misses <= MOST_MISSES).all()


def test_the_band_narrows_with_trials() -> None:
    curve = roc(gaussian(np.random.default_rng(2), 100_000), np.array([0.001, 0.01]))
    assert (curve.high - curve.low < 0.06).all()
    assert (curve.low > 0).all()


def test_the_measured_curve_randomises_between_thresholds() -> None:
    scores = Scores(np.array([3.0, 2.0, 2.0, 1.0]), np.array([2.0, 1.0, 0.0, 0.0]))
    np.testing.assert_allclose(
        roc(scores, np.array([0.0, 0.125, 0.25, 0.375, 0.5, 1.0])).tpr, [0.25, 0.5, 0.75, 0.875, 1.0, 1.0]
    )


@pytest.mark.slow
def test_a_perfect_attack_has_a_curve_at_one() -> None:
    scores = Scores(np.full(5000, np.inf), np.full(5000, -np.inf))
    curve = roc(scores)
    assert (curve.tpr == 1).all()
    assert (curve.low > 0.998).all()
    assert area(scores)[0] == 1


def test_area_is_the_share_of_pairs_in_order() -> None:
    rng = np.random.default_rng(3)
    scores = Scores(rng.integers(0, 5, 40).astype(float), rng.integers(0, 4, 30).astype(float))
    pairs = scores.members[:, None] - scores.others
    assert area(scores)[0] == pytest.approx(np.mean((pairs > 0) + (pairs == 0) / 2))


@pytest.mark.slow
def test_the_areas_interval_covers_it_and_is_not_wasteful() -> None:
    rng, truth = np.random.default_rng(4), stats.norm.cdf(SHIFT / math.sqrt(2))
    intervals = np.array([area(gaussian(rng, 200)) for _ in range(REPETITIONS)])
    assert np.sum((truth < intervals[:, 1]) | (truth > intervals[:, 2])) <= MOST_MISSES
    assert np.mean(intervals[:, 2] - intervals[:, 1]) < 2 * math.sqrt(math.log(40) / (2 * 200))


def test_the_areas_interval_of_a_perfect_attack_has_the_closed_form() -> None:
    """KL(1 | q) = -log q, so the lower end is (error/2)^(1/k)."""
    _, low, high = area(Scores(np.ones(50), np.zeros(80)))
    assert low == pytest.approx(0.025 ** (1 / 50))
    assert high == 1


def test_advantage_covers_that_of_the_best_threshold() -> None:
    """At t = shift/2 it is 2 Phi(shift/2) - 1, and no chosen threshold has more: the low end must respect that."""
    rng, truth = np.random.default_rng(5), 2 * stats.norm.cdf(SHIFT / 2) - 1
    found = np.array([advantage(gaussian(rng, 400)) for _ in range(REPETITIONS)])
    assert np.sum(found[:, 1] > truth) <= MOST_MISSES
    assert np.all((found[:, 1] <= found[:, 0]) & (found[:, 0] <= found[:, 2]))
    assert abs(found[:, 0].mean() - truth) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("log_ratio", [False, True])
def test_certified_epsilon_is_valid_and_comes_near_the_truth(log_ratio: bool) -> None:
    """Randomised response with epsilon = 1: a bound above 1 in more than 5% of repetitions would be wrong."""
    rng, keep = np.random.default_rng(6), 1 / (1 + math.exp(-1.0))
    found = []
    for _ in range(REPETITIONS):
        members, others = (2 * coins(rng, 2000, share) - 1 for share in (keep, 1 - keep))  # the log-ratios are -1 and 1
        found.append(certified_epsilon(Scores(members, others, log_ratio)))
    assert np.sum(np.array(found) > 1) <= MOST_MISSES
    assert np.median(found) > 0.75


@pytest.mark.parametrize("log_ratio", [False, True])
def test_certified_epsilon_looks_at_both_sides(log_ratio: bool) -> None:
    """Half of the others are impossible for members, and all else twice as likely for these: {score <= t} proves much."""
    rng = np.random.default_rng(7)
    scores = Scores(np.full(2000, math.log(2)), np.where(coins(rng, 2000, 0.5) == 1, -np.inf, math.log(2)), log_ratio)
    assert certified_epsilon(scores) > 4


def test_certified_epsilon_of_equal_scores_is_zero_and_delta_lowers_it() -> None:
    rng = np.random.default_rng(8)
    assert certified_epsilon(Scores(np.zeros(500), np.zeros(500))) == 0
    scores = Scores(rng.normal(2, 1, 4000), rng.normal(0, 1, 4000))
    assert certified_epsilon(scores, delta=0.5) < certified_epsilon(scores)


def test_inside_the_allowed_region_or_not() -> None:
    rng = np.random.default_rng(9)
    scores = Scores(rng.normal(3, 1, 4000), rng.normal(0, 1, 4000))
    assert not inside_allowed_region(scores, Guarantee(1.0, "replace-one"))
    assert inside_allowed_region(scores, Guarantee(20.0, "replace-one"))
    assert inside_allowed_region(scores, Guarantee(1.0, "replace-one", 0.9))


@pytest.mark.slow
def test_beats_tells_a_better_attack_from_an_equal_one() -> None:
    rng = np.random.default_rng(10)
    better, one, other = (Scores(rng.normal(shift, 1, 3000), rng.normal(0, 1, 3000)) for shift in (SHIFT + 1, SHIFT, SHIFT))
    assert beats(better, one)
    assert not beats(one, better)
    assert not beats(one, other, 1 - 1e-6)  # fails by chance with probability 1e-6


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_allowed_region_is_bounded_by_its_two_inequalities(guarantee: Guarantee) -> None:
    factor = math.exp(guarantee.epsilon)
    tpr = np.linspace(0, 1, 2001)
    for fpr in (0.0, 0.001, 0.01, 0.1, 0.3, 0.7, 0.99, 1.0):
        obeys = (tpr <= factor * fpr + guarantee.delta) & (1 - fpr <= factor * (1 - tpr) + guarantee.delta)
        assert allowed_tpr(np.array(fpr), guarantee) == pytest.approx(tpr[obeys].max(), abs=6e-4)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_largest_advantage_and_area_by_brute_force(guarantee: Guarantee) -> None:
    fpr = np.linspace(0, 1, 200_001)
    assert allowed_advantage(guarantee) == pytest.approx(np.max(allowed_tpr(fpr, guarantee) - fpr), abs=1e-4)
    corner = (1 - guarantee.delta) / (math.exp(guarantee.epsilon) + 1)
    expected = quad(lambda rate: float(allowed_tpr(np.array(rate), guarantee)), 0, 1, points=[corner, 1 - guarantee.delta])[
        0
    ]
    assert allowed_area(guarantee) == pytest.approx(expected, abs=1e-8)


def test_without_delta_the_advantage_is_the_papers() -> None:
    epsilon = 0.7
    expected = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1)
    assert allowed_advantage(Guarantee(epsilon, "replace-one")) == pytest.approx(expected, rel=1e-12)


def test_the_summary_of_a_mechanism_without_a_promise_has_no_bounds() -> None:
    row, _ = summary(gaussian(np.random.default_rng(11), 100), None)
    assert row["trials"] == 200
    assert math.isnan(row["auc_bound"])
    assert math.isnan(row["tpr_at_0.001_bound"])
    assert row["tpr_at_0.01_low"] <= row["tpr_at_0.01"] <= row["tpr_at_0.01_high"]


@pytest.mark.parametrize(
    ("scores", "message"),
    [(np.array([0.0, np.nan]), "1 scores are nan"), (np.zeros(1), "shape"), (np.zeros((2, 2)), "shape")],
)
def test_scores_must_be_numbers_in_a_row(scores: Array, message: str) -> None:
    with pytest.raises(EpsilometerError, match=message):
        Scores(scores, np.zeros(3))
