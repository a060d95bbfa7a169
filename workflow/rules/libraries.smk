# Each library has an environment of its own, so that it cannot change the versions that anything else runs with.
from epsilometer.libraries.registry import FITTED, lock_of


localrules:
    library_environment,  # the nodes of a cluster may have no network


rule library_environment:
    output:
        ".libraries/{library}/ready.txt",
    log:
        log_of("library_environment/{library}"),
    benchmark:
        time_of("library_environment/{library}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=500,
    params:
        code=lambda wildcards: code_hash(f"libraries/{wildcards.library}"),
        folder=subpath(output[0], parent=True),
        lock=lambda wildcards: os.path.relpath(lock_of(wildcards.library)),
    message:
        "Environment of the library {wildcards.library}"
    shell:
        "(python -m venv --clear {params.folder}"
        " && {params.folder}/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes"
        " --requirement {params.lock} && touch {output}) 2> {log}"


use rule job as library_audit with:
    input:
        ".libraries/{library}/ready.txt",
    output:
        table=table("library_audit/{library}_{part}"),
        counts=table("audit/counts/{library}_{part}"),
        seconds=seconds_of("{library}_{part}"),
    log:
        log_of("library_audit/{library}_{part}"),
    benchmark:
        time_of("library_audit/{library}_{part}")
    resources:
        mem_mb=1500,
    params:
        code=lambda wildcards: code_hash(
            "libraries/registry", f"libraries/{wildcards.library}"
        ),
        command=lambda wildcards: command(
            "library_audit",
            library=wildcards.library,
            part=wildcards.part,
            python=f".libraries/{wildcards.library}/bin/python",
            epsilons=settings.libraries.epsilons,
            trials=(
                settings.libraries.fits
                if wildcards.part == FITTED
                else settings.libraries.trials
            ),
            confidence=settings.audits.confidence,
            seed=settings.seed,
        ),
    message:
        "Audit of the {wildcards.part} of {wildcards.library}"
