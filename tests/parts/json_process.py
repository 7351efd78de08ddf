"""A process of ours that is driven by JSON, one object a line: questions on its standard input, answers on its standard output."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

END_SECS = 10.0
COMPLAINT_CHARS = 3000


class JsonProcess:
    """It ends when its input ends, so it never outlives us."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._unread = b""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def ask(self, question: Mapping[str, Any], timeout_secs: float) -> dict[str, Any]:
        """An AssertionError with what it said on standard error when no answer comes in time."""
        self.tell(question)
        return self.hear(timeout_secs)

    def tell(self, question: Mapping[str, Any]) -> None:
        self._stdin.write(json.dumps(question).encode() + b"\n")
        self._stdin.flush()

    def hear(self, timeout_secs: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout_secs
        pieces = [self._unread]
        while b"\n" not in pieces[-1]:
            if not select.select([self._stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self._process.kill()
                raise AssertionError(f"{self._name} hangs{self._complaint()}")
            piece = os.read(self._stdout.fileno(), 1 << 20)
            if not piece:
                raise AssertionError(f"{self._name} has ended{self._complaint()}")
            pieces.append(piece)
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._stdin.close()
        try:
            self._process.wait(END_SECS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_SECS)
        self._stdout.close()
        self._complaints.close()

    def _complaint(self) -> str:
        self._complaints.seek(0)
        return f"; it says:\n{self._complaints.read().decode(errors='replace')[-COMPLAINT_CHARS:]}"
