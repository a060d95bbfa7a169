"""The regret of Algorithms 1 and 2, and how often it keeps the bounds of Lemmas 3 and 4.

The regret of a run is how much the regularised risk of its output exceeds the least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from epsilometer.auditors.confidence import clopper_pearson_upper
from epsilometer.core import Array, LabelledData, Mechanism
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.papers.claim import Decision, Evidence, Measure, Measured, Numbers

RECORDS = 1_000
DELTAS = (0.05, 0.5)
COVERAGE = {"confidence": 0.999, "loose": 0.1}
"""The tolerances of a bound that holds with a probability."""


@dataclass(frozen=True)
class Setting:
    """A logistic regression problem with 1,000 records."""

    d: int
    lam: float
    epsilon: float
    runs: int
    flat: bool = False

    @property
    def label(self) -> str:
        return f"d={self.d} lam={self.lam:g}{' flat' * self.flat}"

    def data(self, rng: np.random.Generator) -> LabelledData:
        """On the line, one point with either label, where the risk is most curved, or flat, at 0; else as in section 6."""
        if self.d == 1:
            place = 0.0 if self.flat else 1.0
            return labelled_records([((place,), 1.0), ((place,), -1.0)], [RECORDS / 2, RECORDS / 2])
        return separable(RECORDS, rng)


SETTINGS = (
    Setting(1, 0.01, 10.0, 20_000),
    Setting(1, 1.0, 10.0, 20_000),
    Setting(1, 1.0, 10.0, 20_000, flat=True),
    Setting(10, 0.01, 1.0, 2_000),
)
ALGORITHMS: dict[str, Callable[[float, float], Mechanism]] = {
    "algorithm 1": OutputPerturbation,
    "algorithm 2": ObjectivePerturbation2008,
}
RegretBound = Callable[[int, float, float, float, float], float]
"""A bound on the regret from d, lambda, n, epsilon and delta."""


def lemma_3_bound(d: int, lam: float, n: float, epsilon: float, delta: float) -> float:
    """2 d^2 (1 + lam) log^2(d/delta) / (lam n epsilon)^2."""
    return 2 * (1 + lam) * (d * math.log(d / delta) / (lam * n * epsilon)) ** 2


def lemma_4_bound(d: int, lam: float, n: float, epsilon: float, delta: float) -> float:
    """8 d^2 log^2(d/delta) / (lam (n epsilon)^2)."""
    return 8 / lam * (d * math.log(d / delta) / (n * epsilon)) ** 2


def regularised_risk(data: LabelledData, lam: float, w: Array) -> Array:
    """lam/2 |w|^2 and the mean logistic loss, for each row of w."""
    losses = LOGISTIC.value(w @ data.signed.T)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    return lam / 2 * np.einsum("ki,ki->k", w, w) + losses @ weights / weights.sum()


def regret_of_runs(mechanism: Mechanism, setting: Setting, rng: np.random.Generator) -> Array:
    """The regret of each run of a mechanism on one data set of a setting."""
    data = setting.data(rng)
    outputs = mechanism.sample(data, setting.runs, rng)
    least = regularised_risk(data, setting.lam, minimiser(LOGISTIC, data, setting.lam)[None])
    return regularised_risk(data, setting.lam, outputs) - least


@cache
def regrets(evidence: Evidence, algorithm: str, setting: Setting) -> Array:
    """The regret of each run of an algorithm in a setting."""
    mechanism = ALGORITHMS[algorithm](setting.epsilon, setting.lam)
    return regret_of_runs(mechanism, setting, evidence.stream("regret", algorithm, setting.label))


def measure_regret(algorithm: str, bound: RegretBound) -> Measure:
    """How often each setting's runs keep the bound, and how many times the bound is the quantile that it bounds."""

    def measure(evidence: Evidence) -> Measured:
        numbers: dict[str, float] = {}
        for setting in SETTINGS:
            found = regrets(evidence, algorithm, setting)
            for delta in DELTAS:
                limit = bound(setting.d, setting.lam, RECORDS, setting.epsilon, delta)
                numbers |= coverage(f"{setting.label} delta={delta:g}", found, limit, delta)
        return Measured(numbers)

    return measure


def coverage(label: str, values: Array, limit: float, delta: float) -> dict[str, float]:
    """How many values are within the limit, and the limit as a multiple of their quantile at 1 - delta."""
    within = float(np.sum(values <= limit))
    factor = limit / float(np.quantile(values, 1 - delta))
    return {
        f"within, {label}": within,
        f"runs, {label}": float(len(values)),
        f"level, {label}": 1 - delta,
        f"factor, {label}": factor,
    }


def covered_cases(numbers: Numbers) -> list[str]:
    """The labels of the cases whose coverage was measured."""
    return [name.removeprefix("within, ") for name in numbers if name.startswith("within, ")]


def summarise_coverage(numbers: Numbers, tolerances: Numbers) -> tuple[bool, str, float, float]:
    """Whether no case's interval excludes its level; the case of least coverage in words; least and largest factor."""
    labels = covered_cases(numbers)

    def room(label: str) -> float:
        highest = clopper_pearson_upper(numbers[f"within, {label}"], numbers[f"runs, {label}"], 1 - tolerances["confidence"])
        return float(highest) - numbers[f"level, {label}"]

    worst = min(labels, key=room)
    share = numbers[f"within, {worst}"] / numbers[f"runs, {worst}"]
    runs, level = numbers[f"runs, {worst}"], numbers[f"level, {worst}"]
    words = f"{share:.4f} of {runs:,.0f} runs keep the bound at level {level:g} ({worst})"
    factors = [numbers[f"factor, {label}"] for label in labels]
    return room(worst) >= 0, words, min(factors), max(factors)


def decide_coverage(numbers: Numbers, tolerances: Numbers) -> Decision:
    """By the case of least coverage; a bound that is larger than needed in every case holds loosely."""
    kept, words, least, most = summarise_coverage(numbers, tolerances)
    sentence = f"At worst, {words}; the bound is {least:.3g} to {most:.3g} times the quantile that it bounds."
    if not kept:
        return Decision("fails as printed", sentence, instead="The bound holds with a smaller probability.")
    if least > 1 + tolerances["loose"]:
        return Decision("holds, loosely", sentence, factor=least)
    return Decision("holds", sentence)
