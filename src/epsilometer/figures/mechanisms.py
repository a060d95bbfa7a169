"""A figure for each mechanism, of its measured against its claimed epsilon and of its privacy loss, and one of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from epsilometer.auditors.registry import by_name
from epsilometer.evidence.rows import AUDIT, PRIVACY_LOSS, VERDICTS
from epsilometer.figures.figure import write_caption
from epsilometer.figures.style import ALLOWED, BEYOND, BLUE, ORANGE, WITHIN, figure, save

WIDTH = 4.6
"""The width in inches: half a page, which a phone shows at nearly full size."""
COLUMN_FACTOR = 1.3
"""The factor by which the column of a claimed epsilon extends to either side, to keep its markers apart."""
OVERVIEW_CAPTION = (
    "Every mechanism at every claimed epsilon: a lower bound on the epsilon that it spends, against the claim. The top of a "
    "column is the claimed epsilon."
)
MECHANISM_CAPTION = (
    "Above: the lower bound of each auditor against the claimed epsilon, with a column up to each claim. A vertical line is "
    "the confidence interval of the event of a sampled bound; a hollow marker at the lower edge is a bound of 0. Below: the "
    "probability of a privacy loss of at least x under either data set, and delta at each epsilon."
)
ALLOWED_HANDLE = Patch(color=ALLOWED, label="within the promise")


def mechanism_figures(tables: Sequence[Path], *, verdicts: Path, losses: Path, folder: Path) -> None:
    """Draw the measured epsilon and the privacy loss of every mechanism: <mechanism>.svg for each, overview.svg for all."""
    audits = pd.concat([pd.DataFrame(AUDIT.read(table)) for table in tables])
    best = audits.sort_values("certified").groupby(["mechanism", "promised", "auditor"]).tail(1)
    curves = pd.DataFrame(PRIVACY_LOSS.read(losses))
    folder.mkdir(parents=True, exist_ok=True)
    for mechanism, rows in best.groupby("mechanism"):
        _draw_mechanism(str(mechanism), rows, curves[curves["mechanism"] == mechanism], folder)
        write_caption(folder / f"{mechanism}.rst", MECHANISM_CAPTION)
    _draw_overview(pd.DataFrame(VERDICTS.read(verdicts)), folder)
    write_caption(folder / "overview.rst", OVERVIEW_CAPTION)


def _draw_mechanism(name: str, audits: pd.DataFrame, losses: pd.DataFrame, output: Path) -> None:
    """Above: bounds against claimed epsilons. Below: the distribution of the privacy loss, if there is one."""
    shown = 2 if len(losses) else 1
    drawing, panels = figure(shown, 1, 3.6, WIDTH, layout=None)
    edges = {"left": 0.15, "right": 0.97, "bottom": 0.075 if shown == 2 else 0.27, "top": 1 - 0.08 / shown, "hspace": 0.5}
    drawing.subplots_adjust(**edges)
    _draw_spent(panels[0, 0], audits)
    if shown == 2:
        _draw_loss(panels[1, 0], losses)
    save(drawing, output / f"{name}.svg")


def _draw_spent(panel: Any, audits: pd.DataFrame) -> None:
    promised = audits["promised"].to_numpy(dtype=float)
    finite = audits["certified"][np.isfinite(audits["certified"]) & (audits["certified"] > 0)]
    low = promised.min() / 8
    high = 3 * max(promised.max(), min(finite.max(), 1e4 * promised.max()) if len(finite) else 0.0)
    left, right = promised.min() / 1.6, 1.6 * promised.max()
    _draw_columns(panel, promised, low)
    shown = [spec for spec in by_name().values() if not spec.model_based and (audits["auditor"] == spec.name).any()]
    for place, spec in enumerate(shown):
        rows = audits[audits["auditor"] == spec.name]
        _draw_bounds(panel, rows, spec.look, COLUMN_FACTOR ** ((2 * place + 1) / len(shown) - 1), (low, high))
    panel.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, high))
    ticks = sorted(set(promised))
    kept = [tick for number, tick in enumerate(ticks) if number == 0 or tick > 1.6 * ticks[number - 1]]
    panel.set_xticks(kept, [f"{tick:.3g}" for tick in kept], minor=False)
    panel.minorticks_off()
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set(
        xlabel="promised $\\epsilon$", ylabel="spent $\\epsilon$, at least", title="What is spent, and what was promised"
    )
    handles: list[Any] = [Line2D([], [], linestyle="none", markersize=5, label=spec.label, **spec.look) for spec in shown]
    below = {"loc": "upper center", "bbox_to_anchor": (0.47, -0.17), "ncols": 3}
    panel.legend(
        handles=[*handles, ALLOWED_HANDLE], **below, fontsize=7, frameon=False, columnspacing=1.2, handletextpad=0.4
    )


def _draw_columns(panel: Any, promised: Iterable[float], low: float) -> None:
    """A column for each claimed epsilon, of that height, and the diagonal through their tops."""
    ends = [min(promised) / 2, 2 * max(promised)]
    panel.plot(ends, ends, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    for value in set(promised):
        sides = [value / COLUMN_FACTOR, value * COLUMN_FACTOR]
        panel.fill_between(sides, low, value, color=ALLOWED, linewidth=0, zorder=0)
        panel.plot(sides, [value, value], color="0.4", linewidth=1.5, zorder=1)


def _draw_bounds(panel: Any, rows: pd.DataFrame, look: dict[str, Any], dodge: float, limits: tuple[float, float]) -> None:
    """Each bound with the interval of its event; bounds of 0 are at the lower edge, those off the scale at the upper."""
    low, high = limits
    for row in rows.itertuples():
        x, value = row.promised * dodge, float(row.certified)
        if value > 0 and row.event_high > value:  # false for nan: an exact value has no interval
            panel.plot([x, x], [value, min(row.event_high, high)], color=look["color"], linewidth=1.2, solid_capstyle="butt")
        if value > high:
            panel.annotate("$\\infty$" if np.isinf(value) else f"{value:.2g}", (x, high), xytext=(0, -9),
                           textcoords="offset points", ha="center", va="top", fontsize=8)  # fmt: skip
            panel.plot(x, high, marker="^", color=look["color"], markersize=6, clip_on=False)
        else:
            style = look if value > low else look | {"markerfacecolor": "white"}
            panel.plot(x, max(value, low), **style, markersize=5, linestyle="none", clip_on=value > low)


def _draw_loss(panel: Any, losses: pd.DataFrame) -> None:
    """P(loss >= x) under either data set, and delta at each epsilon."""
    promised = losses["promised"].iloc[0]
    rows = losses[np.isfinite(losses["loss"])].sort_values("loss")
    right = _right_edge(rows, promised)
    left = max(float(rows["loss"].min()), -right) if len(rows) else -right
    span = [left - 0.08 * (right - left), right + 0.05 * (right - left)]
    right_of_all = float(rows["loss"].max()) if len(rows) else span[0]
    drawstyle = "steps-pre" if (losses["method"] == "enumerated").all() else "default"  # else points of a curve
    panel.axvspan(max(-promised, span[0]), min(promised, span[1]), color=ALLOWED, linewidth=0, zorder=0)
    for column, colour, dash, label in (
        ("probability_first", BLUE.color, "-", "$P$(loss $\\geq x$) on one data set"),
        ("probability_second", ORANGE.color, (0, (5, 2)), "the same on its neighbour"),
    ):
        x = [span[0], *rows["loss"], right_of_all, span[1]]
        y = [1.0, *rows[column], *2 * [_infinite_loss_probability(losses, column)]]
        panel.plot(x, y, drawstyle=drawstyle, color=colour, linestyle=dash, linewidth=1.6, label=label)
    curve = rows[rows["loss"] >= 0]
    panel.plot(curve["loss"], curve["delta"], color="black", linewidth=1.2, linestyle=(0, (1, 1)),
               label="$\\delta$ at $\\epsilon = x$")  # fmt: skip
    panel.set(xlim=span, ylim=(-0.03, 1.05), xlabel="privacy loss $x$", ylabel="probability")
    panel.set_title(f"Privacy loss of one output, at a promise of {promised:.3g}")
    panel.legend(loc="best", fontsize=7, framealpha=0.85)


def _right_edge(rows: pd.DataFrame, promised: float) -> float:
    """The right limit of x: all but a millionth of the losses are shown, up to 100 times the claimed epsilon."""
    likely = rows[rows["probability_first"] > 1e-6]["loss"]
    return float(min(max(likely.max() if len(likely) else promised, 1.15 * promised), 100 * promised))


def _infinite_loss_probability(losses: pd.DataFrame, column: str) -> float:
    """The probability of an infinite loss, that is, of outputs outside the support of the other data set."""
    infinite = losses[np.isposinf(losses["loss"])]
    return float(infinite[column].iloc[0]) if len(infinite) else 0.0


def _draw_overview(verdicts: pd.DataFrame, output: Path) -> None:
    """Every claimed epsilon of the report, and the lower bound on the epsilon that is spent."""
    promised, violated = verdicts["promised"], verdicts["verdict"] == "violated"
    columns = [spec.column for spec in by_name().values() if not spec.model_based]
    certified = verdicts[columns].max(axis=1)
    decides = verdicts["exact"].notna() & ~(violated & (verdicts["exact"] <= promised))
    spent = verdicts["exact"].where(decides, certified)  # a sampled bound may exceed the exact value by chance
    low, high = promised.min() / 3, 200 * promised.max()
    drawing, panels = figure(1, 1, 3.6, WIDTH)
    panel = panels[0, 0]
    _draw_columns(panel, promised, low)
    order = verdicts.groupby("promised").cumcount() / verdicts.groupby("promised")["promised"].transform("size")
    for beyond, colour, marker, label in (
        (False, WITHIN, "o", "kept, as far as was found"),
        (True, BEYOND, "X", "violated"),
    ):
        some = violated == beyond
        x = promised[some] * COLUMN_FACTOR ** (2 * order[some] - 1)  # spread out, in the table's order
        panel.plot(x, spent[some].clip(low, high), marker, color=colour, markersize=4.5, alpha=0.75, markeredgewidth=0,
                   linestyle="none", label=f"{label}: {some.sum()}", clip_on=False)  # fmt: skip
    panel.set(xscale="log", yscale="log", xlim=(promised.min() / 1.6, 1.6 * promised.max()), ylim=(low, high))
    panel.set(xlabel="promised $\\epsilon$", ylabel="spent $\\epsilon$, at least (infinite at the upper edge)")
    panel.set_xticks(sorted(set(promised)), [f"{value:.3g}" for value in sorted(set(promised))])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter("{x:g}")
    handles = [*panel.get_legend_handles_labels()[0], ALLOWED_HANDLE]
    drawing.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    save(drawing, output / "overview.svg")
