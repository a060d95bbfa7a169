"""The checks of cs860, Kamath's lecture 13 on private risk minimisation: output, objective and gradient perturbation.

The lecture's risk is a sum over records, F(theta) = sum_i l(theta; x_i, y_i), over a set C of diameter |C|; l is convex and
L-Lipschitz. It does not say here which data sets are neighbours; unless a check says otherwise, a record is exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations, product

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtr
from scipy.stats import binom

from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.claims.shared import bounded, catalogue_shares, either, largest_share, listed
from epsilometer.core import Array, LabelledData, NeighbouringPair
from epsilometer.erm import (
    LOGISTIC,
    Distance,
    Hinge,
    Huber,
    Loss,
    Objective,
    SphericalNoise,
    Squared,
    minimise_roughly,
    minimiser,
)
from epsilometer.erm.kinks import minimise_distance
from epsilometer.erm.losses import MarginLoss
from epsilometer.erm.objective import labelled
from epsilometer.mechanisms.accounting import sampled_delta
from epsilometer.mechanisms.approximate_minimum import ApproximateMinimumPerturbation
from epsilometer.mechanisms.gaussian import analytic_sigma, classic_sigma
from epsilometer.mechanisms.gradient_perturbation import (
    AccountedGradientPerturbation,
    FullBatchGradientPerturbation,
    GradientPerturbation,
    PrintedGradientPerturbation,
)
from epsilometer.mechanisms.neighbours import labelled_records, opposite_labels, saturated_opponents
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11, ObjectivePerturbationKST12
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.mechanisms.randomized_response import RandomizedResponse

DELTA = 1e-5
NO_NOISE = 1e12
"""An epsilon at which gradient perturbation adds next to no noise: Algorithms 1 and 2 themselves."""


def spent_share(evidence: Evidence, *mechanisms: str) -> float:
    """The largest loss of these mechanisms as a share of what they promise, from the table of verdicts."""
    return max(largest_share(catalogue_shares(evidence, mechanism)) for mechanism in mechanisms)


# The losses: gradients, Lipschitz constants, convexity


def _on_a_line(loss: Loss, length: float, radius: float) -> tuple[Array, Array]:
    """Parameters theta along a record of that length, and the loss there: no direction is steeper."""
    along = np.linspace(-radius, radius, 20_001)
    if isinstance(loss, Distance):
        return along, np.abs(along - length)
    return along, loss.value(length * along)


def steepest(loss: Loss, length: float, radius: float) -> float:
    """The largest difference quotient |l(a) - l(b)|/|a - b|, which for a convex loss is one of adjacent points."""
    along, values = _on_a_line(loss, length, radius)
    return float(np.max(np.abs(np.diff(values) / np.diff(along))))


def measure_lipschitz_gradient(evidence: Evidence) -> Measured:  # noqa: ARG001
    """For each loss of a margin on |theta| <= 1: its largest gradient as a share of its largest difference quotient."""
    losses: dict[str, MarginLoss] = {"logistic": LOGISTIC, "hinge": Hinge(), "squared": Squared(1.0), "Huber": Huber(0.5)}
    shares = {}
    for name, loss in losses.items():
        along = np.linspace(-1.0, 1.0, 20_001)
        shares[name] = float(np.max(np.abs(loss.slope(along)))) / steepest(loss, 1.0, 1.0)
    return Measured(shares)


def decide_lipschitz_gradient(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = max(numbers.values())
    sentence = f"The longest gradient is {share:.6g} times the largest difference quotient, over {len(numbers)} losses."
    return either(share <= 1 + tolerances["slack"], sentence, "A gradient is longer than the Lipschitz constant.")


def measure_claimed_slope(loss: Loss, lengths: Sequence[float], constants: Sequence[float], evidence: Evidence) -> Measured:  # noqa: ARG001
    """The steepest slope for records of some lengths, as a share of the constant that is claimed for each."""
    pairs = zip(lengths, constants, strict=True)
    return Measured({f"share_at_length_{x:g}": steepest(loss, x, 100.0) / constant for x, constant in pairs})


def decide_claimed_slope(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"The steepest slope is {listed(numbers.values())} of the constant, for {len(numbers)} lengths of a record."
    return bounded(max(numbers.values()), sentence, tolerances, "The loss is steeper than that.")


def measure_slope_far_out(loss: Loss, evidence: Evidence) -> Measured:  # noqa: ARG001
    """The steepest slope for a record of length 1, within two radii."""
    return Measured({f"within_{radius:g}": steepest(loss, 1.0, radius) for radius in (100.0, 10_000.0)})


def decide_slope_far_out(numbers: Numbers, tolerances: Numbers) -> Decision:
    near, far = numbers["within_100"], numbers["within_10000"]
    sentence = f"For a record of length 1 the steepest slope is {near:.4g} where |theta| <= 100, {far:.4g} where <= 10,000."
    if far <= near * (1 + tolerances["growth"]):
        return Decision("holds", sentence)
    missing = (
        "No L is given, and none holds for all theta; it depends on C and on the range of x and y. We assumed |x| <= 1, "
        "|y| <= 1 and a ball of radius R, where L = 2 (1 + R)."
    )
    return Decision("underspecified", sentence, instead=missing)


def measure_convex(evidence: Evidence) -> Measured:
    """How far the middle of a chord lies below the loss, at worst, over random chords, as a share of the chord's values."""
    rng = evidence.stream("convexity")
    ends = rng.uniform(-20, 20, (2, 20_000))
    functions: dict[str, Callable[[Array], Array]] = {
        "linear regression": Squared(1.0).value,
        "logistic": LOGISTIC.value,
        "geometric median": lambda theta: np.abs(theta - 1),
        "hinge": Hinge().value,
    }
    excess = {}
    for name, value in functions.items():
        chord = (value(ends[0]) + value(ends[1])) / 2
        excess[name] = float(np.max((value(ends.mean(axis=0)) - chord) / (1 + chord)))
    return Measured(excess)


def decide_convex(numbers: Numbers, tolerances: Numbers) -> Decision:
    worst = max(numbers.values())
    sentence = f"Over 20,000 chords of each of {len(numbers)} losses, the middle exceeds the chord by at most {worst:.1g}."
    return either(worst <= tolerances["slack"], sentence, "One of the losses is not convex.")


def measure_mean(evidence: Evidence) -> Measured:
    """By how much the sum of squared distances exceeds that at the mean, over n times the distance from it squared."""
    rng = evidence.stream("mean")
    points, others = rng.standard_normal((50, 3)), rng.standard_normal((500, 3))
    mean = points.mean(axis=0)

    def risk(theta: Array) -> Array:
        return np.sum((theta[:, None] - points) ** 2, axis=(1, 2))

    lead = (risk(others) - risk(mean[None])) / (len(points) * np.sum((others - mean) ** 2, axis=1))
    return Measured({"least_lead": float(np.min(lead))})


def decide_mean(numbers: Numbers, tolerances: Numbers) -> Decision:
    lead = numbers["least_lead"]
    sentence = f"At 500 other points the sum exceeds that at the mean by at least {lead:.6g} n times the distance squared."
    return either(lead > tolerances["least"], sentence, "Another point than the mean has a smaller sum.")


# Minimisers without noise


def measure_median(evidence: Evidence) -> Measured:
    """Of 200 sets of 11 numbers: how often the median is one of them, and how often exchanging one record moves it."""
    rng = evidence.stream("median")
    records, moves = 0, 0
    for _ in range(200):
        points = rng.standard_normal((11, 1))
        other = points.copy()
        other[np.argmax(points)] = points.min() - 1
        here, there = minimise_distance(points, 0.0), minimise_distance(other, 0.0)
        records += int(np.any(points == here))
        moves += int(here[0] != there[0])
    return Measured({"a_record": records / 200, "moved": moves / 200})


def decide_median(numbers: Numbers, tolerances: Numbers) -> Decision:
    record, moved = numbers["a_record"], numbers["moved"]
    sentence = (
        f"Of 200 medians of 11 numbers {record:.0%} are one of the numbers, and {moved:.0%} move when one is exchanged: "
        "without noise, two outputs that exclude each other."
    )
    return either(min(record, moved) >= tolerances["always"], sentence, "The median is not always one of the records.")


def measure_support_vectors(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How far the minimiser of a sum of hinge losses moves, as a share of its length, when records leave or come."""
    support = [((0.15, 0.2), 1.0), ((-0.15, 0.2), 1.0)]
    others = [((0.3, 0.9), 1.0), ((-0.3, 0.9), 1.0), ((0.2, -0.9), -1.0)]
    closer = ((0.0, 0.05), 1.0)

    def fitted(records: Sequence[tuple[Sequence[float], float]]) -> Array:
        return minimiser(Hinge(), labelled_records(records), 1e-3 / len(records))

    whole = fitted([*support, *others])
    changed = {"others_left_out": support, "one_left_out": [support[0], *others], "one_closer": [*support, *others, closer]}
    return Measured({name: float(np.linalg.norm(fitted(r) - whole) / np.linalg.norm(whole)) for name, r in changed.items()})


def decide_support_vectors(numbers: Numbers, tolerances: Numbers) -> Decision:
    others, left, closer = (numbers[name] for name in ("others_left_out", "one_left_out", "one_closer"))
    sentence = (
        f"Leaving out all but the two support vectors moves theta by {others:.2g} of its length, leaving one of them out "
        f"by {left:.2g}, and one closer point by {closer:.2g}."
    )
    true = others <= tolerances["slack"] and min(left, closer) >= tolerances["dramatic"]
    return either(true, sentence, "Other records matter too, or these do not much.")


def measure_neighbours(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How far the minimiser moves, as a share of 2/lambda, when a record is exchanged, and when it is removed."""
    lam, pair = 4.0, opposite_labels(8)
    rest = labelled_records([((0.0,), 1.0)], [7.0])
    first, second = (minimiser(Hinge(), data, lam / 8) for data in (pair.first, pair.second))
    without = minimiser(Hinge(), rest, lam / 7)
    moved = {"exchanged": first - second, "removed": first - without}
    return Measured({name: float(np.linalg.norm(shift)) * lam / 2 for name, shift in moved.items()})


def decide_neighbours(numbers: Numbers, tolerances: Numbers) -> Decision:
    exchanged, removed = numbers["exchanged"], numbers["removed"]
    sentence = f"A record moves the minimiser by {exchanged:.4g} of 2/lambda if exchanged, by {removed:.4g} if removed."
    if abs(exchanged - removed) <= tolerances["same"]:
        return Decision("holds", sentence)
    missing = (
        "The text removes and adds points, but calibrates with a fixed n and a factor 2 in Lemma 1; we assumed that a "
        "record is exchanged."
    )
    return Decision("underspecified", sentence, instead=missing)


def measure_input_perturbation(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Records for which the share of ones is known to a standard error of 0.01 at epsilon = 1, locally and centrally.

    A randomised bit, made unbiased, has standard deviation sqrt(1/4 - gamma^2)/(2 gamma); a count has noise sqrt(2)/epsilon.
    """
    gamma, error = RandomizedResponse.from_epsilon(1.0).gamma, 0.01
    local = (math.sqrt(0.25 - gamma**2) / (2 * gamma) / error) ** 2
    return Measured({"local": local, "central": math.sqrt(2) / error})


def decide_input_perturbation(numbers: Numbers, tolerances: Numbers) -> Decision:
    local, central = numbers["local"], numbers["central"]
    sentence = (
        f"For a share of ones to within 0.01 at epsilon = 1, randomised inputs need {local:,.0f} records, a noisy count "
        f"{central:,.0f}."
    )
    return either(local >= tolerances["more"] * central, sentence, "Perturbing the input needs no more data here.")


# Regularisation: the polynomial


def _ridge(x: Array, y: Array, degree: int, lam: float) -> Array:
    """The coefficients that minimise sum_i (p(x_i) - y_i)^2 + lam |theta|^2; at lam = 0, the shortest that do."""
    powers = np.vander(x, degree + 1, increasing=True)
    stacked = np.vstack([powers, math.sqrt(lam) * np.eye(degree + 1)])
    return np.asarray(np.linalg.lstsq(stacked, np.append(y, np.zeros(degree + 1)), rcond=1e-13)[0], dtype=float)


def _points(evidence: Evidence) -> tuple[Array, Array]:
    rng = evidence.stream("polynomial")
    return np.linspace(-1, 1, 9) + rng.uniform(-0.05, 0.05, 9), rng.standard_normal(9)


def _fit_risk(x: Array, y: Array) -> float:
    theta = _ridge(x, y, len(x), 0.0)
    return float(np.sum((np.vander(x, len(x) + 1, increasing=True) @ theta - y) ** 2))


def measure_interpolation(evidence: Evidence) -> Measured:
    """What a polynomial of degree n leaves of the risk: for distinct x, and where two points share x but not y."""
    x, y = _points(evidence)
    equal_x, other_y = x.copy(), y.copy()
    equal_x[1], other_y[:2] = equal_x[0], (1.0, -1.0)
    return Measured({"distinct": _fit_risk(x, y), "equal_x": _fit_risk(equal_x, other_y)})


def decide_interpolation(numbers: Numbers, tolerances: Numbers) -> Decision:
    distinct, equal = numbers["distinct"], numbers["equal_x"]
    sentence = f"The least risk on 9 points is {distinct:.1g} if their x differ, {equal:.3g} if two of them share an x."
    if max(distinct, equal) <= tolerances["slack"]:
        return Decision("holds", sentence)
    if distinct <= tolerances["slack"]:
        missing = "That no two x are equal is not said; we assumed it. Degree n - 1 would do: with n, theta is not unique."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="The polynomial does not pass through the points.")


def measure_holds_back(evidence: Evidence) -> Measured:
    """The largest shift of the coefficients when one y changes its sign, without and with regularisation."""
    x, y = _points(evidence)

    def largest(lam: float) -> float:
        shifts = [_ridge(x, np.where(np.arange(9) == i, -y, y), 9, lam) - _ridge(x, y, 9, lam) for i in range(9)]
        return max(float(np.linalg.norm(shift)) for shift in shifts)

    return Measured({"free": largest(0.0), "regularised": largest(0.1)})


def decide_holds_back(numbers: Numbers, tolerances: Numbers) -> Decision:
    free, regularised = numbers["free"], numbers["regularised"]
    sentence = (
        f"One y that changes its sign moves the coefficients by up to {free:.3g} without a regulariser, "
        f"{regularised:.3g} with lambda = 0.1."
    )
    return either(free >= tolerances["less"] * regularised, sentence, "The regulariser hardly helps here.")


def measure_overfitting(evidence: Evidence) -> Measured:
    """The mean squared error at 200 new x of degree-n polynomials through 9 noisy points of a sine, over 50 draws."""
    rng, errors = evidence.stream("overfitting"), {"free": 0.0, "regularised": 0.0}
    for _ in range(50):
        x = np.linspace(-1, 1, 9) + rng.uniform(-0.05, 0.05, 9)
        y, new = np.sin(3 * x) + 0.3 * rng.standard_normal(9), rng.uniform(-1, 1, 200)
        for name, lam in (("free", 0.0), ("regularised", 0.1)):
            predicted = np.vander(new, 10, increasing=True) @ _ridge(x, y, 9, lam)
            errors[name] += float(np.mean((predicted - np.sin(3 * new)) ** 2)) / 50
    return Measured(errors)


def decide_overfitting(numbers: Numbers, tolerances: Numbers) -> Decision:
    free, regularised = numbers["free"], numbers["regularised"]
    sentence = (
        f"The mean squared error at new points is {free:.3g} without a regulariser, {regularised:.3g} with lambda = 0.1."
    )
    return either(free >= tolerances["less"] * regularised, sentence, "The regulariser does not help with new points.")


def measure_formalised(evidence: Evidence) -> Measured:
    """The shift of the coefficients for lambda = 1 when one y of size 1, or 1,000, changes its sign, as a share of 2n."""
    x, y = _points(evidence)

    def share(size: float) -> float:
        up, down = (np.append(y[:-1], value) for value in (size, -size))
        return float(np.linalg.norm(_ridge(x, up, 9, 1.0) - _ridge(x, down, 9, 1.0))) / (2 * len(x))

    return Measured({"small_y": share(1.0), "large_y": share(1000.0)})


def decide_formalised(numbers: Numbers, tolerances: Numbers) -> Decision:
    small, large = numbers["small_y"], numbers["large_y"]
    sentence = (
        f"At lambda = 1 a record with |y| = 1 moves theta by {small:.3g} of 2n/lambda, one with |y| = 1,000 by {large:.3g}."
    )
    instead = "The lemma needs a 1-Lipschitz loss; the squared loss is none, unless x, y and theta are bounded."
    return either(max(small, large) <= 1 + tolerances["slack"], sentence, instead)


def measure_lambda_limits(evidence: Evidence) -> Measured:
    """How far a cubic is from least squares at lambda = 0, and its coefficients from 0 at lambda = 1e12."""
    x, y = _points(evidence)
    plain = np.polynomial.polynomial.polyfit(x, y, 3)
    zero, huge = _ridge(x, y, 3, 0.0), _ridge(x, y, 3, 1e12)
    return Measured({"zero": float(np.max(np.abs(zero - plain))), "infinite": float(np.max(np.abs(huge)))})


def decide_lambda_limits(numbers: Numbers, tolerances: Numbers) -> Decision:
    zero, infinite = numbers["zero"], numbers["infinite"]
    sentence = (
        f"A cubic at lambda = 0 differs from least squares by {zero:.1g}; at lambda = 1e12 its coefficients are at "
        f"most {infinite:.1g}."
    )
    return either(max(zero, infinite) <= tolerances["slack"], sentence, "One of the limits is another.")


# Output perturbation

SIZES = (1, 8, 1000)
LEMMA_LAM = 4.0


@cache
def _moved(evidence: Evidence) -> dict[str, float]:  # noqa: ARG001
    """|theta - theta'| as a share of 2/lambda for the lecture's sum, on the worst pairs known, by the number of records."""

    def shift(loss: Loss, pair: NeighbouringPair, n: int, lam: float) -> float:
        first, second = (minimiser(loss, data, lam / n) for data in (pair.first, pair.second))
        return float(np.linalg.norm(first - second)) * lam / 2

    moved = {f"hinge_at_{n}": shift(Hinge(), opposite_labels(n), n, LEMMA_LAM) for n in SIZES}
    return moved | {"logistic_at_200000": shift(LOGISTIC, saturated_opponents(), 200_000, 20.0)}


def measure_lemma_1(evidence: Evidence) -> Measured:
    return Measured(_moved(evidence))


def _records(name: str) -> int:
    return int(name.rpartition("_")[2])


def decide_lemma_1(numbers: Numbers, tolerances: Numbers) -> Decision:
    """As printed the bound is 2n/lambda; its looseness is reported at the largest number of records."""
    shown = ", ".join(f"{share:.4g} (n = {_records(name):,})" for name, share in numbers.items())
    sentence = f"The worst pairs move the minimiser by this multiple of 2/lambda: {shown}; the lemma allows n."
    if max(share / _records(name) for name, share in numbers.items()) > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="No bound of this form was found to hold.")
    largest = max(numbers, key=_records)
    factor = _records(largest) / numbers[largest]
    if factor * tolerances["tight"] > 1:
        return Decision("holds, loosely", sentence, factor=factor, instead="2/lambda holds for this sum, whatever n is.")
    return Decision("holds", sentence)


def decide_lemma_1_cited(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The corollary's 2/(n Lambda), for the mean loss plus Lambda N, is 2/lambda for the sum, as Lambda = lambda/n."""
    reached, largest = max(numbers.values()), max(map(_records, numbers))
    sentence = (
        f"The corollary's constant is 2/lambda for this sum, and the worst pair reaches {reached:.6g} of it; the printed "
        f"one is {largest:,} times as large at n = {largest:,}."
    )
    if largest <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    instead = "2/lambda for the sum of losses, 2/(n lambda) for their mean."
    return Decision(
        "fails as printed", sentence, instead=instead if reached <= 1 + tolerances["slack"] else "Neither holds."
    )


def measure_gaussian_output(evidence: Evidence) -> Measured:
    """What the classical noise for 2/lambda spends, and how much more noise the printed 2n/lambda gives than is needed."""
    n, lam = 8, 4.0
    printed = classic_sigma(1.0, DELTA, 2 * n / lam)
    return Measured(
        {
            "share": spent_share(evidence, "output_perturbation_gaussian"),
            "noise": printed / analytic_sigma(1.0, DELTA, 2 / lam),
        }
    )


def decide_gaussian_output(numbers: Numbers, tolerances: Numbers) -> Decision:
    share, noise = numbers["share"], numbers["noise"]
    sentence = (
        f"With noise for a sensitivity of 2/lambda, the exact audit finds {share:.3g} of the promised epsilon spent; with "
        f"2n/lambda the noise is {noise:.3g} times what is needed, for 8 records at epsilon = 1."
    )
    if share > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="More noise than that of 2/lambda is needed.")
    if noise * tolerances["tight"] > 1:
        instead = "Variance O(log(1/delta)/(lambda epsilon)^2) suffices, without n^2."
        return Decision("holds, loosely", sentence, factor=noise, instead=instead)
    return Decision("holds", sentence)


def measure_gaussian_constant(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The smallest constant in the variance that suffices at delta = 1e-5, for a sensitivity of 2/lambda, by epsilon."""
    return Measured(
        {
            f"at_{epsilon:g}": (analytic_sigma(epsilon, DELTA, 2.0) * epsilon) ** 2 / math.log(1 / DELTA)
            for epsilon in (0.1, 1.0, 10.0, 1000.0)
        }
    )


def decide_gaussian_constant(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{value:.3g} ({name.removeprefix('at_')})" for name, value in numbers.items())
    sentence = f"The least constant that suffices is, at epsilon: {shown}."
    if max(numbers.values()) <= tolerances["growth"] * numbers["at_1"]:
        return Decision("holds", sentence)
    missing = "No range of epsilon is given, and no constant serves all; we assumed epsilon <= 1."
    return Decision("underspecified", sentence, instead=missing)


# Objective perturbation


def measure_objective_gamma(evidence: Evidence) -> Measured:
    names = ("objective_perturbation_kst12", "objective_perturbation_cms11", "objective_perturbation_huber")
    return Measured({"share": spent_share(evidence, *names)})


def measure_objective_gaussian(evidence: Evidence) -> Measured:
    return Measured({"share": spent_share(evidence, "objective_perturbation_gaussian")})


def decide_objective(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    sentence = f"With the noise of the works cited, the worst pair audited spends {share:.4g} of the promised epsilon."
    return bounded(share, sentence, tolerances, "These works' noise is too small.")


def measure_objective_scale(evidence: Evidence) -> Measured:
    """Gamma noise with and without a price for the Hessian."""
    return Measured(
        {
            "priced": spent_share(evidence, "objective_perturbation_kst12"),
            "not_priced": spent_share(evidence, "objective_perturbation_general"),
        }
    )


def decide_objective_scale(numbers: Numbers, tolerances: Numbers) -> Decision:
    priced, not_priced = numbers["priced"], numbers["not_priced"]
    sentence = (
        f"Gamma noise of rate epsilon/2 spends up to {priced:.3g} of the promise if lambda >= 2c/epsilon (c bounds the "
        f"loss's curvature), and {not_priced:.3g} of it at lambda = 0.1 without that condition."
    )
    if max(priced, not_priced) <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    if priced > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="Not even a large lambda is enough.")
    missing = "The noise's scale and the least lambda are not given; we assumed those of Kifer, Smith and Thakurta 2012."
    return Decision("underspecified", sentence, instead=missing)


def measure_objective_hinge(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The probability of the output 1 exactly, with one record (1, +1) under the hinge loss, and with a record at 0.

    The minimiser of max(0, 1 - w) + lam w^2/2 + b w is 1 for all b in [-lam, 1 - lam]; that of lam w^2/2 + b w is -b/lam.
    """
    lam, rate = 0.1, 0.5
    b = _laplace_grid(rate, 200_000)
    inside, outside = (1 - b) / lam, -b / lam
    with_record = np.where(inside <= 1, inside, np.where(outside >= 1, outside, 1.0))
    return Measured({"with_record": float(np.mean(with_record == 1)), "without": float(np.mean(outside == 1))})


def decide_objective_hinge(numbers: Numbers, tolerances: Numbers) -> Decision:
    with_record, without = numbers["with_record"], numbers["without"]
    sentence = (
        f"With the hinge loss, lambda = 0.1 and noise of rate 1/2 on the line, theta is exactly 1 with probability "
        f"{with_record:.3g} if the record (1, +1) is there, and {without:.3g} if it is not."
    )
    instead = "Where the loss has a continuous derivative and a bounded curvature; here no epsilon would do."
    return either(with_record <= tolerances["slack"] or without > 0, sentence, instead)


def _laplace_grid(rate: float, size: int) -> Array:
    """The middles of `size` equally likely cells of noise with density ~ exp(-rate |b|) on the line."""
    levels = (np.arange(size) + 0.5) / size
    return np.where(levels < 0.5, np.log(2 * levels), -np.log(2 - 2 * levels)) / rate


GRADIENT_NORMS = (1e-9, 0.01, 0.03, 0.1)
CELLS, BINS = 400_000, 100


def delta_of_rough_minimum(gradient_norm: float) -> float:
    """A lower bound on delta at epsilon = 1 of objective perturbation that stops at a gradient this small.

    CMS11's calibration, eight records on the line, Huber loss; of lambda = 0.2, 1 and 5, at 1, where it does most harm.
    Equally likely cells of noise are pushed forward to bins of outputs, any set of which is an event. Where neighbouring
    cells lead to different bins, one of them may be misjudged: that much is subtracted.
    """
    mechanism, pair, loss = ObjectivePerturbationCMS11(1.0, 1.0, loss=Huber(0.5)), opposite_labels(8), Huber(0.5)
    noise, lam = mechanism.plan(8)
    assert isinstance(noise, SphericalNoise)
    linear = _laplace_grid(noise.rate, CELLS)[:, None] / 8
    objectives = [Objective.of(loss, labelled(data), lam) for data in (pair.first, pair.second)]
    outputs = [minimise_roughly(objective, linear, gradient_norm)[:, 0] for objective in objectives]
    edges = np.unique(np.quantile(np.concatenate(outputs), np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = [np.searchsorted(edges, w) for w in outputs]
    error = max(np.count_nonzero(np.diff(places)) for places in bins) * (1 + math.e) / CELLS
    first, second = (np.bincount(places, minlength=len(edges) + 1) / CELLS for places in bins)
    reached = max(float(np.sum(np.maximum(p - math.e * q, 0))) for p, q in ((first, second), (second, first)))
    return max(reached - error, 0.0)


def measure_exact_minimum(evidence: Evidence) -> Measured:
    rough = {f"delta_at_{norm:g}": delta_of_rough_minimum(norm) for norm in GRADIENT_NORMS}
    return Measured(rough | {"output_share": spent_share(evidence, "output_perturbation_stopped_early")})


def decide_exact_minimum(numbers: Numbers, tolerances: Numbers) -> Decision:
    exact, *rough = (numbers[f"delta_at_{norm:g}"] for norm in GRADIENT_NORMS)
    sentence = (
        f"Objective perturbation of 2011 that stops at a gradient of {listed(GRADIENT_NORMS[1:])} has delta at least "
        f"{listed(rough)} at its epsilon = 1, where 0 is promised; of {GRADIENT_NORMS[0]:g}, {exact:.3g}. Output "
        f"perturbation that stops early spends {numbers['output_share']:.3g} times its epsilon."
    )
    if exact > tolerances["none"]:
        return Decision("fails as printed", sentence, instead="Not even an exact minimum keeps the promise.")
    instead = "A rough minimum costs nothing on these data."
    return either(max(rough) > tolerances["harm"], sentence, instead)


def measure_approximate_minimum(evidence: Evidence) -> Measured:
    return Measured({"share": spent_share(evidence, "approximate_minimum_perturbation")})


def decide_approximate_minimum(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    sentence = f"Approximate minima perturbation of 2019, stopped at a gradient of 1e-4, spends {share:.3g} of its epsilon."
    return bounded(share, sentence, tolerances, "The second noise is too small for a rough minimum.")


def measure_floating_point(evidence: Evidence) -> Measured:
    return Measured({"share": spent_share(evidence, "laplace_floating_point"), "snapped": spent_share(evidence, "snapping")})


def decide_floating_point(numbers: Numbers, tolerances: Numbers) -> Decision:
    share, snapped = numbers["share"], numbers["snapped"]
    sentence = (
        f"The Laplace mechanism in double precision spends {share:.3g} times its epsilon by the exact audit; snapped to a "
        f"grid, {snapped:.4g} times."
    )
    return either(share > 1 + tolerances["slack"], sentence, "Floating point does no harm to the Laplace mechanism.")


COMPARED_RECORDS, COMPARED_OUTPUTS = 2000, 400


def measure_best_empirical(evidence: Evidence) -> Measured:
    """The mean excess of the mean logistic loss at (1, 1e-5), where a record is exchanged, and its standard error.

    Every method but the one in question gets its best lambda or number of steps out of a few, as if that were free. KST12 is
    for added and removed records; two of them at half of epsilon make an exchange, at delta (1 + e^(epsilon/2)).
    """
    rng = evidence.stream("best empirical")
    data = _classified(COMPARED_RECORDS, 5, rng)
    least = float(_mean_loss(data, minimiser(LOGISTIC, data, 1e-9)[None])[0])
    lams, half = (1e-3, 1e-2, 1e-1), DELTA / (1 + math.exp(0.5))
    output = [OutputPerturbation(1.0, lam, delta=DELTA) for lam in lams]
    objective = [ObjectivePerturbationKST12(0.5, lam * COMPARED_RECORDS, delta=half) for lam in lams]
    descent = [FullBatchGradientPerturbation(1.0, DELTA, 5.0, steps=steps) for steps in (10, 100)]
    approximate = ApproximateMinimumPerturbation(1.0, DELTA)
    drawn = {
        "approximate minima": [approximate.sample(data, COMPARED_OUTPUTS, rng)],
        "output": [each.sample(data, COMPARED_OUTPUTS, rng) for each in output],
        "objective": [each.sample(data, COMPARED_OUTPUTS, rng) for each in objective],
        "gradient": [each.sample_final(data, COMPARED_OUTPUTS, rng) for each in descent],
    }
    numbers = {}
    for name, choices in drawn.items():
        excess = min((_mean_loss(data, outputs) - least for outputs in choices), key=lambda each: float(each.mean()))
        numbers[name] = float(excess.mean())
        numbers[f"{name}, error"] = float(excess.std()) / math.sqrt(COMPARED_OUTPUTS)
    return Measured(numbers)


def decide_best_empirical(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Not reproduced if the method's excess is beyond `among_best` times the best one's by some standard errors."""
    means = {name: value for name, value in numbers.items() if not name.endswith(", error")}
    own, best = "approximate minima", min(means, key=lambda name: means[name])
    shown = ", ".join(f"{value:.2g} +- {numbers[f'{name}, error']:.1g} ({name})" for name, value in means.items())
    sentence = (
        f"Mean excess of the logistic loss, 2,000 records in 5 dimensions, epsilon = 1, the other methods' parameters being "
        f"chosen with hindsight: {shown}."
    )
    error = math.hypot(numbers[f"{own}, error"], tolerances["among_best"] * numbers[f"{best}, error"])
    beyond = means[own] - tolerances["among_best"] * means[best] > tolerances["deviations"] * error
    return Decision("not reproduced" if beyond else "reproduced", sentence)


def _classified(n: int, d: int, rng: np.random.Generator) -> LabelledData:
    """Records on the unit sphere, with labels that a noisy hyperplane gives them."""
    features = rng.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    noisy = features[:, 0] + 0.3 * rng.standard_normal(n)
    return LabelledData(features, np.where(noisy > 0, 1.0, -1.0))


def _mean_loss(data: LabelledData, parameters: Array, loss: MarginLoss = LOGISTIC) -> Array:
    return np.asarray(np.mean(loss.value(parameters @ data.signed.T), axis=1))


# Gradient descent


def convergence_bound(steps: int) -> float:
    """What E[F(theta_T) - F*] is at most, in units of |C| G, with eta(t) = |C|/(G sqrt(t)): 1.5 (2 + log(T+1))/sqrt(T+1).

    Shamir and Zhang 2013, Theorem 2, with the constant that their argument gives. Let w_t = theta_(t-1), N = T + 1 and
    c = |C|/G. Telescoping |w_t - w|^2 from N - k to N bounds the sum of E[F(w_t) - F(w)] by (|C|^2/2c)(sqrt(N) - sqrt(N-k))
    + (c G^2/2) sum 1/sqrt(t) for w = w_(N-k), hence the mean of the last k+1 iterates' F exceeds F(w_(N-k)) by at most
    B = (|C|^2/2c + c G^2)/sqrt(N) = 1.5 |C| G/sqrt(N). So the mean of the last k exceeds that of the last k+1 by at most
    B/k; summed over k < N, and with w = theta* for the mean of all, B (1 + H_(N-1)) <= B (2 + log N).
    """
    return 1.5 * (2 + math.log(steps + 1)) / math.sqrt(steps + 1)


def descend(slope: Callable[[Array], Array], start: Array, steps: int, rate: float, radius: float) -> Array:
    """theta_T on the line for many starts: theta_t = Proj(theta_(t-1) - rate slope/sqrt(t)) onto [-radius, radius]."""
    theta = start
    for step in range(1, steps + 1):
        theta = np.clip(theta - rate / math.sqrt(step) * slope(theta), -radius, radius)
    return theta


def _sign(theta: Array) -> Array:
    return np.where(theta < 0, -1.0, 1.0)


def last_iterate(steps: int) -> float:
    """The T-th iterate's excess, in units of |C| G/sqrt(T), on the worst function of Harvey, Liaw, Plan and Randhawa 2019.

    F(w) = max over i <= T+1 of h_i.w in R^T, on the ball of radius 1/2, with h_i = (a_1, ..., a_(i-1), -b_i, 0, ...),
    a_j = 1/(8 (T-j+1)) and b_j = sqrt(j/T)/2, whose gradients are shorter than G = 1; of equal terms the first
    leads. F* <= 0.
    """
    order = np.arange(1, steps + 1)
    a, b = 1 / (8 * (steps - order + 1)), np.sqrt(order / steps) / 2

    def terms(w: Array) -> Array:
        return np.append(0.0, np.cumsum(a * w)) - np.append(b * w, 0.0)

    w = np.zeros(steps)
    for step in range(1, steps + 1):
        leading = int(np.argmax(terms(w)))
        gradient = np.where(order <= leading, a, 0.0)
        if leading < steps:
            gradient[leading] = -b[leading]
        w = w - gradient / math.sqrt(step)
    assert np.linalg.norm(w) <= 0.5  # so that there was nothing to project
    return float(np.max(terms(w))) * math.sqrt(steps)


def measure_theorem_2(evidence: Evidence) -> Measured:
    """The largest excess over T = 1 ... 1024, as a share of the bound: |theta|, the worst function, and coin tosses.

    The coins are gradients of length 1 that point uphill with probability (1 + 1/sqrt(T))/2: F = |theta|/sqrt(T).
    """
    horizons, rng = [4**power for power in range(6)], evidence.stream("theorem 2")
    starts = np.linspace(-1, 1, 201)
    kink = max(float(np.max(np.abs(descend(_sign, starts, t, 2.0, 1.0)))) / (2 * convergence_bound(t)) for t in horizons)
    worst = max(last_iterate(t) / math.sqrt(t) / convergence_bound(t) for t in horizons[1:])
    coins = []
    for t in horizons:
        uphill = (1 + 1 / math.sqrt(t)) / 2

        def toss(theta: Array, chance: float = uphill) -> Array:
            return _sign(theta) * np.where(rng.random(theta.shape) < chance, 1.0, -1.0)

        theta = descend(toss, np.zeros(2000), t, 2.0, 1.0)
        coins.append(float(np.mean(np.abs(theta))) / math.sqrt(t) / (2 * convergence_bound(t)))
    return Measured({"kink": kink, "worst": worst, "coins": max(coins)})


def decide_theorem_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"Up to T = 1,024 the last iterate's excess is at most {numbers['kink']:.3g} (|theta|), {numbers['worst']:.3g} (the "
        f"worst function of Harvey et al.) and {numbers['coins']:.3g} (random gradients) of 1.5 |C| G (2 + log(T+1))"
        "/sqrt(T+1)."
    )
    return bounded(max(numbers.values()), sentence, tolerances, "The rate does not hold with this constant.")


def measure_any_horizon(evidence: Evidence) -> Measured:  # noqa: ARG001
    """F = |theta| on [-1, 1]: the worst excess after one step, and |C| G log(T)/sqrt(T) there."""
    excess = float(np.max(np.abs(descend(_sign, np.linspace(-1, 1, 201), 1, 2.0, 1.0))))
    return Measured({"excess": excess, "claimed": 2 * math.log(1)})


def decide_any_horizon(numbers: Numbers, tolerances: Numbers) -> Decision:
    excess, claimed = numbers["excess"], numbers["claimed"]
    sentence = f"After T = 1 step on |theta| the excess is {excess:.3g}, where |C| G log(T)/sqrt(T) is {claimed:.3g}."
    instead = "For T >= 2; or for all T with 2 + log(T+1) instead of log T."
    return either(excess <= claimed + tolerances["slack"], sentence, instead)


def measure_first_step(evidence: Evidence) -> Measured:  # noqa: ARG001
    """1/sqrt(t) at the t of the first step: 0 in Theorem 2, 1 in Algorithm 1."""
    with np.errstate(divide="ignore"):
        theorem, algorithm = (float(1 / np.sqrt(first)) for first in (0.0, 1.0))
    return Measured({"theorem_2": theorem, "algorithm_1": algorithm})


def decide_first_step(numbers: Numbers, tolerances: Numbers) -> Decision:
    theorem, algorithm = numbers["theorem_2"], numbers["algorithm_1"]
    sentence = f"The first rate is {theorem:g} |C|/G as Theorem 2 counts its steps, {algorithm:g} |C|/G as Algorithm 1 does."
    if abs(theorem - algorithm) <= tolerances["same"]:
        return Decision("holds", sentence)
    missing = "The recursion of Theorem 2 begins with t = 0; we assumed that it counts from 1, as Algorithm 1 does."
    return Decision("underspecified", sentence, instead=missing)


def measure_learning_rate(evidence: Evidence) -> Measured:  # noqa: ARG001
    """n losses |theta| on [-1, 1], T = n^2/4 or one more: excess over bound, with eta = |C|/(L sqrt(t)) and 1/n of it."""

    def share(n: int, rate: float) -> float:
        horizons = (n * n // 4, n * n // 4 + 1)
        last = [descend(lambda theta: n * _sign(theta), np.array([0.3, 1.0]), steps, rate, 1.0) for steps in horizons]
        return float(np.max(np.abs(last))) / (2 * convergence_bound(horizons[0]))

    return Measured({f"printed_at_{n}": share(n, 2.0) for n in (10, 100, 300)} | {"right_at_300": share(300, 2.0 / 300)})


def decide_learning_rate(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed = [value for name, value in numbers.items() if name.startswith("printed")]
    sentence = (
        f"On n losses |theta| after n^2/4 steps, the excess is {listed(printed)} times the bound at n = 10, 100, 300 with "
        f"eta = |C|/(L sqrt(t)), and {numbers['right_at_300']:.3g} with |C|/(n L sqrt(t))."
    )
    instead = "The learning rate |C|/(n L sqrt(t)), as Theorem 2 has it with G = nL."
    return either(max(printed) <= 1 + tolerances["slack"], sentence, instead)


def measure_enough_steps(evidence: Evidence) -> Measured:  # noqa: ARG001
    return Measured({f"at_{steps}": last_iterate(steps) for steps in (64, 512, 4096)})


def decide_enough_steps(numbers: Numbers, tolerances: Numbers) -> Decision:
    first, last = numbers["at_64"], numbers["at_4096"]
    slope = (last - first) / math.log(4096 / 64)
    sentence = (
        f"On the worst function of Harvey et al. the excess is {listed(numbers.values())} |C| G/sqrt(T) at T = 64, 512, "
        f"4,096: it grows by {slope:.3g} for each unit of log T."
    )
    instead = "A constant times (n L |C|/alpha)^2 log^2(T) steps; without the logarithm for the mean of the iterates."
    return either(last <= (1 + tolerances["growth"]) * first, sentence, instead)


def measure_gradient_count(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The exponents of n in the gradients computed until the excess of n losses |theta| stays below |C| L.

    All losses are equal, so both algorithms walk alike; one computes n gradients a step, the other one.
    """
    counts = {n: _steps_until(n, float(n)) for n in (10, 40, 160)}
    exponent = math.log(counts[160] / counts[10]) / math.log(16)
    return Measured({"full": exponent + 1, "stochastic": exponent})


def _steps_until(n: int, longest: float) -> int:
    """The last step up to (2 longest)^2 at which some start has an excess n |theta| above |C| L = 2, and one more."""
    theta, last = np.linspace(-1, 1, 201), 0
    for step in range(1, int(2 * longest) ** 2 + 1):
        theta = np.clip(theta - 2 / math.sqrt(step) * _sign(theta), -1, 1)
        if np.max(n * np.abs(theta)) > 2:
            last = step
    return last + 1


def decide_gradient_count(numbers: Numbers, tolerances: Numbers) -> Decision:
    full, stochastic = numbers["full"], numbers["stochastic"]
    sentence = (
        f"To an excess of |C| L, from n = 10 to 160, the gradients computed grow as n^{full:.3g} (all records) and "
        f"n^{stochastic:.3g} (one record)."
    )
    near = abs(full - 3) <= tolerances["exponent"] and abs(stochastic - 2) <= tolerances["exponent"]
    return either(near, sentence, "Other powers of n.")


def measure_moments(evidence: Evidence) -> Measured:
    """Exactly, over the records: the bias of n grad l_i, as a share of n L, and its second moment, as a share of n^2 L^2."""
    rng = evidence.stream("moments")
    data = _classified(30, 3, rng)
    bias, second = [], []
    losses: tuple[MarginLoss, ...] = (LOGISTIC, Hinge())
    for loss, theta in product(losses, rng.standard_normal((20, 3)) / 2):
        gradients = len(data) * loss.slope(data.signed @ theta)[:, None] * data.signed
        whole = loss.slope(data.signed @ theta) @ data.signed
        bias.append(np.linalg.norm(gradients.mean(axis=0) - whole) / len(data))
        second.append(np.mean(np.sum(gradients**2, axis=1)) / len(data) ** 2)
    return Measured({"bias": float(max(bias)), "second": float(max(second))})


def decide_moments(numbers: Numbers, tolerances: Numbers) -> Decision:
    bias, second = numbers["bias"], numbers["second"]
    sentence = f"At 40 places the estimate has a bias of {bias:.1g} nL and a second moment of at most {second:.3g} n^2 L^2."
    true = bias <= tolerances["slack"] and second <= 1 + tolerances["slack"]
    return either(true, sentence, "The estimate is biased, or longer than n L.")


def kinked(n: int) -> LabelledData:
    """A third of (1, -1) and two thirds of (1, +1): the sum of hinge losses is n/3 (2 + |theta - 1|) from theta = -1 on."""
    return labelled_records([((1.0,), 1.0), ((1.0,), 1.0), ((1.0,), -1.0)] * (n // 3))


def _least(data: LabelledData, loss: MarginLoss, radius: float) -> float:
    """The least mean loss within the radius: by a grid on the line, by projected descent for a smooth loss."""
    if data.features.shape[1] == 1:
        return float(np.min(_mean_loss(data, np.linspace(-radius, radius, 40_001)[:, None], loss)))
    theta = np.zeros((1, data.features.shape[1]))
    for _ in range(3000):
        theta = theta - 4 * loss.slope(theta @ data.signed.T) @ data.signed / len(data)
        theta *= radius / max(radius, float(np.linalg.norm(theta)))
    return float(_mean_loss(data, theta, loss)[0])


def _excess(mechanism: GradientPerturbation, data: LabelledData, size: int, rng: np.random.Generator) -> float:
    """The mean excess of the sum of losses at the final parameters."""
    final = mechanism.sample_final(data, size, rng)
    reached = float(np.mean(_mean_loss(data, final, mechanism.loss)))
    return data.n * (reached - _least(data, mechanism.loss, mechanism.radius))


def _bound_for(mechanism: GradientPerturbation, n: int, d: int) -> float:
    """The bound of Theorem 2 with G^2 = n^2 L^2 + d sigma^2, |C| being 2 radius."""
    g = math.sqrt((n * mechanism.loss.lipschitz) ** 2 + d * mechanism.sigma(n) ** 2)
    return 2 * mechanism.radius * g * convergence_bound(mechanism.number_of_steps(n))


def measure_stochastic(evidence: Evidence) -> Measured:
    """Algorithms 1 and 2 for n^2 steps: the largest excess as a share of the bound of Theorem 2 with G = n L."""
    rng, shares = evidence.stream("stochastic descent"), {"full": 0.0, "stochastic": 0.0}
    for n in (15, 60):
        problems: tuple[tuple[LabelledData, MarginLoss, float], ...] = (
            (kinked(n), Hinge(), 2.0),
            (_classified(n, 3, rng), LOGISTIC, 1.0),
        )
        for data, loss, radius in problems:
            both: dict[str, GradientPerturbation] = {
                "full": FullBatchGradientPerturbation(NO_NOISE, DELTA, radius, loss),
                "stochastic": PrintedGradientPerturbation(NO_NOISE, DELTA, radius, loss),
            }
            for name, mechanism in both.items():
                share = _excess(mechanism, data, 100, rng) / _bound_for(mechanism, n, data.features.shape[1])
                shares[name] = max(shares[name], share)
    return Measured(shares)


def decide_stochastic(numbers: Numbers, tolerances: Numbers) -> Decision:
    full, stochastic = numbers["full"], numbers["stochastic"]
    sentence = (
        f"After n^2 steps, n = 15 and 60, the mean excess is at most {full:.3g} (all records) and {stochastic:.3g} (one "
        "record) of Theorem 2's bound with G = nL."
    )
    return bounded(max(full, stochastic), sentence, tolerances, "One record at a time does worse than the bound.")


def measure_never_reached(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How far gradient descent is from the minimum: after 50 steps on a logistic risk, and after one on a quadratic."""
    theta = 0.0
    for _ in range(50):  # log(1 + e^-theta) + theta/4, smallest at log 3, with steps of 1
        theta -= 0.25 - 1 / (1 + math.exp(theta))
    quadratic = 1.0
    quadratic -= quadratic  # theta^2/2, from 1, with steps of 1
    return Measured({"logistic": abs(theta - math.log(3)), "quadratic": abs(quadratic)})


def decide_never_reached(numbers: Numbers, tolerances: Numbers) -> Decision:
    logistic, quadratic = numbers["logistic"], numbers["quadratic"]
    sentence = (
        f"With steps of 1/curvature, the distance from the minimum is {logistic:.2g} after 50 steps on a logistic risk, and "
        f"{quadratic:.2g} after 1 step on a quadratic."
    )
    instead = "As a rule: there are functions, and steps, for which it is reached."
    return either(min(logistic, quadratic) > tolerances["reached"], sentence, instead)


def measure_zero_gradient(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The mean gradient at the minimum over [-1, 1]: three in five labels positive, and all of them."""
    numbers = {}
    for name, positive in {"inside": 6, "on_the_edge": 10}.items():
        data = labelled_records([((1.0,), 1.0)] * positive + [((1.0,), -1.0)] * (10 - positive))
        low, high = -1.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _mean_slope(data, middle) < 0 else (low, middle)
        numbers[name] = abs(_mean_slope(data, high))
    return Measured(numbers)


def _mean_slope(data: LabelledData, theta: float) -> float:
    return float(np.mean(LOGISTIC.slope(theta * data.signed[:, 0]) * data.signed[:, 0]))


def decide_zero_gradient(numbers: Numbers, tolerances: Numbers) -> Decision:
    inside, edge = numbers["inside"], numbers["on_the_edge"]
    sentence = f"The mean gradient at the minimum over C is {inside:.1g} inside of C, {edge:.3g} where it is on the edge."
    instead = "At a minimum inside of C; on its edge no direction into C leads down."
    return either(max(inside, edge) <= tolerances["slack"], sentence, instead)


# Algorithm 3: utility


def measure_noisy_moment(evidence: Evidence) -> Measured:
    """The first noisy gradient of 20,000 runs: second moment over n^2 L^2 + d sigma^2, and bias in standard errors."""
    rng = evidence.stream("noisy gradient")
    data, mechanism = _classified(4, 2, rng), PrintedGradientPerturbation(1.0, loss=Hinge())
    first = mechanism.sample(data, 20_000, rng)[:, :2]
    squares = np.sum(first**2, axis=1) / (16 + 2 * mechanism.sigma(4) ** 2)
    whole = Hinge().slope(np.zeros(4)) @ data.signed
    errors = (first.mean(axis=0) - whole) / (first.std(axis=0) / math.sqrt(len(first)))
    return Measured(
        {
            "second": float(squares.mean()),
            "standard_error": float(squares.std()) / math.sqrt(len(squares)),
            "bias": float(np.max(np.abs(errors))),
        }
    )


def decide_noisy_moment(numbers: Numbers, tolerances: Numbers) -> Decision:
    second, error, bias = numbers["second"], numbers["standard_error"], numbers["bias"]
    sentence = (
        f"Over 20,000 runs the noisy gradient's second moment is {second:.4f} +- {error:.4f} of n^2 L^2 + d sigma^2, and "
        f"its mean is off by {bias:.2g} standard errors."
    )
    true = second - tolerances["deviations"] * error <= 1 and bias <= tolerances["deviations"]
    return either(true, sentence, "The gradient is biased or longer.")


UTILITY_DELTA, UTILITY_SIZES = 0.01, (60, 120, 240)


@cache
def _private_excess(evidence: Evidence, n: int, d: int, epsilon: float) -> tuple[float, float]:
    """The mean excess of Algorithm 3 on random records, and Theorem 2's bound for it."""
    rng = evidence.stream("private descent", n, d, epsilon)
    mechanism = PrintedGradientPerturbation(epsilon, UTILITY_DELTA)
    return _excess(mechanism, _classified(n, d, rng), 30, rng), _bound_for(mechanism, n, d)


def _claimed_rate(d: int, epsilon: float) -> float:
    """|C| L sqrt(d log(1/delta))/epsilon for the unit ball and L = 1."""
    return 2 * math.sqrt(d * math.log(1 / UTILITY_DELTA)) / epsilon


def measure_utility(evidence: Evidence) -> Measured:
    """The excess over Theorem 2's bound, at worst, and over the claimed rate, by epsilon and n, in 8 dimensions.

    Where the noise is so large that theta says little, the excess grows with n as that of any theta does, from below.
    """
    settings = [(60, 1, epsilon) for epsilon in (1.0, 4.0, 16.0)] + [
        (n, 8, eps) for eps in (4.0, 16.0) for n in UTILITY_SIZES
    ]
    found = {setting: _private_excess(evidence, *setting) for setting in settings}
    numbers = {"share": max(excess / bound for excess, bound in found.values())}
    for epsilon, n in product((4.0, 16.0), UTILITY_SIZES):
        numbers[f"multiple_at_{epsilon:g}_{n}"] = found[n, 8, epsilon][0] / _claimed_rate(8, epsilon)
    return Measured(numbers)


def decide_utility(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    low, high = ([numbers[f"multiple_at_{epsilon}_{n}"] for n in UTILITY_SIZES] for epsilon in (4, 16))
    sentence = (
        f"The mean excess is at most {share:.3g} of Theorem 2's bound with this G; for n = 60, 120, 240 in 8 dimensions it "
        f"is {listed(low)} (epsilon = 4) and {listed(high)} (epsilon = 16) times |C| L sqrt(d log(1/delta))/epsilon."
    )
    return bounded(share, sentence, tolerances, "The excess is beyond the bound.")


def measure_utility_large_epsilon(evidence: Evidence) -> Measured:
    """The excess as a multiple of the claimed rate, for n = 20 in 8 dimensions, by epsilon."""
    return Measured(
        {
            f"at_{epsilon:g}": _private_excess(evidence, 20, 8, epsilon)[0] / _claimed_rate(8, epsilon)
            for epsilon in (4.0, 1e3, 1e5)
        }
    )


def decide_utility_large_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"For n = 20, d = 8 the excess is {listed(numbers.values())} times the rate at epsilon = 4, 1,000, 100,000."
    instead = "|C| L (1 + sqrt(d log(1/delta))/epsilon): n^2 steps leave an excess of their own, which no epsilon removes."
    first, *later = numbers.values()
    return either(max(later) <= tolerances["growth"] * first, sentence, instead)


# Algorithm 3: privacy

STEP_GRID = tuple(product((0.1, 1.0, None), (1, 2, 10, 100), (1e-2, 1e-5, 1e-8)))
"""Epsilon (None for the largest that the proof can treat, 2 sqrt(log(1/delta))), n and delta."""


def measure_gradient_sensitivity(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How far n grad l_i moves at theta = 0, as a share of n L: from (1, +1) to (1, -1), and from (1, +1) to nothing."""
    hinge = Hinge()
    slopes = [float(hinge.slope(np.zeros(1))[0]) * y for y in (1.0, -1.0)]
    return Measured({"exchanged": abs(slopes[0] - slopes[1]), "removed": abs(slopes[0])})


def decide_gradient_sensitivity(numbers: Numbers, tolerances: Numbers) -> Decision:
    exchanged, removed = numbers["exchanged"], numbers["removed"]
    sentence = (
        f"Under the hinge loss, (1, +1) exchanged for (1, -1) moves n grad l by {exchanged:.3g} n L; counted as 0 where the "
        f"record is removed, by {removed:.3g} n L."
    )
    instead = "2 n L where a record is exchanged; n L where a missing record's gradient counts as 0."
    return either(exchanged <= 1 + tolerances["slack"], sentence, instead)


def _step(epsilon: float | None, n: int, delta: float) -> tuple[float, float]:
    """Epsilon, and how many standard deviations n L is under the printed sigma."""
    eps = 2 * math.sqrt(math.log(1 / delta)) if epsilon is None else epsilon
    return eps, n / PrintedGradientPerturbation(eps, delta).sigma(n)


def measure_step_loss(evidence: Evidence) -> Measured:  # noqa: ARG001
    """P[loss > epsilon/(2 sqrt(log(1/delta)))] over delta/2, at worst, for means n L apart and 2 n L apart; i is fixed.

    For means m standard deviations apart the loss is N(m^2/2, m^2).
    """
    worst = {"printed": 0.0, "exchanged": 0.0}
    for epsilon, n, delta in STEP_GRID:
        eps, unit = _step(epsilon, n, delta)
        limit = eps / (2 * math.sqrt(math.log(1 / delta)))
        for name, m in (("printed", unit), ("exchanged", 2 * unit)):
            worst[name] = max(worst[name], float(ndtr(m / 2 - limit / m)) / (delta / 2))
    return Measured(worst)


def decide_step_loss(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed, exchanged = numbers["printed"], numbers["exchanged"]
    sentence = (
        f"With i fixed the loss exceeds its limit with at most {printed:.2g} of the probability delta/2 for a sensitivity "
        f"of n L, {exchanged:.2g} of it for 2 n L, over {len(STEP_GRID)} settings."
    )
    return bounded(max(printed, exchanged), sentence, tolerances, "Only for smaller epsilon.")


def amplified(inner: float, n: int, size: int) -> float:
    """What randomised response to "is the one among the sampled records?" spends, by enumeration of the subsets.

    The data are a one and n - 1 zeros, or n zeros; the inner answer is inner-private.
    """
    high, low = math.exp(inner) / (1 + math.exp(inner)), 1 / (1 + math.exp(inner))
    subsets = list(combinations(range(n), size))
    yes = sum(high if 0 in subset else low for subset in subsets) / len(subsets)
    return max(abs(math.log(yes / low)), abs(math.log((1 - yes) / (1 - low))))


def measure_lemma_3(evidence: Evidence) -> Measured:  # noqa: ARG001
    """What is spent after sampling, as a share of 2 gamma epsilon', at worst, for epsilon' < 1, and beyond, at 2."""
    sizes = [(n, size) for n in (2, 4, 8) for size in range(1, n + 1)] + [(1000, 1)]
    inners = (0.01, 0.5, 0.9, 0.999)
    within = max(amplified(inner, n, size) / (2 * size / n * inner) for (n, size), inner in product(sizes, inners))
    return Measured({"share": within, "share_at_2": amplified(2.0, 1000, 1) / (2 / 1000 * 2)})


def decide_lemma_3(numbers: Numbers, tolerances: Numbers) -> Decision:
    share, beyond = numbers["share"], numbers["share_at_2"]
    sentence = (
        f"The mechanism that sampling protects least spends at most {share:.3g} of 2 gamma epsilon' for epsilon' < 1; at "
        f"epsilon' = 2 it would be {beyond:.3g}. It spends log(1 + gamma (e^epsilon' - 1))."
    )
    return bounded(share, sentence, tolerances, "log(1 + gamma (e^epsilon' - 1)) is spent.")


def sampled_tail(mu: float, q: float, limit: float) -> float:
    """The probability, in the worse direction, that the loss of (1-q) N(0,1) + q N(mu,1) against N(0,1) exceeds a limit."""
    above = (math.log1p(math.expm1(limit) / q) + mu**2 / 2) / mu
    mixture_first = (1 - q) * float(ndtr(-above)) + q * float(ndtr(mu - above))
    left = 1 + math.expm1(-limit) / q
    mixture_second = float(ndtr((math.log(left) + mu**2 / 2) / mu)) if left > 0 else 0.0
    return max(mixture_first, mixture_second)


def measure_sampled_step_loss(evidence: Evidence) -> Measured:  # noqa: ARG001
    """P[loss > epsilon/(n sqrt(log(1/delta)))] of one step, over delta/2, at worst; neighbours 2 n L apart."""
    shares = []
    for epsilon, n, delta in STEP_GRID:
        eps, unit = _step(epsilon, n, delta)
        limit = eps / (n * math.sqrt(math.log(1 / delta)))
        shares.append(sampled_tail(2 * unit, 1 / n, limit) / (delta / 2))
    return Measured({"share": max(shares)})


def decide_sampled_step_loss(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    sentence = (
        f"One step on a random record exceeds its limit with at most {share:.2g} of the probability delta/2, over "
        f"{len(STEP_GRID)} settings and the pair that dominates all others."
    )
    return bounded(share, sentence, tolerances, "The limit is exceeded more often.")


def measure_composition(evidence: Evidence) -> Measured:  # noqa: ARG001
    """What n^2 steps of epsilon/(n sqrt(log(1/delta))), each but for delta/2, come to by advanced composition.

    k steps of e are (e sqrt(2 k log(1/d)) + k e (exp(e) - 1), d)-private (Dwork, Rothblum and Vadhan 2010); d = delta/2,
    n = 100 and epsilon = 1, each as a multiple of what is promised.
    """
    n, epsilon = 100, 1.0
    step = epsilon / (n * math.sqrt(math.log(1 / DELTA)))
    total = step * n * math.sqrt(2 * math.log(2 / DELTA)) + n**2 * step * math.expm1(step)
    return Measured({"epsilon": total / epsilon, "delta": (n**2 + 1) / 2, "n": float(n)})


def decide_composition(numbers: Numbers, tolerances: Numbers) -> Decision:
    epsilon, delta = numbers["epsilon"], numbers["delta"]
    sentence = (
        f"For n = {numbers['n']:g} at epsilon = 1, delta = 1e-5, advanced composition gives {epsilon:.3g} epsilon and "
        f"{delta:,.0f} delta."
    )
    instead = (
        "The argument needs steps that fail with delta/(2 n^2) and a smaller share of epsilon; the noise has room for that."
    )
    return either(max(epsilon, delta) <= 1 + tolerances["slack"], sentence, instead)


def measure_algorithm_3(evidence: Evidence) -> Measured:
    """At delta = 1e-5, within the proof's range: the accountant's delta over the promised one, and the noise to spare."""
    settings = list(product((4, 10, 100), (0.1, 1.0, 6.5)))
    spent, spare = [], []
    for n, epsilon in settings:
        sigma = PrintedGradientPerturbation(epsilon, DELTA).sigma(n)
        spent.append(sampled_delta(epsilon, 2 * n / sigma, 1 / n, n**2) / DELTA)
        spare.append(sigma / AccountedGradientPerturbation(epsilon, DELTA).sigma(n))
    return Measured(
        {
            "delta_share": max(spent),
            "least_spare": min(spare),
            "most_spare": max(spare),
            "audited": spent_share(evidence, "gradient_perturbation_printed"),
        }
    )


def decide_algorithm_3(numbers: Numbers, tolerances: Numbers) -> Decision:
    least, most, audited = (numbers[name] for name in ("least_spare", "most_spare", "audited"))
    sentence = (
        f"For 0.1 <= epsilon <= 6.5 and n = 4 to 100 an accountant vouches for the promise with {least:.3g} to {most:.3g} "
        f"times less noise; audits find at most {audited:.3g} of epsilon spent."
    )
    if audited > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="More noise is needed.")
    if numbers["delta_share"] > 1:
        missing = "The accountant does not vouch for it, the audits do not refute it; we assumed nothing more."
        return Decision("underspecified", sentence, instead=missing)
    if least * tolerances["tight"] > 1:
        return Decision("holds, loosely", sentence, factor=least)
    return Decision("holds", sentence)


def transcript_delta(epsilon: float, n: int) -> float:
    """A lower bound on delta at epsilon of all noisy gradients of Algorithm 3, by one event.

    With a loss of slope 1 throughout C (Huber, radius 1/2), one record against n - 1 others or with them: a step draws from
    (1-q) N(0,1) + q N(mu,1), or from N(0,1), q = 1/n, mu = 2 n L/sigma. The event: k or more of the n^2 are above 0.7 mu,
    which in the second case has at most the probability (n^2 over k) Phi(-0.7 mu)^k.
    """
    mu = 2 * n / PrintedGradientPerturbation(epsilon, DELTA).sigma(n)
    q, steps = 1 / n, n * n
    hit = (1 - q) * float(ndtr(-0.7 * mu)) + q * float(ndtr(0.3 * mu))
    k = np.arange(1, steps + 1)
    log_other = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1) + k * log_ndtr(-0.7 * mu)
    return float(np.max(binom.sf(k - 1, steps, hit) - np.exp(np.minimum(epsilon + log_other, 700.0))))


def final_delta(epsilon: float, n: int) -> float:
    """A lower bound on delta at epsilon of the final parameters alone, on the same data.

    While all noise is below n L/2, every step goes the way of its record. So with n equal records theta_T > 0 but with
    probability n^2 Phi(-n L/(2 sigma)); and with the other one, drawn n^2 times out of n^2, theta_T < 0.
    """
    steps = n * n
    log_astray = math.log(steps) + float(log_ndtr(-n / 2 / PrintedGradientPerturbation(epsilon, DELTA).sigma(n)))
    return float(n) ** -steps * -math.expm1(min(log_astray, 0.0)) - math.exp(min(epsilon + log_astray, 700.0))


def measure_any_epsilon(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The smallest epsilons of a grid at which delta is proved to exceed 1e-5, and by how much there."""
    grid = [digit * 10.0**power for power in range(1, 7) for digit in (1, 2, 5)]
    found: dict[str, float] = {}
    bounds: dict[str, Callable[[float], float]] = {
        "transcript": partial(transcript_delta, n=10),
        "final": partial(final_delta, n=2),
    }
    for name, delta in bounds.items():
        beyond = [epsilon for epsilon in grid if delta(epsilon) > DELTA]
        found[f"{name}_epsilon"] = min(beyond, default=math.inf)
        found[f"{name}_delta"] = delta(min(beyond)) if beyond else 0.0
    return Measured(found)


def decide_any_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    transcript, final = numbers["transcript_epsilon"], numbers["final_epsilon"]
    sentence = (
        f"With delta = 1e-5 promised: at epsilon = {transcript:,.0f}, n = 10, all noisy gradients together have delta >= "
        f"{numbers['transcript_delta']:.2g}; at {final:,.0f}, n = 2, theta alone has delta >= {numbers['final_delta']:.2g}."
    )
    instead = "For epsilon below 2 sqrt(log(1/delta)), where a step's own epsilon is below 1, as Lemma 3 wants."
    return either(numbers["final_delta"] <= tolerances["delta"], sentence, instead)


CHECKS = {
    "lipschitz_gradient": Check(measure_lipschitz_gradient, decide_lipschitz_gradient),
    "slope_geometric_median": Check(
        partial(measure_claimed_slope, Distance(), (0.5, 1.0), (1.0, 1.0)), decide_claimed_slope
    ),
    "slope_hinge": Check(partial(measure_claimed_slope, Hinge(), (0.5, 1.0, 5.0), (0.5, 1.0, 5.0)), decide_claimed_slope),
    "slope_logistic": Check(partial(measure_slope_far_out, LOGISTIC), decide_slope_far_out),
    "slope_linear_regression": Check(partial(measure_slope_far_out, Squared(1.0)), decide_slope_far_out),
    "convex": Check(measure_convex, decide_convex),
    "mean": Check(measure_mean, decide_mean),
    "median": Check(measure_median, decide_median),
    "support_vectors": Check(measure_support_vectors, decide_support_vectors),
    "neighbours": Check(measure_neighbours, decide_neighbours),
    "input_perturbation": Check(measure_input_perturbation, decide_input_perturbation),
    "interpolation": Check(measure_interpolation, decide_interpolation),
    "holds_back": Check(measure_holds_back, decide_holds_back),
    "overfitting": Check(measure_overfitting, decide_overfitting),
    "formalised": Check(measure_formalised, decide_formalised),
    "lambda_limits": Check(measure_lambda_limits, decide_lambda_limits),
    "lemma_1": Check(measure_lemma_1, decide_lemma_1),
    "lemma_1_cited": Check(measure_lemma_1, decide_lemma_1_cited),
    "gaussian_output": Check(measure_gaussian_output, decide_gaussian_output),
    "gaussian_constant": Check(measure_gaussian_constant, decide_gaussian_constant),
    "objective_gamma": Check(measure_objective_gamma, decide_objective),
    "objective_gaussian": Check(measure_objective_gaussian, decide_objective),
    "objective_scale": Check(measure_objective_scale, decide_objective_scale),
    "objective_hinge": Check(measure_objective_hinge, decide_objective_hinge),
    "exact_minimum": Check(measure_exact_minimum, decide_exact_minimum),
    "approximate_minimum": Check(measure_approximate_minimum, decide_approximate_minimum),
    "floating_point": Check(measure_floating_point, decide_floating_point),
    "best_empirical": Check(measure_best_empirical, decide_best_empirical),
    "never_reached": Check(measure_never_reached, decide_never_reached),
    "zero_gradient": Check(measure_zero_gradient, decide_zero_gradient),
    "theorem_2": Check(measure_theorem_2, decide_theorem_2),
    "any_horizon": Check(measure_any_horizon, decide_any_horizon),
    "first_step": Check(measure_first_step, decide_first_step),
    "learning_rate": Check(measure_learning_rate, decide_learning_rate),
    "enough_steps": Check(measure_enough_steps, decide_enough_steps),
    "gradient_count": Check(measure_gradient_count, decide_gradient_count),
    "moments": Check(measure_moments, decide_moments),
    "stochastic": Check(measure_stochastic, decide_stochastic),
    "noisy_moment": Check(measure_noisy_moment, decide_noisy_moment),
    "utility": Check(measure_utility, decide_utility),
    "utility_large_epsilon": Check(measure_utility_large_epsilon, decide_utility_large_epsilon),
    "gradient_sensitivity": Check(measure_gradient_sensitivity, decide_gradient_sensitivity),
    "step_loss": Check(measure_step_loss, decide_step_loss),
    "lemma_3": Check(measure_lemma_3, decide_lemma_3),
    "sampled_step_loss": Check(measure_sampled_step_loss, decide_sampled_step_loss),
    "composition": Check(measure_composition, decide_composition),
    "algorithm_3": Check(measure_algorithm_3, decide_algorithm_3),
    "any_epsilon": Check(measure_any_epsilon, decide_any_epsilon),
}
