"""Numbers that lead each claim of the slides to each of its outcomes; for repeated claims, those of nips08."""

from __future__ import annotations

from epsilometer.papers.claim import Outcome
from epsilometer.papers.registry import claims_of
from tests.papers.nips08 import cases_experiments, cases_theory
from tests.papers.nips08.cases_theory import BOUND, BOUNDS, GROWTH, ROUNDING, Numbers, coverage, growth

EVERY_RUN = {"confidence": 0.999, "misses": 0.0}


def sensitivities(line: float) -> Numbers:
    """A share on the line, beside shares of 1 elsewhere."""
    return {"share": 1.0, "share_at_the_papers_lambda": 1.0, "share_on_the_line": line, "possible_on_the_line": 1.0}


PRIVACY: list[tuple[Numbers, Outcome]] = [
    ({"least": 0.5, "largest": 1.0, "share": 0.9, "kept_from": 2.1}, "holds"),
    ({"least": 0.5, "largest": 0.8, "share": 0.7, "kept_from": 2.1}, "holds, loosely"),
    ({"least": 0.5, "largest": 1.1, "share": 1.0, "kept_from": 2.1}, "fails as printed"),
]
OWN: dict[str, tuple[Numbers, list[tuple[Numbers, Outcome]]]] = {
    **dict.fromkeys(("laplace", "theorem_1", "theorem_2", "theorem_3", "proof_ratio"), (BOUND, PRIVACY)),
    **{
        name: (
            {"largest_error": 0.5},
            [({"printed": 0.1, "minus": 0.1}, "holds"), ({"printed": 0.9, "minus": 0.1}, "fails as printed")],
        )
        for name in ("objective_sign", "algorithm_2_sign")
    },
    "equal_sensitivity": ({"equal": 0.1}, [(sensitivities(0.95), "holds"), (sensitivities(0.5), "fails as printed")]),
    "leave_one_out": (
        BOUND,
        [
            ({"share": 0.95, "share_with_n_kept": 0.9}, "holds"),
            ({"share": 0.5, "share_with_n_kept": 0.5}, "holds, loosely"),
            ({"share": 1.1, "share_with_n_kept": 0.9}, "fails as printed"),
        ],
    ),
    "no_probability": (
        {"same": 0.1},
        [({"in_half": 100, "in_98_percent": 105}, "holds"), ({"in_half": 100, "in_98_percent": 120}, "underspecified")],
    ),
    **{
        name: (GROWTH, [(growth(4.0), "holds"), (growth(2.0), "holds, loosely"), (growth(8.0), "fails as printed")])
        for name in ("theorem_4_growth", "theorem_5_growth")
    },
    "significantly_tighter": (
        {"stronger": 0.1},
        [(BOUNDS | {"least_if_long": 1.2}, "holds"), (BOUNDS, "fails as printed")],
    ),
    "short_w0": (
        ROUNDING,
        [({"least": 0.31, "with_e": 0.31}, "holds"), ({"least": 0.30, "with_e": 0.31}, "fails as printed")],
    ),
    **{
        name: (
            EVERY_RUN,
            [
                (coverage(1000, 2.0), "holds"),
                (coverage(990, 2.0), "underspecified"),
                (coverage(920, 2.0), "fails as printed"),  # the upper end of the interval is 0.944
            ],
        )
        for name in ("lemma_algorithm_1", "lemma_algorithm_2")
    },
}
REPEATED = claims_of("slides08").keys() - OWN.keys()
CASES: list[tuple[str, Numbers, Numbers, Outcome]] = [
    *((name, numbers, tolerances, outcome) for name, (tolerances, cases) in OWN.items() for numbers, outcome in cases),
    *(case for case in (*cases_theory.CASES, *cases_experiments.CASES) if case[0] in REPEATED),
]
