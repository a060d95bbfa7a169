"""Section II-D of review: the Laplace mechanism and the exponential mechanism."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.exponential import most_frequent
from epsilometer.mechanisms.laplace import MEDICAL_RESULTS, Laplace, counts_four_and_five, medical_pair
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import (
    PRIVATE,
    ROUNDING,
    all_within_bound,
    claimed_epsilon,
    fact_decider,
    holds_if,
    is_decreasing,
    listed_with_names,
    readings_decider,
)
from epsilometer.papers.measures import PROOF_OF_VIOLATION, VERDICTS, audited, computed, exact_losses
from epsilometer.papers.review.claims.constants import PRINTED_EPSILONS

LAPLACE = Claim(
    id="review-laplace",
    locator="Definition 6",
    statement="Laplace noise of scale (sensitivity)/epsilon on the answer gives epsilon-differential privacy.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("laplace_count", "laplace_difference_attack"),
    decide=claimed_epsilon("one count, and two"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


LAPLACE_NORM = Claim(
    id="review-laplace-norm",
    locator="Definitions 2 and 6",
    statement="For an answer of several numbers, the sensitivity of the Laplace mechanism is in a norm that is left open.",
    computes="the privacy loss of two noisy counts with the L1 and with the L2 sensitivity",
    measure=exact_losses(
        medical_pair(1, "Diego is in both counts"),
        L1=Laplace(counts_four_and_five, 2.0, 1.0),
        L2=Laplace(counts_four_and_five, math.sqrt(2), 1.0),
    ),
    decide=readings_decider(
        "For two counts at epsilon = 1, {L1:.4g} is spent with the L1 sensitivity, {L2:.4g} with the L2 one.",
        all_within_bound,
        "Which norm the sensitivity of a vector is measured in is not said; we assumed L1.",
        assumed=lambda numbers, tolerances: numbers["L1"] <= 1 + tolerances["slack"],
        instead="More noise is needed.",
    ),
    tolerances=ROUNDING,
)


def measure_noise_grows(evidence: Evidence) -> Measured:
    """The mean absolute value of 20,000 draws of the noise on a count, by epsilon."""
    numbers = {}
    for epsilon in PRINTED_EPSILONS:
        mechanism = Laplace(len, 1, epsilon)
        noise = mechanism.sample(MEDICAL_RESULTS, 20_000, evidence.stream("noise", epsilon)) - len(MEDICAL_RESULTS)
        numbers[f"{epsilon:.4g}"] = float(np.mean(np.abs(noise)))
    return Measured(numbers)


def decide_noise_grows(numbers: Numbers, _: Numbers) -> Decision:
    sentence = f"The mean size of the noise on a count is (at epsilon) {listed_with_names(numbers)}."
    return holds_if(is_decreasing(numbers.values()), sentence, "It does not fall with epsilon.")


NOISE_GROWS = Claim(
    id="review-laplace-noise-grows",
    locator="section II-D, Figure 3",
    statement="The smaller epsilon is, the larger is the noise of the Laplace mechanism.",
    computes="the mean size of 20,000 draws of the noise on a count, for four values of epsilon",
    measure=measure_noise_grows,
    decide=decide_noise_grows,
)

EXPONENTIAL = Claim(
    id="review-exponential",
    locator="Definition 7",
    statement="Choosing r with a weight of exp(epsilon q/(2 sensitivity)) gives epsilon-differential privacy.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("exponential_median", "exponential_most_frequent"),
    decide=claimed_epsilon("a median and a most frequent category, all outputs listed"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_sums_of_weights() -> dict[str, float]:
    """The sums over three candidates, at epsilon = 1, of exp(epsilon q/(2 S)) and of probabilities in proportion to it."""
    mechanism, data = most_frequent(1.0), find("exponential_most_frequent").pairs()[0].first
    weights = np.exp(mechanism.epsilon * np.asarray(mechanism.utility(data)) / (2 * mechanism.sensitivity))
    return {"sum": float(weights.sum()), "proportional": float(np.exp(mechanism.log_probabilities(data)).sum())}


EXPONENTIAL_PROBABILITY = Claim(
    id="review-exponential-probability",
    locator="Definition 7",
    statement="The exponential mechanism chooses r with the probability exp(epsilon q/(2 sensitivity)).",
    computes="the sum of the printed probabilities over three candidates",
    measure=measure_sums_of_weights,
    decide=fact_decider(
        "Over three candidates with counts 6, 0 and 0, exp(epsilon q/(2 S)) sums to {sum:.4g} at epsilon = 1.",
        lambda numbers, tolerances: abs(numbers["sum"] - 1) <= tolerances["same"],
        "The probabilities are in proportion to it, and then sum to {proportional:.4g}.",
    ),
    tolerances={"same": 1.0e-9},
)
