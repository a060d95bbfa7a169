"""The contract that every mechanism of the catalogue keeps.

Each test is generated for the mechanisms, and for each of their pairs, to which it applies; which these are is found out at
collection from one output of each mechanism.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from epsilometer.core import Dataset, EpsilometerError, HasDensity, HasSupport, LabelledData, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import catalogue, find
from tests.marks import slow, slow_where
from tests.mechanisms import agreement

COUNTS_RECORDS = {
    "histogram_inverse_scale",
    "histogram_wrong_adjacency",
    "parallel_composition",
    "parallel_composition_as_printed",
    "parallel_composition_replace_one",
}
"""They release how many records there are; no records is one of the answers."""
WITHOUT_DENSITY = {
    "laplace_floating_point": "which doubles it can return is a matter of rounding",
    "non_private_logistic": "it returns one vector, always",
}
WITHOUT_GUARANTEE = {"k_anonymity", "non_private_logistic"}
SINGULAR = {"output_perturbation_gamma_one": "its density is infinite at one point, where a grid cannot follow"}
ONE_VALUE = {"sparse_vector_3": "an output is below, below, ..., and one real number"}

COSTLY = {
    "approximate_minimum_perturbation",
    "decision_tree",
    "gradient_perturbation_accountant",
    "gradient_perturbation_full_batch",
    "gradient_perturbation_printed",
    "k_means",
    "kernel_svm_tight",
    "nips08_algorithm_1_n14000",
    "nips08_algorithm_2_n1000",
    "nips08_algorithm_2_n14000",
    "nips08_cms11_n14000",
    "objective_perturbation_2008",
    "output_perturbation_coordinates",
    "output_perturbation_gamma_one",
    "sparse_vector_3",
    "sparse_vector_6",
}
"""Their statistical tests are marked slow; for each kind of output there are mechanisms whose tests are not."""

MECHANISMS: dict[str, Any] = {name: entry.build(1.0) for name, entry in catalogue().items()}
PAIRS: dict[str, tuple[NeighbouringPair, ...]] = {name: tuple(entry.pairs()) for name, entry in catalogue().items()}
SHAPES: dict[str, list[tuple[int, ...]]] = {
    name: [MECHANISMS[name].sample(pair.first, 1, stream(0)).shape[1:] for pair in pairs] for name, pairs in PAIRS.items()
}
"""The shape of one output, on each pair."""

NAMES = list(MECHANISMS)
CLAIMING = [name for name in NAMES if MECHANISMS[name].guarantee]
WITH_DELTA = [name for name in NAMES if hasattr(MECHANISMS[name], "delta")]
REFUSING_NO_RECORDS = [
    name for name in NAMES if not isinstance(PAIRS[name][0].first, LabelledData) and name not in COUNTS_RECORDS
]
"""Labelled data refuse to be empty themselves."""
DENSITIES = [name for name in NAMES if isinstance(MECHANISMS[name], HasDensity)]
VECTORS = [name for name in DENSITIES if len(SHAPES[name][0]) == 1]


@dataclass(frozen=True)
class Case:
    """One mechanism on one of its pairs."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name}-{self.number}"

    @property
    def pair(self) -> NeighbouringPair:
        return PAIRS[self.name][self.number]

    @property
    def kind(self) -> str:
        """Which test of fit applies to the outputs."""
        if isinstance(MECHANISMS[self.name], HasSupport):
            return "listed"
        if self.name in ONE_VALUE:
            return "one value"
        numbers = math.prod(SHAPES[self.name][self.number])
        if numbers > 2 or self.name in SINGULAR:
            return "many numbers"
        return "plane" if numbers == 2 else "one number"

    def both(self) -> list[tuple[Any, Dataset, np.random.Generator]]:
        """The mechanism at a small epsilon with the first data set, and at a large one with the second."""
        sides = ((0.5, self.pair.first), (2.0, self.pair.second))
        return [(find(self.name).build(eps), data, stream(1, self.name, eps, self.number)) for eps, data in sides]


def is_costly(case: Case) -> bool:
    return case.name in COSTLY


CASES = [Case(name, number) for name in NAMES for number in range(len(PAIRS[name]))]
WITH_DENSITY = [case for case in CASES if case.name in DENSITIES]
FEW_NUMBERS = [case for case in WITH_DENSITY if case.kind != "many numbers"]
MANY_NUMBERS = [case for case in WITH_DENSITY if case.kind == "many numbers"]


def test_an_unknown_name_is_a_sentence_that_lists_the_known_ones() -> None:
    with pytest.raises(EpsilometerError, match=r"no mechanism 'laplase'; there are .*laplace"):
        find("laplase")


def test_only_the_named_mechanisms_lack_a_density_or_a_guarantee() -> None:
    """Tests are generated for all others, so a mechanism that loses its density or guarantee is noticed here."""
    assert set(NAMES) - set(DENSITIES) == set(WITHOUT_DENSITY)
    assert set(NAMES) - set(CLAIMING) == WITHOUT_GUARANTEE
    assert {case.kind for case in WITH_DENSITY} == {"listed", "one value", "many numbers", "plane", "one number"}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_described_and_stressed(name: str) -> None:
    assert find(name).title
    assert MECHANISMS[name].source
    assert PAIRS[name]
    assert all(pair.reason for pair in PAIRS[name])


@pytest.mark.parametrize("name", CLAIMING)
def test_its_pairs_are_neighbours_under_the_adjacency_of_its_guarantee(name: str) -> None:
    assert {pair.adjacency for pair in PAIRS[name]} == {MECHANISMS[name].guarantee.adjacency}


@pytest.mark.parametrize("name", CLAIMING)
@settings(max_examples=10, deadline=None)
@given(epsilon=st.floats(0.1, 4))
def test_the_claimed_epsilon_is_the_one_asked_for(name: str, epsilon: float) -> None:
    guarantee = find(name).build(epsilon).guarantee
    assert guarantee
    assert guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, -1.5, math.nan])
@pytest.mark.parametrize("name", CLAIMING)
def test_a_senseless_epsilon_is_refused(name: str, epsilon: float) -> None:
    with pytest.raises(EpsilometerError, match=r"epsilon is (0|-|nan)"):
        find(name).build(epsilon)


@pytest.mark.parametrize("delta", [-0.25, 1.0, 1.5, math.nan])
@pytest.mark.parametrize("name", WITH_DELTA)
def test_a_senseless_delta_is_refused(name: str, delta: float) -> None:
    with pytest.raises(EpsilometerError, match=f"delta is {delta:g}"):
        dataclasses.replace(MECHANISMS[name], delta=delta)


@pytest.mark.parametrize("name", REFUSING_NO_RECORDS)
def test_empty_data_are_refused(name: str) -> None:
    dataset: Any = PAIRS[name][0].first
    with pytest.raises(EpsilometerError, match=r"empty|0|no "):
        MECHANISMS[name].sample(dataset[:0], 2, stream(0))


@pytest.mark.parametrize("name", sorted(COUNTS_RECORDS))
def test_no_records_are_counted_as_none(name: str) -> None:
    """Of 4,000 noisy counts the median has a standard error below 0.1 at epsilon 1."""
    dataset: Any = PAIRS[name][0].first
    outputs = MECHANISMS[name].sample(dataset[:0], 4_000, stream(1, name))
    assert np.abs(np.median(outputs, axis=0)).max() < 0.5
    assert np.isfinite(MECHANISMS[name].log_density(dataset[:0], outputs)).all()


@pytest.mark.parametrize("name", VECTORS)
def test_outputs_of_another_dimension_are_refused(name: str) -> None:
    dataset = PAIRS[name][0].first
    outputs = MECHANISMS[name].sample(dataset, 3, stream(0))
    with pytest.raises(EpsilometerError, match=f"{outputs.shape[1] + 1}"):
        MECHANISMS[name].log_density(dataset, np.column_stack([outputs, outputs[:, :1]]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_outputs_depend_on_the_seed_alone(case: Case) -> None:
    for dataset in (case.pair.first, case.pair.second):
        first, second = (MECHANISMS[case.name].sample(dataset, 7, stream(3, case.name)) for _ in range(2))
        assert len(first) == 7
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("epsilon", [0.5, slow(2.0)])
@pytest.mark.parametrize("case", slow_where(is_costly, WITH_DENSITY), ids=str)
def test_densities_under_neighbours_have_the_ratio_that_samples_show(case: Case, epsilon: float) -> None:
    """Fails by chance with probability 1e-6."""
    rng = stream(1, case.name, epsilon, case.number)
    require_ratio(find(case.name).build(epsilon), case.pair, rng)


@pytest.mark.parametrize("case", slow_where(is_costly, FEW_NUMBERS), ids=str)
def test_samples_have_the_stated_density_of_mass_one(case: Case) -> None:
    """Fails by chance with probability 2e-6: once 1e-6 for each data set."""
    for mechanism, dataset, rng in case.both():
        require_fit(mechanism, dataset, rng, case.kind)


@pytest.mark.parametrize("case", slow_where(is_costly, MANY_NUMBERS), ids=str)
def test_samples_of_many_numbers_have_the_stated_density_along_lines(case: Case) -> None:
    """Fails by chance with probability 2e-6: once 1e-6 for each data set.

    A constant factor of the density is not seen; it would not change a likelihood ratio. The tests of each family see to the
    mass, most of them in test_small_instances.
    """
    for mechanism, dataset, rng in case.both():
        require_fit(mechanism, dataset, rng, case.kind)


def require_ratio(mechanism: Any, pair: NeighbouringPair, rng: np.random.Generator) -> None:
    assert agreement.ratio_identity(mechanism, pair, rng, size=4_000) > agreement.FALSE_FAILURE


def require_fit(mechanism: Any, dataset: Dataset, rng: np.random.Generator, kind: str) -> None:
    if kind == "many numbers":
        assert agreement.along_lines(mechanism, dataset, rng) > agreement.FALSE_FAILURE
    else:
        p_value, mass = agreement.fit(mechanism, dataset, rng, kind)
        assert p_value > agreement.FALSE_FAILURE
        assert mass == pytest.approx(1, abs=1e-3)


@dataclass(frozen=True)
class Disturbed:
    """Samples of one mechanism beside the density of another one, times a factor."""

    sampler: Any
    density: Any
    factor: float = 1.0

    def sample(self, dataset: Dataset, size: int, rng: np.random.Generator) -> NDArray[Any]:
        outputs: NDArray[Any] = self.sampler.sample(dataset, size, rng)
        return outputs

    def log_density(self, dataset: Dataset, outputs: NDArray[Any]) -> NDArray[Any]:
        values: NDArray[Any] = self.density.log_density(dataset, outputs) + math.log(self.factor)
        return values

    def support(self, dataset: Dataset) -> NDArray[Any]:
        outputs: NDArray[Any] = self.density.support(dataset)
        return outputs


NOTICED = [
    (Case("randomized_response", 1), 1.1),
    (Case("laplace_count", 0), 1.1),
    (Case("gaussian_analytic", 0), 1.1),
    (Case("nips08_cms11_n1000", 0), 1.25),
    (Case("sparse_vector_3", 0), 1.25),
    (Case("decision_tree", 0), 1.1),
    (Case("kernel_svm", 0), 1.1),
    (Case("gradient_perturbation_full_batch", 1), 1.1),
    (Case("output_perturbation_gamma_one", 0), 1.25),
]
"""Every kind of output, with a factor of the noise that the test of fit notices."""


@pytest.mark.parametrize(("case", "factor"), NOTICED, ids=str)
def test_noise_of_another_scale_fails_the_test_of_fit(case: Case, factor: float) -> None:
    """The sampler has epsilon / factor, which makes its noise `factor` times as large, and the density has epsilon."""
    (_, _, _), (mechanism, dataset, rng) = case.both()
    sampler = find(case.name).build(2.0 / factor)
    with pytest.raises(AssertionError):
        require_fit(Disturbed(sampler, mechanism), dataset, rng, case.kind)


@pytest.mark.parametrize("case", [case for case, _ in NOTICED if case.kind != "many numbers"], ids=str)
def test_a_mass_of_another_size_fails_the_test_of_fit(case: Case) -> None:
    (_, _, _), (mechanism, dataset, rng) = case.both()
    with pytest.raises(AssertionError):
        require_fit(Disturbed(mechanism, mechanism, 1.01), dataset, rng, case.kind)


@pytest.mark.parametrize("name", ["laplace_count", "gaussian_analytic", "decision_tree"])
def test_noise_of_another_scale_fails_the_test_of_ratios(name: str) -> None:
    case = Case(name, 0)
    disturbed = Disturbed(find(name).build(0.5), find(name).build(2.0))
    with pytest.raises(AssertionError):
        require_ratio(disturbed, case.pair, stream(1, name))


@dataclass(frozen=True)
class Blind:
    """A sampler that uses the same data set for every input."""

    mechanism: Any
    seen: Dataset

    def sample(self, dataset: Dataset, size: int, rng: np.random.Generator) -> NDArray[Any]:  # noqa: ARG002
        outputs: NDArray[Any] = self.mechanism.sample(self.seen, size, rng)
        return outputs


@pytest.mark.parametrize(
    "case",
    [Case("k_anonymity", 0), Case("laplace_one_byte_seed", 0), Case("output_perturbation_tuned", 0), Case("naive_bayes", 0)],
    ids=str,
)
def test_a_sampler_that_ignores_the_exchanged_record_fails_the_test_of_ratios(case: Case) -> None:
    """Also where no output is possible, or likely, under both data sets."""
    mechanism = find(case.name).build(2.0)
    with pytest.raises(AssertionError):
        require_ratio(Disturbed(Blind(mechanism, case.pair.first), mechanism), case.pair, stream(1, case.name))
