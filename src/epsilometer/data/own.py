"""A CSV of the user's own: a header, a column `label` of -1 and 1, all other columns numeric features in the unit ball."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from epsilometer.core import EpsilometerError, LabelledData

LABEL = "label"


def read_own(path: Path) -> LabelledData:
    """The records of a user's CSV, validated; nothing is rescaled, recoded or imputed."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *lines = csv.reader(file)
    except OSError as error:
        raise EpsilometerError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, csv.Error) as error:
        raise EpsilometerError(f"{path} is empty or not text; it must be a CSV with a header line") from error
    header = [name.strip() for name in header]
    if header.count(LABEL) != 1 or len(header) < 2:
        raise EpsilometerError(
            f"{path} has the columns {', '.join(header)}; it must have one named {LABEL} and at least one feature"
        )
    cells = [_parse_numbers(line, header, number, path) for number, line in enumerate(filter(None, lines), start=1)]
    table = np.array(cells, dtype=float).reshape(len(cells), len(header))
    label = header.index(LABEL)
    try:
        return LabelledData(np.delete(table, label, axis=1), table[:, label])
    except EpsilometerError as error:
        raise EpsilometerError(f"{path}: {error}") from error


def _parse_numbers(line: list[str], header: list[str], number: int, path: Path) -> list[float]:
    if len(line) != len(header):
        raise EpsilometerError(f"{path}: record {number} has {len(line)} cells; the header has {len(header)}")
    values = []
    for name, cell in zip(header, line, strict=True):
        if not cell.strip():
            raise EpsilometerError(f"{path}: record {number} has no value for {name}; fill it in or leave the record out")
        try:
            value = float("nan" if "_" in cell else cell)  # Python would read 1_000 as a number
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise EpsilometerError(f"{path}: record {number} has {name} = {cell!r}; it must be a finite number")
        values.append(value)
    return values
