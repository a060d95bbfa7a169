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

METHODS = {
    "standard": "Standard logistic regression",
    "algorithm1": "Sensitivity method (Algorithm 1)",
    "algorithm2": "New method (Algorithm 2, as printed in 2008)",
    "cms11": "Objective perturbation (CMS11)",
}
DATASETS = {
    "separable": "Uniform, margin 0.03",
    "unseparable": "Unseparable: noise 0.2 in margin 0.1",
    "breast_cancer": "Breast cancer (Wisconsin)",
    "rand_hie": "RAND health insurance",
    "own": "Your own data",
}
_PALETTE = sns.color_palette("colorblind")
COLOURS = dict(zip(METHODS, ["0.25", _PALETTE[1], _PALETTE[0], _PALETTE[2]], strict=True))
MARKERS = dict(zip(METHODS, ["", "s", "o", "^"], strict=True))
DASHES: dict[str, Any] = dict(zip(METHODS, [(0, (1, 1)), (0, (5, 2)), "-", (0, (6, 2, 1, 2))], strict=True))

_WIDTH = 9.0  # inches, a page's width


def figure(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, Any]:
    """A grid of panels with the common style; `height` is that of one row, in inches."""
    sns.set_theme(style="ticks", context="paper")
    plt.rcParams.update(
        {
            "svg.hashsalt": "epsilometer",
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.titlesize": "medium",
            "font.size": 9,
        }
    )
    return plt.subplots(rows, columns, figsize=(_WIDTH, height * rows), squeeze=False, layout="constrained", **options)


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
