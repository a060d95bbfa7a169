VALIDATED = [family for family in FAMILIES if correct(family)]


rule validation:
    output:
        table=table("validation", "{family}"),
        repeated=f"{RESULTS}/validation/repeated/{{family}}.csv",
    log:
        log_of("validation", "{family}"),
    benchmark:
        time_of("validation", "{family}")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        code=code_hash("audits"),
        epsilon=settings.validation.epsilon,
        repetitions=settings.validation.repetitions,
        trials=settings.validation.trials,
        black_box_trials=settings.validation.black_box_trials,
        seed=settings.seed,
    message:
        "Validation of the auditors on the family {wildcards.family}"
    shell:
        "epsilometer validation {wildcards.family} --epsilon {params.epsilon} --repetitions {params.repetitions}"
        " --trials {params.trials} --black-box-trials {params.black_box_trials} --seed {params.seed}"
        " --repeated {output.repeated} --output {output.table} 2> {log}"


rule validation_summary:
    input:
        tables=[table("validation", family) for family in VALIDATED],
        repeated=[f"{RESULTS}/validation/repeated/{family}.csv" for family in VALIDATED],
    output:
        table("validation", "summary"),
    log:
        log_of("validation", "summary"),
    benchmark:
        time_of("validation", "summary")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("audits"),
        confidence=settings.audits.confidence,
    message:
        "How often bounds and whole reports are wrong"
    shell:
        "epsilometer validation_summary {input.tables} --repeated {input.repeated}"
        " --confidence {params.confidence} --output {output} 2> {log}"
