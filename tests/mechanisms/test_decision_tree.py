"""Random decision trees: a data-independent structure, the sensitivity, the noise, and predictions.

The test of the noise would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import Adjacency, EpsilometerError, Guarantee
from epsilometer.mechanisms.decision_tree import ENTRIES, RandomDecisionTrees

VALUES = (2, 3, 2)
EVERY_ROW = np.array(list(product(range(2), range(3), range(2))))
EVERY_RECORD = [np.append(row, label) for row in EVERY_ROW for label in (0, 1)]
DATA = np.array(EVERY_RECORD[::3])


@pytest.mark.parametrize("height", [0, 1, 2, 3])
def test_a_tree_divides_the_records(height: int) -> None:
    """Each row is in exactly one leaf, and a path asks for `height` different features."""
    mechanism = RandomDecisionTrees(1.0, VALUES, height, trees=5)
    for tree in range(5):
        assert (mechanism.membership(tree, EVERY_ROW).sum(axis=1) == 1).all()
        for leaf in mechanism.leaves(tree):
            assert len(leaf) == height == len({feature for feature, _ in leaf})


def test_the_structure_is_random_and_public() -> None:
    def structure(seed: int) -> list[object]:
        return [RandomDecisionTrees(1.0, (2,) * 6, 3, 4, seed=seed).leaves(tree) for tree in range(4)]

    assert structure(1) == structure(1)
    assert structure(1) != structure(2)
    assert len(set(structure(1))) == 4
    roots = {RandomDecisionTrees(1.0, (2,) * 6, 3, 40).leaves(tree)[0][0][0] for tree in range(40)}
    assert roots == set(range(6))  # all features can come first


def test_the_counts_are_in_the_stated_order() -> None:
    mechanism = RandomDecisionTrees(1.0, VALUES, 2, trees=3)
    expected = []
    for tree in range(3):
        for leaf in mechanism.leaves(tree):
            inside = [record for record in DATA if all(record[feature] == value for feature, value in leaf)]
            expected += [sum(record[-1] == label for record in inside) for label in (0, 1)]
    np.testing.assert_array_equal(mechanism.counts(DATA), expected)
    assert sum(expected) == 3 * len(DATA)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_no_neighbour_spends_more_than_epsilon_and_one_spends_it(adjacency: Adjacency) -> None:
    mechanism = RandomDecisionTrees(0.7, VALUES, 2, trees=3, adjacency=adjacency)
    before = np.vstack([DATA, EVERY_RECORD[0]])
    kept = DATA if adjacency == "replace-one" else before
    others = [mechanism.counts(np.vstack([kept, record])) for record in EVERY_RECORD]
    spent = [np.abs(mechanism.counts(before) - other).sum() / mechanism.scale for other in others]
    assert max(spent) == pytest.approx(0.7)
    assert mechanism.guarantee == Guarantee(0.7, adjacency)


def test_the_first_pair_spends_exactly_epsilon() -> None:
    for epsilon in (0.1, 3.0):
        mechanism, pair = ENTRIES[0].build(epsilon), ENTRIES[0].pairs()[0]
        assert isinstance(mechanism, RandomDecisionTrees)
        first, second = np.asarray(pair.first), np.asarray(pair.second)
        outputs = mechanism.sample(first, 500, np.random.default_rng(1))
        outputs[0] = np.where(mechanism.counts(first) > mechanism.counts(second), 100, -100)
        ratio = mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs)
        assert np.abs(ratio).max() == pytest.approx(epsilon)
        assert ratio[0] == pytest.approx(epsilon)


def test_sampler_and_density_are_those_of_laplace_noise() -> None:
    mechanism = RandomDecisionTrees(2.0, VALUES, 2, trees=3)
    outputs = mechanism.sample(DATA, 2_000, np.random.default_rng(2))
    noise, law = outputs - mechanism.counts(DATA), stats.laplace(scale=2 * 3 / 2.0)
    assert stats.kstest(noise.ravel(), law.cdf).pvalue > 1e-6
    np.testing.assert_allclose(mechanism.log_density(DATA, outputs), law.logpdf(noise).sum(axis=1))


def test_full_trees_learn_any_rule_from_exact_counts() -> None:
    labels = EVERY_ROW[:, 0] ^ (EVERY_ROW[:, 1] == 2)
    mechanism = RandomDecisionTrees(1.0, VALUES, 3, trees=2)
    counts = mechanism.counts(np.column_stack([EVERY_ROW, labels]))
    outputs = np.stack([counts, -counts])  # a negative count votes for nothing
    np.testing.assert_array_equal(mechanism.predict(outputs, EVERY_ROW), [labels, np.zeros(12)])


def test_trees_vote_with_their_shares() -> None:
    """One tree has only label 1 in the leaf, the other slightly more of label 0: the prediction is 1."""
    mechanism = RandomDecisionTrees(1.0, VALUES, 0, trees=2)
    assert mechanism.predict(np.array([[0.0, 2.0, 6.0, 4.0]]), EVERY_ROW[:1]) == 1
    assert mechanism.predict(np.array([[1.0, 2.0, 9.0, 1.0]]), EVERY_ROW[:1]) == 0


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((0, 4), dtype=int), r"shape \(0, 4\)"),
        (np.zeros((2, 2), dtype=int), r"shape \(2, 2\)"),
        (np.array([[0, 3, 1, 0]]), "feature 2 is 3; it must be a whole number from 0 to 2"),
        (np.array([[0, 0, 0, 2]]), "a label is 2"),
    ],
)
def test_bad_data_are_refused(data: NDArray[np.int_], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        RandomDecisionTrees(1.0, VALUES, 2, 2).sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        RandomDecisionTrees(0.0, VALUES, 2, 2)
    with pytest.raises(EpsilometerError, match=r"height is 4; it must be from 0 to the number of features, 3"):
        RandomDecisionTrees(1.0, VALUES, 4, 2)
    with pytest.raises(EpsilometerError, match="trees is 0"):
        RandomDecisionTrees(1.0, VALUES, 2, 0)
    with pytest.raises(EpsilometerError, match=r"values is \(\)"):
        RandomDecisionTrees(1.0, (), 0, 2)
