"""Black box: a lower confidence bound on epsilon from outputs alone.

One part of the outputs trains a score that separates the two data sets, and chooses the event {score >= t} or {score <= t}.
The event is counted on the other outputs, so the bound is valid whatever was chosen; only its power depends on the score.
Outputs may be numbers, patterns of a few values, mixtures of both, sequences padded with nan, and sets or texts (as arrays
of objects).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditors.attainability import impossible_outputs
from epsilometer.auditors.black_box.events import Event, Goal, choose_event
from epsilometer.auditors.black_box.scores import CHUNK
from epsilometer.auditors.confidence import epsilon_lower_bound, require_confidence, require_delta
from epsilometer.auditors.sampled import delta_for
from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import (
    Array,
    Counts,
    EpsilometerError,
    Estimate,
    Mechanism,
    MechanismLike,
    NeighbouringPair,
    as_mechanism,
)

MOST_TRAINING = 1_500_000
"""The most training outputs of each data set; more of them hardly improve the event."""
ENOUGH_FOR_ONE_NUMBER = 30_000
"""Outputs of one number need fewer training outputs: a third of the share, but this many if it allows."""
LEAST_TRIALS = 40
RARITY = 50
"""An event is rare under a data set if it occurs at least this many times as often under the other."""
UNSEEN_UNDER_OTHER = "no output of it was seen under the other data set"

Sides = tuple[Array, Array]
"""Outputs of the first and of the second data set, as rows."""


@dataclass(frozen=True)
class BlackBox:
    """The auditor: learns an event on `training_share` of the trials and certifies it by Clopper-Pearson on the others.

    An output that is one number is easily learnt: beyond 30,000 outputs, a third of that share is enough. With `confirm`,
    and only then, a mechanism that can tell which outputs are impossible is asked about those of an event that hardly
    occurred under the other data set; where it confirms one, epsilon is infinite.

    `confidence` is the probability with which the bound holds, and `delta` the delta at which epsilon is bounded: by default
    that of the mechanism's guarantee, or 0. Calling it takes a mechanism or a function of (data, rng) or (data, size, rng),
    a pair, the number of outputs to draw over both data sets, and a random generator.

    >>> import numpy as np
    >>> from epsilometer import BlackBox, find
    >>> pair = find("laplace_count").pairs()[0]
    >>> def noisy_count(data, size, rng):
    ...     return data.sum() + rng.laplace(size=size)
    >>> estimate = BlackBox()(noisy_count, pair, 100_000, np.random.default_rng(0))
    >>> bool(0.9 < estimate.epsilon <= 1.0)
    True
    """

    confidence: float = 0.95
    delta: float | None = None
    """The delta at which epsilon is bounded; by default that of the mechanism's guarantee, or 0."""
    training_share: float = 0.15
    confirm: bool = False

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        require_delta(self.delta or 0.0)
        if not 0 < self.training_share < 1:
            raise EpsilometerError(f"training_share is {self.training_share:g}; it must be above 0 and below 1")

    def __call__(self, mechanism: MechanismLike, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        mechanism = as_mechanism(mechanism)
        return self.audit(mechanism, pair, trials, rng, draw(mechanism, pair, LEAST_TRIALS // 4, rng))

    def audit(
        self, mechanism: Mechanism, pair: NeighbouringPair, trials: int, rng: np.random.Generator, drawn: Sides
    ) -> Estimate:
        """The estimate from `trials` outputs, including those already `drawn`, which are used for training."""
        training = self._training_size(trials, drawn[0].shape[1])
        if training > len(drawn[0]):
            drawn = concatenate_sides(drawn, draw(mechanism, pair, training - len(drawn[0]), rng))
        certification = trials // 2 - len(drawn[0])
        event = choose_event(*drawn, self.goal(mechanism, certification))
        return self._certify(mechanism, pair, event, trials, certification, rng)

    def goal(self, mechanism: Mechanism, certification: int) -> Goal:
        """The bound to be maximised: from `certification` outputs of each data set."""
        return Goal(certification, self.confidence, delta_for(mechanism, self.delta))

    def _training_size(self, trials: int, numbers: int) -> int:
        """The number of training outputs of each data set, for outputs of so many numbers."""
        if trials < LEAST_TRIALS:
            raise EpsilometerError(f"trials is {trials}; a black-box audit needs at least {LEAST_TRIALS}")
        most = min(MOST_TRAINING, int(trials * self.training_share / 2))
        return max(LEAST_TRIALS // 4, most if numbers > 1 else max(most // 3, min(most, ENOUGH_FOR_ONE_NUMBER)))

    def _certify(
        self,
        mechanism: Mechanism,
        pair: NeighbouringPair,
        event: Event,
        trials: int,
        certification: int,
        rng: np.random.Generator,
    ) -> Estimate:
        likely, other = (pair.first, pair.second) if event.under_first else (pair.second, pair.first)
        hits, examples = _count(mechanism, likely, event, certification, rng)
        other_hits, _ = _count(mechanism, other, event, certification, rng)
        counts = Counts(hits, certification, other_hits, certification)
        rare_under_other = hits > 0 and RARITY * other_hits <= hits
        delta = delta_for(mechanism, self.delta)
        estimate = Estimate(
            epsilon_lower_bound(counts, self.confidence, delta),
            "black box",
            self.confidence,
            delta,
            trials=trials,
            counts=(counts,),
            event=event.text + (f"; {UNSEEN_UNDER_OTHER}" if hits and not other_hits else ""),
        )
        return (
            confirm_impossible(mechanism, likely, other, examples, estimate)
            if self.confirm and rare_under_other
            else estimate
        )


def audit_pairs(
    auditor: BlackBox,
    mechanism: Mechanism,
    pairs: Sequence[NeighbouringPair],
    trials: int,
    rng: np.random.Generator,
    pilot_share: float = 0.05,
) -> tuple[Estimate, NeighbouringPair]:
    """The estimate on the pair with the largest expected bound in a pilot.

    The outputs of the pilot count among the trials; those of the chosen pair are used for training.
    """
    if not pairs:
        raise EpsilometerError("there are 0 pairs; at least one is needed")
    if len(pairs) == 1:
        return auditor(mechanism, pairs[0], trials, rng), pairs[0]
    pilot = max(LEAST_TRIALS // 4, int(trials * pilot_share / (2 * len(pairs))))
    rest = trials - 2 * pilot * (len(pairs) - 1)
    goal = auditor.goal(mechanism, max(rest // 2, 1))
    drawn = [draw(mechanism, pair, pilot, rng) for pair in pairs]
    worst = int(np.argmax([choose_event(*sides, goal).expected for sides in drawn]))
    estimate = auditor.audit(mechanism, pairs[worst], rest, rng, drawn[worst])
    return replace(estimate, trials=trials), pairs[worst]


def confirm_impossible(mechanism: Any, likely: Any, other: Any, outputs: NDArray[Any], estimate: Estimate) -> Estimate:
    """`estimate` with an infinite epsilon if the mechanism confirms that an output is possible under `likely` only.

    At a delta above 0 a single such output proves nothing, because its probability may be below delta.
    """
    places = np.flatnonzero(impossible_outputs(mechanism, likely, other, outputs))
    if estimate.delta > 0 or len(places) == 0:
        return estimate
    example = np.asarray(outputs[places[0]]).tolist()
    text = f"{estimate.event}; confirmed: the output {example} is possible under one data set only"
    return replace(estimate, epsilon=math.inf, confidence=1.0, method="black box, confirmed", event=text)


def draw(mechanism: Mechanism, pair: NeighbouringPair, size: int, rng: np.random.Generator) -> Sides:
    """`size` outputs of each data set, as rows."""
    return as_rows(mechanism.sample(pair.first, size, rng)), as_rows(mechanism.sample(pair.second, size, rng))


def concatenate_sides(here: Sides, there: Sides) -> Sides:
    """The outputs of two draws together, for each data set."""
    return np.concatenate([here[0], there[0]]), np.concatenate([here[1], there[1]])


def as_rows(outputs: NDArray[Any]) -> Array:
    """Outputs as rows of numbers. Sets, texts and other objects become one number each, a checksum that identifies them."""
    outputs = np.asarray(outputs)
    if outputs.dtype.kind not in "biuf":
        flat = outputs.reshape(len(outputs), -1)
        return np.array([[zlib.crc32(_canonical(value).encode()) for value in row] for row in flat], dtype=float)
    return outputs.reshape(len(outputs), -1).astype(np.float64, copy=False)


def _canonical(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(_canonical(member) for member in value)) + "}"
    return f"{type(value).__name__} {value!s}"


def _count(
    mechanism: Mechanism, dataset: Any, event: Event, trials: int, rng: np.random.Generator
) -> tuple[int, NDArray[Any]]:
    """How many of `trials` outputs lie in the event, and up to a thousand of them."""
    hits, examples = 0, []
    for start in range(0, trials, CHUNK):
        outputs = mechanism.sample(dataset, min(CHUNK, trials - start), rng)
        inside = event(as_rows(outputs))
        if hits < 1000:
            examples.append(outputs[inside])
        hits += int(np.count_nonzero(inside))
    return hits, np.concatenate(examples)[:1000]


SPEC = AuditorSpec(
    name="black box",
    column="black_box",
    label="black box",
    about="Sees outputs only. Learns an event on a part of the trials and counts it on the others.",
    order=60,
    colour="#de8f05",
    marker="s",
    applies=lambda _: True,
    build=lambda _, confidence: BlackBox(confidence, confirm=True),
    efficiency=True,
)
