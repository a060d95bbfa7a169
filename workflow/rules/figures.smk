# One job draws all figures of a paper: importing the plotting libraries costs more than a figure.
rule figures_nips08:
    input:
        [
            table(name, dataset)
            for name in ("tuning", "epsilon_curve", "learning_curve")
            for dataset in PAPER
        ],
        table("error_summary", "nips08"),
        table("recovered_epsilon", "nips08"),
        table("boundary", "nips08"),
    output:
        captioned_figures("nips08"),
    log:
        log_of("figures", "nips08"),
    benchmark:
        time_of("figures", "nips08")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("figures"),
        results=RESULTS,
        datasets=PAPER,
        folder=subpath(output[0], parent=True),
    message:
        "Figures of nips08"
    shell:
        "epsilometer figures nips08 --results {params.results} --datasets {params.datasets} --output {params.folder} 2> {log}"


rule figures_extension:
    input:
        [
            table(name, dataset)
            for name in ("tuning", "epsilon_curve", "learning_curve")
            for dataset in EXTENSION
        ],
        table("error_summary", "extension"),
    output:
        captioned_figures("extension"),
    log:
        log_of("figures", "extension"),
    benchmark:
        time_of("figures", "extension")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("figures"),
        results=RESULTS,
        datasets=EXTENSION,
        folder=subpath(output[0], parent=True),
    message:
        "Figures of the same protocol on other data"
    shell:
        "epsilometer figures extension --results {params.results} --datasets {params.datasets} --output {params.folder}"
        " 2> {log}"


rule mechanism_figures:
    input:
        tables=[table("audit", family) for family in FAMILIES],
        verdicts=table("verdicts", "catalogue"),
        losses=table("privacy_loss", "catalogue"),
    output:
        captioned(
            mechanism_figure("overview"),
            "Audits",
            "All mechanisms",
            "overview",
            mechanism="all",
        ),
        *(
            captioned(
                mechanism_figure(name), "Audits", family, "mechanism", mechanism=name
            )
            for family, name in [
                (family, entry.name)
                for family, entries in families().items()
                for entry in entries
            ]
        ),
    log:
        log_of("mechanism_figures", "catalogue"),
    benchmark:
        time_of("mechanism_figures", "catalogue")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("figures"),
        folder=subpath(output[0], parent=True),
    message:
        "Figures of every mechanism"
    shell:
        "epsilometer mechanism_figures {input.tables} --verdicts {input.verdicts} --losses {input.losses}"
        " --output {params.folder} 2> {log}"
