# Epsilometer: every experiment, table and figure, from one command. See README.md.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/run.rst"


include: "workflow/rules/settings.smk"
include: "workflow/rules/paths.smk"
include: "workflow/rules/commands.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/run.smk"
include: "workflow/rules/jobs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/membership.smk"
include: "workflow/rules/libraries.smk"
include: "workflow/rules/validation.smk"
include: "workflow/rules/provenance.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/page.smk"


rule all:
    default_target: True
    input:
        settings.page,
