# What all jobs share: a rule runs the command of its own name, with each of its named inputs and outputs as an option.
# Never run: other rules `use` it.
rule job:
    output:
        touch(f"{RESULTS}/job"),
    log:
        log_of("job"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        files=files,
        command="epsilometer --version",
    shell:
        "{params.command} {params.files} 2> {log}"
