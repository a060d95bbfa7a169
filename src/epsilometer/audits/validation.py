"""Validation of the auditors: how often a bound at 95% exceeds the truth, and how often a whole report accuses wrongly.

Every auditor that can err by chance is run again and again on the mechanisms that are held to be correct. A bound is wrong
where it is above what the mechanism spends on that pair at the promised delta; a report is wrong where, after Holm's
correction over all of its sampled audits, it calls any of these mechanisms `violated`. Both may happen in at most 5% of
the repetitions, and each share comes with its Clopper-Pearson interval. An exact auditor must not accuse at all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.audits import report
from epsilometer.audits.confidence import clopper_pearson_lower, clopper_pearson_upper, require_confidence
from epsilometer.audits.exact import Bounded, epsilon_at
from epsilometer.audits.one_run import Canaries, OneRun, canaries_for
from epsilometer.audits.verdicts import SLACK, against
from epsilometer.core import (
    Auditor,
    EpsilometerError,
    Estimate,
    Guarantee,
    HasDensity,
    Mechanism,
    NeighbouringPair,
    read_table,
    stream,
    write_table,
)
from epsilometer.mechanisms.catalogue import Entry, correct
from epsilometer.mechanisms.randomized_response import RandomizedResponse

CANARIES = 40
"""Canaries of each one-run audit: fewer than in a report, so that a thousand repetitions can be afforded."""
INTERVAL_ERROR = 0.025
"""The error probability of either end of the interval of a share."""


@dataclass(frozen=True)
class Budget:
    """What the repetitions may spend: the promised epsilon, how many there are, and the outputs drawn for each."""

    epsilon: float
    repetitions: int
    trials: int
    black_box_trials: int

    def trials_of(self, label: str, whole: bool) -> int:
        """The outputs that an auditor draws in one repetition."""
        if not whole:
            return report.EXACT_TRIALS
        return self.black_box_trials if label == "black box" else self.trials


@dataclass(frozen=True)
class Truth:
    """What a bound must not exceed, and where that number comes from."""

    epsilon: float
    kind: str

    def exceeded_by(self, bound: float) -> bool:
        """Whether the bound is above the truth by more than rounding explains."""
        return bound > self.epsilon * (1 + SLACK)


@dataclass(frozen=True)
class Check:
    """One audit to be repeated: on which mechanism and pair, and what it is held against."""

    mechanism: str
    guarantee: Guarantee
    pair: float
    """The number of the pair; nan for canaries."""
    auditor: str
    run: Callable[[np.random.Generator], Estimate]
    truth: Truth
    repeats: bool = True
    """Whether to repeat it if it can err by chance; otherwise it counts only where it is exact."""


def validation(family: str, output: Path, *, repeated: Path, budget: Budget, seed: int) -> None:
    """Write a row for each audit of the family's correct mechanisms, with the share of its bounds above the truth; and,
    in the table `repeated`, the bound and the p-value against the promise of every single repetition.
    """
    if budget.repetitions < 1:
        raise EpsilometerError(f"repetitions is {budget.repetitions}; it must be at least 1")
    if not correct(family):
        raise EpsilometerError(
            f"the family {family!r} has no mechanism that is held to be correct; there is no truth to keep"
        )
    rows, single = [], []
    for entry in correct(family):
        for number, check in enumerate(_checks(entry, budget, seed)):
            rng = stream(seed, "validation", check.mechanism, budget.epsilon, check.pair, check.auditor, number)
            estimates = repetitions_of(check, budget.repetitions, rng)
            if estimates:
                rows.append(row_of(check, estimates))
                single += _single(check, estimates)
                print(_progress(rows[-1]), file=sys.stderr, flush=True)
    write_table(repeated, single)
    write_table(output, rows)


def repetitions_of(check: Check, repetitions: int, rng: np.random.Generator) -> list[Estimate]:
    """Independent repetitions of one audit; a single one where it is exact, none where it rests on a model."""
    first = check.run(rng)
    if first.model_based or (first.confidence < 1 and not check.repeats):
        return []
    return [first] if first.confidence == 1 else [first, *(check.run(rng) for _ in range(repetitions - 1))]


def row_of(check: Check, estimates: Sequence[Estimate]) -> dict[str, Any]:
    """How often the bounds are above the truth, with the interval of that share, and how near they come to it."""
    bounds = [estimate.epsilon for estimate in estimates]
    median = float(np.median(bounds))
    above = sum(map(check.truth.exceeded_by, bounds))
    exact = estimates[0].confidence == 1
    promise = Truth(check.guarantee.epsilon, "promise")
    return {
        "mechanism": check.mechanism,
        "promised": check.guarantee.epsilon,
        "delta": check.guarantee.delta,
        "pair": check.pair,
        "auditor": check.auditor,
        "method": estimates[0].method,
        "exact": exact,
        "trials": estimates[0].trials,
        "truth": check.truth.epsilon,
        "truth_kind": check.truth.kind,
        **share_of(above, len(estimates), by_chance=not exact),
        "above_promise": sum(map(promise.exceeded_by, bounds)),
        "median_bound": median,
        "median_of_truth": median / check.truth.epsilon if check.truth.epsilon else math.nan,
    }


def share_of(wrong: int, repetitions: int, *, by_chance: bool = True) -> dict[str, float]:
    """The share of wrong repetitions and its 95% Clopper-Pearson interval; an auditor that is exact has none."""
    return {
        "repetitions": repetitions,
        "wrong": wrong,
        "share": wrong / repetitions,
        "low": float(clopper_pearson_lower(wrong, repetitions, INTERVAL_ERROR)) if by_chance else math.nan,
        "high": float(clopper_pearson_upper(wrong, repetitions, INTERVAL_ERROR)) if by_chance else math.nan,
    }


def validation_summary(tables: Sequence[Path], repeated: Sequence[Path], output: Path, *, confidence: float) -> None:
    """Write a row for each method over all mechanisms, for its worst mechanism, and for whole reports.

    A share `holds` if its interval is at most 1 - confidence, `fails` if it is above, and is `open` in between; that of
    exact auditors holds only if none of them ever exceeds the truth.
    """
    require_confidence(confidence)
    rows = [row for table in tables for row in read_table(table, "mechanism", "method", "exact", "wrong")]
    exact = [row for row in rows if row["exact"]]
    sampled = [row for row in rows if not row["exact"]]
    summary = [
        line
        for method in dict.fromkeys(row["method"] for row in sampled)
        for line in _lines(method, [row for row in sampled if row["method"] == method], confidence)
    ]
    if exact:
        summary.append(_exact_line(exact))
    reports = _p_values(repeated)
    always = any(row["above_promise"] for row in exact)
    accused = sum(always or accuses(p_values, confidence) for p_values in reports)
    summary.append(_line("whole reports", len(reports[0]), accused, len(reports), confidence))
    write_table(output, summary)


def accuses(p_values: Sequence[float], confidence: float) -> bool:
    """Whether a report with these p-values calls a promise violated: Holm's smallest is the smallest times their number."""
    return len(p_values) * min(p_values) <= 1 - confidence


def p_value_of(estimate: Estimate, guarantee: Guarantee) -> float:
    """The p-value against the promise, as verdicts take it; for an exact value, 0 if it is above the promise, or else 1."""
    if estimate.confidence < 1:
        return against(estimate, guarantee)
    return 0.0 if Truth(guarantee.epsilon, "promise").exceeded_by(estimate.epsilon) else 1.0


def _lines(method: str, rows: Sequence[dict[str, Any]], confidence: float) -> Iterator[dict[str, Any]]:
    """All audits by one method together, and the one with the largest share, whose interval knows nothing of that choice."""
    repetitions, wrong = (sum(row[column] for row in rows) for column in ("repetitions", "wrong"))
    yield _line(method, len(rows), wrong, repetitions, confidence)
    worst = max(rows, key=lambda row: row["share"])
    yield _line(f"{method}, at worst ({worst['mechanism']})", 1, worst["wrong"], worst["repetitions"], confidence)


def _line(what: str, audits: int, wrong: int, repetitions: int, confidence: float) -> dict[str, Any]:
    share = share_of(wrong, repetitions)
    allowed = 1 - confidence
    conclusion = "holds" if share["high"] <= allowed else "fails" if share["low"] > allowed else "open"
    return {"what": what, "audits": audits, **share, "conclusion": conclusion}


def _exact_line(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    wrong = sum(row["wrong"] for row in rows)
    share = share_of(wrong, len(rows), by_chance=False)
    return {"what": "exact auditors", "audits": len(rows), **share, "conclusion": "fails" if wrong else "holds"}


def _p_values(tables: Sequence[Path]) -> list[list[float]]:
    """The p-values of the sampled audits of each report: the r-th repetition of all mechanisms together."""
    reports: dict[int, list[float]] = {}
    for table in tables:
        for row in read_table(table, "repetition", "p_value"):
            reports.setdefault(row["repetition"], []).append(row["p_value"])
    fewest, most = min(map(len, reports.values())), max(map(len, reports.values()))
    if fewest < most:
        raise EpsilometerError(f"a report has {fewest} audits and another {most}; all families need as many repetitions")
    return [reports[repetition] for repetition in sorted(reports)]


def _single(check: Check, estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    return [
        {
            "mechanism": check.mechanism,
            "auditor": check.auditor,
            "pair": check.pair,
            "repetition": repetition,
            "bound": estimate.epsilon,
            "p_value": p_value_of(estimate, check.guarantee),
        }
        for repetition, estimate in enumerate(estimates)
        if len(estimates) > 1 or estimate.confidence < 1
    ]


def _progress(row: dict[str, Any]) -> str:
    return f"{row['mechanism']}, {row['method']}: {row['wrong']} of {row['repetitions']} above {row['truth']:.4g}"


def _checks(entry: Entry, budget: Budget, seed: int) -> Iterator[Check]:
    """A report's auditors on the pair on which most is spent, the exact ones on every pair, and an audit of a single run."""
    case = report.Case(entry, budget.epsilon, entry.build(budget.epsilon), tuple(entry.pairs()))
    mechanism, guarantee = case.mechanism, _promise(case.mechanism)
    spent = [_spent(mechanism, pair, guarantee, stream(seed, "truth", entry.name, k)) for k, pair in enumerate(case.pairs)]
    worst = int(np.argmax([bounded.value for bounded in spent]))
    sampled_truth, exact_truth = _truth_at(entry, guarantee, spent[worst]), _truth_at(entry, guarantee, None)
    for number, pair in enumerate(case.pairs):
        for label, auditor, whole in report.auditors(case):
            if whole and number != worst:
                continue
            run = _on_pair(auditor, mechanism, pair, budget.trials_of(label, whole))
            truth = sampled_truth if whole else exact_truth
            yield Check(entry.name, guarantee, number, label, run, truth, repeats=number == worst)
    canaries = _canaries(mechanism)
    if canaries:
        yield Check(entry.name, guarantee, math.nan, "one run", _on_canaries(*canaries), Truth(guarantee.epsilon, "promise"))


def _on_pair(
    auditor: Auditor, mechanism: Mechanism, pair: NeighbouringPair, trials: int
) -> Callable[[np.random.Generator], Estimate]:
    return lambda rng: auditor(mechanism, pair, trials, rng)


def _on_canaries(mechanism: Mechanism, canaries: Canaries) -> Callable[[np.random.Generator], Estimate]:
    return lambda rng: OneRun()(mechanism, canaries, rng)


def _promise(mechanism: Mechanism) -> Guarantee:
    guarantee = mechanism.guarantee
    assert guarantee is not None
    return guarantee


def _spent(mechanism: Mechanism, pair: NeighbouringPair, guarantee: Guarantee, rng: np.random.Generator) -> Bounded:
    """The epsilon that is spent on the pair at the promised delta; without a density it is unknown, with confidence 0."""
    if not isinstance(mechanism, HasDensity):
        return Bounded(0.0, 0.0, math.inf, "unknown", 0.0)
    return epsilon_at(mechanism, pair, guarantee.delta, rng=rng)


def _truth_at(entry: Entry, guarantee: Guarantee, spent: Bounded | None) -> Truth:
    """The catalogue's own value for pure promises; else a computed one, at the upper end of its error; else the promise.

    A value by search over outputs may be below the supremum, never above it: bounds are then held to more than they must
    keep.
    """
    if entry.true_epsilon is not None and guarantee.delta == 0:
        return Truth(entry.true_epsilon(guarantee.epsilon), "catalogue")
    if spent is None or spent.confidence < 1:
        return Truth(guarantee.epsilon, "promise")
    return Truth(spent.high if math.isfinite(spent.high) else spent.value, spent.method)


def _canaries(mechanism: Mechanism) -> tuple[Mechanism, Canaries] | None:
    """The mechanism to run and its canaries, where a one-run audit applies."""
    if isinstance(mechanism, RandomizedResponse):
        return mechanism, bit_canaries(CANARIES)
    return canaries_for(mechanism, CANARIES)


def bit_canaries(number: int) -> Canaries:
    """For randomised response: each canary is a bit, and its randomised bit is its score.

    Nothing else is released, so the right guesses reach the binomial law that the one-run bound allows for.
    """
    return Canaries(number, lambda coins: coins.astype(int), lambda output: output, "bits by coin")
