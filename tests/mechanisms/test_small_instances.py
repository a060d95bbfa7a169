"""Mechanisms whose catalogue entries release three numbers or more, in instances that release two: goodness of fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import LabelledData, stream
from epsilometer.mechanisms.broken.erm import CoordinatewiseLaplace
from epsilometer.mechanisms.broken.scalar import AddRemoveNoise, InverseScaleLaplace
from epsilometer.mechanisms.decision_tree import RandomDecisionTrees
from epsilometer.mechanisms.gradient_perturbation import (
    AccountedGradientPerturbation,
    FullBatchGradientPerturbation,
    PrintedGradientPerturbation,
)
from epsilometer.mechanisms.k_means import NoisyLloyd
from epsilometer.mechanisms.kernel_svm import FourierFeatureSVM
from epsilometer.mechanisms.naive_bayes import NoisyNaiveBayes
from tests.mechanisms import agreement

PLANE = LabelledData(np.array([[0.6, 0.1], [-0.3, 0.7], [0.2, -0.9]]), np.array([1.0, -1.0, 1.0]))
LINE = LabelledData(np.array([[0.6], [-0.9]]), np.array([1.0, 1.0]))
CATEGORIES = np.array([[0, 1], [1, 0], [1, 1], [0, 1]])
TWO_BINS = np.array([0, 1, 1])


def two_counts(dataset: Any) -> Any:
    return np.bincount(dataset, minlength=2).astype(float)


INSTANCES: dict[str, tuple[Any, Any]] = {
    "one leaf": (RandomDecisionTrees(1.5, (2,), height=0, trees=1), CATEGORIES),
    "one centre, one step": (NoisyLloyd(1.5, ((0.0,),), iterations=1), np.array([[0.5], [-0.2], [0.9]])),
    "one frequency": (FourierFeatureSVM(1.5, frequencies=1), PLANE),
    "two bins, inverse scale": (InverseScaleLaplace(two_counts, 1, 0.5, "add-remove"), TWO_BINS),
    "two bins, wrong adjacency": (AddRemoveNoise(two_counts, 1, 0.5), TWO_BINS),
    "two coordinates": (CoordinatewiseLaplace(1.5, 0.5), PLANE),
    "two steps, full batch": (FullBatchGradientPerturbation(1.5, 1e-3, steps=2), LINE),
    "two steps, accountant": (AccountedGradientPerturbation(1.5, 1e-3, steps=2), LINE),
    "one step, printed": (PrintedGradientPerturbation(1.5, 1e-3), PLANE.take(slice(1))),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_samples_and_density_agree_in_the_plane(name: str) -> None:
    """Fails by chance with probability 1e-6 for each instance."""
    mechanism, dataset = INSTANCES[name]
    p_value, mass = agreement.continuous_2d(mechanism, dataset, stream(7, name))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-3)


def test_naive_bayes_releases_independent_laplace_numbers() -> None:
    """Four numbers at least, so coordinate by coordinate; each of the four tests fails by chance with probability 1e-6."""
    mechanism = NoisyNaiveBayes(1.5, (1,))
    dataset = np.array([[0, 1], [0, 0], [0, 1]])
    outputs = mechanism.sample(dataset, 20_000, stream(7, "naive Bayes"))
    reference = [stats.laplace(count, 2 * 2 / 1.5) for count in (1, 2, 1, 2)]
    for column, law in zip(outputs.T, reference, strict=True):
        assert stats.kstest(column, law.cdf).pvalue > agreement.FALSE_FAILURE
    expected = sum(law.logpdf(column) for column, law in zip(outputs.T, reference, strict=True))
    np.testing.assert_allclose(mechanism.log_density(dataset, outputs), expected, rtol=1e-12)
    assert np.abs(np.corrcoef(outputs.T) - np.eye(4)).max() < 0.05
