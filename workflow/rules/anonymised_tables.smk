rule anonymised_tables:
    output:
        table=table("anonymised_tables", "worked_example"),
        curves=table("anonymised_tables", "curves"),
    log:
        log_of("anonymised_tables", "worked_example"),
    benchmark:
        time_of("anonymised_tables", "worked_example")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        epsilons=settings.anonymised_tables.epsilons,
        trials=settings.anonymised_tables.trials,
        seed=settings.seed,
    message:
        "Attacks on anonymised tables, with and without noise"
    shell:
        "epsilometer anonymised_tables --epsilons {params.epsilons} --trials {params.trials} --seed {params.seed}"
        " --curves {output.curves} --output {output.table} 2> {log}"


rule anonymised_figure:
    input:
        table=table("anonymised_tables", "worked_example"),
        curves=table("anonymised_tables", "curves"),
    output:
        captioned(
            f"{RESULTS}/figures/anonymised_tables.svg",
            "Attacks",
            "Anonymised tables",
            "anonymised_tables",
            figure="success of the attacks",
        ),
    log:
        log_of("anonymised_figure", "worked_example"),
    benchmark:
        time_of("anonymised_figure", "worked_example")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("figures"),
    message:
        "Figure of the attacks on anonymised tables"
    shell:
        "epsilometer anonymised_figure {input.table} --curves {input.curves} --output {output} 2> {log}"
