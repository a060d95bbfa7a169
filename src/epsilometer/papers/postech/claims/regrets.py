"""Regrets of Algorithms 1 and 2 of postech: how much each output exceeds the least regularised risk, and both bounds."""

from __future__ import annotations

import math
from functools import cache

from epsilometer.core import Array
from epsilometer.erm import LOGISTIC
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.papers.claim import Evidence
from epsilometer.papers.nips08.claims.regret import RECORDS, Setting, regret_of_runs

ALGORITHMS = {1: OutputPerturbation, 2: ObjectivePerturbationCMS11}


def lemma_1_bound(setting: Setting, epsilon: float, delta: float, eta: float = 1.0) -> float:
    """2 d^2 (c/lam + eta) log^2(d/delta) / (lam n^2 epsilon^2), for the logistic loss."""
    spread = setting.d * math.log(setting.d / delta) / (RECORDS * epsilon)
    return 2 * (LOGISTIC.curvature_bound / setting.lam + eta) * spread**2 / setting.lam


def lemma_2_bound(setting: Setting, epsilon: float, delta: float) -> float:
    """4 d^2 log^2(d/delta) / (lam n^2 epsilon^2)."""
    spread = setting.d * math.log(setting.d / delta) / (RECORDS * epsilon)
    return 4 * spread**2 / setting.lam


def left_for_noise(epsilon: float, n_lam: float) -> float:
    """2 beta of Algorithm 2, for the logistic loss: what the Hessian leaves of epsilon."""
    return epsilon - 2 * math.log1p(LOGISTIC.curvature_bound / n_lam)


def prefers_algorithm_2(lam: float, eta: float = 1.0) -> bool:
    """c/lam + eta > 2, for the logistic loss; eta is 1 for N = |f|^2/2."""
    return LOGISTIC.curvature_bound / lam + eta > 2


@cache
def regrets(evidence: Evidence, algorithm: int, setting: Setting) -> Array:
    """How much the regularised risk of each run's output exceeds the least one."""
    mechanism = ALGORITHMS[algorithm](setting.epsilon, setting.lam)
    return regret_of_runs(mechanism, setting, evidence.stream("regret", algorithm, setting.label, setting.epsilon))
