"""Composition: the columns, the product of the densities, and guarantees that hold for the stated adjacency.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, Guarantee, HasDensity, HasSupport, LabelledData
from epsilometer.mechanisms.composition import (
    ENTRIES,
    ParallelComposition,
    ParallelCompositionAsPrinted,
    SequentialComposition,
    category,
)
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.exponential import Exponential
from epsilometer.mechanisms.gaussian import Gaussian
from epsilometer.mechanisms.laplace import Laplace, count_five
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from tests.mechanisms import agreement

BITS = np.array([0, 1, 1])


def both_counts(dataset: Any) -> list[float]:
    return [float(np.sum(dataset)), float(len(dataset) - np.sum(dataset))]


def frequency(epsilon: float) -> Exponential:
    return Exponential(np.array([5.0, 7.0]), both_counts_reversed, 1.0, epsilon)


def both_counts_reversed(dataset: Any) -> Any:
    return np.array(both_counts(dataset)[::-1])


def count(epsilon: float, adjacency: Any = "add-remove") -> Laplace:
    return Laplace(len, 1, epsilon, adjacency)


def worst_ratio(mechanism: Any, first: Any, second: Any) -> float:
    grid = np.linspace(-40, 40, 161)
    outputs = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    return float(np.max(np.abs(mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs))))


def test_epsilons_and_deltas_add_up_in_sequence() -> None:
    noisy, noisier = Gaussian.classic(count_five, 1, 1.0, 1e-2), Gaussian.classic(count_five, 1, 0.5, 1e-3)
    guarantee = SequentialComposition((noisy, Laplace(count_five, 1, 0.25), noisier)).guarantee
    assert (guarantee.epsilon, guarantee.delta) == pytest.approx((1.75, 0.011))
    assert guarantee.adjacency == "replace-one"


def test_columns_stand_side_by_side_and_densities_multiply() -> None:
    parts = (Laplace(both_counts, 2, 0.5), RandomizedResponse(0.2), frequency(1.0))
    mechanism = SequentialComposition(parts)
    outputs = mechanism.sample(BITS, 300, np.random.default_rng(0))
    assert outputs.shape == (300, 2 + 3 + 1)
    assert set(np.unique(outputs[:, 2:5])) == {0, 1}
    assert set(np.unique(outputs[:, 5])) == {5, 7}
    expected = (
        parts[0].log_density(BITS, outputs[:, :2])
        + parts[1].log_density(BITS, outputs[:, 2:5])
        + parts[2].log_density(BITS, outputs[:, 5])
    )
    assert mechanism.log_density(BITS, outputs) == pytest.approx(expected, rel=1e-14)
    impossible = outputs.copy()
    impossible[:, 5] = 6
    assert np.isneginf(mechanism.log_density(BITS, impossible)).all()


def test_the_parts_are_independent() -> None:
    """The same count twice: the correlation of 40000 pairs of noises has standard error 1/200; 4.9 of them allowed."""
    mechanism = SequentialComposition((Laplace(count_five, 1, 1.0), Laplace(count_five, 1, 1.0)))
    outputs = mechanism.sample(BITS, 40_000, np.random.default_rng(0))
    assert abs(np.corrcoef(outputs.T)[0, 1]) < 4.9 / 200


def test_the_support_is_the_product() -> None:
    mechanism: Any = SequentialComposition((RandomizedResponse(0.1), frequency(1.0)))
    support = mechanism.support(BITS)
    assert support.shape == (16, 4)
    assert len(np.unique(support, axis=0)) == 16
    p_value, mass = agreement.finite(mechanism, BITS, np.random.default_rng(0))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, rel=1e-12)
    other = np.array([0, 1, 0])
    spent = np.max(np.abs(mechanism.log_density(BITS, support) - mechanism.log_density(other, support)))
    assert mechanism.guarantee.epsilon - 0.6 < spent <= mechanism.guarantee.epsilon


def test_it_has_what_all_of_its_parts_have() -> None:
    finite, continuous, opaque = RandomizedResponse(0.1), Laplace(count_five, 1, 1.0), _Opaque()
    for parts, density, support in (
        ((finite, finite), True, True),
        ((finite, continuous), True, False),
        ((finite, opaque), False, False),
    ):
        mechanism = SequentialComposition(parts)
        for same in (mechanism, copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
            assert isinstance(same, HasDensity) == density
            assert isinstance(same, HasSupport) == support
            assert repr(same) == repr(mechanism)


class _Opaque:
    guarantee = Guarantee(1.0, "replace-one")
    source = "nowhere"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:  # noqa: ARG002
        return rng.random(size)

    def __repr__(self) -> str:
        return "opaque"


def test_nested_compositions() -> None:
    inner = SequentialComposition((RandomizedResponse(0.1), frequency(1.0)))
    mechanism = SequentialComposition((inner, Laplace(count_five, 1, 1.0)))
    outputs = mechanism.sample(BITS, 5, np.random.default_rng(0))
    assert outputs.shape == (5, 5)
    expected = inner.log_density(BITS, outputs[:, :4]) + Laplace(count_five, 1, 1.0).log_density(BITS, outputs[:, 4])
    assert mechanism.log_density(BITS, outputs) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_bound_is_attained_on_the_pairs(entry: Any, epsilon: float) -> None:
    mechanism = entry.build(epsilon)
    (pair,) = entry.pairs()
    spent = worst_ratio(mechanism, pair.first, pair.second)
    assert spent == pytest.approx(entry.true_epsilon(epsilon), rel=1e-9)
    assert (spent > mechanism.guarantee.epsilon * (1 + 1e-9)) == bool(entry.flaw)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_samples_follow_the_density(entry: Any) -> None:
    p_value, mass = agreement.continuous_2d(entry.build(1.0), entry.pairs()[0].second, np.random.default_rng(0))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=2e-3)


def test_parallel_promises() -> None:
    def promise(parts: Any, adjacency: Any, by: Any) -> Guarantee:
        return ParallelComposition(parts, category, adjacency, by).guarantee

    mixed = (count(0.5), count(2.0), count(1.0))
    assert promise(mixed, "add-remove", "value") == Guarantee(2.0, "add-remove")
    assert promise(mixed, "replace-one", "value") == Guarantee(4.0, "replace-one")
    by_place = tuple(Laplace(np.sum, 1, epsilon) for epsilon in (0.5, 2.0))
    assert promise(by_place, "replace-one", "place") == Guarantee(2.0, "replace-one")
    gaussian = tuple(Gaussian.classic(len, 1, epsilon, delta, "add-remove") for epsilon, delta in ((0.5, 1e-3), (0.2, 1e-2)))
    assert promise(gaussian, "add-remove", "value") == Guarantee(0.5, "add-remove", 1e-2)
    doubled = promise(gaussian, "replace-one", "value")
    assert (doubled.epsilon, doubled.delta) == pytest.approx((1.0, (1 + math.exp(0.5)) * 1e-2))
    assert ParallelCompositionAsPrinted(mixed, category).guarantee == Guarantee(2.0, "replace-one")


def test_a_replacement_within_one_part_can_cost_twice_its_epsilon() -> None:
    """Records are +1 and -1 in part 0, 5 in part 1; adding one moves the sum by 1, replacing one by 2."""

    def sum_of_signs(dataset: Any) -> float:
        return float(np.sum(np.sign(dataset)))

    parts = tuple(Laplace(sum_of_signs, 1, epsilon, "add-remove") for epsilon in (0.7, 0.1))
    mechanism = ParallelComposition(parts, lambda data: np.where(data == 5, 1, 0), "replace-one")
    spent = worst_ratio(mechanism, np.array([1, 1, 5]), np.array([1, -1, 5]))
    assert spent == pytest.approx(2 * 0.7) == pytest.approx(mechanism.guarantee.epsilon)


def test_a_partition_by_place_spends_one_epsilon() -> None:
    parts = (Laplace(np.sum, 1, 0.7), Laplace(np.sum, 1, 0.2))
    mechanism = ParallelComposition(parts, lambda data: np.arange(len(data)) % 2, "replace-one", "place")
    assert worst_ratio(mechanism, np.array([0, 1, 1]), np.array([0, 1, 0])) == pytest.approx(0.7)
    assert worst_ratio(mechanism, np.array([0, 1, 1]), np.array([0, 0, 1])) == pytest.approx(0.2)


def test_each_part_sees_its_own_records_and_may_see_none() -> None:
    mechanism = ParallelComposition((count(1.0), count(1.0), count(1.0)), category)
    assert [share.tolist() for share in mechanism.shares(np.array([2, 0, 2]))] == [[0], [], [2, 2]]
    assert mechanism.sample(np.array([2, 0, 2]), 4, np.random.default_rng(0)).shape == (4, 3)


def test_labelled_data_are_divided_with_their_labels() -> None:
    data = LabelledData(np.array([[0.1], [0.2], [0.3], [0.4]]), np.array([1.0, -1.0, 1.0, -1.0]))
    parts = (OutputPerturbation(0.5, 0.1), OutputPerturbation(1.0, 0.1))
    mechanism = ParallelComposition(parts, lambda records: np.arange(len(records)) // 2, "replace-one", "place")
    first, second = mechanism.shares(data)
    assert first.features.ravel().tolist() == [0.1, 0.2]
    assert second.labels.tolist() == [1, -1]
    assert mechanism.guarantee == Guarantee(1.0, "replace-one")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SequentialComposition(()), "there are 0 mechanisms; at least 1 is needed to compose"),
        (
            lambda: SequentialComposition((count(1.0), count(1.0, "replace-one"))),
            "mechanism 2 promises replace-one and mechanism 1 add-remove; they must agree",
        ),
        (
            lambda: SequentialComposition((OutputPerturbation(1.0, 0.1), NonPrivateLogistic(0.1))),
            "mechanism 2 is NonPrivateLogistic, which promises nothing",
        ),
        (
            lambda: SequentialComposition((Gaussian.classic(len, 1, 1, 0.6), Gaussian.classic(len, 1, 1, 0.6))),
            r"delta is 1.2; it must be in \[0, 1\)",
        ),
        (
            lambda: ParallelComposition((count(1.0, "replace-one"),), category, "replace-one"),
            "the mechanisms promise replace-one; a partition by value needs add-remove",
        ),
        (
            lambda: ParallelComposition((count(1.0),), category, "replace-one", "place"),
            "the mechanisms promise add-remove; a partition by place needs replace-one",
        ),
        (
            lambda: ParallelComposition((count(1.0),), category, "add-remove", "place"),
            "by is 'place' and adjacency is 'add-remove'; a partition by place needs 'replace-one'",
        ),
    ],
)
def test_what_cannot_be_composed_is_named(make: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("partition", "sentence"),
    [
        (lambda data: data + 1, "record 3 is in part 2; a part must be one of 0 to 1"),
        (lambda data: data - 0.5, "record 1 is in part -0.5; a part must be one of 0 to 1"),
        (lambda data: data[:2], r"the partition has shape \(2,\) for 3 records; it must number each"),
    ],
)
def test_a_bad_partition_is_named(partition: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        ParallelComposition((count(1.0), count(1.0)), partition).sample(np.array([0, 0, 1]), 1, np.random.default_rng(0))


def test_outputs_of_another_width_are_refused() -> None:
    mechanism = SequentialComposition((Laplace(count_five, 1, 1.0), RandomizedResponse(0.1)))
    with pytest.raises(EpsilometerError, match=r"the outputs have shape \(5, 3\); they must have 4 columns"):
        mechanism.log_density(BITS, np.zeros((5, 3)))
