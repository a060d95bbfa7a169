"""A paper is a folder: one more folder is found in the workflow, in the ledger, on the page and at the gate."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tables import read_table
from tests.workflow.conftest import Project
from tests.workflow.toy_paper import FILES

pytestmark = pytest.mark.slow

NEW = {"dataset": 1, "heads": 1, "figures_toy": 1, "ledger": 1, "provenance": 1, "page": 1}
"""The jobs that a new folder adds; the provenance and the page are made again since they know of one paper more."""


@pytest.fixture
def with_toy(edited: Project) -> Project:
    folder = edited.folder / "src/epsilometer/papers/toy"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text.lstrip("\n"))
    return edited


def epsilometer(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from epsilometer.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=project.folder, env=project.environment, capture_output=True, text=True
    )


def test_one_folder_more_is_found_everywhere(with_toy: Project) -> None:
    results = with_toy.folder / "results/quick"
    before = sorted((results / "ledger").glob("*.csv"))
    assert with_toy.planned() == NEW

    run = with_toy.snakemake()

    assert run.returncode == 0, run.stdout
    assert with_toy.planned() == {}
    rows = {row["id"]: row["outcome"] for row in read_table(results / "ledger/toy.csv")}
    assert rows == {"toy-between": "holds", "toy-always": "fails as printed"}
    page = (with_toy.folder / "reports/quick.html").read_text()
    for words in ("On coins", "toy-always", "A coin always shows heads", "The share of heads in each fold of a toy paper."):
        assert words in page
    assert 'id="toy-heads"' in page
    gate = epsilometer(
        with_toy,
        "gate",
        *("results/quick/verdicts/catalogue.csv", "results/quick/ledger/toy.csv"),
        *("--expected", "config/expected.yaml", "--previous", "results/quick/verdicts/catalogue.csv", *map(str, before)),
    )
    assert gate.returncode == 0, gate.stderr
    assert "claims decided: 2; holds: 1, fails as printed: 1" in gate.stdout
    assert "new claim: toy-always: fails as printed" in gate.stdout
    printed = epsilometer(with_toy, "claims", "--source", "toy", "--results", "results/quick")
    assert "FAILS AS PRINTED  toy-always (page 2)" in printed.stdout
    assert "heads: Count the heads in each fold." in epsilometer(with_toy, "jobs").stdout
