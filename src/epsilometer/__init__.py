"""Epsilometer measures epsilon: it regenerates the experiments of papers and audits what mechanisms really leak.

The names here are the public ones: the nouns, the auditors, and the catalogue. Each is loaded when it is first used.

>>> import numpy as np
>>> import epsilometer
>>> pair = epsilometer.NeighbouringPair(np.array([1.0]), np.array([0.0]), "replace-one", "the count differs by one")
>>> def noisy_count(data, size, rng):  # claims epsilon = 1, but its noise has half the scale that this needs
...     return data.sum() + rng.laplace(scale=0.5, size=size)
>>> estimate = epsilometer.BlackBox()(noisy_count, pair, 40_000, np.random.default_rng(0))
>>> estimate.epsilon > 1
True
>>> epsilometer.verdict(epsilometer.Guarantee(1.0, "replace-one"), [estimate])
'violated'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from epsilometer.auditors.black_box.auditor import BlackBox
    from epsilometer.auditors.exact import ExactLikelihoodRatio, ExactPrivacyCurve
    from epsilometer.auditors.gaussian_shape import GaussianShape
    from epsilometer.auditors.one_run import Canaries, OneRun
    from epsilometer.auditors.sampled import SampledLikelihoodRatio
    from epsilometer.core import (
        EpsilometerError,
        Estimate,
        Guarantee,
        LabelledData,
        Mechanism,
        NeighbouringPair,
        Verdict,
        Witness,
    )
    from epsilometer.evidence.verdicts import verdict
    from epsilometer.mechanisms.catalogue import Entry, catalogue, find

PUBLIC = {
    "core": (
        "EpsilometerError",
        "Estimate",
        "Guarantee",
        "LabelledData",
        "Mechanism",
        "NeighbouringPair",
        "Verdict",
        "Witness",
    ),
    "auditors.exact": ("ExactLikelihoodRatio", "ExactPrivacyCurve"),
    "auditors.sampled": ("SampledLikelihoodRatio",),
    "auditors.black_box.auditor": ("BlackBox",),
    "auditors.one_run": ("Canaries", "OneRun"),
    "auditors.gaussian_shape": ("GaussianShape",),
    "evidence.verdicts": ("verdict",),
    "mechanisms.catalogue": ("Entry", "catalogue", "find"),
}
"""The module of each public name, below the package."""

__all__ = [
    "BlackBox",
    "Canaries",
    "Entry",
    "EpsilometerError",
    "Estimate",
    "ExactLikelihoodRatio",
    "ExactPrivacyCurve",
    "GaussianShape",
    "Guarantee",
    "LabelledData",
    "Mechanism",
    "NeighbouringPair",
    "OneRun",
    "SampledLikelihoodRatio",
    "Verdict",
    "Witness",
    "catalogue",
    "find",
    "verdict",
]


def __getattr__(name: str) -> Any:
    for module, names in PUBLIC.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
