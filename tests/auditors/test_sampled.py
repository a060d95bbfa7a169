"""The sampled likelihood-ratio audit: validity by simulation, power against closed forms, and the edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from epsilometer.auditors.confidence import epsilon_lower_bound, largest_expected_bound
from epsilometer.auditors.gaussian_shape import epsilon_of_mu
from epsilometer.auditors.sampled import (
    SampledLikelihoodRatio,
    choose_event,
    count_event,
    division,
    event_rates,
    limit,
    pooled_scores,
)
from epsilometer.core import Array, EpsilometerError, Guarantee, HasSupport, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import find, largest_log_ratio

PAIR = NeighbouringPair(np.array([0.0]), np.array([1.0]), "replace-one", "zero against one")


@dataclass(frozen=True)
class Table:
    """Draws output i with probability first[i] or second[i]: any finite mechanism."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    guarantee: Guarantee | None = None
    source = "test"

    def probabilities(self, dataset: Any) -> Array:
        return np.array(self.first if dataset[0] == 0 else self.second)

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.choice(len(self.first), size, p=self.probabilities(dataset))

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities(dataset))[outputs]


def audit(mechanism: Any, trials: int, name: str, pair: NeighbouringPair = PAIR, **options: Any) -> Any:
    return SampledLikelihoodRatio(**options)(mechanism, pair, trials, stream(11, name))


def true_epsilon(name: str, promised: float) -> float:
    """What the mechanism spends on the first of its pairs: exactly, by enumeration, or as the entry says of its one pair."""
    entry = find(name)
    mechanism: Any = entry.build(promised)
    if name.startswith("gaussian"):
        return epsilon_of_mu(mechanism.sensitivity / mechanism.sigma, mechanism.guarantee.delta)
    if isinstance(mechanism, HasSupport):
        return largest_log_ratio(mechanism, entry.pairs()[0])
    assert entry.true_epsilon is not None
    assert len(entry.pairs()) == 1
    return entry.true_epsilon(promised)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "promised", "trials"),
    [
        ("laplace_count", 0.1, 1500),
        ("laplace_count", 1.0, 60),
        ("laplace_count", 1.0, 1500),
        ("randomized_response", 1.0, 60),
        ("randomized_response", 1.0, 1500),
        ("exponential_most_frequent", 1.0, 60),
        ("exponential_most_frequent", 1.0, 1500),
        ("gaussian_analytic", 1.0, 1500),
    ],
)
def test_the_bound_exceeds_the_truth_in_no_more_runs_than_it_says(name: str, promised: float, trials: int) -> None:
    """1,000 audits at 95%: more than 84 errors have probability 2e-6 if each has 5%."""
    entry, repetitions = find(name), 1000
    mechanism, pair, rng = entry.build(promised), entry.pairs()[0], stream(1, "validity", name, promised, trials)
    bounds = np.array([SampledLikelihoodRatio()(mechanism, pair, trials, rng).epsilon for _ in range(repetitions)])
    most = int(binom.isf(3e-6, repetitions, 0.05))
    assert np.sum(bounds > true_epsilon(name, promised) * (1 + 1e-12)) <= most


@pytest.mark.slow
def test_the_bound_stays_valid_with_a_delta_and_with_impossible_outputs() -> None:
    """An output of probability 0.1 is impossible on one side; at delta 0.1 the others count: 1,000 audits as above."""
    mechanism, rng = Table((0.1, 0.675, 0.225), (0.0, 0.25, 0.75)), stream(2, "delta")
    truth = math.log((0.1 + 0.675 - 0.1) / 0.25)
    other_way = math.log((0.75 - 0.1) / 0.225)
    auditor = SampledLikelihoodRatio(delta=0.1)
    bounds = np.array([auditor(mechanism, PAIR, 1000, rng).epsilon for _ in range(1000)])
    assert np.sum(bounds > max(truth, other_way)) <= int(binom.isf(3e-6, 1000, 0.05))
    assert np.median(bounds) > 0.65 * max(truth, other_way)


@pytest.mark.slow
def test_a_wrong_density_costs_power_but_not_validity() -> None:
    """The density claims an enormous ratio where there is none; 1,000 audits as above."""

    @dataclass(frozen=True)
    class Boaster(Table):
        def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:  # noqa: ARG002
            return rng.integers(2, size=size)

    rng = stream(3, "boaster")
    bounds = [SampledLikelihoodRatio()(Boaster((0.999, 0.001), (0.001, 0.999)), PAIR, 300, rng).epsilon for _ in range(1000)]
    assert np.sum(np.array(bounds) > 0) <= int(binom.isf(3e-6, 1000, 0.05))


def laplace_limit(epsilon: float, trials: int) -> float:
    """Events {output <= c} between the answers, in closed form."""
    c = np.linspace(0, 1, 1001)
    return largest_expected_bound(1 - np.exp(-epsilon * c) / 2, np.exp(-epsilon * (1 - c)) / 2, trials // 2, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_laplace_reaches_97_per_cent_of_what_is_possible(epsilon: float) -> None:
    """Median of 9 audits of a million outputs: at epsilon 0.1 it has a relative deviation of 0.6%, about the limit."""
    entry = find("laplace_count")
    run = partial(audit, entry.build(epsilon), 1_000_000, pair=entry.pairs()[0])
    median = float(np.median([run(f"laplace {seed}").epsilon for seed in range(9)]))
    assert 0.97 * laplace_limit(epsilon, 1_000_000) < median < epsilon


def test_the_limit_from_samples_is_the_limit_in_closed_form() -> None:
    entry = find("laplace_count")
    for epsilon in (0.1, 1.0):
        estimated = limit(entry.build(epsilon), entry.pairs()[0], 100_000, stream(4, "limit"))
        assert estimated == pytest.approx(laplace_limit(epsilon, 100_000), rel=0.01)


def test_the_limit_of_a_normal_tail_at_a_delta() -> None:
    entry = find("gaussian_classic")
    mechanism: Any = entry.build(1.0)
    c = np.linspace(-3, 8, 2001)
    closed = largest_expected_bound(ndtr(1 / mechanism.sigma - c), ndtr(-c), 5_000_000, 0.95, 1e-5)
    assert limit(mechanism, entry.pairs()[0], 10_000_000, stream(5, "limit"), draws=1_000_000) == pytest.approx(
        closed, rel=0.02
    )


def test_event_rates_are_those_of_the_events() -> None:
    """Rates from pooled scores against the table's own probabilities: within 5 standard deviations of 100,000 draws."""
    mechanism = Table((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
    thresholds, p, q = event_rates(pooled_scores(mechanism, PAIR, 50_000, stream(6, "rates"), 1 << 16))
    np.testing.assert_allclose(thresholds, [-math.log(2.5), 0, math.log(2.5)], atol=1e-8)
    np.testing.assert_allclose(p, [1, 0.8, 0.5], atol=0.01)
    np.testing.assert_allclose(q, [1, 0.5, 0.2], atol=0.01)


def test_one_atom_that_rounding_has_scattered_is_one_candidate() -> None:
    scores = np.concatenate([np.full(50, 1.0), np.full(50, 1.0 + 1e-15), np.full(50, 1.0 - 1e-15), np.full(150, -1.0)])
    forward, threshold = choose_event(scores, 10_000, 0.95, 0.0)
    assert forward
    assert np.sum(scores >= threshold) == 150


def test_the_direction_is_found() -> None:
    """Output 1 is rare under the first data set and absent from the second, or the other way round."""
    one, other = (0.95, 0.05), (0.9999, 0.0001)
    for first, second, forward in ((one, other, True), (other, one, False)):
        estimate = audit(Table(first, second), 20_000, "direction")
        assert estimate.event.startswith("log p(output | first)" if forward else "log p(output | second)")
        assert estimate.epsilon > 0.4 * math.log(500)
        assert estimate.counts[0].hits > estimate.counts[0].other_hits


def test_a_rare_impossible_output_is_counted_but_never_infinite() -> None:
    estimate = audit(Table((0.0, 1.0), (0.05, 0.95)), 20_000, "impossible")
    counts = estimate.counts[0]
    assert counts.other_hits == 0
    assert counts.hits == pytest.approx(0.05 * counts.trials, rel=0.2)
    assert 4 < estimate.epsilon < math.inf
    assert estimate.epsilon == epsilon_lower_bound(counts, 0.95)


def test_disjoint_outputs_give_a_large_finite_bound() -> None:
    estimate = audit(Table((1.0, 0.0), (0.0, 1.0)), 2000, "disjoint")
    assert estimate.counts[0].hits == estimate.counts[0].trials
    assert 4 < estimate.epsilon < math.inf


def test_equal_outputs_show_nothing() -> None:
    estimate = audit(Table((0.5, 0.5), (0.5, 0.5)), 2000, "equal")
    assert estimate.epsilon == 0


def test_outputs_that_the_density_calls_impossible_do_not_stop_the_audit() -> None:
    @dataclass(frozen=True)
    class Surprising(Table):
        def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:  # noqa: ARG002
            return rng.integers(3, size=size)

    assert audit(Surprising((0.5, 0.5, 0.0), (0.4, 0.6, 0.0)), 400, "surprising").epsilon < 0.5
    assert audit(Surprising((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), 400, "surprising").epsilon == 0


@pytest.mark.parametrize("trials", [4, 5, 7, 100, 100_001])
def test_no_more_outputs_are_drawn_than_allowed(trials: int) -> None:
    drawn = []

    @dataclass(frozen=True)
    class Counting(Table):
        def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
            drawn.append(size)
            return super().sample(dataset, size, rng)

    estimate = audit(Counting((0.6, 0.4), (0.4, 0.6)), trials, "drawn", chunk=1000)
    assert estimate.trials == sum(drawn) == 2 * (trials // 2)
    assert max(drawn) <= 1000
    assert estimate.counts[0].trials == estimate.counts[0].other_trials < trials / 2


def test_the_division_of_the_trials() -> None:
    assert division(4, 0.05) == (1, 1)
    assert division(100, 0.05) == (25, 25)
    assert division(20_000, 0.05) == (500, 9500)
    assert division(10**9, 0.05)[0] == 2_500_000


def test_counts_do_not_depend_on_the_size_of_the_chunks_for_a_stream_that_does_not() -> None:
    entry = find("laplace_count")
    counted = [
        count_event(entry.build(1.0), entry.pairs()[0], 10_001, stream(8, "chunks"), True, 0.5, chunk)
        for chunk in (7, 999, 10_001, 1 << 16)
    ]
    assert len(set(counted)) == 1


def test_the_promised_delta_is_the_default() -> None:
    promised = Guarantee(1.0, "replace-one", 0.2)
    assert audit(Table((0.6, 0.4), (0.4, 0.6), promised), 100, "delta").delta == 0.2
    assert audit(Table((0.6, 0.4), (0.4, 0.6), promised), 100, "delta", delta=0.0).delta == 0
    assert audit(Table((0.6, 0.4), (0.4, 0.6)), 100, "delta").delta == 0


def test_the_same_stream_gives_the_same_estimate() -> None:
    mechanism = Table((0.6, 0.4), (0.4, 0.6))
    assert audit(mechanism, 1000, "again") == audit(mechanism, 1000, "again")


def test_what_a_user_can_get_wrong_is_said() -> None:
    mechanism = Table((0.6, 0.4), (0.4, 0.6))
    with pytest.raises(EpsilometerError, match="trials is 3"):
        audit(mechanism, 3, "few")
    with pytest.raises(EpsilometerError, match="confidence is 95"):
        SampledLikelihoodRatio(confidence=95)
    with pytest.raises(EpsilometerError, match=r"delta is -0\.1"):
        SampledLikelihoodRatio(delta=-0.1)
    with pytest.raises(EpsilometerError, match="share is 1"):
        SampledLikelihoodRatio(share=1.0)
    with pytest.raises(EpsilometerError, match="chunk is 0"):
        SampledLikelihoodRatio(chunk=0)

    class Opaque:
        guarantee = None
        source = "test"

        def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:  # noqa: ARG002
            return rng.random(size)

    with pytest.raises(EpsilometerError, match="Opaque does not know the density"):
        audit(Opaque(), 100, "opaque")
