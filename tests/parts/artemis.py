"""ActiveMQ Artemis, from its binary distribution.

Listeners: STOMP, and CORE for its own JMS client. No web console. NIO journal with synchronisation to disk. Accepted STOMP
destinations are those of a fresh `artemis create`: bare addresses with `destination-type` or `subscription-type`.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import ClassVar, Literal

from tests.parts.broker import Broker
from tests.parts.maven import distribution

VERSION = "2.44.0"  # runs on Java 17; has the client for javax.jms


def fetch() -> Path:
    return distribution(
        "org.apache.activemq", "apache-artemis", VERSION, lambda path: path.startswith(("lib/", "bin/lib/"))
    )


def client_jars() -> list[Path]:
    """Its own JMS client (javax.jms) with all that it needs."""
    names = "artemis-commons- artemis-core-client- artemis-jms-client- artemis-selector- commons-beanutils- commons-collections- "
    names += "commons-logging- jakarta.jms-api- jctools-core- log4j- netty- slf4j-api-"
    jars = (fetch() / "lib").glob("*.jar")
    return sorted(jar for jar in jars if jar.name.startswith(tuple(names.split())))


class Artemis(Broker):
    kind: ClassVar[Literal["artemis", "activemq"]] = "artemis"

    def _main(self) -> list[str]:
        boot = fetch() / "lib" / "artemis-boot.jar"
        return [*self._leashed(boot), "org.apache.activemq.artemis.boot.Artemis", "run"]

    def _system_properties(self) -> dict[str, str]:
        home = fetch()
        return {
            "artemis.home": str(home),
            "artemis.instance": str(self.folder),
            "artemis.instance.etc": str(self._etc),
            "data.dir": str(self.folder / "data"),
            "java.library.path": str(home / "bin" / "lib" / f"linux-{platform.machine()}"),
            "java.security.auth.login.config": str(self._etc / "login.config"),
            "log4j2.configurationFile": (self._etc / "log4j2.properties").as_uri(),
            "log4j2.disableJmx": "true",
        }

    def _write_users(self) -> None:
        self._write("users.properties", f"{self.login} = {self.password}\n")
        self._write("roles.properties", f"everything = {self.login}\n")


def artemis(*, login_required: bool = True, heap_megabytes: int = 384, quick: bool = True) -> Artemis:
    """`with artemis() as broker:` — see Broker."""
    return Artemis(login_required=login_required, heap_megabytes=heap_megabytes, quick=quick)
