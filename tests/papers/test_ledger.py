"""The ledger: a claim measures from the tables that it names, numbers decide it, and what proves the decision is written."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, LabelledData, NeighbouringPair, Witness, write_table
from epsilometer.papers import ledger as module
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.ledger import LEDGER, NUMBERS, ledger, printed
from tests.tables import read_table

TABLE = "tuning/separable"


def measure_spread(evidence: Evidence) -> Measured:
    values = [row["error"] for row in evidence.table(TABLE, "error")]
    data = [LabelledData(np.ones((1, 1)), np.array([label])) for label in (1.0, -1.0)]
    pair = NeighbouringPair(data[0], data[1], "replace-one", "the label")
    return Measured({"spread": max(values) - min(values)}, Witness("any", 1.0, pair, np.zeros(1), 2.0))


def decide_spread(numbers: Numbers, tolerances: Numbers) -> Decision:
    spread = numbers["spread"]
    if spread <= tolerances["largest"]:
        return Decision("holds", f"The spread is {spread:g}.")
    return Decision("fails as printed", f"The spread is {spread:g}.", instead=f"It is at most {spread:g}.")


def claim(**changes: Any) -> Claim:
    """A claim on the spread of errors, altered."""
    own: dict[str, Any] = {
        "id": "review-spread",
        "locator": "section 9",
        "statement": "The spread of the numbers is at most one.",
        "needs": (TABLE,),
        "measure": measure_spread,
        "decide": decide_spread,
        "tolerances": {"largest": 1.0},
    }
    return Claim(**own | changes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results, with a source of a single claim."""
    monkeypatch.setattr(module, "claims_of", lambda _: {"spread": claim()})
    return tmp_path


def write_errors(folder: Path, errors: list[float]) -> None:
    write_table(folder / f"results/{TABLE}.csv", [{"lam": 0.1, "error": error} for error in errors])


def run(folder: Path, errors: list[float]) -> dict[str, Any]:
    """The row of the ledger that these errors lead to."""
    write_errors(folder, errors)
    ledger(
        "review",
        folder / "results/ledger/review.csv",
        results=folder / "results",
        seed=1,
        numbers=folder / "numbers.csv",
        witnesses=folder / "witnesses",
    )
    assert len(LEDGER.read(folder / "results/ledger/review.csv")) == 1
    (row,) = read_table(folder / "results/ledger/review.csv")
    return row


def test_the_tables_decide(folder: Path) -> None:
    row = run(folder, [0.0, 0.5])
    assert (row["outcome"], row["evidence"], row["tolerances"]) == ("holds", "The spread is 0.5.", "largest = 1")
    assert (row["source"], row["check"], row["headline"]) == ("review", "spread", False)
    assert NUMBERS.read(folder / "numbers.csv") == [{"id": "review-spread", "number": "spread", "value": 0.5}]
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


def test_a_source_without_claims_is_a_sentence(folder: Path) -> None:
    """The study of other data is a folder of its own, but claims nothing."""
    words = "there is no source 'extension'; there are nips08, slides08, postech, review, cs860"
    with pytest.raises(EpsilometerError, match=f"^{words}$"):
        ledger("extension", folder / "l.csv", results=folder, seed=1, numbers=folder / "n.csv", witnesses=folder / "w")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lam\n0.1\n", "has no column error; it is no table of tuning/{dataset}"),
        ("lam,error\n", "has no rows; it is no table of tuning/{dataset}"),
        ("lam,error\n0.1,large\n", "row 1 has error = 'large'; it must be a number"),
        ("lam,error\n0.1,\n", "row 1 has error = ''; it must be a number"),
    ],
)
def test_a_table_of_another_kind_decides_nothing(folder: Path, text: str, words: str) -> None:
    write_errors(folder, [0.0])
    (folder / f"results/{TABLE}.csv").write_text(text)
    with pytest.raises(EpsilometerError) as caught:
        claim().measure(claim().evidence(folder / "results", seed=1))
    assert str(caught.value).endswith(words)
    assert "\n" not in str(caught.value)


def test_a_claim_reads_what_it_names_and_draws_if_it_computes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the claim reads the table tuning/separable, which its `needs` do not name"):
        measure_spread(claim(needs=("tuning/unseparable",)).evidence(tmp_path, seed=1))
    with pytest.raises(ValueError, match="the claim draws random numbers; its `computes` must say what for"):
        claim().evidence(tmp_path, seed=1).stream("x")
    computing = claim(computes="a drawn number")
    one, same = (computing.evidence(tmp_path, seed=1).stream("x").random() for _ in range(2))
    other_seed, other_name = computing.evidence(tmp_path, 2).stream("x").random(), Evidence(tmp_path, 1).stream("y").random()
    assert one == same
    assert len({one, other_seed, other_name}) == 3


def test_a_table_of_no_kind_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"there is no kind of table for numbers/any; there are .*tuning/\{dataset\}"):
        claim(needs=("numbers/any",)).evidence(tmp_path, seed=1).table("numbers/any")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"locator": ""}, "the claim review-spread must say where it stands"),
        ({"statement": "It is small."}, "the claim review-spread must say where it stands and, in a sentence, what it says"),
        ({"needs": ()}, "the claim review-spread has no evidence: name the tables that it needs, or what it computes"),
    ],
)
def test_a_claim_must_say_what_it_is(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim(**change)


def test_an_unknown_number_decides_nothing() -> None:
    with pytest.raises(EpsilometerError, match="the evidence leaves 'spread' unknown; a claim cannot be decided by that"):
        Measured({"spread": math.nan})


def test_a_decision_must_carry_what_its_verdict_promises() -> None:
    with pytest.raises(ValueError, match="needs a factor above 1"):
        Decision("holds, loosely", "It is 3 times as large.", factor=math.nan)
    with pytest.raises(ValueError, match="must say what holds instead"):
        Decision("fails as printed", "It is 3.")
    with pytest.raises(ValueError, match="has no number in it"):
        Decision("holds", "It is so.")
