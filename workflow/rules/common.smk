# What the rules share: the checked configuration, paths, and where an experiment's lambda and epsilon come from.
from shlex import quote

from snakemake.exceptions import WorkflowError

from epsilometer.claims.ledger import SOURCES
from epsilometer.config import OWN, load_config
from epsilometer.core import EpsilometerError
from epsilometer.data import SMALL
from epsilometer.layers import code_hash
from epsilometer.mechanisms.catalogue import correct, families

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


def figures_of(paper):
    names = {
        "nips08": ["tuning", "figure1", "recovered_epsilon", "figure2", "boundary"],
        "extension": ["tuning", "error_summary", "curves"],
    }[paper]
    return [f"{RESULTS}/figures/{paper}_{name}.svg" for name in names]


def membership_figure_names():
    names = [f"roc_{dataset}" for dataset in ATTACKED] + ["utility"]
    return [f"{RESULTS}/figures/membership_{name}.svg" for name in names]


def experiment_targets():
    """Every table and figure of the papers' experiments."""
    papers = ["nips08"] + (["extension"] if EXTENSION else [])
    return [
        *(figure for paper in papers for figure in figures_of(paper)),
        *(table("error_summary", paper) for paper in papers),
        f"{RESULTS}/figures/anonymised_tables.svg",
    ]


def audit_targets():
    """The verdict on every mechanism, its privacy loss, and what attacks on its releases achieve."""
    return [
        table("verdicts", "catalogue"),
        *membership_figure_names(),
        table("privacy_loss", "catalogue"),
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
