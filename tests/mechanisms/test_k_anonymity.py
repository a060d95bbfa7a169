"""The k-anonymous table: its release, the attack on it, and that it has no guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError
from epsilometer.mechanisms.k_anonymity import ENTRIES, PATIENTS, KAnonymousTable


def test_the_table_is_postechs() -> None:
    """Nine rows, four groups of two or three, all non-smokers women, all from 191**."""
    assert len(PATIENTS) == 9
    groups, sizes = np.unique(PATIENTS[:, :4], axis=0, return_counts=True)
    np.testing.assert_array_equal(groups, [[50, 0, 191, 1], [50, 1, 191, 0], [60, 0, 191, 1], [60, 1, 191, 0]])
    np.testing.assert_array_equal(sizes, [2, 2, 3, 2])
    table = KAnonymousTable()
    assert table.possible_diagnoses(table.release(PATIENTS), 67, "male") == {"heart disease", "lung cancer"}
    assert table.possible_diagnoses(table.release(PATIENTS), 60, "female") == {"arthritis", "Crohn's disease"}
    assert table.possible_diagnoses(table.release(PATIENTS), 59, "male") == {"Lyme disease", "seasonal allergies"}


def test_rebecca_has_one_of_two_diseases() -> None:
    table = KAnonymousTable()
    assert table.possible_diagnoses(table.release(PATIENTS), 55, "female") == {"HIV", "ulcerative colitis"}


def test_ages_are_released_in_bands_of_ten_years() -> None:
    exact = PATIENTS.copy()
    exact[:, 0] += np.arange(9)
    np.testing.assert_array_equal(KAnonymousTable().release(exact), KAnonymousTable().release(PATIENTS))


def test_the_columns_are_in_the_stated_order() -> None:
    table = KAnonymousTable(1, (987, 191))
    for column, record in (
        (0, [50, 0, 987, 0, 0]),
        (8, [50, 0, 987, 1, 0]),
        (16, [50, 0, 191, 0, 0]),
        (127, [69, 1, 191, 1, 7]),
    ):
        np.testing.assert_array_equal(np.flatnonzero(table.release(np.array([record]))), [column])


@pytest.mark.parametrize(("k", "rows"), [(1, 9), (2, 9), (3, 3), (4, 0)])
def test_a_released_row_shares_its_group_with_at_least_k(k: int, rows: int) -> None:
    table = KAnonymousTable(k)
    groups = table.release(PATIENTS).reshape(-1, 8).sum(axis=1)
    assert groups.sum() == rows
    assert ((groups == 0) | (groups >= k)).all()


def test_the_output_is_certain() -> None:
    table = KAnonymousTable()
    outputs = table.sample(PATIENTS, 3, np.random.default_rng(0))
    assert outputs.shape == (3, 64)
    np.testing.assert_array_equal(outputs, np.repeat(table.support(PATIENTS), 3, axis=0))
    outputs[1, 0] += 1
    np.testing.assert_array_equal(table.log_density(PATIENTS, outputs), [0, -np.inf, 0])


def test_neighbours_are_told_apart_with_certainty() -> None:
    entry = ENTRIES[0]
    table = entry.build(1.0)
    assert isinstance(table, KAnonymousTable)
    assert table.guarantee is None
    assert entry.flaw
    assert entry.true_epsilon
    assert entry.true_epsilon(0.1) == math.inf
    for pair in entry.pairs():
        released = table.support(np.asarray(pair.first))
        assert table.log_density(np.asarray(pair.second), released)[0] == -np.inf
    changed = table.release(np.asarray(entry.pairs()[0].second))
    assert table.possible_diagnoses(changed, 55, "female") == {"seasonal allergies", "ulcerative colitis"}


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ([70, 0, 191, 0, 0], "an age is 70; it must be among 50, 51"),
        ([50, 2, 191, 0, 0], "a gender is 2"),
        ([50, 0, 192, 0, 0], "a zip is 192; it must be among 191"),
        ([50, 0, 191, 7, 0], "a smoker is 7"),
        ([50, 0, 191, 0, 8], "a diagnosis is 8"),
        ([50, 0, 191, 0], r"shape \(1, 4\)"),
    ],
)
def test_bad_data_are_refused(record: list[int], sentence: str) -> None:
    data: NDArray[np.int_] = np.array([record])
    with pytest.raises(EpsilometerError, match=sentence):
        KAnonymousTable().sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="k is 0"):
        KAnonymousTable(0)
    with pytest.raises(EpsilometerError, match="zips is empty"):
        KAnonymousTable(2, ())
