"""Numbers that lead each claim of nips08 on privacy and learning to each of its outcomes."""

from __future__ import annotations

import math

from epsilometer.papers.claim import Outcome

Numbers = dict[str, float]
BOUND = {"slack": 1e-6, "tight": 0.9}
ROUNDING = {"slack": 1e-9}
COVERAGE = {"confidence": 0.999, "loose": 0.1}
GROWTH = {"faster": 0.1, "tight": 0.9}
BOUNDS = {"least": 1.0, "largest": 1.0, "least_if_long": 1.0, "equal_if_long": 0.1, "least_if_private": 1.5}
REGRETS = {f"algorithm {k} at {lam:g}": value for k in (1, 2) for lam, value in ((1, 1), (0.1, 2), (0.01, 4), (0.001, 8))}


def coverage(within: float, factor: float) -> Numbers:
    """One case at level 0.95, with a thousand runs."""
    return {"within, a": within, "runs, a": 1000.0, "level, a": 0.95, "factor, a": factor}


def growth(needed: float) -> Numbers:
    """Needed along d, where 4 times as many records are stated; as stated along the others."""
    stated = {f"{kind}, {axis}": 4.0 for kind in ("needed", "stated") for axis in ("d", "epsilon", "r")}
    return {**stated, "needed, d": needed, "constant": 0.2}


def around(share: float, **others: float) -> list[tuple[Numbers, Outcome]]:
    """The share of a bound near it, well within it, and beyond it."""
    return [
        ({"share": share, **others}, "holds"),
        ({"share": share / 2, **others}, "holds, loosely"),
        ({"share": share * 1.1, **others}, "fails as printed"),
    ]


BOTH_SIDES: dict[str, tuple[Numbers, list[tuple[Numbers, Outcome]]]] = {
    "neighbours": (
        ROUNDING,
        [
            ({"exchanged": 0.9, "removed_near": 0.5, "removed_far": 0.9}, "holds"),
            ({"exchanged": 0.9, "removed_near": 0.5, "removed_far": 1.1}, "underspecified"),
            ({"exchanged": 1.1, "removed_near": 0.5, "removed_far": 0.9}, "fails as printed"),
        ],
    ),
    "definition_in_words": (
        ROUNDING,
        [
            ({"difference": 0.5, "relative": 1.0}, "holds"),
            ({"difference": 0.5, "relative": 1.1}, "underspecified"),
            ({"difference": 1.1, "relative": 1.2}, "fails as printed"),
        ],
    ),
    "adversary": ({"sure": 0.95}, [({"posterior_at_1": 0.94}, "holds"), ({"posterior_at_1": 0.96}, "underspecified")]),
    "sensitivity_formula": (
        {"same": 1e-6},
        [({"here": 1.0, "there": 1.0 + 1e-8}, "holds"), ({"here": 1.0, "there": 1.1}, "underspecified")],
    ),
    "laplace": (BOUND, around(1.0, share_with_scale=1.0)),
    "smooth_laplace": (BOUND, around(1.0, share_with_quartic_noise=0.4)),
    "smooth_is_less": (
        {"less": 0.5},
        [({"concentrated": 0.4, "split": 1.0}, "holds"), ({"concentrated": 0.6, "split": 1.0}, "fails as printed")],
    ),
    "lemma_1": (BOUND, around(1.0)),
    "lemma_4_step": (BOUND, around(2.0)),
    "lemma_1_proof": (
        ROUNDING,
        [
            ({"printed": 0.0, "absolute": 0.0, "eigenbasis": 0.0}, "holds"),
            ({"printed": 0.1, "absolute": 0.0, "eigenbasis": 0.0}, "fails as printed"),
            ({"printed": 0.1, "absolute": 0.1, "eigenbasis": 0.1}, "fails as printed"),
        ],
    ),
    "corollary_2": (BOUND, around(1.0, share_at_the_papers_lambda=0.4, share_on_the_line=0.3)),
    "regularisation": (
        {"falls": 0.1},
        [
            ({f"{what}_at_{lam:g}": 1 / lam for what in ("shift", "noise") for lam in (1e-3, 1e-2, 1e-1)}, "holds"),
            (
                {"shift_at_0.001": 3, "shift_at_0.01": 2, "shift_at_0.1": 1}
                | {f"noise_at_{lam:g}": 1.0 for lam in (1e-3, 1e-2, 1e-1)},
                "fails as printed",
            ),
        ],
    ),
    "theorem_1": (BOUND, around(1.0)),
    "gamma_norm": ({"same": 1e-6}, [({"distance": 1e-7}, "holds"), ({"distance": 1e-5}, "fails as printed")]),
    "theorem_2": (BOUND, around(1.0, exceeded_up_to=1.9, kept_from=2.1)),
    "any_lambda": (BOUND, around(1.0, **{"spent_at_0.01": 1.0})),
    "noise_shift": (BOUND, around(1.0)),
    "change_of_variables": (
        {"same": 1e-3},
        [
            ({"noise": 1.0, "outputs": 1.0005, "with_determinant": 1.0}, "holds"),
            ({"noise": 1.0, "outputs": 1.1, "with_determinant": 1.1}, "fails as printed"),
        ],
    ),
    "theorem_3": (BOUND, around(1.0, share_when_corrected=0.9)),
    "no_sensitivity": (
        ROUNDING | {"same": 1e-9},
        [
            ({"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 1.0}, "holds"),
            ({"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 2.0}, "fails as printed"),
        ],
    ),
    "anonymised": ({"largest_epsilon": 20.0}, [({"spent": math.inf}, "holds"), ({"spent": 3.0}, "fails as printed")]),
    **{
        name: (
            COVERAGE,
            [
                (coverage(950, 1.0), "holds"),
                (coverage(1000, 2.0), "holds, loosely"),
                (coverage(920, 0.9), "fails as printed"),  # the upper end of the interval is 0.944
            ],
        )
        for name in ("lemma_3", "lemma_4", "lemma_5")
    },
    "curvature": (
        BOUND,
        [({"largest": 1.0}, "holds"), ({"largest": 0.25}, "holds, loosely"), ({"largest": 1.1}, "fails as printed")],
    ),
    "lemma_4_tighter": (
        ROUNDING,
        [
            ({"largest": 1.0, "at_a_half": 0.5, "equal_at": 1.0}, "holds"),
            ({"largest": 1.1, "at_a_half": 0.5, "equal_at": 0.9}, "fails as printed"),
        ],
    ),
    "degradation": (
        {"rises": 0.1},
        [
            (REGRETS | {f"algorithm 1 at {lam:g}": 1 / lam for lam in (1, 0.1, 0.01, 0.001)}, "holds"),
            (REGRETS | {f"algorithm 2 at {lam:g}": 1 / lam for lam in (1, 0.1, 0.01, 0.001)}, "fails as printed"),
            (REGRETS | {"algorithm 2 at 0.001": 4.0}, "fails as printed"),
        ],
    ),
    "unstated_lambda": (
        ROUNDING,
        [
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.05, "at_lambda_1": 0.05}, "holds"),
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.05, "at_lambda_1": 0.5}, "underspecified"),
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.2, "at_lambda_1": 0.5}, "fails as printed"),
        ],
    ),
    **{
        name: (GROWTH, [(growth(4.0), "holds"), (growth(2.0), "holds, loosely"), (growth(8.0), "fails as printed")])
        for name in ("theorem_4_growth", "theorem_5_growth")
    },
    "names_algorithm_2": (
        ROUNDING,
        [
            (BOUNDS, "holds"),
            (BOUNDS | {"largest": 5.0}, "holds, loosely"),
            (BOUNDS | {"least": 0.9}, "fails as printed"),
        ],
    ),
    "never_lower": (ROUNDING, [(BOUNDS, "holds"), (BOUNDS | {"least": 0.9}, "fails as printed")]),
    "significantly_stronger": (
        {"stronger": 0.1},
        [(BOUNDS | {"least_if_long": 1.2}, "holds"), (BOUNDS, "fails as printed")],
    ),
    "needed_sizes": (
        {"fewer": 0.1},
        [({"least": 1.2, "largest": 3.0}, "holds"), ({"least": 1.05, "largest": 3.0}, "fails as printed")],
    ),
    "short_w0": (
        ROUNDING,
        [
            ({"least": 0.31, "of_zero": 0.69, "claimed": 0.31, "with_e": 0.31}, "holds"),
            ({"least": 0.31, "of_zero": 0.69, "claimed": 0.32, "with_e": 0.31}, "fails as printed"),
        ],
    ),
    "running_time": (
        {"similar": 1.5},
        [({"without": 8, "at epsilon 1": 1.4}, "holds"), ({"without": 8, "at epsilon 1": 1.6}, "fails as printed")],
    ),
}
CASES: list[tuple[str, Numbers, Numbers, Outcome]] = [
    (name, numbers, tolerances, outcome) for name, (tolerances, cases) in BOTH_SIDES.items() for numbers, outcome in cases
]
