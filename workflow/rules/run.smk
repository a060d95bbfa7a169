# What a run is: its commit, its files of settings, and what it did not finish.
import json
import subprocess


def commit():
    """The commit of the checkout, marked if files differ from it."""
    describe = ["describe", "--always", "--dirty", "--abbrev=12"]
    asked = subprocess.run(
        ["git", "-C", workflow.basedir, *describe], capture_output=True, text=True
    )
    return asked.stdout.strip() or "unknown"


def config_files():
    """The files of settings, in the order in which they count, from where Snakemake runs."""
    given = map(os.path.relpath, workflow.overwrite_configfiles)
    return list(dict.fromkeys(["config/config.yaml", *given]))


def config_overrides():
    """The settings of the command line, as they are written there."""
    given = workflow.config_settings.config
    return [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in given.items()
    ]


def unfinished_files():
    """Each file that a failed run did not make, with its job's log, and whether that job itself failed."""
    return [
        {
            "file": str(file),
            "log": " ".join(job.log),
            "failed": job in workflow.scheduler.failed,
        }
        for job in workflow.dag.needrun_jobs()
        for file in job.output
    ]
