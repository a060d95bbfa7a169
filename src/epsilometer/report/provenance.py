"""The provenance of a run: its commit, its settings, and the versions of its dependencies."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypedDict

from epsilometer import __version__
from epsilometer.config import load_config
from epsilometer.core.tables import EMPTY, Table
from epsilometer.papers.registry import papers

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "statsmodels", "mpmath", "dp-accounting", "matplotlib", "snakemake")
"""Dependencies that may affect a number or a figure."""


class FactRow(TypedDict):
    """What a run is: a row for each fact."""

    kind: Annotated[str, "code, config, override, setting, datasets, version or machine"]
    name: Annotated[str, "name of the fact"]
    value: Annotated[str, "its value", EMPTY]


PROVENANCE = Table[FactRow]("provenance/run", FactRow)


def provenance(*, commit: str, config: Sequence[str], settings: str, table: Path, overrides: Sequence[str] = ()) -> None:
    """Record the commit, the settings and the versions of the dependencies of a run."""
    facts = [
        ("code", "commit", commit),
        ("code", "epsilometer", __version__),
        *(("config", str(number), path) for number, path in enumerate(config)),
        *(("override", str(number), words) for number, words in enumerate(overrides)),
        *(("setting", name, value) for name, value in _flatten(json.loads(settings))),
        *(("datasets", paper, ", ".join(names)) for paper, names in _datasets(settings)),
        ("version", "python", platform.python_version()),
        *(("version", name, version(name)) for name in PACKAGES),
        ("machine", "system", platform.system()),
        ("machine", "processor", platform.machine()),
    ]
    PROVENANCE.write(table, [FactRow(kind=kind, name=name, value=value) for kind, name, value in facts])


def _datasets(settings: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The data sets that each paper's experiments used."""
    config = load_config(json.loads(settings))
    for name, paper in papers().items():
        yield name, paper.datasets(config)


def _flatten(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each setting under its full name, for example audits.trials."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value) if isinstance(value, list) else str(value)
