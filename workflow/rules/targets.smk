# What can be asked for, besides single files.
from epsilometer.mechanisms.catalogue import catalogue

EXPERIMENTS = [
    *(
        figure(drawn.name)
        for paper in registry.papers()
        for drawn in registry.figures_shown(paper, settings)
    ),
    *(
        table(f"{name}/{part}")
        for name in registry.experiments()
        for part in registry.parts_of(name, settings)
    ),
]
"""Every table and figure of the papers' experiments."""

AUDITS = [
    table("verdicts/catalogue"),
    rules.privacy_loss.output.table,
    rules.membership_verdicts.output.table,
    *rules.mechanism_figures.output,
    *rules.membership_figures.output,
    *([table("verdicts/libraries")] if LIBRARY_PARTS else []),
]
"""The verdict on every mechanism and attack, privacy losses, and the figures of both."""

CLAIMS = [table(f"ledger/{source}") for source in registry.sources()]
"""The decision on every claim."""


rule experiments:
    input:
        EXPERIMENTS,


rule audits:
    input:
        AUDITS,


rule claims:
    input:
        CLAIMS,


rule validate:
    input:
        rules.validation_summary.output.table,
        rules.membership_validation.output.table,
