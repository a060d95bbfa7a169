"""IBM's diffprivlib 0.6.6: some of its mechanisms, functions and models, as its users call them.

Two of its logistic regressions follow CMS11 (Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2) with a constant too small:
    - with an intercept, which is the default, a record x acts as (x, 1), of norm up to sqrt(R^2 + 1), while the noise is
      scaled by R; and the penalty leaves the intercept out, so that the risk is not strongly convex, as the proof needs;
    - the curvature of the logistic loss is at most R^2/4 on records of norm R, and enters as R/4.

Which data sets are neighbours the library does not say. Its means and models take the number of records for public, so one
record is exchanged; its histogram has noise for one record more or less, and would spend twice its epsilon on an exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from epsilometer.core import Adjacency, Guarantee, LabelledData, NeighbouringPair
from epsilometer.libraries.program import Program
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import medical_pair

NAME = "diffprivlib"
VERSION = "0.6.6"
DRIVER = Path(__file__).parent / "drivers" / "draw_diffprivlib.py"
DELTA = 1e-5

Pairs = Callable[[], Sequence[NeighbouringPair]]


def entries(python: str) -> dict[str, tuple[Entry, ...]]:
    """What is audited with the Python that has the library: mechanisms, which are fast, and models, which are not."""

    def entry(
        name: str,
        call: str,
        title: str,
        pairs: Pairs,
        adjacency: Adjacency = "replace-one",
        delta: float = 0.0,
        flaw: str = "",
    ) -> Entry:
        def build(epsilon: float) -> Program:
            guarantee = Guarantee(epsilon, adjacency, delta)
            return Program((python, str(DRIVER)), name, guarantee, f"{NAME} {VERSION}, {call}")

        return Entry(f"{NAME}_{name}", title, build, pairs, flaw)

    mechanisms = (
        entry("laplace", "mechanisms.Laplace", "Laplace noise on a count", _count),
        entry("geometric", "mechanisms.Geometric", "geometric noise on a count", _count),
        entry("snapping", "mechanisms.Snapping", "the snapping mechanism on a count", _count),
        entry("gaussian_analytic", "mechanisms.GaussianAnalytic", "Gaussian noise on a count", _count, delta=DELTA),
        entry("binary", "mechanisms.Binary", "randomised response", _bit),
        entry("mean", "tools.mean", "the mean of numbers in [0, 1]", lambda: _last_number([0.0, 0.0, 0.0, 0.0])),
        entry("median", "tools.median", "the median of numbers in [0, 1]", lambda: _last_number([0.0, 0.2, 0.8, 1.0])),
        entry("histogram", "tools.histogram", "a histogram of two bins", _one_more_number, "add-remove"),
    )
    models = (
        entry("naive_bayes", "models.GaussianNB", "Gaussian naive Bayes", _other_label),
        entry(
            "logistic_regression",
            "models.LogisticRegression(data_norm=1)",
            "logistic regression, with an intercept as by default",
            _agreement,
            flaw="The penalty leaves the intercept out, and its constant feature is not counted in the norm of a record.",
        ),
        entry(
            "logistic_regression_no_intercept",
            "models.LogisticRegression(data_norm=1, fit_intercept=False)",
            "logistic regression without an intercept",
            _agreement,
        ),
        entry(
            "logistic_regression_large_norm",
            "models.LogisticRegression(data_norm=100, fit_intercept=False)",
            "logistic regression without an intercept, on records of norm up to 100",
            _curvature,
            flaw="The curvature is taken as R/4 on records of norm R, where it is R^2/4.",
        ),
    )
    return {"mechanisms": mechanisms, "models": models}


def _count() -> list[NeighbouringPair]:
    return [medical_pair(4, "one diagnosis moves the count by its whole sensitivity")]


def _bit() -> list[NeighbouringPair]:
    return [NeighbouringPair(np.zeros(1), np.ones(1), "replace-one", "the answer is yes or no")]


def _last_number(others: list[float]) -> list[NeighbouringPair]:
    first, second = (np.array([*others, last]) for last in (0.0, 1.0))
    return [NeighbouringPair(first, second, "replace-one", "a number moves from one end of the range to the other")]


def _one_more_number() -> list[NeighbouringPair]:
    return [NeighbouringPair(np.array([0.0, 1, 1]), np.array([0.0, 1]), "add-remove", "one number more in a bin")]


def _line(features: list[float], labels: list[float]) -> LabelledData:
    """Records with one feature."""
    return LabelledData(np.array(features)[:, None], np.array(labels))


def _other_label() -> list[NeighbouringPair]:
    first, second = (_line([0.0] * 5, [1.0, 1.0, -1.0, -1.0, last]) for last in (1.0, -1.0))
    return [NeighbouringPair(first, second, "replace-one", "a record moves from one class to the other")]


def _agreement() -> list[NeighbouringPair]:
    """Where the others' losses are flat, only a last record apart from them still bends the risk, which has a second
    direction without a penalty: that of the intercept."""
    first, second = (_line([1.0, 1.0, last], [1.0, 1.0, -1.0]) for last in (-1.0, 1.0))
    return [NeighbouringPair(first, second, "replace-one", "a record that agrees with the others, or contradicts them")]


def _curvature() -> list[NeighbouringPair]:
    first, second = (_line([0.0, last], [1.0, -1.0]) for last in (1.0, 0.0))
    return [NeighbouringPair(first, second, "replace-one", "one record alone makes the risk curved, or nothing does")]
