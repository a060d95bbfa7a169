"""The figures of membership inference: ROC curves of the attacks, and the test errors and certified epsilons."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from epsilometer.data import DATASETS
from epsilometer.figures.figure import write_caption
from epsilometer.figures.style import ALLOWED, BEYOND, WITHIN, figure, save
from epsilometer.membership.attacked import ATTACKS
from epsilometer.membership.batched import MECHANISMS
from epsilometer.membership.rows import MEMBERSHIP, ROC
from epsilometer.membership.targets import TARGETS

_PALETTE = sns.color_palette("colorblind")
LOOKS: dict[str, dict[str, Any]] = {
    "optimal": {"color": "black", "linewidth": 1.4},
    "loss": {"color": _PALETTE[1], "linewidth": 2.4},
    "lira_offline": {"color": _PALETTE[8], "linestyle": (0, (3, 3)), "linewidth": 1.4},
    "lira_online": {"color": _PALETTE[0], "linestyle": (0, (6, 2)), "linewidth": 1.2},
    "rmia_offline": {"color": _PALETTE[2], "linestyle": (0, (1, 1)), "linewidth": 1.4},
    "rmia_online": {"color": _PALETTE[4], "linestyle": (0, (6, 2, 1, 2)), "linewidth": 1.2},
}
BANDS = ("optimal", "lira_offline")
"""Attacks whose confidence bands are drawn. Those of the others would overlap; they are in the tables."""
UTILITY = "membership_utility"
"""The name of the figure of test errors and certified epsilons."""
UTILITY_CAPTION = (
    "The cost of privacy and the gain of attackers, by data set. Left: test errors with and without noise. Right: the "
    "claimed epsilon and the largest that an attack certifies, without correction for the number of attacks."
)
ROC_CAPTION = (
    "ROC of the attacks on models that this mechanism releases, by target (rows) and data set (columns), on logarithmic "
    "axes. The shaded area is the region that the claimed epsilon allows."
)
SMALLEST_RATE = 1e-3
"""The smallest rate that is drawn."""


def membership_figures(tables: Sequence[Path], *, roc: Sequence[Path], folder: Path) -> None:
    """Draw the ROC of every attack, a figure for each mechanism, and the figure of test errors and certified epsilons."""
    attacks = pd.concat([pd.DataFrame(MEMBERSHIP.read(table)) for table in tables])
    points = pd.concat([pd.DataFrame(ROC.read(curves)) for curves in roc])
    folder.mkdir(parents=True, exist_ok=True)
    for mechanism in MECHANISMS:
        _draw_roc(mechanism, points[points["mechanism"] == mechanism], attacks, folder)
        write_caption(folder / f"{roc_figure(mechanism)}.rst", ROC_CAPTION)
    _draw_utility(attacks, folder)
    write_caption(folder / f"{UTILITY}.rst", UTILITY_CAPTION)


def roc_figure(mechanism: str) -> str:
    """The name of the figure of the attacks on a mechanism."""
    return f"membership_roc_{mechanism}"


def _draw_roc(mechanism: str, points: pd.DataFrame, attacks: pd.DataFrame, output: Path) -> None:
    """A row of panels for each target, a column for each data set, a line with its band for each attack."""
    datasets = list(dict.fromkeys(points["dataset"]))
    drawing, panels = figure(len(TARGETS), len(datasets), 2.1, sharex=True, sharey=True)
    for row, (target, name) in zip(panels, TARGETS.items(), strict=True):
        for panel, dataset in zip(row, datasets, strict=True):
            _draw_panel(panel, points[(points["dataset"] == dataset) & (points["target"] == target)])
        row[0].set_ylabel(f"{name}\ntrue positives")
    for panel, dataset in zip(panels[0], datasets, strict=True):
        rows = attacks[attacks["dataset"] == dataset]
        settings = f"$n$ = {rows['n'].iloc[0]:,}, $\\lambda$ = {rows['lam'].iloc[0]:g}"
        panel.set_title("\n".join([*textwrap.wrap(DATASETS[dataset].title, 22), settings]), fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("false positives")
    drawing.legend(handles=_roc_handles(), loc="outside lower center", ncols=5, frameon=False)
    save(drawing, output / f"{roc_figure(mechanism)}.svg")


def _draw_panel(panel: Any, points: pd.DataFrame) -> None:
    allowed = points[points["attack"] == "optimal"]
    panel.fill_between(
        allowed["fpr"], SMALLEST_RATE / 10, allowed["allowed"].fillna(1.0), color=ALLOWED, linewidth=0, zorder=0
    )
    panel.plot([SMALLEST_RATE, 1], [SMALLEST_RATE, 1], color="0.5", linewidth=0.8, linestyle=":", zorder=1)
    for attack, look in LOOKS.items():
        curve = points[points["attack"] == attack]
        if attack in BANDS:
            panel.fill_between(curve["fpr"], curve["low"], curve["high"], color=look["color"], alpha=0.25, linewidth=0)
        panel.plot(curve["fpr"], curve["tpr"], **look)
    panel.set(xscale="log", yscale="log", xlim=(SMALLEST_RATE, 1), ylim=(SMALLEST_RATE / 2, 1.3))
    panel.minorticks_off()  # minor ticks take most of the time of the layout


def _roc_handles() -> list[Any]:
    return [
        *(Line2D([], [], **look, label=ATTACKS[attack]) for attack, look in LOOKS.items()),
        Patch(color=LOOKS[BANDS[0]]["color"], alpha=0.25, label="confidence band, exact ratio"),
        Patch(color=LOOKS[BANDS[1]]["color"], alpha=0.25, label="confidence band, offline LiRA"),
        Patch(color=ALLOWED, label="what the promise allows"),
        Line2D([], [], color="0.5", linewidth=0.8, linestyle=":", label="guessing"),
    ]


def _draw_utility(attacks: pd.DataFrame, output: Path) -> None:
    """For each data set, test errors on the left, and the claimed and the certified epsilon on the right."""
    datasets = list(dict.fromkeys(attacks["dataset"]))
    drawing, panels = figure(len(datasets), 2, 2.3, sharey=True, sharex="col")
    heights = {name: -place for place, name in enumerate(MECHANISMS)}
    for (left, right), dataset in zip(panels, datasets, strict=True):
        rows = attacks[attacks["dataset"] == dataset]
        for mechanism, height in heights.items():
            some = rows[rows["mechanism"] == mechanism]
            _draw_errors(left, some, height)
            _draw_epsilons(right, some, height)
        left.set_yticks(list(heights.values()), [mechanism.title for mechanism in MECHANISMS.values()])
        title = f"{DATASETS[dataset].title}, $n$ = {rows['n'].iloc[0]:,}, $\\lambda$ = {rows['lam'].iloc[0]:g}"
        left.set_title(title, loc="left")
        left.set(xlim=(-0.02, 0.6), ylim=(min(heights.values()) - 0.6, 0.6))
    panels[-1, 0].set_xlabel("test error")
    panels[-1, 1].set_xlabel("$\\epsilon$ if one record is replaced")
    panels[-1, 1].set_xlim(0, 1.15 * max(attacks["certified"].max(), attacks["promised"].max()))
    drawing.legend(handles=_utility_handles(), loc="outside lower center", ncols=2, frameon=False)
    save(drawing, output / f"{UTILITY}.svg")


def _draw_errors(panel: Any, rows: pd.DataFrame, height: float) -> None:
    private, plain = rows["test_error"].mean(), rows["nonprivate_test_error"].mean()
    panel.plot([plain, private], [height, height], color="0.6", linewidth=1)
    panel.plot(plain, height, "o", color="black", markerfacecolor="white", markersize=5)
    panel.plot(private, height, "o", color=WITHIN, markersize=5)
    panel.annotate(f"{private:.3f}", (private, height), xytext=(5, 0), textcoords="offset points", va="center", fontsize=7)


def _draw_epsilons(panel: Any, rows: pd.DataFrame, height: float) -> None:
    promised, measured = rows["promised"].iloc[0], rows["certified"].max()
    panel.barh(height, measured, height=0.55, color=BEYOND if measured > promised else WITHIN, linewidth=0)
    if pd.notna(promised):
        panel.plot(promised, height, "|", color="black", markersize=12, markeredgewidth=2)
    place = (max(measured, 0.0 if pd.isna(promised) else promised), height)
    panel.annotate(f"{measured:.2f}", place, xytext=(5, 0), textcoords="offset points", va="center", fontsize=7)


def _utility_handles() -> list[Any]:
    return [
        Line2D([], [], color=WITHIN, marker="o", linestyle="none", label="test error of the released models"),
        Line2D([], [], color="black", marker="o", mfc="white", linestyle="none", label="the same models without noise"),
        Line2D([], [], color="black", marker="|", markersize=12, markeredgewidth=2, linestyle="none", label="promised"),
        Patch(color=WITHIN, label="measured: the attacks' largest lower confidence bound"),
        Patch(color=BEYOND, label="the same, above the promise"),
    ]
