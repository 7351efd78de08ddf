"""Whatever the system does to a command, a person sees a sentence and a script sees a status."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.base import ReconnectError, StopError
from gateway.cli import run
from gateway.cli.exit_codes import ExitCode
from gateway.cli.guard import guarded
from mappings.errors import IsthmusError

ISTHMUS = f"{sys.executable} -m gateway.cli"


def shell(command: str) -> tuple[int, str]:
    """The status and standard error of a command line as a shell runs it."""
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["--help", "schema", "lint --help"])
def test_a_full_disk_under_standard_output_is_a_sentence(command: str) -> None:
    status, err = shell(f"{ISTHMUS} {command} > /dev/full")
    assert (status, len(err.splitlines())) == (ExitCode.FAILED, 1)
    assert err.startswith("isthmus: CLI-SYSTEM: the operating system refuses: No space left on device")


@pytest.mark.parametrize("command", ["schema >&-", "--version >&- 2>&-", "translate <&-", "filter --etcl 1==1 <&- >&-"])
def test_standard_streams_may_be_closed(command: str) -> None:
    assert shell(f"{ISTHMUS} {command} </dev/null") == (ExitCode.OK, "")


def test_nothing_opened_later_gets_the_number_of_a_closed_stream() -> None:
    program = (
        "import os, gateway.cli as cli\n"
        "cli.run = lambda _: os.open('/dev/null', os.O_RDONLY) <= 2\n"  # what a command would open first
        "cli.main()\n"
    )
    status, _ = shell(f'{sys.executable} -c "{program}" <&- >&- 2>&-')
    assert status == 0


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ReconnectError("COR-UNREACHABLE", "gone"), ExitCode.UNAVAILABLE),
        (StopError("LNK-RUN-DIR", "no right"), ExitCode.UNAVAILABLE),
        (IsthmusError("LNK-NO-GATEWAY", "none"), ExitCode.UNAVAILABLE),
        (IsthmusError("LNK-NO-ANSWER", "none"), ExitCode.UNAVAILABLE),
        (IsthmusError("CAP-LIBRARY", "none"), ExitCode.UNAVAILABLE),
        (IsthmusError("DLQ-NO-LETTER", "none"), ExitCode.FAILED),
        (PermissionError(errno.EACCES, "Permission denied", "run/x"), ExitCode.FAILED),
        (OSError(errno.EBADF, "Bad file descriptor"), ExitCode.INTERNAL),
        (ZeroDivisionError(), ExitCode.INTERNAL),
    ],
    ids=repr,
)
def test_every_error_has_the_status_that_the_page_gives_it(
    error: Exception, status: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    def action() -> None:
        raise error

    assert guarded(action) == status
    err = capsys.readouterr().err
    assert err.startswith("isthmus: ")
    assert len(err.splitlines()) == 1


def test_the_place_that_the_system_refused_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    action: Callable[[], object] = lambda: Path("/proc/nowhere/x").write_text("")  # noqa: E731
    assert guarded(action) == ExitCode.FAILED
    assert "No such file or directory at /proc/nowhere/x" in capsys.readouterr().err


def test_a_file_that_may_not_be_read_is_a_finding_like_any_other(tmp_path: Path) -> None:
    """Not a usage error of the command line, which would keep the findings about the other files back."""
    secret = tmp_path / "secret.yaml"
    secret.touch(mode=0o000)
    as_anybody = "setpriv --bounding-set -all --" if os.geteuid() == 0 else ""  # root may read everything
    assert shell(f"{as_anybody} {ISTHMUS} lint {secret}")[0] == ExitCode.CONFIGURATION


def test_spark_archive_does_not_overwrite_what_is_no_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "isthmus.yaml"
    config.write_text("precious")
    assert run(["spark", "archive", str(config)]) == ExitCode.FAILED
    assert config.read_text() == "precious"
    assert "CLI-EXISTS" in capsys.readouterr().err
