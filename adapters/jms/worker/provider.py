"""A connection of a provider's own client: its factory by class or by JNDI, its sessions, its destinations."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Final

import jpype

from adapters.jms.provider_errors import Phase, shown_url
from adapters.jms.worker.inbox import Inbox
from adapters.jms.worker.java_errors import describe

_SECRET_NAME: Final = re.compile(r"pass(word|wd|phrase|code)|secret|token|credential", re.IGNORECASE)


class NotAFactory(Exception):
    """What was made or looked up is no connection factory."""


class Provider:
    """`phase` says what we are about, for whoever has to tell of a failure."""

    def __init__(self, parameters: dict[str, Any], inbox: Inbox) -> None:
        self._parameters = parameters
        self._inbox = inbox
        self._context: Any = None
        self._destinations: dict[str, Any] = {}
        self.phase: Phase = "factory"
        self.hidden = _hidden(parameters)
        self.duplicate_property: str | None = parameters["duplicate_property"]
        self.package = "javax.jms"
        self.connection: Any = None
        self.lost: tuple[str, tuple[str, ...], str] | None = None

    def connect(self) -> Any:
        """A started connection with a transacted session, which is returned. Any exception may come."""
        factory = self._looked_up() if self._parameters["jndi"] is not None else self._made()
        self.package = _package_of(factory)
        self.phase = "connect"
        login = self._parameters["login"]
        if login is None:
            self.connection = factory.createConnection()
        else:
            self.connection = factory.createConnection(login, self._parameters["password"])
        if self._parameters["client_id"] is not None:
            self.connection.setClientID(self._parameters["client_id"])  # before anything else is done with it
        self.connection.setExceptionListener(self._listener())
        session = self.connection.createSession(True, 0)
        self.connection.start()
        return session

    def is_sound(self) -> bool:
        """Whether the connection still does something: then a failure is not its own."""
        if self.lost is not None:
            return False
        try:
            self.connection.createSession(False, 1).close()
        except Exception:  # noqa: BLE001 - any failure means no
            return False
        return self.lost is None

    def close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(Exception):
                self.connection.close()  # JMS: an open transaction is rolled back
            self.connection = None

    def interface(self, name: str) -> Any:
        """A type of JMS, of whichever of its two packages this provider has."""
        return jpype.JClass(f"{self.package}.{name}")

    def null(self, name: str) -> Any:
        """Java's null of a type of JMS: a bare one is ambiguous where a provider's class has overloads of its own."""
        return jpype.JObject(None, self.interface(name))

    def destination(self, session: Any, name: str) -> Any:
        """queue://NAME, topic://NAME, and what `shown` makes of temporary ones; behind `jndi:` a name to be looked up."""
        found = self._destinations.get(name)
        if found is None:
            kind, scheme, rest = name.partition("://")
            if not scheme or kind not in ("queue", "topic", "temp-queue", "temp-topic"):
                raise ValueError(f"{name!r} is neither queue://NAME nor topic://NAME")
            if self._context is not None and rest.startswith("jndi:"):
                found = self._context.lookup(rest.removeprefix("jndi:"))
            else:
                found = session.createQueue(rest) if kind.endswith("queue") else session.createTopic(rest)
            if len(self._destinations) > 10_000:
                self._destinations.clear()
            self._destinations[name] = found
        return found

    def _made(self) -> Any:
        class_ = jpype.JClass(self._parameters["factory"])
        url = self._parameters["url"]
        factory = class_() if url is None else class_(url)
        for name, value in self._parameters["factory_properties"].items():
            setter = f"set{name[:1].upper()}{name[1:]}"
            if not hasattr(factory, setter):
                raise NotAFactory(f"{self._parameters['factory']} has no {setter}")
            getattr(factory, setter)(value)
        return factory

    def _looked_up(self) -> Any:
        jndi = self._parameters["jndi"]
        table = jpype.JClass("java.util.Hashtable")()
        for name, value in jndi["properties"].items():
            table.put(name, value)
        table.put("java.naming.factory.initial", jndi["initial_context_factory"])
        if jndi["provider_url"] is not None:
            table.put("java.naming.provider.url", jndi["provider_url"])
        self._context = jpype.JClass("javax.naming.InitialContext")(table)
        return self._context.lookup(jndi["connection_factory"])

    def _listener(self) -> Any:
        provider, inbox = self, self._inbox

        @jpype.JImplements(f"{self.package}.ExceptionListener")
        class Listener:
            """On a thread of the provider's client."""

            @jpype.JOverride  # type: ignore[untyped-decorator]
            def onException(self, trouble: Any) -> None:
                if provider.lost is None:
                    provider.lost = describe(trouble, "lost", provider.hidden)
                    inbox.put(("lost", provider))

        return Listener()


def _hidden(parameters: dict[str, Any]) -> dict[str, str]:
    """What no error may show though a provider quotes it, and what is shown instead."""
    url = parameters["url"] or ""
    options = [option.partition("=")[::2] for option in url.partition("?")[2].split("&")]
    options += ((parameters["jndi"] or {}).get("properties") or {}).items()
    secrets = [value for name, value in options if _SECRET_NAME.search(name)]
    hidden = {url: shown_url(url)} if url else {}
    return hidden | {secret: "***" for secret in (parameters["password"], *secrets) if secret}


def _package_of(factory: Any) -> str:
    for package in ("javax.jms", "jakarta.jms"):
        try:
            interface = jpype.JClass(f"{package}.ConnectionFactory")
        except TypeError:  # not on the class path
            continue
        if isinstance(factory, interface):
            return package
    kind = "nothing" if factory is None else type(factory).__name__
    raise NotAFactory(f"{kind} is no javax.jms.ConnectionFactory, nor a jakarta.jms.ConnectionFactory")
