"""Section 6 of nips08, Figures 2c and 2d: test error by epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from scipy.special import ndtri

from epsilometer.core import LabelledData
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.mechanisms.nips08_settings import LAM
from epsilometer.papers.claim import Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import reproduced_if
from epsilometer.papers.nips08.claims.figure_2 import MOST, decide_leads, figure_2_claim, measure_leads
from epsilometer.papers.nips08.claims.folds import (
    CONFIDENCE,
    NAMES,
    Folds,
    curve,
    interval,
    read_series,
    series,
    student_quantile,
)
from epsilometer.papers.nips08.claims.geometry import records
from epsilometer.papers.nips08.experiments import LEAST_NOISE
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2

CHANCE = 0.5
"""The error of a coin."""
NEAR_CHANCE = {"near chance": 0.05}
FIT = "the classifier of standard logistic regression on all records"
"""What the claims on the smallest epsilons compute, for the limit at epsilon = 0."""


# Between the ends


def measure_degradation(dataset: str, evidence: Evidence) -> Measured:
    """How the mean errors move from each epsilon to the next, in standard errors of the restarts."""
    points = curve(evidence, "epsilon_curve", dataset)
    numbers: dict[str, float] = {}
    for name in (ALGORITHM_1, ALGORITHM_2):
        cells = [points[name][epsilon] for epsilon in sorted(points[name])]
        rises = [_rise_in_standard_errors(*pair) for pair in pairwise(cells)]
        numbers |= {
            f"{NAMES[name]}, at the smallest epsilon": cells[0].mean,
            f"{NAMES[name]}, at the largest epsilon": cells[-1].mean,
            f"{NAMES[name]}, largest rise": max(rises),
            f"{NAMES[name]}, steps": float(len(rises)),
        }
    return Measured(numbers)


def _rise_in_standard_errors(before: Folds, after: Folds) -> float:
    """By how many standard errors the error rises; the records are the same, so that only restarts differ."""
    difference = after.minus(before)
    noise = difference.standard_error_of_restarts
    return difference.mean / noise if noise else difference.mean / LEAST_NOISE


def decide_degradation(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Both errors fall from the smallest to the largest epsilon, and no step between rises by more than chance explains."""
    methods = (NAMES[ALGORITHM_1], NAMES[ALGORITHM_2])
    steps = sum(numbers[f"{name}, steps"] for name in methods)
    limit = float(ndtri(1 - (1 - tolerances["confidence"]) / steps))
    parts, falling = [], True
    for name in methods:
        first, last = numbers[f"{name}, at the smallest epsilon"], numbers[f"{name}, at the largest epsilon"]
        rise = numbers[f"{name}, largest rise"]
        falling &= first > last and rise <= limit
        parts.append(f"{name} method {last:.4f} to {first:.4f}, largest step the other way {rise:.1f} standard errors")
    sentence = (
        f"From the largest to the smallest epsilon: {'; '.join(parts)}; chance explains {limit:.1f} in {steps:.0f} steps."
    )
    return reproduced_if(falling, sentence)


# Where epsilon is smallest


def pull_ratio(data: LabelledData, lam: float) -> float:
    """How many times the new method's advantage over chance is that of the sensitivity method, as epsilon goes to 0.

    With g the mean of y x and w* the minimiser, it is |g|^2 / (2 lam g.w*). Proof: docs/proofs/nips08_experiments.md.
    """
    pull = data.signed.mean(axis=0)
    return float(pull @ pull / (2 * lam * minimiser(LOGISTIC, data, lam) @ pull))


def measure_smallest(dataset: str, evidence: Evidence) -> Measured:
    """At each epsilon: the sensitivity method's error, and how much more that is than the new method's."""
    points = curve(evidence, "epsilon_curve", dataset)
    first = points[ALGORITHM_1]
    difference = {epsilon: first[epsilon].minus(points[ALGORITHM_2][epsilon]) for epsilon in first}
    return Measured(
        series("sensitivity", {epsilon: folds.mean for epsilon, folds in first.items()})
        | series("difference", {epsilon: folds.mean for epsilon, folds in difference.items()})
        | series("standard error", {epsilon: folds.standard_error for epsilon, folds in difference.items()})
        | {"folds": float(len(next(iter(first.values())).error)), "pull": pull_ratio(records(evidence, dataset), LAM)}
    )


def _near_chance(errors: Mapping[float, float], tolerances: Numbers) -> list[float]:
    """The epsilons at which the error is near that of a coin."""
    return [epsilon for epsilon, error in errors.items() if error >= CHANCE - tolerances["near chance"]]


def decide_smallest(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Where the sensitivity method is near chance: is it better on average, or at some epsilon after Bonferroni?

    The average's standard error is at most the average of the standard errors, however the epsilons depend on each other.
    """
    near = _near_chance(read_series(numbers, "sensitivity"), tolerances)
    if not near:
        return Decision("not reproduced", f"The sensitivity method is never within {tolerances['near chance']:g} of chance.")
    difference, noise = read_series(numbers, "difference"), read_series(numbers, "standard error")
    mean = sum(difference[epsilon] for epsilon in near) / len(near)
    average = sum(noise[epsilon] for epsilon in near) / len(near)
    half = student_quantile(numbers["folds"], tolerances["confidence"]) * average
    corrected = student_quantile(numbers["folds"], 1 - (1 - tolerances["confidence"]) / len(near))
    better = [epsilon for epsilon in near if difference[epsilon] < -corrected * noise[epsilon]]
    ahead = sum(difference[epsilon] < 0 for epsilon in near)
    sentence = (
        f"At the {len(near)} epsilons up to {max(near):g} where the sensitivity method errs in at least "
        f"{CHANCE - tolerances['near chance']:.2f}, it errs by {mean:+.4f} ({interval(mean, half)}) more than the new "
        f"method; it has the smaller mean at {ahead} of them, beyond its interval at {len(better)}. As epsilon goes to 0, "
        f"the new method's advantage over chance tends to {numbers['pull']:.2f} times the other's."
    )
    return reproduced_if(bool(better) or mean + half < 0, sentence)


def decide_chance(numbers: Numbers, tolerances: Numbers) -> Decision:
    """At the smallest epsilon the sensitivity method is as good as a coin."""
    errors = read_series(numbers, "sensitivity")
    near = _near_chance(errors, tolerances)
    least = min(errors)
    sentence = (
        f"At epsilon = {least:g} the sensitivity method errs in {errors[least]:.4f}; up to {max(near, default=0):g} it "
        f"stays within {tolerances['near chance']:g} of chance."
    )
    return reproduced_if(least in near, sentence)


measure_majority = partial(measure_leads, "epsilon_curve")
decide_majority = partial(decide_leads, "epsilons from {:g} to {:g} (which ones the paper tried is not printed)")

FIGURE_2C_MAJORITY = figure_2_claim(
    "c",
    "majority",
    "On the separable data, the new method is better at the majority of the epsilons that were tried.",
    measure_majority,
    decide_majority,
    MOST,
)
FIGURE_2C_DEGRADES = figure_2_claim(
    "c",
    "degrades",
    "On the separable data, both private methods err more as epsilon gets smaller.",
    measure_degradation,
    decide_degradation,
    CONFIDENCE,
)
FIGURE_2C_SMALLEST = figure_2_claim(
    "c",
    "smallest",
    "On the separable data, at very small epsilon, where it is near chance, the sensitivity method is the better one.",
    measure_smallest,
    decide_smallest,
    CONFIDENCE | NEAR_CHANCE,
    FIT,
)
FIGURE_2C_CHANCE = figure_2_claim(
    "c",
    "chance",
    "On the separable data, at very small epsilon, the sensitivity method predicts about as well as chance.",
    measure_smallest,
    decide_chance,
    NEAR_CHANCE,
    FIT,
)
FIGURE_2D_MAJORITY = figure_2_claim(
    "d",
    "majority",
    "On the unseparable data, the new method is better at the majority of the epsilons that were tried.",
    measure_majority,
    decide_majority,
    MOST,
)
FIGURE_2D_DEGRADES = figure_2_claim(
    "d",
    "degrades",
    "On the unseparable data, both private methods err more as epsilon gets smaller.",
    measure_degradation,
    decide_degradation,
    CONFIDENCE,
)
FIGURE_2D_SMALLEST = figure_2_claim(
    "d",
    "smallest",
    "On the unseparable data, at very small epsilon, where it is near chance, the sensitivity method is the better one.",
    measure_smallest,
    decide_smallest,
    CONFIDENCE | NEAR_CHANCE,
    FIT,
)
FIGURE_2D_CHANCE = figure_2_claim(
    "d",
    "chance",
    "On the unseparable data, at very small epsilon, the sensitivity method predicts about as well as chance.",
    measure_smallest,
    decide_chance,
    NEAR_CHANCE,
    FIT,
)
