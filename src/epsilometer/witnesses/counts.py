"""Definitions of mechanisms that add noise to counts, histograms and parameters computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np

from epsilometer.core import EpsilometerError, stream
from epsilometer.witnesses.definition import (
    DIGITS,
    Definition,
    LogDensity,
    Number,
    bits,
    counts_of_columns,
    log_laplace,
    numbers,
    require_length,
    table,
)

Scale = Callable[[Number], Number]
"""The scale of noise, from epsilon."""
GAUSSIAN_DELTA = "1e-5"
BINS = 5


def _laplace_count(scale: Scale, records: int | None = None) -> LogDensity:
    """The number of ones among the first `records` bits, or among all."""
    return lambda epsilon, data, output: log_laplace([mp.fsum(bits(data)[:records])], output, [scale(epsilon)])


def _difference_attack(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count of the first four bits and that of the first five."""
    values = bits(dataset)
    return log_laplace([mp.fsum(values[:4]), mp.fsum(values[:5])], output, [2 / epsilon] * 2)


def _sequential_composition(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count of the first five bits twice, with a third and two thirds of epsilon."""
    count = mp.fsum(bits(dataset)[:5])
    return log_laplace([count, count], output, [3 / epsilon, 3 / (2 * epsilon)])


def _histogram(*scales: Scale) -> LogDensity:
    """The number of records in each category 0, 1, ..., each with noise of its own scale."""

    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        counts = _counts(numbers(dataset), range(len(scales)))
        return log_laplace(counts, output, [scale(epsilon) for scale in scales])

    return log_density


def _counts(records: Sequence[Any], cells: Sequence[Any]) -> list[Number]:
    """The number of records in each cell; every record must be in one."""
    counts = [mp.mpf(sum(record == cell for record in records)) for cell in cells]
    if sum(counts) != len(records):
        raise EpsilometerError(f"the witness's records must be among {', '.join(map(str, cells))}")
    return counts


def _reciprocal(factor: Number = 1) -> Scale:
    return lambda epsilon: 1 / (factor * epsilon)


def _epsilon_before_sampling(epsilon: Number) -> Number:
    """The epsilon on a Poisson sample of rate 1/5 that is amplified to the given one (Balle, Barthe and Gaboardi 2018)."""
    return mp.log1p(5 * mp.expm1(epsilon))


def _subsampled_count(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count of a sample that has each record with probability 1/5: a binomial mixture of Laplace densities."""
    ones, rate, q = int(mp.fsum(bits(dataset))), _epsilon_before_sampling(epsilon), mp.mpf(1) / 5
    terms = [
        mp.log(mp.binomial(ones, k) * q**k * (1 - q) ** (ones - k)) + log_laplace([mp.mpf(k)], output, [1 / rate])
        for k in range(ones + 1)
    ]
    largest = max(terms)
    return largest + mp.log(mp.fsum(mp.exp(term - largest) for term in terms))


def _geometric_counts(epsilon: Number, dataset: Any, output: list[Number], shared: bool = False) -> Number:
    """k counts plus two-sided geometric noise, a = e^(-epsilon/k), clipped to 0 ... n; `shared` is one draw for all counts.

    Noise of -n or less always yields 0, and noise of n or more yields n. So P(Z = z) = (1 - a)/(1 + a) a^|z| for |z| < n and
    P(Z >= n) = P(Z <= -n) = a^n/(1 + a) suffice.
    """
    counts, n = counts_of_columns(dataset), len(dataset)
    require_length(output, len(counts))
    a = mp.exp(-epsilon / len(counts))
    chance = {z: (1 - a) * a ** abs(z) / (1 + a) if abs(z) < n else a**n / (1 + a) for z in range(-n, n + 1)}
    leading = [{z for z in chance if min(max(c + z, 0), n) == o} for c, o in zip(counts, output, strict=True)]
    ways = [set.intersection(*leading)] if shared else leading
    return mp.fsum(mp.log(mp.fsum(chance[z] for z in way)) for way in ways)


def _reused_noise(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    return _geometric_counts(epsilon, dataset, output, shared=True)


def _one_byte_seed(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count plus 1/epsilon times the first Laplace draw of a generator with each of 256 seeds, in doubles."""
    require_length(output, 1)
    count, scale = float(mp.fsum(bits(dataset))), 1 / float(epsilon)
    ways = sum(count + scale * float(np.random.default_rng(seed).laplace()) == output[0] for seed in range(256))
    return mp.log(mp.mpf(ways) / 256)


LOG_ERROR = "0.55"
"""The assumed bound on the error of a computed logarithm, in units in the last place of the double."""


def _floating_point(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """count + s b log(k 2^-53) for a sign s and a k from 1 to 2^53, both uniform, b = 1/epsilon, every step rounded.

    An output can result only from k with b |log(k 2^-53)| equal to |output - count| up to rounding: half a unit in the last
    place of the sum, and relative errors of 2^-53 each for the logarithm, b and the product. All these k are tried. Where
    two doubles are within LOG_ERROR of the logarithm, both are accepted. So an output counts as impossible only if it is
    impossible for every permitted rounding of the logarithm.
    """
    require_length(output, 1)
    (wanted,), count, scale = output, float(mp.fsum(bits(dataset))), 1 / float(epsilon)
    if not mp.isfinite(wanted):
        return -mp.inf
    distance = abs(wanted - count)
    slack = (mp.mpf(np.spacing(abs(float(wanted)))) + 4 * mp.mpf(2) ** -53 * distance) / scale
    nearest, furthest = ((distance / scale + side * slack) for side in (-1, 1))
    first = max(1, int(mp.floor(mp.exp(-furthest) * 2**53)))
    last = min(2**53, int(mp.ceil(mp.exp(-nearest) * 2**53)))
    ways = sum(
        any(count + sign * (scale * value) == wanted for value in _logarithms(k))
        for k in range(first, last + 1)
        for sign in (-1, 1)
    )
    return mp.log(ways) - 54 * mp.log(2)


def _logarithms(k: int) -> list[float]:
    """The doubles that a computer may return for log(k 2^-53), given LOG_ERROR."""
    exact = mp.log(mp.mpf(k) / 2**53)
    middle = float(exact)
    around = (middle, float(np.nextafter(middle, -np.inf)), float(np.nextafter(middle, np.inf)))
    return [value for value in around if abs(value - exact) <= mp.mpf(LOG_ERROR) * mp.mpf(np.spacing(abs(middle)))]


def _snapping(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The count plus Laplace noise of scale b = (1 + 2^-49 B)/epsilon, rounded to a multiple of L, clipped to B = 256.

    L is the smallest power of two that is at least b (Mironov 2012).
    """
    require_length(output, 1)
    bound = mp.mpf(256)
    scale = (1 + bound * mp.mpf(2) ** -49) / epsilon
    unit = mp.mpf(2) ** mp.ceil(mp.log(scale, 2))
    (snapped,), count = output, mp.fsum(bits(dataset))
    if abs(snapped) > bound or (abs(snapped) < bound and mp.frac(snapped / unit) != 0):
        return -mp.inf
    edge = unit * (mp.ceil(bound / unit) - mp.mpf(1) / 2)  # beyond this edge the output is clipped to the bound
    low = edge if snapped == bound else -mp.inf if snapped == -bound else snapped - unit / 2
    high = -edge if snapped == -bound else mp.inf if snapped == bound else snapped + unit / 2
    return mp.log(_laplace_between((low - count) / scale, (high - count) / scale))


def _laplace_between(low: Number, high: Number) -> Number:
    """P(low < Z < high) for standard Laplace noise."""
    if low >= 0:
        low, high = -high, -low
    below = mp.exp(low) / 2
    return (mp.exp(high) / 2 if high <= 0 else 1 - mp.exp(-high) / 2) - below


def _randomized_response(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Each bit is kept with probability e^epsilon/(1 + e^epsilon)."""
    values = bits(dataset)
    require_length(output, len(values))
    if any(value not in (0, 1) for value in output):
        return -mp.inf
    kept = sum(value == bit for value, bit in zip(output, values, strict=True))
    return kept * epsilon - len(values) * mp.log1p(mp.exp(epsilon))


def _posterior_of_noisy_bits(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """(1 + K, 1 + n - K) for K ones after randomised response on each of n bits."""
    values = bits(dataset)
    n, ones = len(values), int(mp.fsum(values))
    require_length(output, 2)
    if output[0] + output[1] != n + 2 or output[0] - 1 not in range(n + 1):
        return -mp.inf
    keep, released = 1 / (1 + mp.exp(-epsilon)), int(output[0]) - 1
    ways = [
        mp.binomial(ones, k)
        * mp.binomial(n - ones, released - k)
        * keep ** (n - ones - released + 2 * k)
        * (1 - keep) ** (ones + released - 2 * k)
        for k in range(max(0, released - n + ones), min(ones, released) + 1)
    ]
    return mp.log(mp.fsum(ways))


def _noisy_posterior(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Both parameters of the posterior Beta(1 + k, 1 + n - k) with noise of scale 2/epsilon."""
    values = bits(dataset)
    ones = mp.fsum(values)
    return log_laplace([1 + ones, 1 + len(values) - ones], output, [2 / epsilon] * 2)


def _gaussian(sigma_of: Callable[[Number, Number], Number]) -> LogDensity:
    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        require_length(output, 1)
        sigma = sigma_of(epsilon, mp.mpf(GAUSSIAN_DELTA))
        return -(((output[0] - mp.fsum(bits(dataset)[:5])) / sigma) ** 2) / 2 - mp.log(sigma * mp.sqrt(2 * mp.pi))

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
    values = sorted(numbers(dataset))
    if not values or values[0] < 0 or values[-1] > 1:
        raise EpsilometerError("the witness's records must be values in [0, 1], and there must be some")
    n, m = len(values), (len(values) + 1) // 2

    def value_at_rank(rank: int) -> Number:
        return mp.mpf(0) if rank < 1 else mp.mpf(1) if rank > n else values[rank - 1]

    spread = [
        mp.exp(-beta * k) * max(value_at_rank(m + t) - value_at_rank(m + t - k - 1) for t in range(k + 2))
        for k in range(n + 1)
    ]
    return values[m - 1], max(spread)


def _smooth_median(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Noise of density sqrt(2)/(pi (1 + z^4)) times S/beta, beta = epsilon/10."""
    require_length(output, 1)
    centre, sensitivity = _median_and_smooth_sensitivity(dataset, epsilon / 10)
    scale = 10 * sensitivity / epsilon
    return mp.log(mp.sqrt(2) / mp.pi) - mp.log1p(((output[0] - centre) / scale) ** 4) - mp.log(scale)


def _smooth_median_as_printed(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Laplace noise of standard deviation S/epsilon."""
    centre, sensitivity = _median_and_smooth_sensitivity(dataset, epsilon / 10)
    return log_laplace([centre], output, [sensitivity / (mp.sqrt(2) * epsilon)])


def _naive_bayes(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Histograms of label, (label, x_1) and (label, x_2), with noise of scale 2 * 3/epsilon on every count.

    Records are (x_1, x_2, label) in {0, 1} x {0, 1, 2} x {0, 1}.
    """
    rows = table(dataset, 3)
    counts = _counts([row[2] for row in rows], range(2))
    for feature, size in enumerate((2, 3)):
        counts += _counts([(row[2], row[feature]) for row in rows], list(product(range(2), range(size))))
    return log_laplace(counts, output, [6 / epsilon] * len(counts))


TREE_VALUES = (2, 3, 2)
TREE_HEIGHT, TREES = 2, 2


def _decision_tree(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """The labels' counts in each leaf of two random trees of height 2, with noise of scale 2 * 2/epsilon on every count."""
    rows = table(dataset, len(TREE_VALUES) + 1)
    _counts(rows, [list(cell) for cell in product(*map(range, TREE_VALUES), range(2))])
    leaves = [path for tree in range(TREES) for path in _leaves(stream(0, "random decision tree", tree), {})]
    counts = [
        mp.mpf(sum(row[-1] == label and all(row[feature] == value for feature, value in path.items()) for row in rows))
        for path in leaves
        for label in range(2)
    ]
    return log_laplace(counts, output, [2 * TREES / epsilon] * len(counts))


def _leaves(rng: np.random.Generator, path: dict[int, int]) -> list[dict[int, int]]:
    """The leaves of the public structure, depth first: every node splits on a random feature not yet used on its path."""
    if len(path) == TREE_HEIGHT:
        return [path]
    feature = int(rng.choice([number for number in range(len(TREE_VALUES)) if number not in path]))
    return [leaf for value in range(TREE_VALUES[feature]) for leaf in _leaves(rng, {**path, feature: value})]


def _k_means(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Two Lloyd iterations in [-1, 1]^2 from two public centres; sizes and sums are released with noise of scale 6/epsilon.

    A new centre is the noisy sum divided by the noisy size, clipped to the square; it stays if that size is below 1.
    """
    points = table(dataset, 2)
    if any(abs(coordinate) > 1 for point in points for coordinate in point):
        raise EpsilometerError("the witness's points must be in [-1, 1]^2")
    half = mp.mpf(1) / 2
    centres = [[half, half], [-half, -half]]
    answers: list[Number] = []
    require_length(output, 12)
    for sizes, sums in ((output[0:2], output[2:6]), (output[6:8], output[8:12])):
        nearest = [
            min(range(2), key=lambda c: sum((x - m) ** 2 for x, m in zip(p, centres[c], strict=True))) for p in points
        ]
        clusters = [[p for p, c in zip(points, nearest, strict=True) if c == number] for number in range(2)]
        answers += [mp.mpf(len(cluster)) for cluster in clusters]
        answers += [mp.fsum(p[axis] for p in cluster) for cluster in clusters for axis in range(2)]
        moved = [
            [min(max(s / size, -1), 1) for s in sums[2 * c : 2 * c + 2]] if size >= 1 else centres[c]
            for c, size in enumerate(sizes)
        ]
        centres = moved
    return log_laplace(answers, output, [6 / epsilon] * 12)


def _k_anonymous_table(epsilon: Number, dataset: Any, output: list[Number]) -> Number:  # noqa: ARG001
    """The number of rows by age band, gender, smoker and diagnosis; 0 in groups by the first three with fewer than two rows.

    Records are (age, gender, zip 191, smoker, diagnosis). The release is deterministic.
    """
    rows = [((row[0] // 10 - 5), row[1], row[3], row[4]) for row in table(dataset, 5)]
    cells = list(product(range(2), range(2), range(2), range(8)))
    groups = [cell[:3] for cell in cells]
    counts = _counts(rows, cells)
    shared = {group: sum(count for count, own in zip(counts, groups, strict=True) if own == group) for group in groups}
    released = [count if shared[group] >= 2 else mp.mpf(0) for count, group in zip(counts, groups, strict=True)]
    require_length(output, len(cells))
    return mp.mpf(0) if released == output else -mp.inf


DEFINITIONS: dict[str, Definition] = {
    "beta_bernoulli_input": Definition(_posterior_of_noisy_bits),
    "beta_bernoulli_output": Definition(_noisy_posterior),
    "decision_tree": Definition(_decision_tree),
    "full_batch_amplified": Definition(_laplace_count(lambda epsilon: 1 / _epsilon_before_sampling(epsilon)), "add-remove"),
    "gaussian_analytic": Definition(_gaussian(_analytic_sigma), delta=float(GAUSSIAN_DELTA)),
    "gaussian_classic": Definition(_gaussian(_classic_sigma), delta=float(GAUSSIAN_DELTA)),
    "geometric_counts": Definition(_geometric_counts),
    "geometric_reused_noise": Definition(_reused_noise),
    "histogram_inverse_scale": Definition(_histogram(*[lambda epsilon: epsilon] * BINS), "add-remove"),
    "histogram_wrong_adjacency": Definition(_histogram(*[_reciprocal()] * BINS)),
    "k_anonymity": Definition(_k_anonymous_table),
    "k_means": Definition(_k_means, "add-remove"),
    "laplace_count": Definition(_laplace_count(_reciprocal(), 5)),
    "laplace_difference_attack": Definition(_difference_attack),
    "laplace_floating_point": Definition(_floating_point),
    "laplace_half_scale": Definition(_laplace_count(_reciprocal(2))),
    "laplace_one_byte_seed": Definition(_one_byte_seed),
    "laplace_standard_deviation": Definition(_laplace_count(lambda epsilon: 1 / (mp.sqrt(2) * epsilon), 5)),
    "naive_bayes": Definition(_naive_bayes),
    "parallel_composition": Definition(_histogram(_reciprocal(), _reciprocal(0.5)), "add-remove"),
    "parallel_composition_as_printed": Definition(_histogram(_reciprocal(), _reciprocal())),
    "parallel_composition_replace_one": Definition(_histogram(*[_reciprocal(0.5)] * 2)),
    "randomized_response": Definition(_randomized_response),
    "sequential_composition": Definition(_sequential_composition),
    "smooth_median": Definition(_smooth_median),
    "smooth_median_as_printed": Definition(_smooth_median_as_printed),
    "snapping": Definition(_snapping),
    "subsampled_count": Definition(_subsampled_count, "add-remove"),
}
