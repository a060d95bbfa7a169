"""The figures of nips08, and of the same protocol on other data, from their tables.

Intervals are 95% intervals of the mean over the folds (Student's t), unless a figure says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.figures.names import DATASETS, METHODS
from epsilometer.figures.style import COLOURS, DASHES, MARKERS, figure, method_legend, save

PAPER_LAMBDA = 0.01  # nips08, section 6
CHANCE = 0.5


def draw(paper: str, results: Path, datasets: Sequence[str], output: Path) -> None:
    """Draw every figure of the paper into `output`, as <paper>_<figure>.svg."""
    _tuning(paper, results, datasets, output)
    _error_summary(paper, results, datasets, output)
    _curves(paper, results, datasets, output)
    if paper == "nips08":
        _recovered_epsilon(results, output)
        _boundary(results, datasets, output)


def _tuning(paper: str, results: Path, datasets: Sequence[str], output: Path) -> None:
    drawing, panels = figure(1, len(datasets), 3.0)
    for panel, dataset in zip(panels[0], datasets, strict=True):
        curve = _mean_over_folds(pd.read_csv(results / "tuning" / f"{dataset}.csv"), "lam")
        panel.errorbar(curve["lam"], curve["mean"], yerr=curve["half"], color="black", marker="o", markersize=4, capsize=2)
        best = curve["mean"].min()
        tied = curve[curve["mean"] <= best + 1e-12]["lam"]
        label = f"least error: {best:.4f}, at $\\lambda$ = " + _span(tied)
        panel.plot(tied, np.full(len(tied), best), "o", color=COLOURS["algorithm1"], markersize=8, zorder=0, label=label)
        if paper == "nips08":
            panel.axvline(
                PAPER_LAMBDA, color=COLOURS["algorithm2"], linestyle="--", label="$\\lambda$ = 0.01, as the paper says"
            )
        panel.set(
            xscale="log",
            xlabel="regularisation $\\lambda$",
            ylabel="test error on the holdout",
            title=DATASETS[dataset],
        )
        panel.set_ylim(bottom=-0.001, top=max(0.02, panel.get_ylim()[1]))
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    save(drawing, output / f"{paper}_tuning.svg")


def _span(values: pd.Series) -> str:
    return f"{values.iloc[0]:g}" if len(values) == 1 else f"{values.iloc[0]:g} to {values.iloc[-1]:g}"


def _error_summary(paper: str, results: Path, datasets: Sequence[str], output: Path) -> None:
    table = pd.read_csv(results / "error_summary" / f"{paper}.csv")
    drawing, panels = figure(1, len(datasets), 3.4, sharey=True)
    heights = {name: -row for row, name in enumerate(METHODS)}
    for panel, dataset in zip(panels[0], datasets, strict=True):
        for cell in table[table["dataset"] == dataset].itertuples():
            _cell(panel, cell, heights[cell.method])
        epsilon = table[table["dataset"] == dataset]["epsilon"].dropna().iloc[0]
        panel.axvline(CHANCE, color="0.6", linewidth=0.8, linestyle=":")
        panel.set(title=DATASETS[dataset], xlabel=f"test error, private methods at $\\epsilon$ = {epsilon:.3g}")
        panel.set(xlim=(-0.1, 0.62), ylim=(min(heights.values()) - 0.6, 0.7))
        panel.set_yticks(list(heights.values()), list(METHODS.values()))
        panel.grid(visible=False, axis="y")
    _spread_legend(drawing, panels[0, 0], printed=table["printed_mean"].notna().any())
    name = "figure1" if paper == "nips08" else "error_summary"
    save(drawing, output / f"{paper}_{name}.svg")


def _cell(panel: Any, cell: Any, height: float) -> None:
    """Measured mean with both spreads and, below it, the printed mean with its spread."""
    colour = COLOURS[cell.method]
    panel.errorbar(cell.mean, height + 0.1, xerr=cell.sd_restarts, color=colour, linewidth=1, capsize=3)
    panel.errorbar(cell.mean, height + 0.1, xerr=cell.sd_folds, color=colour, linewidth=4)
    panel.plot(cell.mean, height + 0.1, MARKERS[cell.method] or "D", color=colour, markersize=7)
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


def _curves(paper: str, results: Path, datasets: Sequence[str], output: Path) -> None:
    """Learning curves above, epsilon curves below: panels a to d of Figure 2."""
    drawing, panels = figure(2, len(datasets), 3.4)
    letters = iter("abcdefgh")
    for panel, dataset in zip(panels[0], datasets, strict=True):
        table = pd.read_csv(results / "learning_curve" / f"{dataset}.csv")
        epsilon = table["epsilon"].dropna().iloc[0]
        for name in METHODS:
            _line(panel, name, _mean_over_folds(table[table["method"] == name], "n"), "n")
        panel.set(title=f"{next(letters)}) {DATASETS[dataset]} ($\\epsilon$ = {epsilon:.3g})", xlabel="training records $n$")
    for panel, dataset in zip(panels[1], datasets, strict=True):
        table = pd.read_csv(results / "epsilon_curve" / f"{dataset}.csv")
        standard = table[table["method"] == "standard"]["error"].mean()
        panel.axhline(standard, color=COLOURS["standard"], linestyle=DASHES["standard"], label=METHODS["standard"])
        for name in list(METHODS)[1:]:
            _line(panel, name, _mean_over_folds(table[table["method"] == name], "epsilon"), "epsilon")
        panel.set(title=f"{next(letters)}) {DATASETS[dataset]}", xlabel="privacy parameter $\\epsilon$", xscale="log")
    for panel in panels.flat:
        panel.axhline(CHANCE, color="0.6", linewidth=0.8, linestyle=":")
        panel.set(ylabel="test error", ylim=(-0.01, 0.56))
    method_legend(drawing, panels[0, 0])
    name = "figure2" if paper == "nips08" else "curves"
    save(drawing, output / f"{paper}_{name}.svg")


def _line(panel: Any, name: str, curve: pd.DataFrame, x: str) -> None:
    style = {"color": COLOURS[name], "linestyle": DASHES[name], "marker": MARKERS[name], "markersize": 4}
    panel.plot(curve[x], curve["mean"], label=METHODS[name], **style)
    low, high = curve["mean"] - curve["half"], curve["mean"] + curve["half"]
    panel.fill_between(curve[x], low, high, color=COLOURS[name], alpha=0.25, linewidth=0)


def _recovered_epsilon(results: Path, output: Path) -> None:
    table = pd.read_csv(results / "recovered_epsilon" / "nips08.csv")
    cells, common = table.iloc[:-1], table.iloc[-1]
    drawing, panels = figure(1, 1, 3.0)
    panel = panels[0, 0]
    for height, cell in enumerate(cells[::-1].itertuples()):
        colour, marker = COLOURS[cell.method], MARKERS[cell.method]
        panel.plot([cell.low, cell.high], [height, height], color=colour, linewidth=2)
        panel.plot(cell.epsilon, height, marker, color=colour, markersize=7)
        panel.annotate(
            f"printed {cell.printed_error:.4f}, at the common $\\epsilon$ {cell.error_at_common_epsilon:.4f}",
            (cell.epsilon, height), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8,
        )  # fmt: skip
    panel.margins(x=0.15)
    panel.axvspan(common["low"], common["high"], color="0.85", zorder=0)
    panel.axvline(common["epsilon"], color="0.3", linestyle="--")
    verdict = "explains" if common["one_epsilon_explains_all"] else "does not explain"
    labels = [f"{METHODS[cell.method].split(' (')[0]},\n{cell.dataset}" for cell in cells[::-1].itertuples()]
    panel.set_yticks(range(len(cells)), labels)
    panel.set(
        ylim=(-0.5, len(cells) - 0.3),
        xlabel="$\\epsilon$ at which the printed test error comes out, with 95% bootstrap interval",
        title=f"One $\\epsilon$ = {common['epsilon']:.4f} (dashed, with its interval) {verdict} all four cells "
        f"($\\chi^2_3$ = {common['chi_square']:.1f}, p = {common['p_value']:.2g})",
    )
    save(drawing, output / "nips08_recovered_epsilon.svg")


def _boundary(results: Path, datasets: Sequence[str], output: Path) -> None:
    """What Algorithm 2 spends on its worst data, relative to its promise, and where the paper's learning curves run."""
    table = pd.read_csv(results / "boundary" / "nips08.csv")
    grid = table.pivot(index="n_lam", columns="epsilon", values="share")
    drawing, panels = figure(1, 1, 4.2)
    panel = panels[0, 0]
    shades = np.log10(grid.clip(upper=1000))
    filled = panel.contourf(grid.columns, grid.index, shades, levels=np.linspace(0, 3, 13), cmap="Blues")
    epsilons = grid.columns.to_numpy()
    panel.plot(
        epsilons, 2 / epsilons, color="black", linewidth=2, label="from $n\\lambda\\epsilon = 2$ on, the promise holds"
    )
    curve = pd.read_csv(results / "learning_curve" / f"{datasets[0]}.csv").dropna(subset="epsilon")
    path = curve[["n", "lam", "epsilon"]].drop_duplicates()
    label = f"the learning curve: $\\lambda$ = {path['lam'].iloc[0]:g}, $n$ = {path['n'].min():,} to {path['n'].max():,}"
    panel.plot(path["epsilon"], path["n"] * path["lam"], "o-", color=COLOURS["algorithm1"], markersize=4, label=label)
    bar = drawing.colorbar(filled, ax=panel, ticks=range(4), label="epsilon spent on the worst data / promised")
    bar.set_ticklabels(["1", "10", "100", "1000"])
    panel.set(xscale="log", yscale="log", xlabel="promised $\\epsilon$", ylabel="$n\\lambda$")
    panel.set(xlim=(epsilons.min(), epsilons.max()), ylim=(grid.index.min(), grid.index.max()))
    panel.set_title("What Algorithm 2 of 2008 spends on the worst data (a bound, attained as $\\lambda \\to 0$)")
    panel.legend(loc="lower left")
    save(drawing, output / "nips08_boundary.svg")


def _mean_over_folds(table: pd.DataFrame, x: str) -> pd.DataFrame:
    """The mean error at each x, and the half-width of its 95% interval over the folds."""
    from scipy.special import stdtrit

    groups = table.groupby(x)["error"].agg(["mean", "std", "count"]).reset_index()
    groups["half"] = stdtrit(groups["count"] - 1, 0.975) * groups["std"] / np.sqrt(groups["count"])
    return groups
