"""A mechanism that is another program, in any language, reached through its standard input and output.

It reads one JSON object: `mechanism` (a name), `epsilon`, `delta`, `records` (a list of lists of numbers), `labels` (a list
of -1 and 1, or null), `size` and `seed`. It writes `size` lines, one for each independent output, of numbers separated by
blanks. All its randomness must derive from the seed. On failure it exits with a non-zero status, and the last line of its
standard error states the reason.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData


@dataclass(frozen=True)
class Program:
    """One mechanism of an external program, with one claimed guarantee."""

    command: tuple[str, ...]
    mechanism: str
    guarantee: Guarantee
    source: str

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        """`size` outputs, as rows of numbers."""
        labelled = isinstance(dataset, LabelledData)
        request = {
            "mechanism": self.mechanism,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "records": (dataset.features if labelled else np.reshape(dataset, (len(dataset), -1))).tolist(),
            "labels": dataset.labels.tolist() if labelled else None,
            "size": size,
            "seed": int(rng.integers(2**32)),
        }
        return self._parse(self._run(json.dumps(request)), size)

    def _run(self, request: str) -> str:
        try:
            done = subprocess.run(self.command, input=request, capture_output=True, text=True)
        except OSError as error:
            raise EpsilometerError(f"cannot run {self.command[0]}: {error.strerror}") from error
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise EpsilometerError(f"{self.mechanism} failed in {' '.join(self.command)}: {reason}")
        return done.stdout

    def _parse(self, answer: str, size: int) -> Array:
        rows = [line.split() for line in answer.splitlines()]
        if len(rows) != size or len({len(row) for row in rows}) > 1:
            raise EpsilometerError(
                f"{self.mechanism} wrote {len(rows)} lines; it must write {size}, of as many numbers each"
            )
        try:
            return np.array(rows, dtype=float)
        except ValueError as error:
            raise EpsilometerError(f"{self.mechanism} wrote what is no number: {error}") from error
