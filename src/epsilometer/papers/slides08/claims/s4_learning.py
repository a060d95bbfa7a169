"""The slides 'Learning guarantees': Theorems 4 and 5, whose bounds lack the logarithm, and the lemmas behind them."""

from __future__ import annotations

from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import ROUNDING, decide_readings, fact_decider
from epsilometer.papers.nips08.claims.regret import (
    covered_cases,
    lemma_3_bound,
    lemma_4_bound,
    measure_regret,
    summarise_coverage,
)
from epsilometer.papers.nips08.claims.s5c_remarks import measure_short_w0
from epsilometer.papers.nips08.claims.sample_sizes import (
    GROWTH,
    Goal,
    decide_growth,
    decide_significantly_stronger,
    measure_growth,
    measure_ratios,
    needed_size,
    theorem_4_size,
    theorem_5_size,
)

EVERY_RUN = {"confidence": 0.999, "misses": 0.0}
"""The tolerances of a bound of which the slides do not say that it holds with a probability."""

# Theorems 4 and 5


def measure_no_probability(evidence: Evidence) -> Measured:
    """The sample sizes with which Algorithm 2 reaches the goal in half of its runs, and in 98% of them."""
    half, most = (needed_size(evidence, "algorithm 2", Goal(delta=delta)) for delta in (0.5, 0.02))
    return Measured({"in_half": half, "in_98_percent": most})


def decide_no_probability(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if the sample size does not depend on the probability."""
    half, most = numbers["in_half"], numbers["in_98_percent"]
    sentence = f"The loss is reached in half of the runs with {half:.0f} records, in 98% of them with {most:.0f}."
    missing = (
        "With which probability, and at which lambda and C, is not said, and the noise is unbounded; we assumed probability "
        "0.9 and lambda = delta/|w0|^2."
    )
    return decide_readings(most <= half * (1 + tolerances["same"]), True, sentence, missing)


NO_PROBABILITY = Claim(
    id="slides08-theorem-4",
    locator="slide 'Learning guarantees', Theorem 4, on Algorithm 2",
    statement="With more than C max(|w0|^2/delta^2, |w0| d/(epsilon delta)) records, Algorithm 2 has a loss of at most that "
    "of w0 plus delta.",
    computes="the sample sizes that Algorithm 2 needs at two probabilities, by runs on drawn data",
    measure=measure_no_probability,
    decide=decide_no_probability,
    tolerances={"same": 0.1},
)

THEOREM_4_GROWTH = Claim(
    id="slides08-theorem-4-growth",
    locator="slide 'Learning guarantees', Theorem 4, with probability 0.9 and the lambda of nips08's proof",
    statement="The records that Algorithm 2 needs grow no faster than d, 1/epsilon and |w0|, where privacy decides.",
    computes="the sample sizes that Algorithm 2 needs for seven goals, by runs on drawn data",
    measure=measure_growth("algorithm 2", theorem_4_size, logs=False),
    decide=decide_growth,
    tolerances=GROWTH,
)

THEOREM_5_GROWTH = Claim(
    id="slides08-theorem-5-growth",
    locator="slide 'Learning guarantees', Theorem 5, on Algorithm 1, with probability 0.9 and the same lambda",
    statement="The records that Algorithm 1 needs grow no faster than d, 1/epsilon and |w0|^2, where privacy decides.",
    computes="the sample sizes that Algorithm 1 needs for seven goals, by runs on drawn data",
    measure=measure_growth("algorithm 1", theorem_5_size, logs=False),
    decide=decide_growth,
    tolerances=GROWTH,
)

SIGNIFICANTLY_TIGHTER = Claim(
    id="slides08-tighter",
    locator="slides 'Motivations and contributions' and 'Learning guarantees'",
    statement="Where |w0| >= 1, the bound for Algorithm 2 is significantly tighter than that for Algorithm 1.",
    computes="both sample sizes in 10,000 random settings",
    measure=measure_ratios(logs=False),
    decide=decide_significantly_stronger,
    tolerances={"stronger": 0.1},
)


SHORT_W0 = Claim(
    id="slides08-short-w0",
    locator="slide 'Learning guarantees'",
    statement="A w0 with norm below 1 has a loss of at least log(1 + 1/e).",
    computes="the least loss of a classifier of norm at most 1",
    measure=measure_short_w0,
    decide=fact_decider(
        "The least loss of a w0 with |w0| <= 1 is {least:.5g}; log(1 + 1/e) is {with_e:.5g}.",
        lambda numbers, tolerances: numbers["least"] >= numbers["with_e"] - tolerances["slack"],
        "A smaller bound holds.",
    ),
    tolerances=ROUNDING,
)

# The lemmas


def decide_regret(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The lemmas on the slide have a delta, but do not say that it is a probability."""
    kept, words, least, _ = summarise_coverage(numbers, tolerances)
    sentence = f"At worst, {words}; the bound is at least {least:.3g} times the quantile that it bounds."
    missed = sum(numbers[f"runs, {name}"] - numbers[f"within, {name}"] for name in covered_cases(numbers))
    missing = f"delta is not introduced, and {missed:.0f} runs miss the bound; we assumed probability 1 - delta."
    instead = "The bound does not hold with probability 1 - delta either."
    return decide_readings(kept and missed <= tolerances["misses"], kept, sentence, missing, instead)


LEMMA_ALGORITHM_1 = Claim(
    id="slides08-lemma-algorithm-1",
    locator="second slide 'Learning guarantees', lemma for Algorithm 1",
    statement="Algorithm 1's regularised risk exceeds the least one by at most 2 d^2 (1 + lambda) log^2(d/delta)/(lambda n "
    "epsilon)^2.",
    computes="62,000 runs of Algorithm 1, in four settings",
    measure=measure_regret("algorithm 1", lemma_3_bound),
    decide=decide_regret,
    tolerances=EVERY_RUN,
)

LEMMA_ALGORITHM_2 = Claim(
    id="slides08-lemma-algorithm-2",
    locator="second slide 'Learning guarantees', lemma for Algorithm 2",
    statement="Algorithm 2's regularised risk exceeds the least one by at most 8 d^2 log^2(d/delta)/(lambda n^2 epsilon^2).",
    computes="62,000 runs of Algorithm 2, in four settings",
    measure=measure_regret("algorithm 2", lemma_4_bound),
    decide=decide_regret,
    tolerances=EVERY_RUN,
)
