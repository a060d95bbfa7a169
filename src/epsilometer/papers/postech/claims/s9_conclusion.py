"""The conclusion of postech: privacy and correctness work against each other."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import holds_if
from epsilometer.papers.measures import answers
from epsilometer.papers.nips08.claims.folds import curve
from epsilometer.papers.protocol import ALGORITHM_1, CMS11


def measure_conflict(evidence: Evidence) -> Measured:
    """The standard deviation of one person's estimate in randomised response, and the test errors, by epsilon."""
    numbers = {}
    for epsilon in (0.1, 1.0, 3.0):
        gamma = RandomizedResponse.from_epsilon(epsilon).gamma
        law = answers(gamma)[1]
        estimates = RandomizedResponse(gamma).estimate_share(np.array([[0], [1]]))
        numbers[f"deviation_at_{epsilon:g}"] = math.sqrt(float(law @ estimates**2 - (law @ estimates) ** 2))
    for method in (ALGORITHM_1, CMS11):
        points = curve(evidence, "epsilon_curve", "separable")[method]
        numbers[f"{method} at the smallest"] = points[min(points)].mean
        numbers[f"{method} at the largest"] = points[max(points)].mean
    return Measured(numbers)


def decide_conflict(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The deviations must fall as epsilon grows, and so must both test errors."""
    deviations = [numbers[f"deviation_at_{epsilon}"] for epsilon in ("0.1", "1", "3")]
    errors = {name: (numbers[f"{name} at the smallest"], numbers[f"{name} at the largest"]) for name in (ALGORITHM_1, CMS11)}
    sentence = (
        f"At epsilon = 0.1, 1 and 3 one answer estimates with a standard deviation of {deviations[0]:.3g}, "
        f"{deviations[1]:.3g} and {deviations[2]:.3g}; from the smallest to the largest epsilon the test error falls from "
        + " and from ".join(f"{small:.3g} to {large:.3g}" for small, large in errors.values())
        + " (Algorithms 1 and 2)."
    )
    conflict = deviations[0] > deviations[1] > deviations[2] and all(
        small > large + tolerances["difference"] for small, large in errors.values()
    )
    return holds_if(conflict, sentence, "More privacy costs nothing here.")


CONFLICT = Claim(
    id="postech-conflict",
    locator="conclusion",
    statement="Privacy and correctness work against each other.",
    needs=("epsilon_curve/separable",),
    computes="the standard deviation of one randomised answer at three epsilons",
    measure=measure_conflict,
    decide=decide_conflict,
    tolerances={"difference": 0.1},
    link="epsilon_curve/separable.csv",
)
