"""Report noisy max: probabilities against closed forms and quadrature, and the privacy loss of releasing the value.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from epsilometer.core import EpsilometerError, Guarantee, HasSupport
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.noisy_max import (
    NoisyMax,
    NoisyMaxExponential,
    NoisyMaxExponentialValue,
    NoisyMaxValue,
    pair_with_answers,
    query_answers,
)
from tests.mechanisms import agreement

EPSILONS = (0.1, 0.5, 1.0)
INDEX, VALUE = (NoisyMax, NoisyMaxExponential), (NoisyMaxValue, NoisyMaxExponentialValue)


def database(*answers: int) -> Any:
    """A table whose columns have these sums."""
    return (np.arange(max(answers))[:, None] < np.array(answers)).astype(float)


@pytest.mark.parametrize(("build", "noise"), [(NoisyMax, stats.laplace), (NoisyMaxExponential, stats.expon)])
def test_probabilities_agree_with_adaptive_quadrature(build: Any, noise: Any) -> None:
    mechanism, answers = build(0.7), np.array([2.0, 5.0, 4.0, 9.0])
    data = database(2, 5, 4, 9)

    def integrand(x: float, i: int) -> float:
        others = np.delete(answers, i)
        return float(noise.pdf(x - answers[i], scale=2 / 0.7) * np.prod(noise.cdf(x - others, scale=2 / 0.7)))

    pieces = np.array([-200.0, 2, 4, 5, 9, 30, 60, 200])
    expected = [
        sum(integrate.quad(integrand, a, b, args=(i,), epsabs=1e-13)[0] for a, b in itertools.pairwise(pieces))
        for i in range(4)
    ]
    np.testing.assert_allclose(np.exp(mechanism.log_density(data, np.arange(4))), expected, rtol=1e-10)


def test_two_queries_have_a_closed_form() -> None:
    """The difference of two exponentials is a Laplace; that of two Laplaces is below -g with chance e^-g (2 + g) / 4."""
    for gap in (0, 1, 4):
        data, g = database(3 + gap, 3), gap * 0.8 / 2
        exponential = math.exp(NoisyMaxExponential(0.8).log_density(data, np.array([1]))[0])
        assert exponential == pytest.approx(math.exp(-g) / 2, rel=1e-13)
        laplace = math.exp(NoisyMax(0.8).log_density(data, np.array([1]))[0])
        assert laplace == pytest.approx(math.exp(-g) * (2 + g) / 4, rel=1e-13)


@pytest.mark.parametrize("build", VALUE)
def test_the_values_density_is_the_samplers(build: Any) -> None:
    for data in (database(1, 1, 1, 1, 1), database(3, 0, 8)):
        p_value, mass = agreement.continuous_1d(build(0.7), data, np.random.default_rng(4), centre=4.0, scale=3.0)
        assert p_value > agreement.FALSE_FAILURE
        assert mass == pytest.approx(1, abs=1e-3)  # the density may jump at the largest answer


@pytest.mark.parametrize("build", INDEX)
@pytest.mark.parametrize("epsilon", [*EPSILONS, 5.0])
def test_the_number_keeps_the_promise_for_every_change_of_the_answers(build: Any, epsilon: float) -> None:
    """All changes by -1, 0 or 1 of three answers, from equal and from unequal ones."""
    worst = 0.0
    for start in ([1.0, 1.0, 1.0], [4.0, 3.0, 1.0]):
        for change in itertools.product((-1.0, 0.0, 1.0), repeat=3):
            if any(change):
                pair = pair_with_answers(np.array(start), np.array(start) + change, "one of all changes")
                worst = max(worst, largest_log_ratio(build(epsilon), pair))
    assert 0.75 * epsilon < worst <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_value_spends_five_halves_of_epsilon(epsilon: float) -> None:
    entry = find("noisy_max_value")
    mechanism: Any = entry.build(epsilon)
    outputs = np.linspace(-60 / epsilon, 60 / epsilon, 20_001)
    ratios = [
        mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs) for pair in entry.pairs()
    ]
    assert np.abs(ratios).max() == pytest.approx(2.5 * epsilon, rel=1e-9)
    assert entry.true_epsilon is not None
    assert entry.true_epsilon(epsilon) == pytest.approx(2.5 * epsilon)
    sibling = find("noisy_max")
    assert all(largest_log_ratio(sibling.build(epsilon), pair) <= epsilon for pair in sibling.pairs())


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_exponential_noise_makes_values_possible_under_one_data_set_only(epsilon: float) -> None:
    entry = find("noisy_max_exponential_value")
    mechanism: Any = entry.build(epsilon)
    pair = entry.pairs()[0]
    between = np.array([1.5])  # the largest answer is 1 or 2
    assert np.isfinite(mechanism.log_density(pair.first, between))[0]
    assert np.isneginf(mechanism.log_density(pair.second, between))[0]
    samples = mechanism.sample(pair.first, 200_000, np.random.default_rng(0))
    impossible = np.isneginf(mechanism.log_density(pair.second, samples))
    chance = -math.expm1(-epsilon / 2)  # that one noisy answer stays below 2
    assert stats.binomtest(int(impossible.sum()), len(samples), chance**5).pvalue > 1e-6
    sibling = find("noisy_max_exponential")
    assert all(largest_log_ratio(sibling.build(epsilon), pair) <= epsilon * (1 + 1e-12) for pair in sibling.pairs())


@pytest.mark.parametrize("build", INDEX)
def test_impossible_numbers_have_no_probability(build: Any) -> None:
    assert np.isneginf(build(1.0).log_density(database(1, 2), np.array([-1.0, 2.0, 0.5, np.nan]))).all()


def test_the_density_far_out_stays_exact() -> None:
    """Below all answers the density is k (2b)^-1 2^(1-k) exp(-(sum q - k x)/b)."""
    density = NoisyMaxValue(1.0).log_density(database(1, 2, 3), np.array([-3000.0]))
    assert density[0] == pytest.approx(math.log(3 / 4 / 4) - (6 + 9000) / 2, abs=1e-9)


@pytest.mark.parametrize("build", [*INDEX, *VALUE])
def test_the_promise_and_what_is_refused(build: Any) -> None:
    assert build(0.3).guarantee == Guarantee(0.3, "replace-one")
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        build(-1.0)
    rng = np.random.default_rng(0)
    for wrong, complaint in [
        (np.array([1.0, 2.0]), r"shape \(2,\)"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        (np.array([[1.0, 0.0], [0.0, 2.0]]), "record 2 gives 2 to query 2; it must be 0 or 1"),
    ]:
        with pytest.raises(EpsilometerError, match=complaint):
            build(1.0).sample(wrong, 3, rng)


def test_only_a_finite_support_has_a_largest_ratio() -> None:
    assert not isinstance(NoisyMaxValue(1.0), HasSupport)
    with pytest.raises(TypeError, match="NoisyMaxValue"):
        largest_log_ratio(NoisyMaxValue(1.0), find("noisy_max").pairs()[0])


def test_an_exchange_has_the_wanted_answers() -> None:
    first, second = np.array([1.0, 3.0, 2.0, 0.0]), np.array([2.0, 2.0, 2.0, 1.0])
    pair = pair_with_answers(first, second, "up, down, same, up")
    np.testing.assert_array_equal(query_answers(np.asarray(pair.first)), first)
    np.testing.assert_array_equal(query_answers(np.asarray(pair.second)), second)
