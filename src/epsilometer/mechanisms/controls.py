"""Controls: mechanisms without any privacy protection."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, LabelledData, require_positive
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.neighbours import opposite_labels


@dataclass(frozen=True)
class NonPrivateLogistic:
    """Regularised logistic regression through the origin: the minimiser of lam/2 |w|^2 + mean log(1 + exp(-y w.x))."""

    lam: float
    guarantee = None
    source = "nips08, section 3"

    def __post_init__(self) -> None:
        require_positive(lam=self.lam)

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """The same minimiser, `size` times."""
        return np.repeat(minimiser(LOGISTIC, dataset, self.lam)[None], size, axis=0)


ENTRIES = (
    Entry(
        name="non_private_logistic",
        title="logistic regression without noise",
        build=lambda epsilon: NonPrivateLogistic(lam=0.1),  # noqa: ARG005
        pairs=lambda: (opposite_labels(8),),
        flaw="It releases the minimiser itself, which every record moves.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
)
