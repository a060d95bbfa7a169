"""Tables appear whole or not at all, keep every digit, and hold what their model says."""

from __future__ import annotations

import csv
import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.core import EpsilometerError, find_table, tables, write_table
from epsilometer.core.tables import EMPTY, Column, Table, columns_of, written_whole
from tests.tables import read_table

QUICKLY = settings(max_examples=100, deadline=None, derandomize=True, database=None)
Verdict = Literal["kept", "broken"]


class ExampleRow(TypedDict):
    """One column of each kind that a table may have,
    and what each of them holds."""

    name: Annotated[str, "a text"]
    note: Annotated[str, "a text that may be missing", EMPTY]
    verdict: Annotated[Verdict, "one of two texts"]
    second: Annotated[Verdict, "one of two texts, or nothing", EMPTY]
    holds: Annotated[bool, "a truth value"]
    trials: Annotated[int, "a whole number"]
    hits: Annotated[int, "a whole number that may be unknown", EMPTY]
    epsilon: Annotated[float, "a number"]
    limit: Annotated[float, "a number that may be unknown", EMPTY]


ROW: Any = {
    "name": "laplace_count",
    "note": "",
    "verdict": "kept",
    "second": "",
    "holds": True,
    "trials": 1000,
    "hits": 7,
    "epsilon": 1.5,
    "limit": 2.0,
}
LINE = "laplace_count,,kept,,True,1000,7,1.5,2.0"


def changed(**changes: Any) -> Any:
    return {**ROW, **changes}


@pytest.fixture(scope="module")
def example() -> Iterator[Table[ExampleRow]]:
    """The kind of table, known to nobody else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "TABLES", {})
        yield Table[ExampleRow]("example/{part}", ExampleRow)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def line(**changes: str) -> str:
    """A table's text, with other cells in its only row."""
    cells = dict(zip(ROW, LINE.split(","), strict=True)) | changes
    return f"{','.join(ROW)}\n{','.join(cells.values())}\n"


@QUICKLY
@given(values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_floats_come_back_bit_for_bit(folder: Path, values: list[float]) -> None:
    write_table(folder / "floats.csv", [{"value": value} for value in values])
    back = np.array([row["value"] for row in read_table(folder / "floats.csv")], dtype=float)
    assert back.tobytes() == np.array(values).tobytes()


@QUICKLY
@given(values=st.lists(st.integers(), min_size=1, max_size=20))
def test_integers_come_back_as_integers(folder: Path, values: list[int]) -> None:
    write_table(folder / "integers.csv", [{"value": value} for value in values])
    back = [row["value"] for row in read_table(folder / "integers.csv")]
    assert back == values
    assert all(type(value) is int for value in back)


@pytest.mark.parametrize("name", ["separable", "a,b", 'say "no"', "two\nlines", "ünseparable", " padded "])
def test_text_comes_back(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / "t.csv", [{"name": name, "value": 1}])
    assert read_table(tmp_path / "t.csv") == [{"name": name, "value": 1}]


def test_missing_values_are_empty_cells(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", [{"a": math.nan, "b": np.float64("nan"), "c": math.inf}])
    assert (tmp_path / "t.csv").read_text() == "a,b,c\n,,inf\n"
    row = read_table(tmp_path / "t.csv")[0]
    assert math.isnan(row["a"])
    assert math.isnan(row["b"])
    assert row["c"] == math.inf


def test_another_reader_agrees(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"x": np.float64(0.1), "n": np.int64(3)}, {"x": 1 / 3, "n": 4}]
    write_table(tmp_path / "t.csv", rows)
    with (tmp_path / "t.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines == [["x", "n"], ["0.1", "3"], ["0.3333333333333333", "4"]]


def test_nothing_to_write_is_an_error_that_names_the_file(tmp_path: Path, example: Table[ExampleRow]) -> None:
    with pytest.raises(EpsilometerError, match=r"nothing to write into .*empty\.csv"):
        write_table(tmp_path / "empty.csv", [])
    with pytest.raises(EpsilometerError, match=r"nothing to write into .*empty\.csv"):
        example.write(tmp_path / "empty.csv", [])
    assert list(tmp_path.iterdir()) == []


def test_missing_file_is_a_sentence(tmp_path: Path, example: Table[ExampleRow]) -> None:
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*none\.csv: No such file"):
        example.read(tmp_path / "none.csv")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b'name\n"a\n'], ids=["binary", "empty", "open quote"])
def test_a_damaged_table_is_a_sentence(tmp_path: Path, example: Table[ExampleRow], content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(EpsilometerError, match=r"t\.csv"):
        example.read(tmp_path / "t.csv")


@pytest.mark.parametrize(("cells", "count"), [(LINE.rpartition(",")[0], 8), (f"{LINE},1", 10)], ids=["short", "long"])
@pytest.mark.parametrize("columns", [(), ("name",)], ids=["whole", "one column"])
def test_a_row_cut_off_is_a_sentence(
    tmp_path: Path, example: Table[ExampleRow], cells: str, count: int, columns: tuple[str, ...]
) -> None:
    (tmp_path / "t.csv").write_text(f"{line()}{cells}\n")
    with pytest.raises(EpsilometerError, match=rf"t\.csv: row 2 has {count} cells; the header has 9"):
        example.read(tmp_path / "t.csv", *columns)


def test_a_header_without_rows_is_a_sentence(tmp_path: Path, example: Table[ExampleRow]) -> None:
    (tmp_path / "t.csv").write_text(",".join(ROW) + "\n")
    with pytest.raises(EpsilometerError, match=r"t\.csv has no rows; it is no table of example/\{part\}"):
        example.read(tmp_path / "t.csv")


def test_a_missing_column_is_a_sentence(tmp_path: Path, example: Table[ExampleRow]) -> None:
    write_table(tmp_path / "t.csv", [{name: value for name, value in ROW.items() if name != "hits"}])
    sentence = r"t\.csv has no column hits; it is no table of example/\{part\}"
    with pytest.raises(EpsilometerError, match=sentence):
        example.read(tmp_path / "t.csv")
    with pytest.raises(EpsilometerError, match=sentence):
        example.read(tmp_path / "t.csv", "name", "hits")
    assert example.read(tmp_path / "t.csv", "name", "epsilon")[0]["epsilon"] == 1.5


def test_an_unknown_column_is_a_sentence_unless_columns_are_named(tmp_path: Path, example: Table[ExampleRow]) -> None:
    write_table(tmp_path / "t.csv", [ROW | {"mood": "good"}])
    with pytest.raises(EpsilometerError, match=r"t\.csv has a column mood, which a table of example/\{part\} has not"):
        example.read(tmp_path / "t.csv")
    assert example.read(tmp_path / "t.csv", "name") == [ROW]


def test_a_column_that_stands_twice_is_a_sentence(tmp_path: Path, example: Table[ExampleRow]) -> None:
    (tmp_path / "t.csv").write_text(f"{','.join(ROW)},trials\n{LINE},2000\n")
    with pytest.raises(EpsilometerError, match=r"t\.csv has two columns trials; the columns of a table must differ"):
        example.read(tmp_path / "t.csv", "trials")


def test_further_columns_are_read_if_the_table_may_have_them(tmp_path: Path, example: Table[ExampleRow]) -> None:
    assert example.further is None
    wide = Table[Any]("wide/{part}", ExampleRow, further=Column(float, "a feature"))
    (tmp_path / "t.csv").write_text(f"{','.join(ROW)},x0,x1\n{LINE},0.25,-1\n")
    assert wide.read(tmp_path / "t.csv") == [ROW | {"x0": 0.25, "x1": -1.0}]
    (tmp_path / "t.csv").write_text(f"{','.join(ROW)},x0,x1\n{LINE},0.25,much\n")
    with pytest.raises(EpsilometerError, match="row 1 has x1 = 'much'; it must be a number"):
        wide.read(tmp_path / "t.csv")


def test_columns_may_stand_in_another_order(tmp_path: Path, example: Table[ExampleRow]) -> None:
    write_table(tmp_path / "t.csv", [dict(reversed(ROW.items()))])
    assert example.read(tmp_path / "t.csv") == [ROW]


WRONG_CELLS = {
    "text for a number": ("epsilon", "much", "a number"),
    "text for a whole number": ("trials", "many", "a whole number"),
    "fraction for a whole number": ("trials", "1.5", "a whole number"),
    "infinite whole number": ("trials", "inf", "a whole number"),
    "underscore in a whole number": ("trials", "1_000", "a whole number"),
    "underscore in a number": ("epsilon", "1_0.5", "a number"),
    "nan": ("epsilon", "nan", "a number"),
    "nan for a number that may be unknown": ("limit", "nan", "a number, or empty"),
    "nan for a whole number": ("hits", "nan", "a whole number, or empty"),
    "number for a truth value": ("holds", "1", "True or False"),
    "lower case truth value": ("holds", "true", "True or False"),
    "no choice": ("verdict", "tight", "one of kept, broken"),
    "no choice where it may be empty": ("second", "tight", "one of kept, broken, or empty"),
    "empty text": ("name", "", "a text"),
    "empty choice": ("verdict", "", "one of kept, broken"),
    "empty truth value": ("holds", "", "True or False"),
    "empty whole number": ("trials", "", "a whole number"),
    "empty number": ("epsilon", "", "a number"),
}


@pytest.mark.parametrize("case", WRONG_CELLS)
def test_a_wrong_cell_is_named_with_its_row(tmp_path: Path, example: Table[ExampleRow], case: str) -> None:
    name, cell, expected = WRONG_CELLS[case]
    wrong = line(**{name: cell})
    (tmp_path / "t.csv").write_text(line() + wrong.split("\n")[1] + "\n")
    sentence = f"{tmp_path / 't.csv'}: row 2 has {name} = {cell!r}; it must be {expected}"
    with pytest.raises(EpsilometerError, match=f"^{re.escape(sentence)}$"):
        example.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"limit": ""}, {"limit": math.nan}),
        ({"hits": ""}, {"hits": math.nan}),
        ({"note": ""}, {"note": ""}),
        ({"second": ""}, {"second": ""}),
        ({"second": "broken"}, {"second": "broken"}),
        ({"epsilon": "inf"}, {"epsilon": math.inf}),
        ({"epsilon": "-inf"}, {"epsilon": -math.inf}),
        ({"epsilon": "3"}, {"epsilon": 3.0}),
        ({"epsilon": "1e-300"}, {"epsilon": 1e-300}),
        ({"holds": "False"}, {"holds": False}),
        ({"trials": "-12"}, {"trials": -12}),
        ({"trials": "9" * 400}, {"trials": int("9" * 400)}),
        ({"name": "12"}, {"name": "12"}),
        ({"name": "nan"}, {"name": "nan"}),
        ({"name": "True"}, {"name": "True"}),
    ],
    ids=str,
)
def test_a_cell_is_read_as_its_column_says(
    tmp_path: Path, example: Table[ExampleRow], changes: dict[str, str], expected: dict[str, Any]
) -> None:
    (tmp_path / "t.csv").write_text(line(**changes))
    (row,) = example.read(tmp_path / "t.csv")
    for name, value in changed(**expected).items():
        found = row[name]  # type: ignore[literal-required]
        assert type(found) is type(value), name
        assert found == value or (math.isnan(found) and math.isnan(value)), name


WRONG_VALUES = {
    "text for a number": ("epsilon", "1.5", "a number"),
    "nothing for a number": ("epsilon", None, "a number"),
    "nan": ("epsilon", math.nan, "a number"),
    "truth value for a number": ("epsilon", True, "a number"),
    "number for a whole number": ("trials", 1000.0, "a whole number"),
    "truth value for a whole number": ("trials", np.bool_(True), "a whole number"),
    "unknown whole number": ("trials", math.nan, "a whole number"),
    "number for one that may be unknown": ("hits", 0.5, "a whole number, or empty"),
    "number for a truth value": ("holds", 1, "True or False"),
    "number for a text": ("name", 5, "a text"),
    "empty text": ("name", "", "a text"),
    "no choice": ("verdict", "tight", "one of kept, broken"),
    "empty choice": ("verdict", "", "one of kept, broken"),
    "no choice where it may be empty": ("second", "tight", "one of kept, broken, or empty"),
}


@pytest.mark.parametrize("case", WRONG_VALUES)
def test_a_wrong_value_is_not_written(tmp_path: Path, example: Table[ExampleRow], case: str) -> None:
    name, value, expected = WRONG_VALUES[case]
    sentence = f"row 2 of example/{{part}} has {name} = {value!r}; it must be {expected}"
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        example.write(tmp_path / "t.csv", [ROW, changed(**{name: value})])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "row",
    [
        {name: value for name, value in ROW.items() if name != "hits"},
        ROW | {"mood": "good"},
        dict(reversed(ROW.items())),
    ],
    ids=["missing", "unknown", "another order"],
)
def test_a_row_with_other_columns_is_not_written(tmp_path: Path, example: Table[ExampleRow], row: Any) -> None:
    with pytest.raises(TypeError, match=r"row 1 of example/\{part\} has the columns .*, not \['name', 'note'"):
        example.write(tmp_path / "t.csv", [row])
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_are_written_as_those_of_python(tmp_path: Path, example: Table[ExampleRow]) -> None:
    row = changed(
        holds=np.True_, trials=np.int64(1000), hits=np.float64("nan"), epsilon=np.float32(1.5), limit=np.float64("inf")
    )
    example.write(tmp_path / "t.csv", [row, changed(epsilon=2)])
    assert (tmp_path / "t.csv").read_text().split("\n")[1:] == [
        "laplace_count,,kept,,True,1000,,1.5,inf",
        "laplace_count,,kept,,True,1000,7,2,2.0",
        "",
    ]


NUMBERS = st.floats(allow_nan=False)
WHOLE = st.integers() | st.integers(min_value=10**400, max_value=10**401)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))
"""Python's writer of CSV leaves a carriage return without quotes before Python 3.13, so no text of a table may hold one."""
UNKNOWN = st.just(math.nan)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "name": TEXTS.filter(bool),
    "note": TEXTS,
    "verdict": st.sampled_from(["kept", "broken"]),
    "second": st.sampled_from(["kept", "broken", ""]),
    "holds": st.booleans(),
    "trials": WHOLE,
    "hits": WHOLE | UNKNOWN,
    "epsilon": NUMBERS,
    "limit": NUMBERS | UNKNOWN,
}
ROWS = st.tuples(*CELLS.values()).map(lambda values: dict(zip(CELLS, values, strict=True)))


@QUICKLY
@given(rows=st.lists(ROWS, min_size=1, max_size=5))
def test_what_is_written_is_read(folder: Path, example: Table[ExampleRow], rows: list[Any]) -> None:
    """With its types, and to the last bit."""
    example.write(folder / "example.csv", rows)
    back = example.read(folder / "example.csv")
    assert repr(back) == repr(rows)
    example.write(folder / "again.csv", back)
    assert (folder / "again.csv").read_bytes() == (folder / "example.csv").read_bytes()


def test_a_table_documents_itself(example: Table[ExampleRow]) -> None:
    assert example.about == "One column of each kind that a table may have, and what each of them holds."
    assert list(example.columns) == list(ROW)
    assert example.columns["second"] == Column(str, "one of two texts, or nothing", True, ("kept", "broken"))
    assert example.columns["trials"] == Column(int, "a whole number")
    assert columns_of(ExampleRow) == example.columns


def test_columns_that_are_known_only_later_replace_those_of_the_model(example: Table[ExampleRow], tmp_path: Path) -> None:
    columns = {"name": Column(str, "who"), "tpr_at_0.01": Column(float, "how often")}
    table = Table[Any]("wider/{part}", ExampleRow, columns=columns)
    assert table.about == example.about
    table.write(tmp_path / "t.csv", [{"name": "a", "tpr_at_0.01": 0.5}])
    assert table.read(tmp_path / "t.csv") == [{"name": "a", "tpr_at_0.01": 0.5}]
    with pytest.raises(EpsilometerError, match="no column note"):
        example.read(tmp_path / "t.csv")


def test_two_tables_of_one_name_are_refused(example: Table[ExampleRow]) -> None:
    class Other(TypedDict):
        lam: Annotated[float, "regularisation"]

    with pytest.raises(ValueError, match=r"there are two kinds of table called example/\{part\}"):
        Table[Any]("example/{part}", Other)
    assert find_table("example/any") is example


def test_a_column_without_a_meaning_or_of_another_type_is_refused() -> None:
    class Bare(TypedDict):
        lam: float

    class Several(TypedDict):
        lam: Annotated[float | None, "regularisation"]

    with pytest.raises(TypeError, match="the column lam has no meaning; annotate it"):
        columns_of(Bare)
    with pytest.raises(TypeError, match=r"the column lam is of the type float \| None; it must be one of bool, int"):
        columns_of(Several)


def test_a_table_is_found_by_its_name(example: Table[ExampleRow]) -> None:
    one = Table[Any]("example/whole", ExampleRow)
    deeper = Table[Any]("example/deeper/{part}", ExampleRow)
    top = Table[Any]("unfinished", ExampleRow)
    assert find_table("example/separable") is example
    assert find_table("example/whole") is one
    assert find_table("example/deeper/separable") is deeper
    assert find_table("unfinished") is top
    for name in ("examples/separable", "example", "example/deeper/a/b", "finished"):
        with pytest.raises(EpsilometerError, match=rf"there is no kind of table for {name}; there are .*example/whole"):
            find_table(name)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")

    def fail_in_the_middle() -> None:
        with written_whole(path) as file:
            file.write("half of i")
            file.flush()
            assert path.read_text() == "before"
            raise error

    with pytest.raises(error):
        fail_in_the_middle()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_rows_that_do_not_fit_leave_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, [{"a": 1}])
    with pytest.raises(ValueError, match="fields"):
        write_table(path, [{"a": 2}, {"a": 3, "b": 4}])
    assert read_table(path) == [{"a": 1}]
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_place_of_the_file_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises((OSError, EpsilometerError), match="directory"):
        write_table(tmp_path / "t.csv", [{"a": 1}])
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_folders_are_made(tmp_path: Path) -> None:
    write_table(tmp_path / "a" / "b" / "t.csv", [{"a": 1}])
    assert read_table(tmp_path / "a" / "b" / "t.csv") == [{"a": 1}]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0o002, 0o664)])
def test_file_mode_honours_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_table(tmp_path / "t.csv", [{"a": 1}])
        assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == mode
        assert os.umask(mask) == mask
    finally:
        os.umask(before)


def test_an_output_that_is_a_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(EpsilometerError, match=r"cannot write .*folder\.csv: Is a directory"):
        write_table(tmp_path / "folder.csv", [{"a": 1}])
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_truth_values_come_back_and_underscores_make_no_number(tmp_path: Path) -> None:
    rows = [{"holds": True, "name": "1_000"}, {"holds": False, "name": "b"}]
    write_table(tmp_path / "t.csv", rows)
    assert read_table(tmp_path / "t.csv") == rows
