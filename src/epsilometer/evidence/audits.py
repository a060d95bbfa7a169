"""Audits of a family of the catalogue or of a library: every applicable auditor on every pair."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from epsilometer.auditors.confidence import bayesian_lower_bound, epsilon_lower_bound, event_upper_bound
from epsilometer.auditors.exact import privacy_loss_rows
from epsilometer.auditors.exact.spec import EXACT, SAMPLED_CURVE
from epsilometer.auditors.registry import auditors
from epsilometer.auditors.sampled import limit
from epsilometer.auditors.spec import AuditorSpec, Subject
from epsilometer.core import EpsilometerError, Estimate, HasDensity, LabelledData, Mechanism, NeighbouringPair, stream
from epsilometer.core.arguments import Count, Epsilon, Positive
from epsilometer.core.tables import written_whole
from epsilometer.evidence.rows import AUDIT, COUNTS, PRIVACY_LOSS, SECONDS, AuditKey, AuditRow, CountRow, LossRow, SecondsRow
from epsilometer.mechanisms.catalogue import Entry, families, find
from epsilometer.pairs.search import can_be_searched, worst_pair

SEARCH_TRIALS = 4_000
"""The number of outputs from which a search for the worst output starts."""
NO_PAIR = -1
"""The number of the pair in rows of audits that use data sets of their own."""


@dataclass(frozen=True)
class Case:
    """One mechanism at one claimed epsilon, with the pairs of its catalogue entry and the worst pair found by search."""

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
    def subject(self) -> Subject:
        return Subject(self.entry.name, self.promised, self.mechanism)


@dataclass(frozen=True)
class AuditResult:
    """The estimate of one auditor on one pair."""

    auditor: str
    pair: int
    estimate: Estimate
    limit: float
    """The largest epsilon that a test of a single event is expected to certify from these trials; nan if it is unknown."""
    seconds: float


@dataclass(frozen=True)
class Records:
    """The rows of the three tables that audits fill."""

    audits: list[AuditRow] = field(default_factory=list)
    counts: list[CountRow] = field(default_factory=list)
    seconds: list[SecondsRow] = field(default_factory=list)

    def add(self, case: Case, found: AuditResult) -> None:
        self.audits.append(_row(case, found))
        name = case.entry.name
        key = AuditKey(mechanism=name, promised=case.promised, pair=found.pair, auditor=found.auditor)
        self.counts.extend(cast(CountRow, key | counts) for counts in _counts_of(found.estimate))
        self.seconds.append(SecondsRow(**key, seconds=found.seconds))

    def write(self, table: Path, counts: Path, seconds: Path) -> None:
        AUDIT.write(table, self.audits)
        COUNTS.write(counts, self.counts)
        SECONDS.write(seconds, self.seconds)


def audit_family(
    family: str,
    *,
    epsilons: Sequence[Epsilon],
    trials: Count,
    confidence: Positive,
    seed: Count,
    table: Path,
    counts: Path,
    seconds: Path,
    witnesses: Path,
) -> None:
    """Audit every mechanism of a family of the catalogue: exactly, by sampling, and as a black box."""
    if family not in families():
        raise EpsilometerError(f"there is no family {family!r}; there are {', '.join(families())}")
    witnesses.mkdir(parents=True, exist_ok=True)
    records = audit_entries(families()[family], epsilons, trials, confidence, seed, witnesses)
    records.write(table, counts, seconds)


def audit_entries(
    entries: Sequence[Entry],
    epsilons: Sequence[float],
    trials: int,
    confidence: float,
    seed: int,
    witnesses: Path | None = None,
) -> Records:
    """The rows of each mechanism, claimed epsilon, pair and auditor; witnesses of exact values are written into a folder.

    A mechanism without a guarantee is audited once, as if it claimed the smallest epsilon.
    """
    records = Records()
    promises = [
        (entry, promised) for entry in entries for promised in (epsilons if entry.build(1.0).guarantee else [min(epsilons)])
    ]
    for entry, promised in promises:
        case = Case.of(entry, promised, seed)
        for found in audit_case(case, trials, confidence, seed):
            records.add(case, found)
            if found.estimate.witness and witnesses:
                with written_whole(witnesses / f"{entry.name}_{promised:g}_{found.pair}.json") as file:
                    file.write(found.estimate.witness.to_json() + "\n")
        print(f"{entry.name} at {promised:g}", file=sys.stderr, flush=True)
    return records


def audit_case(case: Case, trials: int, confidence: float, seed: int) -> Iterator[AuditResult]:
    """The results of each applicable auditor on each pair, then those of audits of a single run."""
    name, subject = case.entry.name, case.subject
    applicable = [spec for spec in auditors() if spec.applies(subject)]
    for number, pair in enumerate(case.pairs):
        most = math.nan
        if isinstance(case.mechanism, HasDensity):
            rng = stream(seed, "limit", name, case.promised, number)
            most = limit(case.mechanism, pair, trials, rng, draws=trials, confidence=confidence)
        for spec in applicable:
            if spec.budget != "one run":
                rng = stream(seed, "audit", name, case.promised, number, spec.name)
                yield _run(spec, case, number, trials, confidence, rng, most if spec.efficiency else math.nan)
    for spec in applicable:
        if spec.budget == "one run":
            rng = stream(seed, "audit", name, case.promised, spec.name)
            yield _run(spec, case, NO_PAIR, trials, confidence, rng, math.nan)


def _run(spec: AuditorSpec, case: Case, number: int, trials: int, confidence: float, rng: Any, most: float) -> AuditResult:
    started = time.perf_counter()
    auditor, pair = spec.build(case.subject, confidence), case.pairs[max(number, 0)]
    estimate = auditor(case.mechanism, pair, outputs_for(spec, trials), rng)
    name = SAMPLED_CURVE.name if spec.name == EXACT.name and estimate.confidence < 1 else spec.name
    return AuditResult(name, number, estimate, most, time.perf_counter() - started)


def outputs_for(spec: AuditorSpec, trials: int) -> int:
    """The number of outputs that an auditor may draw, given the trials of the audit."""
    return trials if spec.budget == "all trials" else SEARCH_TRIALS


def _row(case: Case, found: AuditResult) -> AuditRow:
    estimate = found.estimate
    return AuditRow(
        mechanism=case.entry.name,
        broken=bool(case.entry.flaw),
        promised=case.promised,
        delta=case.subject.delta,
        adjacency=case.pairs[0].adjacency,
        true_epsilon=case.entry.true_epsilon(case.promised) if case.entry.true_epsilon else math.nan,
        pair=found.pair,
        auditor=found.auditor,
        method=estimate.method,
        certified=estimate.epsilon,
        confidence=estimate.confidence,
        model_based=estimate.model_based,
        limit=found.limit,
        efficiency=_share(estimate.epsilon, found.limit),
        **_other_bounds(estimate),
        trials=estimate.trials,
        **next(_counts_of(estimate), NO_COUNTS),  # type: ignore[typeddict-item]
        choices=len(estimate.counts) + len(estimate.guesses),
        event=estimate.event,
    )


def _share(bound: float, most: float) -> float:
    return bound / most if most > 0 and math.isfinite(bound) else math.nan


def _other_bounds(estimate: Estimate) -> Any:
    """Further bounds from the same counts: the upper end of the event's interval, and the Jeffreys and Bayesian bounds."""
    if not estimate.counts or estimate.model_based or estimate.confidence == 1:
        return {"event_high": math.nan, "jeffreys": math.nan, "bayesian": math.nan}
    counts, confidence, delta = estimate.counts[0], estimate.confidence, estimate.delta
    return {
        "event_high": event_upper_bound(counts, confidence, delta),
        "jeffreys": epsilon_lower_bound(counts, confidence, delta, "jeffreys"),
        "bayesian": bayesian_lower_bound(counts, confidence, delta),
    }


NO_COUNTS: Any = dict.fromkeys(("hits", "of", "other_hits", "other_of", "canaries"), math.nan)


def _counts_of(estimate: Estimate) -> Iterator[Any]:
    """The counts that a bound rests on, the best first: of events under the two data sets, or of right guesses."""
    for counts in estimate.counts:
        values = (counts.hits, counts.trials, counts.other_hits, counts.other_trials)
        yield NO_COUNTS | dict(zip(NO_COUNTS, values, strict=False))
    for guesses in estimate.guesses:
        yield NO_COUNTS | {"hits": guesses.right, "of": guesses.guesses, "canaries": guesses.canaries}


def privacy_loss(tables: Sequence[Path], *, epsilon: Positive, seed: Count, table: Path) -> None:
    """The distribution of the privacy loss, at one claimed epsilon, of each audited mechanism with a density.

    It is that of the pair with the largest exact epsilon (of several, the first).
    """
    spent: dict[str, dict[int, float]] = {}
    for path in tables:
        for row in AUDIT.read(path):
            if row["auditor"] in (EXACT.name, SAMPLED_CURVE.name) and row["promised"] == epsilon:
                spent.setdefault(row["mechanism"], {})[row["pair"]] = row["certified"]
    rows: list[LossRow] = []
    for name, by_pair in spent.items():
        case = Case.of(find(name), epsilon, seed)
        if isinstance(case.mechanism, HasDensity):
            number = max(by_pair, key=by_pair.__getitem__)
            losses = privacy_loss_rows(case.mechanism, case.pairs[number], stream(seed, "privacy loss", name, epsilon))
            rows += [LossRow(mechanism=name, promised=epsilon, pair=number, **row) for row in losses]  # type: ignore[typeddict-item]
            print(f"{name} at {epsilon:g}", file=sys.stderr, flush=True)
    PRIVACY_LOSS.write(table, rows)
