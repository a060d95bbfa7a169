"""The gate over ledgers: it says what came out of the claims, and which outcomes changed, and no claim closes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from epsilometer.cli import main
from epsilometer.core import write_table
from epsilometer.papers.ledger import LEDGER
from tests.report.desk import BROKEN, ROW, Desk, counted
from tests.rows import row_of


def claim(name: str, outcome: str = "holds") -> dict[str, Any]:
    return row_of(LEDGER, {"id": f"review-{name}", "source": "review", "outcome": outcome})


def test_the_outcomes_of_claims_are_counted_and_none_closes_the_gate(desk: Desk) -> None:
    rows = [claim("a"), claim("b", "fails as printed"), claim("c"), claim("d", "not reproduced")]
    line = "claims decided: 4; holds: 2, not reproduced: 1, fails as printed: 1"
    assert desk.run(*rows) == (0, [line]), "without a table of verdicts there is nothing to say of promises"


@pytest.mark.parametrize(("expected", "status"), [(["laplace_half_scale"], 0), ([], 1)])
def test_beside_verdicts_only_a_promise_closes_the_gate(desk: Desk, expected: list[str], status: int) -> None:
    desk.expect(*({"mechanism": name, "reason": "Half of the noise."} for name in expected))
    write_table(desk.previous, [claim("a", "fails as printed")])
    write_table(desk.table, [ROW, BROKEN])
    assert desk.gate(desk.previous) == status
    lines = desk.capsys.readouterr().out.splitlines()
    assert lines[-2:] == [counted(2, 1 - status, status), "claims decided: 1; fails as printed: 1"]


def test_changed_outcomes_are_named(desk: Desk) -> None:
    now = [claim("a", "fails as printed"), claim("b"), claim("c")]
    status, lines = desk.run(*now, previous=[claim("a"), claim("b"), claim("d")])
    assert status == 0
    assert lines[1:] == [
        f"changed since {desk.previous}:",
        "  review-a: holds -> fails as printed",
        "  new claim: review-c: holds",
        "  no longer decided: review-d",
    ]
    assert desk.run(*now, previous=now[::-1])[1][1:] == [f"nothing changed since {desk.previous}"]


def test_two_decisions_on_one_claim_exit_with_2(desk: Desk) -> None:
    write_table(desk.table, [claim("a"), claim("a")])
    assert desk.refused() == f"{desk.table} has a second decision on review-a; there must be one"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outcome": "true"}, "outcome = 'true'; it must be one of holds, holds, loosely, reproduced, "),
        ({"outcome": ""}, "outcome = ''; it must be one of holds, "),
        ({"id": ""}, "id = ''; it must be a text"),
    ],
)
def test_a_damaged_ledger_exits_with_2(desk: Desk, change: dict[str, str], words: str) -> None:
    write_table(desk.table, [claim("a"), claim("b") | change])
    assert f"{desk.table}: row 2 has {words}" in desk.refused()


def test_outcomes_without_claims_are_no_ledger(desk: Desk) -> None:
    write_table(desk.table, [{"outcome": "holds", "verdict": "tight"}])
    assert "has no column id; it is no table of ledger/{source}" in desk.refused()


def test_the_ledgers_of_two_sources_are_read_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / f"{name}.csv") for name in ("one", "other")]
    for path, outcome in zip(paths, ("holds", "reproduced"), strict=True):
        write_table(Path(path), [claim(outcome, outcome)])
    (tmp_path / "none.yaml").write_text("[]")
    options = ["--expected", str(tmp_path / "none.yaml"), "--previous", *paths]
    assert main(["gate", *paths, *options]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "claims decided: 2; holds: 1, reproduced: 1",
        f"nothing changed since {', '.join(paths)}",
    ]
