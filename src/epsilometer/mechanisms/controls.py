"""Mechanisms that protect nothing, to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, LabelledData
from epsilometer.erm import minimise_logistic


@dataclass(frozen=True)
class NonPrivateLogistic:
    """Regularised logistic regression through the origin: the minimiser of lam/2 |w|^2 + mean log(1 + exp(-y w.x))."""

    lam: float
    guarantee = None
    source = "nips08, section 3"

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """The same minimiser, `size` times."""
        signed = dataset.labels[:, None] * dataset.features
        return np.repeat(minimise_logistic(signed, self.lam, np.zeros((1, signed.shape[1]))), size, axis=0)
