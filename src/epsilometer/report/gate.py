"""The gate: whether a table of verdicts holds a violation that nobody expected, and what changed since an earlier one.

A violation is expected if config/expected.yaml, or another file like it, names its mechanism and says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from epsilometer.core import EpsilometerError
from epsilometer.libraries.catalogue import library_entries
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.report.promises import Promise, Promises, load_promises, problems

CHANGED = 1e-6
"""By what share an exact value must differ from an earlier one to count as changed."""


class Expected(BaseModel):
    """A mechanism that is expected to break its promise."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    mechanism: str = Field(description="Its name in the catalogue.")
    reason: str = Field(min_length=1, description="Why, in a sentence.")


def gate(tables: Sequence[Path], *, expected: Path, previous: Sequence[Path] = ()) -> tuple[bool, list[str]]:
    """Whether every violation in the tables is expected, and what to say about it, line by line.

    Neither an expected violation that did not occur nor a change since the previous tables closes the gate.
    """
    findings, promises = load_expected(expected), load_promises(*tables)
    earlier = load_promises(*previous) if previous else None
    violated = [promise for promise in promises.values() if promise.violated]
    unexpected = [promise for promise in violated if promise.mechanism not in findings]
    lines = [_accusation(promise) for promise in unexpected]
    lines.append(
        f"promises audited: {len(promises)}; violated as expected: {len(violated) - len(unexpected)}; "
        f"violated unexpectedly: {len(unexpected)}"
    )
    lines += _absent(findings, promises)
    if earlier is not None:
        changes = list(_changes(earlier, promises))
        since = ", ".join(map(str, previous))
        lines.append(f"changed since {since}:" if changes else f"nothing changed since {since}")
        lines += [f"  {change}" for change in changes]
    return not unexpected, lines


def load_expected(path: Path) -> dict[str, str]:
    """The reason for each mechanism that is expected to break its promise; every problem of the file in one sentence."""
    try:
        findings = TypeAdapter(list[Expected]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise EpsilometerError(f"cannot read the expected findings {path}: {error.strerror}") from error
    except ValidationError as error:
        raise EpsilometerError(f"{path}: {problems(error)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise EpsilometerError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    reasons: dict[str, str] = {}
    known = catalogue() | library_entries()
    for finding in findings:
        if finding.mechanism in reasons:
            raise EpsilometerError(f"{path} names the mechanism {finding.mechanism} twice")
        if finding.mechanism not in known:
            raise EpsilometerError(
                f"{path} names the mechanism {finding.mechanism!r}, which is not one that `epsilometer catalogue` lists"
            )
        reasons[finding.mechanism] = finding.reason
    return reasons


def _accusation(promise: Promise) -> str:
    chance = f", p = {promise.p_value:.4g} after Holm's correction" if promise.rests_on_sampling else ""
    return f"VIOLATED  {promise.name}: {promise.spent}{chance}"


def _absent(findings: Mapping[str, Any], promises: Promises) -> Iterator[str]:
    """The expected findings that the table does not show."""
    audited = {promise.mechanism for promise in promises.values()}
    violated = {promise.mechanism for promise in promises.values() if promise.violated}
    kept = [name for name in findings if name in audited - violated]
    if kept:
        yield f"note: expected to be violated, but not found to be: {', '.join(kept)}"
    missing = [name for name in findings if name not in audited]
    if missing:
        yield f"note: expected to be violated, but not audited: {', '.join(missing)}"


def _changes(earlier: Promises, promises: Promises) -> Iterator[str]:
    """What is different from an earlier table: verdicts, exact values, and which promises are audited."""
    for key, new in promises.items():
        old = earlier.get(key)
        if old is None:
            yield f"new: {new.name}: {new.verdict}, {new.spent}"
            continue
        if old.verdict != new.verdict:
            yield f"{new.name}: {old.verdict}, {old.spent} -> {new.verdict}, {new.spent}"
        if not _same(old.exact, new.exact):
            yield f"{new.name}: exact value {old.exact:.8g} -> {new.exact:.8g}"  # enough digits to show a millionth
    yield from (f"no longer audited: {old.name}" for key, old in earlier.items() if key not in promises)


def _same(old: float, new: float) -> bool:
    return math.isclose(old, new, rel_tol=CHANGED) or (math.isnan(old) and math.isnan(new))
