"""Every attack on every mechanism and target of a data set: the tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.audits.membership import attacks
from epsilometer.audits.membership.batched import Batched, Categories, mechanisms
from epsilometer.audits.membership.game import Game, Trials
from epsilometer.audits.membership.roc import Scores, allowed_tpr, roc, summary
from epsilometer.audits.membership.targets import games
from epsilometer.core import Array, EpsilometerError, LabelledData, stream, write_table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT, HOLDOUT

LAM = 0.01
"""The regularisation of nips08, section 6."""
POOL = 1000
"""At most so many records make the pool; half of them are trained on."""
POPULATION = 100
"""Records, outside of the pool, with which RMIA compares the target."""
TEST_RECORDS = 1000
"""Records, outside of the pool, on which test errors are measured."""
OPTIMAL = "optimal"
ATTACKS = ("loss", "lira_offline", "lira_online", "rmia_offline", "rmia_online", OPTIMAL)


def membership(
    dataset: Path, output: Path, *, roc: Path, epsilon: float, trials: int, shadows: int, seed: int, lam: float = LAM
) -> None:
    """Write a row for each target, mechanism and attack on a prepared data set, and the ROC of each in a second table.

    The pool is taken from the experiment's records, which are protected; thresholds of categorical features, RMIA's
    population and the test records come from the holdout. Half of the `trials` and of the `shadows` have the target.
    """
    name = dataset.stem
    pool, public = read_dataset(dataset, EXPERIMENT).data, read_dataset(dataset, HOLDOUT).data
    rows, curves = [], []
    for row, curve in attack_rows(name, pool.take(slice(POOL)), public, epsilon, lam, trials, shadows, seed):
        rows.append(row)
        curves.extend(curve)
    write_table(output, rows)
    write_table(roc, curves)


def attack_rows(
    name: str,
    pool: LabelledData,
    public: LabelledData,
    epsilon: float,
    lam: float,
    trials: int,
    shadows: int,
    seed: int,
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """A row for each target, mechanism and attack, and the rows of its ROC."""
    for what, number, least in (("trials", trials, 8), ("shadows", shadows, 4)):
        if number < least or number % 2:
            raise EpsilometerError(f"{what} is {number}; it must be an even number of at least {least}")
    if len(pool) < 4:
        raise EpsilometerError(f"{name} has {len(pool)} records to draw from; membership inference needs at least 4")
    build = mechanisms(epsilon, Categories.of(public))
    for target, game in games(pool, len(pool) // 2, lam).items():
        played = game.draw(trials, stream(seed, "membership", name, target, "trials"))
        shadow = game.draw(shadows, stream(seed, "membership", name, target, "shadows"))
        for number, (mechanism, built) in enumerate(build.items(), start=1):
            print(f"{name}, {target}: {mechanism}, {number} of {len(build)}", file=sys.stderr, flush=True)
            batched = built(game)
            rng = stream(seed, "membership", name, target, mechanism)
            outputs, shadow_outputs = batched.release(played, rng), batched.release(shadow, rng)
            scores = play(batched, played, outputs, shadow, shadow_outputs, public.take(slice(POPULATION)))
            key = {"dataset": name, "target": target, "mechanism": mechanism}
            utility = _utility(batched, shadow, shadow_outputs, public.take(slice(-TEST_RECORDS, None)))
            for attack in ATTACKS:
                yield _row(key | {"attack": attack}, batched, game, scores[attack], utility)


def play(
    batched: Batched, trials: Trials, outputs: Array, shadow: Trials, shadow_outputs: Array, population: LabelledData
) -> dict[str, Scores]:
    """The scores of every attack on the same outputs, one for each trial; the shadow models are the attacker's own."""
    game, target = trials.game, trials.game.target
    odds, population_odds = batched.log_odds(outputs, game.target_record)[:, 0], batched.log_odds(outputs, population)
    of_pool, of_population = (batched.log_odds(shadow_outputs, records) for records in (game.pool, population))
    seen, unseen = of_pool[shadow.members, target], of_pool[shadow.others, target]
    others = np.delete(np.arange(len(game.pool)), target)
    a = attacks.remembering(of_pool[shadow.others][:, others], shadow.trained[shadow.others][:, others])
    offline = (float(attacks.average_from_outside(unseen, a)), attacks.average_from_outside(of_population[shadow.others], a))
    online = (attacks.average_probability(seen, unseen), attacks.average_from_outside(of_population, 1.0))
    found = {
        "loss": attacks.loss_threshold(odds),
        "lira_offline": attacks.lira_offline(odds, unseen),
        "lira_online": attacks.lira_online(odds, seen, unseen),
        "rmia_offline": attacks.rmia(odds, population_odds, *offline),
        "rmia_online": attacks.rmia(odds, population_odds, *online),
        OPTIMAL: batched.log_ratio(trials, outputs),
    }
    return {
        attack: Scores(scores[trials.members], scores[trials.others], log_ratio=attack == OPTIMAL)
        for attack, scores in found.items()
    }


def _utility(batched: Batched, shadow: Trials, shadow_outputs: Array, test: LabelledData) -> dict[str, float]:
    """The share of test records that models of this mechanism get wrong, and that the same models without privacy do."""
    private, plain = batched.log_odds(shadow_outputs, test), batched.log_odds_without_noise(shadow, test)
    return {"test_error": float(np.mean(private <= 0)), "nonprivate_test_error": float(np.mean(plain <= 0))}


def _row(
    key: dict[str, Any], batched: Batched, game: Game, scores: Scores, utility: dict[str, float]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    guarantee = batched.guarantee
    promise = {"epsilon": guarantee.epsilon, "delta": guarantee.delta} if guarantee else {"epsilon": math.nan, "delta": 0.0}
    curve = roc(scores)
    allowed = allowed_tpr(curve.fpr, guarantee) if guarantee else np.full(len(curve.fpr), math.nan)
    points = zip(curve.fpr, curve.tpr, curve.low, curve.high, allowed, strict=True)
    names = ("fpr", "tpr", "low", "high", "allowed")
    row = key | promise | {"n": game.n, "lam": game.lam} | summary(scores, guarantee) | utility
    return row, [key | dict(zip(names, map(float, point), strict=True)) for point in points]
