"""The one family of errors that a user can cause, and so deserves a sentence instead of a traceback."""


class EpsilometerError(Exception):
    """Something the user can mend; the message names the value and what would be right."""
