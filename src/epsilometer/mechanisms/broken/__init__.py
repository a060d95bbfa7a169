"""Mechanisms that spend more than they claim, each with one known flaw: what the auditors must find."""
