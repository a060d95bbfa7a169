"""The figure of the attacks on anonymised tables, from their tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from epsilometer.core import read_table
from epsilometer.figures.style import COLOURS, DASHES, MARKERS, figure, save

PANELS = {
    "review": "Alice's diagnosis, from the counts of review",
    "postech": "Rebecca's diagnosis, from the table of postech",
}
"""The examples, and what is attacked in each."""
STYLES = ("algorithm1", "algorithm2", "cms11")
"""Whose colours, dashes and markers the attacks of a panel borrow, in order."""


def anonymised_figure(table: Path, curves: Path, output: Path) -> None:
    """Draw success against the promised epsilon: simulated (points), in closed form (lines), bound, no noise, and chance."""
    attacks = pd.DataFrame(read_table(table, "example", "epsilon", "success"))
    lines = pd.DataFrame(read_table(curves, "example", "promised", "closed_form", "bound"))
    drawing, panels = figure(1, len(PANELS), 4.6, sharey=True)
    for panel, (example, title) in zip(panels[0], PANELS.items(), strict=True):
        _panel(panel, attacks[attacks["example"] == example], lines[lines["example"] == example])
        panel.set(title=title, xscale="log", xlabel="$\\epsilon$ promised if one diagnosis is replaced", ylim=(0, 1.04))
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=8)
    panels[0, 0].set_ylabel("probability that the guess is right")
    save(drawing, output)


def _panel(panel: Any, attacks: pd.DataFrame, lines: pd.DataFrame) -> None:
    noisy, exact = attacks.dropna(subset="epsilon"), attacks[attacks["epsilon"].isna()]
    kinds = lines.groupby(["released", "attacker_knows"], sort=False)
    for style, ((released, knows), line) in zip(STYLES, kinds, strict=False):  # postech has two attacks
        panel.plot(
            line["promised"],
            line["closed_form"],
            color=COLOURS[style],
            linestyle=DASHES[style],
            label=f"{released},\nattacker knows {knows}",
        )
        _points(panel, noisy[(noisy["released"] == released) & (noisy["attacker_knows"] == knows)], style)
        for level in exact[exact["attacker_knows"] == knows]["success"]:
            _level(panel, level, f"the same attacker without noise: {level:.3g}", COLOURS[style])
    bound = lines.sort_values("promised")
    panel.plot(bound["promised"], bound["bound"], color="black", linewidth=1.8, label="bound on every attack", zorder=1)
    panel.fill_between(bound["promised"], bound["bound"], 1, color="0.93", linewidth=0, zorder=0)
    chance = 1 / attacks["candidates"].iloc[0]
    _level(panel, chance, f"chance: {chance:.3g}", "0.4")


def _points(panel: Any, attack: pd.DataFrame, style: str) -> None:
    """Simulated success with its interval."""
    errors = [attack["success"] - attack["low"], attack["high"] - attack["success"]]
    look = {"color": COLOURS[style], "marker": MARKERS[style], "markersize": 4, "linestyle": "none", "capsize": 2}
    panel.errorbar(attack["promised"], attack["success"], yerr=errors, **look)


def _level(panel: Any, height: float, label: str, colour: Any) -> None:
    panel.axhline(height, color=colour, linewidth=1, linestyle=":", zorder=1)
    place = {"xycoords": ("axes fraction", "data"), "xytext": (0, -3), "textcoords": "offset points"}
    panel.annotate(label, (0.02, height), va="top", fontsize=8, color=colour, **place)
