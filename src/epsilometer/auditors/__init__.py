"""Auditors: lower bounds on the epsilon that a mechanism spends on a pair of neighbouring data sets."""
