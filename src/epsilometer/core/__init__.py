"""The nouns that every other layer speaks in, and the little that they all share."""

from epsilometer.core.errors import EpsilometerError
from epsilometer.core.evidence import Auditor, Counts, Estimate, Guesses, Verdict, Witness
from epsilometer.core.functions import FunctionMechanism, MechanismLike, as_mechanism, with_density
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
from epsilometer.core.tables import find_table, write_table

__all__ = [
    "Adjacency",
    "Array",
    "Auditor",
    "Counts",
    "Dataset",
    "EpsilometerError",
    "Estimate",
    "FunctionMechanism",
    "Guarantee",
    "Guesses",
    "HasDensity",
    "HasSupport",
    "LabelledData",
    "Mechanism",
    "MechanismLike",
    "NeighbouringPair",
    "Verdict",
    "Witness",
    "as_mechanism",
    "find_table",
    "output_rows",
    "require_positive",
    "stream",
    "with_density",
    "write_table",
]
