"""Commands about claims: claims."""

from __future__ import annotations

import shutil
from pathlib import Path

from epsilometer.cli.arguments import Commands, add_command, add_results


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    claims = add_command(
        commands, "claims", _claims, "Print the ledger: each claim of the sources, its outcome and its evidence."
    )
    claims.add_argument("--source", help="one source only, say nips08")
    add_results(claims)


def _claims(source: str | None, results: Path) -> None:
    from epsilometer.papers.ledger import printed
    from epsilometer.papers.registry import a_source, sources

    print(printed(results, [a_source(source)] if source else sources(), shutil.get_terminal_size().columns))
