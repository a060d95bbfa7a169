"""Measuring and deciding a claim of the survey in a test, on the evidence that the claim declares and no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError, write_table
from epsilometer.papers.anonymised_tables.experiments import anonymised_tables
from epsilometer.papers.claim import Measured, Numbers, Outcome
from epsilometer.papers.registry import claims_of
from tests.papers.evidence import with_shares
from tests.papers.review.cases import FAILS, PRIVATE
from tests.tables import read_table

ATTACKS = "anonymised_tables/worked_example.csv"


def measured(check: str, results: Path) -> Measured:
    """What a claim measures from tables and a seed."""
    claim = claims_of("review")[check]
    return claim.measure(claim.evidence(results, seed=1))


def outcome(check: str, results: Path, tolerances: Numbers) -> Outcome:
    """What these tables lead a claim to."""
    return claims_of("review")[check].decide(measured(check, results).numbers, tolerances).outcome


def assert_audits_decide(check: str, mechanisms: list[str], private: Outcome, folder: Path) -> None:
    """The outcome is `private` if every mechanism keeps its epsilon; any one that exceeds it makes the claim fail."""
    for mechanism in mechanisms:
        kept = dict.fromkeys(mechanisms, 0.95)
        with_shares(folder, kept)
        assert outcome(check, folder, PRIVATE) == private
        with_shares(folder, kept | {mechanism: 1.2})
        assert outcome(check, folder, PRIVATE) == FAILS
    with_shares(folder, {"another": 1.0})
    with pytest.raises(EpsilometerError, match="has no row of"):
        measured(check, folder)


def write_attacks(folder: Path, epsilons: Sequence[float] = (1.0,), trials: int = 100) -> None:
    """The table of attacks on the printed tables, as the workflow makes it."""
    anonymised_tables(epsilons=epsilons, trials=trials, seed=1, table=folder / ATTACKS, curves=folder / "curves.csv")


def alter_attacks(folder: Path) -> None:
    """Let every attack on the survey's table succeed in half of the cases, and every other attack in a fifth."""
    rows = read_table(folder / ATTACKS)
    for row in rows:
        row["success"] = 0.5 if row["example"] == "review" else 0.2
    write_table(folder / ATTACKS, rows)
