use rule job as audit_family with:
    input:
        promises_of,
    output:
        table=table("audit/{family}"),
        counts=table("audit/counts/{family}"),
        witnesses=directory(f"{RESULTS}/witnesses/{{family}}"),
        seconds=seconds_of("{family}"),
    log:
        log_of("audit/{family}"),
    benchmark:
        time_of("audit/{family}")
    resources:
        mem_mb=1500,
    params:
        code=code_hash("evidence"),
        command=lambda wildcards: command(
            "audit_family",
            family=wildcards.family,
            epsilons=[*settings.audits.epsilons, *promises_of(wildcards)],
            **BUDGET,
        ),
    message:
        "Audit of the family {wildcards.family}"


use rule job as privacy_loss with:
    input:
        tables=CATALOGUE,
    output:
        table=table("privacy_loss/catalogue"),
    log:
        log_of("privacy_loss/catalogue"),
    benchmark:
        time_of("privacy_loss/catalogue")
    params:
        code=code_hash("evidence"),
        command=command("privacy_loss", epsilon=middle_epsilon(), seed=settings.seed),
    message:
        "Privacy loss of every mechanism"


use rule job as verdicts with:
    input:
        tables=lambda wildcards: [
            table(f"{AUDITED[wildcards.report][0]}/{name}")
            for name in AUDITED[wildcards.report][1]
        ],
        counts=lambda wildcards: [
            table(f"audit/counts/{name}") for name in AUDITED[wildcards.report][1]
        ],
    output:
        table=reported_table(table("verdicts/{report}"), "Audits", "{report}"),
    log:
        log_of("verdicts/{report}"),
    benchmark:
        time_of("verdicts/{report}")
    wildcard_constraints:
        report="|".join(AUDITED),
    resources:
        mem_mb=500,
    params:
        code=code_hash("evidence"),
        command=command("verdicts", confidence=settings.audits.confidence),
        caption="Every claimed epsilon: what is spent, the bound of each auditor, and the verdict.",
    message:
        "Verdicts on the {wildcards.report}"


use rule job as mechanism_figures with:
    input:
        tables=CATALOGUE,
        verdicts=table("verdicts/catalogue"),
        losses=rules.privacy_loss.output.table,
    output:
        reported_figure("mechanisms/overview", "Audits", "All mechanisms", "all"),
        *(
            reported_figure(f"mechanisms/{entry.name}", "Audits", family, entry.name)
            for family, entries in families().items()
            for entry in entries
        ),
    log:
        log_of("mechanism_figures/catalogue"),
    benchmark:
        time_of("mechanism_figures/catalogue")
    params:
        code=code_hash("figures/mechanisms"),
        command=command("mechanism_figures", folder=f"{RESULTS}/figures/mechanisms"),
    message:
        "Figures of every mechanism"
