"""Section 2 of nips08, the definition of privacy: in words, as Definition 1, and what it means for an adversary."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.core import Array, HasDensity, HasSupport
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import ROUNDING, all_within_bound, decide_readings, readings_decider
from epsilometer.papers.measures import computed
from epsilometer.papers.nips08.claims.shared import PAPERS_LAM, worst_for_algorithm_1

# The probabilities of an answer


def response_probabilities(promised: float) -> tuple[Array, Array]:
    """The probabilities of every output of randomised response on two neighbouring bits, where it spends exactly epsilon."""
    entry = find("randomized_response")
    mechanism, pair = entry.build(promised), entry.pairs()[0]
    assert math.isclose(largest_log_ratio(mechanism, pair), promised)
    assert isinstance(mechanism, HasSupport)
    assert isinstance(mechanism, HasDensity)
    outputs = mechanism.support(pair.first)
    first, second = (np.exp(mechanism.log_density(data, outputs)) for data in (pair.first, pair.second))
    return first, second


@computed
def measure_changes() -> Numbers:
    """By how much one bit changes the probabilities of randomised response, as a share of epsilon."""
    differences, relative = [], []
    for promised in (0.1, 1.0, 2.0):
        first, second = response_probabilities(promised)
        differences.append(np.max(np.abs(first - second)) / promised)
        relative.append(np.max(first / second - 1) / promised)
    return {"difference": float(max(differences)), "relative": float(max(relative))}


DEFINITION_IN_WORDS = Claim(
    id="nips08-definition-in-words",
    locator="section 2, before Definition 1",
    statement="Privacy with epsilon means that one person's value changes the likelihood of an answer by no more than "
    "epsilon.",
    computes="the probabilities of randomised response's answers at three values of epsilon",
    measure=measure_changes,
    decide=readings_decider(
        "Randomised response, which spends exactly epsilon, changes a probability by at most {difference:.3g} epsilon, but "
        "by up to {relative:.3g} epsilon of itself.",
        all_within_bound,
        "Whether the change is a difference or a ratio is not said; we assumed the ratio e^epsilon of Definition 1.",
        assumed=lambda numbers, tolerances: numbers["difference"] <= 1 + tolerances["slack"],
        instead="A likelihood changes by a factor of at most e^epsilon.",
    ),
    tolerances=ROUNDING,
)

# Definition 1


def measure_neighbours(evidence: Evidence) -> Measured:
    """What Algorithm 1 spends where a record is exchanged, and where one at the origin is removed, near and far out.

    The noise has rate n lam epsilon/2; with n - 1 records it is smaller, so the ratio grows with the distance.
    """
    mechanism = OutputPerturbation(1.0, PAPERS_LAM)
    origin = (0.0, 0.0), 1.0
    balanced = [((1.0, 0.0), 1.0), ((1.0, 0.0), -1.0), origin]
    more, less = (labelled_records(balanced, [50.0, 50.0, count]) for count in (2.0, 1.0))
    sensitivity = 2 / (more.n * PAPERS_LAM)
    outputs = np.array([[0.0, distance * sensitivity] for distance in (10.0, 1000.0)])
    near, far = np.abs(mechanism.log_density(more, outputs) - mechanism.log_density(less, outputs))
    exchanged = worst_for_algorithm_1(evidence).log_ratio
    return Measured({"exchanged": exchanged, "removed_near": float(near), "removed_far": float(far)})


NEIGHBOURS = Claim(
    id="nips08-definition-1",
    locator="section 2, Definition 1",
    statement="For databases that differ in at most one element, no answer is more than e^epsilon times as likely under one "
    "as under the other; this defines what the algorithms promise.",
    computes="the worst pair of neighbouring data sets for Algorithm 1, by search, and its densities where a record is "
    "removed",
    measure=measure_neighbours,
    decide=readings_decider(
        "Algorithm 1 spends at most {exchanged:.3g} epsilon where a record is exchanged; where one of 102 is removed, "
        "{removed_near:.3g} epsilon at an output 10 sensitivities out, and {removed_far:.3g} at 1,000.",
        all_within_bound,
        "Whether an element is exchanged or removed is not said, and single outputs of a continuous mechanism have "
        "probability 0; we assumed exchanged, as in the proofs, and densities.",
        assumed=lambda numbers, tolerances: numbers["exchanged"] <= 1 + tolerances["slack"],
        instead="Neither reading of the definition is met.",
    ),
    tolerances={"slack": 1e-06},
)


@computed
def measure_posteriors() -> Numbers:
    """How sure of the last bit of randomised response one can become who knew all others, and nothing about this one."""
    posteriors = {}
    for promised in (0.1, 1.0, 5.0):
        first, second = response_probabilities(promised)
        posteriors[f"posterior_at_{promised:g}"] = float(np.max(first / (first + second)))
    return posteriors


def decide_adversary(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if no posterior probability reaches what counts as being sure."""
    sure = tolerances["sure"]
    shown = ", ".join(f"{value:.3f} ({name.removeprefix('posterior_at_')})" for name, value in numbers.items())
    sentence = f"From 1/2, the largest posterior probability of a bit rises to (at epsilon) {shown}."
    missing = (
        f"What confidence suffices is not said: the posterior is at most e^epsilon/(1 + e^epsilon), which is {sure:g} from "
        f"epsilon = {math.log(sure / (1 - sure)):.2f} on; we assumed nothing more."
    )
    return decide_readings(max(numbers.values()) < sure, True, sentence, missing)


ADVERSARY = Claim(
    id="nips08-adversary",
    locator="section 2, after Definition 1",
    statement="One who knows every value but one cannot find out the last one with sufficient confidence from what a "
    "private mechanism answers.",
    computes="the posterior probability of a bit behind randomised response at three values of epsilon",
    measure=measure_posteriors,
    decide=decide_adversary,
    tolerances={"sure": 0.95},
)
