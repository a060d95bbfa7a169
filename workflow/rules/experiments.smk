rule tuning:
    input:
        table("dataset"),
    output:
        table("tuning"),
    log:
        log_of("tuning"),
    benchmark:
        time_of("tuning")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        lambdas=settings.lambdas,
    message:
        "Tuning of lambda on {wildcards.dataset}"
    shell:
        "epsilometer tuning {input} --lambdas {params.lambdas} --output {output} 2> {log}"


rule epsilon_curve:
    input:
        dataset=table("dataset"),
        lam=lambda_source,
    output:
        table("epsilon_curve"),
    log:
        log_of("epsilon_curve"),
    benchmark:
        time_of("epsilon_curve")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        lam=lam,
        epsilons=lambda wildcards: section(wildcards).epsilons.values(),
        restarts=settings.restarts,
        seed=settings.seed,
    message:
        "Epsilon curve on {wildcards.dataset}"
    shell:
        "epsilometer epsilon_curve {input.dataset} --lam {params.lam} --epsilons {params.epsilons}"
        " --restarts {params.restarts} --seed {params.seed} --output {output} 2> {log}"


rule recovered_epsilon:
    input:
        [table("epsilon_curve", dataset) for dataset in PAPER],
    output:
        table("recovered_epsilon", "nips08"),
    log:
        log_of("recovered_epsilon", "nips08"),
    benchmark:
        time_of("recovered_epsilon", "nips08")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        seed=settings.seed,
    message:
        "The epsilon behind Figure 1 of nips08"
    shell:
        "epsilometer recovered_epsilon {input} --seed {params.seed} --output {output} 2> {log}"


rule error_table:
    input:
        dataset=table("dataset"),
        lam=lambda_source,
        epsilon=epsilon_source,
    output:
        table("error_table"),
    log:
        log_of("error_table"),
    benchmark:
        time_of("error_table")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        lam=lam,
        epsilon=epsilon,
        restarts=settings.restarts,
        seed=settings.seed,
    message:
        "Test errors on {wildcards.dataset}"
    shell:
        "epsilometer error_table {input.dataset} --epsilon {params.epsilon} --lam {params.lam}"
        " --restarts {params.restarts} --seed {params.seed} --output {output} 2> {log}"


rule learning_curve:
    input:
        dataset=table("dataset"),
        lam=lambda_source,
        epsilon=epsilon_source,
    output:
        table("learning_curve"),
    log:
        log_of("learning_curve"),
    benchmark:
        time_of("learning_curve")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
        lam=lam,
        epsilon=epsilon,
        increment=lambda wildcards: section(wildcards).increment,
        restarts=settings.restarts,
        seed=settings.seed,
    message:
        "Learning curve on {wildcards.dataset}"
    shell:
        "epsilometer learning_curve {input.dataset} --epsilon {params.epsilon} --lam {params.lam}"
        " --increment {params.increment} --restarts {params.restarts} --seed {params.seed} --output {output} 2> {log}"


rule error_summary:
    input:
        lambda wildcards: [
            table("error_table", name)
            for name in (PAPER if wildcards.paper == "nips08" else EXTENSION)
        ],
    output:
        captioned(
            table("error_summary", "{paper}"),
            "Experiments",
            "{paper}",
            "error_summary",
            table="mean test errors",
        ),
    log:
        log_of("error_summary", "{paper}"),
    benchmark:
        time_of("error_summary", "{paper}")
    wildcard_constraints:
        paper="nips08|extension",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("experiments"),
    message:
        "Mean test errors for {wildcards.paper}"
    shell:
        "epsilometer error_summary {input} --output {output} 2> {log}"
