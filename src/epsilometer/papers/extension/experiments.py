"""The protocol of nips08 on other data: lambda is tuned on each, and epsilon is that of the configuration."""

from __future__ import annotations

from epsilometer.papers.nips08.experiments import error_summary
from epsilometer.papers.paper import Experiment
from epsilometer.papers.protocol_experiments import Protocol

PROTOCOL = Protocol(
    datasets=lambda settings: settings.extension_datasets,
    lam=lambda _, dataset: f"tuning/{dataset}",
    epsilon=lambda settings, _: settings.extension.epsilon,
    increment=lambda settings: settings.extension.increment,
    epsilons=lambda settings: settings.extension.epsilons.values(),
)

EXPERIMENTS = (
    *PROTOCOL.experiments(),
    Experiment(
        error_summary,
        parts=lambda settings: ["extension"] if settings.extension_datasets else [],
        needs=lambda settings, _: {"error_tables": [f"error_table/{name}" for name in settings.extension_datasets]},
        message="Mean test errors for {part}",
        caption="Mean test errors of every method on data that no source used, with both spreads.",
    ),
)
