"""The workflow of GitHub Actions calls what exists, with few rights, and reports a failed run too."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from epsilometer.cli import _parser

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
CI = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
STEPS = [(job, step) for job, content in CI["jobs"].items() for step in content["steps"]]
GATE = ["gate", "results/verdicts/*.csv", "--expected", "config/expected.yaml"]
PREVIOUS = "previous/verdicts/*.csv"
NAMES = ("catalogue", "libraries", "membership")


def commands(script: str) -> list[list[str]]:
    """The commands of a simple script, each as its words without redirections."""
    lines = script.replace("\\\n", " ").splitlines()
    return [shlex.split(line.split(">")[0], comments=True) for line in lines if line.strip()]


def called(program: str) -> list[list[str]]:
    """The arguments of every call of a program in the workflow."""
    words = [command for _, step in STEPS for command in commands(step.get("run", ""))]
    return [command[1:] for command in words if Path(command[0]).name == program]


def step_that(needle: str) -> dict[str, Any]:
    """The one step of the job `report` that runs or uses this."""
    (step,) = [step for job, step in STEPS if job == "report" and needle in step.get("run", "") + step.get("uses", "")]
    return step


def test_it_runs_for_every_push_and_pull_request_and_may_only_read() -> None:
    assert CI[True] == {"push": None, "pull_request": None}  # YAML takes the key `on` for a truth value
    assert CI["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in CI["jobs"].values())
    assert CI["concurrency"]["cancel-in-progress"] is True


def test_every_action_is_one_of_github_at_a_pinned_major_version() -> None:
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z/-]+@v\d+", action) for action in used), used


def test_every_target_and_variable_of_make_exists() -> None:
    assert called("make") == [["test"], ["CORES=4"]]
    for word in (word for arguments in called("make") for word in arguments):
        name, _, value = word.partition("=")
        assert re.search(rf"^{name} \?=" if value else rf"^{name}:", MAKEFILE, re.MULTILINE), word


@pytest.mark.parametrize("arguments", called("epsilometer"), ids=lambda arguments: " ".join(arguments[:1]))
def test_every_command_and_option_of_epsilometer_exists(arguments: list[str]) -> None:
    assert _parser()[0].parse_args(arguments).command == arguments[0]


def test_the_gate_is_called_with_and_without_previous_verdicts() -> None:
    assert [arguments for arguments in called("epsilometer") if arguments[0] == "gate"] == [
        [*GATE, "--previous", PREVIOUS],
        GATE,
    ]
    assert (ROOT / "config/expected.yaml").is_file()


@pytest.mark.parametrize("needle", ["actions/upload-artifact", "epsilometer summary", "epsilometer gate"])
def test_a_failed_run_is_reported_too(needle: str) -> None:
    steps = CI["jobs"]["report"]["steps"]
    step = step_that(needle)
    assert steps.index(step) > steps.index(step_that("make CORES"))
    assert step["if"] in ("always()", "${{ !cancelled() }}")


def test_only_a_run_of_the_default_branch_that_passed_is_compared_with_later() -> None:
    """A condition that names no status holds only if all steps before it passed, the gate among them."""
    steps = CI["jobs"]["report"]["steps"]
    save, restore = step_that("actions/cache/save"), step_that("actions/cache/restore")
    for step in (step_that("cp results"), save):
        assert steps.index(step) > steps.index(step_that("epsilometer gate"))
        assert step["if"] == "github.ref == format('refs/heads/{0}', github.event.repository.default_branch)"
    assert save["with"]["path"] == restore["with"]["path"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("previous", [False, True])
def test_the_gate_step_passes_its_status_on(tmp_path: Path, status: int, previous: bool) -> None:
    """The step as the runner would run it, with a stand-in for the program."""
    program = tmp_path / ".venv/bin/epsilometer"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
    program.chmod(0o755)
    for folder in ("results", *(["previous"] if previous else [])):
        (tmp_path / folder / "verdicts").mkdir(parents=True)
        for name in NAMES:
            (tmp_path / folder / f"verdicts/{name}.csv").touch()
    command = ["bash", "-e", "-c", step_that("epsilometer gate")["run"]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status
    now, earlier = ([f"{folder}/verdicts/{name}.csv" for name in NAMES] for folder in ("results", "previous"))
    assert done.stdout.split() == ["gate", *now, *GATE[2:], *(["--previous", *earlier] if previous else [])]


def test_the_verdicts_are_put_where_the_gate_looks_for_them(tmp_path: Path) -> None:
    for folder, text in (("results", "new"), ("previous", "old")):
        (tmp_path / folder / "verdicts").mkdir(parents=True)
        (tmp_path / folder / "verdicts/catalogue.csv").write_text(text)
    (tmp_path / "previous/verdicts/gone.csv").touch()
    subprocess.run(["bash", "-e", "-c", step_that("cp results")["run"]], cwd=tmp_path, check=True)
    assert {path.name: path.read_text() for path in (tmp_path / "previous/verdicts").iterdir()} == {"catalogue.csv": "new"}
