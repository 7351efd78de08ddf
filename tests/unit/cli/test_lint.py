"""`isthmus lint`: every finding on a line of its own, and an exit status that scripts can rely on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli import run
from gateway.cli.exit_codes import ExitCode

LINE = re.compile(
    r"(?P<file>.+):(?P<line>[0-9]+):(?P<column>[0-9]+): (?:error|warning|note) [A-Z]+(?:-[A-Z0-9]+)+: .+ \(.+\)"
)

BROKEN = """\
name: x
orb: {listen: "127.0.0.1:99999"}
endpoints:
  broker: {type: stomp, hosts: ["a:1"], password: "${env:ISTHMUS_TEST_NOT_SET}", hots: []}
channels:
  here: {endpoint: brokr, destination: "queue://x"}
  there: {endpoint: broker, destination: "queue://y"}
links:
  one: {from: there, to: there}
  two: {from: there, to: there}
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.yaml"
    path.write_text("name: x\norb: {}\nservices: {}\n")
    return path


def test_a_sound_file_is_silent(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(sound)]) == ExitCode.OK
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "1 file: nothing to say\n"


def test_every_finding_is_a_line(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(broken)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    lines = output.out.splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    assert {match["file"] for match in found if match} == {str(broken)}
    codes = [line.split(": ")[1].split(" ")[1] for line in lines]
    assert codes == [
        "CFG-ADDRESS",
        "CFG-SECRET-MISSING",
        "CFG-UNKNOWN-KEY",
        "CFG-UNKNOWN-ENDPOINT",
        "DOM-CYCLE",
        "CFG-DUPLICATE-LINK",
    ]
    assert output.err == "1 file: 6 errors\n"


def test_json_holds_the_same(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["lint", str(broken)])
    plain = capsys.readouterr().out.splitlines()
    assert run(["lint", "--json", str(broken)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    assert output.err == ""
    forms = [json.loads(line) for line in output.out.splitlines()]
    assert plain == ["{file}:{line}:{column}: {severity} {code}: {message} ({hint})".format(**form) for form in forms]


def test_several_files_are_checked_and_a_missing_one_is_a_finding(
    broken: Path, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.yaml"
    assert run(["lint", str(sound), str(missing), str(broken), str(sound)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    assert output.out.startswith(f"{missing}:1:1: error CFG-FILE: ")
    assert str(broken) in output.out
    assert output.err.startswith("3 files: ")


def test_warnings_alone_are_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "warned.yaml"
    path.write_text("name: x\nendpoints: {m: {type: memory}}\n")
    assert run(["lint", str(path)]) == ExitCode.OK
    output = capsys.readouterr()
    assert "warning CFG-UNUSED-ENDPOINT" in output.out
    assert output.err == "1 file: 1 warning\n"


def test_without_secrets_the_rest_is_checked(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--without-secrets", str(broken)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr().out
    assert "CFG-SECRET-MISSING" not in output
    assert "CFG-UNKNOWN-KEY" in output


def test_no_file_at_all_is_a_mistake_of_the_command_line() -> None:
    assert run(["lint"]) == ExitCode.USAGE


NOT_CONFIGURATIONS = {
    "empty": b"",
    "ten megabytes": b"# comment\n" * 1_100_000,
    "binary": bytes(range(256)) * 10,
    "not YAML": b"name: [\n",
    "deep": b"[" * 100_000,
    "bomb": b"a: &a [x]\nb: [*a, *a]\n",
    "text": b"Dear Sir or Madam,\n",
}


@pytest.mark.parametrize("content", NOT_CONFIGURATIONS.values(), ids=NOT_CONFIGURATIONS.keys())
def test_whatever_the_file_is_there_are_findings_and_no_traceback(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert run(["lint", str(path)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    assert all(LINE.fullmatch(line) for line in output.out.splitlines())
    assert "Traceback" not in output.out + output.err


def test_a_folder_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(tmp_path)]) == ExitCode.CONFIGURATION
    assert "CFG-FILE" in capsys.readouterr().out


def test_it_needs_no_wire_library(sound: Path) -> None:
    """Run as a process of its own that cannot import them: `lint` installs without the extras."""
    program = (
        "import sys\n"
        "for name in ('omniORB', 'stomp', 'starlette', 'uvicorn', 'prometheus_client', 'jpype'): sys.modules[name] = None\n"
        f"from gateway.cli import run; sys.exit(run(['lint', {str(sound)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
