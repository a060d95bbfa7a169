"""Section 6 of nips08 on the whole: whether the new method is superior, and what privacy costs."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from epsilometer.data.synthetic import SYNTHETIC
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.nips08.claims.figure_1 import RECOVERED, recovered_rows
from epsilometer.papers.nips08.claims.figure_2 import MOST, decide_leads, measure_leads
from epsilometer.papers.nips08.claims.folds import CORRECTED, NAMES, CurveTable, curve, curve_tables, read_series, series
from epsilometer.papers.nips08.claims.s6_7_epsilon_curves import CHANCE
from epsilometer.papers.nips08.experiments import ALL_CELLS
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, STANDARD

CURVES: tuple[CurveTable, ...] = ("learning_curve", "epsilon_curve")


def measure_all_leads(evidence: Evidence) -> Measured:
    """All points of all four curves of Figure 2, numbered."""
    numbers: dict[str, float] = {}
    leads: list[float] = []
    corrected: list[float] = []
    for dataset in SYNTHETIC:
        for table in CURVES:
            points = measure_leads(table, dataset, evidence).numbers
            numbers["folds"] = points["folds"]
            leads += read_series(points, "new").values()
            corrected += read_series(points, CORRECTED).values()
    return Measured(numbers | series("new", dict(enumerate(leads, 1))) | series(CORRECTED, dict(enumerate(corrected, 1))))


SIMULATIONS_SUPERIOR = Claim(
    id="nips08-simulations-superior",
    locator="abstract, sections 1 and 7",
    statement="Experiments show that the new method learns better than the sensitivity method.",
    needs=(*curve_tables("learning_curve"), *curve_tables("epsilon_curve")),
    measure=measure_all_leads,
    decide=partial(decide_leads, "points of the four curves"),
    tolerances=MOST,
    link="figures/nips08_figure2.svg",
)


def measure_cost(evidence: Evidence) -> Measured:
    """How far, at each epsilon, the new method is from standard regression on the way to chance, on the worse data set."""
    shares: dict[float, float] = {}
    for dataset in SYNTHETIC:
        points = curve(evidence, "epsilon_curve", dataset)
        (standard,) = (folds.mean for folds in points[STANDARD].values())
        for epsilon, folds in points[ALGORITHM_2].items():
            share = (folds.mean - standard) / (CHANCE - standard)
            shares[epsilon] = max(share, shares.get(epsilon, -math.inf))
    return Measured(series("share", shares) | {"assumed epsilon": recovered_rows(evidence)[ALL_CELLS, ALL_CELLS]["epsilon"]})


def decide_cost(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Not terrible: less than the stated share of the way to chance; at all epsilons, at none, or depending on it."""
    shares = read_series(numbers, "share")
    mild = sorted(epsilon for epsilon, share in shares.items() if share <= tolerances["share"])
    nearest = min(shares, key=lambda epsilon: abs(math.log(epsilon / numbers["assumed epsilon"])))
    sentence = (
        f"The new method loses {max(shares.values()):.0%} to {min(shares.values()):.0%} of the way from standard regression "
        f"to chance, and {shares[nearest]:.0%} at {nearest:g}, next to the epsilon recovered from Figure 1."
    )
    if len(mild) == len(shares):
        return Decision("reproduced", sentence)
    if not mild:
        return Decision("not reproduced", sentence)
    return Decision(
        "underspecified",
        sentence,
        instead="Missing: what counts as terrible, and at which epsilon. If "
        f"{tolerances['share']:.0%} of the way is the limit, it holds from epsilon = {mild[0]:g}.",
    )


COST_NOT_TERRIBLE = Claim(
    id="nips08-cost-not-terrible",
    locator="section 6, first paragraph",
    statement="The new method does not make learning terribly worse than standard logistic regression.",
    needs=(*curve_tables("epsilon_curve"), RECOVERED),
    measure=measure_cost,
    decide=decide_cost,
    tolerances={"share": 0.5},
    link="figures/nips08_figure2.svg",
)


def measure_costless_epsilon(evidence: Evidence) -> Measured:
    """For each method, the epsilon from which on its error is standard regression's in every fold of a data set."""
    numbers: dict[str, float] = {}
    for dataset in SYNTHETIC:
        points = curve(evidence, "epsilon_curve", dataset)
        (standard,) = points[STANDARD].values()
        for name in (ALGORITHM_1, ALGORITHM_2):
            free = math.inf
            for epsilon in sorted(points[name], reverse=True):
                if not np.array_equal(points[name][epsilon].error, standard.error):
                    break
                free = epsilon
            numbers[f"{dataset}, {NAMES[name]}, free from"] = free
            excess = min(folds.mean for folds in points[name].values()) - standard.mean
            numbers[f"{dataset}, {NAMES[name]}, least excess"] = excess
    return Measured(numbers)


def decide_inevitable(numbers: Numbers, _: Numbers) -> Decision:
    """One method and data set without any loss is enough to refute it."""
    free = {name.removesuffix(", free from"): value for name, value in numbers.items() if name.endswith(", free from")}
    without = {name: value for name, value in free.items() if math.isfinite(value)}
    least = min(value for name, value in numbers.items() if name.endswith(", least excess"))
    if not without:
        return Decision("holds", f"Both private methods err more than standard regression, by at least {least:.5f}.")
    cases = "; ".join(f"{name}: epsilon = {value:g}" for name, value in without.items())
    return Decision(
        "fails as printed",
        f"Test errors are those of standard regression in every fold and restart from some epsilon on ({cases}).",
        instead="The noise always moves the classifier, but its cost in test error vanishes as epsilon grows.",
    )


COST_INEVITABLE = Claim(
    id="nips08-cost-inevitable",
    locator="section 6, first paragraph",
    statement="A loss of performance cannot be avoided, because both methods add noise.",
    needs=curve_tables("epsilon_curve"),
    measure=measure_costless_epsilon,
    decide=decide_inevitable,
    link="epsilon_curve/separable.csv",
)
