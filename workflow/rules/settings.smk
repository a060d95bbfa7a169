# The checked configuration, and the names that wildcards may take.
from snakemake.exceptions import WorkflowError

from epsilometer.config import load_config
from epsilometer.core import EpsilometerError
from epsilometer.libraries.registry import libraries, parts_of
from epsilometer.mechanisms.catalogue import families
from epsilometer.papers import registry

try:
    settings = load_config(config)
    FAMILIES = list(families())
except EpsilometerError as error:
    raise WorkflowError(f"\n{error}")

RESULTS = settings.results
LIBRARY_PARTS = [
    (library, part)
    for library in settings.libraries.names
    for part in parts_of(library)
]


wildcard_constraints:
    dataset="|".join(registry.datasets()),
    family="|".join(FAMILIES),
    paper="|".join(registry.papers()),
    source="|".join(registry.sources()),
    library="|".join(libraries()),
    part="|".join({part for library in libraries() for part in parts_of(library)}),
