"""Recomputes a witness with 50 digits, from the mechanisms' definitions alone.

Nothing here calls a mechanism: the densities are written down once more, in mpmath, with the constants of the catalogue's
entries, so that a mistake in the code that found the witness cannot confirm itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

import mpmath as mp
import numpy as np

from epsilometer.audits.verify import choices, counts, minimisers
from epsilometer.audits.verify.definition import DIGITS, Definition, Number
from epsilometer.core import EpsilometerError, NeighbouringPair, Witness

TOLERANCE = 1e-6
"""How far the stated log-ratio may be from the recomputed one, relative to it where it is above 1: rounding far out, or the
precision to which a minimiser was found, and no more."""
SLACK = 1e-12
"""The relative excess over the promise from which it counts as one: a calibration is rounded to 16 digits."""
DEFINITIONS: dict[str, Definition] = dict(
    sorted({**choices.DEFINITIONS, **counts.DEFINITIONS, **minimisers.DEFINITIONS}.items())
)
"""The catalogue's mechanisms with a definition here: all that an exact audit writes a witness for, and a few more."""


def verify(witness: Witness) -> tuple[Number, str]:
    """The log-ratio of a witness to 50 digits, and a sentence: to how many digits it holds, and whether it breaks a promise.

    A witness that proves nothing (no neighbours, a wrong number, an impossible output) is an EpsilometerError.
    """
    definition = _definition(witness)
    with mp.workdps(DIGITS):
        promised = mp.mpf(witness.promised)
        output = [mp.mpf(float(value)) for value in np.ravel(np.asarray(witness.output))]
        first, second = (
            definition.log_density(promised, dataset, output) for dataset in (witness.pair.first, witness.pair.second)
        )
        if first == second == -mp.inf:
            raise EpsilometerError(f"the witness's output {_shown(output)} is impossible under both data sets")
        log_ratio = first - second
        agreement = _agreement(witness, log_ratio)
        return log_ratio, f"{witness.mechanism}: {agreement}; {_judged(log_ratio, promised, definition.delta)}"


def _definition(witness: Witness) -> Definition:
    """The definition that the witness is about, if it speaks about neighbours and a sensible epsilon."""
    if witness.mechanism not in DEFINITIONS:
        known = ", ".join(get_close_matches(witness.mechanism, DEFINITIONS, cutoff=0.0))
        raise EpsilometerError(
            f"there is no independent definition of {witness.mechanism!r}; there are {len(DEFINITIONS)}, among them {known}"
        )
    if not 0 < witness.promised < math.inf:
        raise EpsilometerError(f"the witness's promised epsilon is {witness.promised:g}; it must be a number above 0")
    pair, definition = witness.pair, DEFINITIONS[witness.mechanism]
    NeighbouringPair(pair.first, pair.second, pair.adjacency, pair.reason)  # says if they are no neighbours
    if pair.adjacency != definition.adjacency:
        raise EpsilometerError(
            f"the witness's data sets are {pair.adjacency} neighbours; {witness.mechanism} promises {definition.adjacency}"
        )
    return definition


def _agreement(witness: Witness, log_ratio: Number) -> str:
    """To how many digits the stated number is right."""
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


def _judged(log_ratio: Number, promised: Number, delta: float) -> str:
    spent = abs(log_ratio)
    if spent <= promised * (1 + SLACK):
        return f"it does not exceed the promised epsilon of {mp.nstr(promised, 10)}"
    exceeds = f"it exceeds the promised epsilon of {mp.nstr(promised, 10)} by {mp.nstr(spent - promised, 10)}"
    if delta > 0:
        return f"{exceeds}, which one output may do, as the promise has a delta of {delta:g}: it proves no violation"
    return f"{exceeds}: the promise is broken"


def _shown(output: Sequence[Number]) -> str:
    return "[" + ", ".join(mp.nstr(value, 8) for value in output[:5]) + (", ...]" if len(output) > 5 else "]")
