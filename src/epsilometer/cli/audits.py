"""Commands about mechanisms and witnesses: catalogue, verify."""

from __future__ import annotations

from pathlib import Path

from epsilometer.cli.arguments import Commands, add_command
from epsilometer.core import EpsilometerError


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    add_command(
        commands,
        "catalogue",
        _catalogue,
        "List every mechanism: what it is, where it is defined, and what is wrong with it.",
    )
    verify = add_command(
        commands,
        "verify",
        _verify,
        "Recompute a saved witness at 50 digits, independently of the code that found it.",
    )
    verify.add_argument("witnesses", type=Path, nargs="+", help="JSON files below results/witnesses")


def _catalogue() -> None:
    from epsilometer.libraries.registry import library_entries
    from epsilometer.mechanisms.catalogue import catalogue

    groups = {
        "held to be correct": [entry for entry in catalogue().values() if not entry.flaw],
        "broken, on purpose or as printed": [entry for entry in catalogue().values() if entry.flaw],
        "of third-party libraries": list(library_entries().values()),
    }
    for title, entries in groups.items():
        print(f"{title}:")
        for entry in entries:
            print(f"  {entry.name}: {entry.title} ({entry.build(1.0).source})")
            if entry.flaw:
                print(f"      flaw: {entry.flaw}")


def _verify(witnesses: list[Path]) -> None:
    from epsilometer.core import Witness
    from epsilometer.witnesses import verify

    for path in witnesses:
        try:
            witness = Witness.from_json(path.read_text())
        except OSError as error:
            raise EpsilometerError(f"cannot read the witness {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise EpsilometerError(f"{path} is no witness; audits write them into results/witnesses") from error
        print(f"{path.name}: {verify(witness)[1]}")
