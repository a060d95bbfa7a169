"""The audits of diffprivlib, in the environment that the workflow makes for it, against the laws that its code implies."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from epsilometer.cli import main
from epsilometer.core import Array, stream
from epsilometer.evidence.rows import AUDIT, SECONDS, VERDICTS
from epsilometer.libraries.diffprivlib.calls import DRIVER, NAME, VERSION, entries
from epsilometer.libraries.registry import FITTED, libraries, library_entries, lock_of, parts_of
from epsilometer.mechanisms.catalogue import Entry
from tests.shared import made_once
from tests.workflow.conftest import new_project

pytestmark = pytest.mark.slow

FALSE_FAILURE = 1e-6
NORM = 100.0
NAMES = list(library_entries())


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of the library's environment, made by the workflow's rule."""

    def make(folder: Path) -> None:
        run = new_project(folder).snakemake(f".libraries/{NAME}/ready.txt")
        assert run.returncode == 0, run.stdout

    return str(made_once(tmp_path_factory, "libraries", make) / f".libraries/{NAME}/bin/python")


def entry_of(name: str, python: str) -> Entry:
    return next(entry for part in entries(python).values() for entry in part if entry.name == f"{NAME}_{name}")


def test_it_is_the_version_that_is_named() -> None:
    (locked,) = re.findall(rf"^{NAME}==(\S+)", lock_of(NAME).read_text(), re.MULTILINE)
    assert locked == VERSION
    assert f"{NAME}=={VERSION}" in lock_of(NAME).with_suffix(".in").read_text().split()


def test_its_folder_is_all_that_there_is_to_it() -> None:
    """Its lock, its calls and the driver of its environment stand side by side, and it is found by that."""
    assert libraries() == {NAME: entries}
    assert parts_of(NAME) == ["mechanisms", FITTED]
    assert lock_of(NAME).parent == DRIVER.parent
    assert DRIVER.is_file()
    assert list(library_entries()) == [entry.name for part in entries("").values() for entry in part]


@pytest.mark.parametrize("name", NAMES)
def test_outputs_vary_and_pairs_fit_the_promise(name: str, python: str) -> None:
    entry = entry_of(name.removeprefix(f"{NAME}_"), python)
    mechanism = entry.build(2.0)
    assert mechanism.guarantee
    assert mechanism.guarantee.epsilon == 2.0
    assert mechanism.source.startswith(f"{NAME} {VERSION}, ")
    for pair in entry.pairs():
        assert pair.adjacency == mechanism.guarantee.adjacency
    outputs = mechanism.sample(entry.pairs()[0].first, 20, stream(1, name))
    assert len(outputs) == 20
    assert len(np.unique(outputs, axis=0)) > 1


@pytest.mark.parametrize("name", ["laplace", "median", "logistic_regression_no_intercept"])
def test_the_seed_decides_the_outputs(name: str, python: str) -> None:
    """Of a mechanism, a function and a model."""
    entry = entry_of(name, python)
    one, same = (entry.build(2.0).sample(entry.pairs()[0].first, 20, stream(1, name)) for _ in range(2))
    assert np.array_equal(one, same)


def test_laplace_and_geometric_noise_follow_their_laws(python: str) -> None:
    data = entry_of("laplace", python).pairs()[0].first
    assert isinstance(data, np.ndarray)
    count = float(data.sum())
    drawn = entry_of("laplace", python).build(0.5).sample(data, 4000, stream(2, "laplace"))[:, 0]
    assert stats.kstest(drawn, stats.laplace(count, 1 / 0.5).cdf).pvalue > FALSE_FAILURE
    noise = entry_of("geometric", python).build(0.5).sample(data, 4000, stream(2, "geometric"))[:, 0] - count
    zero = math.expm1(0.5) / (math.exp(0.5) + 1)  # (1 - a)/(1 + a), a = exp(-epsilon)
    assert stats.binomtest(int(np.sum(noise == 0)), 4000, zero).pvalue > FALSE_FAILURE


def noise_behind(w: Array, record: float, epsilon: float) -> Array:
    """The noise that makes w the minimiser: the risk's gradient, of one record with label -1, the other being 0."""
    return -(_regularisation(epsilon) * w + record * expit(record * w))


def _regularisation(epsilon: float) -> float:
    """What the library adds where epsilon leaves no room for the curvature, which it takes as R/4."""
    return NORM / 4 / math.expm1(epsilon / 4)


@pytest.mark.parametrize("side", ["first", "second"])
def test_a_large_norm_gives_the_law_that_its_code_implies(python: str, side: str) -> None:
    """The noise has density k/2 exp(-k |b|), k = (epsilon/2)/(2 R), and falls in w: P(w <= t) = P(b >= b(t))."""
    entry, epsilon = entry_of("logistic_regression_large_norm", python), 1.0
    data = getattr(entry.pairs()[0], side)
    record = NORM * float(data.features[-1, 0])
    drawn = entry.build(epsilon).sample(data, 2000, stream(3, "large norm", side))[:, 0]
    law = stats.laplace(scale=4 * NORM / epsilon)
    assert stats.kstest(drawn, lambda t: law.sf(noise_behind(t, record, epsilon))).pvalue > FALSE_FAILURE


def test_that_law_spends_more_than_the_promise() -> None:
    """-epsilon/8 + log(1 + R expm1(epsilon/4)) at w = 0, where the record bends the risk by R^2/4."""
    epsilon, w = 1.0, np.zeros(1)
    rate = epsilon / (4 * NORM)
    shifted = -rate * (np.abs(noise_behind(w, NORM, epsilon)) - np.abs(noise_behind(w, 0.0, epsilon)))
    bent = math.log1p(NORM**2 / 4 / _regularisation(epsilon))
    spent = float(shifted[0]) + bent
    assert spent == pytest.approx(-epsilon / 8 + math.log1p(NORM * math.expm1(epsilon / 4)))
    assert spent > 3


def test_an_intercept_without_a_penalty_tells_a_record_that_stands_apart(python: str) -> None:
    """Being unsure at one end and sure at the other: with the record apart in about 3% of the fits, else hardly ever.

    Counts of about 29 and 2 come out the wrong way round with probability 3e-7: exp(-(sqrt(29) - sqrt(2))^2) bounds it.
    """
    entry = entry_of("logistic_regression", python)
    pair, mechanism = entry.pairs()[0], entry.build(1.0)
    counts = []
    for data in (pair.first, pair.second):
        sure = mechanism.sample(data, 1100, stream(4, "intercept"))
        counts.append(int(np.sum((sure[:, 0] != 1) & (sure[:, 1] == 1))))
    assert counts[0] > counts[1]


def options_of(folder: Path, library: str, part: str, python: str) -> list[str]:
    """The command of an audit that writes its tables into a folder."""
    outputs = [word for name in ("table", "counts", "seconds") for word in (f"--{name}", str(folder / f"{name}.csv"))]
    budget = ["--epsilons", "1", "--trials", "1000", "--confidence", "0.95", "--seed", "1"]
    return ["library_audit", "--library", library, "--part", part, "--python", python, *budget, *outputs]


def test_from_the_command_to_a_verdict(tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = entries(python)[FITTED][2:3]
    monkeypatch.setitem(libraries(), NAME, lambda _: {FITTED: one})
    assert main(options_of(tmp_path, NAME, FITTED, python)) == 0
    rows = AUDIT.read(tmp_path / "table.csv")
    assert [row["mechanism"] for row in rows] == [f"{NAME}_logistic_regression_no_intercept"]
    assert {row["auditor"] for row in rows} == {"black box"}
    inputs = ["--tables", str(tmp_path / "table.csv"), "--counts", str(tmp_path / "counts.csv"), "--confidence", "0.95"]
    assert main(["verdicts", *inputs, "--table", str(tmp_path / "verdicts.csv")]) == 0
    (verdict,) = VERDICTS.read(tmp_path / "verdicts.csv")
    assert verdict["black_box"] == max(row["certified"] for row in rows)
    assert [row["seconds"] > 0 for row in SECONDS.read(tmp_path / "seconds.csv")] == [True] * len(rows)


@pytest.mark.parametrize(
    ("library", "part", "message"),
    [
        ("nonesuch", "models", "there is no library 'nonesuch'; there are diffprivlib"),
        (NAME, "nothing", "diffprivlib has no part 'nothing'; it has mechanisms, models"),
    ],
)
def test_an_unknown_library_or_part_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], library: str, part: str, message: str
) -> None:
    assert main(options_of(tmp_path, library, part, "x")) == 1
    assert capsys.readouterr().err == f"epsilometer: {message}\n"
    assert list(tmp_path.iterdir()) == []
