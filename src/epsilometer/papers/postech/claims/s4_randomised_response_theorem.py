"""The theorem of postech that randomised response is differentially private, and its proof."""

from __future__ import annotations

import math

from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import PRIVATE, ROUNDING, claimed_epsilon, holds_if, listed_with_names, two_readings
from epsilometer.papers.measures import VERDICTS, answers, computed, spent_share
from epsilometer.papers.postech.claims.constants import TWO_COINS

THEOREM = 'theorem "randomized response is DP"'


def measure_ln_3(evidence: Evidence) -> Measured:
    """What gamma = 1/4 spends, as a share of log 3; and the shares in the table, where gamma follows from epsilon."""
    spent = max(largest_log_ratio(RandomizedResponse(TWO_COINS), pair) for pair in find("randomized_response").pairs())
    table = spent_share(evidence, "randomized_response")
    return Measured({"spent": spent, "share": max(spent / math.log(3), table)})


LN_3 = Claim(
    id="postech-randomized-response-ln-3",
    locator=f"{THEOREM} and its proof",
    statement="Randomised response with gamma = 1/4 is (ln 3, 0)-differentially private.",
    needs=(VERDICTS,),
    computes="the largest log-ratio over all outputs at gamma = 1/4",
    measure=measure_ln_3,
    decide=claimed_epsilon("all outputs listed; at gamma = 1/4 against ln 3, and by epsilon in the table"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_any_gamma() -> dict[str, float]:
    """The largest log-ratio of an answer, by gamma."""
    pair = find("randomized_response").pairs()[0]
    return {f"{gamma:g}": largest_log_ratio(RandomizedResponse(gamma), pair) for gamma in (0.1, TWO_COINS, 0.4)}


def decide_any_gamma(numbers: Numbers, tolerances: Numbers) -> Decision:
    """ln 3 must suffice at every gamma tried; if only at 1/4, the theorem lacks its gamma."""
    sentence = f"It spends (at gamma) {listed_with_names(numbers, digits=4)}; ln 3 = 1.0986."
    assumed, largest = (spent / math.log(3) for spent in (numbers[f"{TWO_COINS:g}"], max(numbers.values())))
    missing = "The theorem does not say for which gamma; we assumed 1/4, as its proof does."
    instead = "epsilon is log((1/2 + gamma)/(1/2 - gamma))."
    return two_readings(assumed, largest, sentence, tolerances, missing, instead)


ANY_GAMMA = Claim(
    id="postech-randomized-response-any-gamma",
    locator=THEOREM,
    statement="Randomised response is (ln 3, 0)-differentially private, no gamma being named.",
    computes="the largest log-ratio over all outputs at three gammas",
    measure=measure_any_gamma,
    decide=decide_any_gamma,
    tolerances=ROUNDING,
)


@computed
def measure_answer_ratios() -> dict[str, float]:
    """The ratio of the probabilities of each answer, for either truth in the differing place."""
    zero, one = answers(TWO_COINS)
    ratios = {"truth_1": one / zero, "truth_0": zero / one}
    return {f"{name}_answer_{answer}": float(ratio[answer]) for name, ratio in ratios.items() for answer in (0, 1)}


def decide_largest_at_one(numbers: Numbers, _: Numbers) -> Decision:
    """For either truth, the ratio at the answer 1 must be the larger one."""
    ratios = {truth: [numbers[f"truth_{truth}_answer_{answer}"] for answer in (0, 1)] for truth in (0, 1)}
    sentence = (
        f"The ratio at the answers 0 and 1 is {ratios[1][0]:.3g} and {ratios[1][1]:.3g} where the truth is 1, and "
        f"{ratios[0][0]:.3g} and {ratios[0][1]:.3g} where it is 0."
    )
    return holds_if(
        all(at_1 >= at_0 for at_0, at_1 in ratios.values()), sentence, "It is largest where the answer is the truth."
    )


LARGEST_AT_ONE = Claim(
    id="postech-largest-at-one",
    locator=f"{THEOREM}, last line of the proof",
    statement="The ratio of the probabilities is largest where the answer in the differing place is 1.",
    computes="the ratio of the probabilities of each answer",
    measure=measure_answer_ratios,
    decide=decide_largest_at_one,
)
