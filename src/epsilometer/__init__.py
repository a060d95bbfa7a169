"""Epsilometer measures epsilon: it regenerates experiments of differential privacy and audits what mechanisms really leak."""

__version__ = "0.1.0"
