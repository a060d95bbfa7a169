"""The one family of errors that a user can cause, and so deserves a sentence instead of a traceback."""


class EpsilometerError(Exception):
    """Something the user can mend; the message names the value and what would be right.

    >>> from epsilometer import EpsilometerError, Guarantee
    >>> try:
    ...     Guarantee(-1.0, "replace-one")
    ... except EpsilometerError as error:
    ...     print(error)
    epsilon is -1; it must be above 0
    """
