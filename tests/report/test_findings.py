"""What is said first: the claims that were singled out, whatever came out, and what audits and attacks prove."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from epsilometer.claims.ledger import SOURCES
from epsilometer.cli import main
from epsilometer.core import write_table
from epsilometer.report.findings import Finding, attack_rows, findings, lead, number
from epsilometer.report.run import Run
from tests.report.test_gate import ROW as PROMISE

CLAIM = {
    "id": "nips08-x",
    "source": "nips08",
    "locator": "section 1",
    "statement": "It holds.",
    "headline": True,
    "outcome": "holds",
    "evidence": "It was seen to.",
    "factor": math.nan,
    "instead": math.nan,
}
BROKEN = PROMISE | {"mechanism": "laplace_half_scale", "exact": 2.0, "black_box": 1.8, "verdict": "violated"}
ATTACK = {
    "dataset": "small",
    "target": "outlier",
    "mechanism": "naive_bayes",
    "attack": "optimal",
    "epsilon": 1.0,
    "certified_epsilon": 0.5,
    "p_value": 1.0,
}
BEYOND = {"certified_epsilon": 1.2, "p_value": 0.01}


def run_of(folder: Path, **tables: list[dict[str, Any]]) -> Run:
    """A run with these tables; each is named after its folder."""
    names = {"ledger": "ledger/nips08", "verdicts": "verdicts/catalogue", "membership": "membership/small"}
    for kind, rows in tables.items():
        write_table(folder / f"{names[kind]}.csv", rows)
    return Run(folder)


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


def test_one_attack_of_many_may_exceed_the_promise_by_chance(tmp_path: Path) -> None:
    """At 1% it counts among four attacks, but not among fifty."""
    for others, verdict in ((3, "violated"), (49, "consistent")):
        run = run_of(tmp_path, membership=[ATTACK | BEYOND, *[ATTACK] * others])
        assert by_place(run)["Membership inference"].verdict == verdict
        assert [row["violated"] for row in attack_rows(run)] == [verdict == "violated", *[False] * others]


def test_the_attack_that_certifies_most_is_named(tmp_path: Path) -> None:
    nothing = {"mechanism": "non_private_logistic", "epsilon": math.nan, "certified_epsilon": 7.0, "p_value": math.nan}
    rows = [
        ATTACK | nothing,
        ATTACK | BEYOND | {"p_value": 1e-6},
        ATTACK | BEYOND | {"certified_epsilon": 1.7, "p_value": 1e-9},
    ]
    found = by_place(run_of(tmp_path, membership=rows))["Membership inference"]
    assert found.sentence == (
        "After Holm's correction over all of them, 2 of 2 attacks gain more; the most is 1.7 where 1 was promised, "
        "certified on naive Bayes (Few records, margin 0.03; an inserted outlier; exact likelihood ratio)."
    )


def test_without_tables_there_is_nothing_to_say(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert findings(run) == []
    assert lead(run).startswith("0 claims of 0 sources")
    assert {gap.path for gap in run.gaps} >= {f"ledger/{source}.csv" for source in SOURCES}


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
