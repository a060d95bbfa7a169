"""Tidy tables: CSV files with a header, one row for each observation, each kind with a typed model.

A model is a `TypedDict` whose annotations say what each column holds:

    class TuningRow(TypedDict):
        \"\"\"Test error of standard logistic regression, for each regularisation and fold.\"\"\"

        lam: Annotated[float, "regularisation"]
        error: Annotated[float, "share of the fold's records that are classified wrongly"]

    TUNING = Table("tuning", TuningRow)

The table writes itself, reads itself, checks what it reads, and documents its columns.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, Generic, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from epsilometer.core.errors import EpsilometerError

EMPTY = "may be empty"
"""Marks a column whose cells may be empty: an unknown number reads as nan, a missing text as ''."""

KINDS: dict[type, tuple[str, tuple[type, ...]]] = {
    bool: ("True or False", (bool, np.bool_)),
    int: ("a whole number", (int, np.integer)),
    float: ("a number", (float, int, np.floating, np.integer)),
    str: ("a text", (str,)),
}
"""What a column may hold: in words, and the types of the values that may be written."""


@dataclass(frozen=True)
class Column:
    """What the cells of a column hold."""

    kind: type
    meaning: str
    optional: bool = False
    choices: tuple[str, ...] = ()

    def parse(self, cell: str) -> Any:
        """The value of a cell; raises a ValueError if the cell does not hold one."""
        if cell == "" and self.optional:
            return math.nan if self.kind in (int, float) else ""
        if self.kind is str:
            if not self._allows(cell):
                raise ValueError
            return cell
        if self.kind is bool:
            return {"True": True, "False": False}[cell]
        if "_" in cell:  # Python would read 1_000 as a number
            raise ValueError
        value: Any = self.kind(cell)
        if self.kind is float and math.isnan(value):
            raise ValueError
        return value

    def accepts(self, value: Any) -> bool:
        """Whether a value may be written into the column."""
        if self.optional and (value == "" or (isinstance(value, float) and math.isnan(value))):
            return True
        if not isinstance(value, KINDS[self.kind][1]) or (self.kind is not bool and isinstance(value, (bool, np.bool_))):
            return False
        if self.kind is str:
            return self._allows(str(value))
        return not (isinstance(value, (float, np.floating)) and math.isnan(value))

    def _allows(self, text: str) -> bool:
        """Whether the column may hold a text; it may be empty only where the column is optional."""
        return text in self.choices if self.choices else text != ""

    @property
    def expected(self) -> str:
        """What a cell must be, in words."""
        words = f"one of {', '.join(self.choices)}" if self.choices else KINDS[self.kind][0]
        return f"{words}, or empty" if self.optional else words


def columns_of(row: type) -> dict[str, Column]:
    """The columns that a TypedDict declares, in order."""
    return {name: _column(name, hint) for name, hint in get_type_hints(row, include_extras=True).items()}


def _column(name: str, hint: Any) -> Column:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"the column {name} has no meaning; annotate it: Annotated[float, 'what it is']")
    kind, meaning, *marks = get_args(hint)
    if kind not in KINDS and get_origin(kind) is not Literal:
        raise TypeError(f"the column {name} is of the type {kind}; it must be one of bool, int, float, str, or a Literal")
    choices = () if kind in KINDS else tuple(map(str, get_args(kind)))
    return Column(str if choices else kind, meaning, EMPTY in marks, choices)


Row = TypeVar("Row", bound=Mapping[str, Any])

TABLES: dict[str, Table[Any]] = {}
"""Every kind of table whose module has been imported, by name."""


def find_table(name: str) -> Table[Any]:
    """The kind of the table "tuning/separable", say: the one called so, or else the one called "tuning/{dataset}"."""
    if name in TABLES:
        return TABLES[name]
    folder = name.rpartition("/")[0]
    for pattern, table in TABLES.items():
        if pattern.startswith(f"{folder}/{{") and pattern.count("/") == name.count("/"):
            return table
    raise EpsilometerError(f"there is no kind of table for {name}; there are {', '.join(TABLES)}")


class Table(Generic[Row]):
    """A kind of table: results/<name>.csv, with the columns of its model; a part of the name in braces varies."""

    def __init__(
        self, name: str, row: type[Row], *, columns: Mapping[str, Column] | None = None, further: Column | None = None
    ):
        """`columns` replaces those of the model where they are not known statically; `further` is for any more columns."""
        self.name = name
        self.about = " ".join((row.__doc__ or "").split())
        self.columns = dict(columns or columns_of(row))
        self.further = further
        if TABLES.setdefault(name, self) is not self:
            raise ValueError(f"there are two kinds of table called {name}")

    def write(self, path: Path, rows: Iterable[Row]) -> None:
        """Write all rows or nothing, after checking them; numbers keep every digit."""
        rows = list(rows)
        for number, row in enumerate(rows, start=1):
            if list(row) != list(self.columns):
                raise TypeError(f"row {number} of {self.name} has the columns {list(row)}, not {list(self.columns)}")
            for name, column in self.columns.items():
                if not column.accepts(row[name]):
                    raise TypeError(f"row {number} of {self.name} has {name} = {row[name]!r}; it must be {column.expected}")
        write_table(path, rows)

    def read(self, path: Path, *columns: str) -> list[Row]:
        """The rows, checked. With `columns` the table needs these only; else it must have all, and no other."""
        header, lines = _cells(path)
        wanted = columns or self.columns
        missing = [name for name in wanted if name not in header]
        unknown = [name for name in header if name not in self.columns] if not (columns or self.further) else []
        if missing or not lines:
            raise EpsilometerError(
                f"{path} has {f'no column {missing[0]}' if missing else 'no rows'}; it is no table of {self.name}"
            )
        if unknown:
            raise EpsilometerError(f"{path} has a column {unknown[0]}, which a table of {self.name} has not")
        kinds = [self.columns.get(name, self.further) for name in header]
        return [self._parsed(path, number, header, kinds, line) for number, line in enumerate(lines, start=1)]

    def _parsed(self, path: Path, number: int, header: list[str], kinds: list[Column | None], line: list[str]) -> Row:
        row = {}
        for name, column, cell in zip(header, kinds, line, strict=True):
            if column is not None:
                try:
                    row[name] = column.parse(cell)
                except (ValueError, KeyError):
                    raise EpsilometerError(
                        f"{path}: row {number} has {name} = {cell!r}; it must be {column.expected}"
                    ) from None
        return cast(Row, row)


def write_table(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV, all or nothing; numbers keep every digit, so that what is read is what was computed."""
    rows = list(rows)
    if not rows:
        raise EpsilometerError(f"there is nothing to write into {path}")
    with written_whole(path) as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: _text(value) for column, value in row.items()} for row in rows)


def _cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header of a CSV file and the cells of its rows, of which each has as many as the header."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file)
    except OSError as error:
        raise EpsilometerError(f"cannot read the table {path}: {error.strerror}") from error
    except (ValueError, csv.Error) as error:
        raise EpsilometerError(f"{path} is empty or not text; it must be a table in CSV") from error
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise EpsilometerError(f"{path} has two columns {twice[0]}; the columns of a table must differ")
    for number, line in enumerate(lines, start=1):
        if len(line) != len(header):
            raise EpsilometerError(f"{path}: row {number} has {len(line)} cells; the header has {len(header)}")
    return header, lines


@contextmanager
def written_whole(path: Path) -> Any:
    """A text file that appears under its name only when it is complete, so that a killed job leaves no half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise EpsilometerError(f"cannot write {path}: {error.strerror}") from error
    file: IO[str]
    try:
        with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
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
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else repr(float(value))
    return str(value)
