# Command lines of jobs.
from shlex import join

from epsilometer.layers import code_hash


def words(name, value):
    """An option and its values as words of a command line."""
    values = (
        [value] if isinstance(value, (str, os.PathLike, int, float)) else list(value)
    )
    return [f"--{name.replace('_', '-')}", *map(str, values)] if values else []


def command(job, /, **values):
    """The command of a job with its options; one that is None is left out."""
    return join(
        [
            "epsilometer",
            job,
            *(
                word
                for option, value in values.items()
                if value is not None
                for word in words(option, value)
            ),
        ]
    )


def files(wildcards, input, output):
    """The named inputs and outputs of a job as options."""
    named = dict(input.items()) | dict(output.items())
    return join(word for name, value in named.items() for word in words(name, value))
