"""The one exception that reaches users as a single line."""


class TacitError(Exception):
    """Something the user can fix. The message is one line that says what to do; the command line exits 2 with it."""


class DamagedError(TacitError):
    """A file does not hold what was once written into it. Where there is an older one, work can go on from that."""


class DivergedError(TacitError):
    """A loss is no longer a number. The message says what to change; the training loop adds what is kept."""


class RunLostError(TacitError):
    """The folder of a run was removed or replaced while the run trained in it."""


class StoppedError(TacitError):
    """The user pressed Ctrl-C. The message says what is kept and how to go on; the command line exits 130 with it."""
