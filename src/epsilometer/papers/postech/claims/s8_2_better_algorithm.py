"""The remarks of postech on when Algorithm 2 is better than Algorithm 1: if c/Lambda + eta > 2."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc, stdtr

from epsilometer.erm import LOGISTIC
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import holds_if
from epsilometer.papers.measures import computed
from epsilometer.papers.nips08.claims.folds import ALONG, CurveTable, curve, curve_tables
from epsilometer.papers.nips08.claims.regret import RECORDS, Setting
from epsilometer.papers.postech.claims.regrets import (
    left_for_noise,
    lemma_1_bound,
    lemma_2_bound,
    prefers_algorithm_2,
    regrets,
)
from epsilometer.papers.protocol import ALGORITHM_1, CMS11

REMARKS = "correctness guarantee, remarks"
CURVES: tuple[CurveTable, ...] = ("learning_curve", "epsilon_curve")


# In their bounds


@computed
def measure_better_bound() -> dict[str, float]:
    """Where the second lemma's bound is the smaller one, for many lambdas and etas, and the condition says otherwise."""
    cases = [(float(lam), eta) for lam in np.geomspace(1e-3, 1e2, 61) for eta in (0.5, 1.0, 1.9, 3.0)]
    wrong = 0
    for lam, eta in cases:
        setting = Setting(10, lam, 1.0, 1)
        smaller = lemma_2_bound(setting, 1.0, 0.05) < lemma_1_bound(setting, 1.0, 0.05, eta)
        wrong += smaller != prefers_algorithm_2(lam, eta)
    return {"cases": float(len(cases)), "wrong": float(wrong)}


def decide_better_bound(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The condition must tell in every case which bound is smaller."""
    sentence = (
        f"In {numbers['wrong']:g} of {numbers['cases']:g} cases the condition does not tell which printed bound is smaller."
    )
    return holds_if(numbers["wrong"] <= tolerances["wrong"], sentence, "Another threshold divides the bounds.")


BETTER_BOUND = Claim(
    id="postech-better-bound",
    locator="correctness guarantee, remark",
    statement="If c/Lambda + eta > 2, the bound of the second lemma is smaller than that of the first.",
    computes="both bounds at 244 pairs of Lambda and eta",
    measure=measure_better_bound,
    decide=decide_better_bound,
    tolerances={"wrong": 0},
)


# In their regrets

CONTESTS = tuple(
    Setting(d, lam, epsilon, runs, flat)
    for d, flat, runs in ((1, False, 4000), (1, True, 4000), (10, False, 400))
    for lam in (0.01, 0.1, 1.0)
    for epsilon in (0.06, 1.0)
    if left_for_noise(epsilon, RECORDS * lam) > 0
)


def measure_better_regret(evidence: Evidence) -> Measured:
    """Algorithm 2's mean regret over Algorithm 1's, with its standard error, where either is preferred.

    For little noise and a risk of curvature k + lam at its minimum, the ratio is (epsilon/(2 beta))^2/(1 + k/lam)^2. On the
    line k is known. Proof: docs/proofs/postech.md.
    """
    numbers = {}
    for setting in CONTESTS:
        first, second = (regrets(evidence, algorithm, setting) for algorithm in (1, 2))
        ratio = float(second.mean() / first.mean())
        relative = [float(np.std(values) / math.sqrt(len(values)) / values.mean()) for values in (first, second)]
        side = "preferred" if prefers_algorithm_2(setting.lam) else "not preferred"
        label = f"{setting.label} epsilon={setting.epsilon:g}"
        numbers[f"{side}, {label}"] = ratio
        numbers[f"error, {label}"] = ratio * math.hypot(*relative)
        if setting.d == 1:
            curved = 0.0 if setting.flat else LOGISTIC.curvature_bound
            left = left_for_noise(setting.epsilon, RECORDS * setting.lam) / setting.epsilon
            numbers[f"rule, {label}"] = (left * (1 + curved / setting.lam)) ** -2
    return Measured(numbers)


def decide_better_regret(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Fails if Algorithm 2's regret is clearly the larger one in a setting where the condition prefers it."""
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


def _read(numbers: Numbers, name: str) -> dict[str, float]:
    """The numbers of that name, by what follows it."""
    return {key.removeprefix(f"{name}, "): value for key, value in numbers.items() if key.startswith(f"{name}, ")}


def _range(values: dict[str, float]) -> str:
    return f"{min(values.values()):.3g} to {max(values.values()):.3g}"


BETTER_REGRET = Claim(
    id="postech-better-regret",
    locator=REMARKS,
    statement="If c/Lambda + eta > 2, Algorithm 2 is better than Algorithm 1, in the regret that the lemmas bound.",
    computes="runs of both algorithms in 18 settings",
    measure=measure_better_regret,
    decide=decide_better_regret,
    tolerances={"standard errors": 4},
)


# In their test errors


def measure_better_experiments(evidence: Evidence) -> Measured:
    """Algorithm 1's test error less Algorithm 2's, in standard errors, wherever beta > 0 and c/lambda + eta > 2."""
    numbers = {}
    for table in CURVES:
        for dataset in ("separable", "unseparable"):
            rows = evidence.table(f"{table}/{dataset}", "method", "epsilon", "lam", "n")
            places = {row[ALONG[table]]: (row["epsilon"], row["lam"], row["n"]) for row in rows if row["method"] == CMS11}
            found = curve(evidence, table, dataset)
            for x, (epsilon, lam, n) in places.items():
                if left_for_noise(epsilon, n * lam) > 0 and prefers_algorithm_2(lam):
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


BETTER_EXPERIMENTS = Claim(
    id="postech-better-experiments",
    locator=REMARKS,
    statement="If c/Lambda + eta > 2, Algorithm 2 finds a better classifier than Algorithm 1, in test error.",
    needs=(*curve_tables("learning_curve"), *curve_tables("epsilon_curve")),
    measure=measure_better_experiments,
    decide=decide_better_experiments,
    tolerances={"standard errors": 4, "confidence": 0.95},
    link="figures/nips08_figure2.svg",
)
