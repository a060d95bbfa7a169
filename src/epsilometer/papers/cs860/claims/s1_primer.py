"""A quick primer on empirical risk minimisation: the losses, their Lipschitz constants, and what a minimiser reveals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from epsilometer.core import Array
from epsilometer.erm import LOGISTIC, Distance, Hinge, Huber, Loss, Squared, minimiser
from epsilometer.erm.kinks import minimise_distance
from epsilometer.erm.losses import MarginLoss
from epsilometer.mechanisms.neighbours import Record, labelled_records, opposite_labels
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Measure
from epsilometer.papers.deciders import (
    BOUND,
    ROUNDING,
    all_within_bound,
    all_within_slack,
    bound_decider,
    fact_decider,
    readings_decider,
)
from epsilometer.papers.measures import computed, drawn

# Lipschitz constants and convexity


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


@computed
def measure_lipschitz_gradient() -> dict[str, float]:
    """For each loss of a margin on |theta| <= 1: its largest gradient as a share of its largest difference quotient."""
    losses: dict[str, MarginLoss] = {"logistic": LOGISTIC, "hinge": Hinge(), "squared": Squared(1.0), "Huber": Huber(0.5)}
    along = np.linspace(-1.0, 1.0, 20_001)
    return {name: float(np.max(np.abs(loss.slope(along)))) / steepest(loss, 1.0, 1.0) for name, loss in losses.items()}


LIPSCHITZ_GRADIENT = Claim(
    id="cs860-lipschitz-gradient",
    locator="A quick primer, terminology",
    statement="A function that is L-Lipschitz in the Euclidean norm has gradients of length at most L.",
    computes="the gradients and difference quotients of four losses on a grid of 20,001 parameters",
    measure=measure_lipschitz_gradient,
    decide=fact_decider(
        "The longest gradient is {largest:.6g} times the largest difference quotient, over {count} losses.",
        all_within_bound,
        "A gradient is longer than the Lipschitz constant.",
    ),
    tolerances={"slack": 0.0001},
)


def slope_shares(loss: Loss, lengths: Sequence[float], constants: Sequence[float]) -> Measure:
    """Measures the steepest slope for records of some lengths, as a share of the constant that is claimed for each."""

    @computed
    def measure() -> dict[str, float]:
        pairs = zip(lengths, constants, strict=True)
        return {f"share_at_length_{x:g}": steepest(loss, x, 100.0) / constant for x, constant in pairs}

    return measure


decide_slope_shares = bound_decider(
    "The steepest slope is {listed} of the constant, for {count} lengths of a record.", "The loss is steeper than that."
)

SLOPE_GEOMETRIC_MEDIAN = Claim(
    id="cs860-geometric-median-lipschitz",
    locator="A quick primer, loss functions, item 3",
    statement="The distance from theta to a point is 1-Lipschitz in theta.",
    computes="the steepest slope of the distance, on a grid of 20,001 parameters, for records of two lengths",
    measure=slope_shares(Distance(), (0.5, 1.0), (1.0, 1.0)),
    decide=decide_slope_shares,
    tolerances=BOUND,
)

SLOPE_HINGE = Claim(
    id="cs860-hinge-lipschitz",
    locator="A quick primer, loss functions, item 4",
    statement="The hinge loss is L-Lipschitz in theta if the record has norm at most L.",
    computes="the steepest slope of the hinge loss, on a grid of 20,001 parameters, for records of three lengths",
    measure=slope_shares(Hinge(), (0.5, 1.0, 5.0), (0.5, 1.0, 5.0)),
    decide=decide_slope_shares,
    tolerances=BOUND,
)


def far_slopes(loss: Loss) -> Measure:
    """Measures the steepest slope for a record of length 1, within two radii."""

    @computed
    def measure() -> dict[str, float]:
        return {f"within_{radius:g}": steepest(loss, 1.0, radius) for radius in (100.0, 10_000.0)}

    return measure


decide_far_slopes = readings_decider(
    "For a record of length 1 the steepest slope is {within_100:.4g} where |theta| <= 100, {within_10000:.4g} "
    "where <= 10,000.",
    lambda numbers, tolerances: numbers["within_10000"] <= numbers["within_100"] * (1 + tolerances["growth"]),
    "No L is given, and none holds for all theta; it depends on C and on the range of x and y. We assumed |x| <= 1, "
    "|y| <= 1 and a ball of radius R, where L = 2 (1 + R).",
)

SLOPE_LOGISTIC = Claim(
    id="cs860-logistic-lipschitz",
    locator="A quick primer, loss functions, item 2",
    statement="The logistic loss is one of those that the lecture is about, which are Lipschitz in theta.",
    computes="the steepest slope of the logistic loss within two radii, on a grid of 20,001 parameters",
    measure=far_slopes(LOGISTIC),
    decide=decide_far_slopes,
    tolerances={"growth": 0.01},
)

SLOPE_LINEAR_REGRESSION = Claim(
    id="cs860-linear-regression-lipschitz",
    locator="A quick primer, loss functions, item 1",
    statement=(
        "The squared loss of linear regression is one of those that the lecture is about, which are Lipschitz in theta."
    ),
    computes="the steepest slope of the squared loss within two radii, on a grid of 20,001 parameters",
    measure=far_slopes(Squared(1.0)),
    decide=decide_far_slopes,
    tolerances={"growth": 0.01},
)


@drawn("convexity")
def measure_convex(rng: np.random.Generator) -> dict[str, float]:
    """How far the loss at a chord's middle lies above the chord, at worst, over random chords, as a share of the chord."""
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
    return excess


CONVEX = Claim(
    id="cs860-losses-convex",
    locator="A quick primer, formulation and loss functions",
    statement="The four example losses are convex in theta, as the lecture assumes of all losses.",
    computes="20,000 random chords of each of the four losses",
    measure=measure_convex,
    decide=fact_decider(
        "Over 20,000 chords of each of {count} losses, the middle exceeds the chord by at most {largest:.1g}.",
        all_within_slack,
        "One of the losses is not convex.",
    ),
    tolerances=ROUNDING,
)


@drawn("mean")
def measure_mean(rng: np.random.Generator) -> dict[str, float]:
    """By how much the sum of squared distances exceeds that at the mean, over n times the distance from it squared."""
    points, others = rng.standard_normal((50, 3)), rng.standard_normal((500, 3))
    mean = points.mean(axis=0)

    def risk(theta: Array) -> Array:
        return np.sum((theta[:, None] - points) ** 2, axis=(1, 2))

    lead = (risk(others) - risk(mean[None])) / (len(points) * np.sum((others - mean) ** 2, axis=1))
    return {"least_lead": float(np.min(lead))}


MEAN = Claim(
    id="cs860-mean-loss",
    locator="A quick primer, loss functions, item 3",
    statement="The squared distance to the points is the loss that the mean minimises.",
    computes="the sum of squared distances to 50 random points, at their mean and at 500 others",
    measure=measure_mean,
    decide=fact_decider(
        "At 500 other points the sum exceeds that at the mean by at least {least_lead:.6g} n times the distance squared.",
        lambda numbers, tolerances: numbers["least_lead"] > tolerances["least"],
        "Another point than the mean has a smaller sum.",
    ),
    tolerances={"least": 0.001},
)

# Privacy considerations


@computed
def measure_neighbours() -> dict[str, float]:
    """How far the minimiser moves, as a share of 2/lambda, when a record is exchanged, and when it is removed."""
    lam, pair = 4.0, opposite_labels(8)
    rest = labelled_records([((0.0,), 1.0)], [7.0])
    first, second = (minimiser(Hinge(), data, lam / 8) for data in (pair.first, pair.second))
    without = minimiser(Hinge(), rest, lam / 7)
    moved = {"exchanged": first - second, "removed": first - without}
    return {name: float(np.linalg.norm(shift)) * lam / 2 for name, shift in moved.items()}


NEIGHBOURS = Claim(
    id="cs860-neighbours",
    locator="A quick primer, privacy considerations",
    statement=(
        "Neighbouring data sets, for which sensitivities and promises are stated, arise by adding or removing a point."
    ),
    computes="minimisers of a sum of hinge losses on a data set and on two neighbours of it",
    measure=measure_neighbours,
    decide=readings_decider(
        "A record moves the minimiser by {exchanged:.4g} of 2/lambda if exchanged, by {removed:.4g} if removed.",
        lambda numbers, tolerances: abs(numbers["exchanged"] - numbers["removed"]) <= tolerances["same"],
        "The text removes and adds points, but calibrates with a fixed n and a factor 2 in Lemma 1; we assumed that a "
        "record is exchanged.",
    ),
    tolerances={"same": 0.01},
)


@drawn("median")
def measure_median(rng: np.random.Generator) -> dict[str, float]:
    """Of 200 sets of 11 numbers: how often the median is one of them, and how often exchanging one record moves it."""
    records, moves = 0, 0
    for _ in range(200):
        points = rng.standard_normal((11, 1))
        other = points.copy()
        other[np.argmax(points)] = points.min() - 1
        here, there = minimise_distance(points, 0.0), minimise_distance(other, 0.0)
        records += int(np.any(points == here))
        moves += int(here[0] != there[0])
    return {"a_record": records / 200, "moved": moves / 200}


MEDIAN = Claim(
    id="cs860-median-reveals-a-record",
    locator="A quick primer, privacy considerations",
    statement="On the line the median of an odd number of points is one of them, which violates differential privacy.",
    computes="the medians of 200 random sets of 11 numbers, before and after a number is exchanged",
    measure=measure_median,
    decide=fact_decider(
        "Of 200 medians of 11 numbers {a_record:.0%} are one of the numbers, and {moved:.0%} move when one is exchanged: "
        "without noise, two outputs that exclude each other.",
        lambda numbers, tolerances: min(numbers["a_record"], numbers["moved"]) >= tolerances["always"],
        "The median is not always one of the records.",
    ),
    tolerances={"always": 1.0},
)


@computed
def measure_support_vectors() -> dict[str, float]:
    """How far the minimiser of a sum of hinge losses moves, as a share of its length, when records leave or come."""
    support: list[Record] = [((0.15, 0.2), 1.0), ((-0.15, 0.2), 1.0)]
    others: list[Record] = [((0.3, 0.9), 1.0), ((-0.3, 0.9), 1.0), ((0.2, -0.9), -1.0)]
    closer: Record = ((0.0, 0.05), 1.0)

    def fitted(records: Sequence[Record]) -> Array:
        return minimiser(Hinge(), labelled_records(records), 1e-3 / len(records))

    whole = fitted([*support, *others])
    changed = {"others_left_out": support, "one_left_out": [support[0], *others], "one_closer": [*support, *others, closer]}
    return {name: float(np.linalg.norm(fitted(r) - whole) / np.linalg.norm(whole)) for name, r in changed.items()}


SUPPORT_VECTORS = Claim(
    id="cs860-support-vectors",
    locator="A quick primer, privacy considerations",
    statement=(
        "A support vector machine depends on the points closest to its boundary alone, and removing one of them, or adding "
        "a closer one, can move it far."
    ),
    computes="support vector machines on five records of the plane and on three data sets that differ from them",
    measure=measure_support_vectors,
    decide=fact_decider(
        "Leaving out all but the two support vectors moves theta by {others_left_out:.2g} of its length, leaving one of "
        "them out by {one_left_out:.2g}, and one closer point by {one_closer:.2g}.",
        lambda numbers, tolerances: (
            numbers["others_left_out"] <= tolerances["slack"]
            and min(numbers["one_left_out"], numbers["one_closer"]) >= tolerances["dramatic"]
        ),
        "Other records matter too, or these do not much.",
    ),
    tolerances={"slack": 1e-6, "dramatic": 0.5},
)


@computed
def measure_input_perturbation() -> dict[str, float]:
    """Records for which the share of ones is known to a standard error of 0.01 at epsilon = 1, locally and centrally.

    A randomised bit, made unbiased, has standard deviation sqrt(1/4 - gamma^2)/(2 gamma); a count has noise sqrt(2)/epsilon.
    """
    gamma, error = RandomizedResponse.from_epsilon(1.0).gamma, 0.01
    local = (math.sqrt(0.25 - gamma**2) / (2 * gamma) / error) ** 2
    return {"local": local, "central": math.sqrt(2) / error}


INPUT_PERTURBATION = Claim(
    id="cs860-input-perturbation",
    locator="A quick primer, privacy considerations",
    statement="Making the inputs private, which amounts to local differential privacy, needs considerably more data.",
    computes="the standard errors of randomised response and of a count with Laplace noise, by formula",
    measure=measure_input_perturbation,
    decide=fact_decider(
        "For a share of ones to within 0.01 at epsilon = 1, randomised inputs need {local:,.0f} records, a noisy count "
        "{central:,.0f}.",
        lambda numbers, tolerances: numbers["local"] >= tolerances["more"] * numbers["central"],
        "Perturbing the input needs no more data here.",
    ),
    tolerances={"more": 2.0},
)
