"""A k-anonymous table: a release without differential privacy, as a control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, NeighbouringPair, output_rows, require_positive
from epsilometer.mechanisms.catalogue import Entry

GENDERS = ("male", "female")
SMOKES = ("no", "yes")
DIAGNOSES = (
    "heart disease",
    "arthritis",
    "lung cancer",
    "Crohn's disease",
    "HIV",
    "Lyme disease",
    "seasonal allergies",
    "ulcerative colitis",
)
BANDS = (50, 60)
"""The age bands, by their first year."""

PATIENTS = np.array(
    [
        [60, 0, 191, 1, 0],
        [60, 1, 191, 0, 1],
        [60, 0, 191, 1, 2],
        [60, 1, 191, 0, 3],
        [60, 0, 191, 1, 2],
        [50, 1, 191, 0, 4],
        [50, 0, 191, 1, 5],
        [50, 0, 191, 1, 6],
        [50, 1, 191, 0, 7],
    ]
)
"""postech's table: age (the first year of its band), gender, first three digits of the zip code, smoker, diagnosis."""


@dataclass(frozen=True)
class KAnonymousTable:
    """The table with ages in bands of ten years, and without the rows whose quasi-identifiers fewer than k share.

    A record is a row of whole numbers: age from 50 to 69, gender (0 male, 1 female), first three digits of the zip code,
    smoker (0 or 1), diagnosis (0 to 7, see `DIAGNOSES`). Band, gender, zip and smoker are the quasi-identifiers. The output
    has a column for each band, gender, zip of `zips`, smoker and diagnosis, in this order of nesting: how many such rows
    are released. The release is deterministic, so two data sets with different releases are distinguished with certainty.
    """

    k: int = 2
    zips: tuple[int, ...] = (191,)
    guarantee = None
    source = "postech, the anonymised data set (after Kearns and Roth); review, section I [1]; Sweeney 2002"

    def __post_init__(self) -> None:
        require_positive(k=self.k)
        if not self.zips:
            raise EpsilometerError("zips is empty; it must list the first three digits of every zip code that may occur")

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of age bands, genders, zips, smoker values and diagnoses."""
        return len(BANDS), len(GENDERS), len(self.zips), len(SMOKES), len(DIAGNOSES)

    def release(self, dataset: NDArray[Any]) -> Array:
        """The counts of the released rows."""
        band, gender, place, smoker, diagnosis = self._checked_table(dataset).T
        where = (place[:, None] == np.array(self.zips)).argmax(axis=1)
        counts = np.zeros(self.shape)
        np.add.at(counts, ((band - BANDS[0]) // 10, gender, where, smoker, diagnosis), 1)
        counts[counts.sum(axis=-1) < self.k] = 0
        return counts.ravel()

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """The same table, `size` times."""
        return np.tile(self.release(dataset), (size, 1))

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        released = self.release(dataset)
        return np.where((output_rows(outputs, len(released)) == released).all(axis=1), 0.0, -np.inf)

    def support(self, dataset: NDArray[Any]) -> Array:
        return self.release(dataset)[None]

    def possible_diagnoses(self, output: Array, age: int, gender: str) -> set[str]:
        """The diagnoses in the released rows of that age and gender: an attack on somebody known to be in the table.

        For Rebecca, 55 years old, two of eight diagnoses remain.
        """
        counts = output.reshape(self.shape)[(age - BANDS[0]) // 10, GENDERS.index(gender)]
        return {name for name, count in zip(DIAGNOSES, counts.sum(axis=(0, 1)), strict=True) if count > 0}

    def _checked_table(self, dataset: NDArray[Any]) -> NDArray[np.int_]:
        table = np.asarray(dataset)
        if table.ndim != 2 or len(table) == 0 or table.shape[1] != 5:
            raise EpsilometerError(
                f"the data have shape {table.shape}; they must have age, gender, zip, smoker and diagnosis for each record"
            )
        allowed = {
            "an age": range(BANDS[0], BANDS[-1] + 10),
            "a gender": range(len(GENDERS)),
            "a zip": self.zips,
            "a smoker": range(len(SMOKES)),
            "a diagnosis": range(len(DIAGNOSES)),
        }
        for column, (name, known) in enumerate(allowed.items()):
            foreign = table[~np.isin(table[:, column], list(known)), column]
            if len(foreign):
                raise EpsilometerError(f"{name} is {foreign[0]:g}; it must be among {', '.join(map(str, known))}")
        return table.astype(int)


def _replace_row(row: int, record: list[int]) -> NDArray[np.int_]:
    """The patients with one row replaced."""
    patients = PATIENTS.copy()
    patients[row] = record
    return patients


def _pairs() -> tuple[NeighbouringPair, ...]:
    return (
        NeighbouringPair(
            PATIENTS,
            _replace_row(5, [55, 1, 191, 0, 6]),
            "replace-one",
            "Rebecca, 55, has one diagnosis or another: the released table says which",
        ),
        NeighbouringPair(
            PATIENTS,
            _replace_row(8, [69, 1, 191, 0, 7]),
            "replace-one",
            "one record leaves its group of two, and the one left behind vanishes from the release",
        ),
    )


ENTRIES = (
    Entry(
        "k_anonymity",
        "A 2-anonymous table",
        lambda _epsilon: KAnonymousTable(),
        _pairs,
        flaw="The table is released without any randomness: whoever knows all other records learns the last diagnosis.",
        true_epsilon=lambda _epsilon: math.inf,
    ),
)
