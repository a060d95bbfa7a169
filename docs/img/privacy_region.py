"""Draws privacy_region.svg: the operating points that (epsilon, delta) allows, two ROC curves, and one certified event.

Run it from anywhere: python docs/img/privacy_region.py [file]. The same versions give the same bytes.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import Array

CLAIMED = 1.0
TRIALS = 2000
CONFIDENCE = 0.95
THRESHOLD = 1.0
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#555555"


def laplace_roc(epsilon: float, false_positives: Array) -> Array:
    """True positive rates of the best tests between Laplace noise around 0 and around 1, of scale 1/epsilon."""
    shrink = math.exp(-epsilon)
    middle = 1 - shrink / (4 * np.maximum(false_positives, 1e-12))
    steep, flat = false_positives / shrink, 1 - shrink * (1 - false_positives)
    return np.where(false_positives <= shrink / 2, steep, np.where(false_positives <= 0.5, middle, flat))


def allowed(epsilon: float, delta: float, false_positives: Array) -> Array:
    """The largest true positive rate under (epsilon, delta), from the event and from its complement."""
    event = math.exp(epsilon) * false_positives + delta
    complement = 1 - math.exp(-epsilon) * (1 - delta - false_positives)
    return np.minimum(1.0, np.minimum(event, complement))


def draw(path: Path) -> None:
    x = np.linspace(0, 1, 401)
    with mpl.rc_context({"svg.hashsalt": "privacy region", "svg.fonttype": "path", "font.size": 9}):
        figure = Figure(figsize=(9, 5.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        _regions(left, x)
        _certified_event(right, x)
        for axes in (left, right):
            axes.set(xlabel="Pr[event | D\u2032], false positive rate", ylabel="Pr[event | D], true positive rate")
            axes.set_box_aspect(1)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _regions(axes: Axes, x: Array) -> None:
    axes.fill_between(x, 1 - allowed(CLAIMED, 0.1, 1 - x), allowed(CLAIMED, 0.1, x), color=BLUE, alpha=0.10, lw=0)
    axes.fill_between(x, 1 - allowed(CLAIMED, 0.0, 1 - x), allowed(CLAIMED, 0.0, x), color=BLUE, alpha=0.22, lw=0)
    axes.plot(x, laplace_roc(CLAIMED, x), color=BLUE, label="Laplace mechanism, scale 1/ε")
    axes.plot(x, laplace_roc(2 * CLAIMED, x), color=ORANGE, label="the same with half the scale")
    axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":", label="guessing")
    axes.text(0.5, 0.38, "allowed by ε = 1, δ = 0", color=BLUE)
    axes.annotate("and by δ = 0.1", (0.035, 0.17), (0.16, 0.10), color=BLUE, arrowprops={"arrowstyle": "-", "color": BLUE})
    axes.set(xlim=(0, 1), ylim=(0, 1), title="What (ε, δ) allows")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=8, frameon=False)


def _certified_event(axes: Axes, x: Array) -> None:
    """An event of the mechanism with half the scale: its counts, their interval, and the bound that they certify."""
    p, q = 0.5, math.exp(-2 * CLAIMED * THRESHOLD) / 2
    hits, other_hits = round(p * TRIALS), round(q * TRIALS)
    each = 1 - math.sqrt(CONFIDENCE)
    lower = float(clopper_pearson_lower(hits, TRIALS, each))
    upper = float(clopper_pearson_upper(other_hits, TRIALS, each))
    bound = math.log(lower / upper)
    axes.fill_between(x, 0, allowed(CLAIMED, 0.0, x), color=BLUE, alpha=0.22, lw=0)
    axes.plot(x, laplace_roc(2 * CLAIMED, x), color=ORANGE)
    axes.plot(x, np.exp(bound) * x, color="black", lw=1, ls="--", label=f"slope exp({bound:.2f}): certified at 95%")
    axes.plot([0, upper], [lower, lower], color="black", lw=0.8)
    axes.plot([upper, upper], [lower, 1], color="black", lw=0.8)
    axes.fill_between([0, upper], lower, 1, color="black", alpha=0.07, lw=0)
    axes.plot([other_hits / TRIALS], [hits / TRIALS], "o", color=ORANGE, ms=5)
    point, arrow = (other_hits / TRIALS, hits / TRIALS), {"arrowstyle": "-", "color": ORANGE}
    text = f"{hits} and {other_hits} of {TRIALS}"
    axes.annotate(text, point, (0.115, 0.545), color=ORANGE, va="center", arrowprops=arrow)
    axes.text(0.13, 0.22, "allowed by\nε = 1, δ = 0", color=BLUE)
    axes.set(xlim=(0, 0.2), ylim=(0, 0.65), xticks=[0, 0.05, 0.1, 0.15, 0.2], title="What one counted event certifies")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=8, frameon=False)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg"))
