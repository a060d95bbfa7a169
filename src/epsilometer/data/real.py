"""Two real data sets that ship with dependencies, scaled into the unit ball by public bounds.

Scaling by the largest norm in the data would leak, because one record could determine the scale of all others. Each feature
is therefore divided by a bound that follows from its definition (a share, a dummy, a plan's rule, the standard deviation of
grey values), so that it lies in [0, 1]. A constant 1 is appended, because the papers' separators pass through the origin.
The d + 1 coordinates are divided by sqrt(d + 1), the largest possible norm of such a record. A value outside its bound is an
error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from epsilometer.core import Array, EpsilometerError, LabelledData

BREAST_CANCER_BOUNDS = {
    "radius": 50.0,  # assumed: no nucleus is wider than 100 units of the image
    "texture": 127.5,  # the largest standard deviation of grey values in 0..255
    "perimeter": 400.0,  # a contour, longer than the circle of radius 50 (314) by at most a quarter
    "area": math.pi * 50.0**2,  # the circle of radius 50
    "smoothness": 1.0,  # a relative variation of radii
    "compactness": 2.0,  # assumed
    "concavity": 2.0,  # assumed
    "concave points": 1.0,  # a share of the contour
    "symmetry": 1.0,  # a relative difference
    "fractal dimension": 1.0,  # a curve's dimension, between 1 and 2, less 1
}
"""Bounds for the mean and the worst value of each quantity; a standard error of values in [0, b] is at most b/2."""

RAND_HIE_BOUNDS = {
    "lncoins": math.log(101),  # ln(coinsurance + 1), coinsurance in percent
    "idp": 1.0,  # dummy: individual deductible plan
    "lpi": math.log(2000),  # ln(participation incentive in dollars a year); assumed: at most 2,000
    "fmde": math.log(1000 / 0.25),  # ln(maximum expenditure / coinsurance): at most $1,000, at least 25%
    "physlm": 1.0,  # share or dummy: physical limitation
    "disea": 100.0,  # index of chronic diseases; assumed to be a scale of 0 to 100
    "hlthg": 1.0,  # dummy: good health
    "hlthf": 1.0,  # dummy: fair health
    "hlthp": 1.0,  # dummy: poor health
}


def breast_cancer() -> LabelledData:
    """Wisconsin diagnostic breast cancer (scikit-learn): +1 is benign, -1 is malignant."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    bounds = {}
    for name in map(str, bunch.feature_names):
        if name.endswith(" error"):
            bounds[name] = BREAST_CANCER_BOUNDS[name.removesuffix(" error")] / 2
        else:
            bounds[name] = BREAST_CANCER_BOUNDS[name.split(" ", 1)[1]]
    return LabelledData(_scale(bunch.data, bounds), np.where(bunch.target == 1, 1.0, -1.0))


def rand_hie() -> LabelledData:
    """RAND health insurance experiment (statsmodels): +1 is two or more outpatient visits in the year, about half of all."""
    from statsmodels.datasets import randhie

    table = randhie.load_pandas().data
    features = table[list(RAND_HIE_BOUNDS)].to_numpy(dtype=float)
    return LabelledData(_scale(features, RAND_HIE_BOUNDS), np.where(table["mdvis"].to_numpy() >= 2, 1.0, -1.0))


def _scale(features: Array, bounds: Mapping[str, float]) -> Array:
    relative = features / np.array(list(bounds.values()))
    for column, name in enumerate(bounds):
        values = features[:, column]
        if values.min() < 0 or values.max() > bounds[name] * (1 + 1e-6):
            raise EpsilometerError(
                f"{name} lies in [{values.min():g}, {values.max():g}]; its public bound says [0, {bounds[name]:g}]"
            )
    with_constant = np.column_stack([np.minimum(relative, 1.0), np.ones(len(features))])
    return with_constant / math.sqrt(with_constant.shape[1])
