"""Section II-B of review: global, local and smooth sensitivity.

Sensitivities are computed over all data sets of five values from a grid; neighbours have one record exchanged.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import laplace

from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.laplace import log_laplace
from epsilometer.mechanisms.smooth_sensitivity import median, median_smooth_sensitivity
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import ROUNDING, decide_readings, fact_decider, listed_with_names
from epsilometer.papers.measures import VERDICTS, computed, spent_share
from epsilometer.papers.review.claims.small_data_sets import QUERIES, SIZE, data_sets

BETA = 0.2
"""The beta of the smooth sensitivities that are computed here."""


def global_sensitivities(*queries: str) -> dict[str, float]:
    """The global sensitivity of each query, for values from [0, 1]."""
    return {query: data_sets().global_sensitivity(query) for query in queries}


COUNT_SENSITIVITY = Claim(
    id="review-count-sensitivity",
    locator="section II-B, after Definition 2",
    statement="A count has global sensitivity 1.",
    computes="the global sensitivity of a count, over all data sets of five values",
    measure=computed(lambda: global_sensitivities("count")),
    decide=fact_decider(
        "Over all 126 data sets of five values from a grid, a count moves by at most {count:g}.",
        lambda numbers, tolerances: abs(numbers["count"] - 1) <= tolerances["same"],
        "It is {count:g}.",
    ),
    tolerances={"same": 1.0e-12},
)


def decide_mean_and_median(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The sensitivities of mean and median are in proportion to the range of the values, that of a count is not."""
    count, mean, middle = (numbers[query] for query in ("count", "mean", "median"))
    wide = tolerances["range"]
    sentence = (
        f"For five values in [0, 1] the global sensitivity of the mean is {mean:.3g} and of the median {middle:.3g}, of a "
        f"count {count:.3g}; for values in [0, {wide:g}] they are {wide * mean:.3g} and {wide * middle:.3g}."
    )
    smaller = min(mean, middle)
    missing = "The range R of the values decides (R/n for the mean, R for the median) and is not given; we assumed R > n."
    return decide_readings(smaller > count, wide * smaller > count, sentence, missing, "They are not larger than a count's.")


MEAN_AND_MEDIAN = Claim(
    id="review-mean-and-median",
    locator="section II-B, after Definition 2",
    statement="Mean and median often have a larger global sensitivity than a count.",
    computes="the global sensitivities of count, mean and median, over all data sets of five values",
    measure=computed(lambda: global_sensitivities(*QUERIES)),
    decide=decide_mean_and_median,
    tolerances={"range": 100},
)


@computed
def measure_median_sensitivities() -> dict[str, float]:
    """The median's sensitivity by Definition 2, by Definition 3 as printed, and the least of it with x held fixed."""
    local = data_sets().local_sensitivity("median")
    return {
        "global": data_sets().global_sensitivity("median"),
        "printed": float(local.max()),
        "least_with_x_fixed": float(local.min()),
    }


LOCAL_DEFINITION = Claim(
    id="review-local-sensitivity",
    locator="Definitions 2 and 3",
    statement="Local sensitivity, unlike global sensitivity, depends on the data at hand.",
    computes="the median's sensitivities by Definitions 2 and 3, over all data sets of five values",
    measure=measure_median_sensitivities,
    decide=fact_decider(
        "The median's global sensitivity is {global:g}; Definition 3, whose maximum is over x and y as well, gives "
        "{printed:g} whatever the data; with x fixed it is {least_with_x_fixed:g} on some data.",
        lambda numbers, tolerances: abs(numbers["global"] - numbers["printed"]) > tolerances["same"],
        "The maximum must be over y alone, for the given x.",
    ),
    tolerances={"same": 1.0e-12},
)


@computed
def measure_typical_ratios() -> dict[str, float]:
    """For each query the median of local over global sensitivity, over all 3,125 data sets with their records in order."""
    every = data_sets()
    repeats = [np.unique(values, return_counts=True)[1].tolist() for values in every.values]
    orders = [math.factorial(SIZE) // math.prod(map(math.factorial, counts)) for counts in repeats]
    ratios = {query: every.local_sensitivity(query) / every.global_sensitivity(query) for query in QUERIES}
    return {query: float(np.median(np.repeat(ratio, orders))) for query, ratio in ratios.items()}


def decide_local_is_smaller(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        "On the middle one of all 3,125 data sets of five values from a grid, local over global sensitivity is "
        f"{listed_with_names(numbers)}."
    )
    smaller = [ratio <= tolerances["much smaller"] for ratio in numbers.values()]
    missing = "For which queries and data is not said; we assumed count, mean and median, and all data sets alike."
    instead = "It is never larger; how much smaller depends on query and data."
    return decide_readings(all(smaller), any(smaller), sentence, missing, instead)


LOCAL_IS_SMALLER = Claim(
    id="review-local-is-smaller",
    locator="section II-B, after Definition 3",
    statement="The local sensitivity is usually much smaller than the global one.",
    computes="the local and global sensitivities of count, mean and median, over all data sets of five values",
    measure=measure_typical_ratios,
    decide=decide_local_is_smaller,
    tolerances={"much smaller": 0.5},
)


@computed
def measure_largest_gap() -> dict[str, float]:
    """The largest difference between the two sides of equation 4, over the queries."""
    every = data_sets()
    gaps = [abs(every.global_sensitivity(query) - every.local_sensitivity(query).max()) for query in QUERIES]
    return {"largest_gap": float(max(gaps))}


EQUATION_4 = Claim(
    id="review-equation-4",
    locator="equation 4",
    statement="The global sensitivity is the largest local sensitivity of any data set.",
    computes="both sides of equation 4 for count, mean and median, over all data sets of five values",
    measure=measure_largest_gap,
    decide=fact_decider(
        "For count, mean and median over 126 data sets, with x fixed in the local one, the two sides differ by "
        "{largest_gap:.1g}.",
        lambda numbers, tolerances: numbers["largest_gap"] <= tolerances["same"],
        "The global sensitivity is not the largest local one.",
    ),
    tolerances={"same": 1.0e-12},
)


@computed
def measure_local_noise() -> dict[str, float]:
    """The largest privacy loss of a median with Laplace noise of scale LS/epsilon, at epsilon = 1, and over how many pairs.

    The pairs have the same median, and LS = 0 on one side only. The event is an output within 1e-9 of the
    median. Where LS(D) = 0 there is no noise, so the event is certain on D.
    """
    every = data_sets()
    local, middle = every.local_sensitivity("median"), every.answers("median")
    first, second = np.nonzero((every.distance == 1) & (local[:, None] == 0) & (local > 0) & (middle[:, None] == middle))
    if not len(first):
        return {"pairs": 0.0, "log_ratio": 0.0}
    hit = 1 - 2 * laplace.sf(1e-9, scale=local[second])
    return {"pairs": float(len(first)), "log_ratio": float(-np.log(hit).min())}


LOCAL_NOISE = Claim(
    id="review-local-noise-leaks",
    locator="section II-B, after equation 4",
    statement="Noise in proportion to the local sensitivity gives private information away.",
    computes="the privacy loss of a median with such noise, over all neighbouring data sets of five values",
    measure=measure_local_noise,
    decide=fact_decider(
        "{pairs:g} pairs of neighbours have the same median, noise on one side and none on the other: hitting the median "
        "within 1e-9 tells them apart by a log-ratio of {log_ratio:.3g} at epsilon = 1.",
        lambda numbers, tolerances: numbers["log_ratio"] > tolerances["largest epsilon"],
        "The noise gives nothing away here.",
    ),
    tolerances={"largest epsilon": 10},
)


@computed
def measure_smooth_sensitivities() -> dict[str, float]:
    """Definition 5 for the median: with |D - D'| as the symmetric difference, and as the number of exchanged records.

    An exchanged record counts twice in the symmetric difference: the one that is gone and the one that is new.
    """
    every = data_sets()
    numbers = {}
    for name, apart in (("symmetric_difference", 2 * every.distance), ("exchanged", every.distance)):
        smooth = every.smooth_sensitivity("median", BETA, apart)
        numbers[f"least_excess_{name}"] = float(np.min(smooth - every.local_sensitivity("median")))
        numbers[f"stretch_{name}"] = every.stretch(smooth, BETA)
    return numbers


SMOOTH_UPPER = Claim(
    id="review-smooth-is-an-upper-bound",
    locator="Definitions 4 and 5, first condition",
    statement="The smooth sensitivity of Definition 5 is nowhere below the local sensitivity.",
    computes="the smooth and local sensitivities of the median, over all data sets of five values",
    measure=measure_smooth_sensitivities,
    decide=fact_decider(
        "For the median over 126 data sets, S - LS is at least {least_excess_symmetric_difference:.2g}.",
        lambda numbers, tolerances: numbers["least_excess_symmetric_difference"] >= -tolerances["same"],
        "It is below the local sensitivity on some data.",
    ),
    tolerances={"same": 1.0e-12},
)


SMOOTH_STRETCH = Claim(
    id="review-smooth-is-smooth",
    locator="Definitions 4 and 5, second condition",
    statement="The smooth sensitivity of Definition 5 changes by a factor of at most e^beta between neighbours.",
    computes="the smooth sensitivity of the median with two distances, over all data sets of five values",
    measure=measure_smooth_sensitivities,
    decide=fact_decider(
        "Where a record is exchanged, log S(D)/S(D') of the median reaches {stretch_symmetric_difference:.4g} beta with the "
        "symmetric difference of Definition 5, and {stretch_exchanged:.4g} beta if |D - D'| counts exchanged records.",
        lambda numbers, tolerances: numbers["stretch_symmetric_difference"] <= 1 + tolerances["slack"],
        "The distance must be that of the neighbours: the number of records that are exchanged.",
    ),
    tolerances=ROUNDING,
)


def measure_smooth_noise(evidence: Evidence) -> Measured:
    """The privacy loss of a median with Laplace noise of scale S/epsilon, at two outputs, as a share of epsilon.

    This is Definition 6 with the smooth sensitivity S for the sensitivity. The noise of Nissim, Raskhodnikova and Smith
    with density ~ 1/(1 + z^4) is beside it, from the table of audits.
    """
    pair, epsilon = find("smooth_median").pairs()[2], 1.0
    data = [np.asarray(side) for side in (pair.first, pair.second)]
    scales = [median_smooth_sensitivity(values, 1.0, epsilon / 10) / epsilon for values in data]
    numbers = {}
    for output in (10.0, 1000.0):
        noise = [np.array([[output - median(values, 1.0)]]) for values in data]
        first, second = (log_laplace(*behind)[0] for behind in zip(noise, scales, strict=True))
        numbers[f"share_at_{output:g}"] = float(abs(first - second)) / epsilon
    return Measured(numbers | {"share_of_quartic": spent_share(evidence, "smooth_median")})


def decide_smooth_noise(numbers: Numbers, tolerances: Numbers) -> Decision:
    near, far, quartic = (numbers[name] for name in ("share_at_10", "share_at_1000", "share_of_quartic"))
    sentence = (
        f"Laplace noise of scale S/epsilon on a median spends {near:.3g} epsilon at the output 10 and {far:.3g} at 1,000; "
        f"noise of density ~ 1/(1 + z^4) spends at most {quartic:.3g} epsilon."
    )
    largest = 1 + tolerances["slack"]
    missing = "Which noise, which beta and which factor are not said; we assumed those of Nissim, Raskhodnikova and Smith."
    instead = "Neither noise keeps the promise."
    return decide_readings(max(near, far) <= largest, quartic <= largest, sentence, missing, instead)


SMOOTH_NOISE = Claim(
    id="review-smooth-noise",
    locator="section II-B, after Definition 4",
    statement="The smooth sensitivity, taken for the sensitivity, determines the amount of noise.",
    needs=(VERDICTS,),
    computes="the privacy loss of Laplace noise in proportion to the smooth sensitivity of a median, at two outputs",
    measure=measure_smooth_noise,
    decide=decide_smooth_noise,
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)
