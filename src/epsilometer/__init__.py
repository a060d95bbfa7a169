"""Epsilometer measures epsilon: it regenerates the experiments of papers and audits what mechanisms really leak."""

__version__ = "0.1.0"
