"""Black box: a lower bound on epsilon from nothing but outputs.

A score that tells the two data sets' outputs apart is learnt on one part of the samples, where the event {score >= t} and
its direction are chosen too; the rest, which had no part in that, certifies it. Numbers, patterns, mixtures of both,
sequences padded with nan, and sets or texts (as arrays of objects) are all outputs; how good the event is depends on the
score, but never whether the bound is valid. A threshold on a calibrated probability and one on its log-odds are the same
event, so the classifiers' log-odds are used as they come.
"""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from epsilometer.audits.confidence import (
    bound_at_rates,
    clopper_pearson_lower,
    clopper_pearson_upper,
    epsilon_lower_bound,
    require_confidence,
    require_delta,
)
from epsilometer.audits.sampled import delta_for
from epsilometer.core import Array, Counts, EpsilometerError, Estimate, HasDensity, Mechanism, NeighbouringPair

CHUNK = 1 << 14
"""Outputs drawn at a time for the certification."""
MOST_TRAINING = 1_500_000
"""Training outputs of each data set: more would tell little more about the event."""
MOST_FITTED = 100_000
"""Training outputs of each data set for a classifier of scikit-learn."""
MOST_ENTRIES = 6_000_000
"""Training outputs times coefficients of an additive model."""
LOOKED_AT = 20_000
"""Outputs in which the values of a column are listed."""
MOST_ATOMS, MOST_PATTERNS = 1024, 5000
"""The most values of a discrete column, and the most patterns of a table of frequencies."""
FREQUENT = 0.005
"""The share from which on a value of a continuous column counts as an atom."""
TREES_MUST_GAIN = 1.03
"""Trees are slow to evaluate: they are taken where their expected bound is larger than any other by this factor."""
CAUTION = 0.02
"""The error of the bounds on an event's two probabilities by which events are compared: the best of many flatters itself."""
ENOUGH = 1000
"""Outputs of either data set that an event must have for calibrated odds to be trusted."""
LEAST_TRIALS = 40
LEAST_FOR_CLASSIFIERS = 200
"""Training outputs of each data set below which scikit-learn is not asked."""
SCATTER = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier that spreads patterns over all numbers of 64 bits."""
NO_OTHER = "no output of it was seen under the other data set"


@dataclass(frozen=True)
class BlackBox:
    """The auditor: learns an event on `training_share` of the trials and certifies it by Clopper-Pearson on the others.

    With `confirm`, and only then, a mechanism that can tell which outputs are impossible is asked about those of an event
    that occurred under one data set only; where it confirms one, epsilon is infinite.
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
        training = self._training(trials)
        event = self.learn(mechanism, pair, training, trials // 2 - training, rng)
        return self._certified(mechanism, pair, event, trials, trials // 2 - training, rng)

    def learn(
        self, mechanism: Mechanism, pair: NeighbouringPair, training: int, certification: int, rng: np.random.Generator
    ) -> Event:
        """The event with the largest expected bound from `certification` outputs a side, chosen on `training` a side."""
        first, second = (as_rows(mechanism.sample(data, training, rng)) for data in (pair.first, pair.second))
        return choose_event(first, second, certification, self.confidence, delta_for(mechanism, self.delta))

    def _training(self, trials: int) -> int:
        if trials < LEAST_TRIALS:
            raise EpsilometerError(f"trials is {trials}; a black-box audit needs at least {LEAST_TRIALS}")
        return max(LEAST_TRIALS // 4, min(MOST_TRAINING, int(trials * self.training_share / 2)))

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
        text = event.text + (f"; {NO_OTHER}" if hits and not other_hits else "")
        estimate = Estimate(
            epsilon_lower_bound(counts, self.confidence, delta_for(mechanism, self.delta)),
            "black box",
            self.confidence,
            delta_for(mechanism, self.delta),
            trials=trials,
            counts=(counts,),
            event=text,
        )
        if self.confirm and hits and not other_hits:
            return impossible(mechanism, likely, other, examples, estimate) or estimate
        return estimate


def audit_pairs(
    auditor: BlackBox,
    mechanism: Mechanism,
    pairs: Sequence[NeighbouringPair],
    trials: int,
    rng: np.random.Generator,
    pilot_share: float = 0.05,
) -> tuple[Estimate, NeighbouringPair]:
    """The bound for the pair that looks worst in a pilot, which is paid from the trials; the rest are drawn afresh."""
    if not pairs:
        raise EpsilometerError("there are 0 pairs; at least one is needed")
    if len(pairs) == 1:
        return auditor(mechanism, pairs[0], trials, rng), pairs[0]
    pilot = max(LEAST_TRIALS // 4, int(trials * pilot_share / (2 * len(pairs))))
    rest = trials - 2 * pilot * len(pairs)
    expected = [auditor.learn(mechanism, pair, pilot, max(rest // 2, 1), rng).expected for pair in pairs]
    worst = pairs[int(np.argmax(expected))]
    return replace(auditor(mechanism, worst, rest, rng), trials=trials), worst


def impossible(mechanism: Any, likely: Any, other: Any, outputs: NDArray[Any], estimate: Estimate) -> Estimate | None:
    """`estimate` with an infinite epsilon, if the mechanism confirms an output that is possible under `likely` only.

    It is asked for `attainable(dataset, outputs)` or for its density; None where it has neither, or does not confirm. At a
    delta above 0 one impossible output proves nothing, as its probability may be below delta.
    """
    if len(outputs) == 0 or estimate.delta > 0:
        return None
    if hasattr(mechanism, "attainable"):
        found = mechanism.attainable(likely, outputs) & ~mechanism.attainable(other, outputs)
    elif isinstance(mechanism, HasDensity):
        found = np.isneginf(mechanism.log_density(other, outputs)) & ~np.isneginf(mechanism.log_density(likely, outputs))
    else:
        return None
    if not found.any():
        return None
    example = np.asarray(outputs[np.flatnonzero(found)[0]]).tolist()
    text = f"{estimate.event}; confirmed: the output {example} is possible under one data set only"
    return replace(estimate, epsilon=math.inf, confidence=1.0, method="black box, confirmed", event=text)


@dataclass(frozen=True)
class Event:
    """The outputs whose score, times -1 where it is the second data set that makes them likely, is at least `least`."""

    score: Callable[[Array], Array]
    least: float
    under_first: bool
    expected: float
    """The bound that it can be expected to give."""
    text: str

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Which rows belong to it."""
        scores = self.score(rows)
        return scores >= self.least if self.under_first else -scores >= self.least


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


def choose_event(first: Array, second: Array, certification: int, confidence: float, delta: float) -> Event:
    """The best event of all scores: a part of the rows teaches the scores, the others choose among them."""
    taught, chooses = (
        [rows[: len(rows) * 2 // 5] for rows in (first, second)],
        [rows[len(rows) * 2 // 5 :] for rows in (first, second)],
    )
    columns = [_Column.of(np.concatenate([rows[:LOOKED_AT, j] for rows in taught])) for j in range(first.shape[1])]
    best: Event | None = None
    for text, score in _scores(taught[0], taught[1], columns):
        with np.errstate(invalid="ignore"):
            scores = [score(rows) for rows in chooses]
        event = _best_threshold(score, text, scores, certification, confidence, delta)
        if best is None or event.expected > best.expected:
            best = event
    assert best is not None
    if _trees_may_help(columns, len(taught[0])):
        trees = _Trees.learn(*taught)
        sides = [trees(rows[:MOST_FITTED]) for rows in chooses]
        event = _best_threshold(trees, "boosted trees' log-odds", sides, certification, confidence, delta)
        if event.expected > TREES_MUST_GAIN * best.expected:
            return event
    return best


def _scores(first: Array, second: Array, columns: list[_Column]) -> list[tuple[str, Callable[[Array], Array]]]:
    """The scores that are quick to evaluate, each with its text."""
    scores: list[tuple[str, Callable[[Array], Array]]] = []
    table = _Table.learn(first, second, [column.atoms for column in columns])
    if table is not None and (len(table.codes) > 1 or all(column.discrete for column in columns)):
        scores.append((table.text, table))
    continuous = [j for j, column in enumerate(columns) if not column.discrete]
    for j in continuous:
        scores.append((f"number {j + 1} of the output", _Coordinate(j, 1.0)))
        scores.append((f"minus number {j + 1} of the output", _Coordinate(j, -1.0)))
    cuts = [column.cuts for column in columns]
    if continuous:
        scores.append(("how much more often each of its numbers was seen", _Sum.marginal(first, second, cuts)))
    if len(columns) > 1 and len(first) >= LEAST_FOR_CLASSIFIERS:
        scores.append(("a sum over its numbers (logistic regression)", _Sum.logistic(first, second, cuts)))
    if len(columns) > 1 and continuous and len(first) >= LEAST_FOR_CLASSIFIERS:
        kinds = _Kinds.logistic(first, second)
        scores.append(("what its numbers and their kinds add up to (logistic regression)", kinds))
        cells = _Cells.learn(first, second, kinds.atoms) if len(kinds.quantiles) else None
        if cells is not None:
            scores.append(("log-odds of its kinds and their sum (boosted trees)", cells))
    return scores


@dataclass(frozen=True)
class _Coordinate:
    """One number of the output, with a sign; nan counts as the lowest."""

    column: int
    sign: float

    def __call__(self, rows: Array) -> Array:
        values = self.sign * rows[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class _Column:
    """What the values of one column look like."""

    discrete: bool
    atoms: Array
    """Cuts that separate the frequent values from each other, and from everything else where there is anything else."""
    cuts: Array
    """The same with quantiles of the rest."""

    @classmethod
    def of(cls, values: Array) -> _Column:
        finite = values[~np.isnan(values)]
        distinct, counts = np.unique(finite, return_counts=True)
        if len(distinct) <= MOST_ATOMS and len(distinct) <= len(finite) / 5 + 1:
            between = distinct[:-1] + np.diff(distinct) / 2
            return cls(True, between, between)
        atoms = distinct[counts >= max(2.0, FREQUENT * len(values))]
        rest = finite[~np.isin(finite, atoms)]
        shares = [0.0005, 0.002, 0.005, 0.01, 0.02, *np.linspace(0.04, 0.96, 24), 0.98, 0.99, 0.995, 0.998, 0.9995]
        around = np.unique(np.concatenate([atoms, np.nextafter(atoms, np.inf)]))
        quantiles = np.quantile(rest, shares) if len(rest) else rest
        return cls(False, around, np.unique(np.concatenate([around, quantiles])))


def _bin(values: Array, cuts: Array) -> NDArray[np.intp]:
    """How many cuts are at most each value; one more than there are cuts for nan."""
    if len(cuts) > 12:
        return np.searchsorted(cuts, values, side="right") + np.isnan(values)
    place = (len(cuts) + 1) * np.isnan(values).astype(np.int16)
    for cut in cuts:
        place += values >= cut
    return place.astype(np.intp)


@dataclass(frozen=True)
class _Table:
    """The logarithm of how much oftener a pattern was seen under the first data set; 1/2 is added to every count."""

    cuts: list[Array]
    codes: NDArray[np.uint64]
    values: Array
    text: str

    @classmethod
    def learn(cls, first: Array, second: Array, cuts: list[Array]) -> _Table | None:
        """None where there are more patterns than can be counted."""
        codes = np.concatenate([_code(rows, cuts) for rows in (first, second)])
        if len(np.unique(codes[:: max(1, len(codes) // LOOKED_AT)])) > MOST_PATTERNS:
            return None
        patterns, place = np.unique(codes, return_inverse=True)
        if len(patterns) > MOST_PATTERNS:
            return None
        counts = [np.bincount(part, minlength=len(patterns)) for part in np.split(place, [len(first)])]
        alone = int(np.sum((counts[0] == 0) | (counts[1] == 0)))
        text = f"how much more often its pattern was seen ({len(patterns)} patterns, {alone} under one data set only)"
        return cls(cuts, patterns, np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5), text)

    def __call__(self, rows: Array) -> Array:
        codes = _code(rows, self.cuts)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.values[place], 0.0)


def _code(rows: Array, cuts: list[Array]) -> NDArray[np.uint64]:
    """A number for each pattern of bins; two patterns share one by a rare accident, which costs power and nothing else."""
    code = np.zeros(len(rows), dtype=np.uint64)
    for j, cut in enumerate(cuts):
        code *= SCATTER
        code += _bin(rows[:, j], cut).astype(np.uint64)
    return code


@dataclass(frozen=True)
class _Sum:
    """The sum of a value for each column, which depends on the bin: an additive model of the log-ratio."""

    cuts: list[Array]
    values: list[Array]

    @classmethod
    def marginal(cls, first: Array, second: Array, cuts: list[Array]) -> _Sum:
        """Each column's log-ratio of counts, with 1/2 added to each: right where columns are independent."""
        values = []
        for j, cut in enumerate(cuts):
            counts = [np.bincount(_bin(rows[:, j], cut), minlength=len(cut) + 2) + 0.5 for rows in (first, second)]
            values.append(np.log(counts[0] / counts[1]))
        return cls(cuts, values)

    @classmethod
    def logistic(cls, first: Array, second: Array, cuts: list[Array]) -> _Sum:
        """Logistic regression on the indicators of all bins."""
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression  # slow to import, and not always needed

        starts = np.cumsum([0] + [len(cut) + 2 for cut in cuts])
        affordable = max(LEAST_FOR_CLASSIFIERS, MOST_ENTRIES // int(starts[-1]))
        rows, labels = _labelled(first[:affordable], second[:affordable])
        places = np.stack(
            [start + _bin(rows[:, j], cut) for j, (start, cut) in enumerate(zip(starts, cuts, strict=False))], axis=1
        )
        pointers = np.arange(len(rows) + 1) * len(cuts)
        indicators = csr_array((np.ones(places.size), places.ravel(), pointers), shape=(len(rows), starts[-1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stopped early costs a little power and nothing else
            weights = LogisticRegression(C=1.0, tol=1e-5, max_iter=60).fit(indicators, labels).coef_[0]
        return cls(cuts, np.split(weights, starts[1:-1]))

    def __call__(self, rows: Array) -> Array:
        total = np.zeros(len(rows))
        for j, (cut, value) in enumerate(zip(self.cuts, self.values, strict=True)):
            if np.ptp(value) > 0:
                total += value[_bin(rows[:, j], cut)]
        return total


@dataclass(frozen=True)
class _Kinds:
    """Logistic regression on a few numbers: how many nan and frequent values there are, and the sum of the rest.

    The sum enters as it is and cut off at some quantiles, alone and times the counts; where an output has no nan and no
    frequent values, its numbers enter instead. So mixed and variable-length outputs need few coefficients.
    """

    atoms: Array
    quantiles: Array
    weights: Array

    @classmethod
    def logistic(cls, first: Array, second: Array) -> _Kinds:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        rows, labels = _labelled(first, second)
        values, counts = np.unique(rows[:LOOKED_AT][~np.isnan(rows[:LOOKED_AT])], return_counts=True)
        frequent = np.argsort(-counts)[:3]
        atoms = values[frequent[counts[frequent] >= FREQUENT * min(len(rows), LOOKED_AT)]]
        if len(atoms) == 0 and not np.isnan(rows).any():
            quantiles = np.zeros((0,))
        else:
            _, rest = _kinds(rows, atoms)
            quantiles = np.quantile(rest, [0.02, 0.1, 0.25, 0.5, 0.75, 0.9])
        plain = cls(atoms, quantiles, np.zeros(0))
        scaler = StandardScaler().fit(plain.features(rows))
        fitted = LogisticRegression(C=1.0, max_iter=300).fit(scaler.transform(plain.features(rows)), labels)
        return replace(plain, weights=fitted.coef_[0] / scaler.scale_)

    def features(self, rows: Array) -> Array:
        if len(self.quantiles) == 0:
            return rows
        counts, rest = _kinds(rows, self.atoms)
        cut_off = [np.minimum(rest, quantile) for quantile in self.quantiles]
        products = [count * part for count in counts for part in (count, rest, *cut_off)]
        return np.stack([*counts, rest, *cut_off, *products], axis=1)

    def __call__(self, rows: Array) -> Array:
        return self.features(rows) @ self.weights


def _kinds(rows: Array, atoms: Array) -> tuple[list[Array], Array]:
    """How many nan, and how many of each atom, are in each row; and the sum of the rest."""
    missing = np.isnan(rows)
    rest, counts = np.where(missing, 0.0, rows), [missing.sum(axis=1).astype(float)]
    for atom in atoms:
        equal = rows == atom
        counts.append(equal.sum(axis=1).astype(float))
        if atom != 0:
            rest = np.where(equal, 0.0, rest)
    return counts, rest.sum(axis=1)


@dataclass(frozen=True)
class _Cells:
    """A table of boosted trees' log-odds for what `_kinds` says, with the sum in bins: trees, but quick to evaluate."""

    atoms: Array
    table: _Table

    @classmethod
    def learn(cls, first: Array, second: Array, atoms: Array) -> _Cells | None:
        sides = [_kinds_as_rows(rows, atoms) for rows in (first, second)]
        looked_at = np.concatenate([side[:LOOKED_AT] for side in sides])
        cuts = [_Column.of(looked_at[:, j]).cuts for j in range(looked_at.shape[1])]
        table = _Table.learn(sides[0], sides[1], cuts)
        if table is None:
            return None
        trees, some = _Trees.learn(sides[0], sides[1]), np.concatenate([side[:MOST_FITTED] for side in sides])
        place = np.searchsorted(table.codes, _code(some, cuts))
        number = np.bincount(place, minlength=len(table.codes))
        odds = np.bincount(place, weights=trees(some), minlength=len(table.codes)) / np.maximum(number, 1)
        return cls(atoms, replace(table, values=odds))

    def __call__(self, rows: Array) -> Array:
        return self.table(_kinds_as_rows(rows, self.atoms))


def _kinds_as_rows(rows: Array, atoms: Array) -> Array:
    counts, rest = _kinds(rows, atoms)
    return np.column_stack([*counts, rest])


def _labelled(first: Array, second: Array) -> tuple[Array, NDArray[np.int_]]:
    """The rows for a classifier, from the two data sets in turn, and their labels."""
    size = min(len(first), len(second), MOST_FITTED)
    rows = np.stack([first[:size], second[:size]], axis=1).reshape(2 * size, -1)
    return rows, np.tile([1, 0], size)


@dataclass(frozen=True)
class _Trees:
    """Gradient-boosted trees on the numbers themselves; nan and atoms need no treatment."""

    predict: Callable[[Array], Array]

    @classmethod
    def learn(cls, first: Array, second: Array) -> _Trees:
        from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import, and not always needed

        rows, labels = _labelled(first, second)
        trees = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=12, learning_rate=0.15, early_stopping=False, random_state=0
        )
        return cls(trees.fit(rows, labels).decision_function)

    def __call__(self, rows: Array) -> Array:
        return self.predict(rows)


def _trees_may_help(columns: list[_Column], training: int) -> bool:
    """Whether there are several numbers, at least one of them continuous, and enough outputs to learn from."""
    return len(columns) > 1 and not all(column.discrete for column in columns) and training >= LEAST_FOR_CLASSIFIERS


def _best_threshold(
    score: Callable[[Array], Array], text: str, scores: list[Array], certification: int, confidence: float, delta: float
) -> Event:
    """The threshold and the direction with the largest expected bound."""
    best = Event(score, math.inf, True, 0.0, "nothing told the two data sets apart")
    for under_first in (True, False):
        likely, other = (np.sort(side) for side in ((scores[0], scores[1]) if under_first else (-scores[1], -scores[0])))
        thresholds = _thresholds(likely)
        hits, other_hits = (len(side) - np.searchsorted(side, thresholds, side="left") for side in (likely, other))
        p = clopper_pearson_lower(hits, len(likely), CAUTION)
        q = clopper_pearson_upper(other_hits, len(other), CAUTION)
        expected = np.maximum(
            bound_at_rates(p, q, certification, confidence, delta),
            _calibrated(thresholds, hits, other_hits, len(likely), certification, confidence, delta),
        )
        place = int(np.argmax(expected))
        if expected[place] > best.expected:
            sign, side = (">=", "first") if under_first else ("<=", "second")
            least = float(thresholds[place])
            whole = f"{text} {sign} {least if under_first else -least:.6g}, likelier under the {side} data set"
            best = Event(score, least, under_first, float(expected[place]), whole)
    return best


def _calibrated(
    thresholds: Array,
    hits: NDArray[Any],
    other_hits: NDArray[Any],
    size: int,
    certification: int,
    confidence: float,
    delta: float,
) -> Array:
    """The expected bound of each threshold if the log-odds are a smooth function of the score: rare events need that.

    The odds are calibrated by a logistic regression on the score, straight and cut off at some quantiles. It counts only
    where at least `ENOUGH` outputs are in the event and do not contradict it, and three standard errors are taken off.
    """
    inside, other_inside = -np.diff(hits, append=0), -np.diff(other_hits, append=0)  # between a threshold and the next
    total = (inside + other_inside).astype(float)
    finite = np.isfinite(thresholds)
    if np.count_nonzero(total[finite]) < 8:
        return np.zeros(len(thresholds))
    middle = np.append((thresholds[:-1] + thresholds[1:]) / 2, thresholds[-1])
    middle = np.where(np.isfinite(middle), middle, thresholds[finite].min())
    features = _cut_off(middle, total)
    weights, covariance = _logistic(features, inside, total)
    odds = expit(features @ weights)
    p, q = (np.cumsum((total * share)[::-1])[::-1] for share in (odds, 1 - odds))
    everything = np.maximum(p + q, 1.0)
    mean = np.cumsum((total[:, None] * features)[::-1], axis=0)[::-1] / everything[:, None]
    error = np.sqrt(np.einsum("td,de,te->t", mean, covariance, mean))
    contradiction = (p - hits) / np.sqrt(np.maximum(p * q / everything, 1e-9))
    bound = bound_at_rates((p / size).clip(0, 1), (q / size).clip(0, 1), certification, confidence, delta)
    return np.where((everything >= ENOUGH) & (contradiction < 1), bound - 3 * error, 0.0).clip(0)


def _cut_off(middle: Array, total: Array) -> Array:
    """A constant, the score and the score cut off at quantiles, all of unit spread."""
    share = np.cumsum(total) / total.sum()
    quantiles = np.unique(np.interp([0.05, 0.25, 0.5, 0.75, 0.95], share, middle))
    features = np.column_stack([middle, *(np.minimum(middle, quantile) for quantile in quantiles)])
    centre = np.average(features, axis=0, weights=total)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=total))
    return np.column_stack([np.ones(len(middle)), (features - centre) / np.where(spread > 0, spread, 1.0)])


def _logistic(features: Array, positive: NDArray[Any], total: Array) -> tuple[Array, Array]:
    """Weights and covariance of a logistic regression on grouped data with a weak Gaussian prior, by Newton's method."""
    weights, prior = np.zeros(features.shape[1]), 0.1 * np.eye(features.shape[1])
    for _ in range(30):
        odds = expit(features @ weights)
        gradient = features.T @ (positive - total * odds) - prior @ weights
        hessian = (features.T * (total * odds * (1 - odds))) @ features + prior
        step = np.linalg.solve(hessian, gradient)
        weights += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
    return weights, np.asarray(np.linalg.inv(hessian), dtype=np.float64)


def _thresholds(scores: Array) -> Array:
    """Distinct scores, of which as many are above as a geometric and an even series say."""
    n = len(scores)
    above = np.concatenate([np.geomspace(min(20, n), n, 200), np.linspace(1, n, 200)])
    return np.unique(scores[n - np.unique(above.astype(int))])
