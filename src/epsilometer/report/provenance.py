"""What a run is: the commit, the settings, and the versions of what it uses."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from epsilometer import __version__
from epsilometer.core import write_table

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "statsmodels", "mpmath", "dp-accounting", "matplotlib", "snakemake")
"""Dependencies that a number or a figure can hang on."""


def provenance(output: Path, *, commit: str, config: Sequence[str], overrides: Sequence[str], settings: str) -> None:
    """Write a row for each fact about a run: of which kind it is, its name, its value."""
    facts = [
        ("code", "commit", commit),
        ("code", "epsilometer", __version__),
        *(("config", str(number), path) for number, path in enumerate(config)),
        *(("override", str(number), words) for number, words in enumerate(overrides)),
        *(("setting", name, value) for name, value in _flat(json.loads(settings))),
        ("version", "python", platform.python_version()),
        *(("version", name, version(name)) for name in PACKAGES),
        ("machine", "system", platform.system()),
        ("machine", "processor", platform.machine()),
    ]
    write_table(output, [{"kind": kind, "name": name, "value": value} for kind, name, value in facts])


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each setting under its whole name, say audits.trials."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value) if isinstance(value, list) else str(value)
