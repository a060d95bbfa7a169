"""Black box: a lower bound on epsilon from nothing but outputs.

A score that tells the two data sets' outputs apart is learnt on one part of the samples, where the event {score >= t} and
its direction are chosen too; the rest, which had no part in that, certifies it. Numbers, patterns, mixtures of both,
sequences padded with nan, and sets or texts (as arrays of objects) are all outputs; how good the event is depends on the
score, but never whether the bound is valid.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audits.attainability import impossible
from epsilometer.audits.black_box_events import Event, Goal, choose_event
from epsilometer.audits.black_box_scores import CHUNK
from epsilometer.audits.confidence import epsilon_lower_bound, require_confidence, require_delta
from epsilometer.audits.sampled import delta_for
from epsilometer.core import Array, Counts, EpsilometerError, Estimate, Mechanism, NeighbouringPair

MOST_TRAINING = 1_500_000
"""Training outputs of each data set: more would tell little more about the event."""
MUCH_FOR_ONE_NUMBER = 30_000
"""Training outputs of each data set from which on a third of the training share is enough for outputs of one number."""
LEAST_TRIALS = 40
HARDLY = 50
"""An event hardly occurs under a data set if it occurs this many times as often under the other."""
NO_OTHER = "no output of it was seen under the other data set"

Sides = tuple[Array, Array]
"""Outputs of the first and of the second data set, as rows."""


@dataclass(frozen=True)
class BlackBox:
    """The auditor: learns an event on `training_share` of the trials and certifies it by Clopper-Pearson on the others.

    An output that is one number is easily learnt: beyond 30,000 outputs, a third of that share is enough. With `confirm`,
    and only then, a mechanism that can tell which outputs are impossible is asked about those of an event that hardly
    occurred under the other data set; where it confirms one, epsilon is infinite.
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

    def __call__(self, mechanism: Mechanism, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        return self.audit(mechanism, pair, trials, rng, draw(mechanism, pair, LEAST_TRIALS // 4, rng))

    def audit(
        self, mechanism: Mechanism, pair: NeighbouringPair, trials: int, rng: np.random.Generator, drawn: Sides
    ) -> Estimate:
        """The bound from so many trials, among them those `drawn` already, which are for training."""
        training = self._training(trials, drawn[0].shape[1])
        if training > len(drawn[0]):
            drawn = joined(drawn, draw(mechanism, pair, training - len(drawn[0]), rng))
        certification = trials // 2 - len(drawn[0])
        event = choose_event(*drawn, self.goal(mechanism, certification))
        return self._certified(mechanism, pair, event, trials, certification, rng)

    def goal(self, mechanism: Mechanism, certification: int) -> Goal:
        """A bound from `certification` outputs a side."""
        return Goal(certification, self.confidence, delta_for(mechanism, self.delta))

    def _training(self, trials: int, numbers: int) -> int:
        """Training outputs of each data set."""
        if trials < LEAST_TRIALS:
            raise EpsilometerError(f"trials is {trials}; a black-box audit needs at least {LEAST_TRIALS}")
        most = min(MOST_TRAINING, int(trials * self.training_share / 2))
        return max(LEAST_TRIALS // 4, most if numbers > 1 else max(most // 3, min(most, MUCH_FOR_ONE_NUMBER)))

    def _certified(
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
        hardly = hits > 0 and HARDLY * other_hits <= hits
        delta = delta_for(mechanism, self.delta)
        estimate = Estimate(
            epsilon_lower_bound(counts, self.confidence, delta),
            "black box",
            self.confidence,
            delta,
            trials=trials,
            counts=(counts,),
            event=event.text + (f"; {NO_OTHER}" if hits and not other_hits else ""),
        )
        return confirmed(mechanism, likely, other, examples, estimate) if self.confirm and hardly else estimate


def audit_pairs(
    auditor: BlackBox,
    mechanism: Mechanism,
    pairs: Sequence[NeighbouringPair],
    trials: int,
    rng: np.random.Generator,
    pilot_share: float = 0.05,
) -> tuple[Estimate, NeighbouringPair]:
    """The bound for the pair that looks worst in a pilot, which is paid from the trials and trains its audit."""
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


def confirmed(mechanism: Any, likely: Any, other: Any, outputs: NDArray[Any], estimate: Estimate) -> Estimate:
    """`estimate`, with an infinite epsilon if the mechanism tells that one of the outputs is possible under `likely` only.

    At a delta above 0 one impossible output proves nothing, as its probability may be below delta.
    """
    found = np.flatnonzero(impossible(mechanism, likely, other, outputs))
    if estimate.delta > 0 or len(found) == 0:
        return estimate
    example = np.asarray(outputs[found[0]]).tolist()
    text = f"{estimate.event}; confirmed: the output {example} is possible under one data set only"
    return replace(estimate, epsilon=math.inf, confidence=1.0, method="black box, confirmed", event=text)


def draw(mechanism: Mechanism, pair: NeighbouringPair, size: int, rng: np.random.Generator) -> Sides:
    """So many outputs of each data set."""
    return as_rows(mechanism.sample(pair.first, size, rng)), as_rows(mechanism.sample(pair.second, size, rng))


def joined(here: Sides, there: Sides) -> Sides:
    """The outputs of both draws."""
    return np.concatenate([here[0], there[0]]), np.concatenate([here[1], there[1]])


def as_rows(outputs: NDArray[Any]) -> Array:
    """Outputs as rows of numbers; sets, texts and the like become one number each, which tells them apart."""
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
    """How many of `trials` outputs belong to the event, and up to a thousand of those."""
    hits, examples = 0, []
    for start in range(0, trials, CHUNK):
        outputs = mechanism.sample(dataset, min(CHUNK, trials - start), rng)
        inside = event(as_rows(outputs))
        if hits < 1000:
            examples.append(outputs[inside])
        hits += int(np.count_nonzero(inside))
    return hits, np.concatenate(examples)[:1000]
