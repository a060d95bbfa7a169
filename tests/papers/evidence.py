"""Evidence made for a test: a table of verdicts that says what each mechanism spends."""

from __future__ import annotations

import math
from pathlib import Path

from epsilometer.core import write_table
from epsilometer.papers.claim import Evidence


def with_verdicts(folder: Path, losses: dict[str, dict[float, float]]) -> Evidence:
    """The exact losses, by mechanism and promise."""
    rows = [
        {
            "mechanism": name,
            "promised": promised,
            "exact": exact,
            "sampled_curve": math.nan,
            "black_box": exact,
            "verdict": "violated" if exact > promised else "consistent",
        }
        for name, spent in losses.items()
        for promised, exact in spent.items()
    ]
    write_table(folder / "verdicts/catalogue.csv", rows)
    return Evidence(folder, 1)


def with_shares(folder: Path, shares: dict[str, float]) -> Evidence:
    """The same, where each mechanism spends a share of what it promises."""
    return with_verdicts(
        folder, {name: {promised: share * promised for promised in (0.1, 1.0)} for name, share in shares.items()}
    )
