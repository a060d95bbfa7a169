"""Naive Bayes from noisy counts: the counts, their sensitivity, the noise, and predictions.

The test of the noise would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import Adjacency, EpsilometerError, Guarantee
from epsilometer.mechanisms.naive_bayes import ENTRIES, NoisyNaiveBayes

VALUES = (2, 3)
DATA = np.array([[0, 2, 0], [0, 1, 1], [0, 2, 0], [0, 1, 0], [1, 0, 1], [1, 2, 1]])
EVERY_RECORD = list(product(range(2), range(3), range(2)))


def test_the_counts_are_in_the_stated_order() -> None:
    counted = NoisyNaiveBayes(1.0, VALUES).counts(DATA)
    expected = [np.sum(DATA[:, -1] == label) for label in (0, 1)]
    for feature, number in enumerate(VALUES):
        for label in (0, 1):
            expected += [np.sum((DATA[:, -1] == label) & (DATA[:, feature] == value)) for value in range(number)]
    np.testing.assert_array_equal(counted, expected)
    assert counted[:2].sum() == counted[2:6].sum() == counted[6:].sum() == len(DATA)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_no_neighbour_spends_more_than_epsilon_and_one_spends_it(adjacency: Adjacency) -> None:
    """Over all neighbours of a data set; the largest log-ratio of Laplace densities is the L1 distance over the scale."""
    mechanism = NoisyNaiveBayes(0.7, VALUES, adjacency)
    here = mechanism.counts(np.vstack([DATA, EVERY_RECORD[0]]))
    if adjacency == "replace-one":
        others = [mechanism.counts(np.vstack([DATA, record])) for record in EVERY_RECORD]
    else:
        others = [mechanism.counts(np.vstack([DATA, EVERY_RECORD[0], record])) for record in EVERY_RECORD]
    spent = [np.abs(here - other).sum() / mechanism.scale for other in others]
    assert max(spent) == pytest.approx(0.7)
    assert mechanism.guarantee == Guarantee(0.7, adjacency)


def test_the_pairs_spend_exactly_epsilon() -> None:
    for epsilon in (0.1, 3.0):
        mechanism = ENTRIES[0].build(epsilon)
        assert isinstance(mechanism, NoisyNaiveBayes)
        for pair in ENTRIES[0].pairs():
            first, second = np.asarray(pair.first), np.asarray(pair.second)
            outputs = mechanism.sample(first, 500, np.random.default_rng(1))
            outputs[0] = np.minimum(mechanism.counts(first), mechanism.counts(second)) - 1
            outputs[1] = np.where(mechanism.counts(first) > mechanism.counts(second), 100, -100)
            ratio = mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs)
            assert np.abs(ratio).max() == pytest.approx(epsilon)
            assert ratio[1] == pytest.approx(epsilon)


def test_sampler_and_density_are_those_of_laplace_noise() -> None:
    mechanism = NoisyNaiveBayes(2.0, VALUES)
    outputs = mechanism.sample(DATA, 4_000, np.random.default_rng(2))
    law = stats.laplace(scale=2 * 3 / 2.0)
    noise = outputs - mechanism.counts(DATA)
    assert stats.kstest(noise.ravel(), law.cdf).pvalue > 1e-6
    assert np.abs(np.corrcoef(noise.T) - np.eye(noise.shape[1])).max() < 0.1
    np.testing.assert_allclose(mechanism.log_density(DATA, outputs), law.logpdf(noise).sum(axis=1))


def test_predictions_from_exact_counts_are_bayes_rule() -> None:
    mechanism = NoisyNaiveBayes(1.0, VALUES)
    rows = np.array(list(product(range(2), range(3))))
    predicted = mechanism.predict(mechanism.counts(DATA)[None], rows)
    for row, label in zip(rows, predicted[0], strict=True):
        scores = []
        for candidate in (0, 1):
            members = DATA[DATA[:, -1] == candidate]
            score = float(len(members) + 1)
            for feature, number in enumerate(VALUES):
                score *= (np.sum(members[:, feature] == row[feature]) + 1) / (len(members) + number)
            scores.append(score)
        assert label == np.argmax(scores)
    assert set(predicted[0]) == {0, 1}


def test_predictions_survive_negative_counts() -> None:
    mechanism = NoisyNaiveBayes(1.0, VALUES)
    outputs = np.stack([np.full(12, -5.0), mechanism.counts(DATA)])
    outputs[0, 1] = 3.0
    assert mechanism.predict(outputs, np.array([[0, 0], [1, 1], [1, 2]])).shape == (2, 3)
    assert (mechanism.predict(outputs, np.array([[0, 0], [1, 2]]))[0] == 1).all()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((0, 3), dtype=int), r"shape \(0, 3\)"),
        (np.zeros((2, 2), dtype=int), r"shape \(2, 2\); they must have a row of 2 features"),
        (np.array([[0, 3, 1]]), "feature 2 is 3; it must be a whole number from 0 to 2"),
        (np.array([[0.5, 1, 1]]), "feature 1 is 0.5"),
        (np.array([[0, 0, -1]]), "a label is -1"),
    ],
)
def test_bad_data_are_refused(data: NDArray[np.int_], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        NoisyNaiveBayes(1.0, VALUES).sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        NoisyNaiveBayes(0.0, VALUES)
    with pytest.raises(EpsilometerError, match=r"values is \(2, 0\)"):
        NoisyNaiveBayes(1.0, (2, 0))
