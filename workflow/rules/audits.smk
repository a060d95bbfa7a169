rule audit:
    input:
        promises=promise_source,
    output:
        table=table("audit", "{family}"),
        witnesses=directory(f"{RESULTS}/witnesses/{{family}}"),
        seconds=seconds_of("{family}"),
    log:
        log_of("audit", "{family}"),
    benchmark:
        time_of("audit", "{family}")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        code=code_hash("audits"),
        epsilons=settings.audits.epsilons,
        trials=settings.audits.trials,
        seed=settings.seed,
    message:
        "Audit of the family {wildcards.family}"
    shell:
        "epsilometer audit {wildcards.family} --epsilons {params.epsilons} {input.promises}"
        " --trials {params.trials} --seed {params.seed}"
        " --witnesses {output.witnesses} --seconds {output.seconds} --output {output.table} 2> {log}"


rule privacy_loss:
    input:
        [table("audit", family) for family in FAMILIES],
    output:
        table("privacy_loss", "catalogue"),
    log:
        log_of("privacy_loss", "catalogue"),
    benchmark:
        time_of("privacy_loss", "catalogue")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("audits"),
        epsilon=middle_epsilon(),
        seed=settings.seed,
    message:
        "Privacy loss of every mechanism"
    shell:
        "epsilometer privacy_loss {input} --epsilon {params.epsilon} --seed {params.seed} --output {output} 2> {log}"


rule boundary:
    output:
        table("boundary", "nips08"),
    log:
        log_of("boundary", "nips08"),
    benchmark:
        time_of("boundary", "nips08")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("pairs"),
        epsilons=settings.reproduction.epsilons.values(),
        n_lams=[f"{10 ** (k / 8):.4g}" for k in range(-8, 33)],
    message:
        "Where Algorithm 2 of nips08 keeps its promise"
    shell:
        "epsilometer boundary --epsilons {params.epsilons} --n-lams {params.n_lams} --output {output} 2> {log}"


rule verdicts:
    input:
        tables=[table("audit", family) for family in FAMILIES],
        seconds=[seconds_of(family) for family in FAMILIES],
    output:
        captioned(
            table("verdicts", "catalogue"),
            "Audits",
            "All mechanisms",
            "verdicts",
            mechanism="all",
        ),
    log:
        log_of("verdicts", "catalogue"),
    benchmark:
        time_of("verdicts", "catalogue")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("audits"),
        confidence=settings.audits.confidence,
    message:
        "Verdicts on every mechanism"
    shell:
        "epsilometer verdicts {input.tables} --seconds {input.seconds} --confidence {params.confidence}"
        " --output {output} 2> {log}"
