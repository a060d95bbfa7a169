"""Empirical risk minimisation: the batched solver, and the noise vectors that perturb it."""

from epsilometer.erm.noise import spherical_noise
from epsilometer.erm.solver import TOLERANCE, NotConvergedError, minimise_logistic

__all__ = ["TOLERANCE", "NotConvergedError", "minimise_logistic", "spherical_noise"]
