"""Empirical risk minimisation: losses, regularisers, the batched solver, and the noise vectors that perturb it."""

from epsilometer.erm.fit import count, minimiser
from epsilometer.erm.losses import LOGISTIC, Distance, Hinge, Huber, Logistic, Loss, Squared, require_smooth
from epsilometer.erm.noise import GaussianNoise, Noise, SphericalNoise, spherical_noise
from epsilometer.erm.objective import Objective
from epsilometer.erm.regularisers import QUADRATIC, DiagonalQuadratic, Quadratic, Regulariser
from epsilometer.erm.shadows import minimise_shadows
from epsilometer.erm.solver import TOLERANCE, NotConvergedError, minimise, minimise_logistic, minimise_roughly

__all__ = [
    "LOGISTIC",
    "QUADRATIC",
    "TOLERANCE",
    "DiagonalQuadratic",
    "Distance",
    "GaussianNoise",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Noise",
    "NotConvergedError",
    "Objective",
    "Quadratic",
    "Regulariser",
    "SphericalNoise",
    "Squared",
    "count",
    "minimise",
    "minimise_logistic",
    "minimise_roughly",
    "minimise_shadows",
    "minimiser",
    "require_smooth",
    "spherical_noise",
]
