"""The real data sets are scaled by public bounds, and keep their records and outcomes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, LabelledData
from epsilometer.data import DATASETS, REAL, real
from epsilometer.data.real import breast_cancer, rand_hie


@pytest.fixture(scope="module", params=REAL)
def each(request: pytest.FixtureRequest) -> LabelledData:
    read = DATASETS[request.param].read
    assert read
    return read()


def test_records_lie_in_the_unit_ball_with_a_constant(each: LabelledData) -> None:
    assert np.max(np.sqrt(np.sum(each.features**2, axis=1))) <= 1
    assert each.features.min() >= 0
    width = each.features.shape[1]
    assert np.all(each.features[:, -1] == 1 / math.sqrt(width))
    assert np.all(each.features.max(axis=0) <= 1 / math.sqrt(width))
    assert np.all(np.ptp(each.features[:, :-1], axis=0) > 0)


def test_breast_cancer_has_the_documented_classes() -> None:
    """The data set's description counts 357 benign and 212 malignant records."""
    from sklearn.datasets import load_breast_cancer

    data, bunch = breast_cancer(), load_breast_cancer()
    assert data.features.shape == (569, 31)
    assert np.sum(data.labels == 1) == 357
    assert np.sum(data.labels == -1) == 212
    assert str(bunch.target_names[1]) == "benign"
    assert np.array_equal(data.labels == 1, bunch.target == 1)


def test_breast_cancer_features_are_the_raw_ones_over_their_bounds() -> None:
    from sklearn.datasets import load_breast_cancer

    raw = load_breast_cancer()
    scaled = breast_cancer().features * math.sqrt(31)
    columns = {str(name): column for column, name in enumerate(raw.feature_names)}
    bounds = {
        "mean radius": 50,
        "worst radius": 50,
        "radius error": 25,
        "mean texture": 127.5,
        "texture error": 63.75,
        "worst area": math.pi * 2500,
        "area error": math.pi * 1250,
        "mean concave points": 1,
        "concave points error": 0.5,
        "worst fractal dimension": 1,
    }
    for name, bound in bounds.items():
        assert np.allclose(scaled[:, columns[name]] * bound, raw.data[:, columns[name]], rtol=1e-12), name


def test_rand_hie_has_the_documented_records_and_outcome() -> None:
    """The data set's description counts 20,190 records; half of them, about, have two visits or more."""
    from statsmodels.datasets import randhie

    data, table = rand_hie(), randhie.load_pandas().data
    assert data.features.shape == (20_190, 10)
    assert np.array_equal(data.labels == 1, table["mdvis"].to_numpy() >= 2)
    assert 0.45 < np.mean(data.labels == 1) < 0.55
    assert np.allclose(data.features[:, 5] * math.sqrt(10) * 100, table["disea"].to_numpy(), rtol=1e-12)


def test_a_value_above_its_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(real.BREAST_CANCER_BOUNDS, "texture", 30.0)
    with pytest.raises(EpsilometerError, match=r"mean texture lies in \[9\.71, 39\.28\]; its public bound says \[0, 30\]"):
        breast_cancer()
    monkeypatch.setitem(real.RAND_HIE_BOUNDS, "disea", 50.0)
    with pytest.raises(EpsilometerError, match=r"disea lies in \[0, 58\.6\]; its public bound says \[0, 50\]"):
        rand_hie()


def test_a_value_below_zero_is_refused() -> None:
    with pytest.raises(EpsilometerError, match=r"b lies in \[-0\.1, 0\.5\]; its public bound says \[0, 1\]"):
        real._scale(np.array([[0.2, 0.5], [0.3, -0.1]]), {"a": 1.0, "b": 1.0})


def test_no_record_decides_how_others_are_scaled() -> None:
    values, bounds = np.random.default_rng(0).random((20, 3)), {"a": 1.0, "b": 2.0, "c": 5.0}
    assert np.array_equal(real._scale(values, bounds)[:7], real._scale(values[:7], bounds))


def test_rounding_at_the_bound_stays_inside_the_ball() -> None:
    scaled = real._scale(np.array([[1 + 1e-7, 2.0]]), {"a": 1.0, "b": 2.0})
    assert scaled.max() == 1 / math.sqrt(3)
