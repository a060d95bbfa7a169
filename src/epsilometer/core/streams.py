"""Random streams that depend on the seed and on what they are for, and on nothing else."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream(seed: int, *name: object) -> np.random.Generator:
    """The generator for one named purpose, say `stream(seed, "learning_curve", "separable", fold)`.

    Equal names give equal streams whatever the number of cores, the order of the jobs or the machine; different names give
    independent ones.
    """
    digest = hashlib.sha256(json.dumps([str(part) for part in name]).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])
