"""IBM's own classes for MQ headers (`com.ibm.mq.allclient`), in a JVM that is driven from Python. They need no queue manager."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from tests.parts.java import compiled, joined, tool
from tests.parts.json_process import JsonProcess
from tests.parts.maven import jars

VERSION = "9.4.3.0"
ANSWER_SECS = 60.0


def fetch() -> list[Path]:
    return jars(f"ibm-mq-allclient-{VERSION}", f"com.ibm.mq:com.ibm.mq.allclient:{VERSION}")


class IbmHeaders:
    """`with IbmHeaders() as ibm:`"""

    def __init__(self) -> None:
        classpath = fetch()
        classes = compiled("mq", classpath)
        command = [tool("java"), "-Xshare:auto", "-Xmx128m", "-XX:TieredStopAtLevel=1"]
        self._process = JsonProcess("IBM's header classes", [*command, "-cp", joined([classes, *classpath]), "Headers"])

    def read(self, data: bytes, format_: str = "MQHRF2", encoding: int = 546, ccsid: int = 1208) -> dict[str, Any]:
        """`headers` in the order of the chain, and `body`; `error` where IBM's classes refuse."""
        question = {"do": "read", "data": data.hex(), "format": format_, "encoding": encoding, "ccsid": ccsid}
        return self._process.ask(question, ANSWER_SECS)

    def write(self, **wishes: Any) -> bytes:
        answer = self._process.ask({"do": "write", **wishes}, ANSWER_SECS)
        assert "error" not in answer, answer
        return bytes.fromhex(answer["data"])

    def __enter__(self) -> IbmHeaders:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.close()
