"""The methods by name, the error of a classifier, and progress."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from epsilometer.core import Array, LabelledData
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.papers.protocol import METHODS, PRIVATE, method, mistakes, restarts_of, with_progress


def test_names_stand_for_the_right_mechanisms() -> None:
    assert method("standard", 0.5, 0.1) == NonPrivateLogistic(0.1)
    assert method("algorithm1", 0.5, 0.1) == OutputPerturbation(0.5, 0.1)
    assert method("algorithm2", 0.5, 0.1) == ObjectivePerturbation2008(0.5, 0.1)
    assert method("cms11", 0.5, 0.1) == ObjectivePerturbationCMS11(0.5, 0.1, extra_regularisation=True)
    assert list(METHODS) == ["standard", *PRIVATE]
    with pytest.raises(ValueError, match="other"):
        method("other", 0.5, 0.1)


def test_private_methods_promise_epsilon() -> None:
    for name in PRIVATE:
        guarantee = method(name, 0.5, 0.1).guarantee
        assert guarantee is not None
        assert guarantee.epsilon == 0.5
    assert method("standard", 0.5, 0.1).guarantee is None


def test_only_random_methods_are_restarted() -> None:
    assert [restarts_of(name, 7) for name in METHODS] == [1, 7, 7, 7]


class Fixed:
    """A mechanism that gives known classifiers."""

    guarantee = None
    source = "test"

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        assert len(dataset) == 1
        return np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[:size] * rng.random()


def test_mistakes_are_wrong_signs_on_the_test_records() -> None:
    """A record on the separator counts as wrong."""
    train = LabelledData(np.array([[0.1, 0.1]]), np.array([1.0]))
    test = LabelledData(np.array([[0.5, 0.1], [-0.5, -0.5], [0.2, -0.3], [0.0, 0.7]]), np.array([1.0, -1.0, -1.0, 1.0]))
    wrong = mistakes(Fixed(), train, test, 4, np.random.default_rng(0))
    assert wrong.tolist() == [
        [False, True, False, True],
        [False, True, False, True],
        [True, False, False, True],
        [True, True, False, True],
    ]


def test_progress_yields_everything_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(with_progress("abc", "letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_progress_speaks_about_every_five_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Items of three seconds each: a line before the third, the fifth, ..."""
    seconds = itertools.count(step=3)
    now = [0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for _ in with_progress(range(7), "items"):
        now[0] = next(seconds) + 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["items: 2 of 7", "items: 4 of 7", "items: 6 of 7"]
