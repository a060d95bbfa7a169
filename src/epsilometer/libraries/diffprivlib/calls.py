"""IBM's diffprivlib 0.6.6: some of its mechanisms, functions and models, as its users call them.

Its logistic regression follows CMS11 (Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2), with two flaws:
    - with an intercept, which is the default, a record x acts as (x, 1), of norm up to sqrt(R^2 + 1), but the noise is
      scaled by R; and the intercept is not penalised, so the risk is not strongly convex, which the proof requires;
    - the curvature of the logistic loss is at most R^2/4 on records of norm R, but enters as R/4.

The library does not define its adjacency. Its means and models treat the number of records as public, so they are audited
under replace-one. Its histogram has noise for add-remove, and its privacy loss under replace-one would be twice its epsilon.
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
DRIVER = Path(__file__).parent / "driver.py"
DELTA = 1e-5

Pairs = Callable[[], Sequence[NeighbouringPair]]


def entries(python: str) -> dict[str, tuple[Entry, ...]]:
    """The audited calls, for the path of a Python that has the library: fast mechanisms and slow models."""

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
        entry("laplace", "mechanisms.Laplace", "Laplace noise on a count", _count_pairs),
        entry("geometric", "mechanisms.Geometric", "geometric noise on a count", _count_pairs),
        entry("snapping", "mechanisms.Snapping", "the snapping mechanism on a count", _count_pairs),
        entry("gaussian_analytic", "mechanisms.GaussianAnalytic", "Gaussian noise on a count", _count_pairs, delta=DELTA),
        entry("binary", "mechanisms.Binary", "randomised response", _bit_pairs),
        entry("mean", "tools.mean", "the mean of numbers in [0, 1]", lambda: _last_number_pairs([0.0, 0.0, 0.0, 0.0])),
        entry("median", "tools.median", "the median of numbers in [0, 1]", lambda: _last_number_pairs([0.0, 0.2, 0.8, 1.0])),
        entry("histogram", "tools.histogram", "a histogram of two bins", _added_number_pairs, "add-remove"),
    )
    models = (
        entry("naive_bayes", "models.GaussianNB", "Gaussian naive Bayes", _other_label_pairs),
        entry(
            "logistic_regression",
            "models.LogisticRegression(data_norm=1)",
            "logistic regression, with an intercept as by default",
            _agreement_pairs,
            flaw="The penalty leaves the intercept out, and its constant feature is not counted in the norm of a record.",
        ),
        entry(
            "logistic_regression_no_intercept",
            "models.LogisticRegression(data_norm=1, fit_intercept=False)",
            "logistic regression without an intercept",
            _agreement_pairs,
        ),
        entry(
            "logistic_regression_large_norm",
            "models.LogisticRegression(data_norm=100, fit_intercept=False)",
            "logistic regression without an intercept, on records of norm up to 100",
            _curvature_pairs,
            flaw="The curvature is taken as R/4 on records of norm R, where it is R^2/4.",
        ),
    )
    return {"mechanisms": mechanisms, "models": models}


def _count_pairs() -> list[NeighbouringPair]:
    return [medical_pair(4, "one diagnosis moves the count by its whole sensitivity")]


def _bit_pairs() -> list[NeighbouringPair]:
    return [NeighbouringPair(np.zeros(1), np.ones(1), "replace-one", "the answer is yes or no")]


def _last_number_pairs(others: list[float]) -> list[NeighbouringPair]:
    first, second = (np.array([*others, last]) for last in (0.0, 1.0))
    return [NeighbouringPair(first, second, "replace-one", "a number moves from one end of the range to the other")]


def _added_number_pairs() -> list[NeighbouringPair]:
    return [NeighbouringPair(np.array([0.0, 1, 1]), np.array([0.0, 1]), "add-remove", "one number more in a bin")]


def _line_records(features: list[float], labels: list[float]) -> LabelledData:
    """Records with one feature."""
    return LabelledData(np.array(features)[:, None], np.array(labels))


def _other_label_pairs() -> list[NeighbouringPair]:
    first, second = (_line_records([0.0] * 5, [1.0, 1.0, -1.0, -1.0, last]) for last in (1.0, -1.0))
    return [NeighbouringPair(first, second, "replace-one", "a record moves from one class to the other")]


def _agreement_pairs() -> list[NeighbouringPair]:
    """A record at another feature value that agrees with the others is replaced by one at theirs that contradicts them.

    Where the losses of the others are flat, only the former makes the risk curved in the direction of the intercept, which
    is not penalised.
    """
    first, second = (_line_records([1.0, 1.0, last], [1.0, 1.0, -1.0]) for last in (-1.0, 1.0))
    return [NeighbouringPair(first, second, "replace-one", "a record that agrees with the others, or contradicts them")]


def _curvature_pairs() -> list[NeighbouringPair]:
    first, second = (_line_records([0.0, last], [1.0, -1.0]) for last in (1.0, 0.0))
    return [NeighbouringPair(first, second, "replace-one", "one record alone makes the risk curved, or nothing does")]
