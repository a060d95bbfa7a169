"""Private Beta-Bernoulli inference: probabilities by enumeration, Hellinger distances by quadrature, and exact epsilons.

A test that compares samples with a distribution would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from epsilometer.core import EpsilometerError, Guarantee
from epsilometer.mechanisms.beta_bernoulli import (
    ENTRIES,
    HellingerPosterior,
    NoisyBitsPosterior,
    NoisyParametersPosterior,
    hellinger,
)
from tests.mechanisms import agreement

KINDS = (NoisyBitsPosterior, NoisyParametersPosterior, HellingerPosterior)
FINITE = (NoisyBitsPosterior, HellingerPosterior)


def bits(n: int, ones: int) -> NDArray[np.int_]:
    return (np.arange(n) < ones).astype(int)


@pytest.mark.parametrize("ones", [0, 2, 5])
def test_released_sums_have_the_enumerated_probability(ones: int) -> None:
    """All 2^5 outcomes of randomised response, one by one."""
    epsilon, data = 0.9, bits(5, ones)
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    probability = np.zeros(6)
    for released in product((0, 1), repeat=5):
        kept = np.array(released) == data
        probability[sum(released)] += np.prod(np.where(kept, keep, 1 - keep))
    mechanism = NoisyBitsPosterior(epsilon, 2.0, 0.5)
    outputs = np.column_stack([2.0 + np.arange(6), 0.5 + 5 - np.arange(6)])
    np.testing.assert_array_equal(mechanism.support(data), outputs)
    np.testing.assert_allclose(np.exp(mechanism.log_density(data, outputs)), probability)


@pytest.mark.parametrize("kind", FINITE)
@pytest.mark.parametrize("ones", [0, 3, 8])
def test_finite_samplers_and_probabilities_agree(kind: type[NoisyBitsPosterior], ones: int) -> None:
    p_value, mass = agreement.finite(kind(1.3, 0.7, 2.0), bits(8, ones), np.random.default_rng(1))
    assert p_value > 1e-6
    assert mass == pytest.approx(1)


@pytest.mark.parametrize("kind", FINITE)
def test_other_outputs_are_impossible(kind: type[NoisyBitsPosterior]) -> None:
    outputs = np.array([[2.5, 3.5], [9.0, -3.0], [3.0, 4.0], [np.nan, 1.0], [2.0, 4.0]])
    possible = np.isfinite(kind(1.0).log_density(bits(4, 2), outputs))
    np.testing.assert_array_equal(possible, [False, False, False, False, True])


def test_probabilities_are_right_far_out() -> None:
    """1000 ones, all flipped: the probability is too small for a float, its logarithm is not."""
    data = np.ones(1000, dtype=int)
    lowest = NoisyBitsPosterior(2.0).log_density(data, np.array([[1.0, 1001.0]]))
    assert lowest[0] == pytest.approx(-1000 * math.log1p(math.exp(2.0)))


def spent_by_count(mechanism: NoisyBitsPosterior) -> list[float]:
    """The epsilon spent between k and k + 1 ones of nine bits, for each k."""
    outputs = mechanism.support(bits(9, 0))
    log_density = [mechanism.log_density(bits(9, ones), outputs) for ones in range(10)]
    return [float(np.abs(one - other).max()) for one, other in itertools.pairwise(log_density)]


@pytest.mark.parametrize("kind", FINITE)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_epsilon_is_never_exceeded(kind: type[NoisyBitsPosterior], epsilon: float) -> None:
    """Over all outputs and all neighbouring counts of ones."""
    spent = spent_by_count(kind(epsilon, 0.5, 1.5))
    assert max(spent) <= epsilon * (1 + 1e-12)
    assert max(spent) > epsilon / 2  # the candidate of n ones changes by epsilon/2, and the normalisation adds to that


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_noisy_bits_spend_epsilon_at_every_count(epsilon: float) -> None:
    np.testing.assert_allclose(spent_by_count(NoisyBitsPosterior(epsilon, 0.5, 1.5)), epsilon)


def test_noisy_parameters_have_laplace_noise_of_scale_two_over_epsilon() -> None:
    mechanism, data = NoisyParametersPosterior(0.8, 2.0, 3.0), bits(6, 4)
    p_value, mass = agreement.continuous_2d(mechanism, data, np.random.default_rng(2))
    assert p_value > 1e-6
    assert mass == pytest.approx(1, abs=1e-3)
    outputs = mechanism.sample(data, 2_000, np.random.default_rng(3))
    law = stats.laplace(scale=2.5)
    np.testing.assert_allclose(mechanism.log_density(data, outputs), law.logpdf(outputs - [6.0, 5.0]).sum(axis=1))
    ratio = mechanism.log_density(data, outputs) - mechanism.log_density(bits(6, 5), outputs)
    assert np.abs(ratio).max() == pytest.approx(0.8)
    assert ratio.max() == pytest.approx(0.8)
    assert ratio.min() == pytest.approx(-0.8)


@pytest.mark.parametrize(("one", "other"), [((1.0, 7.0), (2.0, 6.0)), ((3.5, 2.0), (4.5, 1.0)), ((0.5, 0.5), (20.0, 3.0))])
def test_the_hellinger_distance_is_that_of_the_densities(one: tuple[float, float], other: tuple[float, float]) -> None:
    first, second = stats.beta(*one), stats.beta(*other)
    affinity = integrate.quad(lambda x: math.sqrt(first.pdf(x) * second.pdf(x)), 0, 1, limit=200)[0]
    assert float(hellinger(*one, *other)) == pytest.approx(math.sqrt(1 - affinity), abs=1e-6)
    assert float(hellinger(*one, *one)) == 0


@pytest.mark.parametrize("n", [1, 2, 11])
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.2, 5.0)])
def test_the_sensitivity_is_the_largest_change_of_any_score(n: int, prior: tuple[float, float]) -> None:
    mechanism = HellingerPosterior(1.0, *prior)
    changes = [np.abs(mechanism.distances(n, k) - mechanism.distances(n, k + 1)).max() for k in range(n)]
    assert mechanism.sensitivity(n) == pytest.approx(max(changes), rel=1e-9)


def test_the_exponential_mechanism_prefers_the_true_posterior() -> None:
    mechanism, data = HellingerPosterior(1.0), bits(7, 3)
    expected = np.exp(-mechanism.distances(7, 3) / (2 * mechanism.sensitivity(7)))
    np.testing.assert_allclose(np.exp(mechanism.log_density(data, mechanism.support(data))), expected / expected.sum())
    assert expected.argmax() == 3


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_the_entries_say_they_spend_is_spent(entry: Any) -> None:
    for epsilon in (0.3, 2.0):
        mechanism, spent = entry.build(epsilon), []
        for pair in entry.pairs():
            outputs = mechanism.sample(pair.first, 2_000, np.random.default_rng(4))
            spent.append(
                np.abs(mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)).max()
            )
        assert max(spent) == pytest.approx(entry.true_epsilon(epsilon))
        assert mechanism.guarantee == Guarantee(epsilon, "replace-one")


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_refused(kind: type[NoisyBitsPosterior]) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(EpsilometerError, match="is 2; a record must be 0 or 1"):
        kind(1.0).sample(np.array([0, 2]), 1, rng)
    with pytest.raises(EpsilometerError, match=r"shape \(0,\)"):
        kind(1.0).sample(np.array([]), 1, rng)
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        kind(0.0)
    with pytest.raises(EpsilometerError, match="b is -1"):
        kind(1.0, 1.0, -1.0)
