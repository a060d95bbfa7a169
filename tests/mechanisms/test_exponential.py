"""The exponential mechanism has finitely many outputs, so its ratios are checked by going through all of them.

Each chi-square test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, Guarantee, NeighbouringPair
from epsilometer.mechanisms.catalogue import by_enumeration, largest_log_ratio
from epsilometer.mechanisms.exponential import ENTRIES, Exponential, grid_median, most_frequent
from tests.mechanisms import agreement


def replace_one_neighbours(values: Any, n: int) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    for row in itertools.combinations_with_replacement(values, n):
        for place, new in itertools.product(range(n), values):
            other = np.array(row)
            other[place] = new
            yield np.array(row), other


def test_probabilities_are_the_normalised_weights() -> None:
    candidates, scores = np.array([3.0, -1.0, 10.0]), np.array([1.0, 5.0, 2.0])
    mechanism = Exponential(candidates, lambda _: scores, 2.0, 0.7)
    weights = [math.exp(0.7 * score / 4) for score in scores]
    expected = [weight / sum(weights) for weight in weights]
    assert np.exp(mechanism.log_density(None, candidates)) == pytest.approx(expected, rel=1e-13)
    outputs = np.array([10.0, 4.0, -1.0, -7.0, 11.0, math.nan])  # candidates and others, in no order
    assert np.exp(mechanism.log_density(None, outputs)) == pytest.approx([expected[2], 0, expected[1], 0, 0, 0], rel=1e-13)
    assert mechanism.support(None).tolist() == candidates.tolist()


def test_samples_have_the_stated_probabilities() -> None:
    mechanism = Exponential(np.array([3.0, -1.0, 10.0]), lambda scores: scores, 2.0, 0.7)
    p_value, mass = agreement.finite(mechanism, np.array([1.0, 5.0, 2.0]), np.random.default_rng(0))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, rel=1e-12)


def test_large_utilities_neither_overflow_nor_underflow() -> None:
    mechanism = Exponential(np.arange(3.0), lambda scores: scores, 1.0, 2.0)
    for offset in (-1e6, 1e6):
        log_probabilities = mechanism.log_probabilities(np.array([0.0, -1.0, -5000.0]) + offset)
        assert log_probabilities == pytest.approx(
            [-math.log1p(math.exp(-1)), -1 - math.log1p(math.exp(-1)), -5000.3133], rel=1e-6
        )
    assert set(mechanism.sample(np.array([0.0, -5000.0, -5000.0]), 100, np.random.default_rng(0))) == {0.0}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_the_most_frequent_category_spends_what_the_formula_says(epsilon: float) -> None:
    """All n = 6 in category 0, then one in category 1; three categories; the worst output is category 1."""
    half = math.exp(epsilon / 2)
    expected = math.log(half * (half**6 + 2) / (half**5 + half + 1))
    assert ENTRIES[0].true_epsilon
    assert ENTRIES[0].true_epsilon(epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_the_median_spends_what_the_formula_says(epsilon: float) -> None:
    """The lowest point goes from -1 to 0, 99 points from 0 to -1, the highest stays at -2."""
    half = math.exp(epsilon / 2)
    expected = math.log(half * (1 / half + 99 + 1 / half**2) / (1 + 99 / half + 1 / half**2))
    assert ENTRIES[1].true_epsilon
    assert ENTRIES[1].true_epsilon(epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.98), (1.0, 0.98), (6.0, 0.62)])
def test_the_median_spends_most_of_epsilon(epsilon: float, share: float) -> None:
    assert ENTRIES[1].true_epsilon
    assert share * epsilon < ENTRIES[1].true_epsilon(epsilon) < epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("build", "values"), [(most_frequent, [0, 1, 2]), (grid_median, [0.0, 0.005, 0.5, 1.0])])
def test_epsilon_is_never_exceeded_and_the_sensitivity_is_one(
    build: Callable[[float], Exponential], values: list[float]
) -> None:
    mechanism = build(2.0)
    largest_change = largest_loss = 0.0
    for n in (1, 4, 5):
        for first, second in replace_one_neighbours(values, n):
            change = np.max(np.abs(mechanism.utility(first) - mechanism.utility(second)))
            loss = np.max(np.abs(mechanism.log_probabilities(first) - mechanism.log_probabilities(second)))
            largest_change, largest_loss = max(largest_change, float(change)), max(largest_loss, float(loss))
    assert largest_change == 1
    assert 0.9 * 2 < largest_loss <= 2


def test_the_bound_is_approached_when_one_category_has_all_the_weight() -> None:
    first, second = np.zeros(60, dtype=int), np.append(np.zeros(59, dtype=int), 1)
    ratios = most_frequent(1.0).log_probabilities(second) - most_frequent(1.0).log_probabilities(first)
    assert ratios.max() == pytest.approx(1, abs=1e-10)
    assert ratios.max() <= 1 + 1e-14


def test_the_worst_of_all_pairs_counts() -> None:
    mild = NeighbouringPair(np.array([0.3, 0.3]), np.array([0.3, 0.31]), "replace-one", "a short way")
    harsh = ENTRIES[1].pairs()[0]
    one, other = (largest_log_ratio(grid_median(1.0), pair) for pair in (harsh, mild))
    assert by_enumeration(grid_median, lambda: [harsh, mild])(1.0) == one > other > 0


def test_the_most_frequent_category_and_the_median_are_the_likeliest() -> None:
    assert np.argmax(most_frequent(1.0).log_probabilities(np.array([2, 0, 2, 1]))) == 2
    mechanism = grid_median(1.0)
    likeliest = mechanism.candidates[np.argmax(mechanism.log_probabilities(np.array([0.1, 0.3, 0.32, 0.9])))]
    assert 0.3 <= likeliest < 0.32


def test_the_promise() -> None:
    assert most_frequent(0.4).guarantee == Guarantee(0.4, "replace-one")
    assert Exponential(np.arange(2.0), np.asarray, 1.0, 0.4, "add-remove").guarantee == Guarantee(0.4, "add-remove")


@pytest.mark.parametrize(
    ("candidates", "sensitivity", "epsilon", "sentence"),
    [
        ([1.0, 2.0], 1.0, -2.0, "epsilon is -2; it must be above 0"),
        ([1.0, 2.0], 0.0, 1.0, "sensitivity is 0; it must be a number above 0"),
        ([1.0, 2.0, 1.0], 1.0, 1.0, "the candidate 1 is named twice; candidates must be distinct"),
        ([], 1.0, 1.0, r"the candidates have shape \(0,\); they must be a non-empty sequence"),
    ],
)
def test_bad_parameters_are_named(candidates: Any, sensitivity: float, epsilon: float, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        Exponential(np.array(candidates), np.asarray, sensitivity, epsilon)


@pytest.mark.parametrize(
    ("mechanism", "dataset", "sentence"),
    [
        (most_frequent(1.0), [0, 3], "record 2 is 3; a category must be one of 0 to 2"),
        (most_frequent(1.0), [0.5], "record 1 is 0.5; a category must be one of 0 to 2"),
        (grid_median(1.0), [0.5, 1.5], r"record 2 is 1.5; a value must be in \[0, 1\]"),
        (grid_median(1.0), [math.nan], r"record 1 is nan; a value must be in \[0, 1\]"),
        (grid_median(1.0), [], r"the data set has shape \(0,\); it must be a non-empty sequence of numbers"),
        (Exponential(np.arange(2.0), np.asarray, 1.0, 1.0), [1.0], r"the utility of 2 candidates is \[1.0\]"),
        (
            Exponential(np.arange(2.0), np.asarray, 1.0, 1.0),
            [1.0, math.inf],
            "the utility .* must be one finite number each",
        ),
    ],
)
def test_bad_data_are_refused(mechanism: Exponential, dataset: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        mechanism.sample(np.array(dataset), 1, np.random.default_rng(0))
