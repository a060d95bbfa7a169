"""`AuditorSpec`, the record by which the package knows an auditor; each auditor's module defines one as `SPEC`.

The audits of the catalogue, the tables of verdicts, the figures and the documentation are built from these records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from epsilometer.core import Auditor, Mechanism

Budget = Literal["all trials", "search", "one run"]
"""How many outputs an auditor draws: all trials of the audit, or the starting points of a search for the worst output.
"one run" stands for an auditor that uses no pair: it builds a data set of its own and draws a single output."""


@dataclass(frozen=True)
class Subject:
    """A mechanism at one claimed epsilon, which auditors are applied to."""

    name: str
    """Its name in the catalogue, for witnesses."""
    promised: float
    mechanism: Mechanism

    @property
    def delta(self) -> float:
        return self.mechanism.guarantee.delta if self.mechanism.guarantee else 0.0


@dataclass(frozen=True)
class AuditorSpec:
    """One auditor, by name."""

    name: str
    """Its value in the column `auditor` of tables of audits."""
    column: str
    """The column of tables of verdicts that holds its largest bound over all pairs."""
    label: str
    """Its name in legends."""
    about: str
    """What it must know of a mechanism and what it computes, in one or two sentences."""
    order: int
    """Auditors run in this order, and columns of tables stand in it."""
    colour: str
    marker: str
    applies: Callable[[Subject], bool]
    build: Callable[[Subject, float], Auditor]
    """Takes a subject and a confidence; returns the auditor, whose bounds hold with this confidence."""
    budget: Budget = "all trials"
    filled: bool = True
    """Whether its marker is filled."""
    model_based: bool = False
    """Whether its bounds assume a distribution of the outputs. Such bounds play no part in verdicts."""
    efficiency: bool = False
    """Whether tables give its bound as a share of the largest bound that a test of a single event is expected to certify."""

    @property
    def look(self) -> dict[str, Any]:
        """The style of its markers, as options of matplotlib."""
        return {"color": self.colour, "marker": self.marker} | ({} if self.filled else {"markerfacecolor": "white"})
