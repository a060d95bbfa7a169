"""Witnesses survive being saved; estimates refuse what no bound can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.core import Estimate, LabelledData, NeighbouringPair, Witness

PLAIN = NeighbouringPair(np.array([0.1, 1 / 3]), np.array([0.1, 2 / 3]), "replace-one", "two values")
WEIGHTED = NeighbouringPair(
    LabelledData(np.array([[0.6, 0.8], [0.1, 1 / 3]]), np.array([1.0, -1.0]), np.array([1.0, 7.0])),
    LabelledData(np.array([[-0.6, 0.8], [0.1, 1 / 3]]), np.array([1.0, -1.0]), np.array([1.0, 7.0])),
    "replace-one",
    "weights",
)


@pytest.mark.parametrize("pair", [PLAIN, WEIGHTED], ids=["values", "labelled"])
@pytest.mark.parametrize("output", [0.1, np.array([1 / 3, 1e-300])], ids=["number", "vector"])
def test_a_witness_comes_back_to_the_last_digit(pair: NeighbouringPair, output: float) -> None:
    witness = Witness("laplace_count", 0.1, pair, output, math.pi)
    again = Witness.from_json(witness.to_json())
    assert again.to_json() == witness.to_json()
    assert (again.mechanism, again.promised, again.log_ratio) == ("laplace_count", 0.1, math.pi)
    np.testing.assert_array_equal(again.output, output)
    for mine, other in ((pair.first, again.pair.first), (pair.second, again.pair.second)):
        if isinstance(mine, LabelledData):
            assert isinstance(other, LabelledData)
            np.testing.assert_array_equal(mine.features, other.features)
            np.testing.assert_array_equal(mine.labels, other.labels)
            np.testing.assert_array_equal(np.asarray(mine.weights), np.asarray(other.weights))
        else:
            np.testing.assert_array_equal(mine, np.asarray(other))


@pytest.mark.parametrize("epsilon", [math.nan, -0.1])
def test_no_bound_is_below_zero_or_nothing(epsilon: float) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        Estimate(epsilon, "any", 0.95)
