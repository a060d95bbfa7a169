"""Recomputes a witness with 50 digits, from the mechanisms' definitions alone.

Nothing here calls a mechanism: the densities are written down once more, in mpmath, with the constants of the catalogue's
entries, so that a mistake in the code that found the witness cannot confirm itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from epsilometer.core import Adjacency, EpsilometerError, LabelledData, NeighbouringPair, Witness

DIGITS = 50
TOLERANCE = 1e-6
"""How far the stated log-ratio may be from the recomputed one, relative to it where it is above 1: rounding far out, or the
precision to which a minimiser was found, and no more."""
SLACK = 1e-12
"""The relative excess over the promise from which it counts as one: a calibration is rounded to 16 digits."""

Number = Any
"""An mpmath number."""
LogDensity = Callable[[Number, Any, list[Number]], Number]
"""The log-density of an output, from the promised epsilon, the data set and the output."""


@dataclass(frozen=True)
class _Definition:
    """A mechanism of the catalogue, as it is defined."""

    log_density: LogDensity
    adjacency: Adjacency = "replace-one"
    delta: float = 0.0


def verify(witness: Witness) -> tuple[Number, str]:
    """The log-ratio of a witness to 50 digits, and a sentence: to how many digits it holds, and whether it breaks a promise.

    A witness that proves nothing (no neighbours, a wrong number, an impossible output) is an EpsilometerError.
    """
    definition = _definition(witness)
    with mp.workdps(DIGITS):
        promised = mp.mpf(witness.promised)
        output = [mp.mpf(float(value)) for value in np.ravel(np.asarray(witness.output))]
        first, second = (
            definition.log_density(promised, dataset, output) for dataset in (witness.pair.first, witness.pair.second)
        )
        if first == second == -mp.inf:
            raise EpsilometerError(f"the witness's output {_shown(output)} is impossible under both data sets")
        log_ratio = first - second
        agreement = _agreement(witness, log_ratio)
        return log_ratio, f"{witness.mechanism}: {agreement}; {_judged(log_ratio, promised, definition.delta)}"


def _definition(witness: Witness) -> _Definition:
    """The definition that the witness is about, if it speaks about neighbours and a sensible epsilon."""
    if witness.mechanism not in DEFINITIONS:
        known = ", ".join(sorted(DEFINITIONS))
        raise EpsilometerError(f"there is no independent definition of {witness.mechanism!r}; there is one of {known}")
    if not 0 < witness.promised < math.inf:
        raise EpsilometerError(f"the witness's promised epsilon is {witness.promised:g}; it must be a number above 0")
    pair, definition = witness.pair, DEFINITIONS[witness.mechanism]
    NeighbouringPair(pair.first, pair.second, pair.adjacency, pair.reason)  # says if they are no neighbours
    if pair.adjacency != definition.adjacency:
        raise EpsilometerError(
            f"the witness's data sets are {pair.adjacency} neighbours; {witness.mechanism} promises {definition.adjacency}"
        )
    return definition


def _agreement(witness: Witness, log_ratio: Number) -> str:
    """To how many digits the stated number is right."""
    stated = mp.mpf(witness.log_ratio)
    shown = mp.nstr(log_ratio, 20)
    if mp.isinf(log_ratio) and stated == log_ratio:
        return f"the log-ratio is {shown}, as stated: the output is possible under one data set only"
    error = mp.inf if not mp.isfinite(stated) or mp.isinf(log_ratio) else abs(stated - log_ratio)
    if not error <= TOLERANCE * max(1, abs(log_ratio)):
        raise EpsilometerError(
            f"the witness states a log-ratio of {witness.log_ratio!r} for {witness.mechanism}, but it is {shown}"
        )
    digits = DIGITS if error == 0 else int(mp.floor(-mp.log10(error / max(abs(log_ratio), mp.mpf("1e-300")))))
    return f"the log-ratio is {shown}, as stated to {min(max(digits, 0), DIGITS)} digits"


def _judged(log_ratio: Number, promised: Number, delta: float) -> str:
    spent = abs(log_ratio)
    if spent <= promised * (1 + SLACK):
        return f"it does not exceed the promised epsilon of {mp.nstr(promised, 10)}"
    exceeds = f"it exceeds the promised epsilon of {mp.nstr(promised, 10)} by {mp.nstr(spent - promised, 10)}"
    if delta > 0:
        return f"{exceeds}, which one output may do, as the promise has a delta of {delta:g}: it proves no violation"
    return f"{exceeds}: the promise is broken"


def _shown(output: Sequence[Number]) -> str:
    return "[" + ", ".join(mp.nstr(value, 8) for value in output[:5]) + (", ...]" if len(output) > 5 else "]")


def _numbers(dataset: Any) -> list[Number]:
    """The records of a data set of numbers."""
    if isinstance(dataset, LabelledData) or np.ndim(dataset) != 1:
        raise EpsilometerError("the witness's data sets must be sequences of numbers")
    return [mp.mpf(float(value)) for value in dataset]


def _bits(dataset: Any) -> list[Number]:
    bits = _numbers(dataset)
    for number, bit in enumerate(bits, start=1):
        if bit not in (0, 1):
            raise EpsilometerError(f"record {number} of the witness's data set is {mp.nstr(bit, 8)}; it must be 0 or 1")
    return bits


def _require_length(output: Sequence[Number], length: int) -> None:
    if len(output) != length:
        raise EpsilometerError(f"the witness's output has {len(output)} numbers; it must have {length}")


def _laplace(answers: Sequence[Number], output: Sequence[Number], scales: Sequence[Number]) -> Number:
    """Independent noise of density exp(-|z|/b)/(2b) on each answer."""
    _require_length(output, len(answers))
    return mp.fsum(-abs(o - a) / b - mp.log(2 * b) for o, a, b in zip(output, answers, scales, strict=True))


def _laplace_count(scale: Callable[[Number], Number], records: int | None = None) -> LogDensity:
    """The number of ones among the first `records` bits, or among all."""
    return lambda epsilon, data, output: _laplace([mp.fsum(_bits(data)[:records])], output, [scale(epsilon)])


def _difference_attack(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    bits = _bits(dataset)
    return _laplace([mp.fsum(bits[:4]), mp.fsum(bits[:5])], output, [2 / epsilon] * 2)


def _sequential(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count of the first five bits twice, with a third and two thirds of epsilon."""
    count = mp.fsum(_bits(dataset)[:5])
    return _laplace([count, count], output, [3 / epsilon, 3 / (2 * epsilon)])


def _parallel(*shares: Number) -> LogDensity:
    """The number of records in each category, each with its share of epsilon."""

    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        records = _numbers(dataset)
        counts = [mp.mpf(sum(record == category for record in records)) for category in range(len(shares))]
        if sum(counts) != len(records):
            raise EpsilometerError(f"the witness's records must be categories from 0 to {len(shares) - 1}")
        return _laplace(counts, output, [1 / (epsilon * share) for share in shares])

    return log_density


def _randomized_response(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Each bit is kept with probability e^epsilon/(1 + e^epsilon)."""
    bits = _bits(dataset)
    _require_length(output, len(bits))
    if any(value not in (0, 1) for value in output):
        return -mp.inf
    kept = sum(value == bit for value, bit in zip(output, bits, strict=True))
    return kept * epsilon - len(bits) * mp.log1p(mp.exp(epsilon))


def _gaussian(sigma_of: Callable[[Number, Number], Number]) -> LogDensity:
    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        _require_length(output, 1)
        sigma = sigma_of(epsilon, mp.mpf(GAUSSIAN_DELTA))
        return -(((output[0] - mp.fsum(_bits(dataset)[:5])) / sigma) ** 2) / 2 - mp.log(sigma * mp.sqrt(2 * mp.pi))

    return log_density


def _classic_sigma(epsilon: Number, delta: Number) -> Number:
    return mp.sqrt(2 * mp.log(mp.mpf("1.25") / delta)) / epsilon


def _analytic_sigma(epsilon: Number, delta: Number) -> Number:
    """The sigma at which Phi(1/(2 sigma) - epsilon sigma) - e^epsilon Phi(-1/(2 sigma) - epsilon sigma) = delta."""

    def excess(sigma: Number) -> Number:
        h, u = 1 / (2 * sigma), epsilon * sigma
        return mp.ncdf(h - u) - mp.exp(epsilon) * mp.ncdf(-h - u) - delta

    low = high = mp.mpf(1)
    while excess(low) < 0:
        low /= 2
    while excess(high) > 0:
        high *= 2
    for _ in range(4 * DIGITS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _median_and_smooth_sensitivity(dataset: Any, beta: Number) -> tuple[Number, Number]:
    """The value of rank ceil(n/2), and the largest e^(-beta k) (x_(m+t) - x_(m+t-k-1)) over k = 0..n and t = 0..k+1.

    Values are in [0, 1]; x_i is 0 below the first and 1 above the last (Nissim, Raskhodnikova and Smith 2007, section 3).
    """
    values = sorted(_numbers(dataset))
    if not values or values[0] < 0 or values[-1] > 1:
        raise EpsilometerError("the witness's records must be values in [0, 1], and there must be some")
    n, m = len(values), (len(values) + 1) // 2

    def ranked(rank: int) -> Number:
        return mp.mpf(0) if rank < 1 else mp.mpf(1) if rank > n else values[rank - 1]

    spread = [mp.exp(-beta * k) * max(ranked(m + t) - ranked(m + t - k - 1) for t in range(k + 2)) for k in range(n + 1)]
    return values[m - 1], max(spread)


def _smooth_median(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Noise of density sqrt(2)/(pi (1 + z^4)) times S/beta, beta = epsilon/10."""
    _require_length(output, 1)
    centre, sensitivity = _median_and_smooth_sensitivity(dataset, epsilon / 10)
    scale = 10 * sensitivity / epsilon
    return mp.log(mp.sqrt(2) / mp.pi) - mp.log1p(((output[0] - centre) / scale) ** 4) - mp.log(scale)


def _smooth_median_as_printed(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Laplace noise of standard deviation S/epsilon."""
    centre, sensitivity = _median_and_smooth_sensitivity(dataset, epsilon / 10)
    return _laplace([centre], output, [sensitivity / (mp.sqrt(2) * epsilon)])


def _chosen(epsilon: Number, utilities: dict[Number, Number], output: list[Number]) -> Number:
    """The exponential mechanism: probability ~ e^(epsilon u/2), for a utility of sensitivity 1."""
    _require_length(output, 1)
    if output[0] not in utilities:
        return -mp.inf
    total = mp.fsum(mp.exp(epsilon * utility / 2) for utility in utilities.values())
    return epsilon * utilities[output[0]] / 2 - mp.log(total)


def _most_frequent(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    records = _numbers(dataset)
    return _chosen(epsilon, {mp.mpf(c): mp.mpf(sum(record == c for record in records)) for c in range(3)}, output)


def _grid_median(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """A point r of 0, 0.01, ..., 1, the doubles, has the utility -|#{x <= r} - n/2|."""
    records = _numbers(dataset)
    points = [mp.mpf(float(point)) for point in np.linspace(0, 1, 101)]
    middle = mp.mpf(len(records)) / 2
    return _chosen(epsilon, {r: -abs(sum(record <= r for record in records) - middle) for r in points}, output)


@dataclass(frozen=True)
class _Records:
    """Labelled data as rows a_i = y_i x_i that count k_i times each."""

    rows: list[list[Number]]
    counts: list[Number]

    @classmethod
    def of(cls, dataset: Any, output: Sequence[Number]) -> _Records:
        if not isinstance(dataset, LabelledData):
            raise EpsilometerError("the witness's data sets must be labelled data")
        _require_length(output, dataset.features.shape[1])
        labels, features = dataset.labels.tolist(), dataset.features.tolist()
        rows = [[mp.mpf(y) * mp.mpf(x) for x in record] for y, record in zip(labels, features, strict=True)]
        weights = [1.0] * len(rows) if dataset.weights is None else dataset.weights.tolist()
        return cls(rows, [mp.mpf(weight) for weight in weights])

    @property
    def n(self) -> Number:
        return mp.fsum(self.counts)

    def gradient(self, w: Sequence[Number], strength: Number) -> list[Number]:
        """Of strength/2 |w|^2 + sum_i k_i log(1 + e^(-a_i.w)), which is n J for strength = n lam."""
        pulls = [k / (1 + mp.exp(mp.fdot(a, w))) for a, k in zip(self.rows, self.counts, strict=True)]
        return [
            strength * w[j] - mp.fsum(pull * a[j] for pull, a in zip(pulls, self.rows, strict=True)) for j in range(len(w))
        ]

    def hessian(self, w: Sequence[Number], strength: Number) -> Any:
        result = strength * mp.eye(len(w))
        for a, k in zip(self.rows, self.counts, strict=True):
            margin = mp.fdot(a, w)
            curvature = k / ((1 + mp.exp(margin)) * (1 + mp.exp(-margin)))
            column = mp.matrix(a)
            result += curvature * column * column.T
        return result

    def value(self, w: Sequence[Number], strength: Number) -> Number:
        losses = (k * mp.log1p(mp.exp(-mp.fdot(a, w))) for a, k in zip(self.rows, self.counts, strict=True))
        return strength * mp.fdot(w, w) / 2 + mp.fsum(losses)

    def minimiser(self, strength: Number) -> list[Number]:
        """By Newton's method, with steps halved until the value falls, down to the last digits."""
        w = [mp.mpf(0)] * len(self.rows[0])
        for _ in range(200):
            step = mp.lu_solve(self.hessian(w, strength), -mp.matrix(self.gradient(w, strength)))
            size, here = mp.mpf(1), self.value(w, strength)
            length = mp.norm(step)
            if length < mp.mpf(10) ** (10 - DIGITS) * (1 + mp.norm(w)):
                return w
            while (
                length > mp.mpf("1e-10")
                and self.value([x + size * s for x, s in zip(w, step, strict=True)], strength) > here
            ):
                size /= 2
            w = [x + size * s for x, s in zip(w, step, strict=True)]
        raise EpsilometerError("Newton's method finds no minimiser of the witness's objective in 200 steps")


def _log_spherical(noise: Sequence[Number], rate: Number) -> Number:
    """The density exp(-rate |b|) rate^d Gamma(d/2)/(2 pi^(d/2) Gamma(d)) on R^d."""
    d = len(noise)
    half = mp.mpf(d) / 2
    return d * mp.log(rate) + mp.loggamma(half) - mp.log(2) - half * mp.log(mp.pi) - mp.loggamma(d) - rate * mp.norm(noise)


def _output_perturbation(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The minimiser with lam = 1e-4, plus noise of density ~ exp(-(n lam epsilon/2) |b|) (nips08, Algorithm 1)."""
    records = _Records.of(dataset, output)
    strength = records.n * mp.mpf(LAM)
    centre = records.minimiser(strength)
    return _log_spherical([o - c for o, c in zip(output, centre, strict=True)], strength * epsilon / 2)


def _log_objective_perturbation(records: _Records, output: list[Number], rate: Number, strength: Number) -> Number:
    """log h(b(w)) + log det n Hess J(w), where b(w) = -n grad J(w) and h ~ exp(-rate |b|)."""
    noise = [-slope for slope in records.gradient(output, strength)]
    return _log_spherical(noise, rate) + mp.log(mp.det(records.hessian(output, strength)))


def _objective_perturbation_2008(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """nips08, Algorithm 2: the rate is epsilon/2."""
    records = _Records.of(dataset, output)
    return _log_objective_perturbation(records, output, epsilon / 2, records.n * mp.mpf(LAM))


def _objective_perturbation_cms11(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """CMS11, Algorithm 2, c = 1/4: epsilon' = epsilon - 2 log(1 + c/(n lam)), or more regularisation if that is <= 0."""
    records = _Records.of(dataset, output)
    c, strength = mp.mpf(1) / 4, records.n * mp.mpf(LAM)
    remaining = epsilon - 2 * mp.log1p(c / strength)
    if remaining <= 0:
        remaining, strength = epsilon / 2, c / mp.expm1(epsilon / 4)
    return _log_objective_perturbation(records, output, remaining / 2, strength)


LAM = "1e-4"
GAUSSIAN_DELTA = "1e-5"
DEFINITIONS: dict[str, _Definition] = {
    "exponential_median": _Definition(_grid_median),
    "exponential_most_frequent": _Definition(_most_frequent),
    "gaussian_analytic": _Definition(_gaussian(_analytic_sigma), delta=float(GAUSSIAN_DELTA)),
    "gaussian_classic": _Definition(_gaussian(_classic_sigma), delta=float(GAUSSIAN_DELTA)),
    "laplace_count": _Definition(_laplace_count(lambda epsilon: 1 / epsilon, 5)),
    "laplace_difference_attack": _Definition(_difference_attack),
    "laplace_half_scale": _Definition(_laplace_count(lambda epsilon: 1 / (2 * epsilon))),
    "laplace_standard_deviation": _Definition(_laplace_count(lambda epsilon: 1 / (mp.sqrt(2) * epsilon), 5)),
    "objective_perturbation_2008": _Definition(_objective_perturbation_2008),
    "objective_perturbation_cms11": _Definition(_objective_perturbation_cms11),
    "output_perturbation": _Definition(_output_perturbation),
    "parallel_composition": _Definition(_parallel(1, 0.5), "add-remove"),
    "parallel_composition_as_printed": _Definition(_parallel(1, 1)),
    "parallel_composition_replace_one": _Definition(_parallel(0.5, 0.5)),
    "randomized_response": _Definition(_randomized_response),
    "sequential_composition": _Definition(_sequential),
    "smooth_median": _Definition(_smooth_median),
    "smooth_median_as_printed": _Definition(_smooth_median_as_printed),
}
"""The catalogue's mechanisms that have a definition here."""
