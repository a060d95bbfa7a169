"""The slides of postech on the definition of (epsilon, delta)-differential privacy."""

from __future__ import annotations

import numpy as np

from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Decision, Numbers
from epsilometer.papers.deciders import (
    ROUNDING,
    all_within_bound,
    fact_decider,
    holds_if,
    is_decreasing,
    listed_with_names,
    readings_decider,
)
from epsilometer.papers.measures import VERDICTS, answers, computed, spent_shares
from epsilometer.papers.postech.claims.constants import TWO_COINS

DEFINITION = "definition of (epsilon, delta)-differential privacy"


@computed
def measure_single_outputs() -> dict[str, float]:
    """The delta that epsilon = 0 needs over single outputs, and over sets: a bit is released, with one of 1,000 tags."""
    tags = 1000
    first = np.concatenate([np.full(tags, 1 / tags), np.zeros(tags)])
    excess = np.maximum(first - first[::-1], 0.0)
    return {"of_an_output": float(excess.max()), "of_a_set": float(excess.sum())}


SINGLE_OUTPUTS = Claim(
    id="postech-definition-of-sets",
    locator=DEFINITION,
    statement="The inequality of the definition is asked for every S that is an element of the range.",
    computes="the delta of a bit released beside a random tag, over outputs and over sets",
    measure=measure_single_outputs,
    decide=fact_decider(
        "A bit released as it is, beside one of 1,000 random tags, needs a delta of {of_an_output:g} if S is one output, "
        "and of {of_a_set:g} if it is a set.",
        lambda numbers, tolerances: numbers["of_a_set"] <= numbers["of_an_output"] * (1 + tolerances["slack"]),
        "S must be any subset of the range, not an element.",
    ),
    tolerances=ROUNDING,
)


NEIGHBOURS = Claim(
    id="postech-neighbours",
    locator="definition of (epsilon, delta)-differential privacy; Laplace mechanism; privacy model",
    statement="Privacy is defined for neighbouring data sets, whatever kind of neighbours is meant.",
    needs=(VERDICTS,),
    measure=spent_shares(removed=("parallel_composition",), exchanged=("histogram_wrong_adjacency",)),
    decide=readings_decider(
        "Counts with noise for a sensitivity of 1 spend {removed:.3g} times the promise where a record is added or removed, "
        "and {exchanged:.3g} times where one is exchanged.",
        all_within_bound,
        "Which data sets are neighbours is shown by examples of both kinds; we assumed a record more or less for the "
        "Laplace mechanism, by its sensitivity, and an exchanged one elsewhere.",
        assumed=lambda numbers, tolerances: numbers["removed"] <= 1 + tolerances["slack"],
        instead="Neither reading keeps the promise.",
    ),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_small_epsilon() -> dict[str, float]:
    """How often the best guess which of two equally likely data sets it was is right, beyond 1/2, by epsilon."""
    numbers = {}
    for epsilon in (0.1, 0.01, 0.001):
        zero, one = answers(RandomizedResponse.from_epsilon(epsilon).gamma)
        numbers[f"{epsilon:g}"] = float(np.maximum(zero, one).sum() / 2 - 0.5)
    return numbers


def decide_small_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The advantage must fall with epsilon, to almost nothing."""
    sentence = f"The best guess is right more often than one in two by (at epsilon) {listed_with_names(numbers)}."
    values = list(numbers.values())
    vanishes = is_decreasing(values) and values[-1] <= tolerances["advantage"]
    return holds_if(vanishes, sentence, "Something remains to be told from the output.")


SMALL_EPSILON = Claim(
    id="postech-small-epsilon",
    locator=f"{DEFINITION}, special case",
    statement="As epsilon goes to 0, an attacker cannot tell from the output which of two neighbouring data sets it came "
    "from.",
    computes="the success of the best guess from one randomised answer, at three epsilons",
    measure=measure_small_epsilon,
    decide=decide_small_epsilon,
    tolerances={"advantage": 0.001},
)


@computed
def measure_contains_one() -> dict[str, float]:
    """P(the answer is yes) on {0, 1} and on {0}, and what a randomised answer with gamma = 1/4 spends."""
    first, second = (float(1 in data) for data in ([0, 1], [0]))
    zero, one = answers(TWO_COINS)
    return {"first": first, "second": second, "randomised": float(np.max(np.abs(np.log(one / zero))))}


CONTAINS_ONE = Claim(
    id="postech-contains-one",
    locator=f"{DEFINITION}, example",
    statement="The answer whether the data contain a 1, on data that do and data that do not, is an example of outputs that "
    "cannot be told apart.",
    computes="the probabilities of the answer on both data sets",
    measure=measure_contains_one,
    decide=fact_decider(
        "P(M in S) is {first:g} on the one data set and {second:g} on the other: no epsilon suffices for delta < 1.",
        lambda numbers, tolerances: abs(numbers["first"] - numbers["second"]) <= tolerances["slack"],
        "The answer must be randomised; with two coins it spends {randomised:.4g}.",
    ),
    tolerances=ROUNDING,
)
