"""The last line of defence of the command line: whatever happens, a person sees a sentence and a script sees a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from gateway.cli.exit_codes import ExitCode
from mappings.errors import IsthmusError

WIRE_LIBRARIES = ("omniORB", "stomp", "starlette", "uvicorn", "prometheus_client", "structlog", "pyarrow", "orjson")
"""Top-level modules of the optional dependencies: missing ones mean an installation without the `run` extra."""


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
    except BaseException as defect:  # noqa: BLE001  the guard exists to catch what nobody foresaw
        return _defect(defect)
    return ExitCode.OK


def _status_for(error: IsthmusError) -> int:
    from adapters.base import StopError  # not at the top: every start of every command would pay for it

    if error.code.startswith("CFG-"):
        return ExitCode.CONFIGURATION
    return ExitCode.UNAVAILABLE if isinstance(error, StopError) else ExitCode.FAILED


def _status_of(end: SystemExit) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        _forget_stdout()
    if end.code is None:
        return ExitCode.OK
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return ExitCode.FAILED


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
    if os.environ.get("ISTHMUS_DEBUG") == "1":
        import traceback

        traceback.print_exception(defect)
    print(
        f"isthmus: ISTHMUS-BUG: {type(defect).__name__}: this is a defect of Isthmus, not of your input "
        "(please report it with the command line and what ISTHMUS_DEBUG=1 prints)",
        file=sys.stderr,
    )
    return ExitCode.INTERNAL
