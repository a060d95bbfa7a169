"""The figures of nips08: Figures 1 and 2, and what was found on the way to them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from epsilometer.figures.figure import Figure, Tables
from epsilometer.figures.style import ORANGE, figure, save
from epsilometer.papers.protocol import METHODS
from epsilometer.papers.protocol_figures import LOOKS, draw_curves, draw_tuning, error_summary_of

PRINTED_LAMBDA = 0.01
"""Section 6."""


def _recovered_epsilon(tables: Tables, path: Path) -> None:
    """The epsilon at which each printed error comes out, and the best common one."""
    table = tables.read("recovered_epsilon/nips08")
    cells, common = table.iloc[:-1], table.iloc[-1]
    drawing, panels = figure(1, 1, 3.0)
    panel = panels[0, 0]
    for height, cell in enumerate(cells[::-1].itertuples()):
        colour, marker = LOOKS[cell.method].color, LOOKS[cell.method].marker
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
    save(drawing, path)


def _boundary(tables: Tables, path: Path) -> None:
    """What Algorithm 2 spends on its worst data, relative to its promise, and where the paper's learning curves run."""
    table = tables.read("boundary/nips08")
    grid = table.pivot(index="n_lam", columns="epsilon", values="share")
    drawing, panels = figure(1, 1, 4.2)
    panel = panels[0, 0]
    shades = np.log10(grid.clip(upper=1000))
    filled = panel.contourf(grid.columns, grid.index, shades, levels=np.linspace(0, 3, 13), cmap="Blues")
    epsilons = grid.columns.to_numpy()
    panel.plot(
        epsilons, 2 / epsilons, color="black", linewidth=2, label="from $n\\lambda\\epsilon = 2$ on, the promise holds"
    )
    curve = tables.read(f"learning_curve/{tables.datasets[0]}").dropna(subset="epsilon")
    sizes = curve[["n", "lam", "epsilon"]].drop_duplicates()
    label = f"the learning curve: $\\lambda$ = {sizes['lam'].iloc[0]:g}, $n$ = {sizes['n'].min():,} to {sizes['n'].max():,}"
    panel.plot(sizes["epsilon"], sizes["n"] * sizes["lam"], "o-", color=ORANGE.color, markersize=4, label=label)
    bar = drawing.colorbar(filled, ax=panel, ticks=range(4), label="epsilon spent on the worst data / promised")
    bar.set_ticklabels(["1", "10", "100", "1000"])
    panel.set(xscale="log", yscale="log", xlabel="promised $\\epsilon$", ylabel="$n\\lambda$")
    panel.set(xlim=(epsilons.min(), epsilons.max()), ylim=(grid.index.min(), grid.index.max()))
    panel.set_title("What Algorithm 2 of 2008 spends on the worst data (a bound, attained as $\\lambda \\to 0$)")
    panel.legend(loc="lower left")
    save(drawing, path)


FIGURES = (
    Figure(
        "nips08_figure1",
        error_summary_of("nips08"),
        ("error_summary/nips08", "error_table/separable", "error_table/unseparable"),
        "Figure 1 of nips08. Measured mean test errors, with their spreads over folds and over restarts, "
        "above the printed ones.",
    ),
    Figure(
        "nips08_recovered_epsilon",
        _recovered_epsilon,
        ("recovered_epsilon/nips08",),
        "The epsilon behind Figure 1, which nips08 does not print: where each printed error comes out, with "
        "95% bootstrap intervals, and the best common value.",
    ),
    Figure(
        "nips08_figure2",
        draw_curves,
        ("learning_curve/{dataset}", "epsilon_curve/{dataset}"),
        "Figure 2 of nips08. Learning curves (a, b) and epsilon curves (c, d) of all methods, with 95% "
        "intervals over the folds.",
    ),
    Figure(
        "nips08_tuning",
        partial(draw_tuning, printed_lambda=PRINTED_LAMBDA),
        ("tuning/{dataset}",),
        "Tuning of lambda on the holdout, by cross-validation of standard logistic regression; the dashed "
        "line is the paper's.",
    ),
    Figure(
        "nips08_boundary",
        _boundary,
        ("boundary/nips08", "learning_curve/separable"),
        "Where Algorithm 2 of nips08 keeps its promise. Shades: epsilon spent on the worst data over epsilon "
        "promised. The promise holds above the black line; the dots are the paper's own learning curve.",
    ),
)
