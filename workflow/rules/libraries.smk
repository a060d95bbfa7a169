# Each library has an environment of its own, so that it cannot change the versions that anything else runs with.
localrules:
    library_environment,  # the nodes of a cluster may have no network


rule library_environment:
    input:
        "workflow/envs/{library}.lock",
    output:
        ".libraries/{library}/ready.txt",
    log:
        log_of("library_environment", "{library}"),
    benchmark:
        time_of("library_environment", "{library}")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        folder=subpath(output[0], parent=True),
    message:
        "Environment of the library {wildcards.library}"
    shell:
        "(python -m venv --clear {params.folder}"
        " && {params.folder}/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement {input}"
        " && touch {output}) 2> {log}"


rule library_audit:
    input:
        ".libraries/{library}/ready.txt",
    output:
        table=table("library_audit", "{library}_{part}"),
        seconds=seconds_of("{library}_{part}"),
    log:
        log_of("library_audit", "{library}_{part}"),
    benchmark:
        time_of("library_audit", "{library}_{part}")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        code=code_hash("libraries"),
        python=subpath(input[0], parent=True),
        epsilons=settings.libraries.epsilons,
        trials=lambda wildcards: (
            settings.libraries.fits
            if wildcards.part == "models"
            else settings.libraries.trials
        ),
        seed=settings.seed,
    message:
        "Audit of the {wildcards.part} of {wildcards.library}"
    shell:
        "epsilometer library_audit {wildcards.library} {wildcards.part} --python {params.python}/bin/python"
        " --epsilons {params.epsilons} --trials {params.trials} --seed {params.seed}"
        " --seconds {output.seconds} --output {output.table} 2> {log}"


use rule verdicts as library_verdicts with:
    input:
        tables=[table("library_audit", part) for part in library_parts()],
        seconds=[seconds_of(part) for part in library_parts()],
    output:
        captioned(
            table("verdicts", "libraries"),
            "Audits",
            "Third-party libraries",
            "library_verdicts",
            mechanism="all",
        ),
    log:
        log_of("library_verdicts", "libraries"),
    benchmark:
        time_of("library_verdicts", "libraries")
    message:
        "Verdicts on third-party libraries"
