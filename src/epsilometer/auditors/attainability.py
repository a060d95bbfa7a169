"""Outputs in the support of one data set only: a single one makes epsilon infinite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditors.exact.spec import EXACT
from epsilometer.core import Estimate, HasDensity, NeighbouringPair, Witness


def impossible_outputs(mechanism: Any, dataset: Any, other: Any, outputs: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of the outputs that are possible under `dataset` and impossible under `other`.

    The mechanism decides it by `attainable(dataset, outputs)` or else by its density. If it has neither, nothing is marked.
    """
    if len(outputs) and hasattr(mechanism, "attainable"):
        return np.asarray(mechanism.attainable(dataset, outputs) & ~mechanism.attainable(other, outputs), dtype=np.bool_)
    if len(outputs) and isinstance(mechanism, HasDensity):
        return np.isneginf(mechanism.log_density(other, outputs)) & ~np.isneginf(mechanism.log_density(dataset, outputs))
    return np.zeros(len(outputs), dtype=np.bool_)


@dataclass(frozen=True)
class Attainability:
    """Draws outputs from each data set; epsilon is infinite if the other data set cannot attain one of them."""

    name: str
    """The mechanism's name in the catalogue, for the witness."""
    promised: float

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        for here, sign in ((pair, 1.0), (pair.reversed(), -1.0)):
            outputs = mechanism.sample(here.first, max(1, trials // 2), rng)
            unattainable = outputs[impossible_outputs(mechanism, here.first, here.second, outputs)]
            if len(unattainable):
                share = len(unattainable) / len(outputs)
                witness = Witness(self.name, self.promised, pair, unattainable[0], sign * np.inf)
                event = f"{share:.0%} of the outputs of one data set cannot be attained from the other"
                return Estimate(np.inf, "attainability", 1.0, trials=trials, event=event, witness=witness)
        return Estimate(0.0, "attainability", 1.0, trials=trials, event="every output drawn can be attained from both")


SPEC = replace(
    EXACT,
    order=EXACT.order - 1,
    applies=lambda subject: hasattr(subject.mechanism, "attainable"),
    build=lambda subject, _: Attainability(subject.name, subject.promised),
)
