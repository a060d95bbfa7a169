"""The search for the worst pair never exceeds the proved supremum, and comes near it where it can be approached."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.core import Array, EpsilometerError, HasDensity, LabelledData, Mechanism, NeighbouringPair, Witness
from epsilometer.erm import Distance, Huber
from epsilometer.mechanisms.objective_perturbation import (
    ObjectivePerturbation2008,
    ObjectivePerturbationCMS11,
    ObjectivePerturbationGeneral,
    ObjectivePerturbationKST12,
)
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.pairs.boundary import spent_by_2008, spent_by_cms11
from epsilometer.pairs.search import WorstPair, textbook_scenes, worst_pair

MANY = 10**7
"""Records enough for the supremum over all n to be nearly reached; they cost nothing, being few rows."""


def found(mechanism: Mechanism, n: int, d: int, **options: int) -> WorstPair:
    return worst_pair(mechanism, n, d, np.random.default_rng(1), **{"restarts": 0, **options})


def log_ratio(mechanism: HasDensity, pair: NeighbouringPair, output: Array) -> float:
    first, second = (float(mechanism.log_density(data, output[None])[0]) for data in (pair.first, pair.second))
    return first - second


def check(result: WorstPair, mechanism: ObjectivePerturbation2008, n: int, d: int) -> None:
    """The pair is one of neighbours with whole counts, and the ratio is that of the mechanism's densities."""
    assert result.pair.adjacency == "replace-one"
    for data in (result.pair.first, result.pair.second):
        assert isinstance(data, LabelledData)
        assert data.weights is not None
        assert data.n == n
        assert data.features.shape[1] == d
        assert np.array_equal(data.weights, np.round(data.weights))
    assert result.log_ratio == log_ratio(mechanism, result.pair, result.output)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("epsilon", "n_lam"), [(0.0184, 10.0), (1.0, 1e-3), (1.0, 1.0), (2.0, 20.0), (10.0, 0.01)])
def test_the_search_comes_within_a_hundredth_of_the_formula_and_never_above(epsilon: float, n_lam: float, d: int) -> None:
    mechanism = ObjectivePerturbation2008(epsilon, n_lam / MANY)
    result = found(mechanism, MANY, d)
    check(result, mechanism, MANY, d)
    bound = float(spent_by_2008(epsilon, n_lam, d))
    assert 0.99 * bound <= result.log_ratio <= bound * (1 + 1e-9)


def test_three_dimensions_are_no_worse_than_two() -> None:
    result = found(ObjectivePerturbation2008(1.0, 1.0 / MANY), MANY, 3, restarts=0)
    assert 0.99 * spent_by_2008(1.0, 1.0) <= result.log_ratio <= spent_by_2008(1.0, 1.0)


@pytest.mark.parametrize(("n", "epsilon", "n_lam"), [(2, 3.0, 0.1), (40, 0.1, 1.0)])
def test_the_formula_bounds_small_data_sets_too(n: int, epsilon: float, n_lam: float) -> None:
    mechanism = ObjectivePerturbation2008(epsilon, n_lam / n)
    result = found(mechanism, n, 2)
    check(result, mechanism, n, 2)
    assert 0.5 * epsilon <= result.log_ratio <= spent_by_2008(epsilon, n_lam) * (1 + 1e-9)


@pytest.mark.slow
def test_with_the_others_at_zero_it_looks_twice_as_private() -> None:
    """n lam = 20, epsilon = 2: with shared records that saturate, the promise is just kept; without, half of it is used."""
    mechanism = ObjectivePerturbation2008(2.0, 20 / MANY)
    zeros, saturating = found(mechanism, MANY, 2, shared_rows=0), found(mechanism, MANY, 2)
    assert isinstance(zeros.pair.first, LabelledData)
    assert not zeros.pair.first.features[:-1].any()
    assert 0.49 * 2.0 < zeros.log_ratio < 0.56 * 2.0
    assert 0.99 * 2.0 < saturating.log_ratio <= 2.0


@pytest.mark.slow
def test_at_the_papers_setting_it_finds_twice_the_promise() -> None:
    """lambda = 0.01 and n = 1000, on the learning curve of 2008; textbook pairs alone show most of it."""
    result = found(ObjectivePerturbation2008(0.0184, 0.01), 1000, 2)
    assert 2.04 * 0.0184 < result.log_ratio <= spent_by_2008(0.0184, 10.0)


@pytest.mark.slow
def test_along_the_papers_curve_it_finds_more_than_the_promise_up_to_5000_records() -> None:
    spent = {n: found(ObjectivePerturbation2008(0.0184, 0.01), n, 2, restarts=0).log_ratio for n in (3000, 5000, 11_000)}
    assert spent[3000] > 1.17 * 0.0184
    assert spent[5000] > 1.015 * 0.0184
    assert spent[11_000] <= 0.0184


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("epsilon", "n_lam"), [(0.0184, 10.0), (1.0, 0.01), (1.0, 1.0), (2.0, 20.0)])
def test_cms11_comes_out_clean(epsilon: float, n_lam: float, d: int) -> None:
    mechanism = ObjectivePerturbationCMS11(epsilon, n_lam / MANY, extra_regularisation=True)
    result = found(mechanism, MANY, d)
    bound = float(spent_by_cms11(epsilon, n_lam, d))
    assert 0.99 * bound <= result.log_ratio <= bound * (1 + 1e-9)
    assert result.log_ratio < epsilon


@pytest.mark.slow
def test_the_general_form_does_not_depend_on_n() -> None:
    result = found(ObjectivePerturbationGeneral(1.0, 0.5), MANY, 2)
    assert 0.99 * spent_by_2008(1.0, 0.5) <= result.log_ratio <= spent_by_2008(1.0, 0.5)


def test_a_huber_loss_stays_below_its_bound_and_above_its_promise() -> None:
    """2 beta + log(1 + c/(n lam)): slope and curvature are largest together at the kink, where no ascent can stop."""
    result = found(ObjectivePerturbationGeneral(1.0, 0.1, loss=Huber(0.5)), 1000, 1, restarts=4)
    assert 1.0 < result.log_ratio <= 1.0 + math.log1p(10.0)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "least", "most"), [(1, 0.5, 0.5259), (2, 0.99, 1.0)])
@pytest.mark.parametrize("n_lam", [0.5, 20.0])
def test_output_perturbation_spends_all_of_epsilon_in_the_plane_and_half_on_the_line(
    d: int, least: float, most: float, n_lam: float
) -> None:
    """The solver finds minimisers to within 1e-10/lam or so, hence no more records than these."""
    n = 10**6 if n_lam > 1 else 10**5
    result = found(OutputPerturbation(1.0, n_lam / n), n, d)
    assert least <= result.log_ratio <= most + 1e-4


@pytest.mark.slow
def test_the_search_does_better_than_the_textbook() -> None:
    """At a setting where no textbook pair is the worst."""
    mechanism = ObjectivePerturbation2008(1.0, 1.0 / 50)
    result = found(mechanism, 50, 2, restarts=3)
    textbook = [abs(log_ratio(mechanism, scene.pair(), scene.output)) for scene in textbook_scenes(1.0, 50, 2)]
    assert result.log_ratio > 1.002 * max(textbook)


@pytest.mark.slow
def test_the_same_generator_gives_the_same_pair() -> None:
    one, same = (found(ObjectivePerturbation2008(1.0, 0.01), 100, 1) for _ in range(2))
    assert one.log_ratio == same.log_ratio
    assert np.array_equal(one.output, same.output)


def test_a_result_is_a_witness() -> None:
    result = found(ObjectivePerturbation2008(1.0, 0.01), 100, 1)
    read = Witness.from_json(result.witness("objective_perturbation_2008", 1.0).to_json())
    assert (read.mechanism, read.promised, read.log_ratio) == ("objective_perturbation_2008", 1.0, result.log_ratio)
    assert log_ratio(ObjectivePerturbation2008(read.promised, 0.01), read.pair, read.output) == read.log_ratio


@pytest.mark.parametrize(
    "mechanism",
    [
        ObjectivePerturbationKST12(1.0, 0.1),
        OutputPerturbation(0.5, 0.1, delta=1e-5),
        OutputPerturbation(0.5, 0.1, Distance()),
    ],
)
def test_what_cannot_be_searched_is_said(mechanism: Mechanism) -> None:
    with pytest.raises(EpsilometerError, match=f"no search for the worst pair of {type(mechanism).__name__}"):
        found(mechanism, 10, 1)


def test_a_pair_needs_two_records() -> None:
    with pytest.raises(EpsilometerError, match="n is 1 and d is 1"):
        found(ObjectivePerturbation2008(1.0, 0.1), 1, 1)
