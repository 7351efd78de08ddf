"""The last line of defence of the command line: whatever happens, a person sees a sentence and a script sees a status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from gateway.cli.exit_codes import ExitCode
from mappings.errors import IsthmusError

WIRE_LIBRARIES = ("omniORB", "stomp", "starlette", "uvicorn", "prometheus_client", "structlog", "pyarrow", "orjson")
"""Top-level modules of the optional dependencies: missing ones mean an installation without the `run` extra."""

BUG = "ISTHMUS-BUG"
SYSTEM = "CLI-SYSTEM"

NOT_THERE = ("LNK-NO-ANSWER", "LNK-NO-GATEWAY", "CAP-LIBRARY")
"""Codes of errors that say that a part is not there, beside all that adapters raise about peers."""

MISUSE = (errno.EBADF, errno.EFAULT, errno.EINVAL, errno.ENOTSOCK)
"""What the system answers to a program that is wrong, not to a user who has no room or no right."""


def guarded(action: Callable[[], object]) -> int:
    """Run the action and give the exit status; never raises.

    An unexpected exception is a defect of ours: one line, and the traceback only with ISTHMUS_DEBUG=1, because a message of
    Python's may quote values that nobody should see.
    """
    try:
        action()
        sys.stdout.flush()
    except SystemExit as end:
        return _status_of(end)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return ExitCode.FAILED
    except ModuleNotFoundError as missing:
        return _missing_module(missing)
    except IsthmusError as error:
        print(f"isthmus: {error}", file=sys.stderr)
        return _status_for(error)
    except OSError as trouble:
        return _refused(trouble)
    except BaseException as defect:  # noqa: BLE001  the guard exists to catch what nobody foresaw
        return _defect(defect)
    return ExitCode.OK


def _status_for(error: IsthmusError) -> int:
    from adapters.base import ReconnectError, StopError  # not at the top: every start of every command would pay for it

    if error.code.startswith("CFG-"):
        return ExitCode.CONFIGURATION
    missing = isinstance(error, (ReconnectError, StopError)) or error.code in NOT_THERE
    return ExitCode.UNAVAILABLE if missing else ExitCode.FAILED


def _refused(trouble: OSError) -> int:
    """The system said no: the disk is full, a right is missing. Nothing that we could have known before, and no defect."""
    if trouble.errno is None or trouble.errno in MISUSE:
        return _defect(trouble)
    _debug(trouble)
    _forget_stdout()  # what waits there cannot be written either, and the interpreter would say so once more at the end
    place = f" at {trouble.filename}" if isinstance(trouble.filename, str) else ""
    print(
        f"isthmus: {SYSTEM}: the operating system refuses: {trouble.strerror}{place} "
        "(see to the rights there, and to the room on the disk)",
        file=sys.stderr,
    )
    return ExitCode.FAILED


def _status_of(end: SystemExit) -> int:
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
    status = ExitCode.OK if end.code is None else end.code if isinstance(end.code, int) else ExitCode.FAILED
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
    except OSError as trouble:
        return _refused(trouble)
    return status


def _forget_stdout() -> None:
    """The reader is gone: keep the interpreter from complaining about it once more when it flushes at the end."""
    with suppress(OSError, ValueError):  # where standard output is no file, nobody flushes it at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _missing_module(missing: ModuleNotFoundError) -> int:
    name = missing.name or ""
    if name.partition(".")[0] in WIRE_LIBRARIES:
        print(
            f"isthmus: this command needs {name}, which is not installed (install Isthmus with its `run` extra)",
            file=sys.stderr,
        )
        return ExitCode.UNAVAILABLE
    if name.startswith("gateway.cli."):
        print("isthmus: this command is not part of this installation", file=sys.stderr)
        return ExitCode.UNAVAILABLE
    return _defect(missing)


def _defect(defect: BaseException) -> int:
    _debug(defect)
    print(
        f"isthmus: {BUG}: {type(defect).__name__}: this is a defect of Isthmus, not of your input "
        "(please report it with the command line and what ISTHMUS_DEBUG=1 prints)",
        file=sys.stderr,
    )
    return ExitCode.INTERNAL


def _debug(error: BaseException) -> None:
    if os.environ.get("ISTHMUS_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
