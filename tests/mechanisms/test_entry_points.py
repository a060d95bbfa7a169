"""A family of another distribution: its entry point brings it into the catalogue, and a broken one is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer.layers import PACKAGE
from epsilometer.mechanisms.catalogue import ENTRY_POINTS

pytestmark = pytest.mark.slow

FAMILY = '''
"""A family that other people wrote, with public names only."""

from dataclasses import dataclass

import numpy as np

import epsilometer


@dataclass(frozen=True)
class Doubled:
    """Counts under Laplace noise of {scale} times the scale that epsilon needs."""

    epsilon: float
    source = "their manual, section 2"

    @property
    def guarantee(self):
        return epsilometer.Guarantee(self.epsilon, "replace-one")

    def sample(self, dataset, size, rng):
        return dataset.sum() + rng.laplace(scale={scale} / self.epsilon, size=size)


def pairs():
    one, zero = np.array([1.0]), np.array([0.0])
    return [epsilometer.NeighbouringPair(one, zero, "replace-one", "the count differs by one")]


ENTRIES = (epsilometer.Entry("their_count", "A count with doubled noise", Doubled, pairs),)
'''
TAKEN = FAMILY.replace("their_count", "laplace_count")


def installed(folder: Path, point: str, source: str) -> dict[str, str]:
    """The environment in which a distribution with this entry point and this module `theirs` seems to be installed."""
    information = folder / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{point}\n")
    (folder / "theirs.py").write_text(source)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)])}


def command(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from epsilometer.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def test_it_appears_in_the_catalogue(tmp_path: Path) -> None:
    theirs = command(installed(tmp_path, "their_family = theirs", FAMILY.format(scale=2)), "catalogue")
    assert theirs.returncode == 0, theirs.stderr
    line = "  their_count: A count with doubled noise (their manual, section 2)\n"
    assert line in theirs.stdout.partition("broken, on purpose or as printed:")[0]
    ours = command(os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, "catalogue")
    assert theirs.stdout.replace(line, "") == ours.stdout


@pytest.mark.parametrize(("scale", "verdict"), [(2, "consistent"), (0.25, "violated")])
def test_it_is_audited_under_the_name_of_its_entry_point(tmp_path: Path, scale: float, verdict: str) -> None:
    """20,000 outputs: at most 0.5 of the claimed 1 is spent, or else 4."""
    environment = installed(tmp_path, "their_family = theirs", FAMILY.format(scale=scale))
    out = {name: tmp_path / f"{name}.csv" for name in ("table", "counts", "seconds")}
    files = [word for name, path in out.items() for word in (f"--{name}", path)]
    budget = ["--epsilons", "1", "--trials", "20000", "--confidence", "0.95", "--seed", "1"]
    audit = ["audit_family", "--family", "their_family", *budget, *files, "--witnesses", tmp_path / "witnesses"]
    done = command(environment, *audit)
    assert done.returncode == 0, done.stderr
    assert out["table"].read_text().split("\n")[1].startswith("their_count,False,1.0,0.0,replace-one,,0,black box,")
    verdicts = tmp_path / "verdicts.csv"
    tables: list[str | Path] = ["--tables", out["table"], "--counts", out["counts"], "--table", verdicts]
    assert command(environment, "verdicts", *tables, "--confidence", "0.95").returncode == 0
    assert verdicts.read_text().strip().endswith(f",{verdict}")


@pytest.mark.parametrize(
    ("point", "source", "sentence"),
    [
        ("theirs = nowhere", "", "the entry point theirs = nowhere cannot be loaded: No module named 'nowhere'"),
        ("theirs = theirs:FAMILY", "", "the entry point theirs = theirs:FAMILY cannot be loaded: module 'theirs' has no"),
        ("theirs = theirs", "1 / 0", "the entry point theirs = theirs cannot be loaded: division by zero"),
        ("theirs = theirs", "x = 1", "the entry point theirs = theirs cannot be loaded: module 'theirs' has no attribute"),
        ("theirs = theirs", "ENTRIES = ()", "theirs has no ENTRIES of type Entry; the entry point theirs needs some"),
        ("theirs = theirs", "ENTRIES = (1,)", "theirs has no ENTRIES of type Entry; the entry point theirs needs some"),
        ("theirs = theirs", "ENTRIES = 5", "the entry point theirs = theirs cannot be loaded: 'int' object is not iterable"),
        ("laplace = theirs", FAMILY.format(scale=2), "the entry point laplace = theirs has the name of another family"),
        ("theirs = theirs", TAKEN, "two mechanisms are called laplace_count, in laplace and theirs; rename one"),
    ],
)
def test_a_broken_one_is_one_sentence(tmp_path: Path, point: str, source: str, sentence: str) -> None:
    done = command(installed(tmp_path, point, source.replace("{scale}", "2")), "catalogue")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"epsilometer: {sentence}")
    assert done.stderr.count("\n") == 1
