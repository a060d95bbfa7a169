# How often the auditors and the attacks err on correct mechanisms: `make validate`; not part of `make`.
from epsilometer.mechanisms.catalogue import correct

VALIDATED = [family for family in FAMILIES if correct(family)]


use rule job as validation with:
    output:
        table=table("validation/{family}"),
        repeated=table("validation/repeated/{family}"),
    log:
        log_of("validation/{family}"),
    benchmark:
        time_of("validation/{family}")
    resources:
        mem_mb=1500,
    params:
        code=code_hash("evidence"),
        command=lambda wildcards: command(
            "validation",
            family=wildcards.family,
            epsilon=settings.validation.epsilon,
            repetitions=settings.validation.repetitions,
            trials=settings.validation.trials,
            black_box_trials=settings.validation.black_box_trials,
            confidence=settings.audits.confidence,
            seed=settings.seed,
        ),
    message:
        "Validation of the auditors on the family {wildcards.family}"


use rule job as validation_summary with:
    input:
        tables=[table(f"validation/{family}") for family in VALIDATED],
        repeated=[table(f"validation/repeated/{family}") for family in VALIDATED],
    output:
        table=table("validation/summary"),
    log:
        log_of("validation/summary"),
    benchmark:
        time_of("validation/summary")
    params:
        code=code_hash("evidence"),
        command=command("validation_summary", confidence=settings.audits.confidence),
    message:
        "How often bounds and whole reports are wrong"


use rule job as membership_validation with:
    output:
        table=table("validation/membership"),
    log:
        log_of("validation/membership"),
    benchmark:
        time_of("validation/membership")
    params:
        code=code_hash("membership"),
        command=command(
            "membership_validation",
            epsilon=settings.validation.epsilon,
            repetitions=settings.validation.repetitions,
            trials=settings.validation.membership_trials,
            confidence=settings.audits.confidence,
            seed=settings.seed,
        ),
    message:
        "How often attacks on correct mechanisms leave the allowed region"
