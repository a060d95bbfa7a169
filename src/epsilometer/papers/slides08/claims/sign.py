"""The sign in the exponent of the logistic loss, which two slides print as a plus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilometer.core import LabelledData, Mechanism
from epsilometer.data.synthetic import separable
from epsilometer.papers.claim import Evidence, Measure, Measured
from epsilometer.papers.deciders import fact_decider


def measure_sign(build: Callable[[], Mechanism]) -> Measure:
    """The share of the training records that SIGN(w.x) gets wrong, with log(1 + exp(+y w.x)) and with exp(-y w.x).

    The printed sign is that of the same objective with all labels turned round.
    """

    def measure(evidence: Evidence) -> Measured:
        data = separable(2_000, evidence.stream("sign"))
        turned = LabelledData(data.features, -data.labels)
        errors = {}
        for name, trained in (("printed", turned), ("minus", data)):
            outputs = build().sample(trained, 50, evidence.stream("sign", name))
            errors[name] = float(np.mean(data.signed @ outputs.T <= 0))
        return Measured(errors)

    return measure


decide_sign = fact_decider(
    "On separable data {printed:.4f} of the predictions are wrong with the printed sign, {minus:.4f} with a minus.",
    lambda numbers, tolerances: numbers["printed"] <= tolerances["largest_error"],
    "The loss is log(1 + exp(-y w.x)), as the slide on learning has it.",
)
"""Holds if the printed sign gives a classifier that is not worse than a coin."""
