"""The slides 'Anonymization: not enough' and 'The sensitivity method': sensitivity and the Laplace noise made for it."""

from __future__ import annotations

from epsilometer.papers.claim import Claim
from epsilometer.papers.deciders import BOUND
from epsilometer.papers.measures import VERDICTS
from epsilometer.papers.nips08.claims import s1_introduction, s2b_sensitivity
from epsilometer.papers.nips08.claims.shared import WITNESS
from epsilometer.papers.slides08.claims.definition import audited_by_definition, slides_epsilon
from epsilometer.papers.slides08.claims.repeated import repeated

ANONYMISED = repeated(
    s1_introduction.ANONYMISED,
    "slides08-anonymisation",
    "slide 'Anonymization: not enough'",
    "Anonymised data are not private: they can be attacked with what else is known.",
)

SENSITIVITY_FORMULA = repeated(
    s2b_sensitivity.SENSITIVITY_FORMULA,
    "slides08-sensitivity-formula",
    "slide 'The sensitivity method'",
    "The sensitivity of a function is its largest change with one input; the formula takes the maximum over two values of "
    "the last input.",
)

LAPLACE = Claim(
    id="slides08-laplace",
    locator="slide 'The sensitivity method', with the definition on the slide before",
    statement="Adding Lap(0, S/epsilon) makes any function private: no output becomes more than 1 + epsilon times as "
    "likely.",
    needs=(VERDICTS,),
    computes=WITNESS,
    measure=audited_by_definition("laplace_count"),
    decide=slides_epsilon(
        "a count, over the audited epsilons; S/epsilon read as the scale",
        "It holds with e^epsilon for 1 + epsilon, or with noise of scale S/log(1 + epsilon).",
    ),
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)
