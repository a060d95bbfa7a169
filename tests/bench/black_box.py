"""What the black-box auditor certifies at 95%, beside the figures to reach, in seconds of one core's own time."""

from __future__ import annotations

import math
import time

import numpy as np

from epsilometer.auditors.black_box.auditor import BlackBox, audit_pairs
from epsilometer.auditors.confidence import epsilon_lower_bound
from epsilometer.auditors.sampled import limit
from epsilometer.core import stream
from epsilometer.mechanisms.catalogue import find

SEEDS = range(100, 120)
"""Others than those by which the auditor was tuned."""
PROMISED = 0.1
CASES = (
    ("histogram_inverse_scale", 4_000_000, 9.0, math.inf),
    ("sparse_vector_5", 4_000_000, 1.757, math.inf),
    ("sparse_vector_6", 16_000_000, 0.268, math.inf),
    ("sparse_vector_3", 14_000_000, 0.169, 11.6),
    ("sparse_vector_4", 30_000_000, 0.161, math.inf),
    ("noisy_max_value", 90_000_000, 0.245, 6.7),
)
"""Name, trials (over both data sets, pilots included), the bound to reach and the seconds it may take."""
EFFICIENCY, SCALAR_TRIALS = 0.93, 2_000_000
SCALARS = (
    ("laplace_count", 0.1),
    ("laplace_count", 1.0),
    ("gaussian_classic", 0.5),
    ("gaussian_classic", 1.0),
    ("randomized_response", math.log(3)),
    ("exponential_most_frequent", 1.0),
    ("exponential_median", 1.0),
    ("noisy_max", 1.0),
    ("noisy_max_value", 1.0),
)
"""Mechanisms whose output is one number, and the promised epsilon."""


def run() -> None:
    """Print medians over the seeds for the broken mechanisms, and the efficiency for outputs of one number."""
    print(f"black box, promised epsilon {PROMISED}, 95% confidence, one core, median of {len(SEEDS)} seeds")
    print("mechanism                    trials     reach   certified   infinite   within s   seconds")
    for case in CASES:
        _print_case(*case)
    print(f"black box, outputs of one number, {SCALAR_TRIALS} trials: share of the most that a single event can certify")
    print("mechanism                   epsilon     reach   certified      limit   efficiency   seconds")
    for name, epsilon in SCALARS:
        _print_scalar(name, epsilon)


def _print_case(name: str, trials: int, reach: float, within: float) -> None:
    entry = find(name)
    mechanism, pairs = entry.build(PROMISED), entry.pairs()
    bounds, seconds, infinite = [], [], 0
    for seed in SEEDS:
        start = time.process_time()
        estimate, _ = audit_pairs(BlackBox(confirm=True), mechanism, pairs, trials, stream(seed, "bench", name))
        seconds.append(time.process_time() - start)
        infinite += math.isinf(estimate.epsilon)
        bounds.append(epsilon_lower_bound(estimate.counts[0], 0.95, estimate.delta))
    bound, taken = float(np.median(bounds)), float(np.median(seconds))
    print(
        f"{name:<25} {trials:>9} {reach:>9} {bound:>11.4f}{infinite:>8}/{len(SEEDS)} {within:>10} {taken:>9.1f}"
        f"  {'' if bound >= reach and taken <= within else 'NOT REACHED'}",
        flush=True,
    )


def _print_scalar(name: str, epsilon: float) -> None:
    entry = find(name)
    mechanism, pair = entry.build(epsilon), entry.pairs()[0]
    most = limit(mechanism, pair, SCALAR_TRIALS, stream(0, "bench limit", name), draws=1_000_000)
    start = time.process_time()
    bounds = [BlackBox()(mechanism, pair, SCALAR_TRIALS, stream(seed, "bench", name)).epsilon for seed in SEEDS]
    seconds, bound = (time.process_time() - start) / len(SEEDS), float(np.median(bounds))
    print(
        f"{name:<25} {epsilon:>9.4g} {EFFICIENCY:>9.0%} {bound:>11.4f} {most:>10.4f} {bound / most:>12.1%} {seconds:>9.2f}"
        f"  {'' if bound >= EFFICIENCY * most else 'NOT REACHED'}",
        flush=True,
    )


if __name__ == "__main__":
    run()
