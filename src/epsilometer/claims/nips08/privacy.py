"""Checks of what nips08 says about privacy: its definitions, the Laplace noise, Lemma 1, Corollary 2 and Theorems 1 to 3.

Privacy is judged on the worst pairs that the audits and the search find; that none was found beyond a promise is reported
with how near the worst one comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np
from scipy import stats

from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.claims.shared import bounded, catalogue_shares, decide_privacy, exact_witness, largest_share, listed, worst
from epsilometer.core import Array, HasDensity, HasSupport, LabelledData
from epsilometer.erm import LOGISTIC, Logistic, Objective, SphericalNoise, minimise, minimiser
from epsilometer.erm.objective import labelled
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.neighbours import labelled_records, only_record_that_counts, saturated_opponents
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationGeneral
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.mechanisms.smooth_sensitivity import median_smooth_sensitivity
from epsilometer.pairs.boundary import spent_by_2008
from epsilometer.pairs.search import worst_pair

MANY, WEAK = 200_000, 1e-4
"""Records and lambda at which two records can pull w with almost their whole length, in opposite directions."""
FIRST_SIZE, PAPERS_LAM = 1_000, 0.01
"""The first point of the paper's learning curve, and its lambda."""
SMALL_EPSILON = 0.02


# Definitions and the Laplace noise (section 2)


def measure_neighbours(evidence: Evidence) -> Measured:
    """What Algorithm 1 spends where a record is exchanged, and where one that does nothing is removed, near and far out.

    The noise has rate n lam epsilon/2; with n - 1 records it is smaller, so the ratio grows with the distance.
    """
    mechanism = OutputPerturbation(1.0, PAPERS_LAM)
    origin = (0.0, 0.0), 1.0
    balanced = [((1.0, 0.0), 1.0), ((1.0, 0.0), -1.0), origin]
    more, less = (labelled_records(balanced, [50.0, 50.0, count]) for count in (2.0, 1.0))
    sensitivity = 2 / (more.n * PAPERS_LAM)
    outputs = np.array([[0.0, distance * sensitivity] for distance in (10.0, 1000.0)])
    near, far = np.abs(mechanism.log_density(more, outputs) - mechanism.log_density(less, outputs))
    return Measured({"exchanged": _output_share(evidence), "removed_near": float(near), "removed_far": float(far)})


def decide_neighbours(numbers: Numbers, tolerances: Numbers) -> Decision:
    exchanged, near, far = (numbers[name] for name in ("exchanged", "removed_near", "removed_far"))
    sentence = (
        f"Algorithm 1 spends at most {exchanged:.3g} epsilon where a record is exchanged; where one of 102 is removed, "
        f"{near:.3g} epsilon at an output 10 sensitivities out, and {far:.3g} at 1,000."
    )
    if exchanged > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead="Neither reading of the definition is met.")
    if max(near, far) <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    missing = (
        "Whether an element is exchanged or removed is not said, and single outputs of a continuous mechanism have "
        "probability 0; we assumed exchanged, as in the proofs, and densities."
    )
    return Decision("underspecified", sentence, instead=missing)


def measure_words(evidence: Evidence) -> Measured:  # noqa: ARG001
    """By how much one bit changes the probabilities of randomised response, as a share of epsilon."""
    differences, relative = [], []
    for promised in (0.1, 1.0, 2.0):
        first, second = _response_probabilities(promised)
        differences.append(np.max(np.abs(first - second)) / promised)
        relative.append(np.max(first / second - 1) / promised)
    return Measured({"difference": float(max(differences)), "relative": float(max(relative))})


def decide_words(numbers: Numbers, tolerances: Numbers) -> Decision:
    difference, relative = numbers["difference"], numbers["relative"]
    sentence = (
        f"Randomised response, which spends exactly epsilon, changes a probability by at most {difference:.3g} epsilon, but "
        f"by up to {relative:.3g} epsilon of itself."
    )
    if relative <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    if difference <= 1 + tolerances["slack"]:
        missing = (
            "Whether the change is a difference or a ratio is not said; we assumed the ratio e^epsilon of Definition 1."
        )
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead="A likelihood changes by a factor of at most e^epsilon.")


def measure_adversary(evidence: Evidence) -> Measured:  # noqa: ARG001
    """How sure of the last bit of randomised response one can become who knew all others, and nothing about this one."""
    posteriors = {}
    for promised in (0.1, 1.0, 5.0):
        first, second = _response_probabilities(promised)
        posteriors[f"posterior_at_{promised:g}"] = float(np.max(first / (first + second)))
    return Measured(posteriors)


def decide_adversary(numbers: Numbers, tolerances: Numbers) -> Decision:
    sure = tolerances["sure"]
    shown = ", ".join(f"{value:.3f} ({name.removeprefix('posterior_at_')})" for name, value in numbers.items())
    sentence = f"From 1/2, the largest posterior probability of a bit rises to (at epsilon) {shown}."
    if max(numbers.values()) < sure:
        return Decision("holds", sentence)
    missing = (
        f"What confidence suffices is not said: the posterior is at most e^epsilon/(1 + e^epsilon), which is {sure:g} from "
        f"epsilon = {math.log(sure / (1 - sure)):.2f} on; we assumed nothing more."
    )
    return Decision("underspecified", sentence, instead=missing)


def _response_probabilities(promised: float) -> tuple[Array, Array]:
    """The probabilities of every output of randomised response on its first pair."""
    entry = find("randomized_response")
    mechanism, pair = entry.build(promised), entry.pairs()[0]
    assert math.isclose(largest_log_ratio(mechanism, pair), promised)
    assert isinstance(mechanism, HasSupport)
    assert isinstance(mechanism, HasDensity)
    outputs = mechanism.support(pair.first)
    first, second = (np.exp(mechanism.log_density(data, outputs)) for data in (pair.first, pair.second))
    return first, second


def measure_sensitivity_formula(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The largest n lam |w - w'| over the last record alone, for several choices of the other records."""
    held, count = labelled(saturated_opponents(MANY).first).features[0], float(MANY - 1)
    others = {
        "at the origin": [((0.0, 0.0), 1.0, count)],
        "balanced": [(axis, label, count / 4) for axis in ((1.0, 0.0), (0.0, 1.0)) for label in (1.0, -1.0)],
        "held far out": [(tuple(held.tolist()), 1.0, count)],
    }
    return Measured({name: _largest_shift(records) for name, records in others.items()})


def _largest_shift(others: Sequence[tuple[Sequence[float], float, float]]) -> float:
    """n lam |w - w'| over a few unit records in the last place."""
    angles = [np.pi * part for part in (0.0, 0.5, 0.564, 1.0, 1.436, 1.5)]  # two of them as in `saturated_opponents`
    centres = []
    for angle in angles:
        records = [*((features, label) for features, label, _ in others), ((math.cos(angle), math.sin(angle)), 1.0)]
        centres.append(minimiser(LOGISTIC, labelled_records(records, [*(count for *_, count in others), 1.0]), WEAK))
    return MANY * WEAK * max(float(np.linalg.norm(one - other)) for one, other in combinations(centres, 2))


def decide_sensitivity_formula(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{value:.3g} ({name})" for name, value in numbers.items())
    sentence = f"For logistic regression the formula gives n lambda S = {shown}, by where the other records are."
    if max(numbers.values()) <= (1 + tolerances["same"]) * min(numbers.values()):
        return Decision("holds", sentence)
    missing = (
        "The formula takes its maximum over the last input alone, for an f that is a number; we assumed the maximum over "
        "all inputs, as the sentence before it says, and the Euclidean norm."
    )
    return Decision("underspecified", sentence, instead=missing)


def measure_laplace(evidence: Evidence) -> Measured:
    numbers = {
        "share": largest_share(catalogue_shares(evidence, "laplace_standard_deviation")),
        "share_with_scale": largest_share(catalogue_shares(evidence, "laplace_count")),
    }
    return Measured(numbers, exact_witness(evidence, "laplace_standard_deviation"))


def decide_laplace(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = f"With S/epsilon as the scale, the share is {numbers['share_with_scale']:.4g}."
    return decide_privacy(numbers, tolerances, "a count, the noise's standard deviation being S/epsilon", instead)


def measure_smooth_laplace(evidence: Evidence) -> Measured:
    numbers = {
        "share": largest_share(catalogue_shares(evidence, "smooth_median_as_printed")),
        "share_with_quartic_noise": largest_share(catalogue_shares(evidence, "smooth_median")),
    }
    return Measured(numbers, exact_witness(evidence, "smooth_median_as_printed"))


def decide_smooth_laplace(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = (
        "Pure privacy needs noise with a heavier tail, say a density ~ 1/(1 + z^4), whose share is "
        f"{numbers['share_with_quartic_noise']:.3g}; Laplace noise of scale 2 SS/epsilon gives (epsilon, delta)."
    )
    return decide_privacy(
        numbers, tolerances, "a median, far out; as the noise depends on the data there is no bound", instead
    )


def measure_smooth_is_less(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The smooth sensitivity of the median of values in [0, 1], of sensitivity 1, on concentrated and on split data."""
    concentrated, split = np.linspace(0.45, 0.55, 101), np.repeat([0.0, 1.0], [51, 50])
    values = {"concentrated": concentrated, "split": split}
    return Measured({name: median_smooth_sensitivity(data, 1.0, beta=0.1) for name, data in values.items()})


def decide_smooth_is_less(numbers: Numbers, tolerances: Numbers) -> Decision:
    least, most = numbers["concentrated"], numbers["split"]
    sentence = (
        f"The median of 101 values in [0, 1], of sensitivity 1, has a smooth sensitivity of {least:.3g} or {most:.3g}."
    )
    if least < tolerances["less"]:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="It is never less on the data tried.")


# Lemma 1 and Corollary 2


@cache
def _shifts(evidence: Evidence) -> float:
    """The largest |w1 - w2| G2/g1 for G a regularised logistic risk on random records and g(w) = c.w.

    Far out the logistic loss has no curvature, so G2 = lam; g1 = |c|.
    """
    rng = evidence.stream("lemma 1")
    shares = []
    for d in (1, 2, 5):
        features = rng.uniform(-1, 1, (20, d)) / math.sqrt(d)
        objective = Objective.of(LOGISTIC, LabelledData(features, np.where(rng.random(20) < 0.5, -1.0, 1.0)), PAPERS_LAM)
        directions = rng.standard_normal((60, d))
        linear = directions * 10 ** rng.uniform(-3, 2, (60, 1)) / np.linalg.norm(directions, axis=1, keepdims=True)
        moved = minimise(objective, linear) - minimise(objective, np.zeros((1, d)))
        shares.append(np.linalg.norm(moved, axis=1) * PAPERS_LAM / np.linalg.norm(linear, axis=1))
    return float(np.max(shares))


def measure_lemma_1(evidence: Evidence) -> Measured:
    return Measured({"share": _shifts(evidence)})


def decide_lemma_1(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    sentence = f"Over 180 pairs of functions, the minimisers are at most {share:.4g} g1/G2 apart."
    return bounded(share, sentence, tolerances, "No constant was found that holds.")


def measure_lemma_1_proof(evidence: Evidence) -> Measured:
    """For quadratic G with Hessian H and g = c.w, so that w2 - w1 = -H^-1 c: by how much a coordinate exceeds its bound.

    In units of |c|/G2, over random H and c in the plane: as printed, in absolute values, and these in H's eigenbasis.
    """
    rng = evidence.stream("lemma 1, proof")
    excess = {"printed": -math.inf, "absolute": -math.inf, "eigenbasis": -math.inf}
    for _ in range(200):
        root, c = rng.standard_normal((2, 2)), rng.standard_normal(2)
        hessian = root @ root.T + 0.1 * np.eye(2)
        values, vectors = np.linalg.eigh(hessian)
        moved, limit, unit = -np.linalg.solve(hessian, c), c / values[0], np.linalg.norm(c) / values[0]
        turned = np.abs(vectors.T @ moved) - np.abs(vectors.T @ limit)
        sizes = {"printed": moved - limit, "absolute": np.abs(moved) - np.abs(limit), "eigenbasis": turned}
        excess = {name: max(excess[name], float(np.max(size) / unit)) for name, size in sizes.items()}
    return Measured(excess)


def decide_lemma_4_step(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The proof of Lemma 4 uses Lemma 1 with g(w) = b.w/n, and 2|b|/(n lam) where the lemma gives |b|/(n lam)."""
    multiple = numbers["share"]
    sentence = f"Over 180 linear terms, the minimiser moves by at most {multiple:.4g} |b|/(n lambda); 2 is claimed."
    return bounded(multiple / 2, sentence, tolerances, "Lemma 1 does not give this constant.")


def decide_lemma_1_proof(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed, absolute, eigenbasis = (numbers[name] for name in ("printed", "absolute", "eigenbasis"))
    sentence = (
        f"For quadratics in the plane a coordinate exceeds its bound by up to {printed:.3g} g1/G2 as printed and "
        f"{absolute:.3g} in absolute values; in the eigenbasis of the Hessian by {eigenbasis:.1g}."
    )
    if printed <= tolerances["slack"]:
        return Decision("holds", sentence)
    instead = "For a quadratic G it holds in absolute values and in the eigenbasis; elsewhere mixed terms are missing."
    if eigenbasis > tolerances["slack"]:
        instead = "Only the norm of the whole step is bounded."
    return Decision("fails as printed", sentence, instead=instead)


def measure_corollary_2(evidence: Evidence) -> Measured:
    """|w - w'| of the worst pairs, as a share of 2/(n lam): in the plane, at the paper's lambda, and on the line."""
    numbers = {
        "share": _output_share(evidence),
        "share_at_the_papers_lambda": worst(evidence, "nips08_algorithm_1_n14000", 1.0, 14_000, 2).log_ratio,
        "share_on_the_line": worst(evidence, "output_perturbation", 1.0, MANY, 1).log_ratio,
    }
    return Measured(numbers)


def _output_share(evidence: Evidence) -> float:
    """Algorithm 1 spends epsilon |w - w'|/(2/(n lam)), so at epsilon = 1 its loss is the share of the sensitivity."""
    return worst(evidence, "output_perturbation", 1.0, MANY, 2).log_ratio


def decide_corollary_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"The worst pair in the plane moves the minimiser by {numbers['share']:.4g} of 2/(n lambda); at lambda = 0.01 and "
        f"n = 14,000 by {numbers['share_at_the_papers_lambda']:.3g}, and on the line by {numbers['share_on_the_line']:.3g}."
    )
    return bounded(max(numbers.values()), sentence, tolerances, "No smaller multiple of 1/(n lambda) was found to hold.")


def measure_regularisation(evidence: Evidence) -> Measured:
    """By lambda: the minimiser's shift on the worst pair of 1,000 records, and Algorithm 1's mean noise in the plane."""
    numbers = {}
    for lam in (1e-3, 1e-2, 1e-1):
        mechanism = OutputPerturbation(1.0, lam)
        noise = mechanism.noise(FIRST_SIZE)
        assert isinstance(noise, SphericalNoise)
        found = worst_pair(mechanism, FIRST_SIZE, 2, evidence.stream("regularisation", lam))
        numbers[f"shift_at_{lam:g}"] = found.log_ratio / noise.rate
        numbers[f"noise_at_{lam:g}"] = 2 / noise.rate
    return Measured(numbers)


def decide_regularisation(numbers: Numbers, tolerances: Numbers) -> Decision:
    shifts, noises = ([numbers[f"{name}_at_{lam:g}"] for lam in (1e-3, 1e-2, 1e-1)] for name in ("shift", "noise"))
    sentence = (
        "At lambda = 0.001, 0.01 and 0.1 the worst pair of 1,000 records moves the minimiser by "
        f"{listed(shifts)}, and Algorithm 1's noise has mean length {listed(noises)}."
    )
    falls = all(later < earlier * (1 - tolerances["falls"]) for row in (shifts, noises) for earlier, later in pairwise(row))
    if falls:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="Not both fall with lambda.")


# Theorems 1 to 3


def measure_theorem_1(evidence: Evidence) -> Measured:
    share = max(_output_share(evidence), largest_share(catalogue_shares(evidence, "output_perturbation")))
    found = worst(evidence, "output_perturbation", 1.0, MANY, 2)
    return Measured({"share": share}, found.witness("output_perturbation", 1.0))


def decide_theorem_1(numbers: Numbers, tolerances: Numbers) -> Decision:
    return decide_privacy(numbers, tolerances, "search over pairs of 200,000 records in the plane", "More noise is needed.")


def measure_gamma_norm(evidence: Evidence) -> Measured:  # noqa: ARG001
    """The largest distance between two distributions of |b|: the density ~ exp(-rate |b|) integrated, and Gamma(d, 1/rate).

    In R^d a shell of radius r has an area in proportion to r^(d-1).
    """
    rate = FIRST_SIZE * PAPERS_LAM / 2
    distances = []
    for d in (1, 2, 10):
        radii = np.linspace(0, stats.gamma(d, scale=1 / rate).ppf(1 - 1e-10), 200_001)
        vectors = np.zeros((len(radii), d))
        vectors[:, 0] = radii
        shells = np.exp(SphericalNoise(rate).log_density(vectors)) * radii ** (d - 1)
        mass = np.concatenate([[0.0], np.cumsum((shells[1:] + shells[:-1]) / 2)])
        distances.append(np.max(np.abs(mass / mass[-1] - stats.gamma(d, scale=1 / rate).cdf(radii))))
    return Measured({"distance": float(max(distances))})


def decide_gamma_norm(numbers: Numbers, tolerances: Numbers) -> Decision:
    distance = numbers["distance"]
    sentence = f"In 1, 2 and 10 dimensions the two distributions of the norm differ by at most {distance:.1g}."
    if distance <= tolerances["same"]:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="The norm has another distribution.")


@cache
def boundary_numbers(evidence: Evidence) -> dict[str, float]:
    """From what Algorithm 2 spends: the n lam epsilon around the boundary, and the least share of log(1 + epsilon)."""
    rows = evidence.table("boundary/nips08", "epsilon", "n_lam", "spent", "exceeds")
    beyond = [row["epsilon"] * row["n_lam"] for row in rows if row["exceeds"]]
    within = [row["epsilon"] * row["n_lam"] for row in rows if not row["exceeds"]]
    return {
        "exceeded_up_to": max(beyond, default=0.0),
        "kept_from": min((product for product in within if product > max(beyond, default=0.0)), default=math.inf),
        "least_share_of_slides": min(row["spent"] / math.log1p(row["epsilon"]) for row in rows),
    }


def measure_theorem_2(evidence: Evidence) -> Measured:
    name = "nips08_algorithm_2_n1000"
    found = worst(evidence, name, SMALL_EPSILON, FIRST_SIZE, 2)
    numbers = {"share": found.log_ratio / SMALL_EPSILON, **boundary_numbers(evidence)}
    return Measured(numbers, found.witness(name, SMALL_EPSILON))


def decide_theorem_2(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = (
        "It holds for logistic regression if n lambda epsilon >= 2: in the table of the boundary it is exceeded up to "
        f"n lambda epsilon = {numbers['exceeded_up_to']:.4g} and kept from {numbers['kept_from']:.4g} on."
    )
    return decide_privacy(numbers, tolerances, "n = 1,000, lambda = 0.01, epsilon = 0.02, two dimensions", instead)


def measure_any_lambda(evidence: Evidence) -> Measured:
    """What Algorithm 2 spends at epsilon = 1 on 100 records as lambda falls; and the exact loss of an explicit pair."""
    spent = {f"spent_at_{lam:g}": float(spent_by_2008(1.0, 100 * lam)) for lam in (1e-1, 1e-2, 1e-4, 1e-6)}
    witness = exact_witness(evidence, "objective_perturbation_2008")
    assert witness is not None
    return Measured({"share": abs(witness.log_ratio), **spent}, witness)


def decide_any_lambda(numbers: Numbers, tolerances: Numbers) -> Decision:
    spent = ", ".join(
        f"{value:.3g} ({name.removeprefix('spent_at_')})" for name, value in numbers.items() if name != "share"
    )
    instead = f"lambda >= 2/(n epsilon) is needed: with 100 records at epsilon = 1 it can spend (at lambda) {spent}."
    return decide_privacy(numbers, tolerances, "an explicit pair at epsilon = 1, n = 100 and lambda = 0.0001", instead)


def measure_noise_shift(evidence: Evidence) -> Measured:  # noqa: ARG001
    """|b1 - b2| for one output, where both records are wrong there."""
    pair = saturated_opponents(MANY)
    w = minimiser(LOGISTIC, pair.first, WEAK)[None]
    first, second = (-MANY * Objective.of(LOGISTIC, data, WEAK).gradient(w)[0] for data in (pair.first, pair.second))
    return Measured({"share": float(np.linalg.norm(first - second)) / 2})


def decide_noise_shift(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"On a pair that both pull as hard as they can, |b1 - b2| is {2 * numbers['share']:.4g}."
    return bounded(numbers["share"], sentence, tolerances, "The gradients can differ by more.")


def measure_change_of_variables(evidence: Evidence) -> Measured:  # noqa: ARG001
    """On the line: log h(b1)/h(b2), and the log-ratio of the outputs' densities from their distribution functions.

    b(w) falls in w, so P(W <= w) = P(b >= b(w)); a difference quotient of it is the density, whatever one believes about h.
    """
    epsilon, n, w, step = 1.0, 100, 0.01, 1e-5
    pair, mechanism = only_record_that_counts(n), ObjectivePerturbation2008(epsilon, WEAK)
    law = stats.laplace(scale=2 / epsilon)
    noise, output, density = [], [], []
    for data in (pair.first, pair.second):
        objective = Objective.of(LOGISTIC, data, WEAK)
        below, at, above = -n * objective.gradient(np.array([[w - step], [w], [w + step]]))[:, 0]
        noise.append(law.logpdf(at))
        output.append(math.log((law.cdf(below) - law.cdf(above)) / (2 * step)))
        density.append(mechanism.log_density(labelled(data), np.array([[w]]))[0])
    ratios = {"noise": noise, "outputs": output, "with_determinant": density}
    return Measured({name: float(first - second) for name, (first, second) in ratios.items()})


def decide_change_of_variables(numbers: Numbers, tolerances: Numbers) -> Decision:
    noise, outputs, determinant = (numbers[name] for name in ("noise", "outputs", "with_determinant"))
    sentence = (
        f"At one output the log-ratio of the noise is {noise:.4g}; that of the outputs, from their distribution functions, "
        f"is {outputs:.4g}."
    )
    if abs(noise - outputs) <= tolerances["same"]:
        return Decision("holds", sentence)
    instead = f"The densities are h(b) |det n Hess J|: with the determinants the log-ratio is {determinant:.4g}."
    return Decision("fails as printed", sentence, instead=instead)


def measure_theorem_3(evidence: Evidence) -> Measured:
    numbers = {
        "share": largest_share(catalogue_shares(evidence, "objective_perturbation_general")),
        "share_when_corrected": largest_share(catalogue_shares(evidence, "objective_perturbation_huber")),
    }
    return Measured(numbers, exact_witness(evidence, "objective_perturbation_general"))


def decide_theorem_3(numbers: Numbers, tolerances: Numbers) -> Decision:
    instead = (
        "With losses of curvature at most c and a regulariser that is mu-strongly convex, what is spent is at most "
        "epsilon + log(1 + c/mu); noise that pays for this beforehand keeps the promise (largest share "
        f"{numbers['share_when_corrected']:.3g})."
    )
    return decide_privacy(numbers, tolerances, "three records with the Huber loss, on the line", instead)


class _Doubled(Logistic):
    """A loss with twice the logistic loss's slope."""

    lipschitz = 2.0


def measure_no_sensitivity(evidence: Evidence) -> Measured:  # noqa: ARG001
    """Algorithm 2's mean noise, in one dimension, relative to that at n = 1,000 and lambda = 0.01 for the logistic loss."""
    kinds = {
        "base": ObjectivePerturbation2008(1.0, PAPERS_LAM).plan(FIRST_SIZE),
        "ten_times_lambda": ObjectivePerturbation2008(1.0, 10 * PAPERS_LAM).plan(FIRST_SIZE),
        "ten_times_n": ObjectivePerturbation2008(1.0, PAPERS_LAM).plan(10 * FIRST_SIZE),
        "twice_the_slope": ObjectivePerturbationGeneral(1.0, FIRST_SIZE * PAPERS_LAM, loss=_Doubled()).plan(FIRST_SIZE),
    }
    rates = {name: noise.rate for name, (noise, _) in kinds.items() if isinstance(noise, SphericalNoise)}
    return Measured({name: rates["base"] / rate for name, rate in rates.items() if name != "base"})


def decide_no_sensitivity(numbers: Numbers, tolerances: Numbers) -> Decision:
    lam, n, slope = (numbers[name] for name in ("ten_times_lambda", "ten_times_n", "twice_the_slope"))
    sentence = (
        f"The noise is multiplied by {lam:.3g} where lambda is ten times as large, by {n:.3g} where n is, and by "
        f"{slope:.3g} where the loss is twice as steep; the sensitivity 2 kappa/(n lambda) by 0.1, 0.1 and 2."
    )
    if all(abs(value - 1) <= tolerances["same"] for value in numbers.values()):
        return Decision("holds", sentence)
    instead = "The noise does not depend on n and lambda, but does on the bound kappa of the gradient, as Theorem 3 says."
    return Decision("fails as printed", sentence, instead=instead)


def measure_anonymised(evidence: Evidence) -> Measured:
    return Measured({"spent": min(catalogue_shares(evidence, "k_anonymity").values())})


def decide_anonymised(numbers: Numbers, tolerances: Numbers) -> Decision:
    spent, largest = numbers["spent"], tolerances["largest_epsilon"]
    sentence = (
        f"The exact audit of a 2-anonymous table of nine patients, by one who knows all others, gives epsilon = {spent:g}; "
        f"{largest:g} would be very weak privacy."
    )
    if spent > largest:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="This anonymised table gives little away.")


CHECKS = {
    "neighbours": Check(measure_neighbours, decide_neighbours),
    "definition_in_words": Check(measure_words, decide_words),
    "adversary": Check(measure_adversary, decide_adversary),
    "sensitivity_formula": Check(measure_sensitivity_formula, decide_sensitivity_formula),
    "laplace": Check(measure_laplace, decide_laplace),
    "smooth_laplace": Check(measure_smooth_laplace, decide_smooth_laplace),
    "smooth_is_less": Check(measure_smooth_is_less, decide_smooth_is_less),
    "lemma_1": Check(measure_lemma_1, decide_lemma_1),
    "lemma_4_step": Check(measure_lemma_1, decide_lemma_4_step),
    "lemma_1_proof": Check(measure_lemma_1_proof, decide_lemma_1_proof),
    "corollary_2": Check(measure_corollary_2, decide_corollary_2),
    "regularisation": Check(measure_regularisation, decide_regularisation),
    "theorem_1": Check(measure_theorem_1, decide_theorem_1),
    "gamma_norm": Check(measure_gamma_norm, decide_gamma_norm),
    "theorem_2": Check(measure_theorem_2, decide_theorem_2),
    "any_lambda": Check(measure_any_lambda, decide_any_lambda),
    "noise_shift": Check(measure_noise_shift, decide_noise_shift),
    "change_of_variables": Check(measure_change_of_variables, decide_change_of_variables),
    "theorem_3": Check(measure_theorem_3, decide_theorem_3),
    "no_sensitivity": Check(measure_no_sensitivity, decide_no_sensitivity),
    "anonymised": Check(measure_anonymised, decide_anonymised),
}
