"""Tables of verdicts as `Promise`s. Rows are checked, since a damaged table must not look like one without violations."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from epsilometer.auditors.exact.spec import EXACT
from epsilometer.auditors.registry import by_name
from epsilometer.core import EpsilometerError, Verdict
from epsilometer.core.tables import Table
from epsilometer.evidence.rows import VERDICTS
from epsilometer.evidence.verdicts import SLACK
from epsilometer.membership.rows import MEMBERSHIP_VERDICTS

CERTIFYING = {spec.name: spec for spec in by_name().values() if not spec.model_based}
"""The auditors whose bounds decide verdicts, by name."""
AUDITED = ("mechanism", "promised", "delta", *(spec.column for spec in CERTIFYING.values()), "p_value", "verdict")
"""The columns of a table of verdicts on audits that decide whether a claimed epsilon is kept."""


@dataclass(frozen=True)
class Promise:
    """A claimed epsilon of one mechanism, with its bounds and its verdict."""

    mechanism: str
    promised: float
    delta: float
    bounds: Mapping[str, float]
    """The lower bound of each auditor or attack; nan if it does not apply."""
    p_value: float
    verdict: Verdict
    attacked: str = ""
    """The data set and the target of an attack on released models; empty for an audit."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the promise among those of several tables."""
        return (self.mechanism, self.promised, self.attacked, *(self.bounds if self.attacked else ()))

    @property
    def exact(self) -> float:
        return self.bounds.get(EXACT.name, math.nan)

    @property
    def violated(self) -> bool:
        return self.verdict == "violated"

    @property
    def rests_on_sampling(self) -> bool:
        """Whether the verdict `violated` rests on a sampled bound, not on an exact value."""
        return self.violated and not self.exact > self.promised * (1 + SLACK)

    @property
    def name(self) -> str:
        delta = f" and delta = {self.delta:.4g}" if self.delta > 0 else ""
        attacked = f", attacked on {self.attacked}" if self.attacked else ""
        return f"{self.mechanism} at epsilon = {self.promised:.4g}{delta}{attacked}"

    @property
    def largest_spent(self) -> tuple[float, str]:
        """The exact epsilon, or else the largest lower bound, with the name of its auditor.

        If the violation rests on sampling, it is the largest sampled bound.
        """
        if not (math.isnan(self.exact) or self.rests_on_sampling):
            return self.exact, EXACT.name
        known = {name: bound for name, bound in self.bounds.items() if name != EXACT.name and not math.isnan(bound)}
        if not known:
            return math.nan, ""
        name = max(known, key=known.__getitem__)
        return known[name], name

    @property
    def spent_in_words(self) -> str:
        """The spent epsilon in words, with the auditor that found it."""
        value, name = self.largest_spent
        if not name:
            return "spends an unknown epsilon"
        return f"spends {'' if name == EXACT.name else 'at least '}{value:.4g} ({name})"


Promises = Mapping[tuple[Any, ...], Promise]


def load_promises(*paths: Path) -> Promises:
    """The promises in tables of verdicts on audits and on attacks."""
    promises: dict[tuple[Any, ...], Promise] = {}
    for path in paths:
        for promise in _promises(path):
            if promise.key in promises:
                raise EpsilometerError(f"{path} has a second verdict on {promise.name}; there must be one")
            promises[promise.key] = promise
    return promises


def _promises(path: Path) -> Iterator[Promise]:
    if header(path) >= {"attack", "certified"}:
        for row in _checked_rows(path, MEMBERSHIP_VERDICTS):
            attacked = f"{row['dataset']}, {row['target']}"
            yield _promise(row, {row["attack"]: row["certified"]}, attacked)
    else:
        for row in _checked_rows(path, VERDICTS, *AUDITED):
            yield _promise(row, {name: row[spec.column] for name, spec in CERTIFYING.items()})


def _promise(row: Mapping[str, Any], bounds: Mapping[str, float], attacked: str = "") -> Promise:
    return Promise(row["mechanism"], row["promised"], row["delta"], bounds, row["p_value"], row["verdict"], attacked)


def header(path: Path) -> set[str]:
    """The columns of a table; empty if it cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return set(next(csv.reader(file), []))
    except (OSError, ValueError, csv.Error):
        return set()


def _checked_rows(path: Path, table: Table[Any], *columns: str) -> Iterator[Mapping[str, Any]]:
    """The rows; an error if a claimed epsilon or delta is out of range."""
    for number, row in enumerate(table.read(path, *columns), start=1):
        for name, largest_spent in (("promised", math.inf), ("delta", 1.0)):
            if not 0 <= row[name] < largest_spent:
                raise EpsilometerError(f"{path}: row {number} has {name} = {row[name]}; no mechanism can claim that")
        yield row


def problems(error: ValidationError) -> str:
    """All validation errors, in one line."""
    places = [(".".join(map(str, problem["loc"])) or "the file", problem["msg"]) for problem in error.errors()]
    return "; ".join(f"{place}: {message}" for place, message in places)
