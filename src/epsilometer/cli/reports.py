"""Commands about a finished run: summary, gate."""

from __future__ import annotations

import sys
from pathlib import Path

from epsilometer.cli.arguments import Commands, add_command, add_results
from epsilometer.core import EpsilometerError


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    add_results(add_command(commands, "summary", _summary, "Print the page's first screen in Markdown."))
    gate = add_command(
        commands, "gate", _gate, "Exit with 1 if a claimed epsilon is exceeded unexpectedly, and with 2 after an error."
    )
    gate.add_argument("tables", type=Path, nargs="+", help="tables of verdicts: results/verdicts/*.csv")
    gate.add_argument("--expected", type=Path, required=True, help="the file of expected findings, config/expected.yaml")
    gate.add_argument("--previous", type=Path, nargs="+", default=[], help="tables of an earlier run, to print what changed")


def _summary(results: Path) -> None:
    from epsilometer.report.summary import summary

    print(summary(results))


def _gate(tables: list[Path], expected: Path, previous: list[Path]) -> int:
    from epsilometer.report.gate import gate

    try:
        passed, lines = gate(tables, expected=expected, previous=previous)
    except EpsilometerError as error:
        print(f"epsilometer: {error}", file=sys.stderr)
        return 2  # 1 is reserved for violations
    print("\n".join(lines))
    return 0 if passed else 1
