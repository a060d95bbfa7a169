"""Section 2 of nips08, sensitivity: Definition 2, the Laplace noise made for it, and smooth sensitivity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.erm.objective import labelled
from epsilometer.mechanisms.neighbours import labelled_records, saturated_opponents
from epsilometer.mechanisms.smooth_sensitivity import median_smooth_sensitivity
from epsilometer.papers.claim import Claim, Decision, Numbers
from epsilometer.papers.deciders import BOUND, claimed_epsilon, decide_readings, fact_decider, listed_with_names
from epsilometer.papers.measures import VERDICTS, audited_with_corrected, computed
from epsilometer.papers.nips08.claims.shared import MANY, WEAK, WITNESS

# Definition 2


@computed
def measure_last_record() -> Numbers:
    """The largest n lam |w - w'| over the last record alone, for several choices of the other records."""
    held, count = labelled(saturated_opponents(MANY).first).features[0], float(MANY - 1)
    others = {
        "at the origin": [((0.0, 0.0), 1.0, count)],
        "balanced": [(axis, label, count / 4) for axis in ((1.0, 0.0), (0.0, 1.0)) for label in (1.0, -1.0)],
        "held far out": [(tuple(held.tolist()), 1.0, count)],
    }
    return {name: _largest_shift(records) for name, records in others.items()}


def _largest_shift(others: Sequence[tuple[Sequence[float], float, float]]) -> float:
    """n lam |w - w'| over a few unit records in the last place."""
    angles = [np.pi * part for part in (0.0, 0.5, 0.564, 1.0, 1.436, 1.5)]  # two of them as in `saturated_opponents`
    centres = []
    for angle in angles:
        records = [*((features, label) for features, label, _ in others), ((math.cos(angle), math.sin(angle)), 1.0)]
        centres.append(minimiser(LOGISTIC, labelled_records(records, [*(count for *_, count in others), 1.0]), WEAK))
    return MANY * WEAK * max(float(np.linalg.norm(one - other)) for one, other in combinations(centres, 2))


def decide_sensitivity_formula(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if the other records make no difference."""
    sentence = (
        f"For logistic regression the formula gives n lambda S = {listed_with_names(numbers)}, by where the other records "
        "are."
    )
    missing = (
        "The formula takes its maximum over the last input alone, for an f that is a number; we assumed the maximum over "
        "all inputs, as the sentence before it says, and the Euclidean norm."
    )
    same = max(numbers.values()) <= (1 + tolerances["same"]) * min(numbers.values())
    return decide_readings(same, True, sentence, missing)


SENSITIVITY_FORMULA = Claim(
    id="nips08-definition-2",
    locator="section 2, Definition 2",
    statement="The sensitivity S(f) is the largest change of f over all inputs when one of them changes; the formula "
    "changes the last input, and takes the maximum over its two values.",
    computes="the minimisers for six last records beside each of three choices of the other records",
    measure=measure_last_record,
    decide=decide_sensitivity_formula,
    tolerances={"same": 1e-06},
)

# Noise made for a sensitivity


LAPLACE = Claim(
    id="nips08-laplace",
    locator="section 2, after Definition 2",
    statement="Adding Laplace noise of mean 0 and standard deviation S(f)/epsilon to f preserves epsilon-differential "
    "privacy.",
    needs=(VERDICTS,),
    computes=WITNESS,
    measure=audited_with_corrected("laplace_standard_deviation", share_with_scale="laplace_count"),
    decide=claimed_epsilon(
        "a count, the noise's standard deviation being S/epsilon",
        "With S/epsilon as the scale, the share is {share_with_scale:.4g}.",
    ),
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
    headline=True,
)


SMOOTH_LAPLACE = Claim(
    id="nips08-smooth-laplace",
    locator="section 2, last paragraph",
    statement="Laplace noise of standard deviation SS(f)/epsilon suffices, where SS(f) is the smoothed sensitivity of f at "
    "the data.",
    needs=(VERDICTS,),
    computes=WITNESS,
    measure=audited_with_corrected("smooth_median_as_printed", share_with_quartic_noise="smooth_median"),
    decide=claimed_epsilon(
        "a median, far out; as the noise depends on the data there is no bound",
        "Pure privacy needs noise with a heavier tail, say a density ~ 1/(1 + z^4), whose share is "
        "{share_with_quartic_noise:.3g}; Laplace noise of scale 2 SS/epsilon gives (epsilon, delta).",
    ),
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_smooth_sensitivities() -> Numbers:
    """The smooth sensitivity of the median of values in [0, 1], of sensitivity 1, on concentrated and on split data."""
    concentrated, split = np.linspace(0.45, 0.55, 101), np.repeat([0.0, 1.0], [51, 50])
    values = {"concentrated": concentrated, "split": split}
    return {name: median_smooth_sensitivity(data, 1.0, beta=0.1) for name, data in values.items()}


SMOOTH_IS_LESS = Claim(
    id="nips08-smooth-less-noise",
    locator="section 2, last paragraph",
    statement="The smoothed sensitivity sometimes calls for less noise than the sensitivity.",
    computes="the smooth sensitivity of the median on two data sets",
    measure=measure_smooth_sensitivities,
    decide=fact_decider(
        "The median of 101 values in [0, 1], of sensitivity 1, has a smooth sensitivity of {concentrated:.3g} or "
        "{split:.3g}.",
        lambda numbers, tolerances: numbers["concentrated"] < tolerances["less"],
        "It is never less on the data tried.",
    ),
    tolerances={"less": 0.5},
)
