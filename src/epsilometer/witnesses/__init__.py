"""Verification of witnesses with 50 digits, from independent definitions of the mechanisms.

No mechanism's code is called: the densities are implemented a second time, in mpmath, with the constants of the catalogue's
entries. So an error in the code that found a witness does not affect its verification.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

import mpmath as mp
import numpy as np

from epsilometer.core import EpsilometerError, NeighbouringPair, Witness
from epsilometer.witnesses import choices, counts, minimisers
from epsilometer.witnesses.definition import DIGITS, Definition, Number

TOLERANCE = 1e-6
"""The largest difference allowed between the stated and the recomputed log-ratio, relative where the latter is above 1: for
rounding in the tails, and for the tolerance of the solver that found the minimiser."""
SLACK = 1e-12
"""The relative excess over the claimed epsilon that is attributed to rounding: a calibration has 16 digits."""
DEFINITIONS: dict[str, Definition] = dict(
    sorted({**choices.DEFINITIONS, **counts.DEFINITIONS, **minimisers.DEFINITIONS}.items())
)
"""Definitions by the mechanism's name in the catalogue: all mechanisms with witnesses from exact audits, and a few more."""


def verify(witness: Witness) -> tuple[Number, str]:
    """The log-ratio of a witness to 50 digits, and a sentence that compares it with the stated one and with epsilon.

    Raises an EpsilometerError for an invalid witness: no neighbours, a wrong log-ratio, or an impossible output.
    """
    definition = _require_definition(witness)
    with mp.workdps(DIGITS):
        promised = mp.mpf(witness.promised)
        output = [mp.mpf(float(value)) for value in np.ravel(np.asarray(witness.output))]
        first, second = (
            definition.log_density(promised, dataset, output) for dataset in (witness.pair.first, witness.pair.second)
        )
        if first == second == -mp.inf:
            raise EpsilometerError(f"the witness's output {_format_output(output)} is impossible under both data sets")
        log_ratio = first - second
        agreement = _describe_agreement(witness, log_ratio)
        return log_ratio, f"{witness.mechanism}: {agreement}; {_judge(log_ratio, promised, definition.delta)}"


def _require_definition(witness: Witness) -> Definition:
    """The definition of the witness's mechanism; an error if the pair or the claimed epsilon is invalid."""
    if witness.mechanism not in DEFINITIONS:
        known = ", ".join(get_close_matches(witness.mechanism, DEFINITIONS, cutoff=0.0))
        raise EpsilometerError(
            f"there is no independent definition of {witness.mechanism!r}; there are {len(DEFINITIONS)}, among them {known}"
        )
    if not 0 < witness.promised < math.inf:
        raise EpsilometerError(f"the witness's promised epsilon is {witness.promised:g}; it must be a number above 0")
    pair, definition = witness.pair, DEFINITIONS[witness.mechanism]
    NeighbouringPair(pair.first, pair.second, pair.adjacency, pair.reason)  # raises an error if they are no neighbours
    if pair.adjacency != definition.adjacency:
        raise EpsilometerError(
            f"the witness's data sets are {pair.adjacency} neighbours; {witness.mechanism} promises {definition.adjacency}"
        )
    return definition


def _describe_agreement(witness: Witness, log_ratio: Number) -> str:
    """The number of digits to which the stated log-ratio is right, in words; an error if it is wrong."""
    stated = mp.mpf(witness.log_ratio)
    shown = mp.nstr(log_ratio, 20)
    if mp.isinf(log_ratio) and stated == log_ratio:
        return f"the log-ratio is {shown}, as stated: the output is possible under one data set only"
    error = abs(stated - log_ratio)
    if not (mp.isfinite(log_ratio) and error <= TOLERANCE * max(1, abs(log_ratio))):
        raise EpsilometerError(
            f"the witness states a log-ratio of {witness.log_ratio!r} for {witness.mechanism}, but it is {shown}"
        )
    digits = DIGITS if error == 0 else int(mp.floor(-mp.log10(error / max(abs(log_ratio), mp.mpf("1e-300")))))
    return f"the log-ratio is {shown}, as stated to {min(max(digits, 0), DIGITS)} digits"


def _judge(log_ratio: Number, promised: Number, delta: float) -> str:
    spent = abs(log_ratio)
    if spent <= promised * (1 + SLACK):
        return f"it does not exceed the promised epsilon of {mp.nstr(promised, 10)}"
    exceeds = f"it exceeds the promised epsilon of {mp.nstr(promised, 10)} by {mp.nstr(spent - promised, 10)}"
    if delta > 0:
        return f"{exceeds}, which one output may do, as the promise has a delta of {delta:g}: it proves no violation"
    return f"{exceeds}: the promise is broken"


def _format_output(output: Sequence[Number]) -> str:
    return "[" + ", ".join(mp.nstr(value, 8) for value in output[:5]) + (", ...]" if len(output) > 5 else "]")
