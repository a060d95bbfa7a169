"""The attacks: from the log-odds of the target under a model to a score, which is large for members.

A model gives a record with features x and label y the probability p = p(y | x). The attacks use its log-odds
phi = log(p/(1 - p)), which is the margin y w.x for logistic regression. Shadow models are trained by the attacker, with the
same mechanism on draws of the attacker's own from the pool. docs/proofs/membership.md shows which attacks are equivalent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError

GAMMA = 1.0
"""RMIA counts a population record if the target's likelihood ratio is at least this many times the record's."""
SMALLEST_DEVIATION = 1e-9
"""Smaller standard deviations of log-odds are due to rounding, and are replaced by this one."""


def loss_threshold(odds: Array) -> Array:
    """Minus the logistic loss of the target, -log(1 + e^-phi) (Yeom, Giacomelli, Fredrikson and Jha 2018)."""
    return log_probability(odds)


def lira_online(odds: Array, shadows_with: Array, shadows_without: Array) -> Array:
    """The log-ratio of two Gaussian densities of phi, fitted to shadow models with and without the target.

    Carlini, Chien, Nasr, Song, Terzis and Tramer 2022, "Membership inference attacks from first principles".
    """
    return _log_normal(odds, shadows_with) - _log_normal(odds, shadows_without)


def lira_offline(odds: Array, shadows_without: Array) -> Array:
    """How many standard deviations phi is above its mean over shadow models without the target (same paper).

    The paper's score is P(Z < phi) for a Gaussian Z with these moments. It is an increasing function of this score, but
    rounds to 1 in the tail.
    """
    mean, deviation = _moments(shadows_without)
    return (odds - mean) / deviation


def rmia(odds: Array, population: Array, probability: float, population_probability: Array, gamma: float = GAMMA) -> Array:
    """The share of population records z for which (p(x | model)/p(x)) / (p(z | model)/p(z)) >= gamma, x being the target.

    Zarifzadeh, Liu and Shokri 2024, "Low-cost high-power membership inference attacks". `odds` (k,) and `population` (k, m)
    are log-odds under k models; p(x) and p(z) are probabilities averaged over models: see `average_probability` and
    `average_from_outside`. The ratios are compared by their logarithms.
    """
    of_target = log_probability(odds) - math.log(probability)
    of_others = log_probability(population) - np.log(population_probability)
    return np.asarray(np.mean(of_target[:, None] - of_others >= math.log(gamma), axis=1), dtype=float)


def average_probability(shadows_with: Array, shadows_without: Array) -> float:
    """p(x) in the online attack: the mean over models with x and over models without it, in equal parts."""
    return float((expit(shadows_with).mean() + expit(shadows_without).mean()) / 2)


def offline_average_probability(shadows_without: Array, a: float) -> Array:
    """p(x) in the offline attack, ((1 + a) p_out + (1 - a))/2, from log-odds (models, records) without the records.

    It approximates p_in by a p_out + (1 - a); a = 1 means that training on a record does not change its probability.
    """
    return ((1 + a) * expit(shadows_without).mean(axis=0) + (1 - a)) / 2


def fit_offline_scale(shadows: Array, trained: NDArray[np.bool_]) -> float:
    """The a in [0, 1] for which p_in = a p_out + (1 - a) fits best, in least squares, over records other than the target.

    `shadows` (models, records) are log-odds, and `trained` marks the records that each model was trained on. Records that
    all models or none were trained on are ignored.
    """
    probabilities, seen = expit(shadows), trained.sum(axis=0)
    useful = (seen > 0) & (seen < len(trained))
    if not useful.any():
        raise EpsilometerError(f"each of {len(seen)} records is in all shadow models or in none; draw more shadow models")
    probabilities, inside = probabilities[:, useful], trained[:, useful]
    wrong_in = 1 - (probabilities * inside).sum(axis=0) / inside.sum(axis=0)
    wrong_out = 1 - (probabilities * ~inside).sum(axis=0) / (~inside).sum(axis=0)
    return float(np.clip(wrong_in @ wrong_out / max(wrong_out @ wrong_out, np.finfo(float).tiny), 0.0, 1.0))


def log_probability(odds: Array) -> Array:
    """log p from the log-odds."""
    return -np.logaddexp(0.0, -odds)


def _log_normal(odds: Array, shadows: Array) -> Array:
    mean, deviation = _moments(shadows)
    return -(((odds - mean) / deviation) ** 2) / 2 - math.log(deviation)


def _moments(shadows: Array) -> tuple[float, float]:
    if len(shadows) < 2:
        raise EpsilometerError(f"there are {len(shadows)} shadow models of a kind; a Gaussian needs at least 2")
    return float(shadows.mean()), max(float(shadows.std(ddof=1)), SMALLEST_DEVIATION)
