"""For mechanisms whose outputs are numbers of a computer: which of them can be attained at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilometer.core import Estimate, NeighbouringPair, Witness


@dataclass(frozen=True)
class Attainability:
    """Draws outputs from each data set and asks which the other can attain: one that it cannot makes epsilon infinite."""

    name: str
    """The mechanism's name in the catalogue, for the witness."""
    promised: float

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        for here, sign in ((pair, 1.0), (pair.reversed(), -1.0)):
            outputs = mechanism.sample(here.first, max(1, trials // 2), rng)
            telling = outputs[~mechanism.attainable(here.second, outputs)]
            if len(telling):
                share = len(telling) / len(outputs)
                witness = Witness(self.name, self.promised, pair, telling[0], sign * np.inf)
                event = f"{share:.0%} of the outputs of one data set cannot be attained from the other"
                return Estimate(np.inf, "attainability", 1.0, trials=trials, event=event, witness=witness)
        return Estimate(0.0, "attainability", 1.0, trials=trials, event="every output drawn can be attained from both")
