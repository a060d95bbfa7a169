"""Section 5 of nips08, Theorems 4 and 5: the sample sizes with which Algorithms 2 and 1 reach a loss."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from epsilometer.erm import LOGISTIC
from epsilometer.papers.claim import Claim, Decision, Numbers
from epsilometer.papers.deciders import ROUNDING, two_readings
from epsilometer.papers.measures import computed
from epsilometer.papers.nips08.claims.sample_sizes import (
    ALONG,
    GROWTH,
    Goal,
    decide_growth,
    measure_growth,
    measure_ratios,
    theorem_4_size,
    theorem_5_size,
)


@computed
def measure_unstated_lambda() -> Numbers:
    """The excess loss, with infinitely many records and no noise, at the proof's lambda and at lambda = 1."""
    goal = Goal()

    def excess(lam: float) -> float:
        v = brentq(lambda v: lam * v + ALONG * float(LOGISTIC.slope(np.array(ALONG * v))), 0.0, 1e6)
        return float(LOGISTIC.value(np.array(ALONG * v))) - (goal.loss - goal.excess)

    return {"allowed": goal.excess, "at_the_proofs_lambda": excess(goal.lam), "at_lambda_1": excess(1.0)}


def decide_unstated_lambda(numbers: Numbers, tolerances: Numbers) -> Decision:
    """By the excess loss at the proof's lambda and at another, as shares of the allowed one."""
    allowed, proofs, one = (numbers[name] for name in ("allowed", "at_the_proofs_lambda", "at_lambda_1"))
    sentence = (
        f"Without noise and with unlimited records the excess loss is {proofs:.3g} at the proof's lambda and {one:.3g} at "
        f"lambda = 1, where {allowed:g} is allowed."
    )
    missing = "lambda and C are not in the statement; we assumed lambda = epsilon_g/|w0|^2, as in the proof, and some C."
    instead = "A smaller lambda than the proof's is needed."
    return two_readings(proofs / allowed, one / allowed, sentence, tolerances, missing, instead)


UNSTATED_LAMBDA = Claim(
    id="nips08-theorem-4",
    locator="section 5, Theorem 4, on Algorithm 2",
    statement="For some C, more than C max(|w0|^2/epsilon_g^2, d log(d/delta) |w0|/(epsilon_g epsilon)) records give "
    "Algorithm 2 a loss of at most that of w0 plus epsilon_g, with probability 1 - delta.",
    computes="the excess loss with unlimited records and no noise at two values of lambda",
    measure=measure_unstated_lambda,
    decide=decide_unstated_lambda,
    tolerances={"slack": 1e-06},
)

THEOREM_4_GROWTH = Claim(
    id="nips08-theorem-4-growth",
    locator="section 5, Theorem 4, with the lambda of its proof",
    statement="The records that Algorithm 2 needs grow no faster than d log d, 1/epsilon and |w0|, where privacy decides.",
    computes="the sample sizes that Algorithm 2 needs for seven goals, by runs on drawn data",
    measure=measure_growth("algorithm 2", theorem_4_size, logs=True),
    decide=decide_growth,
    tolerances=GROWTH,
)


def decide_names_algorithm_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Both theorems as statements on Algorithm 2: Theorem 5 then follows from Theorem 4 if its sample size is the larger."""
    sentence = (
        f"Theorem 5's sample size is {numbers['least']:.3g} to {numbers['largest']:.3g} times Theorem 4's, which is for the "
        "same Algorithm 2."
    )
    if numbers["least"] < 1 - tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="Read with Algorithm 1, as the sentence before it announces.")
    if numbers["largest"] > 1 + tolerances["slack"]:
        remark = (
            "About Algorithm 2 it says less than Theorem 4; Algorithm 1 must be meant, as the sentence before it announces."
        )
        return Decision("holds, loosely", sentence, factor=numbers["largest"], instead=remark)
    return Decision("holds", sentence)


NAMES_ALGORITHM_2 = Claim(
    id="nips08-theorem-5-algorithm",
    locator="section 5, Theorem 5, as its text names Algorithm 2",
    statement="With the larger sample size of Theorem 5, Algorithm 2 reaches a loss of at most that of w0 plus epsilon_g.",
    computes="both sample sizes in 10,000 random settings",
    measure=measure_ratios(logs=True),
    decide=decide_names_algorithm_2,
    tolerances=ROUNDING,
)

THEOREM_5_GROWTH = Claim(
    id="nips08-theorem-5-growth",
    locator="section 5, Theorem 5, read with Algorithm 1 and the same lambda",
    statement="The records that Algorithm 1 needs grow no faster than d log d, 1/epsilon and |w0|^2, where privacy decides.",
    computes="the sample sizes that Algorithm 1 needs for seven goals, by runs on drawn data",
    measure=measure_growth("algorithm 1", theorem_5_size, logs=True),
    decide=decide_growth,
    tolerances=GROWTH,
)
