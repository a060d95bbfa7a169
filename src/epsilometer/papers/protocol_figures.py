"""The figures that the protocol of nips08 has on any data: tuning, mean test errors, learning and epsilon curves.

Intervals are 95% intervals of the mean over the folds (Student's t), unless a figure says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.figures.figure import Tables
from epsilometer.figures.style import BLUE, GREEN, GREY, ORANGE, figure, legend_below, save
from epsilometer.papers.protocol import METHODS, STANDARD

LOOKS = dict(zip(METHODS, (GREY, ORANGE, BLUE, GREEN), strict=True))
CHANCE = 0.5


def draw_tuning(tables: Tables, path: Path, printed_lambda: float | None = None) -> None:
    """Test error on the holdout by lambda, and the lambdas with the least one."""
    drawing, panels = figure(1, len(tables.datasets), 3.0)
    for panel, dataset in zip(panels[0], tables.datasets, strict=True):
        curve = _mean_over_folds(tables.read(f"tuning/{dataset}"), "lam")
        panel.errorbar(curve["lam"], curve["mean"], yerr=curve["half"], color="black", marker="o", markersize=4, capsize=2)
        best = curve["mean"].min()
        tied = curve[curve["mean"] <= best + 1e-12]["lam"]
        label = f"least error: {best:.4f}, at $\\lambda$ = " + _span(tied)
        panel.plot(tied, np.full(len(tied), best), "o", color=ORANGE.color, markersize=8, zorder=0, label=label)
        if printed_lambda:
            label = f"$\\lambda$ = {printed_lambda:g}, as the paper says"
            panel.axvline(printed_lambda, color=BLUE.color, linestyle="--", label=label)
        panel.set(
            xscale="log",
            xlabel="regularisation $\\lambda$",
            ylabel="test error on the holdout",
            title=tables.titles[dataset],
        )
        panel.set_ylim(bottom=-0.001, top=max(0.02, panel.get_ylim()[1]))
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    save(drawing, path)


def _span(values: pd.Series) -> str:
    return f"{values.iloc[0]:g}" if len(values) == 1 else f"{values.iloc[0]:g} to {values.iloc[-1]:g}"


def error_summary_of(part: str) -> Callable[[Tables, Path], None]:
    """What draws the mean test errors of a table error_summary/<part>, beside the printed ones if there are any."""
    return lambda tables, path: _error_summary(tables.read(f"error_summary/{part}"), tables, path)


def _error_summary(table: pd.DataFrame, tables: Tables, path: Path) -> None:
    drawing, panels = figure(1, len(tables.datasets), 3.4, sharey=True)
    heights = {name: -row for row, name in enumerate(METHODS)}
    for panel, dataset in zip(panels[0], tables.datasets, strict=True):
        for cell in table[table["dataset"] == dataset].itertuples():
            _cell(panel, cell, heights[cell.method])
        epsilon = table[table["dataset"] == dataset]["epsilon"].dropna().iloc[0]
        panel.axvline(CHANCE, color="0.6", linewidth=0.8, linestyle=":")
        panel.set(title=tables.titles[dataset], xlabel=f"test error, private methods at $\\epsilon$ = {epsilon:.3g}")
        panel.set(xlim=(-0.1, 0.62), ylim=(min(heights.values()) - 0.6, 0.7))
        panel.set_yticks(list(heights.values()), list(METHODS.values()))
        panel.grid(visible=False, axis="y")
    _spread_legend(drawing, panels[0, 0], printed=table["printed_mean"].notna().any())
    save(drawing, path)


def _cell(panel: Any, cell: Any, height: float) -> None:
    """Measured mean with both spreads and, below it, the printed mean with its spread."""
    look = LOOKS[cell.method]
    colour = look.color
    panel.errorbar(cell.mean, height + 0.1, xerr=cell.sd_restarts, color=colour, linewidth=1, capsize=3)
    panel.errorbar(cell.mean, height + 0.1, xerr=cell.sd_folds, color=colour, linewidth=4)
    panel.plot(cell.mean, height + 0.1, look.marker or "D", color=colour, markersize=7)
    panel.annotate(f"{cell.mean:.4f}", (cell.mean, height + 0.17), ha="center", va="bottom", fontsize=8)
    if not np.isnan(cell.printed_mean):
        panel.errorbar(
            cell.printed_mean,
            height - 0.22,
            xerr=cell.printed_spread,
            color="black",
            linewidth=1,
            capsize=3,
            fmt="none",
        )
        panel.plot(cell.printed_mean, height - 0.22, "o", color="black", markerfacecolor="white", markersize=7)
        panel.annotate(f"{cell.printed_mean:.4f}", (cell.printed_mean, height - 0.3), ha="center", va="top", fontsize=8)


def _spread_legend(drawing: Any, panel: Any, *, printed: bool) -> None:
    handles = [
        panel.errorbar(
            [],
            [],
            xerr=[],
            color="0.25",
            marker="D",
            linewidth=4,
            markersize=7,
            label="measured, with spread over folds (thick)",
        ),
        panel.errorbar([], [], xerr=[], color="0.25", linewidth=1, capsize=3, label="and over restarts (thin)"),
    ]
    if printed:
        handles.append(
            panel.errorbar([], [], xerr=[], color="black", marker="o", mfc="white", linewidth=1, capsize=3, label="printed")
        )
    drawing.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)


def draw_curves(tables: Tables, path: Path) -> None:
    """Learning curves above, epsilon curves below."""
    drawing, panels = figure(2, len(tables.datasets), 3.4)
    letters = iter("abcdefgh")
    for panel, dataset in zip(panels[0], tables.datasets, strict=True):
        table = tables.read(f"learning_curve/{dataset}")
        epsilon = table["epsilon"].dropna().iloc[0]
        for name in METHODS:
            _line(panel, name, _mean_over_folds(table[table["method"] == name], "n"), "n")
        panel.set(
            title=f"{next(letters)}) {tables.titles[dataset]} ($\\epsilon$ = {epsilon:.3g})", xlabel="training records $n$"
        )
    for panel, dataset in zip(panels[1], tables.datasets, strict=True):
        table = tables.read(f"epsilon_curve/{dataset}")
        standard = table[table["method"] == STANDARD]["error"].mean()
        panel.axhline(standard, color=GREY.color, linestyle=GREY.linestyle, label=METHODS[STANDARD])
        for name in list(METHODS)[1:]:
            _line(panel, name, _mean_over_folds(table[table["method"] == name], "epsilon"), "epsilon")
        panel.set(title=f"{next(letters)}) {tables.titles[dataset]}", xlabel="privacy parameter $\\epsilon$", xscale="log")
    for panel in panels.flat:
        panel.axhline(CHANCE, color="0.6", linewidth=0.8, linestyle=":")
        panel.set(ylabel="test error", ylim=(-0.01, 0.56))
    legend_below(drawing, panels[0, 0])
    save(drawing, path)


def _line(panel: Any, name: str, curve: pd.DataFrame, x: str) -> None:
    panel.plot(curve[x], curve["mean"], label=METHODS[name], markersize=4, **LOOKS[name].options)
    low, high = curve["mean"] - curve["half"], curve["mean"] + curve["half"]
    panel.fill_between(curve[x], low, high, color=LOOKS[name].color, alpha=0.25, linewidth=0)


def _mean_over_folds(table: pd.DataFrame, x: str) -> pd.DataFrame:
    """The mean error at each x, and the half-width of its 95% interval over the folds."""
    from scipy.special import stdtrit

    groups = table.groupby(x)["error"].agg(["mean", "std", "count"]).reset_index()
    groups["half"] = stdtrit(groups["count"] - 1, 0.975) * groups["std"] / np.sqrt(groups["count"])
    return groups
