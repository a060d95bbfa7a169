"""Random streams depend on the seed and the name, and on nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import stream


def first_draws(seed: int, *name: object) -> list[float]:
    return stream(seed, *name).random(4).tolist()


def test_equal_names_give_equal_streams() -> None:
    used = stream(1, "a", 2)
    used.random(1000)
    assert first_draws(1, "a", 2) == first_draws(1, "a", 2)


@pytest.mark.parametrize("other", [(2, "a", 2), (1, "a", 3), (1, "b", 2), (1, 2, "a"), (1, "a"), (1, "a", 2, 2), (1, "a2")])
def test_another_seed_or_name_gives_another_stream(other: tuple[int, object]) -> None:
    assert first_draws(1, "a", 2) != first_draws(*other)


def test_a_slash_in_a_name_is_not_a_boundary_between_names() -> None:
    assert first_draws(1, "a/b") != first_draws(1, "a", "b")


def test_seeds_beyond_32_bits_differ_from_their_remainder() -> None:
    assert first_draws(2**32 + 5, "a") != first_draws(5, "a")


@pytest.mark.slow
def test_streams_do_not_depend_on_the_process() -> None:
    code = "from epsilometer.core import stream; print(stream(7, 'x', 1.5).integers(2**62))"
    here = str(stream(7, "x", 1.5).integers(2**62))
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.strip() == here


def test_numbered_streams_look_independent() -> None:
    """Kolmogorov-Smirnov and lag-one correlation; another seed would fail with probability 2e-6."""
    draws = np.array([stream(2008, "fold", number).random() for number in range(2000)])
    assert stats.kstest(draws, "uniform").pvalue > 1e-6
    assert stats.pearsonr(draws[1:], draws[:-1]).pvalue > 1e-6
