# What the rules share: the checked configuration, paths, and where an experiment's lambda and epsilon come from.
import json
import os
import subprocess
from shlex import quote

from snakemake.exceptions import WorkflowError

from epsilometer.claims.ledger import SOURCES
from epsilometer.config import OWN, load_config
from epsilometer.core import EpsilometerError, write_table
from epsilometer.data import SMALL
from epsilometer.figures.names import MECHANISMS
from epsilometer.layers import code_hash
from epsilometer.libraries.catalogue import LIBRARIES, PARTS
from epsilometer.mechanisms.catalogue import catalogue, correct, families

try:
    settings = load_config(config)
except EpsilometerError as error:
    raise WorkflowError(f"\n{error}")

RESULTS = settings.results
PAPER = settings.paper_datasets
EXTENSION = settings.extension_datasets
ATTACKED = settings.attacked_datasets
DRAWN = [*PAPER, SMALL]
FAMILIES = list(families())


wildcard_constraints:
    dataset="|".join(ATTACKED),
    family="|".join(FAMILIES),
    source="|".join(SOURCES),
    library="|".join(LIBRARIES),
    part="|".join(PARTS),


def table(rule_name, dataset="{dataset}"):
    """The table that a rule writes, for one data set or for a paper."""
    return f"{RESULTS}/{rule_name}/{dataset}.csv"


def log_of(rule_name, name="{dataset}"):
    return f"{RESULTS}/logs/{rule_name}/{name}.log"


def time_of(rule_name, name="{dataset}"):
    return f"{RESULTS}/benchmarks/{rule_name}/{name}.tsv"


def roc_of(dataset):
    """The ROC of each attack on a data set."""
    return f"{RESULTS}/membership/roc/{dataset}.csv"


def seconds_of(family):
    """How long each audit of a family took."""
    return f"{RESULTS}/benchmarks/auditors/{family}.csv"


def middle_epsilon():
    """The audited epsilon nearest to 1, at which privacy losses are tabulated."""
    return min(settings.audits.epsilons, key=lambda epsilon: max(epsilon, 1 / epsilon))


def promise_source(wildcards):
    """The table of a further epsilon to promise: the paper's algorithms are audited at the paper's own, too."""
    return (
        table("recovered_epsilon", "nips08")
        if wildcards.family == "nips08_settings"
        else []
    )


def points(wildcards):
    """Records for the experiments of a data set that is drawn."""
    small = wildcards.dataset == SMALL
    return settings.membership.small if small else settings.reproduction.points


def lambda_source(wildcards):
    """The table to take lambda from, where it is tuned."""
    return [] if wildcards.dataset in DRAWN else table("tuning", wildcards.dataset)


def epsilon_source(wildcards):
    """The table to take epsilon from, where the paper does not print it."""
    return table("recovered_epsilon", "nips08") if wildcards.dataset in PAPER else []


def lam(wildcards):
    return lambda_source(wildcards) or settings.reproduction.lam


def epsilon(wildcards):
    return epsilon_source(wildcards) or settings.extension.epsilon


def section(wildcards):
    return settings.reproduction if wildcards.dataset in PAPER else settings.extension


def commit():
    """The commit of the checkout, marked if files differ from it."""
    asked = subprocess.run(
        [
            "git",
            "-C",
            workflow.basedir,
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
        ],
        capture_output=True,
        text=True,
    )
    return asked.stdout.strip() or "unknown"


def config_files():
    """The files of settings, in the order in which they count, from where Snakemake runs."""
    given = map(os.path.relpath, workflow.overwrite_configfiles)
    return list(dict.fromkeys(["config/config.yaml", *given]))


def config_overrides():
    """The settings of the command line, as they are written there."""
    given = workflow.config_settings.config
    return [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in given.items()
    ]


def unfinished_files():
    """Each file that a failed run did not make, with its job's log, and whether that job itself failed."""
    return [
        {
            "file": str(file),
            "log": " ".join(job.log),
            "failed": job in workflow.scheduler.failed,
        }
        for job in workflow.dag.needrun_jobs()
        for file in job.output
    ]


def captioned(path, category, subcategory, caption, **labels):
    """A file that Snakemake's own report shows, under which headings, with which caption of workflow/report."""
    return report(
        path,
        category=category,
        subcategory=subcategory,
        caption=f"../report/{caption}.rst",
        labels=labels,
    )


FIGURES = {
    "nips08": ["tuning", "figure1", "recovered_epsilon", "figure2", "boundary"],
    "extension": ["tuning", "error_summary", "curves"],
}


def figures_of(paper):
    return {name: f"{RESULTS}/figures/{paper}_{name}.svg" for name in FIGURES[paper]}


def captioned_figures(paper):
    return [
        captioned(
            path, "Experiments", paper, f"{paper}_{name}", figure=name.replace("_", " ")
        )
        for name, path in figures_of(paper).items()
    ]


def roc_figures():
    """The ROC of the attacks on each mechanism that is attacked."""
    return {name: f"{RESULTS}/figures/membership_roc_{name}.svg" for name in MECHANISMS}


def mechanism_figure(name):
    return f"{RESULTS}/figures/mechanisms/{name}.svg"


def library_parts():
    """What is audited of each library, by the names of its tables."""
    return [
        f"{library}_{part}" for library in settings.libraries.names for part in PARTS
    ]


def experiment_targets():
    """Every table and figure of the papers' experiments."""
    papers = ["nips08"] + (["extension"] if EXTENSION else [])
    return [
        *(figure for paper in papers for figure in figures_of(paper).values()),
        *(table("error_summary", paper) for paper in papers),
        f"{RESULTS}/figures/anonymised_tables.svg",
    ]


def audit_targets():
    """The verdict on every mechanism, its privacy loss, and what attacks on its releases achieve."""
    return [
        table("verdicts", "catalogue"),
        *(mechanism_figure(name) for name in ["overview", *catalogue()]),
        f"{RESULTS}/figures/membership_utility.svg",
        *roc_figures().values(),
        table("privacy_loss", "catalogue"),
        *([table("verdicts", "libraries")] if library_parts() else []),
    ]


def evidence_tables():
    """What the claims are decided by: every table of the paper's experiments, the attacks on tables, and the verdicts."""
    rules = ("dataset", "tuning", "epsilon_curve", "error_table", "learning_curve")
    return [
        *(table(name, dataset) for name in rules for dataset in PAPER),
        table("recovered_epsilon", "nips08"),
        table("error_summary", "nips08"),
        table("anonymised_tables", "worked_example"),
        table("boundary", "nips08"),
        table("verdicts", "catalogue"),
    ]


def claim_targets():
    """The decision on every claim."""
    return [table("ledger", source) for source in SOURCES]


def page_sources():
    """What the page is built from: every table and figure, and what the run was."""
    return [
        *experiment_targets(),
        *audit_targets(),
        *claim_targets(),
        table("provenance", "run"),
    ]
