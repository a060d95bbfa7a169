"""The algorithms of nips08 as the paper uses them: lambda = 0.01, at the first and the last size of its learning curve."""

from __future__ import annotations

from collections.abc import Callable

from epsilometer.core import Mechanism
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.neighbours import wrong_majority
from epsilometer.mechanisms.objective_perturbation import (
    MISSING_DETERMINANT,
    ObjectivePerturbation2008,
    ObjectivePerturbationCMS11,
)
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

LAM = 0.01
SIZES = (1_000, 14_000)
"""The first point of the learning curve of nips08's Figure 2, and all training records of one of its folds."""

ALGORITHMS: dict[str, tuple[str, Callable[[float], Mechanism]]] = {
    "algorithm_1": ("Algorithm 1 of nips08, the sensitivity method", lambda epsilon: OutputPerturbation(epsilon, LAM)),
    "algorithm_2": (
        "Algorithm 2 of nips08, objective perturbation",
        lambda epsilon: ObjectivePerturbation2008(epsilon, LAM),
    ),
    "cms11": (
        "objective perturbation as corrected in 2011",
        lambda epsilon: ObjectivePerturbationCMS11(epsilon, LAM, extra_regularisation=True),
    ),
}


def _entry(name: str, n: int) -> Entry:
    title, build = ALGORITHMS[name]
    return Entry(
        f"nips08_{name}_n{n}",
        f"{title}, at lambda = {LAM:g} and n = {n:,}",
        build,
        lambda: (wrong_majority(n),),
        flaw=f"{MISSING_DETERMINANT}, which counts where n lambda epsilon < 2."
        if (name, n) == ("algorithm_2", SIZES[0])
        else "",
    )


ENTRIES = tuple(_entry(name, n) for name in ALGORITHMS for n in SIZES)
EPSILONS_FROM = ("recovered_epsilon/nips08",)
"""The epsilon behind Figure 1, which the paper does not print, is claimed too."""
