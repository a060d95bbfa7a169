"""The tables of verdicts: on every claimed epsilon, and on every attack, after Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from epsilometer.auditors.registry import by_name
from epsilometer.auditors.sampled import SPEC as SAMPLED
from epsilometer.core import Counts, EpsilometerError, Estimate, Guarantee, Guesses
from epsilometer.core.arguments import Positive
from epsilometer.evidence.rows import AUDIT, COUNTS, KEY, VERDICTS, AuditRow, CountRow
from epsilometer.evidence.verdicts import Audit, findings
from epsilometer.membership.rows import COUNTS as ATTACK_COUNTS
from epsilometer.membership.rows import KEY as ATTACK_KEY
from epsilometer.membership.rows import MEMBERSHIP, MEMBERSHIP_VERDICTS, AttackVerdictRow


def verdicts(tables: Sequence[Path], *, counts: Sequence[Path], confidence: Positive, table: Path) -> None:
    """A verdict for each mechanism and claimed epsilon, with Holm's correction over all sampled audits of the report.

    A row also has the exact epsilon and the largest bound of each auditor over all pairs. Bounds that assume a model and the
    Jeffreys and Bayesian bounds do not enter the verdict.
    """
    groups: dict[tuple[str, float], list[AuditRow]] = {}
    for path in tables:
        for row in AUDIT.read(path):
            groups.setdefault((row["mechanism"], row["promised"]), []).append(row)
    evidence = _group_by((row for path in counts for row in COUNTS.read(path)), KEY)
    audits = [Audit(_guarantee(rows[0]), tuple(_estimate(row, evidence) for row in rows)) for rows in groups.values()]
    found = findings(audits, confidence)
    VERDICTS.write(
        table,
        [
            {
                "mechanism": name,
                "promised": promised,
                "delta": rows[0]["delta"],
                "adjacency": rows[0]["adjacency"],
                "broken": rows[0]["broken"],
                "true_epsilon": rows[0]["true_epsilon"],
                **_largest_bounds(rows),
                "jeffreys": _largest(rows, SAMPLED.name, "jeffreys"),
                "bayesian": _largest(rows, SAMPLED.name, "bayesian"),
                "trials": sum(row["trials"] for row in rows),
                "p_value": finding.p_value,
                "verdict": finding.verdict,
            }
            for ((name, promised), rows), finding in zip(groups.items(), found, strict=True)
        ],
    )


def membership_verdicts(tables: Sequence[Path], *, counts: Sequence[Path], confidence: Positive, table: Path) -> None:
    """A verdict for each attack on a mechanism with a claimed epsilon, with Holm's correction over all attacks."""
    rows = [row for path in tables for row in MEMBERSHIP.read(path) if not math.isnan(row["promised"])]
    evidence = _group_by((row for path in counts for row in ATTACK_COUNTS.read(path)), ATTACK_KEY)
    audits = []
    for row in rows:
        seen = tuple(_counts(each) for each in evidence.get(tuple(row[name] for name in ATTACK_KEY), []))
        if not seen:
            place = ", ".join(str(row[name]) for name in ATTACK_KEY)
            raise EpsilometerError(f"the tables of counts lack the attack on {place}; make them together with its table")
        estimate = Estimate(row["certified"], row["attack"], confidence, row["delta"], row["trials"], counts=seen)
        audits.append(Audit(Guarantee(row["promised"], "replace-one", row["delta"]), (estimate,)))
    MEMBERSHIP_VERDICTS.write(
        table,
        [
            AttackVerdictRow(
                mechanism=row["mechanism"],
                promised=row["promised"],
                delta=row["delta"],
                dataset=row["dataset"],
                target=row["target"],
                attack=row["attack"],
                certified=row["certified"],
                trials=row["trials"],
                p_value=finding.p_value,
                verdict=finding.verdict,
            )
            for row, finding in zip(rows, findings(audits, confidence), strict=True)
        ],
    )


def _group_by(rows: Iterable[Any], key: Sequence[str]) -> dict[tuple[Any, ...], list[Any]]:
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in key), []).append(row)
    return groups


def _guarantee(row: AuditRow) -> Guarantee:
    return Guarantee(row["promised"], row["adjacency"], row["delta"])


def _estimate(row: AuditRow, evidence: dict[tuple[Any, ...], list[CountRow]]) -> Estimate:
    """The estimate of a row, with all counts that it rests on."""
    seen = evidence.get(tuple(row[name] for name in KEY), [])  # type: ignore[literal-required]
    if len(seen) != row["choices"]:
        place = ", ".join(str(row[name]) for name in KEY)  # type: ignore[literal-required]
        raise EpsilometerError(
            f"the tables of counts have {len(seen)} rows for the audit {place}, which rests on {row['choices']}; "
            "make them together with its table"
        )
    guesses = [each for each in seen if not math.isnan(each["canaries"])]
    return Estimate(
        row["certified"],
        row["method"],
        row["confidence"],
        row["delta"],
        trials=row["trials"],
        counts=tuple(_counts(each) for each in seen if each not in guesses),
        guesses=tuple(Guesses(each["hits"], each["of"], each["canaries"]) for each in guesses),
        model_based=row["model_based"],
    )


def _counts(row: Any) -> Counts:
    return Counts(row["hits"], row["of"], row["other_hits"], row["other_of"])


def _largest_bounds(rows: Sequence[AuditRow]) -> dict[str, float]:
    bounds = {}
    for spec in by_name().values():
        bounds[spec.column] = _largest(rows, spec.name)
        if spec.efficiency:
            bounds[f"{spec.column}_efficiency"] = _largest(rows, spec.name, "efficiency")
    return bounds


def _largest(rows: Sequence[AuditRow], auditor: str, column: str = "certified") -> float:
    """The column's value on the pair with the auditor's largest bound; nan if the auditor does not apply."""
    own = [row for row in rows if row["auditor"] == auditor]
    return float(max(own, key=lambda row: row["certified"])[column]) if own else math.nan  # type: ignore[literal-required]
