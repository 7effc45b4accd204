"""The one exception that reaches users as a single line."""


class TacitError(Exception):
    """Something the user can fix. The message is one line that says what to do; the command line exits 2 with it."""
