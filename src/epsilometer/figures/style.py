"""The style of all figures: colours for colour-blind readers, and markers and dashes for black and white."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

_PALETTE = sns.color_palette("colorblind")


@dataclass(frozen=True)
class Look:
    """The colour, marker and dashes of one series."""

    color: Any
    marker: str
    linestyle: Any

    @property
    def options(self) -> dict[str, Any]:
        """The look as options of matplotlib."""
        return {"color": self.color, "marker": self.marker, "linestyle": self.linestyle}


GREY = Look("0.25", "", (0, (1, 1)))
ORANGE = Look(_PALETTE[1], "s", (0, (5, 2)))
BLUE = Look(_PALETTE[0], "o", "-")
GREEN = Look(_PALETTE[2], "^", (0, (6, 2, 1, 2)))

WITHIN, BEYOND = _PALETTE[0], _PALETTE[3]
"""The colours of measured epsilons that are at most the claimed one, and of those above it."""
ALLOWED = "#d6e6f4"
"""The colour of the region that a claim allows."""

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
    """Write the figure as SVG, atomically and without a date, so that equal figures give equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    drawing.savefig(temporary, format="svg", metadata={"Date": None})
    plt.close(drawing)
    os.replace(temporary, path)  # noqa: PTH105 - as in core.tables


def legend_below(drawing: Figure, panel: Any) -> None:
    """One legend below all panels, for the series of one of them."""
    handles, labels = panel.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
