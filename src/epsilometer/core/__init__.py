"""The nouns that every other layer speaks in, and the little that they all share."""

from epsilometer.core.errors import EpsilometerError
from epsilometer.core.nouns import Adjacency, Array, Guarantee, LabelledData, Mechanism
from epsilometer.core.streams import stream
from epsilometer.core.tables import read_table, write_table

__all__ = [
    "Adjacency",
    "Array",
    "EpsilometerError",
    "Guarantee",
    "LabelledData",
    "Mechanism",
    "read_table",
    "stream",
    "write_table",
]
