"""Section 6 of nips08, Figure 1: the printed mean test errors, each against the mean measured here."""

from __future__ import annotations

import math
from functools import partial

from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import reproduced_if
from epsilometer.papers.nips08.claims.figure_1 import (
    LOCATOR,
    RECOVERED,
    ROUNDING,
    SUMMARY,
    Cell,
    recovered_rows,
    summary_row,
)
from epsilometer.papers.nips08.claims.folds import CONFIDENCE, figure_1_folds, interval, student_quantile
from epsilometer.papers.nips08.experiments import LEAST_NOISE, PRINTED, PRIVATE_CELLS
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, STANDARD


def measure_mean(cell: Cell, evidence: Evidence) -> Measured:
    """A cell's mean error beside the printed one; of a private cell, also the epsilon that gives the printed one."""
    row = summary_row(evidence, cell)
    folds = figure_1_folds(evidence, cell[0])[cell[1]]
    numbers = {
        "mean": row["mean"],
        "standard error": max(folds.standard_error, LEAST_NOISE),
        "folds": float(len(folds.error)),
        "printed": PRINTED[cell][0],
    }
    if cell in PRIVATE_CELLS:
        recovered = recovered_rows(evidence)[cell]
        numbers |= {"epsilon": row["epsilon"]} | {f"own {name}": recovered[name] for name in ("epsilon", "low", "high")}
    return Measured(numbers)


def decide_mean(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Reproduced if the interval of the difference covers zero; the printed mean is assumed to be as uncertain as ours."""
    difference = numbers["mean"] - numbers["printed"]
    half = student_quantile(numbers["folds"], tolerances["confidence"]) * math.sqrt(2) * numbers["standard error"]
    private = "epsilon" in numbers
    sentence = (
        f"Printed {numbers['printed']:.4f}, measured {numbers['mean']:.4f}"
        + (f" at epsilon = {numbers['epsilon']:.4g}, the one that fits all four private cells best" if private else "")
        + f"; difference {difference:+.4f}, {tolerances['confidence']:.0%} interval {interval(difference, half)}."
    )
    same, own = abs(difference) <= half + ROUNDING, ""
    if private and not same:
        own = (
            f"The printed error comes out at epsilon = {numbers['own epsilon']:.4g} "
            f"({numbers['own low']:.4g} to {numbers['own high']:.4g})."
        )
    return reproduced_if(same, sentence, own)


def mean_claim(claim_id: str, cell: Cell, locator: str, statement: str) -> Claim:
    """A claim on the mean test error of a cell."""
    private = (RECOVERED,) if cell in PRIVATE_CELLS else ()
    return Claim(
        id=claim_id,
        locator=locator,
        statement=statement,
        needs=(SUMMARY, f"error_table/{cell[0]}", *private),
        measure=partial(measure_mean, cell),
        decide=decide_mean,
        tolerances=CONFIDENCE,
        link=f"{SUMMARY}.csv",
    )


FIGURE_1_MEAN_SEPARABLE_SENSITIVITY = mean_claim(
    "nips08-figure-1-mean-separable-sensitivity",
    ("separable", ALGORITHM_1),
    LOCATOR,
    "On the separable data, the sensitivity method has a mean test error of 0.2962 over five folds of 17,500 points.",
)
FIGURE_1_MEAN_SEPARABLE_NEW = mean_claim(
    "nips08-figure-1-mean-separable-new",
    ("separable", ALGORITHM_2),
    LOCATOR,
    "On the separable data, the new method has a mean test error of 0.1426 over five folds of 17,500 points.",
)
FIGURE_1_MEAN_SEPARABLE_STANDARD = mean_claim(
    "nips08-figure-1-mean-separable-standard",
    ("separable", STANDARD),
    LOCATOR,
    "On the separable data, standard logistic regression has a mean test error of 0 over five folds of 17,500 points.",
)
FIGURE_1_MEAN_UNSEPARABLE_SENSITIVITY = mean_claim(
    "nips08-figure-1-mean-unseparable-sensitivity",
    ("unseparable", ALGORITHM_1),
    LOCATOR,
    "On the unseparable data, the sensitivity method has a mean test error of 0.3257 over five folds of 17,500 points.",
)
FIGURE_1_MEAN_UNSEPARABLE_NEW = mean_claim(
    "nips08-figure-1-mean-unseparable-new",
    ("unseparable", ALGORITHM_2),
    LOCATOR,
    "On the unseparable data, the new method has a mean test error of 0.1903 over five folds of 17,500 points.",
)
FIGURE_1_MEAN_UNSEPARABLE_STANDARD = mean_claim(
    "nips08-figure-1-mean-unseparable-standard",
    ("unseparable", STANDARD),
    LOCATOR,
    "On the unseparable data, standard logistic regression has a mean test error of 0.053 over five folds of 17,500 points.",
)
