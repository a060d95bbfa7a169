"""The job that draws all figures of a paper: loading the plotting library takes longer than drawing one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from epsilometer.core import EpsilometerError
from epsilometer.figures.figure import draw_all
from epsilometer.papers.registry import datasets as all_datasets
from epsilometer.papers.registry import figures_of, kind_of_table, papers


def figures(paper: str, *, results: Path, folder: Path, datasets: Sequence[str] = ()) -> None:
    """Draw the figures of a paper from its tables."""
    if paper not in papers():
        raise EpsilometerError(f"there is no paper {paper!r}; there are {', '.join(papers())}")
    known = all_datasets()
    for name in datasets:
        if name not in known:
            raise EpsilometerError(f"there is no data set {name!r}; there are {', '.join(known)}")
    for figure in figures_of(paper):
        for table in figure.tables(datasets):
            kind_of_table(table)
    draw_all(figures_of(paper), results, {name: known[name].title for name in datasets}, folder)
