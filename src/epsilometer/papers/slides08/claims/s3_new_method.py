"""The slides 'New method for PPML' and 'Privacy of Algorithm 2': Algorithm 2, Theorems 2 and 3, and the proof."""

from __future__ import annotations

import math

from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008
from epsilometer.papers.claim import Claim, Evidence, Measured
from epsilometer.papers.deciders import BOUND
from epsilometer.papers.measures import VERDICTS, exact_witness
from epsilometer.papers.nips08.claims import s1_introduction, s4_objective_perturbation
from epsilometer.papers.nips08.claims.s4_objective_perturbation import (
    BOUNDARY,
    boundary_numbers,
    measure_noise_shift,
)
from epsilometer.papers.nips08.claims.shared import WITNESS
from epsilometer.papers.slides08.claims.definition import audited_by_definition, shares_of_proportional, slides_epsilon
from epsilometer.papers.slides08.claims.repeated import repeated
from epsilometer.papers.slides08.claims.sign import decide_sign, measure_sign

# Algorithm 2 and Theorems 2 and 3

NO_SENSITIVITY = repeated(
    s1_introduction.NO_SENSITIVITY,
    "slides08-no-sensitivity",
    "slide 'New method for PPML'",
    "The new method's noise depends neither on the function to be learnt nor on its sensitivity.",
)

ALGORITHM_2_SIGN = Claim(
    id="slides08-algorithm-2-sign",
    locator="slide 'New method for PPML', Algorithm 2",
    statement="Algorithm 2 minimises the objective with log(1 + exp(y w.x)), with a plus, and b.w/n added.",
    computes="the training errors of Algorithm 2 with either sign, in 50 runs each on drawn data",
    measure=measure_sign(lambda: ObjectivePerturbation2008(1.0, 0.01)),
    decide=decide_sign,
    tolerances={"largest_error": 0.5},
)


def measure_theorem_2(evidence: Evidence) -> Measured:
    """The least share over the table of the boundary, on either side of it; and an explicit pair at epsilon = 1."""
    witness = exact_witness(evidence, "objective_perturbation_2008")
    assert witness is not None
    table = boundary_numbers(evidence)
    numbers = {"least": table["least_share_of_slides"], "largest": abs(witness.log_ratio) / math.log(2)}
    return Measured({**numbers, "share": abs(witness.log_ratio), "kept_from": table["kept_from"]}, witness)


THEOREM_2 = Claim(
    id="slides08-theorem-2",
    locator="slide 'New method for PPML', Theorem 2, on Algorithm 2",
    statement="Objective perturbation is epsilon-private: no output becomes more than 1 + epsilon times as likely.",
    needs=(BOUNDARY,),
    computes="the output with the largest privacy loss on explicit pairs",
    measure=measure_theorem_2,
    decide=slides_epsilon(
        "the least in the whole table of the boundary, the largest on a pair of 100 records at epsilon = 1",
        "It holds with e^epsilon for 1 + epsilon if n lambda epsilon >= 2; in the table of the boundary, from "
        "{kept_from:.4g} on.",
    ),
    tolerances=BOUND,
    link="figures/nips08_boundary.svg",
)

RUNNING_TIME = repeated(
    s4_objective_perturbation.RUNNING_TIME,
    "slides08-running-time",
    "slide 'New method for PPML', remark",
    "Algorithm 2 takes a time similar to that of regularised logistic regression.",
)

THEOREM_3 = Claim(
    id="slides08-theorem-3",
    locator="slide 'New method for PPML', Theorem 3",
    statement="For a strongly convex G and convex losses with continuous gradients of norm at most kappa, the minimiser "
    "with b.w added, |b| from Gamma(d, 2 kappa/epsilon), is epsilon-private in the sense of 1 + epsilon.",
    needs=(VERDICTS,),
    computes=WITNESS,
    measure=audited_by_definition("objective_perturbation_general"),
    decide=slides_epsilon(
        "three records with the Huber loss, over the audited epsilons",
        "Even with e^epsilon the noise has to pay for the change of the Hessian as well.",
    ),
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)

# The proof of Theorem 2

CHANGE_OF_VARIABLES = repeated(
    s4_objective_perturbation.CHANGE_OF_VARIABLES,
    "slides08-theorem-2-proof",
    "slide 'Privacy of Algorithm 2'",
    "As exactly one b leads to each output, because the objective is differentiable, the outputs' densities have the ratio "
    "h(b1)/h(b2).",
)


def measure_proof_ratio(evidence: Evidence) -> Measured:
    """The ratio h(b1)/h(b2) alone, without the determinants that it lacks: e^(epsilon |b1 - b2|/2) at its worst."""
    return Measured(shares_of_proportional(measure_noise_shift(evidence).numbers["share"]))


PROOF_RATIO = Claim(
    id="slides08-theorem-2-ratio",
    locator="slide 'Privacy of Algorithm 2'",
    statement="By the bounded norms, the ratio h(b1)/h(b2) is at most 1 + epsilon.",
    computes="the two noise vectors that lead to one output on a pair of neighbouring data sets",
    measure=measure_proof_ratio,
    decide=slides_epsilon("the noise alone, on a pair that pulls as hard as it can", "The ratio is at most e^epsilon."),
    tolerances=BOUND,
)
