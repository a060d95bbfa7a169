"""A paper in one folder, for a test: a data set, an experiment, a figure and two claims, one of which fails."""

from __future__ import annotations

PAPER = '''
"""A toy paper."""

from epsilometer.papers.paper import Paper

PAPER = Paper("Nobody, “On coins”, nowhere", datasets=lambda _: ["coins"])
'''

DATASETS = '''
"""Coins as labelled records."""

import numpy as np

from epsilometer.core import LabelledData
from epsilometer.data import DataSet


def coins(points, rng):
    return LabelledData(rng.uniform(-1, 1, (points, 1)), np.where(rng.random(points) < 0.5, 1.0, -1.0))


DATASETS = (DataSet("coins", "Coins that were tossed", draw=coins, points=200, holdout=40),)
'''

EXPERIMENTS = '''
"""The share of heads among the records of each fold."""

from pathlib import Path
from typing import Annotated, TypedDict

from epsilometer.core.tables import Table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.papers.paper import Experiment


class HeadsRow(TypedDict):
    """The share of heads in each fold."""

    fold: Annotated[int, "number of the fold"]
    share: Annotated[float, "share of heads"]


HEADS = Table("heads/{dataset}", HeadsRow)


def heads(dataset: Path, *, table: Path) -> None:
    """Count the heads in each fold."""
    prepared = read_dataset(dataset, EXPERIMENT)
    rows = [{"fold": fold, "share": float((prepared.split(fold)[1].labels > 0).mean())} for fold in range(prepared.folds)]
    HEADS.write(table, rows)


EXPERIMENTS = (
    Experiment(
        heads,
        parts=lambda _: ["coins"],
        needs=lambda _, part: {"dataset": f"dataset/{part}"},
        message="Heads among {part}",
    ),
)
'''

FIGURES = '''
"""The shares of heads."""

from epsilometer.figures.figure import Figure
from epsilometer.figures.style import figure, save


def draw(tables, path):
    drawing, panels = figure(1, 1, 2.0)
    rows = tables.read("heads/coins")
    panels[0, 0].plot(rows["fold"], rows["share"], "o")
    save(drawing, path)


FIGURES = (Figure("toy_heads", draw, ("heads/{dataset}",), "The share of heads in each fold of a toy paper."),)
'''

CLAIMS = '''
"""What the toy paper says."""

from epsilometer.papers.claim import Claim, Measured
from epsilometer.papers.deciders import holds_if


def measure(evidence):
    shares = [row["share"] for row in evidence.table("heads/coins", "share")]
    return Measured({"least": min(shares), "largest": max(shares)})


def decide_between(numbers, tolerances):
    sentence = f"The shares are {numbers['least']:.3f} to {numbers['largest']:.3f}."
    return holds_if(numbers["largest"] <= 1, sentence, "They are above 1.")


def decide_always(numbers, tolerances):
    return holds_if(numbers["least"] >= 1, f"The least share is {numbers['least']:.3f}.", "Some coins show tails.")


BETWEEN = Claim(
    "toy-between", "page 1", "The share of heads is never above one in any fold.", measure, decide_between, ("heads/coins",)
)
ALWAYS = Claim(
    "toy-always", "page 2", "A coin always shows heads, however often tossed.", measure, decide_always, ("heads/coins",)
)
'''

FILES = {
    "__init__.py": "",
    "paper.py": PAPER,
    "datasets.py": DATASETS,
    "experiments.py": EXPERIMENTS,
    "figures.py": FIGURES,
    "claims.py": CLAIMS,
}
"""The files of the folder papers/toy."""
