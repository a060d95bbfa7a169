"""How every figure looks: colours that colour-blind readers can tell apart, markers and dashes for black and white."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

from epsilometer.figures.names import METHODS

_PALETTE = sns.color_palette("colorblind")
COLOURS = dict(zip(METHODS, ["0.25", _PALETTE[1], _PALETTE[0], _PALETTE[2]], strict=True))
MARKERS = dict(zip(METHODS, ["", "s", "o", "^"], strict=True))
DASHES: dict[str, Any] = dict(zip(METHODS, [(0, (1, 1)), (0, (5, 2)), "-", (0, (6, 2, 1, 2))], strict=True))

WITHIN, BEYOND = _PALETTE[0], _PALETTE[3]
"""The colours of what is measured: within the promise, or beyond it."""
ALLOWED = "#d6e6f4"
"""The colour of what the promise leaves open."""

_WIDTH = 9.0  # inches, a page's width


def figure(rows: int, columns: int, height: float, width: float = _WIDTH, **options: Any) -> tuple[Figure, Any]:
    """A grid of panels with the common style; `height` is that of one row, in inches."""
    sns.set_theme(style="ticks", context="paper")
    plt.rcParams.update(
        {
            "svg.hashsalt": "epsilometer",
            "svg.fonttype": "none",  # text stays text: smaller, and it can be searched and read aloud
            "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # the first ships with matplotlib, so layouts agree
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.titlesize": "medium",
            "font.size": 9,
        }
    )
    options = {"layout": "constrained"} | options
    return plt.subplots(rows, columns, figsize=(width, height * rows), squeeze=False, **options)


def save(drawing: Figure, path: Path) -> None:
    """Write the figure whole, with nothing in it that changes from run to run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    drawing.savefig(temporary, format="svg", metadata={"Date": None})
    plt.close(drawing)
    os.replace(temporary, path)  # noqa: PTH105 - the twin of core.tables


def method_legend(drawing: Figure, panel: Any) -> None:
    """One legend below all panels, for the methods."""
    handles, labels = panel.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
