"""Section II-C of review: what mechanisms cost together, on disjoint parts of a data set and on one data set."""

from __future__ import annotations

from epsilometer.mechanisms.beta_bernoulli import NoisyBitsPosterior
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.composition import SequentialComposition
from epsilometer.mechanisms.exponential import most_frequent
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Evidence, Measured
from epsilometer.papers.deciders import PRIVATE, claimed_epsilon
from epsilometer.papers.measures import VERDICTS, audited_with_corrected, spent_share

PARALLEL = Claim(
    id="review-parallel-composition",
    locator="Theorem 1, under Definition 1",
    statement="Mechanisms on disjoint parts of a data set cost together the largest of their epsilons.",
    needs=(VERDICTS,),
    computes="the output of two noisy counts that has the largest privacy loss",
    measure=audited_with_corrected("parallel_composition_as_printed", share_deleted="parallel_composition"),
    decide=claimed_epsilon(
        "counts of two parts, one record exchanged",
        "It holds where a record is added or removed, and is then attained (largest share {share_deleted:.4g}); an "
        "exchanged record can leave one part and enter another, and costs both.",
    ),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
    headline=True,
)


def measure_sequential(evidence: Evidence) -> Measured:
    """The share of the summed epsilons that is spent by a noisy count released twice, and by ten compositions.

    Each composition is of three discrete mechanisms with drawn epsilons; all its outputs are listed.
    """
    rng, pair = evidence.stream("sequential"), find("randomized_response").pairs()[1]
    shares = []
    for _ in range(10):
        epsilons = rng.uniform(0.1, 2.0, 3).tolist()
        parts = (
            RandomizedResponse.from_epsilon(epsilons[0]),
            most_frequent(epsilons[1], 2),
            NoisyBitsPosterior(epsilons[2]),
        )
        shares.append(largest_log_ratio(SequentialComposition(parts), pair) / sum(epsilons))
    share = max(spent_share(evidence, "sequential_composition"), *shares)
    return Measured({"share": share, "share_of_discrete": max(shares)})


SEQUENTIAL = Claim(
    id="review-sequential-composition",
    locator="Theorem 2",
    statement=(
        "Mechanisms on one data set cost together at most the sum of their epsilons (the index is missing in print)."
    ),
    needs=(VERDICTS,),
    computes="the largest privacy loss of ten compositions of three discrete mechanisms with drawn epsilons",
    measure=measure_sequential,
    decide=claimed_epsilon("a count released twice, and ten discrete compositions"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)
