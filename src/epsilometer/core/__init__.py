"""The nouns that every other layer speaks in, and the little that they all share."""

from epsilometer.core.errors import EpsilometerError
from epsilometer.core.evidence import Auditor, Counts, Estimate, Guesses, Verdict, Witness
from epsilometer.core.nouns import (
    Adjacency,
    Array,
    Dataset,
    Guarantee,
    HasDensity,
    HasSupport,
    LabelledData,
    Mechanism,
    NeighbouringPair,
    output_rows,
    require_positive,
)
from epsilometer.core.streams import stream
from epsilometer.core.tables import read_table, write_table

__all__ = [
    "Adjacency",
    "Array",
    "Auditor",
    "Counts",
    "Dataset",
    "EpsilometerError",
    "Estimate",
    "Guarantee",
    "Guesses",
    "HasDensity",
    "HasSupport",
    "LabelledData",
    "Mechanism",
    "NeighbouringPair",
    "Verdict",
    "Witness",
    "output_rows",
    "read_table",
    "require_positive",
    "stream",
    "write_table",
]
