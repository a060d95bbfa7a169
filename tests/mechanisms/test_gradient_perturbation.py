"""Noisy gradient descent: its transcripts, the parameters they yield, and their privacy loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import EpsilometerError, LabelledData, NeighbouringPair, stream
from epsilometer.erm.losses import LOGISTIC, Distance, Hinge, Huber, Squared
from epsilometer.mechanisms import gradient_perturbation
from epsilometer.mechanisms.accounting import sampled_delta
from epsilometer.mechanisms.gaussian import analytic_sigma
from epsilometer.mechanisms.gradient_perturbation import (
    ENTRIES,
    FULL_SLOPE,
    AccountedGradientPerturbation,
    FullBatchGradientPerturbation,
    PrintedGradientPerturbation,
)
from tests.mechanisms import agreement

Floats = NDArray[np.float64]
VARIANTS: tuple[type[Any], ...] = (PrintedGradientPerturbation, AccountedGradientPerturbation, FullBatchGradientPerturbation)
SIZED: tuple[type[Any], ...] = (AccountedGradientPerturbation, FullBatchGradientPerturbation)


def some_records(n: int, d: int) -> LabelledData:
    rng = stream(5, "records", n, d)
    rows = rng.normal(size=(n, d))
    rows *= rng.uniform(0.3, 1, (n, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    return LabelledData(rows, rng.choice([-1.0, 1.0], n))


def turned(dataset: LabelledData) -> LabelledData:
    """The neighbour in which the first record has the other label."""
    return LabelledData(dataset.features, dataset.labels * np.where(np.arange(len(dataset)) == 0, -1, 1))


def worst_pair() -> Any:
    return ENTRIES[0].pairs()[0]


def excess(mechanism: Any, pair: NeighbouringPair, size: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """The positive part of 1 - e^(epsilon - L) at transcripts of the first data set, whose mean is delta at epsilon."""
    outputs = mechanism.sample(pair.first, size, rng)
    ratios = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
    return -np.expm1(np.minimum(0, epsilon - ratios))


# The noise


def test_the_printed_noise_is_the_printed_formula() -> None:
    mechanism = PrintedGradientPerturbation(0.5, delta=1e-5)
    assert mechanism.sigma(10) ** 2 == pytest.approx(32 * 10**2 * math.log(1e6) * math.log(1e5) / 0.25)
    assert mechanism.number_of_steps(10) == 100


def test_the_noise_grows_with_the_lipschitz_constant() -> None:
    for variant in VARIANTS:
        steep = variant(1.0, loss=Squared(1.0))
        assert steep.sigma(5) == pytest.approx(4 * variant(1.0).sigma(5))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_larger_epsilon_needs_less_noise(variant: type[Any]) -> None:
    assert np.all(np.diff([variant(epsilon).sigma(4) for epsilon in (0.1, 0.3, 1.0, 3.0, 10.0)]) < 0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4, 20, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_printed_noise_is_five_to_thirteen_times_what_the_accountant_asks_for(n: int, epsilon: float) -> None:
    ratio = PrintedGradientPerturbation(epsilon).sigma(n) / AccountedGradientPerturbation(epsilon).sigma(n)
    assert 5 < ratio < 13


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_within_its_proof_the_printed_noise_keeps_a_quarter_of_the_promised_epsilon(epsilon: float) -> None:
    for n in (2, 10, 50):
        mu = 2 * n / PrintedGradientPerturbation(epsilon).sigma(n)
        assert sampled_delta(epsilon / 4, mu, 1 / n, n**2) < 1e-5


def test_far_beyond_its_proof_the_printed_promise_is_false() -> None:
    """By Hoeffding, delta exceeds 0.5 with confidence 1 - 1e-7, where (1000, 1e-5) is claimed, with n = 4."""
    mechanism, size = PrintedGradientPerturbation(1000.0, radius=0.5, loss=FULL_SLOPE), 2_000
    found = excess(mechanism, worst_pair(), size, 1000.0, stream(1, "beyond")).mean()
    assert found - math.sqrt(math.log(1e7) / (2 * size)) > 0.5


# Densities


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_step_in_one_dimension(variant: type[Any]) -> None:
    """Fails by chance with probability 1e-6. The printed variant takes one step with one record."""
    dataset = some_records(1 if variant is PrintedGradientPerturbation else 5, 1)
    mechanism = variant(3.0) if variant is PrintedGradientPerturbation else variant(3.0, steps=1)
    p_value, mass = agreement.continuous_1d(mechanism, dataset, stream(1, "1d", variant), 0.0, mechanism.sigma(len(dataset)))
    assert mass == pytest.approx(1, abs=1e-6)
    assert p_value > agreement.FALSE_FAILURE


@pytest.mark.slow
@pytest.mark.parametrize("variant", SIZED)
@pytest.mark.parametrize(("steps", "d"), [(1, 2), (2, 1)])
def test_two_columns(variant: type[Any], steps: int, d: int) -> None:
    """One step in two dimensions, or two in one, of which the second depends on the first; fails by chance: 1e-6."""
    mechanism = variant(8.0, radius=3.0, steps=steps)
    p_value, mass = agreement.continuous_2d(mechanism, some_records(4, d), stream(1, "2d", variant, steps))
    assert mass == pytest.approx(1, abs=1e-3)
    assert p_value > agreement.FALSE_FAILURE


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("d", [1, 3])
def test_the_density_of_whole_transcripts(variant: type[Any], d: int) -> None:
    """Fails by chance with probability 1e-6."""
    mechanism, dataset = variant(4.0, radius=2.0), some_records(3, d)
    pair = NeighbouringPair(dataset, turned(dataset), "replace-one", "a label is turned")
    assert agreement.ratio_identity(mechanism, pair, stream(1, "transcripts", variant, d)) > agreement.FALSE_FAILURE


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.3), Hinge()])
def test_the_density_is_the_sum_over_steps_and_the_mean_over_records(variant: type[Any], loss: Any) -> None:
    """A slow re-implementation with scipy's normal density, at transcripts that reach the edge of the ball."""
    n, d, radius = 3, 2, 0.8
    dataset, mechanism = some_records(n, d), variant(6.0, radius=radius, loss=loss)
    sigma, steps = mechanism.sigma(n), mechanism.number_of_steps(n)
    outputs = mechanism.sample(dataset, 6, stream(2, "slow"))
    edge = 0
    for output, stated in zip(outputs, mechanism.log_density(dataset, outputs), strict=True):
        theta, total = np.zeros(d), 0.0
        for t, noisy in enumerate(output.reshape(steps, d), start=1):
            gradients = [
                loss.slope(np.array([y * theta @ x]))[0] * y * x
                for x, y in zip(dataset.features, dataset.labels, strict=True)
            ]
            if variant is FullBatchGradientPerturbation:
                density = np.prod(stats.norm.pdf(noisy, np.sum(gradients, axis=0), sigma))
            else:
                density = np.mean([np.prod(stats.norm.pdf(noisy, n * gradient, sigma)) for gradient in gradients])
            total += math.log(density)
            theta = theta - 2 * radius / math.sqrt(n**2 + d * sigma**2) / math.sqrt(t) * noisy
            if np.linalg.norm(theta) > radius:
                theta *= radius / np.linalg.norm(theta)
                edge += 1
        assert stated == pytest.approx(total, rel=1e-10)
        np.testing.assert_allclose(mechanism.final(n, output[None])[0], theta, rtol=1e-10)
    assert edge > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_weight_stands_for_equal_records(variant: type[Any]) -> None:
    """In the density, and in the sampler with so little noise that the records show (fails by chance: 1e-6)."""
    few, mechanism = some_records(2, 2), variant(500.0)
    weighted = LabelledData(few.features, few.labels, np.array([3.0, 1.0]))
    repeated = few.take(np.array([0, 0, 0, 1]))
    outputs = mechanism.sample(weighted, 5_000, stream(1, "weights", variant))
    np.testing.assert_allclose(mechanism.log_density(weighted, outputs), mechanism.log_density(repeated, outputs))
    again = mechanism.sample(repeated, 5_000, stream(2, "weights", variant))
    assert stats.ks_2samp(outputs[:, 0], again[:, 0]).pvalue > agreement.FALSE_FAILURE


def test_the_density_does_not_depend_on_how_it_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, pair = AccountedGradientPerturbation(1.0), worst_pair()
    outputs = mechanism.sample(pair.first, 50, stream(1, "chunks"))
    whole = mechanism.log_density(pair.second, outputs)
    monkeypatch.setattr(gradient_perturbation, "CHUNK", 28)
    np.testing.assert_array_equal(mechanism.log_density(pair.second, outputs), whole)
    assert mechanism.log_density(pair.second, outputs[:0]).shape == (0,)


# What is spent


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("variant", SIZED)
def test_one_step_spends_the_promised_delta_on_the_worst_pair(variant: type[Any], epsilon: float) -> None:
    """Quadrature of the hockey-stick divergence of the stated densities: at most delta, and at least 99.5% of it."""
    mechanism, pair = variant(epsilon, radius=0.5, loss=FULL_SLOPE, steps=1), worst_pair()
    sigma = mechanism.sigma(4)
    points = np.linspace(-4 - 12 * sigma, 4 + 12 * sigma, 200_001)
    first, second = (np.exp(mechanism.log_density(data, points[:, None])) for data in (pair.first, pair.second))
    spent = np.maximum(first - math.exp(epsilon) * second, 0).sum() * (points[1] - points[0])
    assert 0.995e-5 < spent < 1.00001e-5


@pytest.mark.slow
def test_one_step_spends_less_on_other_pairs() -> None:
    mechanism = AccountedGradientPerturbation(1.0, delta=1e-3, steps=1)
    sigma = mechanism.sigma(4)
    points = np.linspace(-4 - 12 * sigma, 4 + 12 * sigma, 100_001)
    for number in range(10):
        dataset = LabelledData(stream(number, "others").uniform(-1, 1, (4, 1)), np.ones(4))
        first, second = (np.exp(mechanism.log_density(data, points[:, None])) for data in (dataset, turned(dataset)))
        for one, two in ((first, second), (second, first)):
            assert np.maximum(one - math.e * two, 0).sum() * (points[1] - points[0]) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_sixteen_sampled_steps_keep_the_promise_and_use_most_of_it(delta: float) -> None:
    """The composition of the pair's own mixtures meets the samples within 5 standard errors (fails by chance: 1e-6).

    The account is larger, since it covers steps with different directions: this pair attains 0.745 of delta.
    """
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    epsilon, size = 1.0, 100_000
    mechanism = AccountedGradientPerturbation(epsilon, delta, radius=0.5, loss=FULL_SLOPE)
    step = from_gaussian_mechanism(mechanism.sigma(4), 2 * 4, value_discretization_interval=1e-3, sampling_prob=1 / 4)
    exact = step.self_compose(16).get_delta_for_epsilon(epsilon)
    found = excess(mechanism, worst_pair(), size, epsilon, stream(1, "sixteen", delta))
    assert found.mean() == pytest.approx(exact, abs=5 * found.std() / math.sqrt(size))
    assert 0.7 * delta < exact < 0.8 * delta


def test_full_batches_spend_exactly_one_gaussian() -> None:
    """On a pair with full slopes the log-ratio is N(mu^2/2, mu^2), mu being all that is allowed (fails by chance: 1e-6)."""
    entry = next(entry for entry in ENTRIES if entry.name == "gradient_perturbation_full_batch")
    mechanism: Any = entry.build(2.0)
    mu = 1 / analytic_sigma(2.0, 1e-5)
    for number, pair in enumerate(entry.pairs()):
        outputs = mechanism.sample(pair.first, 20_000, stream(1, "batches", number))
        ratios = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
        assert stats.kstest((ratios - mu**2 / 2) / mu, "norm").pvalue > agreement.FALSE_FAILURE


# Where it leads


@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters_stay_in_the_ball_and_some_reach_its_edge(variant: type[Any]) -> None:
    mechanism = variant(1.0, radius=0.7)
    finals = mechanism.sample_final(some_records(4, 3), 500, stream(1, "ball"))
    norms = np.linalg.norm(finals, axis=1)
    assert norms.max() <= 0.7 * (1 + 1e-12)
    assert np.any(norms > 0.7 * (1 - 1e-12))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_transcript_determines_the_parameters(variant: type[Any]) -> None:
    mechanism, dataset = variant(1.0), some_records(4, 3)
    outputs = mechanism.sample(dataset, 40, stream(1, "final"))
    assert outputs.shape == (40, 16 * 3)
    np.testing.assert_array_equal(mechanism.final(4, outputs), mechanism.sample_final(dataset, 40, stream(1, "final")))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_learns_where_there_is_something_to_learn(variant: type[Any]) -> None:
    """With a large epsilon most walks end with a lower loss than they began with; 60 of 60 do, and 45 are asked for."""
    rng = stream(1, "learn")
    labels = rng.choice([-1.0, 1.0], 40)
    dataset = LabelledData(labels[:, None] * np.array([0.8, 0.0]) + rng.uniform(-0.1, 0.1, (40, 2)), labels)
    finals = variant(100.0, radius=2.0).sample_final(dataset, 60, stream(2, "learn"))
    losses = LOGISTIC.value(finals @ dataset.signed.T).mean(axis=1)
    assert np.sum(losses < math.log(2)) >= 45


# Sentences


@pytest.mark.parametrize("variant", VARIANTS)
def test_bad_parameters_are_named(variant: type[Any]) -> None:
    for arguments, sentence in (
        ({"delta": 0.0}, "delta is 0; Gaussian noise needs one above 0"),
        ({"delta": 1.0}, "delta is 1; it must be in"),
        ({"radius": 0.0}, "radius is 0; it must be a number above 0"),
        (
            {"loss": Distance()},
            "the loss is the distance to a point; gradient perturbation needs a loss of labelled records",
        ),
        ({"loss": Squared(1.0), "radius": 1.5}, "radius is 1.5; the squared loss bounds its slope up to radius 1 only"),
    ):
        with pytest.raises(EpsilometerError, match=sentence):
            variant(1.0, **arguments)


@pytest.mark.parametrize("variant", SIZED)
@pytest.mark.parametrize("steps", [0, -3, 1.5])
def test_bad_numbers_of_steps_are_named(variant: type[Any], steps: float) -> None:
    with pytest.raises(EpsilometerError, match=f"steps is {steps:g}; it must be a whole number above 0"):
        variant(1.0, steps=steps)


def test_transcripts_of_the_wrong_shape_are_named() -> None:
    mechanism = FullBatchGradientPerturbation(1.0, steps=3)
    with pytest.raises(EpsilometerError, match=r"transcripts have shape \(5, 7\); they must have 3 x 2 columns"):
        mechanism.log_density(some_records(4, 2), np.zeros((5, 7)))
    with pytest.raises(EpsilometerError, match=r"transcripts have shape \(5, 7\); they must be rows of 3 gradients"):
        mechanism.final(4, np.zeros((5, 7)))


def test_parts_of_records_are_refused() -> None:
    dataset = LabelledData(np.eye(2), np.ones(2), np.array([1.0, 0.5]))
    with pytest.raises(EpsilometerError, match=r"the weights add up to 1\.5; gradient perturbation needs whole records"):
        FullBatchGradientPerturbation(1.0, steps=2).sample(dataset, 1, stream(1, "parts"))
