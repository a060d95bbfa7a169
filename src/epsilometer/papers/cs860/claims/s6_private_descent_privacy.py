"""Private stochastic gradient descent: the privacy of Algorithm 3, step by step, and as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtr

from epsilometer.erm import Hinge
from epsilometer.mechanisms.accounting import sampled_delta
from epsilometer.mechanisms.gradient_perturbation import AccountedGradientPerturbation, PrintedGradientPerturbation
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.cs860.claims.constants import DELTA
from epsilometer.papers.cs860.claims.record_sampling import amplified, final_delta, sampled_tail, transcript_delta
from epsilometer.papers.deciders import BOUND, bound_decider, fact_decider, within_bound
from epsilometer.papers.measures import VERDICTS, computed, spent_share

# One step


@computed
def measure_gradient_sensitivity() -> dict[str, float]:
    """How far n grad l_i moves at theta = 0, as a share of n L: from (1, +1) to (1, -1), and from (1, +1) to nothing."""
    hinge = Hinge()
    slopes = [float(hinge.slope(np.zeros(1))[0]) * y for y in (1.0, -1.0)]
    return {"exchanged": abs(slopes[0] - slopes[1]), "removed": abs(slopes[0])}


GRADIENT_SENSITIVITY = Claim(
    id="cs860-gradient-sensitivity",
    locator="Private stochastic gradient descent, privacy",
    statement="n times the gradient of a record has sensitivity n L.",
    computes="the gradients of the hinge loss at 0 for two opposite records",
    measure=measure_gradient_sensitivity,
    decide=fact_decider(
        "Under the hinge loss, (1, +1) exchanged for (1, -1) moves n grad l by {exchanged:.3g} n L; counted as 0 where the "
        "record is removed, by {removed:.3g} n L.",
        lambda numbers, tolerances: numbers["exchanged"] <= 1 + tolerances["slack"],
        "2 n L where a record is exchanged; n L where a missing record's gradient counts as 0.",
    ),
    tolerances={"slack": 1e-6},
)

STEP_GRID = tuple(product((0.1, 1.0, None), (1, 2, 10, 100), (1e-2, 1e-5, 1e-8)))
"""Epsilon (None for the largest that the proof can treat, 2 sqrt(log(1/delta))), n and delta."""


def _step(epsilon: float | None, n: int, delta: float) -> tuple[float, float]:
    """Epsilon, and how many standard deviations n L is under the printed sigma."""
    eps = 2 * math.sqrt(math.log(1 / delta)) if epsilon is None else epsilon
    return eps, n / PrintedGradientPerturbation(eps, delta).sigma(n)


@computed
def measure_step_loss() -> dict[str, float]:
    """P[loss > epsilon/(2 sqrt(log(1/delta)))] over delta/2, at worst, for means n L apart and 2 n L apart; i is fixed.

    For means m standard deviations apart the loss is N(m^2/2, m^2).
    """
    worst = {"printed": 0.0, "exchanged": 0.0}
    for epsilon, n, delta in STEP_GRID:
        eps, unit = _step(epsilon, n, delta)
        limit = eps / (2 * math.sqrt(math.log(1 / delta)))
        for name, m in (("printed", unit), ("exchanged", 2 * unit)):
            worst[name] = max(worst[name], float(ndtr(m / 2 - limit / m)) / (delta / 2))
    return worst


STEP_LOSS = Claim(
    id="cs860-step-loss",
    locator="Private stochastic gradient descent, privacy",
    statement=(
        "If the record of a step were fixed, its privacy loss would be at most epsilon/(2 sqrt(log(1/delta))) with "
        "probability 1 - delta/2."
    ),
    computes="the tail of the Gaussian privacy loss of a step, by formula, over 36 settings",
    measure=measure_step_loss,
    decide=bound_decider(
        "With i fixed the loss exceeds its limit with at most {printed:.2g} of the probability delta/2 for a sensitivity "
        "of n L, {exchanged:.2g} of it for 2 n L, "
        f"over {len(STEP_GRID)} settings.",
        "Only for smaller epsilon.",
    ),
    tolerances=BOUND,
)


@computed
def measure_lemma_3() -> dict[str, float]:
    """What is spent after sampling, as a share of 2 gamma epsilon', at worst, for epsilon' < 1, and beyond, at 2."""
    sizes = [(n, size) for n in (2, 4, 8) for size in range(1, n + 1)] + [(1000, 1)]
    inners = (0.01, 0.5, 0.9, 0.999)
    within = max(amplified(inner, n, size) / (2 * size / n * inner) for (n, size), inner in product(sizes, inners))
    return {"share": within, "share_at_2": amplified(2.0, 1000, 1) / (2 / 1000 * 2)}


LEMMA_3 = Claim(
    id="cs860-lemma-3",
    locator="Private stochastic gradient descent, Lemma 3",
    statement=(
        "An epsilon'-private algorithm, epsilon' < 1, on a random subset of gamma n records is 2 gamma epsilon'-private."
    ),
    computes="the privacy loss of randomised response on a random subset, by enumeration of the subsets",
    measure=measure_lemma_3,
    decide=bound_decider(
        "The mechanism that sampling protects least spends at most {share:.3g} of 2 gamma epsilon' for epsilon' < 1; at "
        "epsilon' = 2 it would be {share_at_2:.3g}. It spends log(1 + gamma (e^epsilon' - 1)).",
        "log(1 + gamma (e^epsilon' - 1)) is spent.",
        share="share",
    ),
    tolerances=BOUND,
)


@computed
def measure_sampled_step_loss() -> dict[str, float]:
    """P[loss > epsilon/(n sqrt(log(1/delta)))] of one step, over delta/2, at worst; neighbours 2 n L apart."""
    shares = []
    for epsilon, n, delta in STEP_GRID:
        eps, unit = _step(epsilon, n, delta)
        limit = eps / (n * math.sqrt(math.log(1 / delta)))
        shares.append(sampled_tail(2 * unit, 1 / n, limit) / (delta / 2))
    return {"share": max(shares)}


SAMPLED_STEP_LOSS = Claim(
    id="cs860-sampled-step-loss",
    locator="Private stochastic gradient descent, after Lemma 3",
    statement="With a random record, a step's loss is at most epsilon/(n sqrt(log(1/delta))) with probability 1 - delta/2.",
    computes="the tail of the privacy loss of a step on a random record, by formula, over 36 settings",
    measure=measure_sampled_step_loss,
    decide=bound_decider(
        "One step on a random record exceeds its limit with at most {share:.2g} of the probability delta/2, over "
        f"{len(STEP_GRID)} settings and the pair that dominates all others.",
        "The limit is exceeded more often.",
    ),
    tolerances=BOUND,
)

# All steps


@computed
def measure_composition() -> dict[str, float]:
    """What n^2 steps of epsilon/(n sqrt(log(1/delta))), each but for delta/2, come to by advanced composition.

    k steps of e are (e sqrt(2 k log(1/d)) + k e (exp(e) - 1), d)-private (Dwork, Rothblum and Vadhan 2010); d = delta/2,
    n = 100 and epsilon = 1, each as a multiple of what is claimed.
    """
    n, epsilon = 100, 1.0
    step = epsilon / (n * math.sqrt(math.log(1 / DELTA)))
    total = step * n * math.sqrt(2 * math.log(2 / DELTA)) + n**2 * step * math.expm1(step)
    return {"epsilon": total / epsilon, "delta": (n**2 + 1) / 2, "n": float(n)}


COMPOSITION = Claim(
    id="cs860-composition",
    locator="Private stochastic gradient descent, after Lemma 3",
    statement="By advanced composition, n^2 such steps are (epsilon, delta)-private.",
    computes="the composition of n^2 steps, by the theorem's formula",
    measure=measure_composition,
    decide=fact_decider(
        "For n = {n:g} at epsilon = 1, delta = 1e-5, advanced composition gives {epsilon:.3g} epsilon and {delta:,.0f} "
        "delta.",
        lambda numbers, tolerances: max(numbers["epsilon"], numbers["delta"]) <= 1 + tolerances["slack"],
        "The argument needs steps that fail with delta/(2 n^2) and a smaller share of epsilon; the noise has room for that.",
    ),
    tolerances={"slack": 1e-6},
)


def measure_algorithm_3(evidence: Evidence) -> Measured:
    """At delta = 1e-5, within the proof's range: the accountant's delta over the claimed one, and the noise to spare."""
    settings = list(product((4, 10, 100), (0.1, 1.0, 6.5)))
    spent, spare = [], []
    for n, epsilon in settings:
        sigma = PrintedGradientPerturbation(epsilon, DELTA).sigma(n)
        spent.append(sampled_delta(epsilon, 2 * n / sigma, 1 / n, n**2) / DELTA)
        spare.append(sigma / AccountedGradientPerturbation(epsilon, DELTA).sigma(n))
    return Measured(
        {
            "delta_share": max(spent),
            "least_spare": min(spare),
            "most_spare": max(spare),
            "audited": spent_share(evidence, "gradient_perturbation_printed"),
        }
    )


def decide_algorithm_3(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Fails if the audits refute it; underspecified if neither they do nor the accountant vouches for it."""
    least, most, audited = (numbers[name] for name in ("least_spare", "most_spare", "audited"))
    sentence = (
        f"For 0.1 <= epsilon <= 6.5 and n = 4 to 100 an accountant vouches for the promise with {least:.3g} to {most:.3g} "
        f"times less noise; audits find at most {audited:.3g} of epsilon spent."
    )
    if audited <= 1 + tolerances["slack"] and numbers["delta_share"] > 1:
        missing = "The accountant does not vouch for it, the audits do not refute it; we assumed nothing more."
        return Decision("underspecified", sentence, instead=missing)
    return within_bound(audited, sentence, tolerances, "More noise is needed.", factor=least)


ALGORITHM_3 = Claim(
    id="cs860-algorithm-3",
    locator="Private stochastic gradient descent, Algorithm 3",
    statement="Algorithm 3 with its sigma is (epsilon, delta)-private, in the range of epsilon that its proof can treat.",
    needs=(VERDICTS,),
    computes="an accountant's delta and its least noise, for nine choices of n and epsilon",
    measure=measure_algorithm_3,
    decide=decide_algorithm_3,
    tolerances=BOUND,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_any_epsilon() -> dict[str, float]:
    """The smallest epsilons of a grid at which delta is proved to exceed 1e-5, and by how much there."""
    grid = [digit * 10.0**power for power in range(1, 7) for digit in (1, 2, 5)]
    found: dict[str, float] = {}
    bounds: dict[str, Callable[[float], float]] = {
        "transcript": partial(transcript_delta, n=10),
        "final": partial(final_delta, n=2),
    }
    for name, delta in bounds.items():
        beyond = [epsilon for epsilon in grid if delta(epsilon) > DELTA]
        found[f"{name}_epsilon"] = min(beyond, default=math.inf)
        found[f"{name}_delta"] = delta(min(beyond)) if beyond else 0.0
    return found


ANY_EPSILON = Claim(
    id="cs860-algorithm-3-any-epsilon",
    locator="Private stochastic gradient descent, Algorithm 3",
    statement="Algorithm 3 with its sigma is (epsilon, delta)-private, no range of epsilon being given.",
    computes="lower bounds on delta from two events, by formula, over a grid of epsilons",
    measure=measure_any_epsilon,
    decide=fact_decider(
        "With delta = 1e-5 promised: at epsilon = {transcript_epsilon:,.0f}, n = 10, all noisy gradients together have "
        "delta >= {transcript_delta:.2g}; at {final_epsilon:,.0f}, n = 2, theta alone has delta >= {final_delta:.2g}.",
        lambda numbers, tolerances: numbers["final_delta"] <= tolerances["delta"],
        "For epsilon below 2 sqrt(log(1/delta)), where a step's own epsilon is below 1, as Lemma 3 wants.",
    ),
    tolerances={"delta": 1e-5},
)
