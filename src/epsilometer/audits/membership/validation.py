"""How often attacks on correct mechanisms seem to break the promise: at most 5% of repetitions may leave the allowed region.

The game is made for the attacker, so that what it certifies comes near to what is spent: two training records, in the plane,
and a target that pulls opposite to all others and has the other label and the other category. The regularisation is such
that n lam epsilon = 16: Algorithm 2 of 2008 keeps its promise where this is at least 2 (`pairs.boundary`), so it is held to
it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.audits.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.audits.membership.batched import NON_PRIVATE, Batched, Categories, mechanisms
from epsilometer.audits.membership.game import Game
from epsilometer.audits.membership.report import ATTACKS, play
from epsilometer.audits.membership.roc import CONFIDENCE, certified_epsilon
from epsilometer.core import Array, EpsilometerError, LabelledData, require_positive, stream, write_table

POOL, N = 6, 2
N_LAM_EPSILON = 16.0
SHADOWS = 60
POPULATION = 20
ANGLE = 0.1
"""How far at most, in radians, a record is off the first axis."""
CATEGORIES = Categories(np.array([1]), np.array([0.0]))
"""One binary feature: on which side of the first axis a record lies."""
INTERVAL_ERROR = 0.025
"""The error probability of either end of the interval of a share."""
REPORTED = 100
"""Progress is shown each time that so many repetitions are done."""

Builders = Mapping[str, Callable[[Game], Batched]]


def membership_validation(output: Path, *, epsilon: float, repetitions: int, trials: int, seed: int) -> None:
    """Write a row for each correct mechanism and attack: the share of repetitions inside the allowed region."""
    require_positive(epsilon=epsilon)
    write_table(output, validation_rows(correct_mechanisms(epsilon), epsilon, repetitions, trials, seed))


def correct_mechanisms(epsilon: float) -> Builders:
    """Every attacked mechanism that promises something; in this game each of them keeps it."""
    return {name: build for name, build in mechanisms(epsilon, CATEGORIES).items() if name != NON_PRIVATE}


def validation_rows(builders: Builders, epsilon: float, repetitions: int, trials: int, seed: int) -> list[dict[str, Any]]:
    """A row for each mechanism and attack; the mechanisms of a repetition train on the same records."""
    if repetitions < 1:
        raise EpsilometerError(f"repetitions is {repetitions}; it must be at least 1")
    if trials < 8 or trials % 2:
        raise EpsilometerError(f"trials is {trials}; it must be an even number of at least 8")
    game, population = strong_game(epsilon), _others(POPULATION, stream(0, "membership_validation", "population"))
    built = {name: build(game) for name, build in builders.items()}
    found: dict[tuple[str, str], list[float]] = {(name, attack): [] for name in built for attack in ATTACKS}
    for repetition in range(repetitions):
        rng = stream(seed, "membership_validation", repetition)
        played, shadow = game.draw(trials, rng), game.draw(SHADOWS, rng)
        for name, batched in built.items():
            outputs, shadow_outputs = batched.release(played, rng), batched.release(shadow, rng)
            scores = play(batched, played, outputs, shadow, shadow_outputs, population)
            for attack in ATTACKS:
                found[name, attack].append(certified_epsilon(scores[attack], _promise(batched)[1], CONFIDENCE))
        if (repetition + 1) % REPORTED == 0:
            print(f"membership validation: {repetition + 1} of {repetitions} repetitions", file=sys.stderr, flush=True)
    return [_row(name, attack, built[name], game, trials, bounds) for (name, attack), bounds in found.items()]


def strong_game(epsilon: float) -> Game:
    """The target (cos a, sin a) with label -1 and a = `ANGLE`, among records (cos a, -sin a) with label 1 and smaller a."""
    others = _others(POOL - 1, stream(0, "membership_validation", "pool"))
    target = [math.cos(ANGLE), math.sin(ANGLE)]
    pool = LabelledData(np.vstack([target, others.features]), np.append(-1.0, others.labels))
    return Game(pool, 0, N, N_LAM_EPSILON / (N * epsilon))


def _others(size: int, rng: np.random.Generator) -> LabelledData:
    angles: Array = rng.uniform(ANGLE / 2, ANGLE, size)
    return LabelledData(np.column_stack([np.cos(angles), -np.sin(angles)]), np.ones(size))


def _promise(batched: Batched) -> tuple[float, float]:
    if batched.guarantee is None:
        raise EpsilometerError("a mechanism that promises nothing has no allowed region; give one with a guarantee")
    return batched.guarantee.epsilon, batched.guarantee.delta


def _row(name: str, attack: str, batched: Batched, game: Game, trials: int, bounds: list[float]) -> dict[str, Any]:
    epsilon, delta = _promise(batched)
    inside, median = sum(bound <= epsilon for bound in bounds), float(np.median(bounds))
    return {
        "mechanism": name,
        "attack": attack,
        "epsilon": epsilon,
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
