"""Membership inference: an attacker sees a released model and decides whether a given record was in its training data."""
