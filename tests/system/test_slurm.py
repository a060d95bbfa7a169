"""A real Slurm runs the workflow's jobs and leaves the tables that one machine leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements import need, need_root

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TARGET = "results/quick/recovered_epsilon/nips08.csv"
LIMIT = "240"
"""Seconds for one run of the workflow."""


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[None]:
    """A Slurm of our own, for as long as the test lasts."""
    need("munged", "slurmctld", "slurmd")
    need_root()
    script, folder = ROOT / "tests/system/slurm.sh", tmp_path / "slurm"
    subprocess.run([script, "start", folder], check=True)
    try:
        yield
    finally:
        subprocess.run([script, "stop", folder], check=True)


@pytest.mark.usefixtures("slurm")
def test_slurm_leaves_the_same_tables(tmp_path: Path) -> None:
    local = run_workflow(tmp_path / "local", "default", "--cores", "2")
    assert jobs_of_slurm() == []

    on_slurm = run_workflow(
        tmp_path / "on_slurm",
        "slurm",
        *("--slurm-status-command", "squeue"),  # there is no accounting to ask
        *("--slurm-init-seconds-before-status-checks", "9"),  # a job takes about 7; if none is done, 10 more
    )

    assert TARGET in local
    assert on_slurm == local
    jobs = jobs_of_slurm()
    assert len(jobs) == len(local), f"each table should come from one job of Slurm, but the jobs are {jobs}"
    assert all(job.endswith(" COMPLETED") for job in jobs), jobs


def run_workflow(folder: Path, profile: str, *options: str) -> dict[str, bytes]:
    """Make the target in a folder; all tables that this leaves there."""
    shutil.copytree(ROOT / "config", folder / "config")
    run = subprocess.run(
        [
            *("timeout", "-k", "10", LIMIT, "snakemake", TARGET),
            *("--snakefile", ROOT / "Snakefile", "--directory", folder),
            *("--workflow-profile", ROOT / "workflow/profiles" / profile),
            *("--configfile", ROOT / "config/quick.yaml"),
            *options,
        ],
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},  # jobs inherit it and find `epsilometer`
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    return {str(table.relative_to(folder)): table.read_bytes() for table in sorted(folder.glob("results/**/*.csv"))}


def jobs_of_slurm() -> list[str]:
    """Every job that Slurm remembers: the comment in which Snakemake names rule and wildcards, and the state."""
    command = ["squeue", "--states=all", "--noheader", "--format=%k %T"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
