# Epsilometer: every experiment, table and figure, from one command. See README.md.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/run.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/anonymised_tables.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/libraries.smk"
include: "workflow/rules/membership.smk"
include: "workflow/rules/validation.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/page.smk"


rule all:
    default_target: True
    input:
        settings.page,


rule experiments:
    input:
        experiment_targets(),


rule audits:
    input:
        audit_targets(),


rule claims:
    input:
        claim_targets(),


rule validate:
    input:
        table("validation", "summary"),
        table("validation", "membership"),
