"""Scores of the black-box auditor: functions of outputs that are large where the first data set is likelier.

Most are learnt from training outputs. Outputs are rows: single numbers, patterns of a few values, mixtures of both, or
sequences padded with nan. The log-odds of classifiers are not calibrated, since any increasing function of a score gives the
same events.
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
"""Rows that are evaluated at a time, few enough for the processor's cache."""
MOST_FITTED = 30_000
"""The most training outputs of each data set for a classifier of scikit-learn that takes them as separate rows."""
MOST_ENTRIES = 3_000_000
"""The most training outputs of an additive model, times its coefficients."""
LEAST_FOR_CLASSIFIERS = 200
"""The fewest training outputs of each data set for which a classifier of scikit-learn is fitted."""
INSPECTED = 20_000
"""Outputs by which the type of a column and its frequent values are determined."""
MOST_ATOMS, MOST_PATTERNS = 1024, 5000
"""The most values of a discrete column, and the most patterns of a table of frequencies."""
ATOM_SHARE = 0.005
"""The share of outputs that a value of a continuous column must have to count as an atom."""
TAILS = np.array([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02])
"""The ranks of the quantiles that separate the rarest bins at either end of a column."""
MOST_CELLS, MOST_INDICATORS = 20_000, 40
"""The most cells of a mixed model, and the most indicators (one for each kind and place) among its features."""
SPREAD_OF_PLACES = 0.05
"""The prior standard deviation of the effect of a single place in a mixed model, where that of common effects is 1."""
CODE_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier, by which patterns are hashed to 64 bits."""


def evaluate_in_chunks(function: Score, rows: Array) -> Array:
    """The function of all rows, evaluated chunk by chunk, which is faster than all at once."""
    return np.concatenate([function(rows[start : start + CHUNK]) for start in range(0, max(1, len(rows)), CHUNK)], axis=-1)


def single_numbers(columns: list[Column]) -> Iterator[tuple[str, Score]]:
    """Each continuous number of the output, with either sign, and its description."""
    for j, column in enumerate(columns):
        if not column.discrete:
            yield f"number {j + 1} of the output", Coordinate(j, 1.0)
            yield f"minus number {j + 1} of the output", Coordinate(j, -1.0)


def quick_scores(first: Array, second: Array, columns: list[Column]) -> Iterator[tuple[str, Score]]:
    """The learnt scores that are fast to evaluate, each with its description."""
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
    """The distribution of the values in one column of the outputs."""

    discrete: bool
    atoms: Array
    """Cuts that separate the frequent values from each other and from all other values."""
    cuts: Array
    """These cuts and quantiles of the other values."""

    @classmethod
    def of(cls, values: Array) -> Column:
        finite = values[~np.isnan(values)]
        distinct, counts = np.unique(finite, return_counts=True)
        if len(distinct) <= MOST_ATOMS and len(distinct) <= len(finite) / 5 + 1:
            between = distinct[:-1] + np.diff(distinct) / 2
            return cls(True, between, between)
        atoms = distinct[counts >= max(2.0, ATOM_SHARE * len(values))]
        rest = finite[~np.isin(finite, atoms)]
        around = np.unique(np.concatenate([atoms, np.nextafter(atoms, np.inf)]))
        quantiles = _quantiles(rest, 24) if len(rest) else rest
        return cls(False, around, np.unique(np.concatenate([around, quantiles])))


def _quantiles(values: Array, number: int) -> Array:
    """`number` evenly spaced quantiles, and those of both tails."""
    return np.unique(np.quantile(values, [*TAILS, *np.linspace(0.04, 0.96, number), *(1 - TAILS)]))


def _bin(values: Array, cuts: Array) -> NDArray[np.intp]:
    """The bin of each value: the number of cuts at or below it; nan has a bin of its own, the last."""
    if len(cuts) > 12:
        return np.searchsorted(cuts, values, side="right") + np.isnan(values)
    place = (len(cuts) + 1) * np.isnan(values).astype(np.int16)
    for cut in cuts:
        place += values >= cut
    return place.astype(np.intp)


@dataclass(frozen=True)
class Coordinate:
    """One number of the output, times a sign; nan has the lowest score."""

    column: int
    sign: float

    def __call__(self, rows: Array) -> Array:
        values = self.sign * rows[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class Table:
    """The log-ratio of a pattern's counts under the two data sets, 1/2 being added to each; 0 for an unseen pattern."""

    cuts: list[Array]
    codes: NDArray[np.uint64]
    values: Array
    text: str

    @classmethod
    def learn(cls, first: Array, second: Array, cuts: list[Array]) -> Table | None:
        """The table of all patterns seen; None if there are more than `MOST_PATTERNS`."""
        codes = np.concatenate([_code(rows, cuts) for rows in (first, second)])
        if len(np.unique(codes[:: max(1, len(codes) // INSPECTED)])) > MOST_PATTERNS:
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
    """A hash of each row's pattern of bins. A collision of two patterns, which is rare, costs power but not validity."""
    code = np.zeros(len(rows), dtype=np.uint64)
    for j, cut in enumerate(cuts):
        code *= CODE_MULTIPLIER
        code += _bin(rows[:, j], cut).astype(np.uint64)
    return code


@dataclass(frozen=True)
class Sum:
    """An additive model of the log-likelihood ratio: the sum over columns of a value for each bin."""

    cuts: list[Array]
    values: list[Array]

    @classmethod
    def marginal(cls, first: Array, second: Array, cuts: list[Array]) -> Sum:
        """Values that are log-ratios of counts, 1/2 being added to each: exact in the limit if columns are independent."""
        values = []
        for j, cut in enumerate(cuts):
            counts = [np.bincount(_bin(rows[:, j], cut), minlength=len(cut) + 2) + 0.5 for rows in (first, second)]
            values.append(np.log(counts[0] / counts[1]))
        return cls(cuts, values)

    @classmethod
    def logistic(cls, first: Array, second: Array, cuts: list[Array]) -> Sum:
        """Logistic regression on the indicators of all bins."""
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression  # imported here: it is slow, and not always needed

        starts = np.cumsum([0] + [len(cut) + 2 for cut in cuts])
        affordable = max(LEAST_FOR_CLASSIFIERS, MOST_ENTRIES // int(starts[-1]))
        rows, labels = _labelled_rows(first[:affordable], second[:affordable])
        places = np.stack(
            [start + _bin(rows[:, j], cut) for j, (start, cut) in enumerate(zip(starts, cuts, strict=False))], axis=1
        )
        pointers = np.arange(len(rows) + 1) * len(cuts)
        indicators = csr_array((np.ones(places.size), places.ravel(), pointers), shape=(len(rows), starts[-1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that stops early has a little less power; the bound stays valid
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
    """A weighted sum of the numbers in an output."""

    weights: Array

    @classmethod
    def logistic(cls, first: Array, second: Array) -> Linear:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        rows, labels = _labelled_rows(first, second)
        scaler = StandardScaler().fit(rows)
        fitted = LogisticRegression(C=1.0, max_iter=300).fit(scaler.transform(rows), labels)
        return cls(fitted.coef_[0] / scaler.scale_)

    def __call__(self, rows: Array) -> Array:
        return rows @ self.weights


@dataclass(frozen=True)
class _Kinds:
    """The kinds of a row's numbers (nan, one of the atoms, or other) as a code, and the sum of the others."""

    atoms: Array
    weights: Array
    """The weight of each kind (row) in each column, by which codes are made: random whole numbers, whose sums are exact."""

    @classmethod
    def of(cls, atoms: Array, columns: int, places_matter: bool) -> _Kinds:
        """If `places_matter` is false, columns share their weights, and a code stands for the number of each kind."""
        drawn = np.random.default_rng(0).integers(1, 1 << 40, (len(atoms) + 1, columns)).astype(float)
        return cls(atoms, drawn if places_matter else np.repeat(drawn[:, :1], columns, axis=1))

    def masks(self, rows: Array) -> list[NDArray[np.bool_]]:
        return [np.isnan(rows), *(rows == atom for atom in self.atoms)]

    def __call__(self, rows: Array) -> Array:
        """The codes and the sums of all rows, stacked."""
        masks = self.masks(rows)
        code = sum((mask @ weight for mask, weight in zip(masks, self.weights, strict=True)), np.zeros(len(rows)))
        rest = np.where(masks[0], 0.0, rows)
        for mask, atom in zip(masks[1:], self.atoms, strict=True):
            if atom != 0:
                rest[mask] = 0.0
        return np.stack([code, rest @ np.ones(rows.shape[1])])


@dataclass(frozen=True)
class Mixed:
    """Log-odds of outputs that mix real numbers with nan and atoms: a table over the pattern of kinds and the sum.

    The sum is that of the numbers that are neither nan nor atoms. All cells are fitted together by logistic regression, so
    that rare cells are estimated from all others. The features are the number of each kind and its square, the kind in each
    place, and the products of these with the sum and with the sum truncated at quantiles. Each cell is one row, weighted by
    its counts, which makes the fit fast.
    """

    kinds: _Kinds
    patterns: Array
    cuts: Array
    values: Array
    """The log-odds of each pattern (row) and bin of the sum."""

    @classmethod
    def logistic(cls, first: Array, second: Array) -> Mixed | None:
        """The fitted table; None if no value is nan or an atom, or if there are too many patterns."""
        atoms = _atoms(np.concatenate([first[: INSPECTED // 2], second[: INSPECTED // 2]]))
        rows = np.concatenate([first, second])
        if len(atoms) == 0 and not np.isnan(rows).any():
            return None
        for places_matter in (True, False):
            kinds = _Kinds.of(atoms, rows.shape[1], places_matter)
            affordable_places = kinds.weights.size <= MOST_INDICATORS or not places_matter
            if affordable_places and len(np.unique(kinds(rows[:INSPECTED])[0])) <= MOST_PATTERNS // 5:
                return cls._fitted(kinds, rows, len(first), places_matter)
        return None

    @classmethod
    def _fitted(cls, kinds: _Kinds, rows: Array, size: int, places_matter: bool) -> Mixed:
        code, total = evaluate_in_chunks(kinds, rows)
        patterns, example, pattern = np.unique(code, return_index=True, return_inverse=True)
        some = total[:: max(1, len(total) // INSPECTED)]
        cuts = _quantiles(some, min(64, max(8, MOST_CELLS // len(patterns))))
        bins = _bin(total, cuts)
        shape = (len(patterns), len(cuts) + 2)
        cell = pattern * shape[1] + bins
        counts = [np.bincount(part, minlength=shape[0] * shape[1]) for part in np.split(cell, [size])]
        of_kinds = _standardise(_kind_counts(kinds.masks(rows[example])), np.bincount(pattern))
        corners = np.quantile(some, np.linspace(0.03, 0.97, 6))
        of_sum = _standardise(_truncations(_bin_centres(cuts), corners), np.bincount(bins, minlength=shape[1]))
        features = _products(of_kinds, of_sum)
        if places_matter:
            places = np.hstack(kinds.masks(rows[example])).astype(float)
            features = np.hstack([features, SPREAD_OF_PLACES * _products(places, of_sum)])
        return cls(kinds, patterns, cuts, _log_odds(features, counts).reshape(shape))

    def __call__(self, rows: Array) -> Array:
        code, total = self.kinds(rows)
        pattern = np.minimum(np.searchsorted(self.patterns, code), len(self.patterns) - 1)
        return np.where(self.patterns[pattern] == code, self.values[pattern, _bin(total, self.cuts)], 0.0)


def _atoms(rows: Array) -> Array:
    """The up to three most frequent values, if they are atoms."""
    values, counts = np.unique(rows[~np.isnan(rows)], return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:3]
    return values[frequent[counts[frequent] >= ATOM_SHARE * len(rows)]]


def _bin_centres(cuts: Array) -> Array:
    """A value in each bin; the bin of nan gets the last cut."""
    return np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:], cuts[-1:]])


def _truncations(values: Array, corners: Array) -> Array:
    """The values and, for each corner, the values truncated at it."""
    return np.column_stack([values, *(np.minimum(values, corner) for corner in corners)])


def _kind_counts(masks: list[NDArray[np.bool_]]) -> Array:
    """The number of each kind in a row, and its square."""
    counts = np.column_stack([mask.sum(axis=1).astype(float) for mask in masks])
    return np.hstack([counts, counts**2])


def _standardise(features: Array, number: NDArray[Any]) -> Array:
    """A constant, and the features with mean 0 and standard deviation 1 over the outputs, `number` of them for each row."""
    centred = features - np.average(features, axis=0, weights=number)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=number))
    return np.column_stack([np.ones(len(features)), centred / np.where(spread > 0, spread, 1.0)])


def _products(of_patterns: Array, of_bins: Array) -> Array:
    """The products of each feature of patterns with each feature of bins: a row for each cell."""
    rows = len(of_patterns) * len(of_bins)
    return np.einsum("pi,bj->pbij", of_patterns, of_bins).reshape(rows, -1)


def _log_odds(features: Array, counts: list[NDArray[Any]]) -> Array:
    """The log-odds of each cell, by logistic regression on cells that are weighted by their counts under either data set."""
    from sklearn.linear_model import LogisticRegression

    seen = counts[0] + counts[1] > 0
    labels, weights = np.repeat([1, 0], np.count_nonzero(seen)), np.concatenate([count[seen] for count in counts])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stops early has a little less power; the bound stays valid
        model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=50, tol=1e-6)
        model.fit(np.vstack([features[seen], features[seen]]), labels, sample_weight=weights)
    return np.asarray(features @ model.coef_[0], dtype=np.float64)


def _labelled_rows(first: Array, second: Array) -> tuple[Array, NDArray[np.int_]]:
    """Training rows for a classifier, alternating between the two data sets, and their labels."""
    size = min(len(first), len(second), MOST_FITTED)
    rows = np.stack([first[:size], second[:size]], axis=1).reshape(2 * size, -1)
    return rows, np.tile([1, 0], size)


@dataclass(frozen=True)
class Trees:
    """Gradient-boosted trees on the numbers of an output, which handle nan and atoms themselves."""

    predict: Score

    @classmethod
    def learn(cls, first: Array, second: Array) -> Trees:
        from sklearn.ensemble import HistGradientBoostingClassifier  # imported here: it is slow, and not always needed

        rows, labels = _labelled_rows(first, second)
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
