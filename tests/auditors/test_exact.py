"""The exact audits against closed forms, the catalogue's known epsilons, quadrature and simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from epsilometer.auditors.exact import (
    INTEGRATED,
    LISTED,
    SAMPLED,
    SEARCHED,
    ExactLikelihoodRatio,
    ExactPrivacyCurve,
    delta_at,
    epsilon_at,
    listed_outputs,
    privacy_loss_distribution,
    privacy_loss_rows,
)
from epsilometer.auditors.exact.ratio import LogRatio
from epsilometer.core import Array, EpsilometerError, Guarantee, HasDensity, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import Entry, catalogue, find
from epsilometer.mechanisms.gaussian import Gaussian, gaussian_delta
from epsilometer.mechanisms.laplace import Laplace
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from tests.marks import slow, slow_where

GROWING = {
    "output_perturbation_gamma_one": "towards this output",
    "output_perturbation_tuned": "at every tenfold up to 1e+150",
    "smooth_median_as_printed": "at every tenfold up to 1e+150",
}
"""Infinite although no output is impossible under one data set: the largest ratio is reported, and that it grew."""
PAIR = NeighbouringPair(np.array([0.0]), np.array([1.0]), "replace-one", "one number")


def value(dataset: Any) -> Any:
    return np.asarray(dataset)[0]


def repeated(numbers: int) -> Any:
    """The one record, several times."""
    return lambda dataset: np.full(numbers, value(dataset))


def known(finite: bool) -> list[str]:
    """The entries whose epsilon is known, and finite or not, and that have a density."""
    entries = [entry for entry in catalogue().values() if entry.true_epsilon and isinstance(entry.build(1.0), HasDensity)]
    return [entry.name for entry in entries if entry.true_epsilon and math.isfinite(entry.true_epsilon(1.0)) == finite]


def audited(entry: Entry, epsilon: float, trials: int = 1000) -> list[Any]:
    mechanism = entry.build(epsilon)
    auditor = ExactLikelihoodRatio(entry.name)
    return [auditor(mechanism, pair, trials, stream(2, entry.name, epsilon)) for pair in entry.pairs()]


def is_costly(name: str) -> bool:
    return name.startswith("sparse_vector") or name in {
        "k_means",
        "output_perturbation_free_intercept",
        "output_perturbation_intercept",
    }


@pytest.mark.parametrize("epsilon", [slow(0.5), 2.0])
@pytest.mark.parametrize("name", slow_where(is_costly, known(finite=True)))
def test_the_catalogues_epsilons_are_reached_from_below(name: str, epsilon: float) -> None:
    entry = find(name)
    assert entry.true_epsilon
    truth = entry.true_epsilon(epsilon)
    best = max(audited(entry, epsilon), key=lambda estimate: estimate.epsilon)
    assert truth * (1 - 1e-6) <= best.epsilon <= truth + 1e-9
    assert (best.confidence, best.delta, best.event) == (1.0, 0.0, "")
    assert best.witness.mechanism == name
    assert best.witness.promised == pytest.approx(epsilon, rel=1e-12)
    assert abs(best.witness.log_ratio) == pytest.approx(best.epsilon, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", sorted(set(known(finite=False)) - set(GROWING)))
def test_infinity_is_claimed_where_an_output_is_impossible(name: str) -> None:
    best = max(audited(find(name), 1.0), key=lambda estimate: estimate.epsilon)
    assert best.epsilon == math.inf
    assert abs(best.witness.log_ratio) == math.inf
    assert "one data set only" in best.event


@pytest.mark.parametrize("name", GROWING)
def test_infinity_is_not_claimed_where_a_ratio_only_grows(name: str) -> None:
    assert name in known(finite=False)
    best = max(audited(find(name), 1.0), key=lambda estimate: estimate.epsilon)
    assert 20 < best.epsilon < math.inf
    assert "still growing" in best.event
    assert GROWING[name] in best.event


@pytest.mark.slow
@pytest.mark.parametrize("pair", [1, 2])
def test_a_rare_kind_of_output_is_not_left_to_luck(pair: int) -> None:
    """The best output of the sparse vector has its only answer at the end, which is drawn once in ten times or less."""
    entry = find("sparse_vector_3")
    mechanism, auditor = entry.build(1.0), ExactLikelihoodRatio(entry.name)
    found = [
        auditor(mechanism, entry.pairs()[pair], 400, stream(seed, "luck")).epsilon for seed in range(10 if pair == 2 else 3)
    ]
    assert max(found) - min(found) < 1e-6
    assert max(found) == pytest.approx({1: 4.5, 2: 5.0}[pair], abs=1e-6)


def test_a_ratio_that_grows_slower_and_slower_is_not_said_to_grow_for_ever() -> None:
    """The pure smooth median's ratio tends to a limit far out."""
    assert all("tenfold" not in estimate.event for estimate in audited(find("smooth_median"), 1.0))


def test_the_witness_gives_the_ratio_that_the_mechanism_states() -> None:
    entry = find("objective_perturbation_2008")
    mechanism: Any = entry.build(0.5)
    for estimate in audited(entry, 0.5):
        w = estimate.witness
        first, second = (mechanism.log_density(data, w.output[None])[0] for data in (w.pair.first, w.pair.second))
        assert w.log_ratio == first - second


@pytest.mark.slow
def test_objective_perturbation_of_2008_against_a_fine_grid() -> None:
    entry = find("objective_perturbation_2008")
    mechanism: Any = entry.build(0.5)
    pair = entry.pairs()[0]
    w = np.concatenate([-np.logspace(-4, 6, 200_001), np.logspace(-4, 6, 200_001)])[:, None]
    with np.errstate(over="ignore"):
        ratio = mechanism.log_density(pair.first, w) - mechanism.log_density(pair.second, w)
    found = audited(entry, 0.5)[0].epsilon
    assert np.abs(ratio).max() <= found <= np.abs(ratio).max() + 1e-6


@dataclass(frozen=True)
class Shifted:
    """A density that vanishes left of the record (exponential noise), or underflows far from it (normal noise)."""

    exponential: bool
    guarantee = Guarantee(1.0, "replace-one")
    source = "test"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        noise = rng.exponential(size=size) if self.exponential else rng.normal(size=size)
        return np.asarray(value(dataset) + noise)

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        z = outputs - value(dataset)
        with np.errstate(divide="ignore", under="ignore"):
            return np.where(z >= 0, -z, -np.inf) if self.exponential else np.log(np.exp(-(z**2) / 2))


def test_an_underflow_is_not_taken_for_an_impossible_output() -> None:
    apart = NeighbouringPair(np.array([0.0]), np.array([45.0]), "replace-one", "so far apart that densities underflow")
    auditor = ExactLikelihoodRatio("test")
    assert auditor(Shifted(exponential=True), apart, 200, stream(1)).epsilon == math.inf
    underflown = auditor(Shifted(exponential=False), apart, 200, stream(1))
    assert 600 < underflown.epsilon < math.inf


def test_the_few_digits_of_tiny_numbers_are_not_taken_for_a_ratio() -> None:
    """Far out the log-ratio of the largest of five answers tends to log(5 e^(1/4)/(1 + 4 e^(1/2))) for noise of mean 4."""
    entry = find("noisy_max_exponential_value")
    mechanism: Any = entry.build(0.5)
    far_out = np.array([2960.0, 2970.0])  # where densities have one digit, and log-ratios would be multiples of log 2
    assert np.all(LogRatio(mechanism, entry.pairs()[2]).secured(far_out)[0] == -np.inf)
    usable = LogRatio(mechanism, entry.pairs()[2]).secured(np.array([2000.0]))[1][0]
    assert usable == pytest.approx(math.log(5 * math.exp(0.25) / (1 + 4 * math.exp(0.5))), rel=1e-9)


def test_too_many_outputs_to_list_are_sampled() -> None:
    bits = np.zeros(25, dtype=int)
    other = bits.copy()
    other[3] = 1
    pair = NeighbouringPair(bits, other, "replace-one", "25 persons have too many outputs to list")
    mechanism = RandomizedResponse.from_epsilon(1.0)
    assert listed_outputs(mechanism, pair) is None
    estimate = ExactLikelihoodRatio("randomized_response")(mechanism, pair, 100, stream(1))
    assert estimate.epsilon == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("trials", [0, 1, 2, 3, 10])
def test_a_few_trials_will_do(trials: int) -> None:
    estimate = ExactLikelihoodRatio("laplace_count")(Laplace(value, 1, 1.0), PAIR, trials, stream(1))
    assert estimate.epsilon == pytest.approx(1.0, rel=1e-9)


def test_without_a_density_there_is_a_sentence() -> None:
    entry = find("non_private_logistic")
    with pytest.raises(EpsilometerError, match="NonPrivateLogistic does not know the density"):
        ExactLikelihoodRatio(entry.name)(entry.build(1.0), entry.pairs()[0], 10, stream(1))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.999, 1.0, 1.5])
def test_delta_of_laplace_noise(epsilon: float) -> None:
    """1 - e^((epsilon - 1)/2) for noise of scale 1 and answers 1 apart."""
    found = delta_at(Laplace(value, 1, 1.0), PAIR, epsilon)
    assert found.method == INTEGRATED
    assert found.value == pytest.approx(max(0.0, -math.expm1((epsilon - 1) / 2)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("numbers", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.0])
def test_delta_of_normal_noise(numbers: int, epsilon: float) -> None:
    """On a vector only the distance counts: sqrt(2) for two numbers."""
    mechanism = Gaussian(repeated(numbers), 1, 1.5, Guarantee(1.0, "replace-one", 1e-5), "test")
    found = delta_at(mechanism, PAIR, epsilon)
    truth = gaussian_delta(epsilon, 1.5, math.sqrt(numbers))
    assert found.method == INTEGRATED
    assert found.value == pytest.approx(truth, rel=1e-6)
    assert abs(found.value - truth) <= found.high - found.value + 1e-11


def test_narrow_peaks_far_apart_are_not_missed() -> None:
    apart = NeighbouringPair(np.array([0.0]), np.array([1e6]), "replace-one", "the peaks hardly overlap")
    assert delta_at(Laplace(value, 1, 1.0), apart, 1.0).value == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("name", "spent"), [("gaussian_classic", 0.751), ("gaussian_analytic", 1.0)])
def test_epsilon_of_the_gaussian_calibrations(name: str, spent: float) -> None:
    entry = find(name)
    found = epsilon_at(entry.build(1.0), entry.pairs()[0], 1e-5)
    assert found.low <= found.value <= found.high <= found.low + 1e-8
    assert found.value == pytest.approx(spent, abs=5e-4)
    estimate = ExactPrivacyCurve()(entry.build(1.0), entry.pairs()[0], 1000, stream(1))
    assert estimate.epsilon == pytest.approx(found.low, abs=1e-8)
    assert (estimate.delta, estimate.confidence, estimate.trials) == (1e-5, 1.0, 0)


def one_count(epsilon: float) -> float:
    """delta(epsilon) of Laplace noise of scale 2 on a number that moves by 1, for an epsilon of any sign."""
    if epsilon < -0.5:
        return -math.expm1(epsilon)
    return max(0.0, -math.expm1((epsilon - 0.5) / 2))


def two_counts(epsilon: float) -> float:
    """The same for two such numbers: the mean of one_count(epsilon - L) over the loss L = 1/2 - x, x cut to [0, 1]."""
    between = quad(lambda x: math.exp(-x / 2) / 4 * one_count(epsilon - 0.5 + x), 0, 1, points=[epsilon], epsabs=1e-13)[0]
    return 0.5 * one_count(epsilon - 0.5) + math.exp(-0.5) / 2 * one_count(epsilon + 0.5) + float(between)


@pytest.mark.slow
def test_curve_in_the_plane() -> None:
    entry = find("laplace_difference_attack")
    mechanism, pair = entry.build(1.0), entry.pairs()[1]
    for epsilon in (0.3, 0.5, 0.8):
        found = delta_at(mechanism, pair, epsilon)
        assert found.method == INTEGRATED
        assert found.high - found.low < 1e-5
        assert found.low <= two_counts(epsilon) <= found.high
    inverse = epsilon_at(mechanism, pair, two_counts(0.7))
    assert inverse.low <= 0.7 <= inverse.high <= inverse.low + 1e-4


def test_randomised_response_has_two_losses_and_a_closed_curve() -> None:
    mechanism, pair = RandomizedResponse.from_epsilon(1.0), find("randomized_response").pairs()[0]
    loss = privacy_loss_distribution(mechanism, pair, 0, stream(1))
    kept = math.e / (1 + math.e)
    assert loss.exact
    np.testing.assert_allclose(loss.losses, [-1, 1], rtol=1e-12)
    np.testing.assert_allclose(loss.probabilities, [1 - kept, kept], rtol=1e-12)
    found = delta_at(mechanism, pair, 0.4)
    assert (found.method, found.confidence) == (LISTED, 1.0)
    assert found.value == pytest.approx(kept - math.exp(0.4) * (1 - kept), rel=1e-12)
    assert epsilon_at(mechanism, pair, found.value).value == pytest.approx(0.4, rel=1e-12)
    assert epsilon_at(mechanism, pair, 0.0).value == pytest.approx(1.0, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sparse_vector_1", "noisy_max", "geometric_counts"])
def test_epsilon_of_listed_outputs_against_bisection(name: str) -> None:
    entry = find(name)
    mechanism: Any = entry.build(1.0)
    pair = entry.pairs()[0]
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        worst = max(delta_at(mechanism, side, middle).value for side in (pair, pair.reversed()))
        low, high = (middle, high) if worst > 0.01 else (low, middle)
    assert epsilon_at(mechanism, pair, 0.01).value == pytest.approx(low, rel=1e-9)


def test_an_impossible_output_costs_infinity_up_to_its_probability() -> None:
    """Exponential noise and records 1 apart: under 0, outputs below 1 have probability 1 - 1/e, and under 1 none."""
    mechanism = Shifted(exponential=True)
    assert epsilon_at(mechanism, PAIR, 0.5).value == math.inf
    assert epsilon_at(mechanism, PAIR, 0.7).value == 0.0
    assert delta_at(mechanism, PAIR, 3.0).value == pytest.approx(1 - 1 / math.e, rel=1e-9)


def test_the_losses_of_samples_are_in_order_and_agree_with_the_curve() -> None:
    """The mean of (1 - e^(0.5 - L))_+ over 20,000 outputs is within 5 standard errors: fails by chance once in a million."""
    mechanism = Laplace(value, 1, 1.0)
    loss = privacy_loss_distribution(mechanism, PAIR, 20_000, stream(4))
    assert not loss.exact
    assert np.all(np.diff(loss.losses) >= 0)
    terms = -np.expm1(np.minimum(0.5 - loss.losses, 0))
    assert abs(terms.mean() - delta_at(mechanism, PAIR, 0.5).value) < 5 * terms.std() / math.sqrt(20_000)


def normal_in_three(sigma: float) -> Gaussian:
    """Three numbers, out of reach of the quadrature, with a curve that is known."""
    return Gaussian(repeated(3), math.sqrt(3), sigma, Guarantee(1.0, "replace-one", 0.01), "test")


@pytest.mark.slow
def test_sampled_deltas_and_epsilons_are_valid_bounds() -> None:
    """Over 300 repetitions at 90%, more than 54 misses have a probability below 1e-5 (binomial, 10%)."""
    mechanism, repetitions = normal_in_three(2.0), 300
    delta = gaussian_delta(0.5, 2.0, math.sqrt(3))
    h, u = math.sqrt(3) / 4, 2 / math.sqrt(3)
    assert delta == pytest.approx(norm.cdf(h - 0.5 * u) - math.exp(0.5) * norm.cdf(-h - 0.5 * u), rel=1e-9)
    outside, above = 0, 0
    for repetition in range(repetitions):
        rng = stream(5, repetition)
        found = delta_at(mechanism, PAIR, 0.5, size=500, rng=rng, confidence=0.9)
        assert found.method == SAMPLED
        outside += not found.low <= delta <= found.high
        above += epsilon_at(mechanism, PAIR, delta, size=500, rng=rng, confidence=0.9).low > 0.5
    assert outside <= 54
    assert 0 < above <= 54


def test_the_sampled_bound_is_near_the_truth() -> None:
    mechanism = normal_in_three(2.0)
    delta = gaussian_delta(0.5, 2.0, math.sqrt(3))
    estimate = epsilon_at(mechanism, PAIR, delta, size=50_000, rng=stream(6))
    assert 0.47 < estimate.low < estimate.value < 0.53
    bound = ExactPrivacyCurve(0.9)(mechanism, PAIR, 2001, stream(7))
    assert (bound.confidence, bound.delta, bound.trials) == (0.9, 0.01, 2000)


def test_tiny_samples_bound_nothing() -> None:
    """One output cannot tell a quantile that is exceeded with probability 1/2."""
    assert epsilon_at(normal_in_three(0.1), PAIR, 0.5, size=1, rng=stream(1)).low == 0.0


def test_at_delta_0_the_curve_ends_at_the_largest_ratio() -> None:
    found = epsilon_at(Laplace(value, 1, 1.0), PAIR, 0.0)
    assert found.method == SEARCHED
    assert found.value == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_a_senseless_delta_is_refused(delta: float) -> None:
    with pytest.raises(EpsilometerError, match="delta is"):
        epsilon_at(Laplace(value, 1, 1.0), PAIR, delta)


def column(rows: list[dict[str, float | str]], name: str) -> Array:
    return np.array([row[name] for row in rows], dtype=float)


def check_table(rows: list[dict[str, float | str]], method: str) -> None:
    """What holds of every table."""
    assert 0 < len(rows) <= 200
    assert {row["method"] for row in rows} == {method}
    assert np.all(np.diff(column(rows, "loss")) > 0)
    for name in ("probability_first", "probability_second", "delta"):
        values = column(rows, name)
        assert np.all((values >= 0) & (values <= 1))
        assert np.all(np.diff(values) <= 1e-12)
    assert np.all(
        (column(rows, "delta_low") <= column(rows, "delta")) & (column(rows, "delta") <= column(rows, "delta_high"))
    )


@pytest.mark.slow
def test_table_of_laplace_noise() -> None:
    """L = |x - 1| - |x|: 1 left of 0, -1 right of 1, and 1 - 2x between; delta is 1 - e^((epsilon - 1)/2)."""
    rows = privacy_loss_rows(Laplace(value, 1, 1.0), PAIR, stream(1))
    check_table(rows, "integrated")
    loss = column(rows, "loss")
    assert (loss[0], loss[-1]) == pytest.approx((-1, 1), abs=1e-9)
    first = np.where(loss <= -1 + 1e-9, 1.0, 1 - np.exp(-(1 - loss) / 2) / 2)
    second = np.where(loss <= -1 + 1e-9, 1.0, np.exp(-(1 + loss) / 2) / 2)
    np.testing.assert_allclose(column(rows, "probability_first"), first, atol=1e-4)
    np.testing.assert_allclose(column(rows, "probability_second"), second, atol=1e-4)
    delta = -np.expm1((np.maximum(loss, 0) - 1) / 2)
    np.testing.assert_allclose(column(rows, "delta"), delta, atol=1e-9)
    assert np.all(column(rows, "delta_high") - column(rows, "delta_low") < 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [1, 2])
def test_table_of_normal_noise(numbers: int) -> None:
    """L is normal with mean mu^2/2 and standard deviation mu = distance/sigma."""
    mechanism = Gaussian(repeated(numbers), 1, 1.5, Guarantee(1.0, "replace-one", 1e-5), "test")
    rows = privacy_loss_rows(mechanism, PAIR, stream(1))
    check_table(rows, "integrated")
    loss, mu = column(rows, "loss"), math.sqrt(numbers) / 1.5
    np.testing.assert_allclose(column(rows, "probability_first"), norm.cdf(mu / 2 - loss / mu), atol=10.0 ** (numbers - 5))
    np.testing.assert_allclose(column(rows, "probability_second"), norm.cdf(-mu / 2 - loss / mu), atol=10.0 ** (numbers - 5))
    truth = np.array([gaussian_delta(max(x, 0.0), 1.5, math.sqrt(numbers)) for x in loss])
    error = column(rows, "delta_high") - column(rows, "delta_low")
    assert np.all(np.abs(column(rows, "delta") - truth) <= error + 1e-11)
    assert error.max() < 3e-5
    assert loss.max() > mu**2 / 2 + 3 * mu


def test_table_of_randomised_response() -> None:
    mechanism, pair = RandomizedResponse.from_epsilon(1.0), find("randomized_response").pairs()[0]
    rows = privacy_loss_rows(mechanism, pair, stream(1))
    check_table(rows, "enumerated")
    kept = math.e / (1 + math.e)
    np.testing.assert_allclose(column(rows, "loss"), [-1, 1], rtol=1e-12)
    np.testing.assert_allclose(column(rows, "probability_first"), [1, kept], rtol=1e-12)
    np.testing.assert_allclose(column(rows, "probability_second"), [1, 1 - kept], rtol=1e-12)
    np.testing.assert_allclose(column(rows, "delta"), [2 * kept - 1, 0.0], rtol=1e-12, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "laplace", "randomised response"])
def test_curves_against_an_accountant(name: str) -> None:
    """dp-accounting rounds losses up to a grid of 1e-4, so that its deltas are slightly too large."""
    from dp_accounting.pld import privacy_loss_distribution as accountant

    kept = math.e / (1 + math.e)
    mechanism, pair, other = {
        "gaussian": (
            Gaussian(value, 1, 1.5, Guarantee(1.0, "replace-one", 1e-5), "test"),
            PAIR,
            accountant.from_gaussian_mechanism(1.5),
        ),
        "laplace": (Laplace(value, 1, 1.0), PAIR, accountant.from_laplace_mechanism(1.0)),
        "randomised response": (
            RandomizedResponse.from_epsilon(1.0),
            find("randomized_response").pairs()[0],
            accountant.from_randomized_response(2 * (1 - kept), 2),
        ),
    }[name]
    rows = privacy_loss_rows(mechanism, pair, stream(1))
    assert len(rows) >= 2
    for row in rows[:: max(1, len(rows) // 12)]:
        theirs = other.get_delta_for_epsilon(max(float(row["loss"]), 0.0))
        assert float(row["delta"]) - 1e-9 <= theirs <= float(row["delta"]) + 1e-4


@dataclass(frozen=True)
class Listed:
    """Outputs 0, 1, ..., of probabilities that the data set itself gives."""

    guarantee = Guarantee(1.0, "replace-one")
    source = "test"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.choice(len(dataset), size, p=np.exp(self.log_density(dataset, np.arange(len(dataset)))))

    def support(self, dataset: Any) -> NDArray[Any]:
        return np.arange(len(dataset))

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(dataset)[outputs] / np.sum(dataset))


def test_a_table_of_many_atoms_is_thinned_and_stays_exact() -> None:
    """1,000 outputs, each with a loss of its own: the rows that remain are those of the full table."""
    first = np.linspace(1, 2, 1000)
    second = first.copy()
    second[0] = 5.0
    pair = NeighbouringPair(np.append(first, 0.0)[:-1], second, "replace-one", "one weight differs")
    everything = np.column_stack([first / first.sum(), second / second.sum()])
    rows = privacy_loss_rows(Listed(), pair, stream(1))
    check_table(rows, "enumerated")
    losses = np.log(everything[:, 0] / everything[:, 1])
    for row in rows:
        above = losses >= float(row["loss"]) - 1e-9
        assert row["probability_first"] == pytest.approx(everything[above, 0].sum(), rel=1e-9)
        assert row["probability_second"] == pytest.approx(everything[above, 1].sum(), rel=1e-9)


def test_impossible_outputs_have_infinite_losses() -> None:
    first, second = np.array([1.0, 1.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0, 2.0])
    pair = object.__new__(NeighbouringPair)
    object.__setattr__(pair, "first", first)
    object.__setattr__(pair, "second", second)
    rows = privacy_loss_rows(Listed(), pair, stream(1))
    assert column(rows, "loss").tolist() == [-math.inf, 0.0, math.inf]
    np.testing.assert_allclose(column(rows, "probability_first"), [1, 1, 0.5])
    np.testing.assert_allclose(column(rows, "probability_second"), [1, 0.5, 0])
    np.testing.assert_allclose(column(rows, "delta"), [0.5, 0.5, 0.5])


def test_sampled_table() -> None:
    """Shares and deltas of 15,000 outputs lie within 5 standard errors in 121 rows: fails by chance once in 5,000."""
    rows = privacy_loss_rows(normal_in_three(2.0), PAIR, stream(8))
    check_table(rows, "sampled")
    loss, mu, size = column(rows, "loss"), math.sqrt(3) / 2, 15_000
    for name, truth in (("first", norm.cdf(mu / 2 - loss / mu)), ("second", norm.cdf(-mu / 2 - loss / mu))):
        assert np.all(np.abs(column(rows, f"probability_{name}") - truth) <= 5 * np.sqrt(truth * (1 - truth) / size) + 1e-3)
    truth = np.array([gaussian_delta(max(x, 0.0), 2.0, math.sqrt(3)) for x in loss])
    assert np.all(np.abs(column(rows, "delta") - truth) <= 5 * np.sqrt(truth / size) + 1e-3)
    assert rows == privacy_loss_rows(normal_in_three(2.0), PAIR, stream(8))
