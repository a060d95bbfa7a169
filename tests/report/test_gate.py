"""The gate: it closes for an unexpected violation alone, refuses what it cannot read, and tells what changed."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epsilometer.cli import main
from epsilometer.core import write_table
from epsilometer.libraries.registry import library_entries
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.report.gate import load_expected
from epsilometer.report.promises import AUDITED, CERTIFYING, load_promises
from tests.report.desk import BROKEN, REASON, ROW, Desk, counted

EXPECTED = Path(__file__).parents[2] / "config/expected.yaml"
BOUNDS = [spec.column for spec in CERTIFYING.values()]
SAMPLED = {"exact": math.nan, "sampled": 1.5, "black_box": 1.75, "p_value": 0.0012345, "verdict": "violated"}


@pytest.mark.parametrize("verdict", ["tight", "consistent", "underpowered"])
def test_no_violation_passes(desk: Desk, verdict: str) -> None:
    desk.expect()
    assert desk.run(ROW | {"verdict": verdict}) == (0, [counted(1, 0, 0)])


def test_an_expected_violation_passes(desk: Desk) -> None:
    assert desk.run(ROW, BROKEN, BROKEN | {"promised": 0.5}) == (0, [counted(3, 2, 0)])


def test_a_violation_that_is_not_expected_fails(desk: Desk) -> None:
    desk.expect()
    line = "VIOLATED  laplace_half_scale at epsilon = 1: spends 2 (exact)"
    assert desk.run(ROW, BROKEN) == (1, [line, counted(2, 0, 1)])


def test_one_expected_violation_does_not_excuse_another(desk: Desk) -> None:
    status, lines = desk.run(BROKEN, ROW | {"exact": 3.0, "verdict": "violated"}, BROKEN | {"promised": 0.5})
    assert (status, lines) == (1, ["VIOLATED  laplace_count at epsilon = 1: spends 3 (exact)", counted(3, 2, 1)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "spends at least 1.75 (black box), p = 0.001234 after Holm's correction"),
        ({"black_box": math.nan}, "spends at least 1.5 (sampled), p = 0.001234 after Holm's correction"),
        ({"one_run": 1.8}, "spends at least 1.8 (one run), p = 0.001234 after Holm's correction"),
        ({"sampled_curve": 1.9}, "spends at least 1.9 (sampled curve), p = 0.001234 after Holm's correction"),
        ({"black_box": math.inf}, "spends at least inf (black box), p = 0.001234 after Holm's correction"),
        ({"exact": 0.5}, "spends at least 1.75 (black box), p = 0.001234 after Holm's correction"),
        ({"exact": 1 + 1e-12}, "spends at least 1.75 (black box), p = 0.001234 after Holm's correction"),
        ({"exact": 1.25}, "spends 1.25 (exact)"),
        ({"exact": math.inf}, "spends inf (exact)"),
        (
            dict.fromkeys(BOUNDS, math.nan),
            "spends an unknown epsilon, p = 0.001234 after Holm's correction",
        ),
    ],
    ids=str,
)
def test_what_is_spent_and_who_says_so(desk: Desk, change: dict[str, float], said: str) -> None:
    status, lines = desk.run(ROW | SAMPLED | change)
    assert (status, lines[0]) == (1, f"VIOLATED  laplace_count at epsilon = 1: {said}")


def test_delta_and_awkward_epsilons_are_printed_shortly(desk: Desk) -> None:
    violated = {"exact": 0.0377746139129, "verdict": "violated"}
    _, lines = desk.run(ROW | violated | {"promised": 0.018407720014689568, "delta": 1e-5})
    assert lines[0] == "VIOLATED  laplace_count at epsilon = 0.01841 and delta = 1e-05: spends 0.03777 (exact)"


def test_expected_findings_that_do_not_occur_are_noted(desk: Desk) -> None:
    others = [REASON | {"mechanism": name} for name in ("sparse_vector_5", "sparse_vector_6", "k_anonymity")]
    desk.expect(REASON, *others)
    kept = BROKEN | {"mechanism": "sparse_vector_5", "verdict": "consistent"}
    status, lines = desk.run(BROKEN, BROKEN | {"promised": 0.5, "verdict": "tight"}, kept)
    assert (status, lines[0]) == (0, counted(3, 1, 0))
    assert lines[1:] == [
        "note: expected to be violated, but not found to be: sparse_vector_5",
        "note: expected to be violated, but not audited: sparse_vector_6, k_anonymity",
    ]


def test_nothing_changed(desk: Desk) -> None:
    rows = [
        ROW,
        BROKEN | {"exact": math.inf},
        ROW | {"promised": 2.0, "exact": math.nan},
        ROW | {"promised": 0.018407720014689568},
    ]
    status, lines = desk.run(*rows, previous=rows)
    assert (status, lines[1:]) == (0, [f"nothing changed since {desk.previous}"])


def test_the_order_of_rows_and_other_columns_do_not_count_as_changes(desk: Desk) -> None:
    earlier = [row | {"sampled": 0.1, "black_box": 0.2, "p_value": 0.5, "seconds": 3.0} for row in (BROKEN, ROW)]
    _, lines = desk.run(ROW, BROKEN, previous=earlier)
    assert lines[1:] == [f"nothing changed since {desk.previous}"]


def test_everything_that_changed(desk: Desk) -> None:
    earlier = [ROW, BROKEN, ROW | {"promised": 0.5}, ROW | {"promised": 2.0}]
    now = [ROW | SAMPLED, BROKEN, ROW | {"promised": 0.1, "delta": 1e-5}, ROW | {"promised": 2.0, "exact": 1.00001}]
    desk.expect(REASON, REASON | {"mechanism": "laplace_count"})
    status, lines = desk.run(*now, previous=earlier)
    assert (status, lines[0]) == (0, counted(4, 2, 0))
    assert lines[1:] == [
        f"changed since {desk.previous}:",
        "  laplace_count at epsilon = 1: tight, spends 1 (exact) -> violated, spends at least 1.75 (black box)",
        "  laplace_count at epsilon = 1: exact value 1 -> nan",
        "  new: laplace_count at epsilon = 0.1 and delta = 1e-05: tight, spends 1 (exact)",
        "  laplace_count at epsilon = 2: exact value 1 -> 1.00001",
        "  no longer audited: laplace_count at epsilon = 0.5",
    ]


def test_a_change_alone_never_closes_the_gate_and_never_opens_it(desk: Desk) -> None:
    assert desk.run(ROW | {"verdict": "consistent"}, previous=[ROW | {"verdict": "violated"}])[0] == 0
    desk.expect()
    assert desk.run(BROKEN, previous=[BROKEN])[0] == 1


def test_promises_are_matched_exactly(desk: Desk) -> None:
    near = math.nextafter(0.018407720014689568, 1)
    _, lines = desk.run(ROW | {"promised": 0.018407720014689568}, previous=[ROW | {"promised": near}])
    assert [line.split(":")[0].strip() for line in lines[-2:]] == ["new", "no longer audited"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (1.0, 1.0 + 1e-7, False),
        (1.0, 1.0 + 1e-5, True),
        (1e9, 1e9 + 100, False),
        (1e-9, 1.1e-9, True),
        (0.0, 0.0, False),
        (math.inf, math.inf, False),
        (math.nan, math.nan, False),
        (math.inf, math.nan, True),
        (math.inf, 1e300, True),
        (1.0, math.inf, True),
        (math.nan, 1.0, True),
        (1.0, math.nan, True),
    ],
)
def test_which_exact_values_count_as_changed(desk: Desk, old: float, new: float, changed: bool) -> None:
    status, lines = desk.run(ROW | {"exact": new}, previous=[ROW | {"exact": old}])
    assert status == 0
    assert any("exact value" in line for line in lines) == changed
    assert any("nothing changed" in line for line in lines) != changed


@pytest.mark.parametrize("arguments", [[], ["table.csv"], ["--expected", "x.yaml"], ["t.csv", "--expected"]], ids=str)
def test_wrong_arguments_exit_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["gate", *arguments])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: epsilometer gate")


def test_a_table_that_cannot_be_read_exits_with_2(desk: Desk, tmp_path: Path) -> None:
    assert desk.refused() == f"cannot read the table {desk.table}: No such file or directory"
    desk.table.write_text("")
    assert "is empty" in desk.refused()
    desk.table.write_bytes(b"\xff\xfe\x00")
    assert "not text" in desk.refused()
    desk.table = tmp_path
    assert "Is a directory" in desk.refused()


@pytest.mark.parametrize("column", AUDITED)
def test_another_kind_of_table_exits_with_2(desk: Desk, column: str) -> None:
    write_table(desk.table, [{name: value for name, value in BROKEN.items() if name != column}])
    assert desk.refused() == f"{desk.table} has no column {column}; it is no table of verdicts/{{part}}"


NUMBER = "it must be a number"
CLAIMED = "no mechanism can claim that"
OUTCOME = "it must be one of violated, tight, consistent, underpowered"


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("mechanism", "", "= ''; it must be a text"),
        ("promised", "", f"= ''; {NUMBER}"),
        ("promised", "nan", f"= 'nan'; {NUMBER}"),
        ("promised", "inf", f"= inf; {CLAIMED}"),
        ("promised", "-1", f"= -1.0; {CLAIMED}"),
        ("promised", "one", f"= 'one'; {NUMBER}"),
        ("promised", "True", f"= 'True'; {NUMBER}"),
        ("promised", "1_0", f"= '1_0'; {NUMBER}"),
        ("delta", "", f"= ''; {NUMBER}"),
        ("delta", "1", f"= 1.0; {CLAIMED}"),
        ("exact", "large", f"= 'large'; {NUMBER}, or empty"),
        ("sampled", "False", f"= 'False'; {NUMBER}, or empty"),
        ("p_value", "?", f"= '?'; {NUMBER}"),
        ("verdict", "", f"= ''; {OUTCOME}"),
        ("verdict", "Violated", f"= 'Violated'; {OUTCOME}"),
        ("verdict", "1", f"= '1'; {OUTCOME}"),
    ],
)
def test_a_damaged_row_exits_with_2(desk: Desk, column: str, cell: str, words: str) -> None:
    """It must neither pass nor be taken for a violation."""
    write_table(desk.table, [ROW, BROKEN | {column: cell}])
    found = desk.refused().removeprefix(str(desk.table)).removeprefix(":").strip()
    assert found == f"row 2 has {column} {words}"


def test_two_verdicts_on_one_promise_exit_with_2(desk: Desk) -> None:
    write_table(desk.table, [ROW, ROW | {"verdict": "violated"}])
    assert "a second verdict on laplace_count at epsilon = 1;" in desk.refused()
    desk.run(ROW)
    assert f"{desk.table} has a second verdict on laplace_count" in desk.refused(desk.table)


def test_a_bad_table_of_an_earlier_run_exits_with_2_even_beside_a_violation(desk: Desk, tmp_path: Path) -> None:
    write_table(desk.table, [ROW | {"exact": 2.0, "verdict": "violated"}])
    assert "No such file" in desk.refused("--previous", tmp_path / "none.csv")
    write_table(desk.previous, [{"mechanism": "laplace_count", "promised": 1.0}])
    assert "has no column delta; it is no table of verdicts/{part}" in desk.refused("--previous", desk.previous)
    write_table(desk.previous, [ROW | {"verdict": "fine"}])
    assert f"row 1 has verdict = 'fine'; {OUTCOME}" in desk.refused("--previous", desk.previous)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file: Input should be a valid list"),
        ("mechanism: laplace_count", "the file: Input should be a valid list"),
        ("- laplace_count", "0: Input should be a valid dictionary"),
        ("- mechanism: laplace_count", "0.reason: Field required"),
        ("- {mechanism: laplace_count, reason: }", "0.reason: Input should be a valid string"),
        ("- {mechanism: laplace_count, reason: '  '}", "0.reason: String should have at least 1 character"),
        ("- {reason: Because.}", "0.mechanism: Field required"),
        ("- {mechanism: laplace_count, reason: Because., until: 2030}", "0.until: Extra inputs are not permitted"),
        ("- {mechanism: laplace_count}\n- {reason: So.}", "0.reason: Field required; 1.mechanism: Field required"),
        ("- {mechanism: smooth_median, reason: A.}\n- {mechanism: smooth_median, reason: B.}", "smooth_median twice"),
        ("- [", "is no YAML"),
        ("a: b: c", "is no YAML"),
        ("- 2030-99-99", "is no YAML"),
    ],
)
def test_wrong_expected_findings_exit_with_2(desk: Desk, text: str, message: str) -> None:
    write_table(desk.table, [ROW])
    desk.expected.write_text(text)
    sentence = desk.refused()
    assert message in sentence
    assert sentence.startswith(str(desk.expected))


def test_mechanisms_of_others_may_be_expected_too(desk: Desk) -> None:
    """A name need not be in the catalogue; one that no table has is noted, so that a slip of the pen shows."""
    desk.expect({"mechanism": "my_own", "reason": "Half of the noise."}, {"mechanism": "my_onw", "reason": "A slip."})
    status, lines = desk.run(BROKEN | {"mechanism": "my_own"})
    assert (status, lines[0]) == (0, counted(1, 1, 0))
    assert lines[1:] == ["note: expected to be violated, but not audited: my_onw"]
    assert desk.run(BROKEN | {"mechanism": "my_other"})[0] == 1


def test_expected_findings_that_cannot_be_read_exit_with_2(desk: Desk, tmp_path: Path) -> None:
    write_table(desk.table, [ROW])
    desk.expected.write_bytes(b"\xff\xfe\xfa")
    assert "is no YAML" in desk.refused()
    desk.expected = tmp_path / "none.yaml"
    assert desk.refused() == f"cannot read the expected findings {desk.expected}: No such file or directory"


CELLS = st.sampled_from(["", "violated", "tight", "laplace_count", "0", "1", "-1", "1e400", "9" * 400, "inf", "nan", "True"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(changes=st.lists(st.dictionaries(st.sampled_from(AUDITED), CELLS, max_size=2), min_size=1, max_size=3))
def test_1_means_a_violation_whatever_the_table_holds(desk: Desk, changes: list[dict[str, str]]) -> None:
    with desk.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, ROW)
        writer.writeheader()
        for number, change in enumerate(changes):
            plain = {name: "" if isinstance(value, float) and math.isnan(value) else value for name, value in ROW.items()}
            writer.writerow(plain | {"promised": number + 2} | change)
    status = desk.gate()
    out, err = desk.capsys.readouterr()
    violated = any(change.get("verdict") == "violated" for change in changes)
    assert ("VIOLATED" in out) == (status == 1)
    assert err.startswith("epsilometer: ") == (status == 2)
    assert status in ((1, 2) if violated else (0, 2))


def test_the_expected_findings_are_the_flawed_mechanisms_of_the_catalogue() -> None:
    flawed = [name for name, entry in catalogue().items() if entry.flaw]
    bought = [name for name, entry in library_entries().items() if entry.flaw]
    assert list(load_expected(EXPECTED)) == flawed + bought


@pytest.mark.parametrize("removed", ["histogram_inverse_scale", "k_anonymity"])
def test_without_its_line_a_flawed_mechanism_closes_the_gate(desk: Desk, removed: str) -> None:
    findings = yaml.safe_load(EXPECTED.read_text())
    rows = [BROKEN | {"mechanism": finding["mechanism"]} for finding in findings]
    desk.expect(*findings)
    assert desk.run(*rows) == (0, [counted(len(rows), len(rows), 0)])
    desk.expect(*(finding for finding in findings if finding["mechanism"] != removed))
    status, lines = desk.run(*rows)
    assert (status, len(lines)) == (1, 2)
    assert lines[0].startswith(f"VIOLATED  {removed} at ")


def test_it_reads_what_the_verdicts_are_written_as(tmp_path: Path) -> None:
    """From a family's audit to the gate, each command reading what the one before it wrote."""
    audit, counts, seconds, table = (str(tmp_path / f"{name}.csv") for name in ("audit", "counts", "seconds", "table"))
    options = ["--epsilons", "0.5", "--trials", "2000", "--confidence", "0.95", "--seed", "1"]
    outputs = ["--table", audit, "--counts", counts, "--seconds", seconds, "--witnesses", str(tmp_path / "witnesses")]
    assert main(["audit_family", "--family", "composition", *options, *outputs]) == 0
    inputs = ["--tables", audit, "--counts", counts]
    assert main(["verdicts", *inputs, "--confidence", "0.95", "--table", table]) == 0
    violated = [promise.mechanism for promise in load_promises(Path(table)).values() if promise.violated]
    assert violated == ["parallel_composition_as_printed"]
    assert main(["gate", table, "--expected", str(EXPECTED), "--previous", table]) == 0
    (tmp_path / "none.yaml").write_text("[]")
    assert main(["gate", table, "--expected", str(tmp_path / "none.yaml")]) == 1
