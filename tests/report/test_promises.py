"""Promises over both kinds of tables of verdicts, on audits and on attacks, and the gate over the latter."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from epsilometer.cli import main
from epsilometer.core import EpsilometerError, write_table
from epsilometer.membership.rows import COUNTS, MEMBERSHIP
from epsilometer.report.promises import CERTIFYING, Promise, load_promises
from tests.report.desk import ATTACKED, BROKEN, KEPT, REASON, ROW, Desk, counted
from tests.rows import write_rows
from tests.tables import read_table

ACCUSED = {"mechanism": "output_perturbation", "reason": "The noise has a seed of one byte."}
PLACE = "output_perturbation at epsilon = 1, attacked on small, outlier"


def write(folder: Path, *tables: list[dict[str, Any]]) -> list[Path]:
    paths = [folder / f"{number}.csv" for number in range(len(tables))]
    for path, rows in zip(paths, tables, strict=True):
        write_table(path, rows)
    return paths


def test_bounds_are_named_after_the_auditors_that_certify(tmp_path: Path) -> None:
    """A bound that rests on a model decides nothing, and is not among them."""
    assert "Gaussian shape" not in CERTIFYING
    (promise,) = load_promises(*write(tmp_path, [ROW | {"gaussian_shape": 3.0}])).values()
    assert list(promise.bounds) == list(CERTIFYING)
    assert {name: bound for name, bound in promise.bounds.items() if not math.isnan(bound)} == {
        "exact": 1.0,
        "sampled": 0.9,
        "black box": 0.8,
    }
    assert (promise.exact, promise.largest_spent, promise.attacked) == (1.0, (1.0, "exact"), "")
    assert promise.name == "laplace_count at epsilon = 1"


def test_an_attack_is_a_promise_with_the_bound_of_that_attack(tmp_path: Path) -> None:
    (promise,) = load_promises(*write(tmp_path, [ATTACKED])).values()
    assert dict(promise.bounds) == {"optimal": 1.5}
    assert math.isnan(promise.exact)
    assert promise.name == PLACE
    assert promise.spent_in_words == "spends at least 1.5 (optimal)"
    assert promise.violated
    assert promise.rests_on_sampling


def test_both_kinds_stand_side_by_side(tmp_path: Path) -> None:
    """Promises on one mechanism are told apart by epsilon, and attacks on it by data set, target and attack."""
    audit = ROW | {"mechanism": "output_perturbation"}
    others = [KEPT | change for change in ({"dataset": "own"}, {"target": "average"}, {"attack": "loss"}, {"promised": 2.0})]
    tables = write(tmp_path, [audit, audit | {"promised": 2.0}], [KEPT, *others])
    promises = load_promises(*tables)
    assert len(promises) == 7
    assert len({promise.name for promise in promises.values()}) == 6, "two attacks are made on the same place"
    assert all(isinstance(promise, Promise) and not promise.violated for promise in promises.values())


def test_two_verdicts_on_one_attack_are_refused(tmp_path: Path) -> None:
    (path,) = write(tmp_path, [KEPT, ATTACKED])
    with pytest.raises(EpsilometerError, match=f"^{path} has a second verdict on {PLACE}; there must be one$"):
        load_promises(path)


@pytest.mark.parametrize("column", [name for name in KEPT if name not in ("attack", "certified")])
def test_a_table_of_attacks_must_be_whole(desk: Desk, column: str) -> None:
    write_table(desk.table, [{name: value for name, value in KEPT.items() if name != column}])
    assert desk.refused() == f"{desk.table} has no column {column}; it is no table of verdicts/membership"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"promised": ""}, "promised = ''; it must be a number"),
        ({"promised": "inf"}, "promised = inf; no mechanism can claim that"),
        ({"certified": ""}, "certified = ''; it must be a number"),
        ({"dataset": ""}, "dataset = ''; it must be a text"),
        ({"trials": "many"}, "trials = 'many'; it must be a whole number"),
        ({"verdict": "safe"}, "verdict = 'safe'; it must be one of violated, tight, consistent, underpowered"),
    ],
)
def test_a_damaged_row_on_an_attack_exits_with_2(desk: Desk, change: dict[str, str], words: str) -> None:
    write_table(desk.table, [KEPT, ATTACKED | {"dataset": "own"} | change])
    assert desk.refused().endswith(f" row 2 has {words}")


def test_the_attacks_of_a_run_are_no_verdicts_on_them(desk: Desk) -> None:
    """The table membership/small.csv has columns of these names too, and others besides."""
    write_table(desk.table, [{**KEPT, "auc": 0.5}])
    assert desk.refused() == f"{desk.table} has a column auc, which a table of verdicts/membership has not"


def test_a_new_violation_by_an_attack_closes_the_gate(desk: Desk) -> None:
    desk.expect()
    line = f"VIOLATED  {PLACE}: spends at least 1.5 (optimal), p = 0.001234 after Holm's correction"
    assert desk.run(KEPT | {"attack": "loss"}, ATTACKED) == (1, [line, counted(2, 0, 1)])


def test_an_expected_violation_by_an_attack_leaves_it_open(desk: Desk) -> None:
    desk.expect(ACCUSED)
    assert desk.run(KEPT | {"attack": "loss"}, ATTACKED) == (0, [counted(2, 1, 0)])
    other = ATTACKED | {"mechanism": "naive_bayes"}
    status, lines = desk.run(ATTACKED, other)
    assert (status, lines[-1]) == (1, counted(2, 1, 1)), "one expected violation does not excuse another"
    assert lines[0].startswith("VIOLATED  naive_bayes at ")


def test_attacks_without_a_violation_pass_and_what_was_expected_of_them_is_noted(desk: Desk) -> None:
    desk.expect(ACCUSED)
    assert desk.run(KEPT) == (
        0,
        [counted(1, 0, 0), "note: expected to be violated, but not found to be: output_perturbation"],
    )


def test_what_changed_of_an_attack(desk: Desk) -> None:
    """Its verdict; a bound that was certified from other samples is no change."""
    desk.expect(ACCUSED)
    _, lines = desk.run(KEPT | {"certified": 0.3}, previous=[KEPT, KEPT | {"attack": "loss"}])
    assert lines[-2:] == [f"changed since {desk.previous}:", f"  no longer audited: {PLACE}"]
    _, lines = desk.run(ATTACKED, previous=[KEPT])
    assert lines[-1] == f"  {PLACE}: consistent, spends at least 0.25 (optimal) -> violated, spends at least 1.5 (optimal)"


@pytest.mark.parametrize(("verdict", "status"), [("violated", 1), ("tight", 0)])
def test_the_gate_reads_audits_and_attacks_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verdict: str, status: int
) -> None:
    """As in a folder of verdicts: a violation of either kind closes the gate, whichever table comes first."""
    tables = write(tmp_path, [ROW, BROKEN], [KEPT | {"verdict": verdict}])
    (tmp_path / "expected.yaml").write_text(yaml.safe_dump([REASON]))
    for paths in (tables, tables[::-1]):
        options = ["--expected", str(tmp_path / "expected.yaml"), "--previous", *map(str, paths)]
        assert main(["gate", *map(str, paths), *options]) == status
        lines = capsys.readouterr().out.splitlines()
        assert counted(3, 1, status) in lines
        assert lines[-1] == f"nothing changed since {', '.join(map(str, paths))}"


def test_what_attacks_certify_comes_to_the_gate(tmp_path: Path) -> None:
    """From the table of attacks and its counts to the verdicts and the gate: 900 of 1000 against 100, log 9 or so."""
    key = {"dataset": "small", "target": "outlier", "mechanism": "output_perturbation", "attack": "optimal"}
    found = {"promised": 1.0, "certified": 2.0, "trials": 2000}
    seen = {"hits": 900, "of": 1000, "other_hits": 100, "other_of": 1000}
    counts = write_rows(COUNTS, tmp_path / "counts.csv", [key | seen])
    attacks = write_rows(MEMBERSHIP, tmp_path / "attacks.csv", [key | found])
    inputs = ["--tables", str(attacks), "--counts", str(counts), "--confidence", "0.95"]
    assert main(["membership_verdicts", *inputs, "--table", str(tmp_path / "verdicts.csv")]) == 0
    (row,) = read_table(tmp_path / "verdicts.csv")
    assert (row["verdict"], row["certified"]) == ("violated", 2.0)
    assert 0 < row["p_value"] < 1e-6
    (tmp_path / "none.yaml").write_text("[]")
    assert main(["gate", str(tmp_path / "verdicts.csv"), "--expected", str(tmp_path / "none.yaml")]) == 1
    (tmp_path / "one.yaml").write_text(yaml.safe_dump([ACCUSED]))
    assert main(["gate", str(tmp_path / "verdicts.csv"), "--expected", str(tmp_path / "one.yaml")]) == 0
