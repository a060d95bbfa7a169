"""Output perturbation: the regularised polynomial, Lemma 1 on the minimiser's sensitivity, and Gaussian noise for it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from epsilometer.core import Array, NeighbouringPair
from epsilometer.erm import LOGISTIC, Hinge, Loss, minimiser
from epsilometer.mechanisms.gaussian import analytic_sigma, classic_sigma
from epsilometer.mechanisms.neighbours import opposite_labels, saturated_opponents
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.cs860.claims.constants import DELTA
from epsilometer.papers.deciders import (
    BOUND,
    ROUNDING,
    all_within_bound,
    all_within_slack,
    decide_readings,
    fact_decider,
    holds_if,
    listed_with_names,
    readings_decider,
    within_bound,
)
from epsilometer.papers.measures import VERDICTS, computed, drawn, spent_share

# Regularisation: the polynomial


def ridge(x: Array, y: Array, degree: int, lam: float) -> Array:
    """The coefficients that minimise sum_i (p(x_i) - y_i)^2 + lam |theta|^2; at lam = 0, the shortest that do."""
    powers = np.vander(x, degree + 1, increasing=True)
    stacked = np.vstack([powers, math.sqrt(lam) * np.eye(degree + 1)])
    return np.asarray(np.linalg.lstsq(stacked, np.append(y, np.zeros(degree + 1)), rcond=1e-13)[0], dtype=float)


def _points(rng: np.random.Generator) -> tuple[Array, Array]:
    """Nine distinct x between -1 and 1, and a random y for each."""
    return np.linspace(-1, 1, 9) + rng.uniform(-0.05, 0.05, 9), rng.standard_normal(9)


def _fit_risk(x: Array, y: Array) -> float:
    """The least sum of squared errors of a polynomial of degree n."""
    theta = ridge(x, y, len(x), 0.0)
    return float(np.sum((np.vander(x, len(x) + 1, increasing=True) @ theta - y) ** 2))


@drawn("polynomial")
def measure_interpolation(rng: np.random.Generator) -> dict[str, float]:
    """The least risk of a polynomial of degree n: for distinct x, and where two points share x but not y."""
    x, y = _points(rng)
    equal_x, other_y = x.copy(), y.copy()
    equal_x[1], other_y[:2] = equal_x[0], (1.0, -1.0)
    return {"distinct": _fit_risk(x, y), "equal_x": _fit_risk(equal_x, other_y)}


INTERPOLATION = Claim(
    id="cs860-interpolation",
    locator="Output perturbation, polynomial regression",
    statement="A polynomial of degree n passes through any n points, with an excess risk of 0.",
    computes="the polynomial of degree 9 nearest to 9 points, for distinct x and for two equal ones",
    measure=measure_interpolation,
    decide=readings_decider(
        "The least risk on 9 points is {distinct:.1g} if their x differ, {equal_x:.3g} if two of them share an x.",
        all_within_slack,
        "That no two x are equal is not said; we assumed it. Degree n - 1 would do: with n, theta is not unique.",
        assumed=lambda numbers, tolerances: numbers["distinct"] <= tolerances["slack"],
        instead="The polynomial does not pass through the points.",
    ),
    tolerances=ROUNDING,
)


@drawn("polynomial")
def measure_holds_back(rng: np.random.Generator) -> dict[str, float]:
    """The largest shift of the coefficients when one y changes its sign, without and with regularisation."""
    x, y = _points(rng)

    def largest(lam: float) -> float:
        shifts = [ridge(x, np.where(np.arange(9) == i, -y, y), 9, lam) - ridge(x, y, 9, lam) for i in range(9)]
        return max(float(np.linalg.norm(shift)) for shift in shifts)

    return {"free": largest(0.0), "regularised": largest(0.1)}


def _less_by_regularisation(numbers: Numbers, tolerances: Numbers) -> bool:
    """Whether the value without a regulariser is at least `less` times the value with one."""
    return numbers["free"] >= tolerances["less"] * numbers["regularised"]


HOLDS_BACK = Claim(
    id="cs860-regulariser-holds-back",
    locator="Output perturbation, polynomial regression",
    statement="Penalising the squared coefficients keeps a polynomial from varying wildly with one point.",
    computes="polynomials through 9 random points, with each y in turn changing its sign",
    measure=measure_holds_back,
    decide=fact_decider(
        "One y that changes its sign moves the coefficients by up to {free:.3g} without a regulariser, {regularised:.3g} "
        "with lambda = 0.1.",
        _less_by_regularisation,
        "The regulariser hardly helps here.",
    ),
    tolerances={"less": 2.0},
)


@drawn("overfitting")
def measure_overfitting(rng: np.random.Generator) -> dict[str, float]:
    """The mean squared error at 200 new x of degree-n polynomials through 9 noisy points of a sine, over 50 draws."""
    errors = {"free": 0.0, "regularised": 0.0}
    for _ in range(50):
        x = np.linspace(-1, 1, 9) + rng.uniform(-0.05, 0.05, 9)
        y, new = np.sin(3 * x) + 0.3 * rng.standard_normal(9), rng.uniform(-1, 1, 200)
        for name, lam in (("free", 0.0), ("regularised", 0.1)):
            predicted = np.vander(new, 10, increasing=True) @ ridge(x, y, 9, lam)
            errors[name] += float(np.mean((predicted - np.sin(3 * new)) ** 2)) / 50
    return errors


OVERFITTING = Claim(
    id="cs860-regulariser-generalises",
    locator="Output perturbation, polynomial regression and Figure 1",
    statement="A polynomial through all points predicts new points poorly, and a regularised one better.",
    computes="the errors of polynomials through 9 noisy points of a sine, at 200 new points, over 50 draws",
    measure=measure_overfitting,
    decide=fact_decider(
        "The mean squared error at new points is {free:.3g} without a regulariser, {regularised:.3g} with lambda = 0.1.",
        _less_by_regularisation,
        "The regulariser does not help with new points.",
    ),
    tolerances={"less": 2.0},
)


@drawn("polynomial")
def measure_formalised(rng: np.random.Generator) -> dict[str, float]:
    """The shift of the coefficients for lambda = 1 when one y of size 1, or 1,000, changes its sign, as a share of 2n."""
    x, y = _points(rng)

    def share(size: float) -> float:
        up, down = (np.append(y[:-1], value) for value in (size, -size))
        return float(np.linalg.norm(ridge(x, up, 9, 1.0) - ridge(x, down, 9, 1.0))) / (2 * len(x))

    return {"small_y": share(1.0), "large_y": share(1000.0)}


FORMALISED = Claim(
    id="cs860-regulariser-formalised",
    locator="Output perturbation, before Lemma 1",
    statement=(
        "Lemma 1 makes precise that a penalty on the coefficients bounds how far one point moves the regularised polynomial."
    ),
    computes="regularised polynomials through 9 points, one y of which changes its sign",
    measure=measure_formalised,
    decide=fact_decider(
        "At lambda = 1 a record with |y| = 1 moves theta by {small_y:.3g} of 2n/lambda, one with |y| = 1,000 by "
        "{large_y:.3g}.",
        all_within_bound,
        "The lemma needs a 1-Lipschitz loss; the squared loss is none, unless x, y and theta are bounded.",
    ),
    tolerances={"slack": 1e-6},
)


@drawn("polynomial")
def measure_lambda_limits(rng: np.random.Generator) -> dict[str, float]:
    """How far a cubic is from least squares at lambda = 0, and its coefficients from 0 at lambda = 1e12."""
    x, y = _points(rng)
    plain = np.polynomial.polynomial.polyfit(x, y, 3)
    zero, huge = ridge(x, y, 3, 0.0), ridge(x, y, 3, 1e12)
    return {"zero": float(np.max(np.abs(zero - plain))), "infinite": float(np.max(np.abs(huge)))}


LAMBDA_LIMITS = Claim(
    id="cs860-lambda-limits",
    locator="Output perturbation, regularisation",
    statement="Lambda = 0 is no regularisation, and an infinite lambda ignores the data.",
    computes="cubics for 9 random points at lambda = 0 and lambda = 1e12",
    measure=measure_lambda_limits,
    decide=fact_decider(
        "A cubic at lambda = 0 differs from least squares by {zero:.1g}; at lambda = 1e12 its coefficients are at most "
        "{infinite:.1g}.",
        all_within_slack,
        "One of the limits is another.",
    ),
    tolerances=ROUNDING,
)

# Lemma 1: the sensitivity of the minimiser

SIZES = (1, 8, 1000)
LEMMA_LAM = 4.0


@cache
def _shifts() -> dict[str, float]:
    """|theta - theta'| as a share of 2/lambda for the lecture's sum, on the worst pairs known, by the number of records."""

    def shift(loss: Loss, pair: NeighbouringPair, n: int, lam: float) -> float:
        first, second = (minimiser(loss, data, lam / n) for data in (pair.first, pair.second))
        return float(np.linalg.norm(first - second)) * lam / 2

    moved = {f"hinge_at_{n}": shift(Hinge(), opposite_labels(n), n, LEMMA_LAM) for n in SIZES}
    return moved | {"logistic_at_200000": shift(LOGISTIC, saturated_opponents(), 200_000, 20.0)}


measure_lemma_1 = computed(_shifts)


def _records(name: str) -> int:
    """The number of records that a number's name ends with."""
    return int(name.rpartition("_")[2])


def decide_lemma_1(numbers: Numbers, tolerances: Numbers) -> Decision:
    """As printed the bound is 2n/lambda; its looseness is reported at the largest number of records."""
    shown = listed_with_names({f"n = {_records(name):,}": share for name, share in numbers.items()}, digits=4)
    sentence = f"The worst pairs move the minimiser by this multiple of 2/lambda: {shown}; the lemma allows n."
    share, largest = max(share / _records(name) for name, share in numbers.items()), max(numbers, key=_records)
    return within_bound(
        share,
        sentence,
        tolerances,
        instead="No bound of this form was found to hold.",
        factor=_records(largest) / numbers[largest],
        tighter="2/lambda holds for this sum, whatever n is.",
    )


LEMMA_1 = Claim(
    id="cs860-lemma-1",
    locator="Output perturbation, Lemma 1",
    statement=(
        "With a 1-strongly convex N and a convex 1-Lipschitz loss, the minimiser of the sum of losses plus lambda N has "
        "sensitivity at most 2n/lambda."
    ),
    computes="minimisers on the worst pairs of neighbouring data sets known, of 1 to 200,000 records",
    measure=measure_lemma_1,
    decide=decide_lemma_1,
    tolerances=BOUND,
)


def decide_lemma_1_cited(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The corollary's 2/(n Lambda), for the mean loss plus Lambda N, is 2/lambda for the sum, as Lambda = lambda/n."""
    reached, largest = max(numbers.values()), max(map(_records, numbers))
    sentence = (
        f"The corollary's constant is 2/lambda for this sum, and the worst pair reaches {reached:.6g} of it; the printed "
        f"one is {largest:,} times as large at n = {largest:,}."
    )
    correct = "2/lambda for the sum of losses, 2/(n lambda) for their mean."
    instead = correct if reached <= 1 + tolerances["slack"] else "Neither holds."
    return holds_if(largest <= 1 + tolerances["slack"], sentence, instead)


LEMMA_1_CITED = Claim(
    id="cs860-lemma-1-cited",
    locator="Output perturbation, Lemma 1",
    statement="The bound 2n/lambda for the sum of losses is Corollary 8 of Chaudhuri, Monteleoni and Sarwate 2011.",
    computes="minimisers on the worst pairs of neighbouring data sets known, of 1 to 200,000 records",
    measure=measure_lemma_1,
    decide=decide_lemma_1_cited,
    tolerances={"slack": 1e-6},
)

# Gaussian noise on the minimiser


def measure_gaussian_output(evidence: Evidence) -> Measured:
    """The privacy loss under the classical noise for 2/lambda, and the printed noise over the least that suffices."""
    n, lam = 8, 4.0
    printed = classic_sigma(1.0, DELTA, 2 * n / lam)
    share = spent_share(evidence, "output_perturbation_gaussian")
    return Measured({"share": share, "noise": printed / analytic_sigma(1.0, DELTA, 2 / lam)})


def decide_gaussian_output(numbers: Numbers, tolerances: Numbers) -> Decision:
    share, noise = numbers["share"], numbers["noise"]
    sentence = (
        f"With noise for a sensitivity of 2/lambda, the exact audit finds {share:.3g} of the promised epsilon spent; with "
        f"2n/lambda the noise is {noise:.3g} times what is needed, for 8 records at epsilon = 1."
    )
    return within_bound(
        share,
        sentence,
        tolerances,
        instead="More noise than that of 2/lambda is needed.",
        factor=noise,
        tighter="Variance O(log(1/delta)/(lambda epsilon)^2) suffices, without n^2.",
    )


GAUSSIAN_OUTPUT = Claim(
    id="cs860-gaussian-output",
    locator="Output perturbation, after Lemma 1",
    statement=(
        "Gaussian noise of variance O(n^2 log(1/delta)/(lambda^2 epsilon^2)) on the minimiser is (epsilon, delta)-private."
    ),
    needs=(VERDICTS,),
    computes="the Gaussian noise that the lemma's sensitivity asks for, and the least that suffices, by formula",
    measure=measure_gaussian_output,
    decide=decide_gaussian_output,
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_gaussian_constant() -> dict[str, float]:
    """The smallest constant in the variance that suffices at delta = 1e-5, for a sensitivity of 2/lambda, by epsilon."""
    return {
        f"at_{epsilon:g}": (analytic_sigma(epsilon, DELTA, 2.0) * epsilon) ** 2 / math.log(1 / DELTA)
        for epsilon in (0.1, 1.0, 10.0, 1000.0)
    }


def decide_gaussian_constant(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = listed_with_names({name.removeprefix("at_"): value for name, value in numbers.items()})
    sentence = f"The least constant that suffices is, at epsilon: {shown}."
    missing = "No range of epsilon is given, and no constant serves all; we assumed epsilon <= 1."
    return decide_readings(max(numbers.values()) <= tolerances["growth"] * numbers["at_1"], True, sentence, missing)


GAUSSIAN_CONSTANT = Claim(
    id="cs860-gaussian-output-constant",
    locator="Output perturbation, after Lemma 1",
    statement="A constant in that variance suffices, no range of epsilon being given.",
    computes="the least Gaussian noise that suffices at four epsilons, by the analytic calibration",
    measure=measure_gaussian_constant,
    decide=decide_gaussian_constant,
    tolerances={"growth": 2.0},
)
