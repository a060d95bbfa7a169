"""Draws outputs of diffprivlib's mechanisms, functions and models as users call them, for libraries/program.py."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant

Draw = Callable[[], Any]
Request = dict[str, Any]


def noise(kind: type, request: Request, rng: np.random.RandomState, value: Callable[[Any], Any], **options: Any) -> Draw:
    """Draws from one of the library's mechanisms, applied to a function of the records."""
    mechanism = kind(epsilon=request["epsilon"], random_state=rng, **options)
    return partial(mechanism.randomise, value(np.array(request["records"])))


def function(name: str, request: Request, rng: np.random.RandomState, **options: Any) -> Draw:
    """Draws from one of the library's counterparts of numpy functions; of a histogram, the counts without the edges."""
    records = np.array(request["records"])[:, 0]
    settings = {"epsilon": request["epsilon"], "random_state": rng} | options

    def draw() -> Any:
        found = getattr(tools, name)(records, **settings, accountant=BudgetAccountant())
        return found[0] if isinstance(found, tuple) else found

    return draw


def model(
    kind: type,
    request: Request,
    rng: np.random.RandomState,
    release: Callable[[Any], Any],
    unit: float = 1.0,
    **options: Any,
) -> Draw:
    """Fits one of the library's models to the records times `unit`, and returns what `release` extracts from the fit."""
    records, labels = unit * np.array(request["records"]), np.array(request["labels"])
    settings = {"epsilon": request["epsilon"], "random_state": rng} | options
    return lambda: release(kind(**settings, accountant=BudgetAccountant()).fit(records, labels))


def total(records: Any) -> float:
    return float(records.sum())


def coefficients(fit: Any) -> Any:
    return fit.coef_


def confidence(fit: Any) -> Any:
    """The predicted probability at either end of the range: 0 if below 5%, 2 if above 95%, otherwise 1.

    The coefficients are not used, because they reach 1e20: a minimiser with an unpenalised intercept need not exist.
    """
    return np.digitize(fit.predict_proba([[1.0], [-1.0]])[:, 1], [0.05, 0.95])


def counts_and_moments(fit: Any) -> Any:
    return np.concatenate([np.ravel(values) for values in (fit.class_count_, fit.theta_, fit.var_)])


def prepare_draw(request: Request, rng: np.random.RandomState) -> Draw:
    """A function that draws one output of the requested mechanism."""
    size, regression = len(request["records"]), models.LogisticRegression
    draws: dict[str, Callable[[], Draw]] = {
        "laplace": lambda: noise(mechanisms.Laplace, request, rng, total, sensitivity=1),
        "geometric": lambda: noise(mechanisms.Geometric, request, rng, lambda records: int(records.sum())),
        "gaussian_analytic": lambda: noise(
            mechanisms.GaussianAnalytic, request, rng, total, sensitivity=1, delta=request["delta"]
        ),
        "snapping": lambda: noise(mechanisms.Snapping, request, rng, total, sensitivity=1, lower=0, upper=size),
        "binary": lambda: noise(mechanisms.Binary, request, rng, lambda bits: f"{bits[0, 0]:.0f}", value0="0", value1="1"),
        "mean": lambda: function("mean", request, rng, bounds=(0, 1)),
        "median": lambda: function("median", request, rng, bounds=(0, 1)),
        "histogram": lambda: function("histogram", request, rng, bins=2, range=(0, 1)),
        "naive_bayes": lambda: model(models.GaussianNB, request, rng, counts_and_moments, bounds=(-1, 1)),
        "logistic_regression": lambda: model(regression, request, rng, confidence, data_norm=1.0),
        "logistic_regression_no_intercept": lambda: model(
            regression, request, rng, coefficients, data_norm=1.0, fit_intercept=False
        ),
        "logistic_regression_large_norm": lambda: model(
            regression, request, rng, coefficients, unit=100.0, data_norm=100.0, fit_intercept=False
        ),
    }
    return draws[request["mechanism"]]()


def main() -> None:
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    draw = prepare_draw(request, np.random.RandomState(request["seed"]))
    for _ in range(request["size"]):
        print(*(repr(float(value)) for value in np.ravel(draw()).astype(float)))


if __name__ == "__main__":
    main()
