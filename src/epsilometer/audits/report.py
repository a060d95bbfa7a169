"""Every auditor on every mechanism of a family, and the verdicts of a whole report."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from epsilometer.audits.attainability import Attainability
from epsilometer.audits.black_box import BlackBox
from epsilometer.audits.exact import ExactLikelihoodRatio, ExactPrivacyCurve
from epsilometer.audits.gaussian_shape import GaussianShape
from epsilometer.audits.sampled import SampledLikelihoodRatio
from epsilometer.audits.verdicts import Audit, findings
from epsilometer.core import (
    Auditor,
    Counts,
    EpsilometerError,
    Estimate,
    Guarantee,
    HasDensity,
    Mechanism,
    read_table,
    stream,
    write_table,
)
from epsilometer.core.tables import written_whole
from epsilometer.mechanisms.catalogue import Entry, families

EXACT_TRIALS = 4_000
"""Outputs from which the search for the worst output starts."""


def audit(
    family: str, output: Path, *, seconds: Path, witnesses: Path, epsilons: Sequence[float], trials: int, seed: int
) -> None:
    """Write a row for each mechanism of the family, promised epsilon, pair and auditor; a witness for each exact one; and
    how long each took, in a table of its own, since that changes from run to run.

    A mechanism that promises nothing is audited once, as if it had promised the smallest epsilon.
    """
    if family not in families():
        raise EpsilometerError(f"there is no family {family!r}; there are {', '.join(families())}")
    rows, times = [], []
    cases = [
        (entry, promised)
        for entry in families()[family]
        for promised in (epsilons if entry.build(1.0).guarantee else [min(epsilons)])
    ]
    witnesses.mkdir(parents=True, exist_ok=True)
    for entry, promised in cases:
        for label, number, estimate, taken in _audited(entry, promised, trials, seed):
            rows.append(_row(entry, promised, number, label, estimate))
            times.append({"mechanism": entry.name, "promised": promised, "pair": number, "auditor": label, "seconds": taken})
            if estimate.witness:
                with written_whole(witnesses / f"{entry.name}_{promised:g}_{number}.json") as file:
                    file.write(estimate.witness.to_json() + "\n")
        print(f"{entry.name} at {promised:g}", file=sys.stderr, flush=True)
    write_table(output, rows)
    write_table(seconds, times)


def verdicts(tables: Sequence[Path], output: Path, *, confidence: float) -> None:
    """Write a verdict for each mechanism and promise of a report, with Holm's correction over all of its sampled audits."""
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for table in tables:
        for row in read_table(table, "mechanism", "promised", "hits"):
            groups.setdefault((row["mechanism"], row["promised"]), []).append(row)
    audits = [Audit(_guarantee(rows[0]), tuple(_estimate(row) for row in rows)) for rows in groups.values()]
    write_table(
        output,
        [
            {
                "mechanism": name,
                "promised": promised,
                "delta": rows[0]["delta"],
                "broken": rows[0]["broken"],
                "true_epsilon": rows[0]["true_epsilon"],
                "exact": _largest(rows, "exact"),
                "sampled": _largest(rows, "sampled"),
                "black_box": _largest(rows, "black box"),
                "p_value": finding.p_value,
                "verdict": finding.verdict,
            }
            for ((name, promised), rows), finding in zip(groups.items(), findings(audits, confidence), strict=True)
        ],
    )


def _auditors(entry: Entry, mechanism: Mechanism, promised: float) -> Iterator[tuple[str, Auditor, bool]]:
    """The auditors that apply: what to call each, and whether it draws the whole budget."""
    delta = mechanism.guarantee.delta if mechanism.guarantee else 0.0
    if hasattr(mechanism, "attainable"):
        yield "exact", Attainability(entry.name, promised), False
    if isinstance(mechanism, HasDensity):
        yield (
            ("exact", ExactPrivacyCurve(), False) if delta else ("exact", ExactLikelihoodRatio(entry.name, promised), False)
        )
        yield "sampled", SampledLikelihoodRatio(), True
        if delta:
            yield "Gaussian shape", GaussianShape(delta=delta), True
    yield "black box", BlackBox(confirm=True), True


def _audited(entry: Entry, promised: float, trials: int, seed: int) -> Iterator[tuple[str, int, Estimate, float]]:
    """Each auditor's label, the pair's number, the estimate, and the seconds that it took."""
    mechanism = entry.build(promised)
    for number, pair in enumerate(entry.pairs()):
        for label, auditor, whole in _auditors(entry, mechanism, promised):
            rng = stream(seed, "audit", entry.name, promised, number, label)
            started = time.perf_counter()
            estimate = auditor(mechanism, pair, trials if whole else EXACT_TRIALS, rng)
            yield label, number, estimate, time.perf_counter() - started


def _row(entry: Entry, promised: float, number: int, label: str, estimate: Estimate) -> dict[str, Any]:
    guarantee, pair = entry.build(promised).guarantee, entry.pairs()[number]
    counts = estimate.counts[0] if estimate.counts else None
    return {
        "mechanism": entry.name,
        "broken": bool(entry.flaw),
        "promised": promised,
        "delta": guarantee.delta if guarantee else 0.0,
        "adjacency": pair.adjacency,
        "true_epsilon": entry.true_epsilon(promised) if entry.true_epsilon else math.nan,
        "pair": number,
        "auditor": label,
        "method": estimate.method,
        "epsilon": estimate.epsilon,
        "confidence": estimate.confidence,
        "model_based": estimate.model_based,
        "trials": estimate.trials,
        "hits": counts.hits if counts else math.nan,
        "of": counts.trials if counts else math.nan,
        "other_hits": counts.other_hits if counts else math.nan,
        "other_of": counts.other_trials if counts else math.nan,
        "event": estimate.event,
    }


def _guarantee(row: dict[str, Any]) -> Guarantee:
    return Guarantee(row["promised"], row["adjacency"], row["delta"])


def _estimate(row: dict[str, Any]) -> Estimate:
    """The estimate behind a row of an audit table, as far as verdicts need it."""
    counted = not math.isnan(row["hits"])
    counts = (Counts(row["hits"], row["of"], row["other_hits"], row["other_of"]),) if counted else ()
    return Estimate(
        float(row["epsilon"]),
        row["method"],
        row["confidence"],
        row["delta"],
        trials=row["trials"],
        counts=counts,
        model_based=row["model_based"],
    )


def _largest(rows: Sequence[dict[str, Any]], auditor: str) -> float:
    """The largest bound by that auditor over all pairs; nan if it does not apply."""
    return float(max((row["epsilon"] for row in rows if row["auditor"] == auditor), default=math.nan))
