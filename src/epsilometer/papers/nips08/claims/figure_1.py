"""What several claims on Figure 1 read: its cells as printed and as measured, and the least error possible in them."""

from __future__ import annotations

from typing import Any

from scipy.special import betainc

from epsilometer.data.synthetic import DIMENSION, FLIP_PROBABILITY, NOISY_BAND
from epsilometer.papers.claim import Evidence

Cell = tuple[str, str]
"""A data set and a method."""
ROUNDING = 5e-5
"""Half of the last digit that Figure 1 prints."""
SUMMARY = "error_summary/nips08"
RECOVERED = "recovered_epsilon/nips08"
LOCATOR = "section 6, Figure 1"


def summary_row(evidence: Evidence, cell: Cell) -> dict[str, Any]:
    """A cell's mean test error and its spreads, as measured."""
    rows = evidence.table(SUMMARY, "dataset", "method", "mean", "sd_folds", "sd_restarts")
    return next(row for row in rows if (row["dataset"], row["method"]) == cell)


def recovered_rows(evidence: Evidence) -> dict[Cell, dict[str, Any]]:
    """For each private cell, and for all four together, the epsilon at which the printed error comes out."""
    rows = evidence.table(RECOVERED, "dataset", "method", "epsilon", "low", "high", "p_value")
    return {(row["dataset"], row["method"]): row for row in rows}


def bayes_error(dataset: str) -> float:
    """The least error that any classifier has: the flipped share of the band |u| <= 0.1.

    A coordinate u of a uniform point of the unit sphere in d dimensions has u^2 ~ Beta(1/2, (d-1)/2).
    """
    if dataset == "separable":
        return 0.0
    return FLIP_PROBABILITY * float(betainc(0.5, (DIMENSION - 1) / 2, NOISY_BAND**2))
