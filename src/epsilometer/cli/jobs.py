"""The jobs of the workflow as commands: each rule runs `epsilometer <rule>` with an option for each parameter of a function.

The static jobs are listed here. The experiments of papers are jobs too; they are listed by the papers.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from epsilometer.cli.arguments import Commands, add_command, add_parameters, parameters
from epsilometer.core.arguments import Epsilon, Lambda

JOBS = {
    "dataset": "papers.preparing",
    "figures": "papers.drawing",
    "ledger": "papers.ledger",
    "audit_family": "evidence.audits",
    "privacy_loss": "evidence.audits",
    "verdicts": "evidence.report",
    "library_audit": "libraries.registry",
    "membership": "membership.attacked",
    "membership_verdicts": "evidence.report",
    "mechanism_figures": "figures.mechanisms",
    "membership_figures": "figures.membership",
    "validation": "evidence.validation",
    "validation_summary": "evidence.validation",
    "membership_validation": "membership.validation",
    "provenance": "report.provenance",
    "page": "report.page",
}
"""The module of each static job's function, below the package."""


def jobs() -> list[str]:
    """The names of all jobs."""
    from epsilometer.papers.registry import experiments

    return [*JOBS, *experiments()]


def is_job(name: str) -> bool:
    """Whether there is a job of that name; papers are looked through only if it is none of the static ones."""
    return name in JOBS or name in jobs()


def function_of(job: str) -> Callable[..., None]:
    """The function that a job runs."""
    if job in JOBS:
        function: Callable[..., None] = getattr(importlib.import_module(f"epsilometer.{JOBS[job]}"), job)
        return function
    from epsilometer.papers.registry import experiments

    return next(iter(experiments()[job].values())).run


def run(job: str, words: Sequence[str]) -> int:
    """Run a job with the options of a command line."""
    function = function_of(job)
    parser = argparse.ArgumentParser(prog=f"epsilometer {job}", description=inspect.getdoc(function))
    add_parameters(parser, function)
    options = vars(parser.parse_args(words))
    for name, (kind, _, _) in parameters(function).items():
        if kind in TABLE_READERS:
            options[name] = _resolve(TABLE_READERS[kind], options[name])
    function(**options)
    return 0


def _best_lambda(table: Path) -> float:
    from epsilometer.papers.tuning import best_lambda

    return best_lambda(table)


def _common_epsilon(table: Path) -> float:
    from epsilometer.papers.nips08.experiments import common_epsilon

    return common_epsilon(table)


TABLE_READERS = {Epsilon: _common_epsilon, Lambda: _best_lambda}
"""The function that reads a value from a table, where the path of a table is given instead of a number."""


def _resolve(read: Callable[[Path], float], value: Any) -> Any:
    if isinstance(value, list):
        return [_resolve(read, value) for value in value]
    return read(value) if isinstance(value, Path) else value


def add_commands(commands: Commands) -> None:
    """Add the command that lists the jobs."""
    add_command(commands, "jobs", _list, "List the jobs of the workflow: each is a command, `epsilometer JOB --help`.")


def _list() -> None:
    for job in sorted(jobs()):
        about = (inspect.getdoc(function_of(job)) or "").split("\n\n")[0]
        print(f"{job}: {' '.join(about.split())}")
