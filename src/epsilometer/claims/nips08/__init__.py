"""The checks of nips08, Chaudhuri and Monteleoni 2008: its privacy, its learning guarantees and its experiments."""

from __future__ import annotations

from epsilometer.claims.nips08 import experiments, learning, privacy

CHECKS = privacy.CHECKS | learning.CHECKS | experiments.CHECKS
