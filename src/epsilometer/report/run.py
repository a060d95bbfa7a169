"""The results of a run: its tables, its figures, and what is missing."""

from __future__ import annotations

import csv
import os
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypedDict

from epsilometer.core import EpsilometerError
from epsilometer.core.tables import EMPTY, Table
from epsilometer.papers.registry import datasets, kind_of_table

Rows = list[dict[str, Any]]
UNFINISHED = "unfinished.csv"


class UnfinishedRow(TypedDict):
    """Each file that a failed run did not make."""

    file: Annotated[str, "its path"]
    log: Annotated[str, "the log of the job that makes it", EMPTY]
    failed: Annotated[bool, "whether that job itself failed; else it did not run, because one before it failed"]


UNFINISHED_FILES = Table[UnfinishedRow]("unfinished", UnfinishedRow)


@dataclass(frozen=True)
class Gap:
    """A table or figure that this run does not have, and why."""

    path: str
    why: str
    failed: bool
    """Whether its own job failed."""


@dataclass(frozen=True, eq=False)
class Run:
    """The folder of results. A file that is missing or out of date reads as empty.

    A run in which jobs failed lists the files that it did not make in unfinished.csv.
    """

    results: Path
    asked: dict[str, None] = field(default_factory=dict, repr=False)
    """The name of every file that was requested, in order."""

    def __post_init__(self) -> None:
        if not self.results.is_dir():
            raise EpsilometerError(f"there is no folder {self.results}; `make` writes one, --results names another")

    def path(self, name: str) -> Path | None:
        """The path of a file below the results; None if it is missing or out of date."""
        self.asked[name] = None
        path = self.results / name
        return None if str(path) in self.pending or not path.is_file() else path

    def table(self, name: str) -> Rows:
        """The rows of a table, for example "verdicts/catalogue"; none if it is missing."""
        path = self.path(f"{name}.csv")
        return kind_of_table(name).read(path) if path else []

    def tables(self, folder: str, names: Sequence[str]) -> Rows:
        """The rows of several tables of a folder, concatenated."""
        return [row for name in names for row in self.table(f"{folder}/{name}")]

    def figure(self, name: str) -> str:
        """The text of figures/<name>.svg; empty if it is missing."""
        path = self.path(f"figures/{name}.svg")
        return path.read_text(encoding="utf-8") if path else ""

    @property
    def gaps(self) -> list[Gap]:
        """Requested files that are missing and files that the run did not finish; those whose own job failed come first."""
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
        lines = _log_lines(Path(str(row["log"])))
        reason = lines[-1].removeprefix("epsilometer: ") if lines else f"its log {row['log']} is empty"
        return Gap(name, f"its job failed: {reason}", failed=True)

    @cached_property
    def pending(self) -> dict[str, UnfinishedRow]:
        """The files that the run should have made but did not, by path."""
        path = self.results / UNFINISHED
        return {row["file"]: row for row in UNFINISHED_FILES.read(path)} if path.is_file() else {}

    @cached_property
    def facts(self) -> dict[str, dict[str, str]]:
        """The provenance of the run by kind and name; "unknown" where it is not recorded."""
        kinds = ("code", "config", "override", "setting", "datasets", "version", "machine")
        found: dict[str, dict[str, str]] = {kind: defaultdict(lambda: "unknown") for kind in kinds}
        for row in self.table("provenance/run"):
            found[row["kind"]][str(row["name"])] = str(row["value"])
        return found

    def datasets_of(self, paper: str) -> list[str]:
        """The data sets that a paper's experiments used, according to the provenance of the run."""
        return [name for name in self.facts["datasets"][paper].split(", ") if name in datasets()]

    @cached_property
    def seconds(self) -> dict[str, list[float]]:
        """The seconds of each job, by rule, as recorded by Snakemake."""
        found: dict[str, list[float]] = {}
        for path in sorted(self.results.glob("benchmarks/*/*.tsv")):
            with path.open(newline="") as file:
                found.setdefault(path.parent.name, []).extend(
                    float(row["s"]) for row in csv.DictReader(file, delimiter="\t")
                )
        return found

    def command(self, *names: str) -> str:
        """The command that regenerates these files."""
        options = {"--configfile": list(self.facts["config"].values())[1:], "--config": self.facts["override"].values()}
        words = [word for option, values in options.items() if values for word in (option, *values)]
        targets = [str(self.results / name) for name in names]
        return shlex.join(["snakemake", "--cores", "all", *words, *(["--"] if words else []), *targets])


def _log_lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
