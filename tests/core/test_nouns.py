"""Guarantees and labelled data are checked when they are made."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, Guarantee, LabelledData, NeighbouringPair, require_positive


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan])
def test_epsilon_must_be_positive(epsilon: float) -> None:
    with pytest.raises(EpsilometerError, match=rf"epsilon is {epsilon:g}; it must be above 0"):
        Guarantee(epsilon, "replace-one")


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan])
def test_delta_must_be_a_probability_below_one(delta: float) -> None:
    with pytest.raises(EpsilometerError, match=rf"delta is {delta:g}; it must be in \[0, 1\)"):
        Guarantee(1.0, "replace-one", delta)


def test_adjacency_must_be_known() -> None:
    unknown: Any = "replace-two"
    with pytest.raises(EpsilometerError, match="adjacency is 'replace-two'; it must be one of replace-one, add-remove"):
        Guarantee(1.0, unknown)


def test_a_guarantee_keeps_what_it_was_given() -> None:
    guarantee = Guarantee(0.5, "add-remove", 1e-6)
    assert (guarantee.epsilon, guarantee.adjacency, guarantee.delta) == (0.5, "add-remove", 1e-6)
    assert Guarantee(0.5, "replace-one").delta == 0
    with pytest.raises(FrozenInstanceError):
        guarantee.epsilon = 2.0  # type: ignore[misc]


def data(features: Any, labels: Any) -> LabelledData:
    return LabelledData(np.array(features, dtype=float), np.array(labels, dtype=float))


def test_good_records_are_left_alone() -> None:
    features = np.array([[0.6, -0.8], [0.0, 0.0], [1.0, 0.0]])
    good = LabelledData(features, np.array([1.0, -1.0, 1.0]))
    assert len(good) == 3
    assert good.features is features


@pytest.mark.parametrize(
    ("features", "labels", "sentence"),
    [
        ([[0.5], [3.0]], [1, 1], "record 2 has norm 3; scale the records by a public bound to at most 1"),
        ([[0.8, 0.8]], [1], r"record 1 has norm 1\.13137;"),
        ([[2.0], [0.5], [3.0], [4.0]], [1, 1, 1, 1], r"record 1 has norm 2; .* \(and 2 more such records\)"),
        ([[0.5], [0.5]], [1, 0], "record 2 has label 0; a label must be -1 or 1"),
        ([[0.5]], [math.nan], "record 1 has label nan; a label must be -1 or 1"),
        ([[0.5], [math.nan]], [1, 1], "record 2 has a missing or infinite value"),
        ([[0.5], [math.inf]], [1, 1], "record 2 has a missing or infinite value"),
        ([[0.5], [0.5]], [1], r"there are 2 records but labels of shape \(1,\)"),
        ([[0.5]], [[1]], r"there are 1 records but labels of shape \(1, 1\)"),
        ([0.5], [1], r"features have shape \(1,\)"),
        (np.empty((0, 3)), [], r"features have shape \(0, 3\); they must be a non-empty table"),
    ],
)
def test_bad_records_are_refused(features: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=f"^{sentence}"):
        data(features, labels)


def test_rounding_may_carry_a_record_just_beyond_the_ball() -> None:
    data([[1 + 1e-10]], [1])
    with pytest.raises(EpsilometerError, match="norm"):
        data([[1 + 1e-8]], [1])


def test_take_selects_features_and_labels_together() -> None:
    whole = data([[0.1], [0.2], [0.3]], [1, -1, 1])
    part = whole.take(np.array([2, 1]))
    assert part.features.tolist() == [[0.3], [0.2]]
    assert part.labels.tolist() == [1, -1]
    assert whole.take(whole.labels > 0).features.tolist() == [[0.1], [0.3]]
    assert len(whole.take(slice(2))) == 2


def test_weights_count_records() -> None:
    plain = data([[0.1], [0.2]], [1, -1])
    weighted = LabelledData(plain.features, plain.labels, np.array([3.0, 1e6]))
    assert (plain.n, weighted.n, len(weighted)) == (2, 1_000_003, 2)
    assert weighted.take(np.array([0])).n == 3
    assert plain.take(np.array([0])).weights is None


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1.0, 0.0], "record 2 has weight 0; a weight must be above 0"),
        ([-2.0, 1.0], "record 1 has weight -2; a weight must be above 0"),
        ([1.0, math.nan], "record 2 has weight nan; a weight must be above 0"),
        ([1.0], r"there are 2 records but weights of shape \(1,\)"),
    ],
)
def test_bad_weights_are_refused(weights: list[float], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=f"^{sentence}"):
        LabelledData(np.array([[0.1], [0.2]]), np.array([1.0, -1.0]), np.array(weights))


def test_signed_rows_carry_the_label() -> None:
    assert data([[0.1, -0.2], [0.3, 0.4]], [1, -1]).signed.tolist() == [[0.1, -0.2], [-0.3, -0.4]]


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_positive_parameters(value: float) -> None:
    require_positive(epsilon=1e-300, lam=1e300)
    with pytest.raises(EpsilometerError, match=rf"^lam is {value:g}; it must be a number above 0$"):
        require_positive(epsilon=1.0, lam=value)


THREE = np.array([1.0, 1.0, 2.0])


@pytest.mark.parametrize("other", [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 2.0]])
def test_one_record_exchanged(other: list[float]) -> None:
    pair = NeighbouringPair(THREE, np.array(other), "replace-one", "why")
    assert pair.reversed().first is pair.second
    with pytest.raises(EpsilometerError, match="no add-remove neighbours"):
        NeighbouringPair(THREE, np.array(other), "add-remove", "why")


@pytest.mark.parametrize("other", [[1.0, 2.0], [1.0, 1.0], [2.0, 1.0, 1.0, 1.0]])
def test_one_record_more_or_less(other: list[float]) -> None:
    NeighbouringPair(THREE, np.array(other), "add-remove", "why")
    with pytest.raises(EpsilometerError, match="no replace-one neighbours"):
        NeighbouringPair(THREE, np.array(other), "replace-one", "why")


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    "other", [[1.0, 1.0, 2.0], [2.0, 1.0, 1.0], [3.0, 4.0, 1.0], [1.0], [1.0, 3.0], [1.0, 1.0, 1.0, 1.0]]
)
def test_data_sets_that_are_no_neighbours(other: list[float], adjacency: Any) -> None:
    with pytest.raises(EpsilometerError, match=f"no {adjacency} neighbours"):
        NeighbouringPair(THREE, np.array(other), adjacency, "why")


def test_neighbours_with_labels_and_weights() -> None:
    """A changed label is another record, and a weight of a million stands for as many."""
    features, labels = np.array([[0.1], [0.2]]), np.array([1.0, -1.0])
    many = LabelledData(features, labels, np.array([1e6, 2.0]))
    changed = LabelledData(features[[0, 1, 1]], np.array([1.0, -1.0, 1.0]), np.array([1e6, 1.0, 1.0]))
    NeighbouringPair(many, changed, "replace-one", "a label")
    NeighbouringPair(many, LabelledData(features, labels, np.array([1e6 + 1, 2.0])), "add-remove", "a record more")
    with pytest.raises(EpsilometerError, match="no replace-one neighbours"):
        NeighbouringPair(many, LabelledData(features, labels), "replace-one", "a million records")
