"""Commands about the configuration: schema."""

from __future__ import annotations

import json

from epsilometer.cli.arguments import Commands, add_command


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    add_command(commands, "schema", _schema, "Print the JSON schema of the configuration.")


def _schema() -> None:
    from epsilometer.config import Config

    print(json.dumps(Config.model_json_schema(), indent=2))
