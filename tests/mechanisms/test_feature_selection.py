"""Private feature selection: probabilities by hand, sampling at once against choosing in turn, and exact epsilons.

A test that compares samples with probabilities would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, Guarantee
from epsilometer.mechanisms.feature_selection import ENTRIES, FeatureSelection
from tests.mechanisms import agreement

DATA = np.random.default_rng(0).uniform(-1, 1, (6, 5))


def test_the_scores_are_absolute_correlations() -> None:
    expected = [abs(sum(record[-1] * record[feature] for record in DATA)) for feature in range(4)]
    np.testing.assert_allclose(FeatureSelection(1.0, 2).scores(DATA), expected)


@pytest.mark.parametrize("select", [1, 2, 4])
def test_probabilities_are_those_of_choosing_in_turn(select: int) -> None:
    mechanism = FeatureSelection(3.0, select)
    weights = np.exp(3.0 / select * mechanism.scores(DATA) / 4)
    for output in permutations(range(4), select):
        left, probability = list(range(4)), 1.0
        for choice in output:
            probability *= weights[choice] / sum(weights[feature] for feature in left)
            left.remove(choice)
        assert np.exp(mechanism.log_density(DATA, np.array([output])))[0] == pytest.approx(probability)


@pytest.mark.parametrize("select", [1, 3])
def test_sampling_at_once_has_these_probabilities(select: int) -> None:
    p_value, mass = agreement.finite(FeatureSelection(8.0, select), DATA, np.random.default_rng(1))
    assert p_value > 1e-6
    assert mass == pytest.approx(1)


def test_other_outputs_are_impossible() -> None:
    outputs = np.array([[0, 0], [4, 1], [-1, 0], [3, 0]])
    possible = np.isfinite(FeatureSelection(1.0, 2).log_density(DATA, outputs))
    np.testing.assert_array_equal(possible, [False, False, False, True])


def largest_ratio(mechanism: FeatureSelection, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    outputs = mechanism.support(first)
    return float(np.abs(mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs)).max())


def test_epsilon_is_never_exceeded() -> None:
    rng = np.random.default_rng(2)
    for case in range(100):
        mechanism = FeatureSelection(float(10 ** rng.uniform(-1, 1)), 1 + case % 3)
        shared = rng.uniform(-1, 1, (int(rng.integers(1, 20)), 5))
        one, other = np.sign(rng.uniform(-1, 1, (2, 5))) if case % 2 else rng.uniform(-1, 1, (2, 5))
        spent = largest_ratio(mechanism, np.vstack([shared, one]), np.vstack([shared, other]))
        assert spent <= mechanism.epsilon * (1 + 1e-12)


def test_a_score_moves_by_two_and_no_more() -> None:
    mechanism = FeatureSelection(1.0, 1)
    pair = ENTRIES[0].pairs()[0]
    change = mechanism.scores(np.asarray(pair.first)) - mechanism.scores(np.asarray(pair.second))
    np.testing.assert_allclose(change, [2, 2, -2, -2])


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_what_the_pairs_spend(epsilon: float) -> None:
    """Most of epsilon, and nearly all of it where the strong features have all the probability."""
    entry = ENTRIES[0]
    mechanism = entry.build(epsilon)
    assert isinstance(mechanism, FeatureSelection)
    assert mechanism.guarantee == Guarantee(epsilon, "replace-one")
    spent = max(largest_ratio(mechanism, np.asarray(pair.first), np.asarray(pair.second)) for pair in entry.pairs())
    assert entry.true_epsilon
    assert entry.true_epsilon(epsilon) == pytest.approx(spent)
    assert (0.99 if epsilon == 5 else 0.6) * epsilon < spent <= epsilon


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((0, 5)), r"shape \(0, 5\)"),
        (np.zeros(5), r"shape \(5,\)"),
        (np.zeros((2, 3)), "select is 3; there are only 2 features"),
        (np.full((1, 5), 1.1), "a value is 1.1"),
        (np.full((1, 5), np.nan), "a value is nan"),
    ],
)
def test_bad_data_are_refused(data: NDArray[np.float64], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        FeatureSelection(1.0, 3).sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        FeatureSelection(0.0, 1)
    with pytest.raises(EpsilometerError, match="select is 0"):
        FeatureSelection(1.0, 0)
