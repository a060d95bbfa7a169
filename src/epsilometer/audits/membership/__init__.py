"""Membership inference: an attacker sees the released model and says whether a given person was in the training data."""

from epsilometer.audits.membership.report import membership

__all__ = ["membership"]
