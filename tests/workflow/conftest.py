"""A copy of the project in which the workflow can run without touching the checkout."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from epsilometer.core import stream
from tests.shared import made_once

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "Makefile", "environment.yml", "workflow", "config", "src")


@dataclass(frozen=True)
class Project:
    """A folder with all that the workflow needs."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return os.environ | {"PYTHONPATH": str(self.folder / "src"), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        profile = ["--workflow-profile", "workflow/profiles/default", "--configfile", "config/quick.yaml"]
        return [sys.executable, "-m", "snakemake", *profile, "--cores", str(cores), *arguments]

    def snakemake(self, *arguments: str, cores: int = 2) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments, cores=cores),
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
        )

    def planned(self, *arguments: str) -> dict[str, int]:
        """The jobs, by rule, that a run would do now."""
        output = self.snakemake("--dry-run", *arguments).stdout
        if "Nothing to be done" in output:
            return {}
        stats = output.split("Job stats:")[1].split("total")[0]
        return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE) if name != "all"}

    def products(self) -> dict[str, bytes]:
        """Every table, figure and witness of the quick configuration, by name; not how long they took."""
        results = self.folder / "results" / "quick"
        files = [path for kind in ("*.csv", "*.svg", "*.json") for path in results.rglob(kind)]
        files = [path for path in files if "benchmarks" not in path.parts]
        return {path.relative_to(results).as_posix(): path.read_bytes() for path in files}


def new_project(folder: Path) -> Project:
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / part)
    return Project(folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose quick run has finished, on two cores; tests must leave its files as they are."""

    def make(folder: Path) -> None:
        run = new_project(folder).snakemake()
        assert run.returncode == 0, run.stdout

    return Project(made_once(tmp_path_factory, "finished", make))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project in which nothing has run yet."""
    return new_project(tmp_path / "project")


@pytest.fixture
def edited(finished: Project, tmp_path: Path) -> Project:
    """A finished project of the test's own, to edit."""
    passing = shutil.ignore_patterns("log", "tmp*")  # of Snakemake, in which another test may be writing
    shutil.copytree(finished.folder, tmp_path / "edited", ignore=passing)
    return Project(tmp_path / "edited")


def write_own(project: Project, name: str, factor: float) -> None:
    """A user's own data, of norm `factor`."""
    rng = stream(0, "own")
    features = rng.standard_normal((300, 3))
    features *= factor / np.linalg.norm(features, axis=1, keepdims=True)
    with (project.folder / name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "label", "income", "weight"])
        writer.writerows([[x[0], 1 if x[0] > 0 else -1, x[1], x[2]] for x in features.tolist()])
