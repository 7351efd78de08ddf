"""A client of a Notification Service on JacORB's library: a Java program of ours, compiled against the jars from Maven Central."""

from __future__ import annotations

from typing import Any, Final, Self

from tests.parts.jacorb import fetch
from tests.parts.java import compiled, joined, tool
from tests.parts.json_process import JsonProcess

ANSWER_SECS: Final = 90.0


class JacOrbClient:
    """`with JacOrbClient(factory_ior) as client:` a client of channel 0, with admins of its own."""

    def __init__(self, factory_ior: str) -> None:
        classpath = fetch()
        classes = compiled("jacorb", classpath)
        command = [tool("java"), "-Xshare:auto", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", joined([classes, *classpath]), "jacorb.NotifyClient", factory_ior]
        self._process = JsonProcess("JacORB's client", command)

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        answer = self._process.ask({"do": do, **details}, ANSWER_SECS)
        assert "error" not in answer, answer["error"]
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()
