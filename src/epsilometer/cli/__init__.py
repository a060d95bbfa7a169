"""The command line: a module of commands for each noun, and one for the jobs of the workflow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from epsilometer import __version__
from epsilometer.cli import audits, claims, configuration, jobs, reports
from epsilometer.core import EpsilometerError

NOUNS = (audits, claims, reports, configuration)
"""The modules of commands for people, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0, 1 for an error that the user can correct, 2 for wrong usage.

    A command may return a status of its own, as `gate` does.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser, commands = _parser()
    try:
        if words and not words[0].startswith("-") and words[0] not in commands and jobs.is_job(words[0]):
            return jobs.run(words[0], words[1:])
        options = vars(parser.parse_args(words))
        run = options.pop("run")
        options.pop("command")
        return run(**options) or 0
    except EpsilometerError as error:
        print(f"epsilometer: {error}", file=sys.stderr)
        return 1


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser of the commands for people, and their names."""
    parser = argparse.ArgumentParser(
        prog="epsilometer",
        description="Measure epsilon.",
        epilog="Each job of the workflow is a command too, with a help of its own; `epsilometer jobs` lists them.",
    )
    parser.add_argument("--version", action="version", version=f"epsilometer {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for noun in (*NOUNS, jobs):
        noun.add_commands(commands)
    return parser, list(commands.choices)
