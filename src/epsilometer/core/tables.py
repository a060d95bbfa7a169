"""Tidy tables: CSV files with a header, one row for each observation."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from epsilometer.core.errors import EpsilometerError

Row = Mapping[str, Any]

WORDS = {"": math.nan, "True": True, "False": False}
"""Cells that stand for something else than a number or a text."""


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """Write all rows or nothing; numbers keep every digit, so that what is read again is what was computed."""
    rows = list(rows)
    if not rows:
        raise EpsilometerError(f"there is nothing to write into {path}")
    with written_whole(path) as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: _text(value) for column, value in row.items()} for row in rows)


def read_table(path: Path, *columns: str) -> list[dict[str, Any]]:
    """The rows of a table, numbers as numbers and empty cells as nan; it must have rows, and at least these columns."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file)
    except OSError as error:
        raise EpsilometerError(f"cannot read the table {path}: {error.strerror}") from error
    except (ValueError, csv.Error) as error:
        raise EpsilometerError(f"{path} is empty or not text; it must be a table in CSV") from error
    missing = [column for column in columns if column not in header]
    if missing or not lines:
        raise EpsilometerError(
            f"{path} has {f'no column {missing[0]}' if missing else 'no rows'}; it is another kind of table"
        )
    for number, line in enumerate(lines, start=1):
        if len(line) != len(header):
            raise EpsilometerError(f"{path}: row {number} has {len(line)} cells; the header has {len(header)}")
    return [dict(zip(header, map(_value, line), strict=True)) for line in lines]


@contextmanager
def written_whole(path: Path) -> Any:
    """A text file that appears under its name only when it is complete, so a killed job leaves no half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise EpsilometerError(f"cannot write {path}: {error.strerror}") from error
    file: IO[str]
    try:
        with os.fdopen(handle, "w", newline="") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise EpsilometerError(f"cannot write {path}: {error.strerror}") from error
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _text(value: Any) -> str:
    if isinstance(value, float):  # numpy's floats too
        return "" if math.isnan(value) else repr(float(value))
    return str(value)


def _value(cell: str) -> Any:
    if cell in WORDS:
        return WORDS[cell]
    if "_" in cell:  # Python would read 1_000 as a number
        return cell
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
