# Where the inputs and options of jobs come from: data sets, papers, audits, attacks.
from epsilometer.data import OWN, SMALL
from epsilometer.mechanisms.catalogue import epsilons_from


def division(dataset):
    """How many records a data set has, and how many of them are set aside for tuning."""
    known = registry.datasets()[dataset]
    if known.draw is None:
        return {"holdout": settings.extension.holdout}
    points = (
        settings.membership.small if dataset == SMALL else settings.reproduction.points
    )
    return {
        "points": known.points or points,
        "holdout": known.holdout or settings.reproduction.holdout,
    }


def paths_of(tables):
    """The paths of a table or of several."""
    return (
        table(tables) if isinstance(tables, str) else [table(each) for each in tables]
    )


def needed(parts, only):
    """What gives the tables that the job of a part reads, by option."""

    def inputs(wildcards):
        part = only or wildcards.part
        needs = parts[part].needs(settings, part)
        return {option: paths_of(tables) for option, tables in needs.items()}

    return inputs


def commanded(name, parts, only):
    """What gives the command of the job of a part, with its other options."""

    def given(wildcards):
        part = only or wildcards.part
        return command(name, **parts[part].options(settings, part))

    return given


def tuned(dataset):
    """Whether lambda is tuned on a data set; on those that are drawn it is that of nips08."""
    return registry.datasets()[dataset].draw is None


def promises_of(wildcards):
    """The tables of further epsilons to claim."""
    return [table(name) for name in epsilons_from(wildcards.family)]


def middle_epsilon():
    """The audited epsilon nearest to 1, at which privacy losses are tabulated."""
    return min(settings.audits.epsilons, key=lambda epsilon: max(epsilon, 1 / epsilon))


# The audits of each report: those of the catalogue, and those of third-party libraries.
AUDITED = {
    "catalogue": ("audit", FAMILIES),
    "libraries": (
        "library_audit",
        [f"{library}_{part}" for library, part in LIBRARY_PARTS],
    ),
}
CATALOGUE = [table(f"audit/{family}") for family in FAMILIES]
BUDGET = {
    "trials": settings.audits.trials,
    "confidence": settings.audits.confidence,
    "seed": settings.seed,
}
