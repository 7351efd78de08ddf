"""ActiveMQ Classic, from its binary distribution.

The 5.18 line, because its client speaks javax.jms as Artemis' does, so that one Java program drives both; 5.18.3 is its newest
release whose distribution could be had wherever the tests ran. Listeners: STOMP, and OpenWire for its own JMS client. No web
console, no JMX. KahaDB with synchronisation to disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from tests.parts.broker import Broker
from tests.parts.maven import distribution

VERSION = "5.18.3"


def fetch() -> Path:
    return distribution("org.apache.activemq", "apache-activemq", VERSION, _wanted)


def _wanted(path: str) -> bool:
    return path == "bin/activemq.jar" or (path.startswith("lib/") and not path.startswith(("lib/web/", "lib/camel/")))


def client_jars() -> list[Path]:
    """Its own JMS client (javax.jms) with all that it needs."""
    names = ("activemq-client-", "hawtbuf-", "jakarta.jms-api-", "slf4j-api-", "log4j-")
    return sorted(jar for jar in (fetch() / "lib").rglob("*.jar") if jar.name.startswith(names))


class ActiveMQ(Broker):
    kind: ClassVar[Literal["artemis", "activemq"]] = "activemq"

    def _main(self) -> list[str]:
        start = ["org.apache.activemq.console.Main", "start", f"xbean:{(self._etc / 'activemq.xml').as_uri()}"]
        return [*self._leashed(fetch() / "bin" / "activemq.jar"), *start]

    def _system_properties(self) -> dict[str, str]:
        return {
            "activemq.home": str(fetch()),
            "activemq.base": str(self.folder),
            "activemq.conf": str(self._etc),
            "activemq.data": str(self.folder / "data"),
            "activemq.classpath": str(self._etc),
            "java.security.auth.login.config": str(self._etc / "login.config"),
            "log4j2.configurationFile": (self._etc / "log4j2.properties").as_uri(),
        }

    def _write_users(self) -> None:
        self._write("users.properties", f"{self.login}={self.password}\n")
        self._write("groups.properties", f"everything={self.login}\n")

    def _words(self) -> dict[str, str]:
        plugin = (
            '<plugins><jaasAuthenticationPlugin configuration="activemq"/></plugins>' if self._login_required else ""
        )
        return {**super()._words(), "plugins": plugin}


def activemq(*, login_required: bool = True, heap_megabytes: int = 384, quick: bool = True) -> ActiveMQ:
    """`with activemq() as broker:` — see Broker."""
    return ActiveMQ(login_required=login_required, heap_megabytes=heap_megabytes, quick=quick)
