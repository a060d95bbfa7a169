"""The job that runs every attack on every mechanism and target of a data set, and writes the tables of results."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.core import Array, EpsilometerError, LabelledData, stream
from epsilometer.core.arguments import Count, Epsilon, Lambda, Positive
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT, HOLDOUT
from epsilometer.membership import attacks
from epsilometer.membership.batched import Batched, Categories, mechanisms
from epsilometer.membership.game import Game, Trials
from epsilometer.membership.roc import Scores, allowed_tpr, roc, summary
from epsilometer.membership.rows import COUNTS, MEMBERSHIP, ROC, AttackCountRow, PointRow
from epsilometer.membership.targets import games

LAM = 0.01
"""The regularisation of nips08, section 6."""
POOL = 1000
"""The most records in the pool; half of them are trained on."""
POPULATION = 100
"""Records outside the pool with which RMIA compares the target."""
TEST_RECORDS = 1000
"""Records outside the pool on which test errors are measured."""
OPTIMAL = "optimal"
ATTACKS = {
    "loss": "loss threshold",
    "lira_offline": "LiRA, offline",
    "lira_online": "LiRA, online",
    "rmia_offline": "RMIA, offline",
    "rmia_online": "RMIA, online",
    OPTIMAL: "exact likelihood ratio",
}
"""What each attack is called in figures and on the page, by its name in the tables."""


@dataclass(frozen=True)
class Budget:
    """The number of attacked models and of shadow models; half of each are trained on the target."""

    trials: int
    shadows: int

    def __post_init__(self) -> None:
        for what, number, least in (("trials", self.trials, 8), ("shadows", self.shadows, 4)):
            if number < least or number % 2:
                raise EpsilometerError(f"{what} is {number}; it must be an even number of at least {least}")


@dataclass(frozen=True)
class AttackResult:
    """The rows of one attack on one mechanism and target in the three tables."""

    row: dict[str, Any]
    curve: list[PointRow]
    counts: AttackCountRow


def membership(
    dataset: Path,
    *,
    epsilon: Epsilon,
    trials: Count,
    shadows: Count,
    confidence: Positive,
    seed: Count,
    table: Path,
    roc: Path,
    counts: Path,
    lam: Lambda = LAM,
) -> None:
    """Attack the models that mechanisms release: was a given record in the training data?

    The pool is taken from the experiment's records, which are protected. Thresholds of categorical features, RMIA's
    population and the test records come from the holdout. Half of the `trials` and half of the `shadows` are trained on
    the target.
    """
    pool, public = read_dataset(dataset, EXPERIMENT).data, read_dataset(dataset, HOLDOUT).data
    budget = Budget(trials, shadows)
    found = list(attack_all(dataset.stem, pool.take(slice(POOL)), public, epsilon, lam, budget, confidence, seed))
    MEMBERSHIP.write(table, [each.row for each in found])
    ROC.write(roc, [point for each in found for point in each.curve])
    COUNTS.write(counts, [each.counts for each in found])


def attack_all(
    name: str,
    pool: LabelledData,
    public: LabelledData,
    epsilon: float,
    lam: float,
    budget: Budget,
    confidence: float,
    seed: int,
) -> Iterator[AttackResult]:
    """Every attack on every target and mechanism of a data set."""
    if len(pool) < 4:
        raise EpsilometerError(f"{name} has {len(pool)} records to draw from; membership inference needs at least 4")
    build = mechanisms(epsilon, Categories.of(public))
    for target, game in games(pool, len(pool) // 2, lam).items():
        played = game.draw(budget.trials, stream(seed, "membership", name, target, "trials"))
        shadow = game.draw(budget.shadows, stream(seed, "membership", name, target, "shadows"))
        for number, (mechanism, built) in enumerate(build.items(), start=1):
            print(f"{name}, {target}: {mechanism}, {number} of {len(build)}", file=sys.stderr, flush=True)
            batched = built(game)
            rng = stream(seed, "membership", name, target, mechanism)
            outputs, shadow_outputs = batched.release(played, rng), batched.release(shadow, rng)
            scores = play(batched, played, outputs, shadow, shadow_outputs, public.take(slice(POPULATION)))
            key = {"dataset": name, "target": target, "mechanism": mechanism}
            utility = _utility(batched, shadow, shadow_outputs, public.take(slice(-TEST_RECORDS, None)))
            for attack in ATTACKS:
                yield _attack_result(key | {"attack": attack}, batched, game, scores[attack], utility, confidence)


def play(
    batched: Batched, trials: Trials, outputs: Array, shadow: Trials, shadow_outputs: Array, population: LabelledData
) -> dict[str, Scores]:
    """The scores of every attack on the same outputs, one for each trial, from the outputs of shadow models."""
    game, target = trials.game, trials.game.target
    odds, population_odds = batched.log_odds(outputs, game.target_record)[:, 0], batched.log_odds(outputs, population)
    of_pool, of_population = (batched.log_odds(shadow_outputs, records) for records in (game.pool, population))
    seen, unseen = of_pool[shadow.members, target], of_pool[shadow.others, target]
    others = np.delete(np.arange(len(game.pool)), target)
    a = attacks.fit_offline_scale(of_pool[shadow.others][:, others], shadow.trained[shadow.others][:, others])
    offline = (
        float(attacks.offline_average_probability(unseen, a)),
        attacks.offline_average_probability(of_population[shadow.others], a),
    )
    online = (attacks.average_probability(seen, unseen), attacks.offline_average_probability(of_population, 1.0))
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
    """The test errors of models of this mechanism, and of the same models without noise."""
    private, plain = batched.log_odds(shadow_outputs, test), batched.log_odds_without_noise(shadow, test)
    return {"test_error": float(np.mean(private <= 0)), "nonprivate_test_error": float(np.mean(plain <= 0))}


def _attack_result(
    key: dict[str, str], batched: Batched, game: Game, scores: Scores, utility: dict[str, float], confidence: float
) -> AttackResult:
    guarantee = batched.guarantee
    promise = (
        {"promised": guarantee.epsilon, "delta": guarantee.delta} if guarantee else {"promised": math.nan, "delta": 0.0}
    )
    curve = roc(scores, confidence=confidence)
    allowed = allowed_tpr(curve.fpr, guarantee) if guarantee else np.full(len(curve.fpr), math.nan)
    points = zip(curve.fpr, curve.tpr, curve.low, curve.high, allowed, strict=True)
    names = ("fpr", "tpr", "low", "high", "allowed")
    measured, counts = summary(scores, guarantee, confidence)
    return AttackResult(
        key | promise | {"n": game.n, "lam": game.lam} | measured | utility,
        [PointRow(**key, **dict(zip(names, map(float, point), strict=True))) for point in points],  # type: ignore[typeddict-item]
        AttackCountRow(
            **key,  # type: ignore[typeddict-item]
            hits=counts.hits,
            of=counts.trials,
            other_hits=counts.other_hits,
            other_of=counts.other_trials,
        ),
    )
