"""Tuning on a small holdout, and the choice of lambda."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError, write_table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import HOLDOUT
from epsilometer.papers.tuning import best_lambda, tuning
from tests.papers.reference import standard_error
from tests.tables import read_table


def test_the_table_has_the_errors_of_every_lambda_and_fold(dataset: Path, tmp_path: Path) -> None:
    tuning(dataset, lambdas=[1.0, 0.001, 0.1], table=tmp_path / "t.csv")
    rows = read_table(tmp_path / "t.csv")
    assert [(row["lam"], row["fold"]) for row in rows] == [(lam, fold) for lam in (0.001, 0.1, 1.0) for fold in range(5)]
    assert list(rows[0]) == ["dataset", "lam", "fold", "records", "error"]
    holdout = read_dataset(dataset, HOLDOUT)
    for row in rows:
        assert row["dataset"] == "unseparable"
        assert row["records"] == 40
        assert row["error"] == pytest.approx(standard_error(*holdout.split(row["fold"]), row["lam"]), abs=1e-12)
    assert len({row["error"] for row in rows}) > 2


def test_only_the_holdout_matters(dataset: Path, tmp_path: Path) -> None:
    lines = dataset.read_text().splitlines(keepends=True)
    (tmp_path / "unseparable.csv").write_text("".join(line for line in lines if not line.startswith("experiment")))
    tuning(dataset, lambdas=[0.1], table=tmp_path / "whole.csv")
    tuning(tmp_path / "unseparable.csv", lambdas=[0.1], table=tmp_path / "holdout.csv")
    assert (tmp_path / "whole.csv").read_text() == (tmp_path / "holdout.csv").read_text()


def write_errors(path: Path, errors: dict[float, list[float]]) -> Path:
    rows = [
        {"dataset": "d", "lam": lam, "fold": fold, "records": 9, "error": error}
        for lam, values in errors.items()
        for fold, error in enumerate(values)
    ]
    write_table(path, rows)
    return path


def test_the_least_mean_error_wins(tmp_path: Path) -> None:
    errors = {0.1: [0.0, 0.5], 0.01: [0.2, 0.2], 0.001: [0.0, 0.41]}
    assert best_lambda(write_errors(tmp_path / "t.csv", errors)) == 0.01


def test_the_largest_of_equals_wins(tmp_path: Path) -> None:
    """Equal up to rounding: the three means are the same number on paper, but not in floating point."""
    errors = {0.001: [0.1, 0.2, 0.3], 0.1: [0.3, 0.1, 0.2], 0.01: [0.2, 0.3, 0.1], 1.0: [0.4, 0.4, 0.4]}
    assert best_lambda(write_errors(tmp_path / "t.csv", errors)) == 0.1
    assert best_lambda(write_errors(tmp_path / "t.csv", {1e-7: [0.0], 3e-7: [0.0]})) == 3e-7


def test_a_missing_table_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*none\.csv"):
        best_lambda(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty or not text; it must be a table in CSV"),
        ("dataset,lam,fold,records,error\n", "has no rows; it is no table of tuning/{dataset}"),
        ("dataset,epsilon\nd,1\n", "has no column lam; it is no table of tuning/{dataset}"),
        ("dataset,lam,fold,records,error\nd,small,0,9,0.1\n", "row 1 has lam = 'small'; it must be a number"),
    ],
)
def test_a_table_of_another_kind_is_a_sentence(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(EpsilometerError, match=rf"t\.csv:? {re.escape(words)}$"):
        best_lambda(tmp_path / "t.csv")
