"""What the black-box auditor certifies on broken mechanisms, from how many samples and in how many seconds, on one core."""

from __future__ import annotations

import math
import time

import numpy as np

from epsilometer.audits.black_box import BlackBox, audit_pairs
from epsilometer.audits.confidence import epsilon_lower_bound
from epsilometer.core import stream
from epsilometer.mechanisms.catalogue import find

SEEDS = 20
PROMISED = 0.1
CASES = (
    ("histogram_inverse_scale", 4_000_000, 9.0),
    ("sparse_vector_5", 4_000_000, 1.757),
    ("sparse_vector_6", 16_000_000, 0.268),
    ("sparse_vector_3", 16_000_000, 0.169),
    ("sparse_vector_4", 20_000_000, 0.161),
    ("noisy_max_value", 32_000_000, 0.245),
)
"""Name, trials (over both data sets, pilots included) and the bound to reach."""


def run(seeds: int = SEEDS) -> None:
    """Print, for each case, the median certified bound, how often infinity was confirmed, and the median seconds."""
    print(f"black box, promised epsilon {PROMISED}, 95% confidence, median of {seeds} seeds")
    print("mechanism                    trials   to reach   certified   infinite   seconds")
    for name, trials, wanted in CASES:
        entry = find(name)
        mechanism, pairs = entry.build(PROMISED), entry.pairs()
        bounds, seconds, infinite = [], [], 0
        for seed in range(seeds):
            start = time.perf_counter()
            estimate, _ = audit_pairs(BlackBox(confirm=True), mechanism, pairs, trials, stream(seed, "bench", name))
            seconds.append(time.perf_counter() - start)
            infinite += math.isinf(estimate.epsilon)
            bounds.append(epsilon_lower_bound(estimate.counts[0], 0.95, estimate.delta))
        print(
            f"{name:<25} {trials:>9} {wanted:>10} {np.median(bounds):>11.4f}{infinite:>8}/{seeds} {np.median(seconds):>8.1f}"
        )
