"""The one exception that reaches users as a single line."""


class TacitError(Exception):
    """Something the user can fix. The message is one line that says what to do; the command line prints it and exits 2."""


class DamagedError(TacitError):
    """A file no longer holds what was written to it. Work can continue from an older file if there is one."""


class DivergedError(TacitError):
    """A loss is no longer a finite number. The message says what to change; the training loop adds what was kept."""


class RunLostError(TacitError):
    """The run's folder was removed or replaced while the run was training in it."""


class StoppedError(TacitError):
    """The user pressed Ctrl-C. The message says what was kept and how to continue; the command line prints it and exits 130."""
