"""The mechanisms, one file for each family."""

from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

__all__ = ["NonPrivateLogistic", "ObjectivePerturbation2008", "ObjectivePerturbationCMS11", "OutputPerturbation"]
