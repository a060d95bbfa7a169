"""Rows of a kind of table for tests: whole ones, of which a test says only what matters to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from epsilometer.core.tables import Column, Table

BLANK: dict[type, Any] = {bool: False, int: 0, float: 0.0, str: "x"}


def row_of(table: Table[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A row with these values; what may be empty is, and all else is 0, False, x or the first choice."""
    assert values.keys() <= table.columns.keys(), values.keys() - table.columns.keys()
    return {name: values.get(name, _blank(column)) for name, column in table.columns.items()}


def write_rows(table: Table[Any], path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write such rows as the package writes a table of that kind."""
    table.write(path, [row_of(table, values) for values in rows])
    return path


def _blank(column: Column) -> Any:
    if column.optional:
        return "" if column.kind is str else math.nan
    return column.choices[0] if column.choices else BLANK[column.kind]
