"""Claims: what a source says, how it is measured, and how the numbers decide it.

A claim is a constant of a module that stands for a section of its source. It first measures, from tables that the workflow
made or by a computation of its own, and then decides from the measured numbers and its tolerances alone. So a decision can
be tested with any numbers, and other numbers would have led to another outcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from epsilometer.core import EpsilometerError, Witness, stream
from epsilometer.core.tables import Table

Outcome = Literal["holds", "holds, loosely", "reproduced", "not reproduced", "fails as printed", "underspecified"]
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """What a claim's measurement gave: numbers by name, and, where there is one, an output that proves a failure."""

    numbers: Numbers
    witness: Witness | None = None

    def __post_init__(self) -> None:
        unknown = [name for name, value in self.numbers.items() if math.isnan(value)]
        if unknown:
            raise EpsilometerError(f"the evidence leaves {unknown[0]!r} unknown; a claim cannot be decided by that")


@dataclass(frozen=True)
class Decision:
    """The outcome for a claim, with the sentence that gives its evidence."""

    outcome: Outcome
    sentence: str
    """The evidence in a sentence, with its numbers."""
    factor: float = math.nan
    """By how much a bound is loose."""
    instead: str = ""
    """For a claim that fails: the nearest statement that holds. For an underspecified one: what is missing and assumed."""

    def __post_init__(self) -> None:
        if self.outcome == "holds, loosely" and not self.factor > 1:
            raise ValueError(f"a loose bound needs a factor above 1, not {self.factor}")
        if self.outcome in ("fails as printed", "underspecified") and not self.instead:
            raise ValueError(f"'{self.outcome}' must say what holds instead, or what was assumed")
        if not any(character.isdigit() for character in self.sentence):
            raise ValueError(f"the evidence has no number in it: {self.sentence}")


@dataclass(frozen=True)
class Evidence:
    """What a claim may measure from: the tables that it declares, and random streams if it computes."""

    results: Path
    seed: int
    needs: tuple[str, ...] | None = field(default=None, compare=False)
    """The tables that may be read, say "verdicts/catalogue"; None for any."""
    computes: bool = field(default=True, compare=False)
    """Whether random streams may be drawn from."""

    def table(self, name: str, *columns: str) -> list[dict[str, Any]]:
        """The rows of a table, say "error_summary/nips08"."""
        return _kind(name).read(self.path(name), *columns)

    def path(self, name: str) -> Path:
        """The file of a table, say "dataset/separable", for those that are read otherwise than by `table`."""
        if self.needs is not None and name not in self.needs:
            raise ValueError(f"the claim reads the table {name}, which its `needs` do not name")
        return self.results / f"{name}.csv"

    def stream(self, *name: str | int | float) -> np.random.Generator:
        """A random stream of the ledger's own, named after what it is for."""
        if not self.computes:
            raise ValueError("the claim draws random numbers; its `computes` must say what for")
        return stream(self.seed, "ledger", *name)


def _kind(name: str) -> Table[Any]:
    from epsilometer.papers.registry import kind_of_table  # it finds the papers, and so their claims, and so this module

    return kind_of_table(name)


Measure = Callable[[Evidence], Measured]
Decide = Callable[[Numbers, Numbers], Decision]


@dataclass(frozen=True)
class Claim:
    """One statement of one source: where it stands, what it says, what decides it."""

    id: str
    """Begins with the name of the paper's folder; words in lower case with hyphens."""
    locator: str
    """Where in the source."""
    statement: str
    """What it says, in our own words."""
    measure: Measure
    """Takes the evidence and returns numbers; it may take its time."""
    decide: Decide
    """Takes the numbers and the tolerances, and nothing else, and returns the decision."""
    needs: tuple[str, ...] = ()
    """The tables that it reads, say "verdicts/catalogue": they become inputs of the rule that decides the paper's claims."""
    computes: str = ""
    """What it computes beyond reading tables, in a few words; empty if it only reads tables."""
    tolerances: Numbers = field(default_factory=dict)
    link: str = ""
    """The table or figure behind the decision, below the results; or empty."""
    headline: bool = False
    """Whether a reader with little time should see it, whatever comes out."""

    def __post_init__(self) -> None:
        if len(self.locator) < 3 or len(self.statement) < 20:
            raise ValueError(f"the claim {self.id} must say where it stands and, in a sentence, what it says")
        if not (self.needs or self.computes):
            raise ValueError(f"the claim {self.id} has no evidence: name the tables that it needs, or what it computes")

    def evidence(self, results: Path, seed: int) -> Evidence:
        """What this claim may measure from."""
        return Evidence(results, seed, self.needs, bool(self.computes))
