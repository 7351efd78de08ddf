"""The ORB's process, and a system that cannot or will not start it."""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any

import pytest

from adapters.cosnotification import orb as orb_module
from adapters.cosnotification.orb import Orb, Worker

PATIENCE_SECS = 30.0


def test_a_system_without_processes_to_give_does_not_end_the_supervision(monkeypatch: pytest.MonkeyPatch) -> None:
    orb = Orb()
    orb.start()
    try:
        refusals = 2
        real = subprocess.Popen

        def scarce(*arguments: Any, **options: Any) -> Any:
            nonlocal refusals
            if refusals:
                refusals -= 1
                raise BlockingIOError("Resource temporarily unavailable")
            return real(*arguments, **options)

        monkeypatch.setattr(orb_module.subprocess, "Popen", scarce)
        first = orb._worker
        assert first is not None
        first.process.kill()
        deadline = time.monotonic() + PATIENCE_SECS
        while orb._worker in (first, None):
            assert time.monotonic() < deadline, "no other worker came"
            time.sleep(0.02)
        assert refusals == 0
    finally:
        orb.stop()


def test_a_worker_that_cannot_be_started_leaves_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again for as long as it takes."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("Cannot allocate memory")

    monkeypatch.setattr(orb_module.subprocess, "Popen", refuse)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(5):
        with pytest.raises(OSError, match="allocate"):
            Worker()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_an_installation_without_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orb_module, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError) as missing:
        Orb().start()
    assert missing.value.name == "omniORB", "which the command line turns into a sentence"
