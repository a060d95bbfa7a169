"""The libraries, and what is audited of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from epsilometer.audits.report import audit_entries
from epsilometer.core import EpsilometerError, write_table
from epsilometer.libraries import diffprivlib
from epsilometer.mechanisms.catalogue import Entry

LIBRARIES = {diffprivlib.NAME: diffprivlib.entries}
PARTS = ("mechanisms", "models")


def library_entries() -> dict[str, Entry]:
    """Everything that is audited of any library, by name, to be described; it cannot be run."""
    return {entry.name: entry for parts in LIBRARIES.values() for entries in parts("").values() for entry in entries}


def library_audit(
    library: str,
    part: str,
    output: Path,
    *,
    python: str,
    seconds: Path,
    epsilons: Sequence[float],
    trials: int,
    seed: int,
) -> None:
    """Audit a part of a library, with a Python in whose environment it is installed; the tables are those of any audit."""
    if library not in LIBRARIES:
        raise EpsilometerError(f"there is no library {library!r}; there are {', '.join(LIBRARIES)}")
    rows, times = audit_entries(LIBRARIES[library](python)[part], epsilons, trials, seed)
    write_table(output, rows)
    write_table(seconds, times)
