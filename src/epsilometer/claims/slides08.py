"""The checks of slides08, Monteleoni's slides on nips08, judged by their own definition, as far as they have one.

The slides call a random function epsilon-private if no output is more than 1 + epsilon times as likely under a neighbouring
data set, so a log-ratio may reach log(1 + epsilon), which is less than epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.claims.nips08 import experiments, learning, privacy
from epsilometer.claims.nips08.learning import Goal, covered, measure_growth, needed_size, theorem_4_size, theorem_5_size
from epsilometer.claims.nips08.privacy import boundary_numbers
from epsilometer.claims.shared import catalogue_shares, exact_witness, largest_share, worst
from epsilometer.core import LabelledData, Mechanism
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008
from epsilometer.pairs.boundary import largest_log_ratio

Row = tuple[float, float]


# Privacy, by the slides' definition


def slides_shares(spent: dict[float, float]) -> dict[str, float]:
    """The exact losses as shares of log(1 + epsilon), least and largest; and the largest share of epsilon itself."""
    shares = [loss / math.log1p(promised) for promised, loss in spent.items()]
    return {"least": min(shares), "largest": max(shares), "share": largest_share(spent)}


def measure_catalogue(mechanism: str) -> Callable[[Evidence], Measured]:
    """The slides' shares of a mechanism of the catalogue."""

    def measure(evidence: Evidence) -> Measured:
        return Measured(slides_shares(catalogue_shares(evidence, mechanism)), exact_witness(evidence, mechanism))

    return measure


def measure_theorem_1(evidence: Evidence) -> Measured:
    """Algorithm 1's loss is in proportion to epsilon, so the worst pair at epsilon = 1 gives that at every epsilon."""
    found = worst(evidence, "output_perturbation", 1.0, privacy.MANY, 2)
    losses = {promised: promised * found.log_ratio for promised in (0.1, 0.5, 1.0, 2.0)}
    return Measured(slides_shares(losses), found.witness("output_perturbation", 1.0))


def measure_theorem_2(evidence: Evidence) -> Measured:
    """The least share over the table of the boundary, on either side of it; and an explicit pair at epsilon = 1."""
    witness = exact_witness(evidence, "objective_perturbation_2008")
    assert witness is not None
    table = boundary_numbers(evidence)
    numbers = {"least": table["least_share_of_slides"], "largest": abs(witness.log_ratio) / math.log(2)}
    return Measured({**numbers, "share": abs(witness.log_ratio), "kept_from": table["kept_from"]}, witness)


def decide_slides(numbers: Numbers, tolerances: Numbers, of: str, instead: str) -> Decision:
    """Beyond 1 + epsilon at some epsilon, or within it at all."""
    least, largest = numbers["least"], numbers["largest"]
    sentence = (
        f"As shares of log(1 + epsilon), the losses are {least:.5g} to {largest:.4g} ({of}); the largest share of epsilon "
        f"is {numbers['share']:.4g}. A witness for epsilon = 1 is to be set against log 2."
    )
    if largest > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead=instead)
    if largest < tolerances["tight"]:
        return Decision("holds, loosely", sentence, factor=1 / largest)
    return Decision("holds", sentence)


def decide_laplace(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = "It holds with e^epsilon for 1 + epsilon, or with noise of scale S/log(1 + epsilon)."
    return decide_slides(numbers, tolerances, "a count, over the audited epsilons; S/epsilon read as the scale", instead)


def decide_theorem_1(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = "It holds with e^epsilon for 1 + epsilon, or with noise for log(1 + epsilon)."
    return decide_slides(numbers, tolerances, "the worst pair found in the plane, at epsilon from 0.1 to 2", instead)


def decide_theorem_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = (
        "It holds with e^epsilon for 1 + epsilon if n lambda epsilon >= 2; in the table of the boundary, from "
        f"{numbers['kept_from']:.4g} on."
    )
    of = "the least in the whole table of the boundary, the largest on a pair of 100 records at epsilon = 1"
    return decide_slides(numbers, tolerances, of, instead)


def decide_theorem_3(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = "Even with e^epsilon the noise has to pay for the change of the Hessian as well."
    return decide_slides(numbers, tolerances, "three records with the Huber loss, over the audited epsilons", instead)


def measure_proof(evidence: Evidence) -> Measured:
    """The ratio h(b1)/h(b2) alone, without the determinants that it lacks: e^(epsilon |b1 - b2|/2) at its worst."""
    reached = privacy.measure_noise_shift(evidence).numbers["share"]
    return Measured(slides_shares({promised: promised * reached for promised in (0.1, 0.5, 1.0, 2.0)}))


def decide_proof(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = "The ratio is at most e^epsilon."
    return decide_slides(numbers, tolerances, "the noise alone, on a pair that pulls as hard as it can", instead)


# Sensitivity


def measure_equal_sensitivity(evidence: Evidence) -> Measured:
    """The worst shifts found, and what no shift on the line exceeds: half the largest difference of two pulls there.

    That is what Algorithm 2 spends on the line, at a rate of 1, where n lam is so large that the determinants do not count.
    """
    possible = float(largest_log_ratio(1.0, 1e12, d=1)) / 2
    return Measured({**privacy.measure_corollary_2(evidence).numbers, "possible_on_the_line": possible})


def decide_equal_sensitivity(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The slides say that the sensitivity is 2/(n lambda), not that it is at most that."""
    plane, paper, line = (numbers[name] for name in ("share", "share_at_the_papers_lambda", "share_on_the_line"))
    possible = numbers["possible_on_the_line"]
    sentence = (
        f"The worst pairs move the minimiser by {plane:.3g} of 2/(n lambda) in the plane, {paper:.3g} there at lambda = "
        f"0.01 and n = 14,000, and {line:.3g} on the line, where at most {possible:.3g} is possible."
    )
    if min(plane, paper, line) >= 1 - tolerances["equal"]:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="It is at most 2/(n lambda), and comes near it where n is large.")


def measure_leave_one_out(evidence: Evidence) -> Measured:  # noqa: ARG001
    """|w_n - w_(n-1)| n lam over pairs in the plane: w_(n-1) with the mean over n - 1 records, or with 1/n kept.

    The shared records (z/W, 0) hold w at (W, 0) or so, z sigma(-z) = lam W^2; the last one is at some angle to them.
    """
    own, kept = [], []
    for n, lam in ((2, 1.0), (2, 0.1), (10, 0.01), (1_000, 0.01), (1_000, 1e-4), (privacy.MANY, 1e-4)):
        for z in (0.1, 0.5, 1.28):
            far = math.sqrt(z * expit(-z) / lam)
            held: Row = (min(1.0, z / far), 0.0)
            rest = minimiser(LOGISTIC, labelled_records([(held, 1.0)]), lam)
            still = minimiser(LOGISTIC, labelled_records([(held, 1.0), ((0.0, 0.0), 1.0)], [n - 1.0, 1.0]), lam)
            for angle in np.linspace(np.pi / 2, np.pi, 9):
                last: Row = (math.cos(angle), math.sin(angle))
                both = minimiser(LOGISTIC, labelled_records([(held, 1.0), (last, 1.0)], [n - 1.0, 1.0]), lam)
                own.append(float(np.linalg.norm(both - rest)) * n * lam)
                kept.append(float(np.linalg.norm(both - still)) * n * lam)
    return Measured({"share": max(own), "share_with_n_kept": max(kept)})


def decide_leave_one_out(numbers: Numbers, tolerances: Numbers) -> Decision:
    own, kept = numbers["share"], numbers["share_with_n_kept"]
    sentence = (
        f"Over 162 data sets in the plane |w_n - w_(n-1)| reaches {own:.4g}/(n lambda), or {kept:.4g}/(n lambda) where the "
        "other n - 1 records keep the weight 1/n."
    )
    if own > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="It holds where the other records keep the weight 1/n.")
    if own < tolerances["tight"]:
        return Decision("holds, loosely", sentence, factor=1 / own)
    return Decision("holds", sentence)


# The objective with its sign


def measure_sign(build: Callable[[], Mechanism]) -> Callable[[Evidence], Measured]:
    """The share of the training records that SIGN(w.x) gets wrong, with log(1 + exp(+y w.x)) and with exp(-y w.x).

    The printed sign is that of the same objective with all labels turned round.
    """

    def measure(evidence: Evidence) -> Measured:
        data = separable(2_000, evidence.stream("sign"))
        turned = LabelledData(data.features, -data.labels)
        errors = {}
        for name, trained in (("printed", turned), ("minus", data)):
            outputs = build().sample(trained, 50, evidence.stream("sign", name))
            errors[name] = float(np.mean(data.signed @ outputs.T <= 0))
        return Measured(errors)

    return measure


def decide_sign(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed, minus = numbers["printed"], numbers["minus"]
    sentence = (
        f"On separable data {printed:.4f} of the predictions are wrong with the printed sign, {minus:.4f} with a minus."
    )
    if printed <= tolerances["largest_error"]:
        return Decision("holds", sentence)
    return Decision(
        "fails as printed", sentence, instead="The loss is log(1 + exp(-y w.x)), as the slide on learning has it."
    )


# Learning


def measure_no_probability(evidence: Evidence) -> Measured:
    """The sample sizes with which Algorithm 2 reaches the goal in half of its runs, and in 98% of them."""
    half, most = (needed_size(evidence, "algorithm 2", Goal(delta=delta)) for delta in (0.5, 0.02))
    return Measured({"in_half": half, "in_98_percent": most})


def decide_no_probability(numbers: Numbers, tolerances: Numbers) -> Decision:
    half, most = numbers["in_half"], numbers["in_98_percent"]
    sentence = f"The loss is reached in half of the runs with {half:.0f} records, in 98% of them with {most:.0f}."
    if most <= half * (1 + tolerances["same"]):
        return Decision("holds", sentence)
    missing = (
        "With which probability, and at which lambda and C, is not said, and the noise is unbounded; we assumed probability "
        "0.9 and lambda = delta/|w0|^2."
    )
    return Decision("underspecified", sentence, instead=missing)


def decide_regret(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The lemmas on the slide have a delta, but do not say that it is a probability."""
    kept, words, least, _ = covered(numbers, tolerances)
    sentence = f"At worst, {words}; the bound is at least {least:.3g} times the quantile that it bounds."
    if not kept:
        return Decision("fails as printed", sentence, instead="The bound does not hold with probability 1 - delta either.")
    missed = sum(numbers[f"runs, {name}"] - numbers[f"within, {name}"] for name in _cases(numbers))
    if missed > tolerances["misses"]:
        missing = f"delta is not introduced, and {missed:.0f} runs miss the bound; we assumed probability 1 - delta."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("holds", sentence)


def _cases(numbers: Numbers) -> list[str]:
    return [name.removeprefix("within, ") for name in numbers if name.startswith("within, ")]


def decide_short_w0(numbers: Numbers, tolerances: Numbers) -> Decision:
    """As the slides print it, with Euler's number."""
    sentence = f"The least loss of a w0 with |w0| <= 1 is {numbers['least']:.5g}; log(1 + 1/e) is {numbers['with_e']:.5g}."
    if numbers["least"] >= numbers["with_e"] - tolerances["slack"]:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="A smaller bound holds.")


LEARNING, PRIVACY = learning.CHECKS, privacy.CHECKS
CHECKS = {
    "anonymised": PRIVACY["anonymised"],
    "sensitivity_formula": PRIVACY["sensitivity_formula"],
    "laplace": Check(measure_catalogue("laplace_count"), decide_laplace),
    "objective_sign": Check(measure_sign(lambda: NonPrivateLogistic(0.01)), decide_sign),
    "equal_sensitivity": Check(measure_equal_sensitivity, decide_equal_sensitivity),
    "leave_one_out": Check(measure_leave_one_out, decide_leave_one_out),
    "gamma_norm": PRIVACY["gamma_norm"],
    "theorem_1": Check(measure_theorem_1, decide_theorem_1),
    "no_sensitivity": PRIVACY["no_sensitivity"],
    "algorithm_2_sign": Check(measure_sign(lambda: ObjectivePerturbation2008(1.0, 0.01)), decide_sign),
    "theorem_2": Check(measure_theorem_2, decide_theorem_2),
    "running_time": LEARNING["running_time"],
    "theorem_3": Check(measure_catalogue("objective_perturbation_general"), decide_theorem_3),
    "change_of_variables": PRIVACY["change_of_variables"],
    "proof_ratio": Check(measure_proof, decide_proof),
    "no_probability": Check(measure_no_probability, decide_no_probability),
    "theorem_4_growth": Check(measure_growth("algorithm 2", theorem_4_size, logs=False), learning.decide_growth),
    "theorem_5_growth": Check(measure_growth("algorithm 1", theorem_5_size, logs=False), learning.decide_growth),
    "significantly_tighter": Check(learning.measure_bounds(logs=False), learning.decide_significantly_stronger),
    "short_w0": Check(learning.measure_short_w0, decide_short_w0),
    "lemma_algorithm_1": Check(LEARNING["lemma_3"].measure, decide_regret),
    "lemma_algorithm_2": Check(LEARNING["lemma_4"].measure, decide_regret),
    **{name: check for name, check in experiments.CHECKS.items() if name.startswith("figure_1_")},
}
