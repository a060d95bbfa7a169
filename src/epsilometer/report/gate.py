"""The gate for CI: whether tables of verdicts have an unexpected violation, and what changed since earlier tables.

A violation is expected if config/expected.yaml, or another file of this form, names its mechanism and a reason. Ledgers may
be among the tables: the outcomes of their claims and the changes are reported, but do not decide whether the gate passes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from epsilometer.core import EpsilometerError
from epsilometer.papers.claim import Outcome
from epsilometer.papers.ledger import LEDGER
from epsilometer.report.promises import Promise, Promises, header, load_promises, problems

LEAST_CHANGE = 1e-6
"""The relative difference between an exact value and an earlier one from which it counts as changed."""


class Expected(BaseModel):
    """A mechanism that is expected to be violated, as an entry of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    mechanism: str = Field(min_length=1, description="Its name in the tables of verdicts.")
    reason: str = Field(min_length=1, description="Why, in a sentence.")


def gate(tables: Sequence[Path], *, expected: Path, previous: Sequence[Path] = ()) -> tuple[bool, list[str]]:
    """Whether every violation in the tables is expected, and the lines of the report.

    The gate passes in spite of an expected violation that did not occur, or of a change since the previous tables.
    """
    findings, promises, claims = load_expected(expected), load_promises(*_audited(tables)), load_claims(*tables)
    violated = [promise for promise in promises.values() if promise.violated]
    unexpected = [promise for promise in violated if promise.mechanism not in findings]
    lines = [_violation_line(promise) for promise in unexpected]
    if promises:
        lines.append(
            f"promises audited: {len(promises)}; violated as expected: {len(violated) - len(unexpected)}; "
            f"violated unexpectedly: {len(unexpected)}"
        )
        lines += _missing_findings(findings, promises)
    if claims:
        lines.append(f"claims decided: {len(claims)}; {_tally(claims)}")
    if previous:
        changes = [*_changes(load_promises(*_audited(previous)), promises), *_claim_changes(load_claims(*previous), claims)]
        since = ", ".join(map(str, previous))
        lines.append(f"changed since {since}:" if changes else f"nothing changed since {since}")
        lines += [f"  {change}" for change in changes]
    return not unexpected, lines


def load_expected(path: Path) -> dict[str, str]:
    """The reason for each mechanism that is expected to be violated; one error names every problem of the file."""
    try:
        findings = TypeAdapter(list[Expected]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise EpsilometerError(f"cannot read the expected findings {path}: {error.strerror}") from error
    except ValidationError as error:
        raise EpsilometerError(f"{path}: {problems(error)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise EpsilometerError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    reasons: dict[str, str] = {}
    for finding in findings:
        if finding.mechanism in reasons:
            raise EpsilometerError(f"{path} names the mechanism {finding.mechanism} twice")
        reasons[finding.mechanism] = finding.reason
    return reasons


def load_claims(*paths: Path) -> dict[str, str]:
    """The outcome of every claim, by its id, in those tables that are ledgers."""
    outcomes: dict[str, str] = {}
    for path in paths:
        for row in LEDGER.read(path, "id", "outcome") if _is_ledger(path) else []:
            if row["id"] in outcomes:
                raise EpsilometerError(f"{path} has a second decision on {row['id']}; there must be one")
            outcomes[row["id"]] = row["outcome"]
    return outcomes


def _is_ledger(path: Path) -> bool:
    return "outcome" in header(path)


def _audited(paths: Sequence[Path]) -> list[Path]:
    """The tables that are not ledgers, but verdicts on audits or attacks."""
    return [path for path in paths if not _is_ledger(path)]


def _tally(claims: Mapping[str, str]) -> str:
    counts = Counter(claims.values())
    return ", ".join(f"{outcome}: {counts[outcome]}" for outcome in get_args(Outcome) if counts[outcome])


def _claim_changes(earlier: Mapping[str, str], claims: Mapping[str, str]) -> Iterator[str]:
    """Lines on claims whose outcome differs from the earlier ledgers."""
    for name, outcome in claims.items():
        if name not in earlier:
            yield f"new claim: {name}: {outcome}"
        elif earlier[name] != outcome:
            yield f"{name}: {earlier[name]} -> {outcome}"
    yield from (f"no longer decided: {name}" for name in earlier if name not in claims)


def _violation_line(promise: Promise) -> str:
    chance = f", p = {promise.p_value:.4g} after Holm's correction" if promise.rests_on_sampling else ""
    return f"VIOLATED  {promise.name}: {promise.spent_in_words}{chance}"


def _missing_findings(findings: Mapping[str, Any], promises: Promises) -> Iterator[str]:
    """Lines on expected violations that the tables do not show."""
    audited = {promise.mechanism for promise in promises.values()}
    violated = {promise.mechanism for promise in promises.values() if promise.violated}
    kept = [name for name in findings if name in audited - violated]
    if kept:
        yield f"note: expected to be violated, but not found to be: {', '.join(kept)}"
    missing = [name for name in findings if name not in audited]
    if missing:
        yield f"note: expected to be violated, but not audited: {', '.join(missing)}"


def _changes(earlier: Promises, promises: Promises) -> Iterator[str]:
    """Lines on verdicts and exact values that differ from the earlier tables, and on promises that are new or gone."""
    for key, new in promises.items():
        old = earlier.get(key)
        if old is None:
            yield f"new: {new.name}: {new.verdict}, {new.spent_in_words}"
            continue
        if old.verdict != new.verdict:
            yield f"{new.name}: {old.verdict}, {old.spent_in_words} -> {new.verdict}, {new.spent_in_words}"
        if not _are_equal(old.exact, new.exact):
            yield f"{new.name}: exact value {old.exact:.8g} -> {new.exact:.8g}"  # enough digits to show a millionth
    yield from (f"no longer audited: {old.name}" for key, old in earlier.items() if key not in promises)


def _are_equal(old: float, new: float) -> bool:
    return math.isclose(old, new, rel_tol=LEAST_CHANGE) or (math.isnan(old) and math.isnan(new))
