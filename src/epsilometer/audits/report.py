"""Every auditor on every mechanism of a family, and the verdicts of a whole report."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epsilometer.audits.attainability import Attainability
from epsilometer.audits.black_box import BlackBox
from epsilometer.audits.confidence import bayesian_lower_bound, epsilon_lower_bound, event_upper_bound
from epsilometer.audits.exact import ExactLikelihoodRatio, ExactPrivacyCurve, privacy_loss_rows
from epsilometer.audits.gaussian_shape import GaussianShape
from epsilometer.audits.one_run import OneRun, canaries_for
from epsilometer.audits.sampled import SampledLikelihoodRatio, limit
from epsilometer.audits.verdicts import Audit, findings
from epsilometer.core import (
    Auditor,
    Counts,
    EpsilometerError,
    Estimate,
    Guarantee,
    Guesses,
    HasDensity,
    LabelledData,
    Mechanism,
    NeighbouringPair,
    read_table,
    stream,
    write_table,
)
from epsilometer.core.tables import written_whole
from epsilometer.mechanisms.catalogue import Entry, families, find
from epsilometer.pairs.search import can_be_searched, worst_pair

EXACT_TRIALS = 4_000
"""Outputs from which the search for the worst output starts."""
CANARIES = 100
"""Records at stake in an audit of a single run."""


@dataclass(frozen=True)
class Case:
    """One mechanism at one promise, and the pairs on which it is audited: its own, and the one found by search."""

    entry: Entry
    promised: float
    mechanism: Mechanism
    pairs: tuple[NeighbouringPair, ...]

    @classmethod
    def of(cls, entry: Entry, promised: float, seed: int) -> Case:
        mechanism, pairs = entry.build(promised), tuple(entry.pairs())
        if isinstance(pairs[0].first, LabelledData) and can_be_searched(mechanism, n := int(pairs[0].first.n)):
            pairs += (worst_pair(mechanism, n, 2, stream(seed, "worst pair", entry.name, promised)).pair,)
        return cls(entry, promised, mechanism, pairs)

    @property
    def delta(self) -> float:
        return self.mechanism.guarantee.delta if self.mechanism.guarantee else 0.0


@dataclass(frozen=True)
class Audited:
    """What one auditor found on one pair of a case."""

    auditor: str
    pair: int
    estimate: Estimate
    limit: float
    """The most that any test of a single event could be expected to certify from these trials; nan where that is unknown."""
    seconds: float


def audit(
    family: str, output: Path, *, seconds: Path, witnesses: Path, epsilons: Sequence[float], trials: int, seed: int
) -> None:
    """Audit every mechanism of a family of the catalogue."""
    if family not in families():
        raise EpsilometerError(f"there is no family {family!r}; there are {', '.join(families())}")
    witnesses.mkdir(parents=True, exist_ok=True)
    rows, times = audit_entries(families()[family], epsilons, trials, seed, witnesses)
    write_table(output, rows)
    write_table(seconds, times)


def audit_entries(
    entries: Sequence[Entry], epsilons: Sequence[float], trials: int, seed: int, witnesses: Path | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A row for each mechanism, promised epsilon, pair and auditor, and how long each took, in a table of its own, since
    that changes from run to run. A witness of each exact one is written into the folder `witnesses`.

    A mechanism that promises nothing is audited once, as if it had promised the smallest epsilon.
    """
    rows, times = [], []
    promises = [
        (entry, promised) for entry in entries for promised in (epsilons if entry.build(1.0).guarantee else [min(epsilons)])
    ]
    for entry, promised in promises:
        case = Case.of(entry, promised, seed)
        for found in audited(case, trials, seed):
            rows.append(_row(case, found))
            times.append({key: rows[-1][key] for key in KEYS} | {"seconds": found.seconds})
            if found.estimate.witness and witnesses:
                with written_whole(witnesses / f"{entry.name}_{promised:g}_{found.pair}.json") as file:
                    file.write(found.estimate.witness.to_json() + "\n")
        print(f"{entry.name} at {promised:g}", file=sys.stderr, flush=True)
    return rows, times


KEYS = ("mechanism", "promised", "pair", "auditor")
"""What tells the rows of an audit table apart."""


def audited(case: Case, trials: int, seed: int) -> Iterator[Audited]:
    """What each auditor that applies finds on each pair, and in a single run."""
    name, mechanism = case.entry.name, case.mechanism
    for number, pair in enumerate(case.pairs):
        most = math.nan
        if isinstance(mechanism, HasDensity):
            most = limit(mechanism, pair, trials, stream(seed, "limit", name, case.promised, number), draws=trials)
        for label, auditor, whole in auditors(case):
            rng = stream(seed, "audit", name, case.promised, number, label)
            started = time.perf_counter()
            estimate = auditor(mechanism, pair, trials if whole else EXACT_TRIALS, rng)
            at_most = most if label in ("sampled", "black box") else math.nan
            if label == "exact" and estimate.confidence < 1:
                label = "sampled curve"
            yield Audited(label, number, estimate, at_most, time.perf_counter() - started)
    canaries = canaries_for(mechanism, CANARIES)
    if canaries:
        rng, started = stream(seed, "audit", name, case.promised, "one run"), time.perf_counter()
        estimate = OneRun()(*canaries, rng)
        yield Audited("one run", -1, estimate, math.nan, time.perf_counter() - started)


def auditors(case: Case) -> Iterator[tuple[str, Auditor, bool]]:
    """The auditors of a pair that apply: what to call each, and whether it draws the whole budget."""
    name, promised, mechanism = case.entry.name, case.promised, case.mechanism
    if hasattr(mechanism, "attainable"):
        yield "exact", Attainability(name, promised), False
    if isinstance(mechanism, HasDensity):
        yield "exact", ExactPrivacyCurve() if case.delta else ExactLikelihoodRatio(name, promised), False
        yield "sampled", SampledLikelihoodRatio(), True
        if case.delta:
            yield "Gaussian shape", GaussianShape(delta=case.delta), True
    yield "black box", BlackBox(confirm=True), True


def _row(case: Case, found: Audited) -> dict[str, Any]:
    estimate = found.estimate
    return {
        "mechanism": case.entry.name,
        "broken": bool(case.entry.flaw),
        "promised": case.promised,
        "delta": case.delta,
        "adjacency": case.pairs[0].adjacency,
        "true_epsilon": case.entry.true_epsilon(case.promised) if case.entry.true_epsilon else math.nan,
        "pair": found.pair,
        "auditor": found.auditor,
        "method": estimate.method,
        "epsilon": estimate.epsilon,
        "confidence": estimate.confidence,
        "model_based": estimate.model_based,
        "limit": found.limit,
        "efficiency": _share(estimate.epsilon, found.limit),
        **_other_bounds(estimate),
        "trials": estimate.trials,
        **_counted(estimate),
        "event": estimate.event,
    }


def _share(bound: float, most: float) -> float:
    return bound / most if most > 0 and math.isfinite(bound) else math.nan


def _other_bounds(estimate: Estimate) -> dict[str, float]:
    """What else the same counts give: the upper end for their event, and two readings that may err more than they say."""
    if not estimate.counts or estimate.model_based or estimate.confidence == 1:
        return {"event_high": math.nan, "jeffreys": math.nan, "bayesian": math.nan}
    counts, confidence, delta = estimate.counts[0], estimate.confidence, estimate.delta
    return {
        "event_high": event_upper_bound(counts, confidence, delta),
        "jeffreys": epsilon_lower_bound(counts, confidence, delta, "jeffreys"),
        "bayesian": bayesian_lower_bound(counts, confidence, delta),
    }


def _counted(estimate: Estimate) -> dict[str, float]:
    """The counts behind a bound: of an event under either data set, or of right guesses about canaries."""
    row = dict.fromkeys(("hits", "of", "other_hits", "other_of", "canaries"), math.nan)
    if estimate.counts:
        counts = estimate.counts[0]
        row |= zip(row, (counts.hits, counts.trials, counts.other_hits, counts.other_trials), strict=False)
    if estimate.guesses:
        guesses = estimate.guesses[0]
        row |= {"hits": guesses.right, "of": guesses.guesses, "canaries": guesses.canaries}
    return row | {"choices": len(estimate.counts) + len(estimate.guesses)}


def verdicts(tables: Sequence[Path], output: Path, *, seconds: Sequence[Path], confidence: float) -> None:
    """Write a verdict for each mechanism and promise of a report, with Holm's correction over all of its sampled audits.

    Beside it stand what was promised, what is exactly spent, the largest bound of each auditor over all pairs, and what the
    audits cost. The bounds of the Gaussian shape, of Jeffreys and of the Bayesian reading play no part in the verdict.
    """
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for table in tables:
        for row in read_table(table, *KEYS, "hits"):
            groups.setdefault((row["mechanism"], row["promised"]), []).append(row)
    times: dict[tuple[str, float], float] = {}
    for table in seconds:
        for row in read_table(table, *KEYS, "seconds"):
            case = (row["mechanism"], row["promised"])
            times[case] = times.get(case, 0.0) + row["seconds"]
    audits = [Audit(_guarantee(rows[0]), tuple(_estimate(row) for row in rows)) for rows in groups.values()]
    write_table(
        output,
        [
            {
                "mechanism": name,
                "promised": promised,
                **{key: rows[0][key] for key in ("delta", "adjacency", "broken", "true_epsilon")},
                "exact": _largest(rows, "exact"),
                "sampled_curve": _largest(rows, "sampled curve"),
                "sampled": _largest(rows, "sampled"),
                "sampled_efficiency": _largest(rows, "sampled", "efficiency"),
                "black_box": _largest(rows, "black box"),
                "black_box_efficiency": _largest(rows, "black box", "efficiency"),
                "one_run": _largest(rows, "one run"),
                "gaussian_shape": _largest(rows, "Gaussian shape"),
                "jeffreys": _largest(rows, "sampled", "jeffreys"),
                "bayesian": _largest(rows, "sampled", "bayesian"),
                "trials": sum(row["trials"] for row in rows),
                "p_value": finding.p_value,
                "verdict": finding.verdict,
                "seconds": round(times[name, promised], 3),
            }
            for ((name, promised), rows), finding in zip(groups.items(), findings(audits, confidence), strict=True)
        ],
    )


def privacy_loss(tables: Sequence[Path], output: Path, *, epsilon: float, seed: int) -> None:
    """Write the distribution of the privacy loss, at one promise, of each audited mechanism that knows its density.

    It is that of the pair on which the audits found most to be spent; of such pairs, of the first.
    """
    spent: dict[str, dict[int, float]] = {}
    for table in tables:
        for row in read_table(table, *KEYS, "epsilon"):
            if row["auditor"] in ("exact", "sampled curve") and row["promised"] == epsilon:
                spent.setdefault(row["mechanism"], {})[row["pair"]] = row["epsilon"]
    rows = []
    for name, by_pair in spent.items():
        case = Case.of(find(name), epsilon, seed)
        if isinstance(case.mechanism, HasDensity):
            number = max(by_pair, key=by_pair.__getitem__)
            table_rows = privacy_loss_rows(case.mechanism, case.pairs[number], stream(seed, "privacy loss", name, epsilon))
            rows += [{"mechanism": name, "promised": epsilon, "pair": number, **row} for row in table_rows]
            print(f"{name} at {epsilon:g}", file=sys.stderr, flush=True)
    write_table(output, rows)


def _guarantee(row: dict[str, Any]) -> Guarantee:
    return Guarantee(row["promised"], row["adjacency"], row["delta"])


def _estimate(row: dict[str, Any]) -> Estimate:
    """The estimate behind a row of an audit table, as far as verdicts need it."""
    one_run, sampled = not math.isnan(row["canaries"]), not math.isnan(row["other_of"])
    counts = Counts(row["hits"], row["of"], row["other_hits"], row["other_of"]) if sampled else None
    guesses = Guesses(row["hits"], row["of"], row["canaries"]) if one_run else None
    return Estimate(
        float(row["epsilon"]),
        row["method"],
        row["confidence"],
        row["delta"],
        trials=row["trials"],
        counts=(counts,) * row["choices"] if counts else (),
        guesses=(guesses,) * row["choices"] if guesses else (),
        model_based=row["model_based"],
    )


def _largest(rows: Sequence[dict[str, Any]], auditor: str, column: str = "epsilon") -> float:
    """The value, on the pair for which that auditor's bound is largest; nan if it does not apply."""
    own = [row for row in rows if row["auditor"] == auditor]
    return float(max(own, key=lambda row: row["epsilon"])[column]) if own else math.nan
