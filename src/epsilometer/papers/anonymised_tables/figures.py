"""The figure of the attacks on anonymised tables, from their tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from epsilometer.figures.figure import Figure, Tables
from epsilometer.figures.style import BLUE, GREEN, ORANGE, Look, figure, save

PANELS = {
    "review": "Alice's diagnosis, from the counts of review",
    "postech": "Rebecca's diagnosis, from the table of postech",
}
"""The examples, and what is attacked in each."""
LOOKS = (ORANGE, BLUE, GREEN)
"""The looks of the attacks of a panel, in order."""


def _success(tables: Tables, path: Path) -> None:
    """Draw success against the promised epsilon: simulated (points), in closed form (lines), bound, no noise, and chance."""
    attacks, lines = tables.read("anonymised_tables/worked_example"), tables.read("anonymised_tables/curves")
    drawing, panels = figure(1, len(PANELS), 4.6, sharey=True)
    for panel, (example, title) in zip(panels[0], PANELS.items(), strict=True):
        _panel(panel, attacks[attacks["example"] == example], lines[lines["example"] == example])
        panel.set(title=title, xscale="log", xlabel="$\\epsilon$ promised if one diagnosis is replaced", ylim=(0, 1.04))
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=8)
    panels[0, 0].set_ylabel("probability that the guess is right")
    save(drawing, path)


def _panel(panel: Any, attacks: pd.DataFrame, lines: pd.DataFrame) -> None:
    noisy, exact = attacks.dropna(subset="epsilon"), attacks[attacks["epsilon"].isna()]
    kinds = lines.groupby(["released", "attacker_knows"], sort=False)
    for look, ((released, knows), line) in zip(LOOKS, kinds, strict=False):  # postech has two attacks
        panel.plot(
            line["promised"],
            line["closed_form"],
            color=look.color,
            linestyle=look.linestyle,
            label=f"{released},\nattacker knows {knows}",
        )
        _points(panel, noisy[(noisy["released"] == released) & (noisy["attacker_knows"] == knows)], look)
        for level in exact[exact["attacker_knows"] == knows]["success"]:
            _level(panel, level, f"the same attacker without noise: {level:.3g}", look.color)
    bound = lines.sort_values("promised")
    panel.plot(bound["promised"], bound["bound"], color="black", linewidth=1.8, label="bound on every attack", zorder=1)
    panel.fill_between(bound["promised"], bound["bound"], 1, color="0.93", linewidth=0, zorder=0)
    chance = 1 / attacks["candidates"].iloc[0]
    _level(panel, chance, f"chance: {chance:.3g}", "0.4")


def _points(panel: Any, attack: pd.DataFrame, look: Look) -> None:
    """Simulated success with its interval."""
    errors = [attack["success"] - attack["low"], attack["high"] - attack["success"]]
    options = {"color": look.color, "marker": look.marker, "markersize": 4, "linestyle": "none", "capsize": 2}
    panel.errorbar(attack["promised"], attack["success"], yerr=errors, **options)


def _level(panel: Any, height: float, label: str, colour: Any) -> None:
    panel.axhline(height, color=colour, linewidth=1, linestyle=":", zorder=1)
    place = {"xycoords": ("axes fraction", "data"), "xytext": (0, -3), "textcoords": "offset points"}
    panel.annotate(label, (0.02, height), va="top", fontsize=8, color=colour, **place)


FIGURES = (
    Figure(
        "anonymised_tables",
        _success,
        ("anonymised_tables/worked_example", "anonymised_tables/curves"),
        "A worked example on the tables that review and postech print: how often a guess of one person's "
        "diagnosis is right, without noise, with Laplace noise, and at most for any attack.",
    ),
)
