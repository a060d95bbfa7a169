"""One small prepared data set for all tests of the experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.data import DATASETS, prepare_dataset


@pytest.fixture(scope="package")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """61 records in five folds, so that folds differ in size, and 40 for tuning."""
    path = tmp_path_factory.mktemp("experiments") / "unseparable.csv"
    prepare_dataset(DATASETS["unseparable"], path, points=61, holdout=40, folds=5, seed=3, csv=None)
    return path
