"""The exit statuses of every command, in one place; docs/commands.md explains them (a test compares the two)."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Numbers from 64 on are those of sysexits.h, which supervisors and scripts know."""

    OK = 0
    FAILED = 1  # the command ran, and what it was asked to do or to check did not succeed
    USAGE = 2  # the command line itself is wrong
    UNAVAILABLE = 69  # a part that the command needs is not there: a peer, or an optional library
    INTERNAL = 70  # a defect of Isthmus
    DEPOSED = 75  # another gateway leads now; start again to stand by
    CONFIGURATION = 78  # the configuration has errors
    INTERRUPTED = 130  # Ctrl-C
