"""The sparse vector technique: probabilities against independent quadrature, and the true epsilon of the broken versions.

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
from epsilometer.mechanisms.catalogue import Entry, find, largest_log_ratio
from epsilometer.mechanisms.noisy_max import pair_with_answers
from epsilometer.mechanisms.sparse_vector import (
    SparseVector1,
    SparseVector2,
    SparseVector3,
    SparseVector4,
    SparseVector5,
    SparseVector6,
)
from tests.mechanisms import agreement

EPSILONS = (0.1, 0.5, 1.0)
VERSIONS = (SparseVector1, SparseVector2, SparseVector3, SparseVector4, SparseVector5, SparseVector6)
SCALES = {1: (2, 4), 2: (4, 8), 3: (2, 4), 4: (4, 4 / 3), 6: (2, 2)}
"""Scales of rho and nu_i for epsilon = 1; versions 2 and 3 with c = 2, the others with c = 1."""


def version(number: int, epsilon: float = 1.0) -> Any:
    return VERSIONS[number - 1](epsilon, threshold=2.5, most_above=2 if number in (2, 3) else 1)


def database(*answers: int) -> Any:
    """A table whose columns have these sums."""
    return (np.arange(max(answers))[:, None] < np.array(answers)).astype(float)


def probability(number: int, answers: Any, pattern: list[float], limit: float = math.inf) -> float:
    """P(pattern and rho <= limit) by adaptive quadrature over rho; a pattern has below, above and nan for either."""
    rho_scale, nu_scale = SCALES[number]

    def integrand(rho: float) -> float:
        chance = stats.laplace.cdf(2.5 + rho - np.asarray(answers), scale=nu_scale)
        factors = np.where(np.array(pattern) == 1, 1 - chance, chance)
        return float(stats.laplace.pdf(rho, scale=rho_scale) * np.prod(factors[~np.isnan(pattern)]))

    breaks = [-150.0, -30.0, *(answer - 2.5 for answer in sorted(set(answers))), 0.0, 30.0, 150.0]
    breaks = [min(point, limit) for point in sorted(breaks)]
    return sum(integrate.quad(integrand, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(breaks))


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 4, 6])
def test_probabilities_agree_with_adaptive_quadrature(number: int) -> None:
    answers = (3, 1, 6)
    mechanism = version(number)
    support = mechanism.support(database(*answers))
    assert len(support) == (8 if number == 6 else 4)
    expected = [probability(number, answers, list(pattern)) for pattern in support]
    np.testing.assert_allclose(np.exp(mechanism.log_density(database(*answers), support)), expected, rtol=1e-9)


def test_a_new_threshold_makes_the_parts_independent() -> None:
    """Version 2 with c = 2: 0 1 | 0 1 is the product of two probabilities with a threshold of their own."""
    answers, nan = (3, 1, 6, 2), math.nan
    together = SparseVector2(1.0, 2.5, 2).log_density(database(*answers), np.array([[0.0, 1.0, 0.0, 1.0]]))
    apart = probability(2, answers, [0, 1, nan, nan]) * probability(2, answers, [nan, nan, 0, 1])
    assert math.exp(together[0]) == pytest.approx(apart, rel=1e-9)


@pytest.mark.parametrize("value", [-40.0, -3.0, 0.2, 1.7, 4.0, 80.0])
def test_the_density_of_released_answers_agrees_with_adaptive_quadrature(value: float) -> None:
    """Version 3 with c = 2: below, v, below, v + 1, and then it has stopped."""
    answers, nan = (3, 1, 6, 2, 1), math.nan
    output = np.array([[0.0, value, 0.0, value + 1, nan]])
    expected = probability(3, answers, [0, nan, 0, nan, nan], limit=value - 2.5)
    expected *= stats.laplace.pdf(value - 1, scale=4) * stats.laplace.pdf(value + 1 - 2, scale=4)
    density = SparseVector3(1.0, 2.5, 2).log_density(database(*answers), output)
    assert density[0] == pytest.approx(math.log(expected), abs=1e-8)


@pytest.mark.slow
def test_the_density_of_one_released_answer_is_the_samplers() -> None:
    """Two queries, the first below: the second's released answer has the stated density, and the total mass is 1."""
    mechanism, data = SparseVector3(0.7), database(1, 3)
    values = np.linspace(-150, 250, 80_001)[1:]  # without 0, which reads as below
    values = values[np.abs(values) > 1e-9]
    density = np.exp(mechanism.log_density(data, np.column_stack([np.zeros_like(values), values])))
    cdf = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(values))])
    samples = mechanism.sample(data, 40_000, np.random.default_rng(1))
    first_below = samples[(samples[:, 0] == 0) & (samples[:, 1] != 0), 1]
    assert stats.kstest(np.interp(first_below, values, cdf / cdf[-1]), "uniform").pvalue > 1e-6
    assert stats.binomtest(len(first_below), 40_000, cdf[-1]).pvalue > 1e-6
    both_below = math.exp(mechanism.log_density(data, np.zeros((1, 2)))[0])
    first_above = np.exp(mechanism.log_density(data, np.column_stack([values, np.full_like(values, np.nan)])))
    total = cdf[-1] + both_below + np.trapezoid(first_above, values)
    assert total == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("number", [1, 2, 4, 5, 6])
def test_samples_have_the_stated_probabilities(number: int) -> None:
    p_value, mass = agreement.finite(version(number), database(3, 1, 6, 2, 2), np.random.default_rng(number))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_released_answers_pass_the_ratio_identity() -> None:
    """With c = 2, where two answers are released; the catalogue's test has c = 1."""
    pair = find("sparse_vector_3").pairs()[0]
    p_value = agreement.ratio_identity(SparseVector3(0.5, most_above=2), pair, np.random.default_rng(0), size=3_000)
    assert p_value > agreement.FALSE_FAILURE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "most_above"), [(SparseVector1, 1), (SparseVector1, 2), (SparseVector2, 1), (SparseVector2, 2)]
)
@pytest.mark.parametrize("epsilon", [*EPSILONS, 5.0])
def test_the_correct_versions_keep_the_promise(build: Any, most_above: int, epsilon: float) -> None:
    """All changes by -1, 0 or 1 of three answers, for thresholds below, among and above them; and the catalogue's pairs."""
    worst = 0.0
    for threshold in (-3.0, 2.0, 9.0):
        mechanism = build(epsilon, threshold, most_above)
        for change in itertools.product((-1.0, 0.0, 1.0), repeat=3):
            if any(change):
                start = np.array([2.0, 1.0, 3.0])
                worst = max(
                    worst, largest_log_ratio(mechanism, pair_with_answers(start, start + change, "one of all changes"))
                )
    for pair in find("sparse_vector_1").pairs():
        worst = max(worst, largest_log_ratio(build(epsilon, most_above=most_above), pair))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-12)


def spent(entry: Entry, epsilon: float) -> float:
    assert entry.true_epsilon is not None
    return entry.true_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_correct_versions_nearly_attain_it(epsilon: float) -> None:
    assert 0.95 * epsilon < spent(find("sparse_vector_1"), epsilon) <= epsilon
    assert 0.75 * epsilon < spent(find("sparse_vector_2"), epsilon) <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_version_3_spends_half_of_epsilon_for_each_query(epsilon: float) -> None:
    """On the pair whose answers all rise, at every released answer below them all; the loss is smaller elsewhere."""
    entry = find("sparse_vector_3")
    mechanism: Any = entry.build(epsilon)
    worst = 0.0
    for pair in entry.pairs():
        for position in range(10):
            values = np.linspace(-80 / epsilon, 80 / epsilon, 1_000)
            outputs = np.full((len(values), 10), np.nan)
            outputs[:, :position], outputs[:, position] = 0.0, values
            ratio = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
            worst = max(worst, float(np.abs(ratio).max()))
    assert worst == pytest.approx(5 * epsilon, rel=1e-9)
    assert spent(entry, epsilon) == pytest.approx(5 * epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_version_4_spends_nearly_seven_quarters(epsilon: float) -> None:
    """Lyu, Su and Li: (1 + 6c)/4 epsilon in general, epsilon (for c = 1) if all answers move in one direction."""
    entry = find("sparse_vector_4")
    assert 1.7 * epsilon < spent(entry, epsilon) <= 1.75 * epsilon
    assert largest_log_ratio(entry.build(epsilon), entry.pairs()[2]) <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_version_5_shows_the_order_of_the_answers(epsilon: float) -> None:
    mechanism: Any = SparseVector5(epsilon)
    pair = find("sparse_vector_5").pairs()[0]
    pattern = np.repeat([[1.0, 0.0]], 5, axis=1)  # possible only if the first five answers exceed the others
    assert np.isneginf(mechanism.log_density(pair.first, pattern))[0]
    chance = math.exp(mechanism.log_density(pair.second, pattern)[0])
    assert chance == pytest.approx(stats.laplace.cdf(1, scale=2 / epsilon) - stats.laplace.cdf(-1, scale=2 / epsilon))
    seen = (mechanism.sample(pair.second, 20_000, np.random.default_rng(0)) == pattern).all(axis=1).sum()
    assert stats.binomtest(int(seen), 20_000, chance).pvalue > 1e-6
    assert spent(find("sparse_vector_5"), epsilon) == math.inf


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_version_6_spends_more_with_every_query(epsilon: float) -> None:
    """Lyu, Su and Li: m epsilon / 2 is exceeded with 2m queries that were all at the threshold; here m = 2, 4, 6."""
    entry = find("sparse_vector_6")
    assert spent(entry, epsilon) > 4 * epsilon
    for m in (2, 4, 6):
        ones = np.ones(2 * m)
        pair = pair_with_answers(ones, ones + np.repeat([1.0, -1.0], m), "half up, half down")
        assert largest_log_ratio(SparseVector6(epsilon), pair) > m * epsilon / 2


def test_probabilities_of_remote_patterns_keep_their_relative_accuracy() -> None:
    """One query far below the threshold: nu - rho is a difference of two Laplaces of scale 2."""
    mechanism, near, far = SparseVector6(1.0, threshold=101.0), database(1), database(2)
    ratio = mechanism.log_density(near, np.ones((1, 1))) - mechanism.log_density(far, np.ones((1, 1)))
    gap = np.array([100.0, 99.0]) / 2  # P(difference > 2 g) = e^-g (2 + g) / 4
    expected = np.log(np.exp(-gap) * (2 + gap) / 4)
    assert ratio[0] == pytest.approx(expected[0] - expected[1], rel=1e-9)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_nothing_is_answered_after_the_last_one_above(number: int) -> None:
    mechanism = version(number)
    samples = mechanism.sample(database(3, 1, 6, 2, 2, 4), 5_000, np.random.default_rng(5))
    above = ~np.isnan(samples) & (samples != 0)
    assert above.sum(axis=1).max() == mechanism.most_above
    given_before = np.cumsum(above, axis=1) - above
    np.testing.assert_array_equal(np.isnan(samples), given_before == mechanism.most_above)


def test_impossible_outputs_have_no_probability() -> None:
    nan, data = math.nan, database(1, 2, 1)
    wrong = np.array([[1.0, 0.0, nan], [0.0, nan, nan], [nan, 0.0, 1.0], [1.0, 1.0, nan]])
    for number in (1, 4):
        assert np.isneginf(version(number).log_density(data, wrong)).all()
    assert np.isneginf(SparseVector3(1.0).log_density(data, wrong)).all()
    assert np.isneginf(version(1).log_density(data, np.array([[0.0, 0.5, 0.0]]))).all()
    assert np.isneginf(version(6).log_density(data, wrong[:3])).all()


@pytest.mark.parametrize("build", VERSIONS)
def test_the_promise_and_what_is_refused(build: Any) -> None:
    assert build(0.3).guarantee == Guarantee(0.3, "replace-one")
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        build(0.0)
    with pytest.raises(EpsilometerError, match="most_above is 0; it must be at least 1"):
        build(1.0, most_above=0)
    with pytest.raises(EpsilometerError, match="threshold is nan"):
        build(1.0, threshold=math.nan)
    with pytest.raises(EpsilometerError, match="record 1 gives -1 to query 2"):
        build(1.0).sample(np.array([[0.0, -1.0]]), 2, np.random.default_rng(0))


def test_long_supports_are_not_listed() -> None:
    with pytest.raises(EpsilometerError, match="17 queries; outputs are listed for at most 16"):
        SparseVector1(1.0).support(np.ones((1, 17)))
    assert not isinstance(SparseVector3(1.0), HasSupport)
