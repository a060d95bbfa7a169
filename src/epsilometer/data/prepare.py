"""From a source of records to the table that every experiment reads: holdout and experiment, each in folds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, LabelledData, stream
from epsilometer.core.tables import written_whole
from epsilometer.data.own import own
from epsilometer.data.real import REAL
from epsilometer.data.synthetic import DRAWN

HOLDOUT, EXPERIMENT = "holdout", "experiment"
COLUMNS = ["part", "fold", "label"]


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
    name: str, path: Path, *, points: float, holdout: float, folds: int, seed: int, csv: Path | None
) -> None:
    """Write the data set `name` as a table: part, fold, label and features, a row for each record, in random order.

    A synthetic set has `points` records for the experiments and `holdout` others for tuning. A real one, or the user's own,
    is divided: the share `holdout` of its records is for tuning, the others are for the experiments, so that tuning never
    sees a record that an experiment protects.
    """
    if folds < 2:
        raise EpsilometerError(f"folds is {folds}; it must be at least 2")
    if name not in (*DRAWN, *REAL) and csv is None:
        raise EpsilometerError(
            f"there is no data set {name!r}; there are {', '.join((*DRAWN, *REAL))}, or a CSV of your own"
        )
    if name in (*DRAWN, *REAL) and csv is not None:
        raise EpsilometerError(f"{name} is not read from a CSV; give {csv} another name")
    if name in DRAWN:
        held = int(holdout)
        data = DRAWN[name](int(points) + held, stream(seed, "dataset", name))
    else:
        data = own(csv) if csv else REAL[name]()
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
        fold[rows] = _folds(len(fold[rows]), folds, seed)
    _write(path, data.take(order), part, fold)


def _folds(records: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold in which each record is tested."""
    from sklearn.model_selection import KFold

    fold = np.empty(records, dtype=int)
    for number, (_, test) in enumerate(KFold(folds, shuffle=True, random_state=seed % 2**32).split(fold)):
        fold[test] = number
    return fold


def _write(path: Path, data: LabelledData, part: NDArray[np.str_], fold: NDArray[np.int64]) -> None:
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
