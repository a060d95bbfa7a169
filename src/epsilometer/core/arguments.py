"""Kinds of numbers that functions take, for readers, and for the command line, which refuses all others."""

from __future__ import annotations

from typing import Annotated

Positive = Annotated[float, "a number above 0"]
Count = Annotated[int, "a whole number that is not negative"]
AtLeastOne = Annotated[int, "a whole number above 0"]
Epsilon = Annotated[float, "a number above 0, or a table of recovered epsilons"]
"""On the command line also the path of a table, from which the value is taken."""
Lambda = Annotated[float, "a number above 0, or a table of tuning"]
"""On the command line also the path of a table, whose best lambda is taken."""
