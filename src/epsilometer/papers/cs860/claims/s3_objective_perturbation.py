"""Objective perturbation: the noise and the losses that it asks for, exact and approximate minima, finite precision."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.cs860.claims.comparison import compare_methods
from epsilometer.papers.cs860.claims.rough_minimum import delta_of_rough_minimum, laplace_grid
from epsilometer.papers.deciders import (
    BOUND,
    all_within_bound,
    bound_decider,
    fact_decider,
    holds_if,
    listed,
    readings_decider,
    reproduced_if,
)
from epsilometer.papers.measures import VERDICTS, computed, drawn, spent_share, spent_shares

# Noise and losses

decide_objective = bound_decider(
    "With the noise of the works cited, the worst pair audited spends {share:.4g} of the promised epsilon.",
    "These works' noise is too small.",
)

OBJECTIVE_GAMMA = Claim(
    id="cs860-objective-gamma",
    locator="Objective perturbation",
    statement="With Gamma noise in the objective, as in the works cited, the minimiser is epsilon-private.",
    needs=(VERDICTS,),
    measure=spent_shares(
        share=("objective_perturbation_kst12", "objective_perturbation_cms11", "objective_perturbation_huber")
    ),
    decide=decide_objective,
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)

OBJECTIVE_GAUSSIAN = Claim(
    id="cs860-objective-gaussian",
    locator="Objective perturbation",
    statement="With Gaussian noise in the objective, as in the works cited, the minimiser is (epsilon, delta)-private.",
    needs=(VERDICTS,),
    measure=spent_shares(share=("objective_perturbation_gaussian",)),
    decide=decide_objective,
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)


OBJECTIVE_SCALE = Claim(
    id="cs860-objective-scale",
    locator="Objective perturbation",
    statement=(
        "Minimising the regularised sum plus a random linear term guarantees privacy; no condition on lambda and no scale "
        "of the noise are given."
    ),
    needs=(VERDICTS,),
    measure=spent_shares(priced=("objective_perturbation_kst12",), not_priced=("objective_perturbation_general",)),
    decide=readings_decider(
        "Gamma noise of rate epsilon/2 spends up to {priced:.3g} of the promise if lambda >= 2c/epsilon (c bounds the "
        "loss's curvature), and {not_priced:.3g} of it at lambda = 0.1 without that condition.",
        all_within_bound,
        "The noise's scale and the least lambda are not given; we assumed those of Kifer, Smith and Thakurta 2012.",
        assumed=lambda numbers, tolerances: numbers["priced"] <= 1 + tolerances["slack"],
        instead="Not even a large lambda is enough.",
    ),
    tolerances={"slack": 1e-6},
    link=f"{VERDICTS}.csv",
)


@computed
def measure_objective_hinge() -> dict[str, float]:
    """The probability of the output 1 exactly, with one record (1, +1) under the hinge loss, and with a record at 0.

    The minimiser of max(0, 1 - w) + lam w^2/2 + b w is 1 for all b in [-lam, 1 - lam]; that of lam w^2/2 + b w is -b/lam.
    Proof: docs/proofs/cs860.md.
    """
    lam, rate = 0.1, 0.5
    b = laplace_grid(rate, 200_000)
    inside, outside = (1 - b) / lam, -b / lam
    with_record = np.where(inside <= 1, inside, np.where(outside >= 1, outside, 1.0))
    return {"with_record": float(np.mean(with_record == 1)), "without": float(np.mean(outside == 1))}


OBJECTIVE_HINGE = Claim(
    id="cs860-objective-any-loss",
    locator="Objective perturbation, with the assumptions of the primer",
    statement=(
        "Objective perturbation is private for the losses of the lecture, which are convex and Lipschitz; it asks for no "
        "more."
    ),
    computes="the minimisers for 200,000 equally likely values of the noise, on two neighbouring data sets",
    measure=measure_objective_hinge,
    decide=fact_decider(
        "With the hinge loss, lambda = 0.1 and noise of rate 1/2 on the line, theta is exactly 1 with probability "
        "{with_record:.3g} if the record (1, +1) is there, and {without:.3g} if it is not.",
        lambda numbers, tolerances: numbers["with_record"] <= tolerances["slack"] or numbers["without"] > 0,
        "Where the loss has a continuous derivative and a bounded curvature; here no epsilon would do.",
    ),
    tolerances={"slack": 0.001},
    headline=True,
)

# Exact and approximate minima

GRADIENT_NORMS = (1e-9, 0.01, 0.03, 0.1)


def measure_exact_minimum(evidence: Evidence) -> Measured:
    """Delta at epsilon = 1, by the gradient at which objective perturbation stops; output perturbation that stops early."""
    rough = {f"delta_at_{norm:g}": delta_of_rough_minimum(norm) for norm in GRADIENT_NORMS}
    return Measured(rough | {"output_share": spent_share(evidence, "output_perturbation_stopped_early")})


def decide_exact_minimum(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if an exact minimum keeps delta = 0 and a rough one does not."""
    exact, *rough = (numbers[f"delta_at_{norm:g}"] for norm in GRADIENT_NORMS)
    sentence = (
        f"Objective perturbation of 2011 that stops at a gradient of {listed(GRADIENT_NORMS[1:])} has delta at least "
        f"{listed(rough)} at its epsilon = 1, where 0 is promised; of {GRADIENT_NORMS[0]:g}, {exact:.3g}. Output "
        f"perturbation that stops early spends {numbers['output_share']:.3g} times its epsilon."
    )
    if exact > tolerances["none"]:
        return Decision("fails as printed", sentence, instead="Not even an exact minimum keeps the promise.")
    return holds_if(max(rough) > tolerances["harm"], sentence, "A rough minimum costs nothing on these data.")


EXACT_MINIMUM = Claim(
    id="cs860-exact-minimum",
    locator="Objective perturbation",
    statement=(
        "The privacy of early objective perturbation (2011, 2012) needs an exact minimum; an approximate one does not "
        "guarantee it."
    ),
    needs=(VERDICTS,),
    computes="a lower bound on delta of objective perturbation that stops early, from 400,000 values of the noise",
    measure=measure_exact_minimum,
    decide=decide_exact_minimum,
    tolerances={"none": 1e-9, "harm": 0.001},
    link=f"{VERDICTS}.csv",
)

APPROXIMATE_MINIMUM = Claim(
    id="cs860-approximate-minimum",
    locator="Objective perturbation",
    statement="Later variants stay private when the solver finds an approximate minimum only.",
    needs=(VERDICTS,),
    measure=spent_shares(share=("approximate_minimum_perturbation",)),
    decide=bound_decider(
        "Approximate minima perturbation of 2019, stopped at a gradient of 1e-4, spends {share:.3g} of its epsilon.",
        "The second noise is too small for a rough minimum.",
    ),
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)

FLOATING_POINT = Claim(
    id="cs860-floating-point",
    locator="Objective perturbation",
    statement="Finite precision breaks even the basic Laplace mechanism.",
    needs=(VERDICTS,),
    measure=spent_shares(share=("laplace_floating_point",), snapped=("snapping",)),
    decide=fact_decider(
        "The Laplace mechanism in double precision spends {share:.3g} times its epsilon by the exact audit; snapped to a "
        "grid, {snapped:.4g} times.",
        lambda numbers, tolerances: numbers["share"] > 1 + tolerances["slack"],
        "Floating point does no harm to the Laplace mechanism.",
    ),
    tolerances={"slack": 1e-6},
    link=f"{VERDICTS}.csv",
)


measure_best_empirical = drawn("best empirical")(compare_methods)


def decide_best_empirical(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Not reproduced if the method's excess is beyond `among_best` times the best one's by some standard errors."""
    means = {name: value for name, value in numbers.items() if not name.endswith(", error")}
    own, best = "approximate minima", min(means, key=lambda name: means[name])
    shown = ", ".join(f"{value:.2g} +- {numbers[f'{name}, error']:.1g} ({name})" for name, value in means.items())
    sentence = (
        f"Mean excess of the logistic loss, 2,000 records in 5 dimensions, epsilon = 1, the other methods' parameters being "
        f"chosen with hindsight: {shown}."
    )
    error = math.hypot(numbers[f"{own}, error"], tolerances["among_best"] * numbers[f"{best}, error"])
    beyond = means[own] - tolerances["among_best"] * means[best] > tolerances["deviations"] * error
    return reproduced_if(not beyond, sentence)


BEST_EMPIRICAL = Claim(
    id="cs860-best-empirical",
    locator="Objective perturbation",
    statement="Approximate minima perturbation has some of the best empirical results of private convex optimisation.",
    computes="400 outputs of each of four private methods on random data, for a few choices of their parameters",
    measure=measure_best_empirical,
    decide=decide_best_empirical,
    tolerances={"among_best": 2.0, "deviations": 3.0},
)


@computed
def measure_never_reached() -> dict[str, float]:
    """How far gradient descent is from the minimum: after 50 steps on a logistic risk, and after one on a quadratic."""
    theta = 0.0
    for _ in range(50):  # log(1 + e^-theta) + theta/4, smallest at log 3, with steps of 1
        theta -= 0.25 - 1 / (1 + math.exp(theta))
    quadratic = 1.0
    quadratic -= quadratic  # theta^2/2, from 1, with steps of 1
    return {"logistic": abs(theta - math.log(3)), "quadratic": abs(quadratic)}


NEVER_REACHED = Claim(
    id="cs860-minimum-never-reached",
    locator="Objective perturbation",
    statement="An iterative optimiser such as gradient descent comes closer to the minimum and never reaches it.",
    computes="gradient descent on a logistic risk and on a quadratic",
    measure=measure_never_reached,
    decide=fact_decider(
        "With steps of 1/curvature, the distance from the minimum is {logistic:.2g} after 50 steps on a logistic risk, and "
        "{quadratic:.2g} after 1 step on a quadratic.",
        lambda numbers, tolerances: min(numbers.values()) > tolerances["reached"],
        "As a rule: there are functions, and steps, for which it is reached.",
    ),
    tolerances={"reached": 0.0},
)
