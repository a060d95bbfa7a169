"""The ledger: claims are checked when they are read, decided by numbers, and written with what proves them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from epsilometer.claims import ledger as module
from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers, ledger, load_claims, printed
from epsilometer.core import EpsilometerError, LabelledData, NeighbouringPair, Witness, read_table, write_table

CLAIM = {
    "id": "review-spread",
    "source": "review",
    "locator": "section 9",
    "statement": "The spread of the numbers is at most one.",
    "check": "spread",
    "tolerances": {"largest": 1.0},
}


def measured(evidence: Evidence) -> Measured:
    values = [row["value"] for row in evidence.table("numbers/any", "value")]
    data = [LabelledData(np.ones((1, 1)), np.array([label])) for label in (1.0, -1.0)]
    pair = NeighbouringPair(data[0], data[1], "replace-one", "the label")
    return Measured({"spread": max(values) - min(values)}, Witness("any", 1.0, pair, np.zeros(1), 2.0))


def decided(numbers: Numbers, tolerances: Numbers) -> Decision:
    spread = numbers["spread"]
    if spread <= tolerances["largest"]:
        return Decision("holds", f"The spread is {spread:g}.")
    return Decision("fails as printed", f"The spread is {spread:g}.", instead=f"It is at most {spread:g}.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "checks", lambda _: {"spread": Check(measured, decided)})
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([CLAIM]))
    return tmp_path


def run(folder: Path, values: list[float]) -> dict[str, object]:
    write_table(folder / "results/numbers/any.csv", [{"value": value} for value in values])
    ledger(
        "review",
        folder / "results/ledger/review.csv",
        claims=folder / "claims.yaml",
        results=folder / "results",
        numbers=folder / "numbers.csv",
        witnesses=folder / "witnesses",
        seed=1,
    )
    (row,) = read_table(folder / "results/ledger/review.csv")
    return row


def test_the_tables_decide(folder: Path) -> None:
    row = run(folder, [0.0, 0.5])
    assert (row["outcome"], row["evidence"], row["tolerances"]) == ("holds", "The spread is 0.5.", "largest = 1")
    assert read_table(folder / "numbers.csv") == [{"id": "review-spread", "number": "spread", "value": 0.5}]
    assert list((folder / "witnesses").iterdir()) == []


def test_a_claim_that_fails_leaves_its_witness_and_what_holds_instead(folder: Path) -> None:
    row = run(folder, [0.0, 3.0])
    assert (row["outcome"], row["instead"], row["witness"]) == ("fails as printed", "It is at most 3.", "review-spread.json")
    assert Witness.from_json((folder / "witnesses/review-spread.json").read_text()).log_ratio == 2.0


def test_the_ledger_is_printed_to_the_width_of_the_terminal(folder: Path) -> None:
    run(folder, [0.0, 3.0])
    text = printed(folder / "results", ["review"], 40)
    assert "FAILS AS PRINTED  review-spread (section 9)" in text
    assert "It is at most 3." in text
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*ledger/nips08\.csv"):
        printed(folder / "results", ["nips08"], 40)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"check": "none"}, "review-spread names the check 'none', which review does not have"),
        ({"id": "nips08-spread"}, "the claim nips08-spread is of review; its name must begin with that"),
        ({"source": "nips09"}, r"0\.source"),
        ({"tolerances": {"largest": "one"}}, r"0\.tolerances\.largest"),
        ({"verdict": "holds"}, r"0\.verdict: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_entry_is_a_sentence(folder: Path, change: dict[str, object], message: str) -> None:
    (folder / "claims.yaml").write_text(yaml.safe_dump([CLAIM | change]))
    with pytest.raises(EpsilometerError, match=message):
        load_claims(folder / "claims.yaml")


def test_two_claims_of_one_name_are_refused(folder: Path) -> None:
    (folder / "claims.yaml").write_text(yaml.safe_dump([CLAIM, CLAIM]))
    with pytest.raises(EpsilometerError, match="two claims are called review-spread"):
        load_claims(folder / "claims.yaml")


def test_a_decision_must_carry_what_its_verdict_promises() -> None:
    with pytest.raises(ValueError, match="needs a factor above 1"):
        Decision("holds, loosely", "It is 3 times as large.", factor=math.nan)
    with pytest.raises(ValueError, match="must say what holds instead"):
        Decision("fails as printed", "It is 3.")
    with pytest.raises(ValueError, match="has no number in it"):
        Decision("holds", "It is so.")
