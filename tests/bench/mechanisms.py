"""Outputs per second of every mechanism of the catalogue, on one core, on the data of its first pair."""

from __future__ import annotations

import time

import numpy as np

from epsilometer.core import stream
from epsilometer.mechanisms.catalogue import catalogue

ROUNDS, SECONDS = 3, 0.2


def run() -> None:
    """Print the median of a few rounds, each of about a fifth of a second."""
    print("outputs per second, one core, at epsilon = 1")
    for name, entry in catalogue().items():
        mechanism, dataset = entry.build(1.0), entry.pairs()[0].first
        rng = stream(0, "bench", name)
        size, rates = 100, []
        while _seconds(mechanism, dataset, size, rng) < SECONDS and size < 10_000_000:
            size *= 2
        for _ in range(ROUNDS):
            rates.append(size / _seconds(mechanism, dataset, size, rng))
        shape = np.shape(mechanism.sample(dataset, 1, rng))[1:]
        print(f"{name:<44} {float(np.median(rates)):>12,.0f} of {int(np.prod(shape)):>3} numbers each")


def _seconds(mechanism: object, dataset: object, size: int, rng: np.random.Generator) -> float:
    start = time.perf_counter()
    mechanism.sample(dataset, size, rng)  # type: ignore[attr-defined]
    return time.perf_counter() - start
