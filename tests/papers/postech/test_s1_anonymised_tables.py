"""The attacks on the printed tables are read from their table."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.core import write_table
from epsilometer.papers.anonymised_tables.experiments import anonymised_tables
from epsilometer.papers.measures import ATTACKS
from epsilometer.papers.postech.claims.s1_anonymised_tables import REBECCA, TABLES_LEAK
from tests.papers.postech.cases import FAILS, HOLDS, rebecca
from tests.papers.postech.decided import measured, outcome
from tests.tables import read_table

pytestmark = pytest.mark.slow


def test_the_attacks_are_read_from_their_table(tmp_path: Path) -> None:
    table = tmp_path / f"{ATTACKS}.csv"
    anonymised_tables(epsilons=[1.0], trials=100, seed=1, table=table, curves=tmp_path / "curves.csv")
    assert dict(measured(REBECCA, tmp_path)) == rebecca(4, 2)
    assert outcome(TABLES_LEAK, tmp_path) == HOLDS
    rows = read_table(table)
    for row in rows:
        if row["attacker_knows"] == "age, gender, zip code and smoking":
            row["success"] = 0.23
    write_table(table, rows)
    assert outcome(TABLES_LEAK, tmp_path) == FAILS
