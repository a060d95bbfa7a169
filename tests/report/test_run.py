"""What a run left behind: its gaps with their reasons, what it was, and the commands that make its files anew."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from epsilometer.cli import main
from epsilometer.core import EpsilometerError, write_table
from epsilometer.report.run import Gap, Run

SETTINGS = '{"seed": 7, "extension": {"datasets": [], "csv": null}, "lambdas": [0.1, 1.0]}'


def noted(folder: Path, *overrides: str, config: tuple[str, ...] = ("config/config.yaml",)) -> Run:
    """A run that says what it was, through the verb that the workflow calls."""
    words = ["provenance", "--commit", "abc-dirty", "--config", *config, "--overrides", *overrides]
    assert main([*words, "--settings", SETTINGS, "--output", str(folder / "provenance/run.csv")]) == 0
    return Run(folder)


def test_it_says_what_it_was(tmp_path: Path) -> None:
    facts = noted(tmp_path).facts
    assert facts["code"]["commit"] == "abc-dirty"
    assert facts["setting"] == {
        "seed": "7",
        "extension.datasets": "[]",
        "extension.csv": "None",
        "lambdas": "[0.1, 1.0]",
    }
    assert {"python", "numpy", "snakemake"} <= set(facts["version"])


def test_a_run_that_says_nothing_is_unknown(tmp_path: Path) -> None:
    assert Run(tmp_path).facts["code"]["commit"] == "unknown"


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"there is no folder .*none; `make` writes one"):
        Run(tmp_path / "none")


def test_a_command_names_the_files_and_the_settings_that_differ_from_the_default(tmp_path: Path) -> None:
    folder = tmp_path / "my results"
    plain = ["snakemake", "--cores", "all", f"{folder}/a.csv"]
    assert shlex.split(noted(folder).command("a.csv")) == plain
    quick = noted(folder, config=("config/config.yaml", "config/quick.yaml"))
    assert shlex.split(quick.command("a.csv", "b.csv")) == [
        *plain[:3],
        *("--configfile", "config/quick.yaml", "--"),
        *(f"{folder}/a.csv", f"{folder}/b.csv"),
    ]
    changed = noted(folder, 'extension={"csv": "my own.csv"}', "restarts=5")
    words = ["--config", 'extension={"csv": "my own.csv"}', "restarts=5", "--"]
    assert shlex.split(changed.command("a.csv")) == [*plain[:3], *words, plain[3]]


def test_gaps_tell_what_failed_from_what_only_waited(tmp_path: Path) -> None:
    for name in ("made", "stale"):
        write_table(tmp_path / f"{name}.csv", [{"x": 1}])
    (tmp_path / "log").mkdir()
    (tmp_path / "log/wrong.log").write_text("Some warning\nepsilometer: own.csv: record 1 has norm 2\n")
    write_table(
        tmp_path / "unfinished.csv",
        [
            {"file": tmp_path / f"{name}.csv", "log": tmp_path / f"log/{name}.log", "failed": failed}
            for name, failed in {"stale": False, "wrong": True, "killed": True}.items()
        ]
        + [{"file": "reports/index.html", "log": "page.log", "failed": False}],
    )
    run = Run(tmp_path)
    assert run.table("made") == [{"x": 1}]
    assert run.table("stale") == [], "it is there, but the run that failed should have made it anew"
    assert run.table("never") == []
    assert run.figure("drawn") == ""
    waited = "its job did not run, because one before it failed"
    assert run.gaps == [
        Gap("killed.csv", f"its job failed: it left no word in {tmp_path}/log/killed.log", failed=True),
        Gap("wrong.csv", "its job failed: own.csv: record 1 has norm 2", failed=True),
        Gap("figures/drawn.svg", "it is not there", failed=False),
        Gap("never.csv", "it is not there", failed=False),
        Gap("stale.csv", waited, failed=False),
    ]


def test_times_are_added_up_by_rule(tmp_path: Path) -> None:
    for name, seconds in {"audit/a": 1.5, "audit/b": 2.0, "page/page": 0.25}.items():
        path = tmp_path / f"benchmarks/{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tmax_rss\n{seconds}\t10\n")
    assert Run(tmp_path).seconds == {"audit": [1.5, 2.0], "page": [0.25]}
