"""Section II-A of review: Definition 1, and the example of Alice in the table of medical results.

Definition 1 compares data sets of one size that differ in one record, so neighbours have one record exchanged.
The words beside it speak of a record deleted.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np

from epsilometer.mechanisms.laplace import MEDICAL_RESULTS, Laplace, count_first
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import (
    ROUNDING,
    decide_readings,
    holds_if,
    is_decreasing,
    listed_with_names,
    readings_decider,
)
from epsilometer.papers.measures import ATTACKS, VERDICTS, answers, attacks, computed, spent_shares, success
from epsilometer.papers.review.claims.constants import PRINTED_EPSILONS

TWO_COUNTS = "count(5) and count(4)"
"""What the table of attacks calls the release of both counts."""
ALICE_IN_ROW_5 = "that Alice is in row 5"
"""What the attacker knows, in the words of that table."""
EPSILONS = (2.0, 1.0, 0.1, 0.01, 0.0)
"""The values of epsilon at which the outputs on neighbours are compared."""


NEIGHBOURS = Claim(
    id="review-neighbours",
    locator="Definition 1 and the paragraph after it; section II-B",
    statement="Data sets at distance 1, of one size, are those from which a record is deleted.",
    needs=(VERDICTS,),
    measure=spent_shares(deleted=("parallel_composition",), exchanged=("parallel_composition_as_printed",)),
    decide=readings_decider(
        "Noisy counts of disjoint parts spend {deleted:.3g} times epsilon where a record is deleted, {exchanged:.3g} times "
        "where it is exchanged.",
        lambda numbers, tolerances: abs(numbers["deleted"] - numbers["exchanged"]) <= tolerances["slack"],
        "The definition exchanges a record, the words beside it delete one; we assumed the definition.",
    ),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)


def measure_subtraction(evidence: Evidence) -> Measured:
    """How often count(5) - count(4) is Alice's diagnosis.

    If count(i) includes row i, this stands in the table of attacks. If it leaves row i out, all 32 tables tell.
    """
    tables = np.array(list(product((0, 1), repeat=len(MEDICAL_RESULTS))))
    before = [count_first(table, 4) - count_first(table, 3) == table[4] for table in tables]
    rows = [row for row in attacks(evidence, "review") if row["released"] == TWO_COUNTS]
    return Measured({"up_to": success(rows, ALICE_IN_ROW_5), "before": float(np.mean(before))})


def decide_subtraction(numbers: Numbers, tolerances: Numbers) -> Decision:
    up_to, before = numbers["up_to"], numbers["before"]
    sentence = (
        f"Over all 32 tables of five people, count(5) - count(4) is Alice's diagnosis in {up_to:.0%} if count(i) is up to "
        f"row i, and in {before:.0%} if it is before row i."
    )
    missing = "The words count the rows before row i, which leaves Alice out of count(5); we assumed up to and with row i."
    instead = "The difference of the counts is not her diagnosis."
    sure = tolerances["sure"]
    return decide_readings(min(up_to, before) >= sure, up_to >= sure, sentence, missing, instead)


SUBTRACTION = Claim(
    id="review-alice-subtraction",
    locator="section II-A, Table I",
    statement=(
        "With count(i) the number of ill people before row i, count(5) - count(4) is the diagnosis of Alice in row 5."
    ),
    needs=(ATTACKS,),
    computes="the difference of the counts before rows 5 and 4, on all 32 tables of five people",
    measure=measure_subtraction,
    decide=decide_subtraction,
    tolerances={"sure": 1},
    link=f"{ATTACKS}.csv",
)


@computed
def measure_likelihood_ratios() -> dict[str, float]:
    """The largest ratio among the densities of the noisy count(4) and count(5) at 2, 2.5 and 3, by epsilon."""
    outputs, numbers = np.array([2.0, 2.5, 3.0]), {}
    for epsilon in PRINTED_EPSILONS:
        queries = (partial(count_first, rows=rows) for rows in (4, 5))
        logs = np.array([Laplace(query, 1, epsilon).log_density(MEDICAL_RESULTS, outputs) for query in queries])
        numbers[f"{epsilon:.4g}"] = math.exp(float(np.ptp(logs)))
    return numbers


def decide_same_probability(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"The likelihoods of 2, 2.5 and 3 differ by a factor of up to (at epsilon) {listed_with_names(numbers)}."
    same = [ratio <= 1 + tolerances["almost"] for ratio in numbers.values()]
    missing = "The epsilon and the noise are not given; we assumed Laplace noise and the epsilons that are named as usual."
    return decide_readings(all(same), any(same), sentence, missing, "They differ by a factor of up to e^epsilon.")


SAME_PROBABILITY = Claim(
    id="review-alice-same-probability",
    locator="section II-A, after Table I",
    statement="With noise, 2, 2.5 and 3 are almost equally probable results of the counts up to Alice's row.",
    computes="the densities of the noisy counts at three outputs, for four values of epsilon",
    measure=measure_likelihood_ratios,
    decide=decide_same_probability,
    tolerances={"almost": 0.1},
)


def measure_difference_attack(evidence: Evidence) -> Measured:
    """The success of an attack on Alice by the difference of two noisy counts, by the epsilon of each count.

    Beside it stands the largest success as a share of the bound that the epsilon of both counts sets.
    """
    rows = [
        row
        for row in attacks(evidence, "review")
        if row["released"] == TWO_COUNTS
        and row["attacker_knows"] == ALICE_IN_ROW_5
        and row["epsilon_for"] == "each of the two counts"
    ]
    numbers = {f"success at {row['epsilon']:g}": row["success"] for row in rows}
    return Measured(numbers | {"largest over the bound": max(row["success"] / row["bound"] for row in rows)})


def decide_difference_attack(numbers: Numbers, tolerances: Numbers) -> Decision:
    successes = {float(name.removeprefix("success at ")): value for name, value in numbers.items() if "success" in name}
    shown = ", ".join(f"{value:.3f} ({epsilon:g})" for epsilon, value in successes.items())
    sentence = f"The difference of the noisy counts still names Alice's diagnosis with probability (at epsilon) {shown}."
    usual = [value for epsilon, value in successes.items() if epsilon <= PRINTED_EPSILONS[-1]]
    prevented = max(successes.values()) < tolerances["sure"]
    prevented_as_usual = bool(usual) and max(usual) < tolerances["sure"]
    missing = "How large epsilon may be is not said; we assumed at most ln 3, the largest that is named as usual."
    instead = "Noise lowers the probability of a right guess, not to one half."
    return decide_readings(prevented, prevented_as_usual, sentence, missing, instead)


DIFFERENCE_ATTACK = Claim(
    id="review-alice-noise",
    locator="section II-A, after Table I",
    statement="With noise, the attacker cannot get at Alice's diagnosis by the difference of two counts.",
    needs=(ATTACKS,),
    measure=measure_difference_attack,
    decide=decide_difference_attack,
    tolerances={"sure": 0.75},
    link=f"{ATTACKS}.csv",
)


@computed
def measure_distances_on_neighbours() -> dict[str, float]:
    """The total variation distance between the outputs of randomised response on neighbours, by epsilon."""
    numbers = {}
    for epsilon in EPSILONS:
        zero, one = answers(RandomizedResponse.from_epsilon(epsilon).gamma) if epsilon > 0 else (np.full(2, 0.5),) * 2
        numbers[f"{epsilon:g}"] = float(np.abs(zero - one).sum() / 2)
    return numbers


def decide_smaller_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    values = list(numbers.values())
    sentence = f"The outputs of randomised response on neighbours are apart by (at epsilon) {listed_with_names(numbers)}."
    come_together = is_decreasing(values) and values[-1] <= tolerances["same"]
    return holds_if(come_together, sentence, "They do not come together with epsilon.")


SMALLER_EPSILON = Claim(
    id="review-smaller-epsilon",
    locator="section II-A, last paragraph",
    statement=(
        "The smaller epsilon is, the better the protection; at epsilon = 0 outputs are the same whatever the data, and tell "
        "nothing."
    ),
    computes="the distance between the outputs of randomised response on neighbours, for five values of epsilon",
    measure=measure_distances_on_neighbours,
    decide=decide_smaller_epsilon,
    tolerances={"same": 1.0e-12},
)
