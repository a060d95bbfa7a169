"""What an audit finds: estimates, witnesses and verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from epsilometer.core.functions import MechanismLike
from epsilometer.core.nouns import LabelledData, NeighbouringPair

Verdict = Literal["violated", "tight", "consistent", "underpowered"]
"""What the estimates say about a claimed epsilon: exceeded, nearly reached, kept, or trials that could not have told."""


@dataclass(frozen=True)
class Counts:
    """How often an event, chosen before, occurred: `hits` of `trials` under one data set, `other_hits` under the other."""

    hits: int
    trials: int
    other_hits: int
    other_trials: int


@dataclass(frozen=True)
class Guesses:
    """How many guesses about canaries in a single run were right: `right` of `guesses`, chosen among `canaries`."""

    right: int
    guesses: int
    canaries: int


@dataclass(frozen=True)
class Witness:
    """A pair and one output at which the log-likelihood ratio is exactly known; anyone can recompute it.

    It names the `mechanism` by its name in the catalogue and the epsilon that it claims, `promised`, and states the
    `log_ratio` of one `output` on the `pair`. `epsilometer verify` recomputes it, from the text of `to_json`, at 50 digits.

    >>> pair = NeighbouringPair(np.array([1.0]), np.array([0.0]), "replace-one", "the count differs by one")
    >>> witness = Witness("laplace_count", 1.0, pair, np.array([2.0]), 1.0)
    >>> Witness.from_json(witness.to_json()).log_ratio
    1.0
    """

    mechanism: str
    """The mechanism's name in the catalogue."""
    promised: float
    """The epsilon for which it was built."""
    pair: NeighbouringPair
    output: Any
    """One output: a number, or a list of them."""
    log_ratio: float
    """log p(output | first) - log p(output | second)."""

    def to_json(self) -> str:
        """The witness as text that `from_json` reads again, to the last digit."""
        return json.dumps(
            {
                "mechanism": self.mechanism,
                "promised": self.promised,
                "first": _plain(self.pair.first),
                "second": _plain(self.pair.second),
                "adjacency": self.pair.adjacency,
                "reason": self.pair.reason,
                "output": np.asarray(self.output).tolist(),
                "log_ratio": self.log_ratio,
            },
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> Witness:
        values = json.loads(text)
        pair = NeighbouringPair(_dataset(values["first"]), _dataset(values["second"]), values["adjacency"], values["reason"])
        return cls(values["mechanism"], values["promised"], pair, np.array(values["output"]), values["log_ratio"])


@dataclass(frozen=True)
class Estimate:
    """A lower bound on the epsilon that a mechanism spends on a pair, at a delta, and what it rests on.

    `epsilon` is the bound at `delta`, `method` names how it was computed, and `confidence` is the probability with which it
    holds: 1 where it is exact. A sampled bound brings the `counts` of its event or the `guesses` of its canaries, an exact
    one the `witness` of its value. A `model_based` bound holds only under an assumption, and never proves a violation.

    >>> Estimate(0.7, "black box", 0.95, trials=10_000, counts=(Counts(2500, 5000, 1200, 5000),)).delta
    0.0
    """

    epsilon: float
    """The bound; infinite where an output, or an event, is possible under one data set only."""
    method: str
    confidence: float
    """The probability with which the bound is right, whatever the mechanism; 1 where it is exact."""
    delta: float = 0.0
    trials: int = 0
    """Outputs drawn, over both data sets."""
    counts: tuple[Counts, ...] = ()
    """For a sampled bound: the event's counts on samples that had no part in choosing it, one for each direction tried."""
    guesses: tuple[Guesses, ...] = ()
    """For a bound from a single run: what the guesses came to, one for each number of guesses tried, the best one first."""
    event: str = ""
    """The event behind a sampled bound, in words."""
    witness: Witness | None = None
    model_based: bool = False
    """Whether it holds only under an assumption on the outputs' distribution; then it never proves a violation."""

    def __post_init__(self) -> None:
        if math.isnan(self.epsilon) or self.epsilon < 0:
            raise ValueError(f"a lower bound on epsilon cannot be {self.epsilon}")


class Auditor(Protocol):
    """Says how large epsilon must be."""

    def __call__(
        self, mechanism: MechanismLike, pair: NeighbouringPair, trials: int, rng: np.random.Generator
    ) -> Estimate: ...


def _plain(dataset: Any) -> Any:
    if isinstance(dataset, LabelledData):
        weights = None if dataset.weights is None else dataset.weights.tolist()
        return {"features": dataset.features.tolist(), "labels": dataset.labels.tolist(), "weights": weights}
    return np.asarray(dataset).tolist()


def _dataset(values: Any) -> Any:
    if isinstance(values, dict):
        weights = None if values["weights"] is None else np.array(values["weights"])
        return LabelledData(np.array(values["features"]), np.array(values["labels"]), weights)
    return np.array(values)
