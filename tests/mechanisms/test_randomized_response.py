"""Randomised response keeps a bit with probability 1/2 + gamma; everything about it can be enumerated.

The chi-square test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError
from epsilometer.mechanisms.randomized_response import ENTRIES, RandomizedResponse
from tests.mechanisms import agreement

GAMMAS = (0.01, 0.25, 0.49)


def all_bits(n: int) -> list[np.ndarray[Any, Any]]:
    return [np.array(bits) for bits in itertools.product([0, 1], repeat=n)]


def test_two_coins_promise_the_logarithm_of_three() -> None:
    """The survey of the slides: tails, tell the truth; heads, let a second coin answer."""
    kept = sum(first == "tails" or second == "truth" for first in ("tails", "heads") for second in ("truth", "lie")) / 4
    assert kept == 0.5 + 0.25
    assert RandomizedResponse(0.25).guarantee.epsilon == pytest.approx(math.log(3), rel=1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 20.0])
def test_gamma_from_epsilon(epsilon: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(epsilon)
    assert mechanism.gamma == pytest.approx((math.exp(epsilon) - 1) / (2 * (math.exp(epsilon) + 1)), rel=1e-9)
    assert mechanism.guarantee.epsilon == pytest.approx(epsilon, rel=1e-7)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_probabilities_are_products(gamma: float) -> None:
    mechanism = RandomizedResponse(gamma)
    for bits in all_bits(3):
        support = mechanism.support(bits)
        assert sorted(map(tuple, support.tolist())) == sorted(itertools.product([0, 1], repeat=3))
        expected = [
            math.prod(0.5 + gamma if y == x else 0.5 - gamma for x, y in zip(bits, row, strict=True)) for row in support
        ]
        assert np.exp(mechanism.log_density(bits, support)) == pytest.approx(expected, rel=1e-13)
        assert sum(expected) == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_epsilon_is_reached_by_every_output_and_never_exceeded(gamma: float) -> None:
    mechanism = RandomizedResponse(gamma)
    for bits in all_bits(4):
        support = mechanism.support(bits)
        for person in range(4):
            other = bits.copy()
            other[person] ^= 1
            ratios = mechanism.log_density(bits, support) - mechanism.log_density(other, support)
            assert np.abs(ratios) == pytest.approx(np.full(16, mechanism.guarantee.epsilon), rel=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_estimate_of_the_share_is_unbiased(gamma: float) -> None:
    mechanism = RandomizedResponse(gamma)
    for bits in all_bits(4):
        support = mechanism.support(bits)
        probability = np.exp(mechanism.log_density(bits, support))
        assert probability @ mechanism.estimate_share(support) == pytest.approx(bits.mean(), abs=1e-13)


@pytest.mark.slow
def test_samples_have_the_stated_probabilities() -> None:
    mechanism = RandomizedResponse(0.3)
    bits = np.array([True, False, False])  # any zeros and ones will do
    samples = mechanism.sample(bits, 50, np.random.default_rng(0))
    assert samples.shape == (50, 3)
    assert np.issubdtype(samples.dtype, np.integer)
    p_value, mass = agreement.finite(mechanism, bits, np.random.default_rng(1), size=200_000)
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, rel=1e-13)


def test_other_numbers_are_impossible_outputs() -> None:
    outputs = np.array([[0, 1], [0, 2], [0.5, 1]])
    assert np.isneginf(RandomizedResponse(0.1).log_density(np.array([0, 1]), outputs)).tolist() == [False, True, True]


def test_the_catalogue_knows_what_is_spent() -> None:
    (entry,) = ENTRIES
    assert entry.true_epsilon
    for epsilon in (0.1, 1.0, 3.0):
        mechanism: Any = entry.build(epsilon)
        for pair in entry.pairs():
            support = mechanism.support(pair.first)
            ratios = mechanism.log_density(pair.first, support) - mechanism.log_density(pair.second, support)
            assert np.max(ratios) == pytest.approx(entry.true_epsilon(epsilon), rel=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.5, -0.1, 0.7, math.nan])
def test_gamma_is_between_a_coin_and_the_truth(gamma: float) -> None:
    with pytest.raises(EpsilometerError, match=f"gamma is {gamma:g}; it must be above 0 and below 1/2"):
        RandomizedResponse(gamma)


def test_a_senseless_epsilon_is_named() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is -1; it must be above 0"):
        RandomizedResponse.from_epsilon(-1)


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        ([0, 1, 2], "record 3 is 2; a record must be 0 or 1"),
        ([0.5], "record 1 is 0.5; a record must be 0 or 1"),
        ([], r"the data set has shape \(0,\); it must be a non-empty sequence of bits"),
        ([[0, 1]], r"the data set has shape \(1, 2\)"),
    ],
)
def test_bad_data_are_refused(dataset: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=f"^{sentence}"):
        RandomizedResponse(0.1).sample(np.array(dataset), 1, np.random.default_rng(0))


def test_a_long_support_is_not_listed() -> None:
    with pytest.raises(EpsilometerError, match=r"21 persons have 2\^21 outputs; they are listed for at most 20 persons"):
        RandomizedResponse(0.1).support(np.zeros(21))
