"""What claims of several sections of the survey share: the values of epsilon that it names."""

from __future__ import annotations

import math

PRINTED_EPSILONS = (0.01, 0.1, math.log(2), math.log(3))
"""The values of epsilon that the survey names as usual."""
