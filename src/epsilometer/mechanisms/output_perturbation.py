"""Output perturbation: noise on the minimiser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, Guarantee, LabelledData
from epsilometer.erm import spherical_noise
from epsilometer.mechanisms.controls import NonPrivateLogistic


@dataclass(frozen=True)
class OutputPerturbation:
    """Algorithm 1: the minimiser of logistic regression plus noise of density ~ exp(-(n lam epsilon / 2) |b|)."""

    epsilon: float
    lam: float
    source = "nips08, Algorithm 1 and Theorem 1; postech, Algorithm 1"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        minimiser = NonPrivateLogistic(self.lam).sample(dataset, 1, rng)
        rate = len(dataset) * self.lam * self.epsilon / 2
        return minimiser + spherical_noise(size, minimiser.shape[1], rate, rng)
