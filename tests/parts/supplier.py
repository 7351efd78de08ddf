"""A CORBA supplier in a process of its own, which knows nothing of Isthmus: compiled stubs, plain omniORB (supplier_program.py)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.parts.json_process import JsonProcess

PROGRAM = Path(__file__).with_name("supplier_program.py")
CONNECT_SECS = 30.0
PUSH_SECS = 90.0


class Supplier:
    """Connected to a channel from the start; a context manager."""

    def __init__(self, factory_ior: Path, channel: int = 0) -> None:
        # omniidl, which compiles the IDL for it, stands beside the Python that runs us.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        command = [sys.executable, str(PROGRAM), str(factory_ior), str(channel)]
        self._process = JsonProcess("the supplier", command, {"PATH": path})
        try:
            self._process.hear(CONNECT_SECS)
        except BaseException:
            self._process.close()
            raise

    def push(self, kind: str, *, first: int = 0, count: int = 1) -> int:
        """Push events of a kind that supplier_program.py makes; returns how often the channel refused one for the moment."""
        self.begin(kind, first=first, count=count)
        return self.end()

    def begin(self, kind: str, *, first: int = 0, count: int = 1) -> None:
        """As push, without waiting; end() waits."""
        self._process.tell({"push": kind, "first": first, "count": count})

    def end(self) -> int:
        refused: int = self._process.hear(PUSH_SECS)["refused"]
        return refused

    def close(self) -> None:
        self._process.close()

    def __enter__(self) -> Supplier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
