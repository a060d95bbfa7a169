"""Validation of the auditors on mechanisms that are held to be correct: error rates of bounds and of whole reports.

Every auditor that can err by chance is repeated. A bound is wrong if it exceeds the epsilon that the mechanism spends on
that pair at the claimed delta. A report is wrong if, after Holm's correction over all of its sampled audits, it calls one of
these mechanisms `violated`. At 95% confidence each may happen in at most 5% of the repetitions; each share comes with its
Clopper-Pearson interval. An exact auditor must never exceed the true epsilon.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from epsilometer.auditors.black_box.auditor import SPEC as BLACK_BOX
from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper, require_confidence
from epsilometer.auditors.exact import Bounded, epsilon_at
from epsilometer.auditors.one_run import SPEC as ONE_RUN
from epsilometer.auditors.one_run import Canaries, OneRun, canaries_for
from epsilometer.auditors.registry import auditors
from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import (
    Auditor,
    EpsilometerError,
    Estimate,
    Guarantee,
    HasDensity,
    Mechanism,
    NeighbouringPair,
    stream,
)
from epsilometer.core.arguments import AtLeastOne, Count, Positive
from epsilometer.core.tables import EMPTY, Table
from epsilometer.evidence.audits import Case, outputs_for
from epsilometer.evidence.verdicts import SLACK, p_value_against_claim
from epsilometer.mechanisms.catalogue import Entry, correct
from epsilometer.mechanisms.randomized_response import RandomizedResponse


class ShareRow(TypedDict):
    """A share of wrong repetitions."""

    repetitions: Annotated[int, "how many there were"]
    wrong: Annotated[int, "how many of them are wrong"]
    share: Annotated[float, "`wrong` as a share of the repetitions"]
    low: Annotated[float, "lower end of its 95% Clopper-Pearson interval", EMPTY]
    high: Annotated[float, "upper end of its 95% Clopper-Pearson interval", EMPTY]


class ValidationRow(TypedDict):
    """How often the bounds of each audit of a correct mechanism are above the truth."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    delta: Annotated[float, "claimed delta"]
    pair: Annotated[float, "number of the pair of neighbouring data sets; empty for audits of a single run", EMPTY]
    auditor: Annotated[str, "name of the auditor"]
    method: Annotated[str, "how the bounds were computed"]
    exact: Annotated[bool, "whether the auditor cannot err by chance"]
    trials: Annotated[int, "outputs drawn in each repetition"]
    truth: Annotated[float, "what a bound must not exceed"]
    truth_kind: Annotated[str, "where that number comes from"]
    repetitions: Annotated[int, "how often the audit was repeated"]
    wrong: Annotated[int, "repetitions whose bound is above the truth"]
    share: Annotated[float, "`wrong` as a share of the repetitions"]
    low: Annotated[float, "lower end of its 95% Clopper-Pearson interval", EMPTY]
    high: Annotated[float, "upper end of its 95% Clopper-Pearson interval", EMPTY]
    above_promise: Annotated[int, "repetitions whose bound is above the claimed epsilon"]
    median_bound: Annotated[float, "median of the bounds"]
    median_of_truth: Annotated[float, "`median_bound` as a share of the truth", EMPTY]


class RepeatedRow(TypedDict):
    """Every single repetition of the audits that can err by chance."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    auditor: Annotated[str, "name of the auditor"]
    pair: Annotated[float, "number of the pair of neighbouring data sets; empty for audits of a single run", EMPTY]
    repetition: Annotated[int, "number of the repetition"]
    bound: Annotated[float, "lower confidence bound on epsilon"]
    p_value: Annotated[float, "p-value against the claimed epsilon"]


class SummaryRow(TypedDict):
    """How often bounds and whole reports are wrong, over all families."""

    what: Annotated[str, "a method, its worst mechanism, the exact auditors, or whole reports"]
    audits: Annotated[int, "audits of each repetition"]
    repetitions: Annotated[int, "repetitions of all of these audits"]
    wrong: Annotated[int, "how many are wrong"]
    share: Annotated[float, "`wrong` as a share of the repetitions"]
    low: Annotated[float, "lower end of its 95% Clopper-Pearson interval", EMPTY]
    high: Annotated[float, "upper end of its 95% Clopper-Pearson interval", EMPTY]
    conclusion: Annotated[str, "holds if the interval is at most 1 - confidence, fails if it is above, open in between"]


VALIDATION = Table[Any]("validation/{family}", ValidationRow)
REPEATED = Table[Any]("validation/repeated/{family}", RepeatedRow)
SUMMARY = Table[Any]("validation/summary", SummaryRow)

CANARIES = 40
"""Canaries of each one-run audit: fewer than in a report, to make a thousand repetitions affordable."""
INTERVAL_ERROR = 0.025
"""The error probability of either end of the interval of a share."""


@dataclass(frozen=True)
class Budget:
    """The claimed epsilon, the number of repetitions, and the outputs drawn for each."""

    epsilon: float
    repetitions: int
    trials: int
    black_box_trials: int
    confidence: float = 0.95

    def trials_of(self, spec: AuditorSpec) -> int:
        """The number of outputs that an auditor draws in one repetition."""
        return outputs_for(spec, self.black_box_trials if spec.name == BLACK_BOX.name else self.trials)


@dataclass(frozen=True)
class Truth:
    """The epsilon that a bound must not exceed, and its origin."""

    epsilon: float
    kind: str

    def exceeded_by(self, bound: float) -> bool:
        """Whether the bound exceeds it by more than rounding errors."""
        return bound > self.epsilon * (1 + SLACK)


@dataclass(frozen=True)
class Check:
    """One audit to be repeated, and the epsilon that its bounds must not exceed."""

    mechanism: str
    guarantee: Guarantee
    pair: float
    """The number of the pair; nan for canaries."""
    auditor: str
    run: Callable[[np.random.Generator], Estimate]
    truth: Truth
    repeats: bool = True
    """Whether to repeat it if it is sampled; if false, a sampled result is discarded and only an exact one counts."""


def validation(
    family: str,
    *,
    epsilon: Positive,
    repetitions: AtLeastOne,
    trials: Count,
    black_box_trials: Count,
    confidence: Positive,
    seed: Count,
    table: Path,
    repeated: Path,
) -> None:
    """Repeat the audits of a family's correct mechanisms: how often is a lower confidence bound above the truth?

    The table `repeated` gets the bound and the p-value against the claimed epsilon of every single repetition.
    """
    if repetitions < 1:
        raise EpsilometerError(f"repetitions is {repetitions}; it must be at least 1")
    budget = Budget(epsilon, repetitions, trials, black_box_trials, confidence)
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
                single += _repeated_rows(check, estimates)
                print(_progress(rows[-1]), file=sys.stderr, flush=True)
    REPEATED.write(repeated, single)
    VALIDATION.write(table, rows)


def repetitions_of(check: Check, repetitions: int, rng: np.random.Generator) -> list[Estimate]:
    """Independent repetitions of one audit: a single one if it is exact, none if it assumes a model."""
    first = check.run(rng)
    if first.model_based or (first.confidence < 1 and not check.repeats):
        return []
    return [first] if first.confidence == 1 else [first, *(check.run(rng) for _ in range(repetitions - 1))]


def row_of(check: Check, estimates: Sequence[Estimate]) -> ValidationRow:
    """The share of bounds above the true epsilon with its confidence interval, and the median bound."""
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


def share_of(wrong: int, repetitions: int, *, by_chance: bool = True) -> ShareRow:
    """The share of wrong repetitions and its 95% Clopper-Pearson interval; exact auditors have no interval."""
    return {
        "repetitions": repetitions,
        "wrong": wrong,
        "share": wrong / repetitions,
        "low": float(clopper_pearson_lower(wrong, repetitions, INTERVAL_ERROR)) if by_chance else math.nan,
        "high": float(clopper_pearson_upper(wrong, repetitions, INTERVAL_ERROR)) if by_chance else math.nan,
    }


def validation_summary(tables: Sequence[Path], *, repeated: Sequence[Path], confidence: Positive, table: Path) -> None:
    """How often bounds and whole reports are wrong: for each method, for its worst mechanism, and for whole reports.

    A share `holds` if its interval is at most 1 - confidence, `fails` if the interval is above, and is `open` otherwise. The
    share of exact auditors holds only if no value exceeds the true epsilon.
    """
    require_confidence(confidence)
    rows = [row for path in tables for row in VALIDATION.read(path)]
    exact = [row for row in rows if row["exact"]]
    sampled = [row for row in rows if not row["exact"]]
    summary = [
        line
        for method in dict.fromkeys(row["method"] for row in sampled)
        for line in _summary_rows(method, [row for row in sampled if row["method"] == method], confidence)
    ]
    if exact:
        summary.append(_exact_summary_row(exact))
    reports = _p_values(repeated)
    always = any(row["above_promise"] for row in exact)
    accused = sum(always or accuses(p_values, confidence) for p_values in reports)
    summary.append(_summary_row("whole reports", len(reports[0]), accused, len(reports), confidence))
    SUMMARY.write(table, summary)


def accuses(p_values: Sequence[float], confidence: float) -> bool:
    """Whether a report with these p-values has a violation; Holm's smallest p-value is the least times their number."""
    return len(p_values) * min(p_values) <= 1 - confidence


def p_value_of(estimate: Estimate, guarantee: Guarantee) -> float:
    """The p-value against the claim, as in verdicts; of an exact value, 0 if it is above the claimed epsilon, else 1."""
    if estimate.confidence < 1:
        return p_value_against_claim(estimate, guarantee)
    return 0.0 if Truth(guarantee.epsilon, "promise").exceeded_by(estimate.epsilon) else 1.0


def _summary_rows(method: str, rows: Sequence[dict[str, Any]], confidence: float) -> Iterator[dict[str, Any]]:
    """All audits of a method together, and its worst audit, whose interval is not corrected for having been selected."""
    repetitions, wrong = (sum(row[column] for row in rows) for column in ("repetitions", "wrong"))
    yield _summary_row(method, len(rows), wrong, repetitions, confidence)
    worst = max(rows, key=lambda row: row["share"])
    yield _summary_row(f"{method}, at worst ({worst['mechanism']})", 1, worst["wrong"], worst["repetitions"], confidence)


def _summary_row(what: str, audits: int, wrong: int, repetitions: int, confidence: float) -> dict[str, Any]:
    share = share_of(wrong, repetitions)
    allowed = 1 - confidence
    conclusion = "holds" if share["high"] <= allowed else "fails" if share["low"] > allowed else "open"
    return {"what": what, "audits": audits, **share, "conclusion": conclusion}


def _exact_summary_row(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    wrong = sum(row["wrong"] for row in rows)
    share = share_of(wrong, len(rows), by_chance=False)
    return {"what": "exact auditors", "audits": len(rows), **share, "conclusion": "fails" if wrong else "holds"}


def _p_values(tables: Sequence[Path]) -> list[list[float]]:
    """The p-values of each simulated report; the r-th report consists of the r-th repetitions of all audits."""
    reports: dict[int, list[float]] = {}
    for table in tables:
        for row in REPEATED.read(table):
            reports.setdefault(row["repetition"], []).append(row["p_value"])
    fewest, most = min(map(len, reports.values())), max(map(len, reports.values()))
    if fewest < most:
        raise EpsilometerError(f"a report has {fewest} audits and another {most}; all families need as many repetitions")
    return [reports[repetition] for repetition in sorted(reports)]


def _repeated_rows(check: Check, estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
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


def _progress(row: ValidationRow) -> str:
    return f"{row['mechanism']}, {row['method']}: {row['wrong']} of {row['repetitions']} above {row['truth']:.4g}"


def _checks(entry: Entry, budget: Budget, seed: int) -> Iterator[Check]:
    """The audits of a mechanism: sampled ones on its worst pair, exact ones on every pair, and one of a single run."""
    case = Case(entry, budget.epsilon, entry.build(budget.epsilon), tuple(entry.pairs()))
    mechanism, guarantee = case.mechanism, _promise(case.mechanism)
    spent = [_spent(mechanism, pair, guarantee, stream(seed, "truth", entry.name, k)) for k, pair in enumerate(case.pairs)]
    worst = int(np.argmax([bounded.value for bounded in spent]))
    sampled_truth, exact_truth = _truth_at(entry, guarantee, spent[worst]), _truth_at(entry, guarantee, None)
    for number, pair in enumerate(case.pairs):
        for spec in auditors():
            if spec.budget == "one run" or not spec.applies(case.subject):
                continue
            whole = spec.budget == "all trials"
            if whole and number != worst:
                continue
            run = _pair_audit(spec.build(case.subject, budget.confidence), mechanism, pair, budget.trials_of(spec))
            truth = sampled_truth if whole else exact_truth
            yield Check(entry.name, guarantee, number, spec.name, run, truth, repeats=number == worst)
    canaries = _canaries(mechanism)
    if canaries:
        yield Check(
            entry.name,
            guarantee,
            math.nan,
            ONE_RUN.name,
            _canary_audit(budget, *canaries),
            Truth(guarantee.epsilon, "promise"),
        )


def _pair_audit(
    auditor: Auditor, mechanism: Mechanism, pair: NeighbouringPair, trials: int
) -> Callable[[np.random.Generator], Estimate]:
    return lambda rng: auditor(mechanism, pair, trials, rng)


def _canary_audit(budget: Budget, mechanism: Mechanism, canaries: Canaries) -> Callable[[np.random.Generator], Estimate]:
    return lambda rng: OneRun(budget.confidence)(mechanism, canaries, rng)


def _promise(mechanism: Mechanism) -> Guarantee:
    guarantee = mechanism.guarantee
    assert guarantee is not None
    return guarantee


def _spent(mechanism: Mechanism, pair: NeighbouringPair, guarantee: Guarantee, rng: np.random.Generator) -> Bounded:
    """The epsilon that is spent on the pair at the claimed delta; unknown, with confidence 0, without a density."""
    if not isinstance(mechanism, HasDensity):
        return Bounded(0.0, 0.0, math.inf, "unknown", 0.0)
    return epsilon_at(mechanism, pair, guarantee.delta, rng=rng)


def _truth_at(entry: Entry, guarantee: Guarantee, spent: Bounded | None) -> Truth:
    """The epsilon that bounds must not exceed: the catalogue's at delta = 0, else a computed one, else the claimed one.

    A computed one is taken at the upper end of its error interval. One by search over outputs may be below the supremum,
    which makes the validation stricter than necessary.
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

    Nothing else is released, so the number of right guesses has exactly the binomial distribution of the one-run bound.
    """
    return Canaries(number, lambda coins: coins.astype(int), lambda output: output, "bits by coin")
