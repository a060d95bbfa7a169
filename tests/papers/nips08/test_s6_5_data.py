"""The description of the data sets is checked on their records."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s6_5_data import DATA_ANGLE, DATA_SEPARABLE, DATA_UNSEPARABLE
from tests.papers.nips08.experiment_tables import Row, measured, outcomes, setting

pytestmark = pytest.mark.slow


def test_labels_of_one_kind_are_not_the_described_separable_data(tables: Path, tmp_path: Path) -> None:
    alike = setting("label", -1, fold=3)
    found = outcomes(DATA_SEPARABLE, tables, tmp_path, "dataset/separable", alike)
    assert found == ("reproduced", "not reproduced")


def test_a_part_of_the_sphere_is_not_the_described_unseparable_data(tables: Path, tmp_path: Path) -> None:
    def cut(row: Row) -> Row | None:
        return row if abs(row["x0"]) < 0.3 else None

    found = outcomes(DATA_UNSEPARABLE, tables, tmp_path, "dataset/unseparable", cut)
    assert found == ("reproduced", "not reproduced")


def test_scaled_records_are_classified_alike(tables: Path) -> None:
    numbers = measured(DATA_ANGLE, tables)
    assert numbers["records"] == 3000
    assert numbers["changed"] == 0
    assert numbers["changed by training"] > 0
