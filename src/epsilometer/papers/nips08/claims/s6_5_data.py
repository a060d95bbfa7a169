"""Section 6 of nips08: the description of its two synthetic data sets."""

from __future__ import annotations

import numpy as np

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import LabelledData
from epsilometer.data.synthetic import FLIP_PROBABILITY, MARGIN, NOISY_BAND
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.mechanisms.nips08_settings import LAM
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import holds_if, reproduced_if
from epsilometer.papers.nips08.claims.figure_1 import ROUNDING, SUMMARY, bayes_error, summary_row
from epsilometer.papers.nips08.claims.geometry import (
    is_uniform,
    measured_uniformity,
    records,
    uniformity_in_words,
    widest_margin,
)
from epsilometer.papers.nips08.experiments import PRINTED
from epsilometer.papers.protocol import STANDARD

GUARD = 0.02
"""How far from a band's edge a record must be for an estimated hyperplane to place it safely."""
UNIFORM = {"norm": 1e-9, "significance": 0.001}


def measure_separable(evidence: Evidence) -> Measured:
    """The widest margin of a hyperplane through the origin, and the uniformity of the records outside the band."""
    data = records(evidence, "separable")
    normal, margin = widest_margin(data.signed)
    return Measured({"margin": margin} | measured_uniformity(data, normal, MARGIN))


def decide_separable(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"{uniformity_in_words(numbers)}; a hyperplane through the origin leaves {numbers['margin']:.4f} on both sides."
    )
    return reproduced_if(is_uniform(numbers, tolerances) and numbers["margin"] >= MARGIN - tolerances["norm"], sentence)


DATA_SEPARABLE = Claim(
    id="nips08-data-separable",
    locator="section 6, description of the data",
    statement="The first data set is uniform on the unit sphere in 10 dimensions but for the band within 0.03 of a "
    "hyperplane through the origin, which separates it.",
    needs=("dataset/separable",),
    computes="the hyperplane of the widest margin, and two tests of uniformity",
    measure=measure_separable,
    decide=decide_separable,
    tolerances=UNIFORM,
    link="dataset/separable.csv",
)


def measure_unseparable(evidence: Evidence) -> Measured:
    """Flips are counted well inside the band and well outside it, by a hyperplane that is estimated from all records."""
    data = records(evidence, "unseparable")
    fitted = minimiser(LOGISTIC, data, 1e-5)
    normal = fitted / np.linalg.norm(fitted)
    offset, wrong = np.abs(data.features @ normal), data.signed @ normal <= 0
    inside, outside = (offset > GUARD) & (offset <= NOISY_BAND - GUARD), offset > NOISY_BAND + GUARD
    return Measured(
        {
            "margin": widest_margin(data.signed)[1],
            "records inside": float(inside.sum()),
            "flipped inside": float(wrong[inside].sum()),
            "flipped outside": float(wrong[outside].sum()),
            "least error": bayes_error("unseparable"),
            "error of standard regression": summary_row(evidence, ("unseparable", STANDARD))["mean"],
            "printed error": PRINTED["unseparable", STANDARD][0],
        }
        | measured_uniformity(data, normal, 0.0)
    )


def decide_unseparable(numbers: Numbers, tolerances: Numbers) -> Decision:
    """No hyperplane separates; a fifth is flipped inside the band and none outside; no error is below the least possible."""
    inside, flipped = numbers["records inside"], numbers["flipped inside"]
    each = (1 - tolerances["confidence"]) / 2
    low = float(clopper_pearson_lower(flipped, inside, each))
    high = float(clopper_pearson_upper(flipped, inside, each))
    sentence = (
        f"{uniformity_in_words(numbers)}; largest margin {numbers['margin']:.4f}; {flipped / inside:.3f} "
        f"({low:.3f} to {high:.3f}) flipped inside the band, {numbers['flipped outside']:.0f} records outside. "
        f"The least possible error is {numbers['least error']:.4f}; printed {numbers['printed error']:.4f}, measured "
        f"{numbers['error of standard regression']:.4f}."
    )
    as_described = numbers["margin"] <= 0 and low <= FLIP_PROBABILITY <= high and numbers["flipped outside"] == 0
    possible = numbers["printed error"] + ROUNDING >= numbers["least error"]
    return reproduced_if(is_uniform(numbers, tolerances) and as_described and possible, sentence)


DATA_UNSEPARABLE = Claim(
    id="nips08-data-unseparable",
    locator="section 6, description of the data",
    statement="The second data set is uniform on the unit sphere in 10 dimensions, with a fifth of the labels flipped "
    "within 0.1 of the hyperplane that labels it, so that no hyperplane separates it.",
    needs=("dataset/unseparable", SUMMARY),
    computes="the hyperplane that labels the records, by a fit, the widest margin, and two tests of uniformity",
    measure=measure_unseparable,
    decide=decide_unseparable,
    tolerances=UNIFORM | {"confidence": 0.99},
    link="dataset/unseparable.csv",
)


def measure_angle(evidence: Evidence) -> Measured:
    """Predictions that change when each record is scaled: those of the same classifier, and of one trained on the scaled."""
    data = records(evidence, "unseparable")
    scaled = LabelledData(data.features * evidence.stream("angle").uniform(0.1, 1, (len(data), 1)), data.labels)
    classifier = minimiser(LOGISTIC, data, LAM)
    before, after = np.sign(data.features @ classifier), np.sign(scaled.features @ classifier)
    trained = np.sign(data.features @ minimiser(LOGISTIC, scaled, LAM))
    return Measured(
        {
            "records": float(len(data)),
            "changed": float((before != after).sum()),
            "changed by training": float((before != trained).sum()),
        }
    )


def decide_angle(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"Scaling every record by a factor of its own changes {numbers['changed']:.0f} of {numbers['records']:.0f} "
        f"predictions; a classifier trained on the scaled records differs in {numbers['changed by training']:.0f}."
    )
    same = numbers["changed"] <= tolerances["share"] * numbers["records"]
    return holds_if(same, sentence, "Predictions depend on a record's norm, too.")


DATA_ANGLE = Claim(
    id="nips08-data-angle",
    locator="section 2 and section 6, description of the data",
    statement="How a linear separator through the origin classifies a vector depends on the vector's angle alone, not on "
    "its norm.",
    needs=("dataset/unseparable",),
    computes="classifiers trained on the records as they are and on records scaled by random factors",
    measure=measure_angle,
    decide=decide_angle,
    tolerances={"share": 0.0},
    link="dataset/unseparable.csv",
)
