"""Outputs that are possible under one data set only: one of them makes epsilon infinite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Estimate, HasDensity, NeighbouringPair, Witness


def impossible(mechanism: Any, dataset: Any, other: Any, outputs: NDArray[Any]) -> NDArray[np.bool_]:
    """Which outputs are possible under `dataset` and impossible under `other`, as far as the mechanism can tell.

    It is asked for `attainable(dataset, outputs)` or else for its density; one that has neither tells nothing.
    """
    if len(outputs) and hasattr(mechanism, "attainable"):
        return np.asarray(mechanism.attainable(dataset, outputs) & ~mechanism.attainable(other, outputs), dtype=np.bool_)
    if len(outputs) and isinstance(mechanism, HasDensity):
        return np.isneginf(mechanism.log_density(other, outputs)) & ~np.isneginf(mechanism.log_density(dataset, outputs))
    return np.zeros(len(outputs), dtype=np.bool_)


@dataclass(frozen=True)
class Attainability:
    """Draws outputs from each data set and asks which the other can attain: one that it cannot makes epsilon infinite."""

    name: str
    """The mechanism's name in the catalogue, for the witness."""
    promised: float

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        for here, sign in ((pair, 1.0), (pair.reversed(), -1.0)):
            outputs = mechanism.sample(here.first, max(1, trials // 2), rng)
            telling = outputs[impossible(mechanism, here.first, here.second, outputs)]
            if len(telling):
                share = len(telling) / len(outputs)
                witness = Witness(self.name, self.promised, pair, telling[0], sign * np.inf)
                event = f"{share:.0%} of the outputs of one data set cannot be attained from the other"
                return Estimate(np.inf, "attainability", 1.0, trials=trials, event=event, witness=witness)
        return Estimate(0.0, "attainability", 1.0, trials=trials, event="every output drawn can be attained from both")
