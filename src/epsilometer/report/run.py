"""What a run left behind: its tables, its figures, and the gaps where something is missing."""

from __future__ import annotations

import csv
import os
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from epsilometer.core import EpsilometerError, read_table

Rows = list[dict[str, Any]]
UNFINISHED = "unfinished.csv"


@dataclass(frozen=True)
class Gap:
    """A table or figure that this run does not have, and why."""

    path: str
    why: str
    failed: bool
    """Whether its own job failed."""


@dataclass(frozen=True, eq=False)
class Run:
    """The folder of results. What is missing, or was not remade since its code or inputs changed, reads as empty.

    A run in which jobs failed leaves there, as unfinished.csv, the files that it did not make.
    """

    results: Path
    asked: dict[str, None] = field(default_factory=dict, repr=False)
    """Every file that was asked for, in order."""

    def __post_init__(self) -> None:
        if not self.results.is_dir():
            raise EpsilometerError(f"there is no folder {self.results}; `make` writes one, --results names another")

    def path(self, name: str) -> Path | None:
        """The file of that name below the results, if it is there and up to date."""
        self.asked[name] = None
        path = self.results / name
        return None if str(path) in self.pending or not path.is_file() else path

    def table(self, name: str) -> Rows:
        """The rows of the table "verdicts/catalogue", say; none where there is a gap."""
        path = self.path(f"{name}.csv")
        return read_table(path) if path else []

    def tables(self, folder: str, names: Sequence[str]) -> Rows:
        """The rows of several tables of a folder, one after the other."""
        return [row for name in names for row in self.table(f"{folder}/{name}")]

    def figure(self, name: str) -> str:
        """The text of figures/<name>.svg; empty where there is a gap."""
        path = self.path(f"figures/{name}.svg")
        return path.read_text(encoding="utf-8") if path else ""

    @property
    def gaps(self) -> list[Gap]:
        """What was asked for and is not there, and whatever else the run did not finish; what failed itself comes first."""
        missing = [name for name in self.asked if self.path(name) is None]
        others = [os.path.relpath(path, self.results) for path in self.pending]
        gaps = [self._gap(name) for name in dict.fromkeys([*missing, *others]) if not name.startswith("..")]
        return sorted(gaps, key=lambda gap: (not gap.failed, gap.path))

    def _gap(self, name: str) -> Gap:
        row = self.pending.get(str(self.results / name))
        if row is None:
            return Gap(name, "it is not there", failed=False)
        if not row["failed"]:
            return Gap(name, "its job did not run, because one before it failed", failed=False)
        lines = _lines(Path(str(row["log"])))
        reason = lines[-1].removeprefix("epsilometer: ") if lines else f"it left no word in {row['log']}"
        return Gap(name, f"its job failed: {reason}", failed=True)

    @cached_property
    def pending(self) -> dict[str, dict[str, Any]]:
        """The files that the run should have made and did not, by their paths."""
        path = self.results / UNFINISHED
        return {row["file"]: row for row in read_table(path, "file", "log", "failed")} if path.is_file() else {}

    @cached_property
    def facts(self) -> dict[str, dict[str, str]]:
        """What the run is, by kind and name; "unknown" where the run does not say."""
        kinds = ("code", "config", "override", "setting", "version", "machine")
        found: dict[str, dict[str, str]] = {kind: defaultdict(lambda: "unknown") for kind in kinds}
        for row in self.table("provenance/run"):
            found[row["kind"]][str(row["name"])] = str(row["value"])
        return found

    @cached_property
    def seconds(self) -> dict[str, list[float]]:
        """How long each job took, by rule, where Snakemake noted it."""
        found: dict[str, list[float]] = {}
        for path in sorted(self.results.glob("benchmarks/*/*.tsv")):
            with path.open(newline="") as file:
                found.setdefault(path.parent.name, []).extend(
                    float(row["s"]) for row in csv.DictReader(file, delimiter="\t")
                )
        return found

    def command(self, *names: str) -> str:
        """What regenerates these files."""
        options = {"--configfile": list(self.facts["config"].values())[1:], "--config": self.facts["override"].values()}
        words = [word for option, values in options.items() if values for word in (option, *values)]
        targets = [str(self.results / name) for name in names]
        return shlex.join(["snakemake", "--cores", "all", *words, *(["--"] if words else []), *targets])


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
