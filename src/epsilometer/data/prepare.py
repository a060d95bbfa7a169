"""Prepared data sets: the table that every experiment reads, with holdout and experiment parts, each in folds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, LabelledData, stream
from epsilometer.core.tables import Column, Table, written_whole
from epsilometer.data.own import read_own
from epsilometer.data.sets import OWN, DataSet

HOLDOUT, EXPERIMENT = "holdout", "experiment"


class RecordRow(TypedDict):
    """A prepared data set: a row for each record, in random order, with its features in the columns x0, x1, ..."""

    part: Annotated[str, "holdout, for tuning, or experiment"]
    fold: Annotated[int, "the fold in which the record is tested"]
    label: Annotated[float, "-1 or 1"]


DATASET = Table[Any]("dataset/{name}", RecordRow, further=Column(float, "value of a feature"))
COLUMNS = list(DATASET.columns)


@dataclass(frozen=True)
class Prepared:
    """Records in random order, with the fold in which each is tested."""

    data: LabelledData
    fold: NDArray[np.int64]

    @property
    def folds(self) -> int:
        return int(self.fold.max()) + 1

    def split(self, fold: int) -> tuple[LabelledData, LabelledData]:
        """Training and test records of a fold."""
        return self.data.take(self.fold != fold), self.data.take(self.fold == fold)


def prepare_dataset(
    dataset: DataSet, path: Path, *, points: float, holdout: float, folds: int, seed: int, csv: Path | None
) -> None:
    """Write a data set as a table: part, fold, label and features, a row for each record, in random order.

    A synthetic set has `points` records for the experiments and `holdout` others for tuning. A real one, or the user's own,
    is divided: the share `holdout` of its records is for tuning, the others are for the experiments, so that tuning never
    sees a record that an experiment protects.
    """
    if folds < 2:
        raise EpsilometerError(f"folds is {folds}; it must be at least 2")
    name = dataset.name
    if csv and (dataset.draw or dataset.read):
        raise EpsilometerError(f"{name} is not read from a CSV; leave {csv} out, or prepare it as the data set {OWN}")
    if dataset.draw:
        held = int(holdout)
        data = dataset.draw(int(points) + held, stream(seed, "dataset", name))
    else:
        data = _read_source(dataset, csv)
        held = round(holdout * len(data))
    if min(held, len(data) - held) < 2 * folds:
        raise EpsilometerError(
            f"{name} has {held} records for tuning and {len(data) - held} for the experiments; "
            f"{folds} folds need at least {2 * folds} of each"
        )
    order = stream(seed, "dataset", name, "order").permutation(len(data))
    part = np.where(np.arange(len(data)) < held, HOLDOUT, EXPERIMENT)
    fold = np.empty(len(data), dtype=int)
    for rows in (slice(None, held), slice(held, None)):
        fold[rows] = _assign_folds(len(fold[rows]), folds, seed)
    _write_table(path, data.take(order), part, fold)


def _read_source(dataset: DataSet, csv: Path | None) -> LabelledData:
    """All records of a real data set, or of the user's CSV."""
    if dataset.read:
        return dataset.read()
    if csv is None:
        raise EpsilometerError(f"{dataset.name} is read from a CSV; give the path of the file")
    return read_own(csv)


def _assign_folds(records: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold in which each record is tested."""
    from sklearn.model_selection import KFold

    fold = np.empty(records, dtype=int)
    for number, (_, test) in enumerate(KFold(folds, shuffle=True, random_state=seed % 2**32).split(fold)):
        fold[test] = number
    return fold


def _write_table(path: Path, data: LabelledData, part: NDArray[np.str_], fold: NDArray[np.int64]) -> None:
    names = [f"x{column}" for column in range(data.features.shape[1])]
    with written_whole(path) as file:
        file.write(",".join([*COLUMNS, *names]) + "\n")
        for row in range(len(data)):
            features = map(repr, data.features[row].tolist())
            file.write(",".join([part[row], str(fold[row]), f"{data.labels[row]:g}", *features]) + "\n")


def read_dataset(path: Path, part: str) -> Prepared:
    """The holdout or the experiment's records of a prepared table."""
    try:
        with path.open() as file:
            header = file.readline().strip().split(",")
            lines = [line for line in file if line.startswith(part)]
        if header[:3] != COLUMNS or not lines:
            raise ValueError
        table = np.loadtxt(lines, delimiter=",", usecols=range(1, len(header)), ndmin=2)
    except OSError as error:
        raise EpsilometerError(f"cannot read the data set {path}: {error.strerror}") from error
    except ValueError as error:
        raise EpsilometerError(f"{path} is no data set with a part {part}; `epsilometer dataset` writes one") from error
    return Prepared(LabelledData(table[:, 2:], table[:, 1]), table[:, 0].astype(int))
