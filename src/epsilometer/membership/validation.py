"""How often attacks on correct mechanisms certify more than the claimed epsilon; at most 5% of repetitions may do so.

The game is as easy as possible for the attacker, so that the certified epsilon is close to the true one. There are two
training records, in the plane. The gradient of the target's loss is opposite to that of all other records, and its label and
category differ from theirs. The regularisation gives n lam epsilon = 16: Algorithm 2 of 2008 satisfies its claim where this
is at least 2 (`pairs.boundary`), so it is among the correct mechanisms.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import Array, EpsilometerError, LabelledData, stream
from epsilometer.core.arguments import AtLeastOne, Count, Positive
from epsilometer.membership.attacked import ATTACKS, play
from epsilometer.membership.batched import NON_PRIVATE, Batched, Categories, mechanisms
from epsilometer.membership.game import Game
from epsilometer.membership.roc import certified_epsilon
from epsilometer.membership.rows import MEMBERSHIP_VALIDATION, ValidationRow

POOL, N = 6, 2
N_LAM_EPSILON = 16.0
SHADOWS = 60
POPULATION = 20
ANGLE = 0.1
"""The largest angle of a record to the first axis, in radians."""
CATEGORIES = Categories(np.array([1]), np.array([0.0]))
"""One binary feature: on which side of the first axis a record lies."""
INTERVAL_ERROR = 0.025
"""The error probability of either end of the interval of a share."""
PROGRESS_EVERY = 100
"""The repetitions between two messages of progress."""

Builders = Mapping[str, Callable[[Game], Batched]]


def membership_validation(
    *, epsilon: Positive, repetitions: AtLeastOne, trials: Count, confidence: Positive, seed: Count, table: Path
) -> None:
    """Repeat the attacks on correct mechanisms: how often do they seem to exceed the claimed epsilon?"""
    rows = validation_rows(correct_mechanisms(epsilon), epsilon, repetitions, trials, confidence, seed)
    MEMBERSHIP_VALIDATION.write(table, rows)


def correct_mechanisms(epsilon: float) -> Builders:
    """Every attacked mechanism with a claimed epsilon; in this game all of these claims are true."""
    return {name: build for name, build in mechanisms(epsilon, CATEGORIES).items() if name != NON_PRIVATE}


def validation_rows(
    builders: Builders, epsilon: float, repetitions: int, trials: int, confidence: float, seed: int
) -> list[ValidationRow]:
    """A row for each mechanism and attack; in a repetition all mechanisms are trained on the same records."""
    if repetitions < 1:
        raise EpsilometerError(f"repetitions is {repetitions}; it must be at least 1")
    if trials < 8 or trials % 2:
        raise EpsilometerError(f"trials is {trials}; it must be an even number of at least 8")
    game, population = strong_game(epsilon), _other_records(POPULATION, stream(0, "membership_validation", "population"))
    built = {name: build(game) for name, build in builders.items()}
    found: dict[tuple[str, str], list[float]] = {(name, attack): [] for name in built for attack in ATTACKS}
    for repetition in range(repetitions):
        rng = stream(seed, "membership_validation", repetition)
        played, shadow = game.draw(trials, rng), game.draw(SHADOWS, rng)
        for name, batched in built.items():
            outputs, shadow_outputs = batched.release(played, rng), batched.release(shadow, rng)
            scores = play(batched, played, outputs, shadow, shadow_outputs, population)
            for attack in ATTACKS:
                found[name, attack].append(certified_epsilon(scores[attack], _promise(batched)[1], confidence))
        if (repetition + 1) % PROGRESS_EVERY == 0:
            print(f"membership validation: {repetition + 1} of {repetitions} repetitions", file=sys.stderr, flush=True)
    return [_row(name, attack, built[name], game, trials, bounds) for (name, attack), bounds in found.items()]


def strong_game(epsilon: float) -> Game:
    """The target (cos a, sin a) with label -1 and a = `ANGLE`, among records (cos a, -sin a) with label 1 and smaller a."""
    others = _other_records(POOL - 1, stream(0, "membership_validation", "pool"))
    target = [math.cos(ANGLE), math.sin(ANGLE)]
    pool = LabelledData(np.vstack([target, others.features]), np.append(-1.0, others.labels))
    return Game(pool, 0, N, N_LAM_EPSILON / (N * epsilon))


def _other_records(size: int, rng: np.random.Generator) -> LabelledData:
    angles: Array = rng.uniform(ANGLE / 2, ANGLE, size)
    return LabelledData(np.column_stack([np.cos(angles), -np.sin(angles)]), np.ones(size))


def _promise(batched: Batched) -> tuple[float, float]:
    if batched.guarantee is None:
        raise EpsilometerError("a mechanism that promises nothing has no allowed region; give one with a guarantee")
    return batched.guarantee.epsilon, batched.guarantee.delta


def _row(name: str, attack: str, batched: Batched, game: Game, trials: int, bounds: list[float]) -> ValidationRow:
    epsilon, delta = _promise(batched)
    inside, median = sum(bound <= epsilon for bound in bounds), float(np.median(bounds))
    return {
        "mechanism": name,
        "attack": attack,
        "promised": epsilon,
        "delta": delta,
        "n": game.n,
        "lam": game.lam,
        "trials": trials,
        "repetitions": len(bounds),
        "inside": inside,
        "share": inside / len(bounds),
        "low": float(clopper_pearson_lower(inside, len(bounds), INTERVAL_ERROR)),
        "high": float(clopper_pearson_upper(inside, len(bounds), INTERVAL_ERROR)),
        "median_certified": median,
        "largest_certified": max(bounds),
        "median_of_promise": median / epsilon,
    }
