"""Bounds on proportions and on epsilon, against statsmodels, enumeration and simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import beta, binom
from statsmodels.stats.proportion import proportion_confint

from epsilometer.auditors.confidence import (
    SMALLEST_ERROR,
    bayesian_lower_bound,
    bound_at_rates,
    clopper_pearson_lower,
    clopper_pearson_upper,
    epsilon_lower_bound,
    event_upper_bound,
    holm,
    jeffreys_lower,
    jeffreys_upper,
    largest_expected_bound,
    p_value,
    posterior_probability,
)
from epsilometer.core import Array, Counts, EpsilometerError, stream

SOME_COUNTS = [(0, 1), (1, 1), (0, 50), (1, 50), (25, 50), (49, 50), (50, 50), (3, 10_000), (500_000, 1_000_000)]


@pytest.mark.parametrize(("hits", "trials"), SOME_COUNTS)
@pytest.mark.parametrize("error", [0.3, 0.025, 1e-6])
def test_one_sided_bounds_are_halves_of_the_two_sided_intervals_of_statsmodels(hits: int, trials: int, error: float) -> None:
    exact = proportion_confint(hits, trials, alpha=2 * error, method="beta")
    assert float(clopper_pearson_lower(hits, trials, error)) == pytest.approx(exact[0], rel=1e-9, abs=1e-300)
    assert float(clopper_pearson_upper(hits, trials, error)) == pytest.approx(exact[1], rel=1e-9)
    jeffreys = proportion_confint(hits, trials, alpha=2 * error, method="jeffreys")
    assert float(jeffreys_lower(hits, trials, error)) == pytest.approx(jeffreys[0], rel=1e-9, abs=1e-300)
    assert float(jeffreys_upper(hits, trials, error)) == pytest.approx(jeffreys[1], rel=1e-9)


def test_the_bounds_solve_the_equations_that_define_them() -> None:
    """At the lower bound, as many hits or more have exactly the error probability; at the upper, as many or fewer."""
    for hits, trials, error in ((3, 20, 0.1), (17, 40, 1e-4), (39, 40, 1e-12)):
        lower, upper = clopper_pearson_lower(hits, trials, error), clopper_pearson_upper(hits, trials, error)
        assert binom.sf(hits - 1, trials, lower) == pytest.approx(error, rel=1e-8)
        assert binom.cdf(hits, trials, upper) == pytest.approx(error, rel=1e-8)


def test_no_trials_say_nothing() -> None:
    assert clopper_pearson_lower(0, 0, 0.05) == 0
    assert clopper_pearson_upper(0, 0, 0.05) == 1
    assert epsilon_lower_bound(Counts(0, 0, 0, 0), 0.95) == 0
    assert p_value(Counts(0, 0, 0, 0), 0.1) == 1


def test_impossible_counts_are_refused_by_value() -> None:
    with pytest.raises(EpsilometerError, match="5 hits in 4 trials"):
        epsilon_lower_bound(Counts(5, 4, 0, 4), 0.95)
    with pytest.raises(EpsilometerError, match=r"-1 hits in 4 trials"):
        epsilon_lower_bound(Counts(2, 4, -1, 4), 0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, math.nan])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(EpsilometerError, match="confidence is"):
        epsilon_lower_bound(Counts(1, 2, 1, 2), confidence)


def test_a_delta_that_is_none_is_refused() -> None:
    with pytest.raises(EpsilometerError, match="delta is 1"):
        epsilon_lower_bound(Counts(1, 2, 1, 2), 0.95, delta=1.0)


def test_the_bound_on_epsilon_by_hand() -> None:
    counts, each = Counts(80, 100, 20, 200), 1 - math.sqrt(0.9)
    lower, upper = beta.ppf(each, 80, 21), beta.ppf(1 - each, 21, 180)
    assert epsilon_lower_bound(counts, 0.9) == pytest.approx(math.log(lower / upper))
    assert epsilon_lower_bound(counts, 0.9, 0.1) == pytest.approx(math.log((lower - 0.1) / upper))
    lower, upper = beta.ppf(each, 80.5, 20.5), beta.ppf(1 - each, 20.5, 180.5)
    assert epsilon_lower_bound(counts, 0.9, interval="jeffreys") == pytest.approx(math.log(lower / upper))


@pytest.mark.parametrize("counts", [Counts(0, 9, 0, 9), Counts(0, 9, 9, 9), Counts(9, 9, 9, 9), Counts(1, 9, 1, 9)])
def test_the_bound_is_never_negative(counts: Counts) -> None:
    assert epsilon_lower_bound(counts, 0.95) == 0
    assert epsilon_lower_bound(counts, 0.95, 0.9) == 0


def test_a_perfect_test_is_still_a_finite_bound() -> None:
    bound = epsilon_lower_bound(Counts(1000, 1000, 0, 1000), 0.95)
    assert bound == pytest.approx(math.log(1000 / -math.log(1 - math.sqrt(0.95))), rel=1e-2)


def coverage_error(p: float, q: float, trials: int, confidence: float, delta: float) -> float:
    """The exact probability that the bound exceeds the truth, summed over all counts."""
    k = np.arange(trials + 1)
    bounds = np.array(
        [[epsilon_lower_bound(Counts(i, trials, j, trials), confidence, delta) for j in k.tolist()] for i in k.tolist()]
    )
    truth = math.log(max((p - delta) / q, 1.0))
    return float(np.sum(np.outer(binom.pmf(k, trials, p), binom.pmf(k, trials, q))[bounds > truth + 1e-12]))


@pytest.mark.parametrize(
    ("p", "q", "delta"), [(0.5, 0.5, 0.0), (0.75, 0.25, 0.0), (0.9, 0.9, 0.0), (0.3, 0.02, 0.1), (1.0, 0.3, 0.0)]
)
def test_the_bound_errs_no_more_often_than_it_says(p: float, q: float, delta: float) -> None:
    assert coverage_error(p, q, 20, 0.8, delta) <= 0.2


def test_p_value_and_bound_are_two_sides_of_one_test() -> None:
    counts = Counts(620, 1000, 380, 1000)
    for epsilon, delta in ((0.1, 0.0), (0.3, 0.0), (0.3, 0.05), (0.45, 0.0)):
        p = p_value(counts, epsilon, delta)
        assert 0 < p < 1
        assert epsilon_lower_bound(counts, 1 - p, delta) == pytest.approx(epsilon, abs=1e-6)
    values = [p_value(counts, epsilon) for epsilon in (0.01, 0.1, 0.3, 0.45, 0.6)]
    assert all(one < other for one, other in pairwise(values))


def test_p_value_reaches_far_into_the_tail() -> None:
    """A thousand hits against none, by the equations q^n = error/2 and (1 - q)^n = error/2 at small errors."""
    counts = Counts(1000, 1000, 0, 1000)

    def excess(log_error: float) -> float:
        each = log_error - math.log(2)
        return each / 1000 - math.log(-math.expm1(each / 1000))

    p = p_value(counts, 1.0)
    assert 1e-300 < p < 1e-100
    assert excess(math.log(p)) == pytest.approx(1.0, abs=1e-6)
    assert p_value(Counts(10**6, 10**6, 0, 10**6), 1.0) == SMALLEST_ERROR


def test_p_value_of_a_kept_promise_is_one() -> None:
    assert p_value(Counts(10, 100, 90, 100), 0.1) == pytest.approx(1)
    assert p_value(Counts(0, 100, 0, 100), 0.1, 1e-5) == 1


@pytest.mark.slow
def test_p_values_are_small_no_more_often_than_they_say() -> None:
    """At the boundary of the promise the p-value is below u with probability at most u: summed over all counts."""
    trials, q, epsilon = 25, 0.3, 0.5
    k = np.arange(trials + 1)
    values = np.array([[p_value(Counts(i, trials, j, trials), epsilon) for j in k.tolist()] for i in k.tolist()])
    joint = np.outer(binom.pmf(k, trials, q * math.exp(epsilon)), binom.pmf(k, trials, q))
    for level in (0.01, 0.05, 0.2, 0.5):
        assert joint[values <= level].sum() <= level


def test_holm_by_hand() -> None:
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03]), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1, 1])
    np.testing.assert_allclose(holm([0.05]), [0.05])
    assert len(holm([])) == 0


def posterior_by_simulation(counts: Counts, delta: float, draws: int) -> Array:
    """Draws of epsilon from the posterior: the smallest that allows the rates, by its definition for both directions."""
    rng = stream(7, "posterior", counts)
    p = rng.beta(counts.hits + 0.5, counts.trials - counts.hits + 0.5, draws)
    q = rng.beta(counts.other_hits + 0.5, counts.other_trials - counts.other_hits + 0.5, draws)
    ratios = [((a - delta).clip(1e-300) / b) for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))]
    return np.log(np.max(ratios, axis=0)).clip(0)


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize(
    "counts", [Counts(80, 100, 20, 100), Counts(5, 100, 0, 100), Counts(100, 100, 60, 100), Counts(30, 60, 40, 90)]
)
def test_the_bayesian_bound_is_a_quantile_of_the_posterior(counts: Counts, delta: float) -> None:
    """The share of 200,000 draws below the bound is 5% within 5 standard deviations: fails by chance with 6e-7 each."""
    draws, bound = 200_000, bayesian_lower_bound(counts, 0.95, delta)
    simulated, slack = posterior_by_simulation(counts, delta, draws), 5 * math.sqrt(0.05 * 0.95 / draws)
    assert np.mean(simulated <= bound) > 0.05 - slack
    assert np.mean(simulated < bound) < 0.05 + slack  # at 0 there is an atom, if delta is above 0


def test_the_bayesian_bound_is_zero_where_the_posterior_says_so() -> None:
    """With a delta of a half, two equal coins obey epsilon = 0 almost surely."""
    counts = Counts(50, 100, 50, 100)
    assert posterior_probability(counts, 0.0, 0.5) > 0.999
    assert bayesian_lower_bound(counts, 0.95, 0.5) == 0


def test_the_posterior_probability_goes_from_none_to_all() -> None:
    counts = Counts(100, 100, 0, 100)
    values = [posterior_probability(counts, epsilon, 0.0) for epsilon in (0.0, 1.0, 4.0, 8.0, 50.0, 1000.0)]
    assert all(one <= other for one, other in pairwise(values))
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[-1] == pytest.approx(1, abs=1e-9)


def test_the_bayesian_bound_exceeds_the_certified_one() -> None:
    """It is known to be the less cautious of the two."""
    counts = Counts(700, 1000, 300, 1000)
    assert epsilon_lower_bound(counts, 0.95) < bayesian_lower_bound(counts, 0.95) < math.log(7 / 3)


def test_the_expected_bound_is_the_bound_at_the_expected_counts() -> None:
    expected = bound_at_rates([0.5, 0.25], [0.125, 0.0], 200, 0.95, 0.01)
    by_counts = [epsilon_lower_bound(counts, 0.95, 0.01) for counts in (Counts(100, 200, 25, 200), Counts(50, 200, 0, 200))]
    np.testing.assert_allclose(expected, by_counts)


@pytest.mark.slow
def test_the_best_possible_bound_is_the_median_of_the_best_event() -> None:
    """Randomised response, log 3: half of 4,000 bounds lie below it, within 5 standard deviations (and ties)."""
    p, q, trials, repetitions = 0.75, 0.25, 5000, 4000
    best = largest_expected_bound([p, 0.9, 1.0], [q, 0.6, 1.0], trials, 0.95)
    rng = stream(3, "best possible")
    bounds = [
        epsilon_lower_bound(Counts(i, trials, j, trials), 0.95)
        for i, j in zip(
            rng.binomial(trials, p, repetitions).tolist(), rng.binomial(trials, q, repetitions).tolist(), strict=True
        )
    ]
    assert abs(np.mean(np.array(bounds) < best) - 0.5) < 0.04 + 0.01
    assert best < math.log(3)


def test_nothing_can_be_certified_of_equal_rates() -> None:
    assert largest_expected_bound([0.5], [0.5], 10**6, 0.95) == 0
    assert largest_expected_bound([1e-5], [0.0], 10**6, 0.95, delta=1e-5) == 0


def test_more_trials_certify_more_and_come_near_the_truth() -> None:
    values = [largest_expected_bound([0.75], [0.25], trials, 0.95) for trials in (10, 100, 10**4, 10**6, 10**8)]
    assert all(one < other for one, other in pairwise(values))
    assert values[-1] == pytest.approx(math.log(3), rel=1e-3)


def test_the_upper_end_of_an_event_swaps_the_sides_of_the_intervals() -> None:
    each = 1 - math.sqrt(0.95)
    for hits, other_hits, delta in ((90, 30, 0.0), (90, 30, 0.1), (50, 50, 0.0), (100, 1, 0.0)):
        counts = Counts(hits, 100, other_hits, 100)
        above = proportion_confint(hits, 100, alpha=2 * each, method="beta")[1] - delta
        below = proportion_confint(other_hits, 100, alpha=2 * each, method="beta")[0]
        assert event_upper_bound(counts, 0.95, delta) == pytest.approx(math.log(above / below))
        assert epsilon_lower_bound(counts, 0.95, delta) < event_upper_bound(counts, 0.95, delta)
    assert event_upper_bound(Counts(50, 100, 0, 100), 0.95) == math.inf, "the event may be impossible under the other"
    assert event_upper_bound(Counts(0, 10**6, 10, 10**6), 0.95) == 0, "it is rarer here than there"
    assert event_upper_bound(Counts(0, 10**6, 0, 10**6), 0.95, delta=0.01) == 0, "delta alone allows it"


def test_the_upper_end_of_an_event_is_rarely_below_its_epsilon() -> None:
    """5% may be; of 4,000 repetitions more than 6% are with probability 0.002, if exactly 5% were."""
    rng = stream(0, "event upper bound")
    p, q = 0.3, 0.05
    hits, other = rng.binomial(2000, p, 4000), rng.binomial(2000, q, 4000)
    ends = np.array([event_upper_bound(Counts(int(h), 2000, int(o), 2000), 0.95) for h, o in zip(hits, other, strict=True)])
    assert np.mean(ends < math.log(p / q)) < 0.06
