"""The checks of postech, Park's slides: randomised response, noise on answers, and private empirical risk minimisation.

The slides print the objective perturbation of 2011, whose noise has density ~ exp(-beta |b|) with
2 beta = epsilon - log(1 + 2c/(n lam) + c^2/(n lam)^2): that is Algorithm 2 here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtrc, stdtr

from epsilometer.audits.confidence import clopper_pearson_upper
from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.claims.nips08.experiments import curve
from epsilometer.claims.nips08.learning import DELTAS, RECORDS, Setting, covered, decide_coverage, regularised_risk
from epsilometer.claims.shared import (
    answers,
    attacks,
    audited,
    catalogue_shares,
    decide_privacy,
    either,
    exact_witness,
    exactly_spent,
    largest_share,
    privately,
    success,
    two_readings,
    worst,
)
from epsilometer.core import Array, EpsilometerError, NeighbouringPair
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, QUADRATIC, Huber, minimiser, spherical_noise
from epsilometer.experiments.protocol import ALGORITHM_1, CMS11
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.gaussian import classic_sigma, gaussian_log_delta
from epsilometer.mechanisms.k_anonymity import GENDERS, PATIENTS, KAnonymousTable
from epsilometer.mechanisms.laplace import Laplace, count_five, medical_pair
from epsilometer.mechanisms.neighbours import labelled_records, opposite_labels
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.pairs.search import WorstPair, worst_pair

COINS = 0.25
"""The gamma of two fair coins."""
REBECCAS_AGE = 55


# The anonymised table


def measure_rebecca(evidence: Evidence) -> Measured:
    """How many diagnoses the released table leaves for someone of 55, and for a woman of 55; and how a best guess does."""
    table, rows = KAnonymousTable(), attacks(evidence, "postech")
    released = table.release(PATIENTS)
    left = {gender: table.possible_diagnoses(released, REBECCAS_AGE, gender) for gender in GENDERS}
    numbers = {
        "left_by_age": float(len(set.union(*left.values()))),
        "left_by_age_and_gender": float(len(left["female"])),
        "success_by_age": success(rows, "that Rebecca is 55 and in the table"),
        "success_by_age_and_gender": success(rows, "that Rebecca is 55, a woman and in the table"),
    }
    return Measured(numbers)


def decide_rebecca(numbers: Numbers, tolerances: Numbers) -> Decision:
    by_age, by_both = numbers["left_by_age"], numbers["left_by_age_and_gender"]
    sentence = (
        f"Age and presence leave {by_age:g} diseases (best guess right in {numbers['success_by_age']:.0%}), with the gender "
        f"{by_both:g} ({numbers['success_by_age_and_gender']:.0%})."
    )
    if by_age == tolerances["diseases"]:
        return Decision("holds", sentence)
    if by_both == tolerances["diseases"]:
        missing = "That she is a woman is used but not among what is said to be known; we assumed that the name tells it."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead=f"{by_both:g} diseases are left.")


def measure_tables_leak(evidence: Evidence) -> Measured:
    rows = attacks(evidence, "postech")
    kinds = {
        "named": "her name",
        "unnamed": "age, gender, zip code and smoking",
        "blind": "that she is in the table",
    }
    return Measured({name: success(rows, knows) for name, knows in kinds.items()})


def decide_tables_leak(numbers: Numbers, tolerances: Numbers) -> Decision:
    named, unnamed, blind = (numbers[name] for name in ("named", "unnamed", "blind"))
    sentence = (
        f"A diagnosis is guessed right in {named:.0%} with names, and in {unnamed:.0%} without, from what the table shows "
        f"of a patient; in {blind:.0%} from presence alone."
    )
    leaks = min(named, unnamed) > blind + tolerances["margin"]
    return either(leaks, sentence, "One of the tables gives hardly more away than presence.")


# Randomised response


def measure_coins(evidence: Evidence) -> Measured:  # noqa: ARG001
    """P(response = truth) of the two coins, for either truth, by listing their four equally likely outcomes."""

    def response(truth: bool, first_heads: bool, second_heads: bool) -> bool:
        return second_heads if first_heads else truth

    outcomes = list(product((True, False), repeat=2))
    return Measured(
        {
            f"kept_if_{name}": float(np.mean([response(truth, *coins) == truth for coins in outcomes]))
            for name, truth in (("yes", True), ("no", False))
        }
    )


def decide_coins(numbers: Numbers, tolerances: Numbers) -> Decision:
    yes, no = numbers["kept_if_yes"], numbers["kept_if_no"]
    sentence = (
        f"Of the four outcomes of two coins, a share of {yes:g} answers a true yes with yes, and of {no:g} a no with no."
    )
    same = max(abs(value - 0.5 - COINS) for value in (yes, no)) <= tolerances["same"]
    return either(same, sentence, f"gamma is {yes - 0.5:g} for yes and {no - 0.5:g} for no.")


GAMMAS = (0.0, COINS, 0.5)


def measure_gammas(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Epsilon of one answer, and the bits that it tells of a truth that is yes or no equally often, by gamma."""
    numbers = {}
    for gamma in GAMMAS:
        kept, lied = 0.5 + gamma, 0.5 - gamma
        entropy = -sum(share * math.log2(share) for share in (kept, lied) if share > 0)
        numbers[f"epsilon_at_{gamma:g}"] = math.log(kept / lied) if lied > 0 else math.inf
        numbers[f"bits_at_{gamma:g}"] = 1 - entropy
    return Measured(numbers)


def decide_gammas(numbers: Numbers, tolerances: Numbers) -> Decision:
    epsilons, bits = ([numbers[f"{name}_at_{gamma:g}"] for gamma in GAMMAS] for name in ("epsilon", "bits"))
    shown = "; ".join(
        f"{gamma:g}: epsilon {epsilon:.4g}, {bit:.3g} bits"
        for gamma, epsilon, bit in zip(GAMMAS, epsilons, bits, strict=True)
    )
    extremes = max(epsilons[0], bits[0], 1 - bits[2]) <= tolerances["same"] and math.isinf(epsilons[2])
    between = math.isfinite(epsilons[1]) and bits[1] > tolerances["informative"]
    return either(extremes and between, f"At gamma = {shown}.", "Not all three strategies are as said.")


def measure_learns_nothing(evidence: Evidence) -> Measured:  # noqa: ARG001
    """At gamma = 1/4: how sure of a bit its answer can make, from 1/2; and the estimate's standard deviation, of 1,000."""
    zero, one = answers(COINS)
    estimates = RandomizedResponse(COINS).estimate_share(np.array([[0], [1]]))
    variance = float(np.sum(one * estimates**2) - np.sum(one * estimates) ** 2)
    return Measured({"posterior": float(np.max(one / (zero + one))), "deviation": math.sqrt(variance / 1000)})


def decide_learns_nothing(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"From 1/2, the probability of a yes rises to {numbers['posterior']:.4g} by the answer; the share among 1,000 "
        f"persons is estimated with a standard deviation of {numbers['deviation']:.3g}."
    )
    instead = f"Little is learnt: no posterior from 1/2 exceeds e^epsilon/(1 + e^epsilon) = {numbers['posterior']:.4g}."
    return either(numbers["posterior"] <= 0.5 + tolerances["slack"], sentence, instead)


def measure_expectation(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The largest |E[Y] - (2 gamma X + 1/2 - gamma)|."""
    errors = []
    for gamma in (0.05, COINS, 0.45):
        errors += [abs(law[1] - (2 * gamma * truth + 0.5 - gamma)) for truth, law in enumerate(answers(gamma))]
    return Measured({"error": float(max(errors))})


def measure_bias(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The largest |E[p^] - mean of X| over all data sets of four bits, by summing over all answers."""
    errors = []
    for gamma in (0.05, COINS, 0.45):
        mechanism = RandomizedResponse(gamma)
        for bits in product((0, 1), repeat=4):
            data = np.array(bits)
            outputs = mechanism.support(data)
            expected = np.exp(mechanism.log_density(data, outputs)) @ mechanism.estimate_share(outputs)
            errors.append(abs(expected - data.mean()))
    return Measured({"error": float(max(errors))})


def decide_identity(numbers: Numbers, tolerances: Numbers) -> Decision:
    error = numbers["error"]
    sentence = f"Summed over all answers, the two sides differ by at most {error:.2g} (gamma = 0.05, 0.25 and 0.45)."
    return either(error <= tolerances["same"], sentence, f"They differ by {error:.2g}.")


def measure_ln_3(evidence: Evidence) -> Measured:
    """What gamma = 1/4 spends, as a share of log 3; and the shares in the table, where gamma follows from epsilon."""
    spent = max(largest_log_ratio(RandomizedResponse(COINS), pair) for pair in find("randomized_response").pairs())
    table = largest_share(catalogue_shares(evidence, "randomized_response"))
    return Measured({"spent": spent, "share": max(spent / math.log(3), table)})


def measure_any_gamma(evidence: Evidence) -> Measured:  # noqa: ARG001
    pair = find("randomized_response").pairs()[0]
    return Measured({f"{gamma:g}": largest_log_ratio(RandomizedResponse(gamma), pair) for gamma in (0.1, COINS, 0.4)})


def decide_any_gamma(numbers: Numbers, tolerances: Numbers) -> Decision:
    allowed = math.log(3) * (1 + tolerances["slack"])
    sentence = (
        f"It spends (at gamma) {', '.join(f'{spent:.4g} ({gamma})' for gamma, spent in numbers.items())}; ln 3 = 1.0986."
    )
    if max(numbers.values()) <= allowed:
        return Decision("holds", sentence)
    if numbers[f"{COINS:g}"] <= allowed:
        missing = "The theorem does not say for which gamma; we assumed 1/4, as its proof does."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="epsilon is log((1/2 + gamma)/(1/2 - gamma)).")


def measure_largest_at_one(evidence: Evidence) -> Measured:  # noqa: ARG001
    zero, one = answers(COINS)
    ratios = {"truth_1": one / zero, "truth_0": zero / one}
    return Measured({f"{name}_answer_{answer}": float(ratio[answer]) for name, ratio in ratios.items() for answer in (0, 1)})


def decide_largest_at_one(numbers: Numbers, tolerances: Numbers) -> Decision:  # noqa: ARG001
    ratios = {truth: [numbers[f"truth_{truth}_answer_{answer}"] for answer in (0, 1)] for truth in (0, 1)}
    sentence = (
        f"The ratio at the answers 0 and 1 is {ratios[1][0]:.3g} and {ratios[1][1]:.3g} where the truth is 1, and "
        f"{ratios[0][0]:.3g} and {ratios[0][1]:.3g} where it is 0."
    )
    return either(
        all(at_1 >= at_0 for at_0, at_1 in ratios.values()), sentence, "It is largest where the answer is the truth."
    )


# The definition


def measure_single_outputs(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The delta that epsilon = 0 needs over single outputs, and over sets: a bit is released, with one of 1,000 tags."""
    tags = 1000
    first = np.concatenate([np.full(tags, 1 / tags), np.zeros(tags)])
    excess = np.maximum(first - first[::-1], 0.0)
    return Measured({"of_an_output": float(excess.max()), "of_a_set": float(excess.sum())})


def decide_single_outputs(numbers: Numbers, tolerances: Numbers) -> Decision:
    single, sets = numbers["of_an_output"], numbers["of_a_set"]
    sentence = (
        f"A bit released as it is, beside one of 1,000 random tags, needs a delta of {single:g} if S is one output, and of "
        f"{sets:g} if it is a set."
    )
    return either(sets <= single * (1 + tolerances["slack"]), sentence, "S must be any subset of the range, not an element.")


def measure_neighbours(evidence: Evidence) -> Measured:
    names = {"removed": "parallel_composition", "exchanged": "histogram_wrong_adjacency"}
    return Measured({kind: largest_share(catalogue_shares(evidence, name)) for kind, name in names.items()})


def decide_neighbours(numbers: Numbers, tolerances: Numbers) -> Decision:
    removed, exchanged = numbers["removed"], numbers["exchanged"]
    sentence = (
        f"Counts with noise for a sensitivity of 1 spend {removed:.3g} times the promise where a record is added or "
        f"removed, and {exchanged:.3g} times where one is exchanged."
    )
    if max(removed, exchanged) <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    if removed <= 1 + tolerances["slack"]:
        missing = (
            "Which data sets are neighbours is shown by examples of both kinds; we assumed a record more or less for the "
            "Laplace mechanism, by its sensitivity, and an exchanged one elsewhere."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="Neither reading keeps the promise.")


def measure_small_epsilon(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How often the best guess which of two equally likely data sets it was is right, beyond 1/2, by epsilon."""
    numbers = {}
    for epsilon in (0.1, 0.01, 0.001):
        zero, one = answers(RandomizedResponse.from_epsilon(epsilon).gamma)
        numbers[f"{epsilon:g}"] = float(np.maximum(zero, one).sum() / 2 - 0.5)
    return Measured(numbers)


def decide_small_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{value:.3g} ({epsilon})" for epsilon, value in numbers.items())
    sentence = f"The best guess is right more often than one in two by (at epsilon) {shown}."
    values = list(numbers.values())
    falls = all(later < earlier for earlier, later in pairwise(values))
    return either(falls and values[-1] <= tolerances["advantage"], sentence, "Something remains to be told from the output.")


def measure_contains_one(evidence: Evidence) -> Measured:  # noqa: ARG001
    """P(the answer is yes) on {0, 1} and on {0}, and what a randomised answer with gamma = 1/4 spends."""
    first, second = (float(1 in data) for data in ([0, 1], [0]))
    zero, one = answers(COINS)
    return Measured({"first": first, "second": second, "randomised": float(np.max(np.abs(np.log(one / zero))))})


def decide_contains_one(numbers: Numbers, tolerances: Numbers) -> Decision:
    first, second = numbers["first"], numbers["second"]
    sentence = f"P(M in S) is {first:g} on the one data set and {second:g} on the other: no epsilon suffices for delta < 1."
    instead = f"The answer must be randomised; with two coins it spends {numbers['randomised']:.4g}."
    return either(abs(first - second) <= tolerances["slack"], sentence, instead)


# Noise on answers


def measure_laplace_notation(evidence: Evidence) -> Measured:
    """What the noisy count spends at epsilon = 1 if the noise is centred at 0, and if it is centred at the answer."""
    pair = medical_pair(4, "Alice's diagnosis")
    readings = {"centred": count_five, "around_the_answer": lambda dataset: 2 * count_five(dataset)}
    return Measured({name: exactly_spent(evidence, Laplace(query, 1, 1.0), pair) for name, query in readings.items()})


def decide_laplace_notation(numbers: Numbers, tolerances: Numbers) -> Decision:
    centred, around = numbers["centred"], numbers["around_the_answer"]
    sentence = f"At epsilon = 1 a count spends {centred:.4g} with noise around 0, and {around:.4g} with noise around f(x)."
    missing = "The first argument of Lap is f(x) in one line and where the density is taken in the next; we assumed 0."
    return two_readings(centred, around, sentence, tolerances, missing, "The scale must be larger.")


def measure_laplace(evidence: Evidence) -> Measured:
    """The table's shares, and a histogram of three bins with one record more or less."""
    pair = NeighbouringPair(np.array([0, 0, 1]), np.array([0, 0, 1, 2]), "add-remove", "one record more")
    shares = [largest_share(catalogue_shares(evidence, name)) for name in ("laplace_count", "laplace_difference_attack")]
    for epsilon in (0.1, 1.0, 3.0):
        histogram = Laplace(partial(np.bincount, minlength=3), 1, epsilon, "add-remove")
        shares.append(exactly_spent(evidence, histogram, pair) / epsilon)
    return Measured({"share": max(shares), "least_share": min(shares)}, exact_witness(evidence, "laplace_count"))


LOG_DELTAS = tuple(
    math.log(delta) for delta in (1e-100, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
)


def gaussian_spent(epsilon: float, log_delta: float) -> float:
    """The epsilon at which the textbook's noise for (epsilon, delta) really meets delta."""
    sigma = classic_sigma(epsilon, math.exp(log_delta))

    def gap(spent: float) -> float:
        return gaussian_log_delta(spent, sigma) - log_delta

    if gap(0.0) <= 0:
        return 0.0
    highest = 2 * epsilon
    while gap(highest) > 0:
        highest *= 2
    return float(brentq(gap, 0.0, highest))


def measure_gaussian(evidence: Evidence) -> Measured:
    """The largest share of epsilon spent for epsilon < 1, over many deltas, the table's delta of 1e-5 among them."""
    grid = [(epsilon, log_delta) for epsilon in (0.01, 0.1, 0.3, 0.6, 0.9, 0.999) for log_delta in LOG_DELTAS]
    computed = max(gaussian_spent(epsilon, log_delta) / epsilon for epsilon, log_delta in grid)
    spent = catalogue_shares(evidence, "gaussian_classic")
    audits = {"share_in_table": largest_share(part)} if (part := {e: spent[e] for e in spent if e <= 1}) else {}
    return Measured({"share": max([computed, *audits.values()]), **audits})


def decide_gaussian(numbers: Numbers, tolerances: Numbers) -> Decision:
    of = "at the promised delta, from 1e-100 to 0.99, and epsilon < 1"
    if "share_in_table" in numbers:
        of += f"; {numbers['share_in_table']:.3g} as audited at delta = 1e-5, up to epsilon = 1"
    return decide_privacy(numbers, tolerances, of, "A larger sigma is needed.")


def measure_gaussian_range(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The first epsilon, by delta, from which the textbook's noise is too small."""
    return Measured({f"{math.exp(log_delta):g}": first_failing_epsilon(log_delta) for log_delta in LOG_DELTAS})


def first_failing_epsilon(log_delta: float) -> float:
    """Infinite if it is none up to 1,000."""

    def gap(epsilon: float) -> float:
        return gaussian_log_delta(epsilon, classic_sigma(epsilon, math.exp(log_delta))) - log_delta

    epsilons = np.geomspace(0.01, 1000, 500).tolist()
    for low, high in pairwise(epsilons):
        if gap(high) > 0:
            return float(brentq(gap, low, high)) if gap(low) <= 0 else low
    return math.inf


def decide_gaussian_range(numbers: Numbers, tolerances: Numbers) -> Decision:
    delta, stated = min(numbers, key=lambda delta: numbers[delta]), tolerances["stated"]
    least, usual = numbers[delta], numbers["1e-05"]
    sentence = (
        f"Over all deltas tried, the noise is too small from epsilon = {least:.3g} on at the earliest (delta = {delta}), "
        f"and from {usual:.3g} on at delta = 1e-5."
    )
    if least < stated:
        return Decision("fails as printed", sentence, instead=f"It holds for epsilon < {least:.3g}.")
    if least > stated * (1 + tolerances["loose"]):
        return Decision("holds, loosely", sentence, factor=least / stated)
    return Decision("holds", sentence)


# Empirical risk minimisation


def measure_unique_minimum(evidence: Evidence) -> Measured:  # noqa: ARG001
    """log(1 + e^-w), over w: its least curvature, which is positive, and its largest slope, which is negative."""
    margins = np.linspace(-30, 30, 6001)
    return Measured(
        {"least_curvature": float(LOGISTIC.curvature(margins).min()), "largest_slope": float(LOGISTIC.slope(margins).max())}
    )


def decide_unique_minimum(numbers: Numbers, tolerances: Numbers) -> Decision:  # noqa: ARG001
    curvature, slope = numbers["least_curvature"], numbers["largest_slope"]
    sentence = (
        f"log(1 + e^-w), the loss of one record, has a curvature of at least {curvature:.1g} and a slope of at most "
        f"{slope:.1g} on [-30, 30]."
    )
    counter_example = curvature > 0 > slope
    return either(not counter_example, sentence, "It has at most one minimum; a strongly convex function has exactly one.")


def measure_strong_is_strict(evidence: Evidence) -> Measured:
    """a J(u) + (1 - a) J(v) - J(a u + (1 - a) v) in units of lam a (1 - a)/2 |u - v|^2, the least over random u and v."""
    rng, lam = evidence.stream("strongly convex"), 0.01
    data = separable(100, rng)
    least = math.inf
    for scale in (0.1, 1.0, 100.0):
        one, other = scale * rng.standard_normal((2, 500, data.features.shape[1]))
        share = rng.uniform(0.05, 0.95, 500)
        mixed = share[:, None] * one + (1 - share)[:, None] * other
        risk = partial(regularised_risk, data, lam)
        gap = share * risk(one) + (1 - share) * risk(other) - risk(mixed)
        least = min(least, float(np.min(gap / (lam / 2 * share * (1 - share) * np.sum((one - other) ** 2, axis=1)))))
    return Measured({"least": least})


def decide_strong_is_strict(numbers: Numbers, tolerances: Numbers) -> Decision:
    least = numbers["least"]
    sentence = (
        f"A regularised risk, strongly convex with lambda, bends between two points by at least {least:.5g} times "
        "lambda/2 a(1 - a)|x - y|^2, which is above 0."
    )
    return either(least >= 1 - tolerances["slack"], sentence, "This strongly convex function is not strictly so everywhere.")


def measure_erm(evidence: Evidence) -> Measured:
    """How far apart the two minimisers are; the bound of the audit from outputs alone; and a pair that moves nothing."""
    pair = find("non_private_logistic").pairs()[0]
    idle = [labelled_records([((1.0,), 1.0), ((0.0,), label)]) for label in (1.0, -1.0)]
    rows = evidence.table("verdicts/catalogue", "mechanism", "black_box")
    bounds = [row["black_box"] for row in rows if row["mechanism"] == "non_private_logistic"]
    if not bounds:
        raise EpsilometerError("the table verdicts/catalogue has no row of non_private_logistic; audit it first")
    return Measured(
        {
            "distance": _minimisers_apart(pair.first, pair.second),
            "distance_at_the_origin": _minimisers_apart(*idle),
            "bound": max(bounds),
        }
    )


def _minimisers_apart(first: Any, second: Any) -> float:
    one, other = (minimiser(LOGISTIC, data, 0.1) for data in (first, second))
    return float(np.linalg.norm(one - other))


def decide_erm(numbers: Numbers, tolerances: Numbers) -> Decision:
    distance, bound = numbers["distance"], numbers["bound"]
    sentence = (
        f"Where one of eight labels changes, the minimisers are {distance:.3g} apart, and from outputs alone epsilon is at "
        f"least {bound:.3g} (95%). (A record at the origin moves it by {numbers['distance_at_the_origin']:.1g}.)"
    )
    told = distance > tolerances["distance"] and bound > tolerances["largest epsilon"]
    return either(told, sentence, "This minimiser hides the record.")


def measure_algorithm_1(evidence: Evidence) -> Measured:
    name = "output_perturbation"
    found = worst(evidence, name, 1.0, 200_000, 2)
    shares = [largest_share(catalogue_shares(evidence, mechanism)) for mechanism in (name, "output_perturbation_huber")]
    return Measured({"share": max(found.log_ratio, *shares), "share_of_logistic": found.log_ratio}, found.witness(name, 1.0))


@cache
def worst_of_algorithm_2(evidence: Evidence, n: int, lam: float, epsilon: float) -> WorstPair:
    mechanism = ObjectivePerturbationCMS11(epsilon, lam)
    return worst_pair(mechanism, n, 2, evidence.stream("worst pair of algorithm 2", n, lam, epsilon))


def measure_algorithm_2(evidence: Evidence) -> Measured:
    """The worst pairs of logistic regression where n lam is 20, and where the Hessian alone costs half of epsilon."""
    strong, weak = worst_of_algorithm_2(evidence, 200_000, 1e-4, 1.0), worst_of_algorithm_2(evidence, 1000, 0.01, 0.1)
    table = [largest_share(catalogue_shares(evidence, f"objective_perturbation_{name}")) for name in ("cms11", "huber")]
    numbers = {"share": max(strong.log_ratio, weak.log_ratio / 0.1, *table), "share_at_a_small_beta": weak.log_ratio / 0.1}
    return Measured(numbers, strong.witness("objective_perturbation_cms11", 1.0))


WIDTHS = (0.5, 0.05, 0.005)


def measure_stronger_assumptions(evidence: Evidence) -> Measured:
    """For Huber losses ever nearer to the hinge: the least epsilon of Algorithm 2 at n lam = 1, and Algorithm 1's share."""
    numbers, pair = {}, opposite_labels(8)
    for width in WIDTHS:
        numbers[f"least_epsilon_at_{width:g}"] = least_epsilon_of_algorithm_2(Huber(width))
        numbers[f"share_at_{width:g}"] = exactly_spent(evidence, OutputPerturbation(1.0, 0.5, Huber(width)), pair)
    return Measured(numbers)


def least_epsilon_of_algorithm_2(loss: Huber) -> float:
    """The least epsilon for which its beta is positive at n = lam = 1, by halving."""
    low, high = 1e-6, 100.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        try:
            ObjectivePerturbationCMS11(middle, 1.0, loss=loss).calibration(1.0)
            high = middle
        except EpsilometerError:
            low = middle
    return high


def decide_stronger_assumptions(numbers: Numbers, tolerances: Numbers) -> Decision:
    least, shares = ([numbers[f"{name}_at_{width:g}"] for width in WIDTHS] for name in ("least_epsilon", "share"))
    sentence = (
        f"With a bound c on the curvature of 1, 10 and 100, Algorithm 2 needs epsilon > {least[0]:.3g}, {least[1]:.3g} and "
        f"{least[2]:.3g} at n lambda = 1, so none suffices without c; Algorithm 1 spends at most {max(shares):.4g} epsilon."
    )
    grows = all(later > earlier * (1 + tolerances["grows"]) for earlier, later in pairwise(least))
    return either(
        grows and max(shares) <= 1 + tolerances["slack"], sentence, "Algorithm 1 needs the curvature bound as well."
    )


# The correctness lemmas


def lemma_1_bound(setting: Setting, epsilon: float, delta: float, eta: float = 1.0) -> float:
    """2 d^2 (c/lam + eta) log^2(d/delta) / (lam n^2 epsilon^2), for the logistic loss."""
    spread = setting.d * math.log(setting.d / delta) / (RECORDS * epsilon)
    return 2 * (LOGISTIC.curvature_bound / setting.lam + eta) * spread**2 / setting.lam


def lemma_2_bound(setting: Setting, epsilon: float, delta: float) -> float:
    """4 d^2 log^2(d/delta) / (lam n^2 epsilon^2)."""
    spread = setting.d * math.log(setting.d / delta) / (RECORDS * epsilon)
    return 4 * spread**2 / setting.lam


def left_for_noise(epsilon: float, n_lam: float) -> float:
    """2 beta of Algorithm 2, for the logistic loss."""
    return epsilon - 2 * math.log1p(LOGISTIC.curvature_bound / n_lam)


ALGORITHMS = {1: OutputPerturbation, 2: ObjectivePerturbationCMS11}


@cache
def regrets(evidence: Evidence, algorithm: int, setting: Setting) -> Array:
    """How much the regularised risk of each run's output exceeds the least one."""
    rng = evidence.stream("regret", algorithm, setting.label, setting.epsilon)
    data = setting.data(rng)
    outputs = ALGORITHMS[algorithm](setting.epsilon, setting.lam).sample(data, setting.runs, rng)
    least = regularised_risk(data, setting.lam, minimiser(LOGISTIC, data, setting.lam)[None])
    return regularised_risk(data, setting.lam, outputs) - least


def coverage(label: str, values: Array, limit: float, delta: float) -> dict[str, float]:
    """How often the limit is kept, at which level, and how many times the quantile it is."""
    return {
        f"within, {label}": float(np.sum(values <= limit)),
        f"runs, {label}": float(len(values)),
        f"level, {label}": 1 - delta,
        f"factor, {label}": limit / float(np.quantile(values, 1 - delta)),
    }


LEMMA_1_SETTINGS = (
    Setting(1, 0.01, 10.0, 20_000),
    Setting(1, 1.0, 10.0, 20_000, flat=True),
    Setting(10, 0.01, 1.0, 2_000),
    Setting(10, 1.0, 1.0, 2_000),
)
LEMMA_2_SETTINGS = (
    Setting(1, 0.001, 0.5, 20_000, flat=True),
    Setting(1, 0.001, 10.0, 20_000, flat=True),
    Setting(1, 0.01, 1.0, 20_000),
    Setting(10, 0.01, 1.0, 2_000),
)
"""In the first, the Hessian costs 0.45 of epsilon = 0.5."""


def measure_lemma_1(evidence: Evidence) -> Measured:
    numbers: dict[str, float] = {}
    for setting in LEMMA_1_SETTINGS:
        for delta in DELTAS:
            limit = lemma_1_bound(setting, setting.epsilon, delta)
            numbers |= coverage(f"{setting.label} delta={delta:g}", regrets(evidence, 1, setting), limit, delta)
    return Measured(numbers)


def measure_lemma_2(two_beta: bool) -> Callable[[Evidence], Measured]:
    """With epsilon in the bound, as printed, or with 2 beta, of which Algorithm 2's noise is made."""

    def measure(evidence: Evidence) -> Measured:
        numbers: dict[str, float] = {}
        for setting in LEMMA_2_SETTINGS:
            epsilon = left_for_noise(setting.epsilon, RECORDS * setting.lam) if two_beta else setting.epsilon
            for delta in DELTAS:
                label = f"{setting.label} epsilon={setting.epsilon:g} delta={delta:g}"
                limit = lemma_2_bound(setting, epsilon, delta)
                numbers |= coverage(label, regrets(evidence, 2, setting), limit, delta)
        return Measured(numbers)

    return measure


def decide_lemma_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    kept, words, least, most = covered(numbers, tolerances)
    sentence = f"At worst, {words}; the bound is {least:.3g} to {most:.3g} times the quantile that it bounds."
    if not kept:
        instead = "With 2 beta = epsilon - log(1 + 2c/(n lambda) + c^2/(n lambda)^2), the noise's own, for epsilon it holds."
        return Decision("fails as printed", sentence, instead=instead)
    return decide_coverage(numbers, tolerances)


def measure_gradient_bound(evidence: Evidence) -> Measured:
    """Lemma 1 for N(f) = s log cosh(f/s), all records at the origin: |N'| <= 1 = eta, but N'' is 1/s at the minimiser 0."""
    s, setting, delta = 1e-3, Setting(1, 1.0, 1.0, 20_000, flat=True), 0.05
    noise = spherical_noise(setting.runs, 1, RECORDS * setting.lam * setting.epsilon / 2, evidence.stream("gradient bound"))
    rise = s * (np.logaddexp(noise / s, -noise / s) - math.log(2))[:, 0]
    limit = lemma_1_bound(setting, setting.epsilon, delta)
    return Measured(
        {"steepest": float(np.max(np.abs(np.tanh(noise / s)))), **coverage("", setting.lam * rise, limit, delta)}
    )


def decide_gradient_bound(numbers: Numbers, tolerances: Numbers) -> Decision:
    within, runs, level = (numbers[f"{name}, "] for name in ("within", "runs", "level"))
    sentence = (
        f"For N = s log cosh(f/s), s = 0.001, whose gradient is at most {numbers['steepest']:g}, {within / runs:.4f} of "
        f"{runs:,.0f} runs keep the bound at level {level:g}."
    )
    kept = float(clopper_pearson_upper(within, runs, 1 - tolerances["confidence"])) >= level
    return either(kept, sentence, "eta must bound the norm of N's Hessian, not of its gradient.")


def measure_argmax(evidence: Evidence) -> Measured:
    data = separable(100, evidence.stream("argmax"))
    axis = np.eye(data.features.shape[1])[:1]
    return Measured(
        {f"{length:g}": float(regularised_risk(data, 0.01, length * axis)[0]) for length in (1.0, 10.0, 100.0, 1000.0)}
    )


def decide_argmax(numbers: Numbers, tolerances: Numbers) -> Decision:
    values = list(numbers.values())
    sentence = f"J at |f| = 1, 10, 100 and 1,000 is {', '.join(f'{value:.3g}' for value in values)}."
    grows = values[-1] > tolerances["growth"] * values[-2]
    return either(not grows, sentence, "J is unbounded, so no f maximises it; f* is the minimiser.")


# When Algorithm 2 is better


def algorithm_2_preferred(lam: float) -> bool:
    """c/lam + eta > 2, for the logistic loss and N = |f|^2/2."""
    return LOGISTIC.curvature_bound / lam + QUADRATIC.strong_convexity > 2


def measure_better_bound(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Where the second lemma's bound is the smaller one, for many lambdas and etas, and the condition says otherwise."""
    cases = [(float(lam), eta) for lam in np.geomspace(1e-3, 1e2, 61) for eta in (0.5, 1.0, 1.9, 3.0)]
    wrong = 0
    for lam, eta in cases:
        setting = Setting(10, lam, 1.0, 1)
        smaller = lemma_2_bound(setting, 1.0, 0.05) < lemma_1_bound(setting, 1.0, 0.05, eta)
        wrong += smaller != (LOGISTIC.curvature_bound / lam + eta > 2)
    return Measured({"cases": float(len(cases)), "wrong": float(wrong)})


def decide_better_bound(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"In {numbers['wrong']:g} of {numbers['cases']:g} cases the condition does not tell which printed bound is smaller."
    )
    return either(numbers["wrong"] <= tolerances["wrong"], sentence, "Another threshold divides the bounds.")


CONTESTS = tuple(
    Setting(d, lam, epsilon, runs, flat)
    for d, flat, runs in ((1, False, 4000), (1, True, 4000), (10, False, 400))
    for lam in (0.01, 0.1, 1.0)
    for epsilon in (0.06, 1.0)
    if left_for_noise(epsilon, RECORDS * lam) > 0
)


def measure_better_regret(evidence: Evidence) -> Measured:
    """Algorithm 2's mean regret over Algorithm 1's, with its standard error, where either is preferred.

    If the risk is curved by k + lam throughout, Algorithm 1 moves the minimiser by 2 g/(n lam epsilon) and Algorithm 2 by
    g/(n (k + lam) beta), for noise of the same law g, so the ratio of the regrets is (epsilon/(2 beta))^2/(1 + k/lam)^2. On
    the line k is known at the minimiser.
    """
    numbers = {}
    for setting in CONTESTS:
        first, second = (regrets(evidence, algorithm, setting) for algorithm in (1, 2))
        ratio = float(second.mean() / first.mean())
        relative = [float(np.std(values) / math.sqrt(len(values)) / values.mean()) for values in (first, second)]
        side = "preferred" if algorithm_2_preferred(setting.lam) else "not preferred"
        label = f"{setting.label} epsilon={setting.epsilon:g}"
        numbers[f"{side}, {label}"] = ratio
        numbers[f"error, {label}"] = ratio * math.hypot(*relative)
        if setting.d == 1:
            curved = 0.0 if setting.flat else LOGISTIC.curvature_bound
            left = left_for_noise(setting.epsilon, RECORDS * setting.lam) / setting.epsilon
            numbers[f"rule, {label}"] = (left * (1 + curved / setting.lam)) ** -2
    return Measured(numbers)


def decide_better_regret(numbers: Numbers, tolerances: Numbers) -> Decision:
    sides = {side: _read(numbers, side) for side in ("preferred", "not preferred")}
    clear = {
        label: ratio
        for label, ratio in (sides["preferred"] | sides["not preferred"]).items()
        if abs(ratio - 1) > tolerances["standard errors"] * numbers[f"error, {label}"]
    }
    worse = {label: ratio for label, ratio in clear.items() if ratio > 1 and label in sides["preferred"]}
    sentence = (
        f"Where c/lambda + eta > 2, Algorithm 2's mean regret is {_range(sides['preferred'])} times Algorithm 1's, clearly "
        f"larger in {len(worse)} of {len(sides['preferred'])} settings"
    )
    if sides["not preferred"]:
        sentence += f"; elsewhere {_range(sides['not preferred'])} times"
    if not worse:
        return Decision("holds", sentence + ".")
    rule = {label: value for label, value in _read(numbers, "rule").items() if label in clear}
    right = sum((value > 1) == (clear[label] > 1) for label, value in rule.items())
    instead = (
        "If the risk is curved by lambda + k at its minimum, Algorithm 2 is better for little noise if "
        f"(1 + k/lambda) 2 beta > epsilon; that names the winner in {right} of {len(rule)} clear settings on the line."
    )
    largest = max(worse, key=lambda label: worse[label])
    return Decision("fails as printed", f"{sentence}. The most: {largest}.", instead=instead)


def _read(numbers: Numbers, side: str) -> dict[str, float]:
    return {name.removeprefix(f"{side}, "): value for name, value in numbers.items() if name.startswith(f"{side}, ")}


def _range(values: dict[str, float]) -> str:
    return f"{min(values.values()):.3g} to {max(values.values()):.3g}"


def measure_better_experiments(evidence: Evidence) -> Measured:
    """Algorithm 1's test error less Algorithm 2's, in standard errors, wherever beta > 0 and c/lambda + eta > 2."""
    numbers = {}
    for table, along in (("learning_curve", "n"), ("epsilon_curve", "epsilon")):
        for dataset in ("separable", "unseparable"):
            rows = evidence.table(f"{table}/{dataset}", "method", "epsilon", "lam", "n")
            places = {row[along]: (row["epsilon"], row["lam"], row["n"]) for row in rows if row["method"] == CMS11}
            found = curve(evidence, table, dataset, along)
            for x, (epsilon, lam, n) in places.items():
                if left_for_noise(epsilon, n * lam) > 0 and algorithm_2_preferred(lam):
                    label, lead = f"{dataset} epsilon={epsilon:.4g} n={n:g}", found[ALGORITHM_1][x].minus(found[CMS11][x])
                    numbers[f"lead, {label}"] = lead.student
                    numbers[f"left, {label}"] = left_for_noise(epsilon, n * lam) / epsilon
                    numbers["folds"] = float(len(lead.error))
    return Measured(numbers)


def decide_better_experiments(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Algorithm 2 is worse somewhere if it is clearly so in more cells than Student's law of as many folds explains."""
    leads, enough = _read(numbers, "lead"), tolerances["standard errors"]
    better = [label for label, lead in leads.items() if lead > enough]
    worse = [label for label, lead in leads.items() if lead < -enough]
    chance = float(bdtrc(len(worse) - 1, len(leads), stdtr(numbers["folds"] - 1, -enough)))
    sentence = (
        f"c/lambda + eta is above 2 in all {len(leads)} cells; Algorithm 2 has the smaller test error by more than "
        f"{enough:g} standard errors in {len(better)}, the larger one in {len(worse)} (so many by chance: {chance:.2g})"
    )
    if worse and chance < 1 - tolerances["confidence"]:
        left = max(numbers[f"left, {label}"] for label in worse)
        instead = f"It is clearly worse only where the Hessian leaves at most {left:.2g} of epsilon for the noise."
        worst_label = min(worse, key=lambda label: leads[label])
        return Decision("fails as printed", f"{sentence}, the most at {worst_label}.", instead=instead)
    if not better:
        missing = "What better means is not said; we assumed the test error, which tells no difference here."
        return Decision("underspecified", sentence + ".", instead=missing)
    return Decision("holds", sentence + ".")


def measure_conflict(evidence: Evidence) -> Measured:
    """The standard deviation of one person's estimate in randomised response, and the test errors, by epsilon."""
    numbers = {}
    for epsilon in (0.1, 1.0, 3.0):
        gamma = RandomizedResponse.from_epsilon(epsilon).gamma
        law = answers(gamma)[1]
        estimates = RandomizedResponse(gamma).estimate_share(np.array([[0], [1]]))
        numbers[f"deviation_at_{epsilon:g}"] = math.sqrt(float(law @ estimates**2 - (law @ estimates) ** 2))
    for method in (ALGORITHM_1, CMS11):
        points = curve(evidence, "epsilon_curve", "separable", "epsilon")[method]
        numbers[f"{method} at the smallest"] = points[min(points)].mean
        numbers[f"{method} at the largest"] = points[max(points)].mean
    return Measured(numbers)


def decide_conflict(numbers: Numbers, tolerances: Numbers) -> Decision:
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
    return either(conflict, sentence, "More privacy costs nothing here.")


def decide_relaxed(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    sentence = (
        "Algorithm 1 with the hinge loss, which is not differentiable, and Algorithm 2 with a loss that is not twice so "
        f"spend at most {share:.4g} times what they promise."
    )
    return either(share <= 1 + tolerances["slack"], sentence, "These assumptions are needed.")


CHECKS = {
    "rebecca": Check(measure_rebecca, decide_rebecca),
    "tables_leak": Check(measure_tables_leak, decide_tables_leak),
    "coins": Check(measure_coins, decide_coins),
    "gammas": Check(measure_gammas, decide_gammas),
    "learns_nothing": Check(measure_learns_nothing, decide_learns_nothing),
    "expectation": Check(measure_expectation, decide_identity),
    "unbiased": Check(measure_bias, decide_identity),
    "ln_3": Check(measure_ln_3, privately("all outputs listed; at gamma = 1/4 against ln 3, and by epsilon in the table")),
    "any_gamma": Check(measure_any_gamma, decide_any_gamma),
    "largest_at_one": Check(measure_largest_at_one, decide_largest_at_one),
    "single_outputs": Check(measure_single_outputs, decide_single_outputs),
    "neighbours": Check(measure_neighbours, decide_neighbours),
    "small_epsilon": Check(measure_small_epsilon, decide_small_epsilon),
    "contains_one": Check(measure_contains_one, decide_contains_one),
    "laplace_notation": Check(measure_laplace_notation, decide_laplace_notation),
    "laplace": Check(
        measure_laplace, privately("counts with a diagnosis exchanged, a histogram with a record more or less")
    ),
    "gaussian": Check(measure_gaussian, decide_gaussian),
    "gaussian_range": Check(measure_gaussian_range, decide_gaussian_range),
    "unique_minimum": Check(measure_unique_minimum, decide_unique_minimum),
    "strong_is_strict": Check(measure_strong_is_strict, decide_strong_is_strict),
    "relaxed": Check(audited("output_perturbation_hinge", "objective_perturbation_huber"), decide_relaxed),
    "erm": Check(measure_erm, decide_erm),
    "algorithm_1": Check(measure_algorithm_1, privately("logistic regression by search, and the Huber loss")),
    "algorithm_2": Check(measure_algorithm_2, privately("logistic regression by search, and the Huber loss")),
    "stronger_assumptions": Check(measure_stronger_assumptions, decide_stronger_assumptions),
    "argmax": Check(measure_argmax, decide_argmax),
    "gradient_bound": Check(measure_gradient_bound, decide_gradient_bound),
    "lemma_1": Check(measure_lemma_1, decide_coverage),
    "lemma_2": Check(measure_lemma_2(two_beta=False), decide_lemma_2),
    "lemma_2_two_beta": Check(measure_lemma_2(two_beta=True), decide_coverage),
    "better_bound": Check(measure_better_bound, decide_better_bound),
    "better_regret": Check(measure_better_regret, decide_better_regret),
    "better_experiments": Check(measure_better_experiments, decide_better_experiments),
    "conflict": Check(measure_conflict, decide_conflict),
}
