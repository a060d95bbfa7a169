"""A figure as a record: it reads the tables that it names, and is drawn with its caption beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.figures.figure import Figure, Tables, draw_all
from epsilometer.papers.tuning import TUNING
from tests.rows import write_rows

TITLES = {"separable": "One", "small": "Another"}


def draw_errors(tables: Tables, path: Path) -> None:
    """The errors of all data sets, as text."""
    errors = {tables.titles[name]: tables.read(f"tuning/{name}")["error"].tolist() for name in tables.datasets}
    path.write_text(repr(errors))


ERRORS = Figure("errors", draw_errors, ("tuning/{dataset}",), "The errors.")


def test_it_is_drawn_from_its_tables_with_its_caption(tmp_path: Path) -> None:
    write_rows(TUNING, tmp_path / "tuning/separable.csv", [{"error": 0.25}, {"error": 0.5}])
    write_rows(TUNING, tmp_path / "tuning/small.csv", [{"error": 0.125}])
    draw_all([ERRORS], tmp_path, TITLES, tmp_path / "figures")
    assert (tmp_path / "figures/errors.svg").read_text() == "{'One': [0.25, 0.5], 'Another': [0.125]}"
    assert (tmp_path / "figures/errors.rst").read_text() == "The errors.\n"


def test_it_reads_no_table_that_it_does_not_name(tmp_path: Path) -> None:
    write_rows(TUNING, tmp_path / "tuning/separable.csv", [{"error": 0.25}])
    blind = Figure("errors", draw_errors, ("tuning/small",), "The errors.")
    with pytest.raises(ValueError, match="the figure reads the table tuning/separable, which its `needs` do not name"):
        draw_all([blind], tmp_path, TITLES, tmp_path / "figures")
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*tuning/small\.csv"):
        draw_all([ERRORS], tmp_path, TITLES, tmp_path / "figures")
    assert list((tmp_path / "figures").iterdir()) == []


@pytest.mark.parametrize(
    ("needs", "datasets", "tables"),
    [
        (("tuning/{dataset}",), list(TITLES), ["tuning/separable", "tuning/small"]),
        (("error_summary/nips08", "tuning/{dataset}"), ["small"], ["error_summary/nips08", "tuning/small"]),
        (("error_summary/nips08", "tuning/{dataset}"), [], ["error_summary/nips08"]),
    ],
)
def test_a_need_stands_for_a_table_of_each_data_set(needs: tuple[str, ...], datasets: list[str], tables: list[str]) -> None:
    figure = Figure("errors", draw_errors, needs, "The errors.")
    assert figure.tables(datasets) == tables
    assert figure.shows_datasets
    assert not Figure("errors", draw_errors, needs[:-1], "The errors.").shows_datasets
