"""Learning and epsilon curves on which Algorithm 2 errs as often as a test wants."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from epsilometer.core import write_table


def write_curves(folder: Path, error: float) -> Path:
    """Algorithm 1 errs in 0.3, Algorithm 2 in `error` but for the smallest epsilon, where both err in half."""
    for (table, x), dataset in product(
        (("learning_curve", "n"), ("epsilon_curve", "epsilon")), ("separable", "unseparable")
    ):
        rows = [
            {
                "method": method,
                "epsilon": 0.1 if x == "n" else place / 1000,
                "lam": 0.01,
                "n": place if x == "n" else 10_000,
                "fold": fold,
                "restarts": 100,
                "error": (mistakes if place > 1000 else 0.5) + fold / 1000,
                "sd_restarts": 0.05,
            }
            for method, mistakes in (("algorithm1", 0.3), ("cms11", error))
            for place in (10, 1000, 2000)
            for fold in range(5)
        ]
        write_table(folder / table / f"{dataset}.csv", rows)
    return folder
