"""Scores for the black box: functions of outputs that are large where the first data set is likelier, learnt from rows.

Outputs are rows of numbers: numbers, patterns of a few values, mixtures of both, and sequences padded with nan. A threshold
on a calibrated probability and one on its log-odds are the same event, so the classifiers' log-odds are used as they come.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array

Score = Callable[[Array], Array]

CHUNK = 1 << 14
"""Rows that are handled at a time: no more than the processor's cache holds."""
MOST_FITTED = 30_000
"""Training outputs of each data set for a classifier of scikit-learn that sees them one by one."""
MOST_ENTRIES = 3_000_000
"""Training outputs times coefficients of an additive model."""
LEAST_FOR_CLASSIFIERS = 200
"""Training outputs of each data set below which scikit-learn is not asked."""
LOOKED_AT = 20_000
"""Outputs in which the values of a column are listed."""
MOST_ATOMS, MOST_PATTERNS = 1024, 5000
"""The most values of a discrete column, and the most patterns of a table of frequencies."""
FREQUENT = 0.005
"""The share from which on a value of a continuous column counts as an atom."""
TAILS = np.array([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02])
"""Shares of the rarest bins at either end of a column."""
MOST_CELLS, MOST_INDICATORS = 20_000, 40
"""The most cells of a mixed model, and the most indicators of a kind in a place that it may have."""
OWN = 0.05
"""The spread that a mixed model expects of a single place's effect, beside 1 for what all places have in common."""
SCATTER = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier that spreads patterns over all numbers of 64 bits."""


def in_chunks(function: Score, rows: Array) -> Array:
    """The function of all rows, a chunk at a time, which is quicker than all at once."""
    return np.concatenate([function(rows[start : start + CHUNK]) for start in range(0, max(1, len(rows)), CHUNK)], axis=-1)


def single_numbers(columns: list[Column]) -> Iterator[tuple[str, Score]]:
    """Each continuous number of the output by itself, in either direction."""
    for j, column in enumerate(columns):
        if not column.discrete:
            yield f"number {j + 1} of the output", Coordinate(j, 1.0)
            yield f"minus number {j + 1} of the output", Coordinate(j, -1.0)


def quick_scores(first: Array, second: Array, columns: list[Column]) -> Iterator[tuple[str, Score]]:
    """The scores that are learnt and quick to evaluate, each with its text."""
    table = Table.learn(first, second, [column.atoms for column in columns])
    if table is not None and (len(table.codes) > 1 or all(column.discrete for column in columns)):
        yield table.text, table
    continuous = [j for j, column in enumerate(columns) if not column.discrete]
    cuts = [column.cuts for column in columns]
    if continuous:
        yield "how much more often each of its numbers was seen", Sum.marginal(first, second, cuts)
    if len(columns) == 1 or len(first) < LEAST_FOR_CLASSIFIERS:
        return
    yield "a sum over its numbers (logistic regression)", Sum.logistic(first, second, cuts)
    if continuous:
        mixed = Mixed.logistic(first, second)
        if mixed is not None:
            yield "log-odds of the kinds and the sum of its numbers (logistic regression)", mixed
        elif not any(np.isnan(rows).any() for rows in (first, second)):
            yield "a weighted sum of its numbers (logistic regression)", Linear.logistic(first, second)


@dataclass(frozen=True)
class Column:
    """What the values of one column look like."""

    discrete: bool
    atoms: Array
    """Cuts that separate the frequent values from each other, and from everything else where there is anything else."""
    cuts: Array
    """The same with quantiles of the rest."""

    @classmethod
    def of(cls, values: Array) -> Column:
        finite = values[~np.isnan(values)]
        distinct, counts = np.unique(finite, return_counts=True)
        if len(distinct) <= MOST_ATOMS and len(distinct) <= len(finite) / 5 + 1:
            between = distinct[:-1] + np.diff(distinct) / 2
            return cls(True, between, between)
        atoms = distinct[counts >= max(2.0, FREQUENT * len(values))]
        rest = finite[~np.isin(finite, atoms)]
        around = np.unique(np.concatenate([atoms, np.nextafter(atoms, np.inf)]))
        quantiles = _quantiles(rest, 24) if len(rest) else rest
        return cls(False, around, np.unique(np.concatenate([around, quantiles])))


def _quantiles(values: Array, number: int) -> Array:
    """Evenly spaced quantiles, so many, and those of both tails."""
    return np.unique(np.quantile(values, [*TAILS, *np.linspace(0.04, 0.96, number), *(1 - TAILS)]))


def _bin(values: Array, cuts: Array) -> NDArray[np.intp]:
    """How many cuts are at most each value; one more than there are cuts for nan."""
    if len(cuts) > 12:
        return np.searchsorted(cuts, values, side="right") + np.isnan(values)
    place = (len(cuts) + 1) * np.isnan(values).astype(np.int16)
    for cut in cuts:
        place += values >= cut
    return place.astype(np.intp)


@dataclass(frozen=True)
class Coordinate:
    """One number of the output, with a sign; nan counts as the lowest."""

    column: int
    sign: float

    def __call__(self, rows: Array) -> Array:
        values = self.sign * rows[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class Table:
    """The logarithm of how much oftener a pattern was seen under the first data set; 1/2 is added to every count."""

    cuts: list[Array]
    codes: NDArray[np.uint64]
    values: Array
    text: str

    @classmethod
    def learn(cls, first: Array, second: Array, cuts: list[Array]) -> Table | None:
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
class Sum:
    """The sum of a value for each column, which depends on the bin: an additive model of the log-ratio."""

    cuts: list[Array]
    values: list[Array]

    @classmethod
    def marginal(cls, first: Array, second: Array, cuts: list[Array]) -> Sum:
        """Each column's log-ratio of counts, with 1/2 added to each: right where columns are independent."""
        values = []
        for j, cut in enumerate(cuts):
            counts = [np.bincount(_bin(rows[:, j], cut), minlength=len(cut) + 2) + 0.5 for rows in (first, second)]
            values.append(np.log(counts[0] / counts[1]))
        return cls(cuts, values)

    @classmethod
    def logistic(cls, first: Array, second: Array, cuts: list[Array]) -> Sum:
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
class Linear:
    """A weighted sum of the numbers."""

    weights: Array

    @classmethod
    def logistic(cls, first: Array, second: Array) -> Linear:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        rows, labels = _labelled(first, second)
        scaler = StandardScaler().fit(rows)
        fitted = LogisticRegression(C=1.0, max_iter=300).fit(scaler.transform(rows), labels)
        return cls(fitted.coef_[0] / scaler.scale_)

    def __call__(self, rows: Array) -> Array:
        return rows @ self.weights


@dataclass(frozen=True)
class _Kinds:
    """Tells nan and each atom from the other numbers of a row: a code for the pattern of kinds, and the sum of the rest."""

    atoms: Array
    weights: Array
    """Of each kind (row) in each column: whole numbers, so that sums of them are exact."""

    @classmethod
    def of(cls, atoms: Array, columns: int, places_matter: bool) -> _Kinds:
        """Where places do not matter, a pattern is how many of each kind there are."""
        drawn = np.random.default_rng(0).integers(1, 1 << 40, (len(atoms) + 1, columns)).astype(float)
        return cls(atoms, drawn if places_matter else np.repeat(drawn[:, :1], columns, axis=1))

    def masks(self, rows: Array) -> list[NDArray[np.bool_]]:
        return [np.isnan(rows), *(rows == atom for atom in self.atoms)]

    def __call__(self, rows: Array) -> Array:
        """The codes, and the sums, of all rows."""
        masks = self.masks(rows)
        code = sum((mask @ weight for mask, weight in zip(masks, self.weights, strict=True)), np.zeros(len(rows)))
        rest = np.where(masks[0], 0.0, rows)
        for mask, atom in zip(masks[1:], self.atoms, strict=True):
            if atom != 0:
                rest[mask] = 0.0
        return np.stack([code, rest @ np.ones(rows.shape[1])])


@dataclass(frozen=True)
class Mixed:
    """Log-odds for outputs in which numbers stand beside nan and frequent values: a table by pattern of kinds and sum.

    The table is smooth: logistic regression on how many of each kind there are (and the square), which kind stands in which
    place, and the products of these with the sum of the numbers, straight and cut off at quantiles. All outputs of a cell
    enter together, with their number as weight, so that rare cells borrow from all others at little cost.
    """

    kinds: _Kinds
    patterns: Array
    cuts: Array
    values: Array
    """The log-odds of each pattern (row) and bin of the sum."""

    @classmethod
    def logistic(cls, first: Array, second: Array) -> Mixed | None:
        """None where there are no kinds to tell, or more patterns than can be counted."""
        atoms = _atoms(np.concatenate([first[: LOOKED_AT // 2], second[: LOOKED_AT // 2]]))
        rows = np.concatenate([first, second])
        if len(atoms) == 0 and not np.isnan(rows).any():
            return None
        for places_matter in (True, False):
            kinds = _Kinds.of(atoms, rows.shape[1], places_matter)
            few = kinds.weights.size <= MOST_INDICATORS or not places_matter
            if few and len(np.unique(kinds(rows[:LOOKED_AT])[0])) <= MOST_PATTERNS // 5:
                return cls._fitted(kinds, rows, len(first), places_matter)
        return None

    @classmethod
    def _fitted(cls, kinds: _Kinds, rows: Array, size: int, places_matter: bool) -> Mixed:
        code, total = in_chunks(kinds, rows)
        patterns, example, pattern = np.unique(code, return_index=True, return_inverse=True)
        some = total[:: max(1, len(total) // LOOKED_AT)]
        cuts = _quantiles(some, min(64, max(8, MOST_CELLS // len(patterns))))
        bins = _bin(total, cuts)
        shape = (len(patterns), len(cuts) + 2)
        cell = pattern * shape[1] + bins
        counts = [np.bincount(part, minlength=shape[0] * shape[1]) for part in np.split(cell, [size])]
        of_kinds = _standard(_how_many(kinds.masks(rows[example])), np.bincount(pattern))
        corners = np.quantile(some, np.linspace(0.03, 0.97, 6))
        of_sum = _standard(_cut_off(_middles(cuts), corners), np.bincount(bins, minlength=shape[1]))
        features = _products(of_kinds, of_sum)
        if places_matter:
            places = np.hstack(kinds.masks(rows[example])).astype(float)
            features = np.hstack([features, OWN * _products(places, of_sum)])
        return cls(kinds, patterns, cuts, _log_odds(features, counts).reshape(shape))

    def __call__(self, rows: Array) -> Array:
        code, total = self.kinds(rows)
        pattern = np.minimum(np.searchsorted(self.patterns, code), len(self.patterns) - 1)
        return np.where(self.patterns[pattern] == code, self.values[pattern, _bin(total, self.cuts)], 0.0)


def _atoms(rows: Array) -> Array:
    """Up to three frequent values."""
    values, counts = np.unique(rows[~np.isnan(rows)], return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:3]
    return values[frequent[counts[frequent] >= FREQUENT * len(rows)]]


def _middles(cuts: Array) -> Array:
    """A number inside each bin between the cuts, and one for nan."""
    return np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:], cuts[-1:]])


def _cut_off(values: Array, corners: Array) -> Array:
    """The values, and the values cut off at each corner."""
    return np.column_stack([values, *(np.minimum(values, corner) for corner in corners)])


def _how_many(masks: list[NDArray[np.bool_]]) -> Array:
    """How many of each kind there are, and the square of that."""
    counts = np.column_stack([mask.sum(axis=1).astype(float) for mask in masks])
    return np.hstack([counts, counts**2])


def _standard(features: Array, number: NDArray[Any]) -> Array:
    """A constant, and the features with mean 0 and unit spread over the outputs, of which each row stands for a number."""
    centred = features - np.average(features, axis=0, weights=number)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=number))
    return np.column_stack([np.ones(len(features)), centred / np.where(spread > 0, spread, 1.0)])


def _products(of_patterns: Array, of_bins: Array) -> Array:
    """Each feature of a pattern times each of a bin, with a row for each cell."""
    rows = len(of_patterns) * len(of_bins)
    return np.einsum("pi,bj->pbij", of_patterns, of_bins).reshape(rows, -1)


def _log_odds(features: Array, counts: list[NDArray[Any]]) -> Array:
    """Of each cell, by logistic regression on the cells, each weighted by its counts of either data set."""
    from sklearn.linear_model import LogisticRegression

    seen = counts[0] + counts[1] > 0
    labels, weights = np.repeat([1, 0], np.count_nonzero(seen)), np.concatenate([count[seen] for count in counts])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it stopped early costs a little power and nothing else
        model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=50, tol=1e-6)
        model.fit(np.vstack([features[seen], features[seen]]), labels, sample_weight=weights)
    return np.asarray(features @ model.coef_[0], dtype=np.float64)


def _labelled(first: Array, second: Array) -> tuple[Array, NDArray[np.int_]]:
    """The rows for a classifier, from the two data sets in turn, and their labels."""
    size = min(len(first), len(second), MOST_FITTED)
    rows = np.stack([first[:size], second[:size]], axis=1).reshape(2 * size, -1)
    return rows, np.tile([1, 0], size)


@dataclass(frozen=True)
class Trees:
    """Gradient-boosted trees on the numbers themselves; nan and atoms need no treatment."""

    predict: Score

    @classmethod
    def learn(cls, first: Array, second: Array) -> Trees:
        from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import, and not always needed

        rows, labels = _labelled(first, second)
        trees = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=12, learning_rate=0.15, early_stopping=False, random_state=0
        )
        return cls(trees.fit(rows, labels).decision_function)

    def __call__(self, rows: Array) -> Array:
        return self.predict(rows)

    @staticmethod
    def may_help(columns: list[Column], training: int) -> bool:
        """Whether there are several numbers, at least one of them continuous, and enough outputs to learn from."""
        return len(columns) > 1 and not all(column.discrete for column in columns) and training >= LEAST_FOR_CLASSIFIERS
