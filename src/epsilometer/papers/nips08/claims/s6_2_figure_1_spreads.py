"""Section 6 of nips08, Figure 1: the printed standard deviations, whether they are possible, and what they are of."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.special import bdtr, fdtri

from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import reproduced_if
from epsilometer.papers.nips08.claims.figure_1 import LOCATOR, ROUNDING, SUMMARY, Cell, bayes_error, summary_row
from epsilometer.papers.nips08.claims.folds import CONFIDENCE, curve, curve_tables, figure_1_folds
from epsilometer.papers.nips08.experiments import PRINTED, PRIVATE_CELLS
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, STANDARD

PRINTED_FOLDS, PRINTED_RECORDS = 5, 3500
"""Behind Figure 1: five folds of 17,500 points."""


# Each printed spread


def lowest_fold(mean: float, spread: float, folds: int) -> float:
    """The most that the lowest of `folds` values can be, given their mean and standard deviation: mean - spread/sqrt(folds).

    If no value is lower than mean - a, the squares of the deviations sum to at most folds (folds - 1) a^2, attained by a
    single high value; and they sum to (folds - 1) spread^2.
    """
    return mean - spread / math.sqrt(folds)


def largest_spread(mean: float, folds: int) -> float:
    """The largest standard deviation of `folds` errors with this mean: as many of them 1 as can be, the rest 0, one between.

    The sum of squares is convex, so it is largest at a vertex of the cube cut by the hyperplane of that mean.
    """
    ones, between = divmod(folds * mean, 1)
    return math.sqrt((ones + between**2 - folds * mean**2) / (folds - 1))


def measure_spread(cell: Cell, evidence: Evidence) -> Measured:
    """A cell's spreads of every kind, the largest possible, and the chance of the lowest fold that the printed one implies.

    Whatever the training, a record is wrong with at least the least probability that any classifier has. So the number of
    errors in a fold is at least binomial, and the chance that the lowest of the folds is as low is at most as many times
    that of a single one.
    """
    mean, spread = PRINTED[cell]
    lowest = lowest_fold(mean + ROUNDING, spread - ROUNDING, PRINTED_FOLDS)
    wrong = math.floor(lowest * PRINTED_RECORDS)
    chance = PRINTED_FOLDS * float(bdtr(wrong, PRINTED_RECORDS, bayes_error(cell[0]))) if wrong >= 0 else 0.0
    return Measured(
        {
            "printed mean": mean,
            "printed": spread,
            "folds": float(len(figure_1_folds(evidence, cell[0])[cell[1]].error)),
            "largest possible": largest_spread(mean + ROUNDING, PRINTED_FOLDS),
            "lowest fold": lowest,
            "log10 chance": math.log10(min(1.0, max(chance, 1e-300))),
            **measured_spreads(cell, evidence),
        }
    )


def measured_spreads(cell: Cell, evidence: Evidence) -> dict[str, float]:
    """The standard deviations that the protocol knows, by what varies."""
    row = summary_row(evidence, cell)
    sizes = curve(evidence, "learning_curve", cell[0])[cell[1]]
    found = {
        "over folds": row["sd_folds"],
        "over the learning curve": float(np.std([point.mean for point in sizes.values()], ddof=1)),
    }
    if cell[1] != STANDARD:
        epsilons = curve(evidence, "epsilon_curve", cell[0])[cell[1]]
        found["over restarts"] = row["sd_restarts"]
        found["over the epsilon curve"] = float(np.std([point.mean for point in epsilons.values()], ddof=1))
    return found


def decide_spread(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Fails if impossible or too unlikely; else compared by the ratio of two spreads over as many folds."""
    printed, measured = numbers["printed"], numbers["over folds"]
    low, high = (
        measured * math.sqrt(fdtri(PRINTED_FOLDS - 1, numbers["folds"] - 1, (1 + side * tolerances["confidence"]) / 2))
        for side in (-1, 1)
    )
    sentence = (
        f"Printed {printed:.4f}; over folds we measure {measured:.4f}, so that another run's spread lies in "
        f"{low:.4f} to {high:.4f} ({tolerances['confidence']:.0%})"
    )
    if printed - ROUNDING > numbers["largest possible"]:
        return _impossible(numbers, sentence)
    if numbers["log10 chance"] < tolerances["log10 chance"]:
        return Decision(
            "fails as printed",
            f"{sentence}. It needs a fold with an error of at most {numbers['lowest fold']:.4f}, far below what the flipped "
            f"labels allow: its probability is at most 10^{numbers['log10 chance']:.0f}.",
            instead=f"The spread over folds is about {measured:.4f}.",
        )
    kind, nearest = _nearest_kind(numbers)
    return reproduced_if(
        low - ROUNDING <= printed <= high + ROUNDING,
        f"{sentence}. Around that mean, up to {numbers['largest possible']:.4f} is possible; the nearest of our spreads is "
        f"that {kind}, {nearest:.4f}.",
    )


def _impossible(numbers: Numbers, sentence: str) -> Decision:
    """No errors have the printed spread around the printed mean."""
    least = (numbers["printed"] - ROUNDING) / math.sqrt(PRINTED_FOLDS)
    return Decision(
        "fails as printed",
        f"{sentence}. Errors are not negative: those of {PRINTED_FOLDS} folds with a mean of "
        f"{numbers['printed mean']:.4f} have a spread of at most {numbers['largest possible']:.5f}.",
        instead=f"A mean of at least {least:.5f} that was rounded to two digits could have this spread.",
    )


def _nearest_kind(numbers: Numbers) -> tuple[str, float]:
    """The kind of spread that comes nearest to the printed one, and its value."""
    kinds = {name: value for name, value in numbers.items() if name.startswith("over ") and value > 0}
    if not kinds:
        return "over folds", numbers["over folds"]
    return min(kinds.items(), key=lambda kind: _factor(kind[1], numbers["printed"]))


def _factor(measured: float, printed: float) -> float:
    """By how much two spreads differ, as a factor of at least 1."""
    if min(measured, printed) <= 0:
        return math.inf
    return max(measured / printed, printed / measured)


def spread_claim(claim_id: str, cell: Cell, locator: str, statement: str) -> Claim:
    """A claim on the standard deviation of a cell's test error over folds."""
    private = () if cell[1] == STANDARD else (f"epsilon_curve/{cell[0]}",)
    return Claim(
        id=claim_id,
        locator=locator,
        statement=statement,
        needs=(SUMMARY, f"error_table/{cell[0]}", f"learning_curve/{cell[0]}", *private),
        measure=partial(measure_spread, cell),
        decide=decide_spread,
        tolerances=CONFIDENCE | {"log10 chance": -6.0},
        link=f"{SUMMARY}.csv",
    )


FIGURE_1_SPREAD_SEPARABLE_SENSITIVITY = spread_claim(
    "nips08-figure-1-spread-separable-sensitivity",
    ("separable", ALGORITHM_1),
    LOCATOR,
    "On the separable data, the test error of the sensitivity method has a standard deviation of 0.0617 over five folds, "
    "around a mean of 0.2962.",
)
FIGURE_1_SPREAD_SEPARABLE_NEW = spread_claim(
    "nips08-figure-1-spread-separable-new",
    ("separable", ALGORITHM_2),
    LOCATOR,
    "On the separable data, the test error of the new method has a standard deviation of 0.1284 over five folds, "
    "around a mean of 0.1426.",
)
FIGURE_1_SPREAD_SEPARABLE_STANDARD = spread_claim(
    "nips08-figure-1-spread-separable-standard",
    ("separable", STANDARD),
    LOCATOR,
    "On the separable data, the test error of standard logistic regression has a standard deviation of 0.0016 over five "
    "folds, around a mean of 0.",
)
FIGURE_1_SPREAD_UNSEPARABLE_SENSITIVITY = spread_claim(
    "nips08-figure-1-spread-unseparable-sensitivity",
    ("unseparable", ALGORITHM_1),
    LOCATOR,
    "On the unseparable data, the test error of the sensitivity method has a standard deviation of 0.0536 over five folds, "
    "around a mean of 0.3257.",
)
FIGURE_1_SPREAD_UNSEPARABLE_NEW = spread_claim(
    "nips08-figure-1-spread-unseparable-new",
    ("unseparable", ALGORITHM_2),
    LOCATOR,
    "On the unseparable data, the test error of the new method has a standard deviation of 0.1105 over five folds, "
    "around a mean of 0.1903.",
)
FIGURE_1_SPREAD_UNSEPARABLE_STANDARD = spread_claim(
    "nips08-figure-1-spread-unseparable-standard",
    ("unseparable", STANDARD),
    LOCATOR,
    "On the unseparable data, the test error of standard logistic regression has a standard deviation of 0.1105 over five "
    "folds, around a mean of 0.053.",
)


# What the spreads are of


def measure_spread_kinds(evidence: Evidence) -> Measured:
    """For every kind of spread, the largest factor between printed and measured over the four private cells."""
    found = [(cell, measured_spreads(cell, evidence)) for cell in PRIVATE_CELLS]
    return Measured({kind: max(_factor(each[kind], PRINTED[cell][1]) for cell, each in found) for kind in found[0][1]})


def decide_spread_kind(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Reproduced if the spreads over folds come near the printed ones; else the nearest kind is named."""
    factors = ", ".join(f"{kind} {value:.2f}" for kind, value in numbers.items())
    sentence = f"Largest factor between the printed and the measured spread of the four private cells: {factors}."
    if numbers["over folds"] <= tolerances["factor"]:
        return Decision("reproduced", sentence)
    kind = min(numbers, key=lambda name: numbers[name])
    near = "and fit" if numbers[kind] <= tolerances["factor"] else "though they do not fit"
    return Decision(
        "not reproduced", sentence, instead=f"Standard deviations {kind} come nearest, {near}: within {numbers[kind]:.2f}."
    )


FIGURE_1_SPREAD_KIND = Claim(
    id="nips08-figure-1-spread-kind",
    locator="section 6, caption of Figure 1",
    statement="The spreads printed for the private methods are standard deviations over the five folds.",
    needs=(SUMMARY, *curve_tables("learning_curve"), *curve_tables("epsilon_curve")),
    measure=measure_spread_kinds,
    decide=decide_spread_kind,
    tolerances={"factor": 1.5},
    link=f"{SUMMARY}.csv",
    headline=True,
)


def measure_equal_spreads(evidence: Evidence) -> Measured:
    """The new method's and standard regression's spreads on the unseparable data, and the chance that they agree.

    Two standard deviations over k folds with the same true value agree to the printed digit with probability about
    f(1) 2 u/s, where f is the density of F with k - 1 and k - 1 degrees of freedom and u the last digit's unit.
    """
    new = measure_spread(("unseparable", ALGORITHM_2), evidence).numbers
    standard = measure_spread(("unseparable", STANDARD), evidence).numbers
    half = (PRINTED_FOLDS - 1) / 2
    density = math.gamma(2 * half) / math.gamma(half) ** 2 / 4**half
    return Measured(
        {
            "printed": standard["printed"],
            "new method": new["over folds"],
            "standard regression": standard["over folds"],
            "chance of agreement": density * 2 * (2 * ROUNDING) / standard["printed"],
            "log10 chance": standard["log10 chance"],
        }
    )


def decide_equal_spreads(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Fails if the repeated number is too unlikely for standard regression; else by the factor between the two spreads."""
    sentence = (
        f"Measured over folds: {numbers['new method']:.4f} and {numbers['standard regression']:.4f}. Spreads with the same "
        f"true value would agree to four digits with probability {numbers['chance of agreement']:.1g}"
    )
    if numbers["log10 chance"] < tolerances["log10 chance"]:
        return Decision(
            "fails as printed",
            f"{sentence}; standard regression has {numbers['printed']:.4f} with probability at most "
            f"10^{numbers['log10 chance']:.0f}.",
            instead="The number of one row was probably repeated in the next; standard regression's own is not printed.",
        )
    factor = _factor(numbers["new method"], numbers["standard regression"])
    sentence += f"; the measured ones differ by a factor of {factor:.2f}."
    return reproduced_if(factor <= tolerances["factor"], sentence)


FIGURE_1_SPREAD_TWICE = Claim(
    id="nips08-figure-1-spread-twice",
    locator=LOCATOR,
    statement="On the unseparable data, the new method and standard logistic regression have the same standard deviation "
    "over folds, 0.1105.",
    needs=(SUMMARY, "error_table/unseparable", "learning_curve/unseparable", "epsilon_curve/unseparable"),
    measure=measure_equal_spreads,
    decide=decide_equal_spreads,
    tolerances={"factor": 1.5, "log10 chance": -6.0},
    link=f"{SUMMARY}.csv",
)
