"""The registry of the audited libraries: every folder of this package with a module `calls` that defines `entries`.

The folder also has `requirements.lock`, which pins the library's own environment, and `driver.py`, which runs in it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import epsilometer.libraries
from epsilometer.core import EpsilometerError
from epsilometer.core.arguments import Count, Positive
from epsilometer.evidence.audits import audit_entries
from epsilometer.mechanisms.catalogue import Entry

Entries = Callable[[str], Mapping[str, Sequence[Entry]]]
"""The audited calls by part, for the path of a Python that has the library: fast "mechanisms" and slow "models"."""
FITTED = "models"
"""The part whose budget is counted in model fits."""


@cache
def libraries() -> dict[str, Entries]:
    """Every library by the name of its folder."""
    found = {}
    for module in pkgutil.iter_modules(epsilometer.libraries.__path__):
        if module.ispkg:
            found[module.name] = importlib.import_module(f"epsilometer.libraries.{module.name}.calls").entries
    return found


def parts_of(library: str) -> list[str]:
    """The parts of a library, each of which is one job."""
    return list(libraries()[library](""))


def lock_of(library: str) -> Path:
    """The path of the lock file of a library's environment."""
    return Path(next(iter(epsilometer.libraries.__path__))) / library / "requirements.lock"


def library_entries() -> dict[str, Entry]:
    """All audited calls of all libraries by name, for their descriptions only: they have no Python to run with."""
    parts = [part for entries in libraries().values() for part in entries("").values()]
    return {entry.name: entry for part in parts for entry in part}


def library_audit(
    library: str,
    part: str,
    *,
    table: Path,
    counts: Path,
    seconds: Path,
    python: str,
    epsilons: Sequence[Positive],
    trials: Count,
    confidence: Positive,
    seed: Count,
) -> None:
    """Audit a part of a third-party library as a black box, with a Python in whose environment it is installed."""
    if library not in libraries():
        raise EpsilometerError(f"there is no library {library!r}; there are {', '.join(libraries())}")
    if part not in parts_of(library):
        raise EpsilometerError(f"{library} has no part {part!r}; it has {', '.join(parts_of(library))}")
    records = audit_entries(libraries()[library](python)[part], epsilons, trials, confidence, seed)
    records.write(table, counts, seconds)
