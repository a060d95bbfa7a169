"""What is said first: the claims that were singled out, whatever came out, and what audits and attacks prove."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from epsilometer.cli import main
from epsilometer.core.tables import Table
from epsilometer.evidence.rows import VERDICTS
from epsilometer.membership.rows import MEMBERSHIP, MEMBERSHIP_VERDICTS
from epsilometer.papers.ledger import LEDGER
from epsilometer.papers.registry import sources
from epsilometer.report.findings import Finding, attack_rows, findings, lead, number
from epsilometer.report.run import Run
from tests.report.desk import ROW as PROMISE
from tests.rows import write_rows

CLAIM = {
    "id": "nips08-x",
    "source": "nips08",
    "locator": "section 1",
    "statement": "It holds.",
    "headline": True,
    "outcome": "holds",
    "evidence": "It was seen to.",
}
BROKEN = PROMISE | {"mechanism": "laplace_half_scale", "exact": 2.0, "black_box": 1.8, "verdict": "violated"}
ATTACK = {
    "dataset": "small",
    "target": "outlier",
    "mechanism": "naive_bayes",
    "attack": "optimal",
    "promised": 1.0,
    "certified": 0.5,
}
BEYOND = {"certified": 1.2}


TABLES: dict[str, tuple[str, Table[Any]]] = {
    "ledger": ("ledger/nips08", LEDGER),
    "verdicts": ("verdicts/catalogue", VERDICTS),
    "membership": ("membership/small", MEMBERSHIP),
    "attacked": ("verdicts/membership", MEMBERSHIP_VERDICTS),
}


def run_of(folder: Path, **tables: list[dict[str, Any]]) -> Run:
    """A run with these tables, of which rows say what matters."""
    for kind, rows in tables.items():
        name, table = TABLES[kind]
        write_rows(table, folder / f"{name}.csv", rows)
    return Run(folder)


def attacked(folder: Path, *rows: dict[str, Any], verdict: str = "violated") -> Run:
    """A run with these attacks, each of its own, and with this verdict on those that certify more than the promise."""
    verdicts = [
        {name: row[name] for name in MEMBERSHIP_VERDICTS.columns if name in row}
        | {"verdict": verdict if row["certified"] > row["promised"] else "consistent"}
        for row in rows
        if not math.isnan(row["promised"])
    ]
    return run_of(folder, membership=list(rows), attacked=verdicts)


def by_place(run: Run) -> dict[str, Finding]:
    return {finding.place: finding for finding in findings(run)}


def test_claims_are_singled_out_beforehand_and_the_worst_outcome_comes_first(tmp_path: Path) -> None:
    failing = CLAIM | {"id": "nips08-y", "outcome": "fails as printed", "instead": "This does."}
    quiet = failing | {"id": "nips08-z", "headline": False}
    run = run_of(tmp_path, ledger=[CLAIM, failing, quiet])
    assert findings(run) == [
        Finding("fails as printed", "nips08, section 1", "It holds.", "It was seen to. This does.", "nips08-y"),
        Finding("holds", "nips08, section 1", "It holds.", "It was seen to.", "nips08-x"),
    ]


def test_correct_and_flawed_mechanisms_are_counted_apart(tmp_path: Path) -> None:
    unseen = BROKEN | {"promised": 2.0, "black_box": 1.5, "exact": 4.0}
    found = by_place(run_of(tmp_path, verdicts=[PROMISE, BROKEN, unseen]))
    assert found["Audits"].verdict == "consistent"
    assert found["Audits"].sentence == "Of 1 such promises, 0 are found violated."
    assert found["The broken gallery"].verdict == "violated"
    assert found["The broken gallery"].sentence.startswith(
        "Of 2 such promises, 2 are found violated; on 1 of them the black"
    )


def test_a_correct_mechanism_that_is_caught_is_named(tmp_path: Path) -> None:
    found = by_place(run_of(tmp_path, verdicts=[PROMISE | {"exact": 1.5, "verdict": "violated"}]))
    assert found["Audits"].verdict == "violated"
    assert found["Audits"].sentence.endswith("violated: laplace_count at epsilon = 1 spends 1.5 (exact).")


def test_an_attack_may_exceed_the_promise_by_chance(tmp_path: Path) -> None:
    """Its verdict says whether it does, since that allows for the number of attacks; the bound alone does not."""
    for verdict in ("violated", "consistent"):
        run = attacked(tmp_path, ATTACK | BEYOND, ATTACK | {"attack": "loss"}, verdict=verdict)
        assert by_place(run)["Membership inference"].verdict == verdict
        assert [row["verdict"] for row in attack_rows(run)] == [verdict, "consistent"]


def test_attacks_without_verdicts_prove_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, membership=[ATTACK | BEYOND])
    assert by_place(run)["Membership inference"].verdict == "consistent"
    assert [row["verdict"] for row in attack_rows(run)] == [""]
    assert "verdicts/membership.csv" in {gap.path for gap in run.gaps}


def test_the_attack_that_certifies_most_is_named(tmp_path: Path) -> None:
    nothing = {"mechanism": "non_private_logistic", "promised": math.nan, "certified": 7.0}
    others = [ATTACK | BEYOND | {"attack": "loss"}, ATTACK | {"attack": "lira_online"}]
    found = by_place(attacked(tmp_path, ATTACK | nothing, ATTACK | {"certified": 1.7}, *others))["Membership inference"]
    assert found.sentence == (
        "After Holm's correction over all of them, 2 of 3 attacks gain more; the most is 1.7 where 1 was promised, "
        "certified on naive Bayes (Few records, margin 0.03; an inserted outlier; exact likelihood ratio)."
    )


def test_without_tables_there_is_nothing_to_say(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert findings(run) == []
    assert lead(run).startswith("0 claims of 0 sources")
    assert {gap.path for gap in run.gaps} >= {f"ledger/{source}.csv" for source in sources()}


def test_the_summary_holds_counts_findings_and_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_of(tmp_path, ledger=[CLAIM, CLAIM | {"headline": False}], verdicts=[PROMISE, BROKEN])
    assert main(["summary", "--results", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# Epsilometer"
    assert "| 2 | 2 | 0 | 0 | 0 | 0 | 0 |" in lines
    assert "| promises | violated | tight | consistent | underpowered |" in lines
    assert "| 2 | 1 | 1 | 0 | 0 |" in lines
    assert "- **holds** (nips08, section 1): It holds. It was seen to." in lines
    assert "- `ledger/cs860.csv`: it is not there" in lines
    assert lines[-1] == "Commit unknown, seed unknown."


def test_a_summary_of_no_results_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", "--results", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.startswith("epsilometer: there is no folder")


@pytest.mark.parametrize(
    ("value", "text"),
    [(math.nan, ""), (math.inf, "∞"), (1234567, "1,234,567"), (0.123456, "0.1235"), (1.0, "1"), (2e10, "2e+10")],
)
def test_numbers_are_written_as_readers_do(value: float, text: str) -> None:
    assert number(value) == text
