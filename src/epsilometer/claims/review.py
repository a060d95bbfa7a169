"""The checks of review, Li's survey: its definitions of sensitivity, composition, and the learners that it names.

Its Definition 1 compares data sets of one size that differ in one record, so neighbours have one record exchanged, although
the words beside it speak of a record deleted. Sensitivities are taken over all data sets of five values from a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
from scipy.stats import laplace

from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.claims.shared import (
    answers,
    attacks,
    audited,
    catalogue_shares,
    decide_privacy,
    either,
    exact_witness,
    exactly_spent,
    largest_share,
    listed,
    privately,
    success,
    two_readings,
)
from epsilometer.core import Array
from epsilometer.mechanisms.beta_bernoulli import NoisyBitsPosterior
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.composition import SequentialComposition
from epsilometer.mechanisms.exponential import most_frequent
from epsilometer.mechanisms.k_anonymity import PATIENTS
from epsilometer.mechanisms.kernel_svm import FourierFeatureSVM
from epsilometer.mechanisms.laplace import (
    MEDICAL_RESULTS,
    Laplace,
    count_first,
    counts_four_and_five,
    log_laplace,
    medical_pair,
)
from epsilometer.mechanisms.posterior_sampling import AdaptivePosteriorSample
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.mechanisms.smooth_sensitivity import median, median_smooth_sensitivity

PRINTED_EPSILONS = (0.01, 0.1, math.log(2), math.log(3))
"""What the survey names as usual."""
TWO_COUNTS = "count(5) and count(4)"


# Anonymous tables


def measure_identifiers(evidence: Evidence) -> Measured:
    """How often a diagnosis of the table without names is guessed from its other columns, and from presence alone."""
    rows = attacks(evidence, "postech")
    numbers = {"unnamed": "age, gender, zip code and smoking", "blind": "that she is in the table"}
    return Measured({name: success(rows, knows) for name, knows in numbers.items()})


def decide_identifiers(numbers: Numbers, tolerances: Numbers) -> Decision:
    unnamed, blind = numbers["unnamed"], numbers["blind"]
    sentence = (
        f"In a table of nine patients without names, a diagnosis is guessed right in {unnamed:.0%} from the other columns, "
        f"in {blind:.0%} from presence alone."
    )
    return either(unnamed > blind + tolerances["margin"], sentence, "The other columns tell hardly anything here.")


def measure_background(evidence: Evidence) -> Measured:
    """The exact loss of a 2-anonymous table, and what one finds who knows all its other records."""
    known = success(attacks(evidence, "postech"), "all other records of the table")
    return Measured({"spent": min(catalogue_shares(evidence, "k_anonymity").values()), "success": known})


def decide_background(numbers: Numbers, tolerances: Numbers) -> Decision:
    spent, found = numbers["spent"], numbers["success"]
    sentence = (
        f"Who knows all other records of a 2-anonymous table finds the last diagnosis in {found:.0%}; the exact audit gives "
        f"epsilon = {spent:g}."
    )
    told = spent > tolerances["largest epsilon"] and found > tolerances["sure"]
    return either(told, sentence, "This table withstands that knowledge.")


def measure_grouped(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The least number of different diagnoses in a published group of two or more, by what the groups have in common."""
    kinds = {"by_diagnosis": PATIENTS[:, -1:], "by_the_others": PATIENTS[:, :-1]}
    return Measured({name: _least_diversity(columns) for name, columns in kinds.items()})


def _least_diversity(columns: Any) -> float:
    groups: dict[tuple[int, ...], list[int]] = {}
    for key, diagnosis in zip(map(tuple, columns.tolist()), PATIENTS[:, -1].tolist(), strict=True):
        groups.setdefault(key, []).append(diagnosis)
    return float(min(len(set(group)) for group in groups.values() if len(group) > 1))


def decide_grouped(numbers: Numbers, tolerances: Numbers) -> Decision:
    sensitive, others = numbers["by_diagnosis"], numbers["by_the_others"]
    sentence = (
        f"In a group of patients with the same diagnosis there is {sensitive:g}, so membership tells it; in groups of the "
        f"same age band, gender, zip code and smoking there are at least {others:g}."
    )
    return either(sensitive >= tolerances["diversity"], sentence, "Records are grouped by their quasi-identifiers.")


def measure_four_people(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Where the fourth person can live, if a city with three or more of the four is published, by whether one is.

    Two live in Los Angeles and one in New York; the fourth lives there, or in a third city.
    """
    cities = ("Los Angeles", "New York", "elsewhere")
    known = ["Los Angeles", "Los Angeles", "New York"]
    left: dict[bool, list[str]] = {True: [], False: []}
    for city in cities:
        everyone = [*known, city]
        left[max(everyone.count(name) for name in cities) >= 3].append(city)
    return Measured(
        {
            f"{name}_{place}": float(sum((city == "Los Angeles") == (place == "in") for city in left[published]))
            for name, published in (("published", True), ("withheld", False))
            for place in ("in", "out")
        }
    )


def decide_four_people(numbers: Numbers, tolerances: Numbers) -> Decision:  # noqa: ARG001
    inside, outside = numbers["withheld_in"], numbers["withheld_out"]
    sentence = (
        f"Of three cities, the fourth person can live in {inside + outside:g} if nothing is released, of which {inside:g} "
        f"is Los Angeles, and in {numbers['published_in'] + numbers['published_out']:g} if a city is, of which "
        f"{numbers['published_in']:g} is."
    )
    instead = "A release shows that the fourth person lives in Los Angeles, and its absence that they do not."
    return either(outside == 0 < inside, sentence, instead)


# The definition and Alice


def measure_neighbours(evidence: Evidence) -> Measured:
    names = {"deleted": "parallel_composition", "exchanged": "parallel_composition_as_printed"}
    return Measured({kind: largest_share(catalogue_shares(evidence, name)) for kind, name in names.items()})


def decide_neighbours(numbers: Numbers, tolerances: Numbers) -> Decision:
    deleted, exchanged = numbers["deleted"], numbers["exchanged"]
    sentence = (
        f"Noisy counts of disjoint parts spend {deleted:.3g} times epsilon where a record is deleted, {exchanged:.3g} times "
        "where it is exchanged."
    )
    if abs(deleted - exchanged) <= tolerances["slack"]:
        return Decision("holds", sentence)
    missing = "The definition exchanges a record, the words beside it delete one; we assumed the definition."
    return Decision("underspecified", sentence, instead=missing)


def measure_subtraction(evidence: Evidence) -> Measured:
    """How often count(5) - count(4) is Alice's diagnosis, from the table of attacks, and if count(i) leaves row i out."""
    tables = np.array(list(product((0, 1), repeat=len(MEDICAL_RESULTS))))
    before = [count_first(table, 4) - count_first(table, 3) == table[4] for table in tables]
    rows = [row for row in attacks(evidence, "review") if row["released"] == TWO_COUNTS]
    return Measured({"up_to": success(rows, "that Alice is in row 5"), "before": float(np.mean(before))})


def decide_subtraction(numbers: Numbers, tolerances: Numbers) -> Decision:
    up_to, before = numbers["up_to"], numbers["before"]
    sentence = (
        f"Over all 32 tables of five people, count(5) - count(4) is Alice's diagnosis in {up_to:.0%} if count(i) is up to "
        f"row i, and in {before:.0%} if it is before row i."
    )
    if min(up_to, before) >= tolerances["sure"]:
        return Decision("holds", sentence)
    if up_to >= tolerances["sure"]:
        missing = (
            "The words count the rows before row i, which leaves Alice out of count(5); we assumed up to and with row i."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="The difference of the counts is not her diagnosis.")


def measure_same_probability(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The largest ratio among the densities of the noisy count(4) and count(5) at 2, 2.5 and 3, by epsilon."""
    outputs, numbers = np.array([2.0, 2.5, 3.0]), {}
    for epsilon in PRINTED_EPSILONS:
        queries = (partial(count_first, rows=rows) for rows in (4, 5))
        logs = np.array([Laplace(query, 1, epsilon).log_density(MEDICAL_RESULTS, outputs) for query in queries])
        numbers[f"{epsilon:.4g}"] = math.exp(float(np.ptp(logs)))
    return Measured(numbers)


def decide_same_probability(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{ratio:.3g} ({epsilon})" for epsilon, ratio in numbers.items())
    sentence = f"The likelihoods of 2, 2.5 and 3 differ by a factor of up to (at epsilon) {shown}."
    same = [ratio <= 1 + tolerances["almost"] for ratio in numbers.values()]
    if all(same):
        return Decision("holds", sentence)
    if any(same):
        missing = (
            "The epsilon and the noise are not given; we assumed Laplace noise and the epsilons that are named as usual."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="They differ by a factor of up to e^epsilon.")


def measure_difference_attack(evidence: Evidence) -> Measured:
    """The success against Alice by the difference of two noisy counts, by the epsilon of each; the bound beside it."""
    rows = [
        row
        for row in attacks(evidence, "review")
        if row["released"] == TWO_COUNTS
        and row["attacker_knows"] == "that Alice is in row 5"
        and row["epsilon_for"] == "each of the two counts"
    ]
    numbers = {f"success at {row['epsilon']:g}": row["success"] for row in rows}
    return Measured(numbers | {"largest over the bound": max(row["success"] / row["bound"] for row in rows)})


def decide_difference_attack(numbers: Numbers, tolerances: Numbers) -> Decision:
    successes = {float(name.removeprefix("success at ")): value for name, value in numbers.items() if "success" in name}
    shown = ", ".join(f"{value:.3f} ({epsilon:g})" for epsilon, value in successes.items())
    sentence = f"The difference of the noisy counts still names Alice's diagnosis with probability (at epsilon) {shown}."
    if max(successes.values()) < tolerances["sure"]:
        return Decision("holds", sentence)
    usual = [value for epsilon, value in successes.items() if epsilon <= PRINTED_EPSILONS[-1]]
    if usual and max(usual) < tolerances["sure"]:
        missing = "How large epsilon may be is not said; we assumed at most ln 3, the largest that is named as usual."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="Noise lowers the probability of a right guess, not to one half.")


EPSILONS = (2.0, 1.0, 0.1, 0.01, 0.0)


def measure_smaller_epsilon(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How far apart the outputs' distributions are on neighbours (half the sum of the differences), by epsilon."""
    numbers = {}
    for epsilon in EPSILONS:
        zero, one = answers(RandomizedResponse.from_epsilon(epsilon).gamma) if epsilon > 0 else (np.full(2, 0.5),) * 2
        numbers[f"{epsilon:g}"] = float(np.abs(zero - one).sum() / 2)
    return Measured(numbers)


def decide_smaller_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    values = [numbers[f"{epsilon:g}"] for epsilon in EPSILONS]
    shown = ", ".join(f"{value:.3g} ({epsilon:g})" for epsilon, value in zip(EPSILONS, values, strict=True))
    sentence = f"The outputs of randomised response on neighbours are apart by (at epsilon) {shown}."
    falls = all(later < earlier for earlier, later in pairwise(values))
    return either(falls and values[-1] <= tolerances["same"], sentence, "They do not come together with epsilon.")


# Sensitivity, over all data sets of five values from a grid


VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)
SIZE = 5
QUERIES: dict[str, Callable[[Array], float]] = {
    "count": lambda values: float(np.sum(values == 1.0)),
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: median(values, 1.0),
}


@dataclass(frozen=True)
class DataSets:
    """All data sets of five values from the grid, in any order, and how many records must be exchanged between two."""

    values: Array
    distance: Array

    def answers(self, query: str) -> Array:
        return np.array([QUERIES[query](values) for values in self.values])

    def local_sensitivity(self, query: str) -> Array:
        """Of each data set: how far its answer is from a neighbour's."""
        found = self.answers(query)
        return np.max(np.where(self.distance == 1, np.abs(found[:, None] - found), 0.0), axis=1)

    def global_sensitivity(self, query: str) -> float:
        """The largest distance between the answers of two neighbours."""
        found = self.answers(query)
        first, second = np.nonzero(self.distance == 1)
        return float(np.max(np.abs(found[first] - found[second])))

    def smooth_sensitivity(self, query: str, beta: float, apart: Array) -> Array:
        """Definition 5 with the given distances: the largest LS(D') e^(-beta |D - D'|) over all D'."""
        return np.max(self.local_sensitivity(query) * np.exp(-beta * apart), axis=1)

    def stretch(self, smooth: Array, beta: float) -> float:
        """The largest log S(D)/S(D') of two neighbours, in units of beta."""
        first, second = np.nonzero(self.distance == 1)
        return float(np.max(np.log(smooth[first] / smooth[second]))) / beta


@cache
def data_sets() -> DataSets:
    values = np.array(list(combinations_with_replacement(VALUES, SIZE)))
    counts = (values[:, :, None] == np.array(VALUES)).sum(axis=1)
    shared = np.minimum(counts[:, None], counts).sum(axis=2)
    return DataSets(values, SIZE - shared)


def measure_count_sensitivity(evidence: Evidence) -> Measured:  # noqa: ARG001
    return Measured({"count": data_sets().global_sensitivity("count")})


def decide_count_sensitivity(numbers: Numbers, tolerances: Numbers) -> Decision:
    count = numbers["count"]
    sentence = f"Over all 126 data sets of five values from a grid, a count moves by at most {count:g}."
    return either(abs(count - 1) <= tolerances["same"], sentence, f"It is {count:g}.")


def measure_mean_and_median(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Global sensitivities for values from [0, 1]; those of mean and median are in proportion to the range."""
    return Measured({query: data_sets().global_sensitivity(query) for query in QUERIES})


def decide_mean_and_median(numbers: Numbers, tolerances: Numbers) -> Decision:
    count, mean, middle = (numbers[query] for query in ("count", "mean", "median"))
    wide = tolerances["range"]
    sentence = (
        f"For five values in [0, 1] the global sensitivity of the mean is {mean:.3g} and of the median {middle:.3g}, of a "
        f"count {count:.3g}; for values in [0, {wide:g}] they are {wide * mean:.3g} and {wide * middle:.3g}."
    )
    if min(mean, middle) > count:
        return Decision("holds", sentence)
    if wide * min(mean, middle) > count:
        missing = (
            "The range R of the values decides (R/n for the mean, R for the median) and is not given; we assumed R > n."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="They are not larger than a count's.")


def measure_local_definition(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The median's sensitivities: of Definition 2, of Definition 3 as printed, and of it with x held fixed."""
    every = data_sets()
    local = every.local_sensitivity("median")
    over_x_as_well = float(local.max())
    numbers = {"global": every.global_sensitivity("median"), "printed": over_x_as_well, "least_with_x_fixed": local.min()}
    return Measured({name: float(value) for name, value in numbers.items()})


def decide_local_definition(numbers: Numbers, tolerances: Numbers) -> Decision:
    whole, printed, fixed = (numbers[name] for name in ("global", "printed", "least_with_x_fixed"))
    sentence = (
        f"The median's global sensitivity is {whole:g}; Definition 3, whose maximum is over x and y as well, gives "
        f"{printed:g} whatever the data; with x fixed it is {fixed:g} on some data."
    )
    return either(abs(whole - printed) > tolerances["same"], sentence, "The maximum must be over y alone, for the given x.")


def measure_local_is_smaller(evidence: Evidence) -> Measured:  # noqa: ARG001
    """For each query the median of local over global sensitivity, over all data sets, each order of records being one."""
    every = data_sets()
    repeats = [np.unique(values, return_counts=True)[1].tolist() for values in every.values]
    orders = [math.factorial(SIZE) // math.prod(map(math.factorial, counts)) for counts in repeats]
    ratios = {query: every.local_sensitivity(query) / every.global_sensitivity(query) for query in QUERIES}
    return Measured({query: float(np.median(np.repeat(ratio, orders))) for query, ratio in ratios.items()})


def decide_local_is_smaller(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{ratio:.3g} ({query})" for query, ratio in numbers.items())
    sentence = (
        f"On the middle one of all 3,125 data sets of five values from a grid, local over global sensitivity is {shown}."
    )
    smaller = [ratio <= tolerances["much smaller"] for ratio in numbers.values()]
    if all(smaller):
        return Decision("holds", sentence)
    if any(smaller):
        missing = "For which queries and data is not said; we assumed count, mean and median, and all data sets alike."
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="It is never larger; how much smaller depends on query and data.")


def measure_equation_4(evidence: Evidence) -> Measured:  # noqa: ARG001
    every = data_sets()
    gaps = [abs(every.global_sensitivity(query) - every.local_sensitivity(query).max()) for query in QUERIES]
    return Measured({"largest_gap": float(max(gaps))})


def decide_equation_4(numbers: Numbers, tolerances: Numbers) -> Decision:
    gap = numbers["largest_gap"]
    sentence = (
        f"For count, mean and median over 126 data sets, with x fixed in the local one, the two sides differ by {gap:.1g}."
    )
    return either(gap <= tolerances["same"], sentence, "The global sensitivity is not the largest local one.")


def measure_local_noise(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Noise of scale LS/epsilon on the median: the largest log-ratio of hitting the median within 1e-9, at epsilon = 1.

    Where LS(D) = 0 there is no noise, and D's median is hit for sure.
    """
    every = data_sets()
    local, middle = every.local_sensitivity("median"), every.answers("median")
    first, second = np.nonzero((every.distance == 1) & (local[:, None] == 0) & (local > 0) & (middle[:, None] == middle))
    if not len(first):
        return Measured({"pairs": 0.0, "log_ratio": 0.0})
    hit = 1 - 2 * laplace.sf(1e-9, scale=local[second])
    return Measured({"pairs": float(len(first)), "log_ratio": float(-np.log(hit).min())})


def decide_local_noise(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"{numbers['pairs']:g} pairs of neighbours have the same median, noise on one side and none on the other: hitting "
        f"the median within 1e-9 tells them apart by a log-ratio of {numbers['log_ratio']:.3g} at epsilon = 1."
    )
    return either(numbers["log_ratio"] > tolerances["largest epsilon"], sentence, "The noise gives nothing away here.")


BETA = 0.2


def measure_smooth(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Definition 5 for the median: with |D - D'| as the symmetric difference, and as the number of exchanged records.

    An exchanged record counts twice in the symmetric difference: the one that is gone and the one that is new.
    """
    every = data_sets()
    numbers = {}
    for name, apart in (("symmetric_difference", 2 * every.distance), ("exchanged", every.distance)):
        smooth = every.smooth_sensitivity("median", BETA, apart)
        numbers[f"least_excess_{name}"] = float(np.min(smooth - every.local_sensitivity("median")))
        numbers[f"stretch_{name}"] = every.stretch(smooth, BETA)
    return Measured(numbers)


def decide_smooth_upper(numbers: Numbers, tolerances: Numbers) -> Decision:
    excess = numbers["least_excess_symmetric_difference"]
    sentence = f"For the median over 126 data sets, S - LS is at least {excess:.2g}."
    return either(excess >= -tolerances["same"], sentence, "It is below the local sensitivity on some data.")


def decide_smooth_stretch(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed, exchanged = numbers["stretch_symmetric_difference"], numbers["stretch_exchanged"]
    sentence = (
        f"Where a record is exchanged, log S(D)/S(D') of the median reaches {printed:.4g} beta with the symmetric "
        f"difference of Definition 5, and {exchanged:.4g} beta if |D - D'| counts exchanged records."
    )
    instead = "The distance must be that of the neighbours: the number of records that are exchanged."
    return either(printed <= 1 + tolerances["slack"], sentence, instead)


def measure_smooth_noise(evidence: Evidence) -> Measured:
    """Definition 6 with the smooth sensitivity for the sensitivity, on the median: the share of epsilon at far outputs."""
    pair, epsilon = find("smooth_median").pairs()[2], 1.0
    data = [np.asarray(side) for side in (pair.first, pair.second)]
    scales = [median_smooth_sensitivity(values, 1.0, epsilon / 10) / epsilon for values in data]
    numbers = {}
    for output in (10.0, 1000.0):
        noise = [np.array([[output - median(values, 1.0)]]) for values in data]
        first, second = (log_laplace(*behind)[0] for behind in zip(noise, scales, strict=True))
        numbers[f"share_at_{output:g}"] = float(abs(first - second)) / epsilon
    return Measured(numbers | {"share_of_quartic": largest_share(catalogue_shares(evidence, "smooth_median"))})


def decide_smooth_noise(numbers: Numbers, tolerances: Numbers) -> Decision:
    near, far, quartic = (numbers[name] for name in ("share_at_10", "share_at_1000", "share_of_quartic"))
    sentence = (
        f"Laplace noise of scale S/epsilon on a median spends {near:.3g} epsilon at the output 10 and {far:.3g} at 1,000; "
        f"noise of density ~ 1/(1 + z^4) spends at most {quartic:.3g} epsilon."
    )
    if max(near, far) <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    if quartic <= 1 + tolerances["slack"]:
        missing = (
            "Which noise, which beta and which factor are not said; we assumed those of Nissim, Raskhodnikova and Smith."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="Neither noise keeps the promise.")


# Composition


def measure_parallel(evidence: Evidence) -> Measured:
    name = "parallel_composition_as_printed"
    shares = {
        "share": largest_share(catalogue_shares(evidence, name)),
        "share_deleted": largest_share(catalogue_shares(evidence, "parallel_composition")),
    }
    return Measured(shares, exact_witness(evidence, name))


def decide_parallel(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = (
        "It holds where a record is added or removed, and is then attained (largest share "
        f"{numbers['share_deleted']:.4g}); an exchanged record can leave one part and enter another, and costs both."
    )
    return decide_privacy(numbers, tolerances, "counts of two parts, one record exchanged", instead)


def measure_sequential(evidence: Evidence) -> Measured:
    """The same noisy count twice, from the table; and ten compositions of three discrete mechanisms, all outputs listed."""
    rng, pair = evidence.stream("sequential"), find("randomized_response").pairs()[1]
    shares = []
    for _ in range(10):
        epsilons = rng.uniform(0.1, 2.0, 3).tolist()
        parts = (
            RandomizedResponse.from_epsilon(epsilons[0]),
            most_frequent(epsilons[1], 2),
            NoisyBitsPosterior(epsilons[2]),
        )
        shares.append(largest_log_ratio(SequentialComposition(parts), pair) / sum(epsilons))
    table = largest_share(catalogue_shares(evidence, "sequential_composition"))
    return Measured({"share": max(table, *shares), "share_of_discrete": max(shares)})


# Mechanisms


def measure_laplace_norm(evidence: Evidence) -> Measured:
    """Two counts that a record moves by 1 each: what is spent at epsilon = 1 with the L1 and with the L2 sensitivity."""
    pair = medical_pair(1, "Diego is in both counts")
    norms = {"L1": 2.0, "L2": math.sqrt(2)}
    return Measured(
        {name: exactly_spent(evidence, Laplace(counts_four_and_five, norm, 1.0), pair) for name, norm in norms.items()}
    )


def decide_laplace_norm(numbers: Numbers, tolerances: Numbers) -> Decision:
    first, second = numbers["L1"], numbers["L2"]
    sentence = f"For two counts at epsilon = 1, {first:.4g} is spent with the L1 sensitivity, {second:.4g} with the L2 one."
    missing = "Which norm the sensitivity of a vector is measured in is not said; we assumed L1."
    return two_readings(first, second, sentence, tolerances, missing, "More noise is needed.")


def measure_noise_grows(evidence: Evidence) -> Measured:
    """The mean size of 20,000 draws of the noise on a count, by epsilon."""
    numbers = {}
    for epsilon in PRINTED_EPSILONS:
        mechanism = Laplace(len, 1, epsilon)
        noise = mechanism.sample(MEDICAL_RESULTS, 20_000, evidence.stream("noise", epsilon)) - len(MEDICAL_RESULTS)
        numbers[f"{epsilon:.4g}"] = float(np.mean(np.abs(noise)))
    return Measured(numbers)


def decide_noise_grows(numbers: Numbers, tolerances: Numbers) -> Decision:  # noqa: ARG001
    shown = ", ".join(f"{size:.3g} ({epsilon})" for epsilon, size in numbers.items())
    falls = all(later < earlier for earlier, later in pairwise(numbers.values()))
    return either(falls, f"The mean size of the noise on a count is (at epsilon) {shown}.", "It does not fall with epsilon.")


def measure_exponential_probability(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The sum of exp(epsilon q/(2 S)) over three candidates with counts 6, 0 and 0, at epsilon = 1."""
    mechanism, data = most_frequent(1.0), find("exponential_most_frequent").pairs()[0].first
    weights = np.exp(mechanism.epsilon * np.asarray(mechanism.utility(data)) / (2 * mechanism.sensitivity))
    return Measured({"sum": float(weights.sum()), "proportional": float(np.exp(mechanism.log_probabilities(data)).sum())})


def decide_exponential_probability(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"Over three candidates with counts 6, 0 and 0, exp(epsilon q/(2 S)) sums to {numbers['sum']:.4g} at epsilon = 1."
    )
    instead = f"The probabilities are in proportion to it, and then sum to {numbers['proportional']:.4g}."
    return either(abs(numbers["sum"] - 1) <= tolerances["same"], sentence, instead)


# Learners


SIZES = (1_000, 10_000, 100_000)
RATES = {"vanishing": -0.75, "growing": -0.1}
"""epsilon = n^rate, so that n epsilon^2 goes to 0, or to infinity."""


@cache
def efficiencies(evidence: Evidence, rate: float) -> dict[int, float]:
    """AdaOPS on the line: the mean square distance from least squares, in units of the latter's variance, by n."""
    found = {}
    for n in SIZES:
        rng = evidence.stream("efficiency", rate, n)
        x, noise = rng.choice([-1.0, 1.0], n), rng.uniform(-0.5, 0.5, n)
        data = np.column_stack([x, 0.5 * x + noise])
        slope = float(x @ data[:, 1]) / n
        drawn = AdaptivePosteriorSample(n**rate, 1e-5).sample(data, 1000, rng)[:, -1]
        found[n] = float(np.mean((drawn - slope) ** 2)) / (1 / 12 / n)
    return found


def measure_efficiency(evidence: Evidence) -> Measured:
    numbers: dict[str, float] = {}
    for name, rate in RATES.items():
        numbers |= {f"{name} {n}": value for n, value in efficiencies(evidence, rate).items()}
    return Measured(numbers)


def decide_efficiency(numbers: Numbers, tolerances: Numbers) -> Decision:
    vanishing, growing = ([numbers[f"{name} {n}"] for n in SIZES] for name in RATES)
    sentence = (
        "At n = 1,000, 10,000 and 100,000, a posterior sample adds (in units of the variance of least squares) "
        f"{listed(vanishing, digits=2)} where n epsilon^2 goes to 0, and {listed(growing, digits=2)} where it grows."
    )
    instead = "n epsilon^2 must grow without bound."
    if not growing[-1] < growing[0]:
        instead = "Neither condition is seen to suffice."
    return either(vanishing[-1] <= tolerances["efficient"], sentence, instead)


def measure_useless(evidence: Evidence) -> Measured:
    """How far private predictions of the kernel SVM stray at most, in 95% of runs, at epsilon = 0.1, by n.

    A feature vector has length 1, so no prediction strays by more than the length of the noise on the weights. The kernel
    is the inner product of the features.
    """
    machine = FourierFeatureSVM(0.1)
    noise = evidence.stream("useless").laplace(size=(4000, 2 * machine.frequencies))
    length = float(np.quantile(np.linalg.norm(noise, axis=1), 0.95))
    return Measured({f"{n:g}": machine.scale(n) * length for n in (1e3, 1e5, 1e7)})


def decide_useless(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{value:.2g} (n = {float(n):,.0f})" for n, value in numbers.items())
    sentence = f"At epsilon = 0.1 a private kernel SVM's predictions stray, in 95% of runs, by at most {shown}."
    instead = (
        f"It can only be meant for a given number of records; with few, this one strays by {max(numbers.values()):.2g}."
    )
    return either(min(numbers.values()) > tolerances["useful"], sentence, instead)


def named_only(assumed: str) -> Callable[[Numbers, Numbers], Decision]:
    """Where the survey names a private learner and does not say how it works: what was audited for it."""

    def decide(numbers: Numbers, tolerances: Numbers) -> Decision:
        share = numbers["share"]
        sentence = f"What was audited, {assumed}, spends at most {share:.4g} times its promise."
        if share > 1 + tolerances["slack"]:
            return Decision("fails as printed", sentence, instead="This learner is not private.")
        return Decision("underspecified", sentence, instead=f"No algorithm is given; we assumed {assumed}.")

    return decide


CHECKS = {
    "identifiers": Check(measure_identifiers, decide_identifiers),
    "background": Check(measure_background, decide_background),
    "grouped": Check(measure_grouped, decide_grouped),
    "four_people": Check(measure_four_people, decide_four_people),
    "neighbours": Check(measure_neighbours, decide_neighbours),
    "subtraction": Check(measure_subtraction, decide_subtraction),
    "same_probability": Check(measure_same_probability, decide_same_probability),
    "difference_attack": Check(measure_difference_attack, decide_difference_attack),
    "smaller_epsilon": Check(measure_smaller_epsilon, decide_smaller_epsilon),
    "count_sensitivity": Check(measure_count_sensitivity, decide_count_sensitivity),
    "mean_and_median": Check(measure_mean_and_median, decide_mean_and_median),
    "local_definition": Check(measure_local_definition, decide_local_definition),
    "local_is_smaller": Check(measure_local_is_smaller, decide_local_is_smaller),
    "equation_4": Check(measure_equation_4, decide_equation_4),
    "local_noise": Check(measure_local_noise, decide_local_noise),
    "smooth_upper": Check(measure_smooth, decide_smooth_upper),
    "smooth_stretch": Check(measure_smooth, decide_smooth_stretch),
    "smooth_noise": Check(measure_smooth_noise, decide_smooth_noise),
    "parallel": Check(measure_parallel, decide_parallel),
    "sequential": Check(measure_sequential, privately("a count released twice, and ten discrete compositions")),
    "laplace": Check(audited("laplace_count", "laplace_difference_attack"), privately("one count, and two")),
    "laplace_norm": Check(measure_laplace_norm, decide_laplace_norm),
    "noise_grows": Check(measure_noise_grows, decide_noise_grows),
    "exponential": Check(
        audited("exponential_median", "exponential_most_frequent"),
        privately("a median and a most frequent category, all outputs listed"),
    ),
    "exponential_probability": Check(measure_exponential_probability, decide_exponential_probability),
    "bayes_input": Check(audited("beta_bernoulli_input"), privately("a coin's bias from randomised bits")),
    "bayes_output": Check(audited("beta_bernoulli_output"), privately("a coin's bias, noise on the posterior's parameters")),
    "bayes_divergence": Check(
        audited("beta_bernoulli_hellinger"), privately("a coin's bias, a posterior chosen by Hellinger distance")
    ),
    "naive_bayes": Check(audited("naive_bayes"), privately("noisy counts of labels and features")),
    "linear_regression": Check(
        audited("posterior_sampling", "posterior_sampling_adaptive"),
        privately("one posterior sample, at delta = 1e-5, a record more or less"),
    ),
    "efficiency": Check(measure_efficiency, decide_efficiency),
    "kernel_svm": Check(audited("kernel_svm"), privately("random Fourier features with the paper's noise")),
    "useless": Check(measure_useless, decide_useless),
    "decision_tree": Check(
        audited("decision_tree"),
        named_only("random trees with noisy leaves (Jagannathan, Pillaipakkamnatt and Wright 2009)"),
    ),
    "k_means": Check(
        audited("k_means"),
        named_only("noisy Lloyd iterations (Blum, Dwork, McSherry and Nissim 2005), a record more or less"),
    ),
    "linear_svm": Check(audited("output_perturbation_hinge"), named_only("output perturbation with the hinge loss")),
    "logistic_regression": Check(
        audited("output_perturbation", "objective_perturbation_cms11"),
        named_only("output or objective perturbation of logistic regression"),
    ),
    "feature_selection": Check(audited("feature_selection"), named_only("the exponential mechanism, feature by feature")),
}
