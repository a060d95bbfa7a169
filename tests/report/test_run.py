"""What a run left behind: its gaps with their reasons, what it was, and the commands that make its files anew."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml

from epsilometer.cli import main
from epsilometer.core import EpsilometerError
from epsilometer.papers.tuning import TUNING
from epsilometer.report.run import UNFINISHED_FILES, Gap, Run
from tests.rows import row_of, write_rows

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "config/config.yaml").read_text())
EXTENSION = CONFIG["extension"] | {"datasets": ["rand_hie"], "csv": None}
SETTINGS = json.dumps(CONFIG | {"seed": 7, "extension": EXTENSION, "lambdas": [0.1, 1.0]})


def noted(folder: Path, *overrides: str, config: tuple[str, ...] = ("config/config.yaml",)) -> Run:
    """A run that says what it was, through the command that the workflow calls."""
    words = ["provenance", "--commit", "abc-dirty", "--config", *config, "--overrides", *overrides]
    assert main([*words, "--settings", SETTINGS, "--table", str(folder / "provenance/run.csv")]) == 0
    return Run(folder)


def test_it_says_what_it_was(tmp_path: Path) -> None:
    run = noted(tmp_path)
    assert run.facts["code"]["commit"] == "abc-dirty"
    settings = {
        "seed": "7",
        "extension.datasets": '["rand_hie"]',
        "extension.csv": "None",
        "lambdas": "[0.1, 1.0]",
        "reproduction.epsilons.largest": "10.0",
    }
    assert settings.items() <= run.facts["setting"].items()
    assert {"python", "numpy", "snakemake"} <= set(run.facts["version"])
    assert run.datasets_of("nips08") == ["separable", "unseparable"]
    assert run.datasets_of("extension") == ["rand_hie"]
    assert run.datasets_of("review") == []


def test_settings_that_are_none_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["provenance", "--commit", "abc", "--config", "c.yaml", "--settings", '{"seed": 7}']
    assert main([*words, "--table", str(tmp_path / "run.csv")]) == 1
    assert capsys.readouterr().err.startswith("epsilometer: config: results is missing")
    assert not (tmp_path / "run.csv").exists()


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
        write_rows(TUNING, tmp_path / f"tuning/{name}.csv", [{"error": 0.25}])
    (tmp_path / "log").mkdir()
    (tmp_path / "log/wrong.log").write_text("Some warning\nepsilometer: own.csv: record 1 has norm 2\n")
    write_rows(
        UNFINISHED_FILES,
        tmp_path / "unfinished.csv",
        [
            {"file": f"{tmp_path}/tuning/{name}.csv", "log": f"{tmp_path}/log/{name}.log", "failed": failed}
            for name, failed in {"stale": False, "wrong": True, "killed": True}.items()
        ]
        + [{"file": "reports/index.html", "log": "page.log", "failed": False}],
    )
    run = Run(tmp_path)
    assert run.table("tuning/made") == [row_of(TUNING, {"error": 0.25})]
    assert run.table("tuning/stale") == [], "it is there, but the run that failed should have made it anew"
    assert run.tables("tuning", ["never", "made"]) == run.table("tuning/made")
    assert run.figure("drawn") == ""
    waited = "its job did not run, because one before it failed"
    assert run.gaps == [
        Gap("tuning/killed.csv", f"its job failed: its log {tmp_path}/log/killed.log is empty", failed=True),
        Gap("tuning/wrong.csv", "its job failed: own.csv: record 1 has norm 2", failed=True),
        Gap("figures/drawn.svg", "it is not there", failed=False),
        Gap("tuning/never.csv", "it is not there", failed=False),
        Gap("tuning/stale.csv", waited, failed=False),
    ]


def test_times_are_added_up_by_rule(tmp_path: Path) -> None:
    for name, seconds in {"audit/a": 1.5, "audit/b": 2.0, "page/page": 0.25}.items():
        path = tmp_path / f"benchmarks/{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tmax_rss\n{seconds}\t10\n")
    assert Run(tmp_path).seconds == {"audit": [1.5, 2.0], "page": [0.25]}
