"""The black-box auditor: what it finds in outputs of every kind, and that it never claims more than there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from epsilometer.auditors.attainability import impossible_outputs
from epsilometer.auditors.black_box.auditor import UNSEEN_UNDER_OTHER, BlackBox, as_rows, audit_pairs, confirm_impossible
from epsilometer.auditors.black_box.events import Goal, choose_event
from epsilometer.auditors.black_box.scores import Mixed, evaluate_in_chunks
from epsilometer.auditors.sampled import limit
from epsilometer.core import EpsilometerError, Estimate, Guarantee, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import find

PAIR = NeighbouringPair(np.array([0.0]), np.array([1.0]), "replace-one", "zero or one")


@dataclass(frozen=True)
class Discrete:
    """Outputs of the given kinds with probabilities that depend on the record; it knows nothing but how to sample."""

    outputs: NDArray[Any]
    zero: tuple[float, ...]
    one: tuple[float, ...]
    guarantee: Guarantee | None = None
    source = "this test"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[Any]:
        return self.outputs[rng.choice(len(self.outputs), size, p=self.one if dataset[0] else self.zero)]


class NothingButOutputs:
    """Refuses every question but for a sample."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self.guarantee = mechanism.guarantee
        self.source = mechanism.source

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return self._mechanism.sample(dataset, size, rng)

    def log_density(self, dataset: Any, outputs: Any) -> Any:  # noqa: ARG002
        raise AssertionError("a black box was asked for its density")

    def support(self, dataset: Any) -> Any:  # noqa: ARG002
        raise AssertionError("a black box was asked for its outputs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "epsilon", "trials", "least"),
    [
        ("laplace_count", 1.0, 200_000, 0.93),
        ("randomized_response", math.log(3), 200_000, 1.03),
        ("gaussian_classic", 1.0, 1_000_000, 0.35),
        ("histogram_inverse_scale", 0.1, 1_000_000, 8.5),
        ("sparse_vector_6", 1.0, 200_000, 1.5),
        ("sparse_vector_3", 1.0, 400_000, 1.2),
        ("noisy_max_value", 1.0, 200_000, 1.8),
        ("laplace_half_scale", 1.0, 200_000, 1.7),
    ],
)
def test_finds_most_of_what_is_spent_and_no_more(name: str, epsilon: float, trials: int, least: float) -> None:
    """Seeds are fixed; with another one the bound is above the truth with probability at most 5%."""
    entry = find(name)
    mechanism = entry.build(epsilon)
    estimate, _ = audit_pairs(BlackBox(), NothingButOutputs(mechanism), entry.pairs(), trials, stream(0, "find", name))
    truth = 0.751 if name == "gaussian_classic" else entry.true_epsilon and entry.true_epsilon(epsilon)
    assert truth is not None
    assert least <= estimate.epsilon <= truth
    assert estimate.trials == trials
    assert estimate.confidence == 0.95
    counts = estimate.counts[0]
    assert counts.trials + counts.other_trials < trials


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace_count", "randomized_response", "noisy_max", "sparse_vector_1"])
def test_bounds_exceed_the_truth_in_at_most_five_percent_of_audits(name: str) -> None:
    """P(failure by chance) < 1e-3 (99.9% quantile of the binomial)."""
    entry, repetitions = find(name), 120
    mechanism, truth = entry.build(1.0), entry.true_epsilon
    assert truth is not None
    rng = stream(0, "black box", "validity", name)
    above = sum(BlackBox()(mechanism, entry.pairs()[0], 1200, rng).epsilon > truth(1.0) for _ in range(repetitions))
    assert above <= binom.ppf(0.999, repetitions, 0.05)


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is() -> None:
    """Two equal distributions: any positive bound is wrong; P(failure by chance) < 1e-3."""
    mechanism = Discrete(np.arange(6), (0.3, 0.2, 0.2, 0.1, 0.1, 0.1), (0.3, 0.2, 0.2, 0.1, 0.1, 0.1))
    rng = stream(0, "black box", "nothing")
    positive = sum(BlackBox()(mechanism, PAIR, 500, rng).epsilon > 0 for _ in range(200))
    assert positive <= binom.ppf(0.999, 200, 0.05)


def objects(*values: Any) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    "outputs",
    [
        np.array([0, 1, 2]),
        np.array([[0.0, np.nan], [0.0, 1.0], [1.0, np.nan]]),
        objects(frozenset("ab"), frozenset(), frozenset("b")),
        np.array(["yes", "no", "maybe"]),
        np.array([True, False, True])[:, None] ^ np.array([[False, False], [False, False], [False, True]]),
    ],
    ids=["numbers", "variable-length", "sets", "texts", "bits"],
)
def test_outputs_of_every_kind(outputs: NDArray[Any]) -> None:
    """log(0.6/0.2) = 1.0986 is spent; at this seed the bound is close below it."""
    mechanism = Discrete(outputs, (0.6, 0.2, 0.2), (0.2, 0.2, 0.6))
    estimate = BlackBox()(mechanism, PAIR, 100_000, stream(0, "kinds"))
    assert 1.03 < estimate.epsilon <= math.log(3)


def test_sets_are_told_apart_by_their_members_alone() -> None:
    rows = as_rows(objects(frozenset([3, 1, 2]), {2, 3, 1}, frozenset([1, 2])))
    assert rows[0] != rows[2]
    assert as_rows(objects({1, 9, 17}))[0] == as_rows(objects({17, 9, 1}))[0]


@pytest.mark.parametrize("reversed_pair", [False, True])
def test_an_output_of_one_data_set_only_is_told(reversed_pair: bool) -> None:
    mechanism = Discrete(np.arange(3), (0.5, 0.5, 0.0), (0.5, 0.4, 0.1))
    pair = PAIR.reversed() if reversed_pair else PAIR
    estimate = BlackBox(confirm=True)(mechanism, pair, 100_000, stream(0, "alone"))
    assert UNSEEN_UNDER_OTHER in estimate.event
    assert "1 under one data set only" in estimate.event
    assert 6 < estimate.epsilon < math.inf  # sampled, and nobody to confirm it
    assert estimate.confidence == 0.95


@pytest.mark.parametrize("name", ["sparse_vector_5", "noisy_max_exponential_value"])
def test_infinite_epsilon_is_confirmed_by_the_density(name: str) -> None:
    entry = find(name)
    mechanism, pair = entry.build(1.0), entry.pairs()[0]
    sampled = BlackBox()(mechanism, pair, 100_000, stream(0, "infinite", name))
    assert math.isfinite(sampled.epsilon)
    confirmed = BlackBox(confirm=True)(mechanism, pair, 100_000, stream(0, "infinite", name))
    assert confirmed.epsilon == math.inf
    assert confirmed.confidence == 1.0
    assert "confirmed" in confirmed.event


def test_a_rare_output_is_not_confirmed_as_impossible() -> None:
    """Laplace outputs are possible under either data set, however few are seen under one."""
    entry = find("histogram_inverse_scale")
    mechanism, pair = entry.build(0.02), entry.pairs()[0]
    estimate = BlackBox(confirm=True)(mechanism, pair, 2_000, stream(0, "rare"))
    assert UNSEEN_UNDER_OTHER in estimate.event
    assert math.isfinite(estimate.epsilon)


def test_impossible_wants_delta_zero_and_someone_to_ask() -> None:
    entry = find("sparse_vector_5")
    mechanism, pair = entry.build(1.0), entry.pairs()[0]
    outputs = mechanism.sample(pair.second, 1000, stream(0, "ask"))
    bound = Estimate(1.0, "black box", 0.95)
    assert confirm_impossible(mechanism, pair.second, pair.first, outputs, bound).epsilon == math.inf
    at_delta = Estimate(1.0, "black box", 0.95, 1e-5)
    assert confirm_impossible(mechanism, pair.second, pair.first, outputs, at_delta) is at_delta
    assert confirm_impossible(mechanism, pair.first, pair.first, outputs, bound) is bound
    assert confirm_impossible(mechanism, pair.second, pair.first, outputs[:0], bound) is bound
    assert not impossible_outputs(Discrete(outputs, (1.0,), (1.0,)), PAIR.first, PAIR.second, outputs).any()


def test_attainable_outputs_are_asked_for_where_there_is_no_density() -> None:
    class Halves(Discrete):
        def attainable(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> NDArray[np.bool_]:
            return (outputs == 0) | (dataset[0] == 1)

    mechanism = Halves(np.arange(2), (1.0, 0.0), (0.5, 0.5))
    assert BlackBox(confirm=True)(mechanism, PAIR, 1000, stream(0, "halves")).epsilon == math.inf


def test_delta_is_taken_off() -> None:
    mechanism = Discrete(np.arange(3), (0.999, 0.0, 0.001), (0.999, 0.001, 0.0))
    assert BlackBox(delta=0.0)(mechanism, PAIR, 400_000, stream(0, "delta")).epsilon > 3
    assert BlackBox(delta=0.01)(mechanism, PAIR, 400_000, stream(0, "delta")).epsilon == 0
    gaussian = find("gaussian_classic")
    estimate = BlackBox()(gaussian.build(1.0), gaussian.pairs()[0], 2000, stream(0, "delta"))
    assert estimate.delta == 1e-5


def test_the_worst_pair_is_found_and_paid_for() -> None:
    entry = find("noisy_max_value")
    _, pair = audit_pairs(BlackBox(), entry.build(1.0), entry.pairs()[::-1], 100_000, stream(0, "worst"))
    assert pair is entry.pairs()[0]


def test_few_trials_and_constant_outputs() -> None:
    constant = Discrete(np.zeros((1, 3)), (1.0,), (1.0,))
    assert BlackBox()(constant, PAIR, 40, stream(0, "constant")).epsilon == 0
    different = find("non_private_logistic")
    estimate = BlackBox()(different.build(1.0), different.pairs()[0], 400, stream(0, "different"))
    assert 2 < estimate.epsilon < math.inf
    with pytest.raises(EpsilometerError, match="trials is 39"):
        BlackBox()(constant, PAIR, 39, stream(0, "few"))
    with pytest.raises(EpsilometerError, match=r"training_share is 1"):
        BlackBox(training_share=1.0)
    with pytest.raises(EpsilometerError, match="there are 0 pairs"):
        audit_pairs(BlackBox(), constant, [], 100, stream(0, "few"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "epsilon"), [("laplace_count", 1.0), ("gaussian_classic", 1.0), ("randomized_response", math.log(3))]
)
def test_scalar_outputs_give_nearly_what_any_single_event_can(name: str, epsilon: float) -> None:
    """Seeds are fixed; the median of 21 audits is to reach 93% of the limit."""
    entry, trials = find(name), 2_000_000
    mechanism, pair = entry.build(epsilon), entry.pairs()[0]
    bounds = [
        BlackBox()(NothingButOutputs(mechanism), pair, trials, stream(seed, "scalar", name)).epsilon for seed in range(21)
    ]
    assert np.median(bounds) >= 0.93 * limit(mechanism, pair, trials, stream(0, "scalar limit", name))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_mixed_outputs_are_scored_nearly_by_their_likelihood_ratio(number: int) -> None:
    """Version 3 answers below, or a number: the learnt log-odds follow the true ones, which the auditor never sees."""
    entry = find("sparse_vector_3")
    mechanism: Any = entry.build(1.0)
    pair, rng = entry.pairs()[number], stream(0, "mixed", number)
    first, second = (mechanism.sample(data, 100_000, rng) for data in (pair.first, pair.second))
    score = Mixed.logistic(first, second)
    assert score is not None
    fresh = mechanism.sample(pair.first, 4000, rng)
    truth = mechanism.log_density(pair.first, fresh) - mechanism.log_density(pair.second, fresh)
    assert np.corrcoef(score(fresh), truth)[0, 1] > 0.95


def test_patterns_too_many_to_list_are_told_by_their_counts() -> None:
    """Sixty places, each 0 or a number: under the first data set there are fewer numbers, and they are larger."""
    rng = stream(0, "many places")
    first, second = (
        np.where(rng.random((20_000, 60)) < share, 0.0, rng.normal(mean, 1, (20_000, 60)))
        for share, mean in ((0.6, 0.1), (0.5, 0.0))
    )
    score = Mixed.logistic(first, second)
    assert score is not None
    assert len(score.patterns) < 61
    assert np.mean(score(first)) > np.mean(score(second)) + 1
    assert np.array_equal(evaluate_in_chunks(score, first), score(first))


def test_no_kinds_no_mixture() -> None:
    rows = stream(0, "plain").normal(size=(1000, 3))
    assert Mixed.logistic(rows, rows) is None


def test_interval_events_and_their_direction() -> None:
    """|x| small is likelier under the first data set: no tail of x tells that, the histogram does."""
    rng = stream(0, "interval")
    first, second = rng.normal(0, 1, (40_000, 1)), rng.normal(0, 3, (40_000, 1))
    event = choose_event(first, second, Goal(100_000, 0.95, 0.0))
    fresh = [event(rng.normal(0, spread, (20_000, 1))).mean() for spread in (1.0, 3.0)]
    likely, other = fresh if event.under_first else fresh[::-1]
    assert likely > 2 * other


@pytest.mark.slow
def test_trees_learn_what_no_sum_over_the_columns_tells() -> None:
    """The sign of x y is likelier positive under the first data set."""
    rng = stream(0, "trees")
    first = _aligned(rng.normal(0, 1, (40_000, 2)), rng.random(40_000) < 0.9)
    second = _aligned(rng.normal(0, 1, (40_000, 2)), rng.random(40_000) < 0.1)
    event = choose_event(first, second, Goal(100_000, 0.95, 0.0))
    assert "trees" in event.text
    assert event.expected > 1.5  # log(0.9/0.1) = 2.2


def _aligned(plane: NDArray[np.float64], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The same points with the sign of y such that x y is positive where wanted."""
    sign = np.where(positive, 1.0, -1.0) * np.sign(plane[:, 0])
    return np.column_stack([plane[:, 0], np.abs(plane[:, 1]) * sign])
