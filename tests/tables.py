"""Tables of any kind, for tests: cells become values by how they look, whichever model the table has."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

WORDS = {"": math.nan, "True": True, "False": False}


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV file: whole numbers, numbers, True or False, nan for an empty cell, and texts."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: value(cell) for name, cell in row.items()} for row in csv.DictReader(file, strict=True)]


def value(cell: str) -> Any:
    """What a cell holds."""
    if cell in WORDS or "_" in cell:  # Python would read 1_000 as a number
        return WORDS.get(cell, cell)
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
