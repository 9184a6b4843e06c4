"""Everything that can go wrong, each with the exit code the command line ends with.

Every message is one sentence a user can act on. Nothing else may leave the
command line as a traceback.
"""

from __future__ import annotations

EXIT_NOTHING_FOUND = 0
EXIT_BACKDOORED = 1
EXIT_USAGE = 2
EXIT_NOT_CLEARED = 3
EXIT_REFUSED = 4
EXIT_INTERNAL = 5
EXIT_INTERRUPTED = 130


class UnhorseError(Exception):
    """Base of all errors unhorse raises on purpose."""

    exit_code = EXIT_INTERNAL


class UsageError(UnhorseError):
    """A wrong option, path, sample file, label or output place."""

    exit_code = EXIT_USAGE


class ModelRefused(UnhorseError):
    """The model is not one unhorse can load without risk, or cannot scan at all."""

    exit_code = EXIT_REFUSED


class NotCleared(UnhorseError):
    """A scan could not decide, and what was asked for needs a decision."""

    exit_code = EXIT_NOT_CLEARED


class OutOfMemory(UnhorseError):
    """Even the smallest chunk of work does not fit into memory."""

    exit_code = EXIT_NOT_CLEARED
