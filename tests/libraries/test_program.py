"""A mechanism that is another program: what it is asked, how its answer is read, and what is said if it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from epsilometer.auditors.black_box.auditor import BlackBox
from epsilometer.core import EpsilometerError, Guarantee, LabelledData, NeighbouringPair
from epsilometer.libraries.program import Program

PREAMBLE = "import json, random, sys\nrequest = json.load(sys.stdin)\nrng = random.Random(request['seed'])\n"
LAPLACE = """
total = sum(record[0] for record in request["records"])
for _ in range(request["size"]):
    print(total + rng.choice([-1, 1]) * rng.expovariate(request["epsilon"] / 2))  # twice the epsilon that was meant
"""


def program(folder: Path, body: str, epsilon: float = 1.0) -> Program:
    path = folder / "program.py"
    path.write_text(PREAMBLE + body)
    return Program((sys.executable, str(path)), "x", Guarantee(epsilon, "replace-one"), "a test")


def test_it_is_asked_for_everything_that_it_needs(tmp_path: Path) -> None:
    echo = program(tmp_path, f"open({str(tmp_path / 'asked')!r}, 'w').write(json.dumps(request))\nprint('1 2\\n3 4')")
    data = LabelledData(np.array([[0.5], [1.0]]), np.array([1.0, -1.0]))
    outputs = echo.sample(data, 2, np.random.default_rng(0))
    assert outputs.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    asked = json.loads((tmp_path / "asked").read_text())
    assert isinstance(asked.pop("seed"), int)
    promise, data_set = {"mechanism": "x", "epsilon": 1.0, "delta": 0.0}, {"records": [[0.5], [1.0]], "labels": [1.0, -1.0]}
    assert asked == promise | data_set | {"size": 2}
    echo.sample(np.array([3.0, 4.0]), 2, np.random.default_rng(0))
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked["records"] == [[3.0], [4.0]]
    assert asked["labels"] is None


def test_the_stream_decides_the_outputs(tmp_path: Path) -> None:
    noisy = program(tmp_path, LAPLACE)
    one, same, other = (noisy.sample(np.zeros(2), 50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    rng = np.random.default_rng(1)
    assert not np.array_equal(noisy.sample(np.zeros(2), 50, rng), noisy.sample(np.zeros(2), 50, rng)), (
        "no seed is used twice"
    )


def test_the_black_box_audits_a_program_as_anything_else(tmp_path: Path) -> None:
    """It spends half of what it promises: a bound above 0.5 in this run has probability 5%; the seed is fixed."""
    pair = NeighbouringPair(np.array([0.0]), np.array([1.0]), "replace-one", "the count moves by one")
    found = BlackBox()(program(tmp_path, LAPLACE), pair, 40_000, np.random.default_rng(3))
    assert 0.35 < found.epsilon < 0.5


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('no such mechanism')", "x failed in .*: no such mechanism"),
        ("sys.exit(3)", "x failed in .*: status 3"),
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("print(1)", "x wrote 1 lines; it must write 2, of as many numbers each"),
        ("print('1\\n1 2')", "x wrote 2 lines; it must write 2, of as many numbers each"),
        ("print('1\\none')", "x wrote what is no number"),
    ],
)
def test_a_program_that_fails_is_a_sentence(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(EpsilometerError, match=message):
        program(tmp_path, body).sample(np.zeros(1), 2, np.random.default_rng(0))


def test_a_program_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    absent = Program((str(tmp_path / "none"),), "x", Guarantee(1.0, "replace-one"), "a test")
    with pytest.raises(EpsilometerError, match=r"cannot run .*none: No such file or directory"):
        absent.sample(np.zeros(1), 2, np.random.default_rng(0))
