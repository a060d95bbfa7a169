"""Laplace noise of scale S/epsilon attains epsilon exactly; of standard deviation S/epsilon it exceeds it by sqrt(2).

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import EpsilometerError, Guarantee
from epsilometer.mechanisms.laplace import (
    ENTRIES,
    MEDICAL_RESULTS,
    Laplace,
    LaplaceStandardDeviation,
    count_first,
    count_five,
    counts_four_and_five,
)
from tests.mechanisms import agreement


def mean_and_size(dataset: Any) -> list[float]:
    return [float(np.mean(dataset)), float(len(dataset))]


def test_review_table_one() -> None:
    assert [count_first(MEDICAL_RESULTS, rows) for rows in range(1, 6)] == [0, 1, 2, 2, 3]
    assert np.diff(counts_four_and_five(MEDICAL_RESULTS)).tolist() == [1]  # Alice is ill


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 1.0), (3.0, 0.1), (0.2, 20.0)])
def test_the_density_is_a_product_of_laplace_densities(sensitivity: float, epsilon: float) -> None:
    dataset, points = np.array([1.0, 4.0]), np.random.default_rng(0).normal(2.5, 5 * sensitivity / epsilon, (50, 2))
    expected = stats.laplace(2.5, sensitivity / epsilon).logpdf(points[:, 0])
    assert Laplace(np.mean, sensitivity, epsilon).log_density(dataset, points[:, 0]) == pytest.approx(expected, rel=1e-12)
    expected = expected + stats.laplace(2.0, sensitivity / epsilon).logpdf(points[:, 1])
    assert Laplace(mean_and_size, sensitivity, epsilon).log_density(dataset, points) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [Laplace, LaplaceStandardDeviation])
def test_samples_follow_the_density(kind: type[Laplace]) -> None:
    dataset = np.array([1.0, 4.0])
    p_value, mass = agreement.continuous_1d(kind(np.mean, 2, 0.3), dataset, np.random.default_rng(0), 2.5, 5.0)
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-6)
    p_value, mass = agreement.continuous_2d(kind(mean_and_size, 2, 0.3), dataset, np.random.default_rng(1))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=2e-3)


def test_outputs_have_the_shape_of_the_answer() -> None:
    for query, shape in ((np.mean, (6,)), (mean_and_size, (6, 2)), (lambda _: [3.0], (6, 1))):
        samples = Laplace(query, 1, 1).sample(np.array([1.0]), 6, np.random.default_rng(0))
        assert samples.shape == shape
        assert len(np.unique(samples)) == samples.size


def test_the_printed_noise_has_the_printed_standard_deviation() -> None:
    """The standard error of the estimated variance of 400000 Laplace variates is sqrt(5/n) of it: 4.9 of them allowed."""
    samples = LaplaceStandardDeviation(count_five, 1, 0.5).sample(MEDICAL_RESULTS, 400_000, np.random.default_rng(0))
    assert np.var(samples) == pytest.approx((1 / 0.5) ** 2, rel=4.9 * math.sqrt(5 / 400_000))
    assert LaplaceStandardDeviation(count_five, 3, 0.5).scale * math.sqrt(2) == pytest.approx(6)


SPENT = {"laplace_count": [1.0], "laplace_difference_attack": [0.5, 1.0], "laplace_standard_deviation": [math.sqrt(2)]}
"""The epsilon spent on each pair, in units of the promised one."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.0])
def test_what_is_spent_on_the_pairs_is_reached_and_not_exceeded(entry: Any, epsilon: float) -> None:
    mechanism = entry.build(epsilon)
    grid = np.linspace(-30, 30, 241)
    columns = counts_four_and_five(MEDICAL_RESULTS).size if entry.name == "laplace_difference_attack" else 1
    outputs = np.stack(np.meshgrid(*[grid] * columns), axis=-1).reshape(-1, columns)
    worst = [
        np.max(np.abs(mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)))
        for pair in entry.pairs()
    ]
    assert max(worst) == pytest.approx(entry.true_epsilon(epsilon), rel=1e-9)
    assert worst == pytest.approx([spent * epsilon for spent in SPENT[entry.name]], rel=1e-9)
    assert (max(worst) > epsilon * (1 + 1e-9)) == bool(entry.flaw)


def test_the_promise() -> None:
    assert Laplace(np.mean, 1, 0.3).guarantee == Guarantee(0.3, "replace-one")
    assert Laplace(np.mean, 1, 0.3, "add-remove").guarantee == Guarantee(0.3, "add-remove")
    assert LaplaceStandardDeviation(np.mean, 1, 0.3).guarantee == Guarantee(0.3, "replace-one")


@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "sentence"),
    [
        (1.0, 0.0, "epsilon is 0; it must be above 0"),
        (1.0, math.inf, "epsilon is inf; it must be a number above 0"),
        (0.0, 1.0, "sensitivity is 0; it must be a number above 0"),
        (math.nan, 1.0, "sensitivity is nan; it must be a number above 0"),
    ],
)
def test_bad_parameters_are_named(sensitivity: float, epsilon: float, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        Laplace(np.mean, sensitivity, epsilon)


@pytest.mark.parametrize("answer", [math.nan, [1.0, math.inf], [[1.0]]])
def test_a_bad_answer_is_named(answer: Any) -> None:
    with pytest.raises(EpsilometerError, match=r"the query answers .*; it must answer a finite number or a vector"):
        Laplace(lambda _: answer, 1, 1).sample(np.array([1.0]), 1, np.random.default_rng(0))


def test_outputs_of_another_width_are_refused() -> None:
    with pytest.raises(EpsilometerError, match=r"shape \(5, 3\); for these data they must be rows of length 2"):
        Laplace(mean_and_size, 1, 1).log_density(np.array([1.0]), np.zeros((5, 3)))


def test_a_diagnosis_is_a_bit() -> None:
    with pytest.raises(EpsilometerError, match="record 2 is 3; a record must be 0 or 1"):
        Laplace(count_five, 1, 1).sample(np.array([0, 3]), 1, np.random.default_rng(0))
