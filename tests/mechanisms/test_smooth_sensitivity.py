"""The median's smooth sensitivity against its definition, and the exact privacy of the noise calibrated to it.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from epsilometer.core import Array, EpsilometerError, Guarantee
from epsilometer.mechanisms.smooth_sensitivity import (
    ENTRIES,
    SmoothMedian,
    SmoothMedianAsPrinted,
    SmoothMedianLaplace,
    largest_loss,
    log_stretch_excess,
    median,
    median_smooth_sensitivity,
)
from tests.mechanisms import agreement

ENTRY = {entry.name: entry for entry in ENTRIES}


def by_the_printed_formula(values: Array, upper: float, beta: float) -> float:
    """max_k e^(-k beta) max_t x_(m+t) - x_(m+t-k-1), in quadratic time."""
    n = len(values)
    m = (n + 1) // 2
    ordered = [0.0, *sorted(values.tolist()), upper]

    def x(rank: int) -> float:
        return ordered[min(max(rank, 0), n + 1)]

    return max(math.exp(-k * beta) * (x(m + t) - x(m + t - k - 1)) for k in range(n + 1) for t in range(k + 2))


def local_sensitivity(values: Array, domain: Array) -> float:
    """The local sensitivity: the largest move of the median by replacing one value."""
    furthest = 0.0
    for place, new in itertools.product(range(len(values)), domain):
        other = values.copy()
        other[place] = new
        furthest = max(furthest, abs(median(values, domain[-1]) - median(other, domain[-1])))
    return furthest


def neighbours(domain: Array, n: int) -> Iterator[tuple[Array, Array]]:
    for row in itertools.combinations_with_replacement(domain, n):
        for place, new in itertools.product(range(n), domain):
            other = np.array(row)
            other[place] = new
            yield np.array(row), other


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("beta", [0.05, 0.4, 2.0])
def test_the_definition_over_all_data_sets_of_a_small_domain(n: int, beta: float) -> None:
    """The largest value is attained where the other data set has only values of this one, 0 and upper."""
    domain = np.array([0.0, 0.5, 1.2, 1.5, 2.0])
    everything = np.array(list(itertools.product(domain, repeat=n)))
    local = np.array([local_sensitivity(row, domain) for row in everything])
    for row in everything[:: max(1, len(everything) // 60)]:
        distance = np.sum(everything != row, axis=1)
        expected = np.max(local * np.exp(-beta * distance))
        assert median_smooth_sensitivity(row, 2.0, beta) == pytest.approx(expected, rel=1e-12)


def test_the_printed_formula_on_many_data_sets() -> None:
    rng = np.random.default_rng(0)
    for n, beta in itertools.product([*range(1, 12), 30, 61], [1e-3, 0.1, 1.0, 20.0]):
        for values in (
            rng.random(n),
            rng.integers(0, 2, n),
            np.round(rng.random(n), 1),
            rng.random(n) ** 9,
            np.zeros(n),
            np.ones(n),
        ):
            found = median_smooth_sensitivity(3.0 * values, 3.0, beta)
            assert found == pytest.approx(by_the_printed_formula(3.0 * values, 3.0, beta), rel=1e-12)


def test_a_large_data_set_whose_answer_is_known() -> None:
    """Every gap is 1/(n + 1): g gaps are worth g e^(-beta (g - 1))/(n + 1), most for g = 1/beta."""
    n, beta = 99_999, 1e-3
    found = median_smooth_sensitivity(np.arange(1, n + 1)[::-1] / (n + 1), 1.0, beta)
    assert found == pytest.approx(1000 * math.exp(-beta * 999) / (n + 1), rel=1e-9)


def test_it_is_smooth_and_at_least_the_local_sensitivity() -> None:
    domain, beta, attained = np.array([0.0, 0.3, 1.0]), 0.3, 0.0
    for first, second in neighbours(domain, 4):
        here, there = (median_smooth_sensitivity(values, 1.0, beta) for values in (first, second))
        assert here <= math.exp(beta) * there * (1 + 1e-12)
        assert here >= local_sensitivity(first, domain) - 1e-12
        attained = max(attained, here / there)
    assert attained == pytest.approx(math.exp(beta))


def test_the_median_is_one_of_the_values() -> None:
    assert median(np.array([0.9, 0.1, 0.4]), 1.0) == 0.4
    assert median(np.array([0.9, 0.1, 0.4, 0.6]), 1.0) == 0.4
    assert median(np.array([0.7]), 1.0) == 0.7


@pytest.mark.parametrize("gamma", [1.3, 2.0, 4.0, 25.0])
def test_samples_follow_the_density(gamma: float) -> None:
    dataset, mechanism = np.array([0.2, 0.3, 1.5]), SmoothMedian(0.8, 2.0, gamma)
    p_value, mass = agreement.continuous_1d(mechanism, dataset, np.random.default_rng(0), 0.3, mechanism.scale(dataset))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("mechanism", [SmoothMedianLaplace(0.8, 2.0, 1e-3), SmoothMedianAsPrinted(0.8, 2.0, 0.1)])
def test_laplace_samples_follow_the_density(mechanism: Any) -> None:
    dataset = np.array([0.2, 0.3, 1.5, 1.6])
    p_value, mass = agreement.continuous_1d(mechanism, dataset, np.random.default_rng(0), 0.3, mechanism.scale(dataset))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-6)


def test_gamma_two_is_cauchy_and_gamma_four_is_normalised() -> None:
    dataset, points = np.array([0.2, 0.3, 1.5]), np.array([-1e9, -3.0, 0.0, 0.3, 0.31, 50.0])
    cauchy = SmoothMedian(0.8, 2.0, 2.0)
    scale = median_smooth_sensitivity(dataset, 2.0, 0.8 / 6) * 6 / 0.8
    assert cauchy.log_density(dataset, points) == pytest.approx(stats.cauchy(0.3, scale).logpdf(points), rel=1e-12)
    quartic = SmoothMedian(0.8, 2.0)
    scale = median_smooth_sensitivity(dataset, 2.0, 0.8 / 10) * 10 / 0.8
    mass = integrate.quad(lambda z: 1 / (1 + z**4), -np.inf, np.inf)[0]
    expected = -np.log(scale * mass * (1 + ((points - 0.3) / scale) ** 4))
    assert quartic.log_density(dataset, points) == pytest.approx(expected, rel=1e-9)


def worst_ratio(mechanism: Any, first: Array, second: Array, points: int = 2001) -> float:
    """The largest |log-ratio| on a fine grid that includes the tails around both medians."""
    steps = np.sinh(np.linspace(-20, 20, points))
    outputs = np.concatenate([median(data, mechanism.upper) + mechanism.scale(data) * steps for data in (first, second)])
    return float(np.max(np.abs(mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs))))


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [1.3, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_pure_promise_holds_with_room_to_spare(epsilon: float, gamma: float) -> None:
    mechanism = SmoothMedian(epsilon, 1.0, gamma)
    worst = max(worst_ratio(mechanism, *pair) for pair in neighbours(np.array([0.0, 0.4, 0.9, 1.0]), 3))
    assert 0.3 * mechanism.loss_bound < worst <= mechanism.loss_bound < epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 8.0])
def test_what_is_spent_on_the_pairs_is_known(epsilon: float) -> None:
    entry, mechanism = ENTRY["smooth_median"], SmoothMedian(epsilon, 1.0)
    found = []
    for pair in entry.pairs():
        found.append(worst_ratio(mechanism, np.asarray(pair.first), np.asarray(pair.second), 40_001))
        assert largest_loss(mechanism, [pair]) == pytest.approx(found[-1], rel=1e-5)
        assert largest_loss(mechanism, [pair]) >= found[-1] * (1 - 1e-9)
    assert found[2] == pytest.approx(3 * epsilon / 10, rel=1e-6)  # (gamma - 1) beta, far out
    assert entry.true_epsilon
    assert entry.true_epsilon(epsilon) == pytest.approx(max(found), rel=1e-5)


@pytest.mark.parametrize(("epsilon", "beta"), [(0.5, 0.1), (0.5, 0.25), (6.0, 1.0)])
def test_what_the_stretch_of_laplace_noise_exceeds(epsilon: float, beta: float) -> None:
    z = np.linspace(0, 200, 4_000_001)
    excess = np.exp(-z) - np.exp(epsilon / 2 + beta - z * math.exp(beta))  # both sides of 0 together
    assert math.exp(log_stretch_excess(epsilon, beta)) == pytest.approx(np.sum(np.maximum(excess, 0)) * z[1], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.2, 1e-5), (1.0, 1e-5), (1.0, 0.1), (2.0, 0.9), (20.0, 1e-5), (300.0, 0.01)]
)
def test_the_approximate_promise_holds(epsilon: float, delta: float) -> None:
    mechanism = SmoothMedianLaplace(epsilon, 1.0, delta)
    u = np.linspace(-7, 7, 40_001)
    for first, second in neighbours(np.array([0.0, 0.6, 1.0]), 3):
        outputs = median(first, 1.0) + mechanism.scale(first) * np.sinh(u)
        log_p, log_q = (mechanism.log_density(data, outputs) for data in (first, second))
        excess = np.where(log_p > epsilon + log_q, np.exp(log_p) * -np.expm1(np.minimum(epsilon + log_q - log_p, 0)), 0)
        spent = np.sum(excess * mechanism.scale(first) * np.cosh(u)) * (u[1] - u[0])
        assert spent <= delta * (1 + 1e-3)


def test_the_smoothing_is_the_papers_until_it_would_be_too_large() -> None:
    assert SmoothMedianLaplace(0.5, 1.0, 1e-5).smoothing == 0.5 / (2 * math.log(2e5))
    assert SmoothMedianLaplace(10.0, 1.0, 1e-5).smoothing == 10.0 / (2 * math.log(2e5))
    for epsilon in (12.0, 100.0, 1e6):
        beta = SmoothMedianLaplace(epsilon, 1.0, 1e-5).smoothing
        assert beta < epsilon / (2 * math.log(2e5))
        assert log_stretch_excess(epsilon, beta) == pytest.approx(math.log(1e-5), rel=1e-9)
    assert SmoothMedianLaplace(0.5, 1.0, 0.99).smoothing == 0.25
    assert SmoothMedian(1.0, 1.0, 2.0).smoothing == pytest.approx(1 / 6)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_printed_noise_breaks_its_promise_without_a_bound(epsilon: float) -> None:
    entry = ENTRY["smooth_median_as_printed"]
    mechanism: Any = entry.build(epsilon)
    same_scale, both, scale_only = ((np.asarray(pair.first), np.asarray(pair.second)) for pair in entry.pairs())
    assert mechanism.scale(same_scale[0]) * math.sqrt(2) == pytest.approx(1 / epsilon)  # S = 1
    assert worst_ratio(mechanism, *same_scale) == pytest.approx(math.sqrt(2) * epsilon, rel=1e-6)
    for first, second in (both, scale_only):
        far = np.array([1e4, 1e6, 1e8]) * mechanism.scale(second)
        ratios = np.abs(mechanism.log_density(first, far) - mechanism.log_density(second, far))
        assert ratios[0] > epsilon
        assert ratios[1:] / ratios[:-1] == pytest.approx([100, 100], rel=0.02)
    assert entry.true_epsilon
    assert entry.true_epsilon(epsilon) == math.inf


def test_the_promises() -> None:
    assert SmoothMedian(0.5, 1.0).guarantee == Guarantee(0.5, "replace-one")
    assert SmoothMedianAsPrinted(0.5, 1.0, 0.1).guarantee == Guarantee(0.5, "replace-one")
    assert SmoothMedianLaplace(0.5, 1.0, 1e-5).guarantee == Guarantee(0.5, "replace-one", 1e-5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SmoothMedian(0.0, 1.0), "epsilon is 0; it must be above 0"),
        (lambda: SmoothMedian(1.0, -1.0), "upper is -1; it must be a number above 0"),
        (lambda: SmoothMedian(1.0, 1.0, 1.0), "gamma is 1; it must be a number from 1.1 on"),
        (lambda: SmoothMedianLaplace(1.0, 1.0, 0.0), "delta is 0; Laplace noise needs a delta above 0"),
        (lambda: SmoothMedianLaplace(1.0, 1.0, 1.0), r"delta is 1; it must be in \[0, 1\)"),
        (lambda: SmoothMedianAsPrinted(1.0, 1.0, 0.0), "beta is 0; it must be a number above 0"),
    ],
)
def test_bad_parameters_are_named(make: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        ([0.5, 2.5], r"record 2 is 2.5; a value must be in \[0, 2\]"),
        ([-0.1], r"record 1 is -0.1; a value must be in \[0, 2\]"),
        ([math.nan], r"record 1 is nan; a value must be in \[0, 2\]"),
        ([], r"the data set has shape \(0,\); it must be a non-empty sequence of numbers"),
        (np.zeros(20_001), "the smooth sensitivity of 20001 values with beta = 0.1 is below the smallest number"),
    ],
)
def test_bad_data_are_refused(dataset: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=f"^{sentence}"):
        SmoothMedian(1.0, 2.0).sample(np.array(dataset), 1, np.random.default_rng(0))
