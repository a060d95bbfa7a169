"""Labelled data for the lecture's experiments, and the mean loss on them."""

from __future__ import annotations

import numpy as np

from epsilometer.core import Array, LabelledData
from epsilometer.erm import LOGISTIC
from epsilometer.erm.losses import MarginLoss
from epsilometer.mechanisms.neighbours import labelled_records


def classified(n: int, d: int, rng: np.random.Generator) -> LabelledData:
    """Records on the unit sphere, with labels that a noisy hyperplane gives them."""
    features = rng.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    noisy = features[:, 0] + 0.3 * rng.standard_normal(n)
    return LabelledData(features, np.where(noisy > 0, 1.0, -1.0))


def kinked(n: int) -> LabelledData:
    """A third of (1, -1) and two thirds of (1, +1): the sum of hinge losses is n/3 (2 + |theta - 1|) from theta = -1 on."""
    return labelled_records([((1.0,), 1.0), ((1.0,), 1.0), ((1.0,), -1.0)] * (n // 3))


def mean_loss(data: LabelledData, parameters: Array, loss: MarginLoss = LOGISTIC) -> Array:
    """The mean loss on the data, for each row of parameters."""
    return np.asarray(np.mean(loss.value(parameters @ data.signed.T), axis=1))
