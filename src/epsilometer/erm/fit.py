"""The minimiser of a regularised empirical risk for every loss; it selects the solver."""

from __future__ import annotations

import numpy as np

from epsilometer.core import Array, Dataset, EpsilometerError, LabelledData
from epsilometer.erm.kinks import minimise_distance, minimise_hinge, points_of
from epsilometer.erm.losses import Distance, Hinge, Loss, SmoothLoss
from epsilometer.erm.objective import Objective, labelled
from epsilometer.erm.regularisers import QUADRATIC, Regulariser
from epsilometer.erm.solver import minimise


def minimiser(loss: Loss, dataset: Dataset, lam: float, regulariser: Regulariser = QUADRATIC) -> Array:
    """The minimiser (d,) of lam N(w) plus the mean loss; labelled data, or points (n, d) for the distance."""
    if isinstance(loss, Distance):
        return minimise_distance(_unlabelled(dataset), lam, regulariser)
    data = labelled(dataset)
    if isinstance(loss, Hinge):
        return minimise_hinge(data.signed, lam, regulariser, data.weights)
    if isinstance(loss, SmoothLoss):
        return minimise(Objective.of(loss, data, lam, regulariser), np.zeros((1, data.features.shape[1])))[0]
    raise EpsilometerError(f"there is no solver for the {loss.name}; a loss must be smooth, the hinge or the distance")


def count(dataset: Dataset) -> float:
    """The number of records."""
    return dataset.n if isinstance(dataset, LabelledData) else float(len(dataset))


def _unlabelled(dataset: Dataset) -> Array:
    if isinstance(dataset, LabelledData):
        raise EpsilometerError("the geometric median takes points, an array with a row for each, not labelled data")
    return points_of(dataset)
