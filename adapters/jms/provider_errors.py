"""What an exception of a provider means for us: one table from Java classes to our errors.

A worker reports an exception as the names of its classes, from the innermost cause outwards and each with its superclasses, so
that the most particular cause is found first whatever a provider wraps it in. `javax.` and `jakarta.` are the same to us.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError, StopError

Phase = Literal["start", "factory", "connect", "subscribe", "receive", "send", "answer", "commit", "lost"]
"""What the worker was about when it happened."""

MAX_TEXT: Final = 300


class Report(NamedTuple):
    """An exception as a worker tells it."""

    phase: Phase
    classes: tuple[str, ...]
    text: str


class _Meaning(NamedTuple):
    kind: type[AdapterError]
    message: str
    hint: str


_MEANINGS: Final = {
    "JMS-JPYPE": _Meaning(StopError, "JPype is not installed", "install Isthmus with its `jms` extra"),
    "JMS-JVM": _Meaning(StopError, "no JVM starts", "install Java; check `java_home` and `jvm_options`"),
    "JMS-FACTORY": _Meaning(
        StopError,
        "the connection factory cannot be made",
        "check `factory`, `url` and `factory_properties`, and that `classpath` has every jar of the client",
    ),
    "JMS-JNDI-CONTEXT": _Meaning(
        StopError, "there is no such JNDI context", "check `jndi.initial_context_factory` and `classpath`"
    ),
    "JMS-JNDI": _Meaning(
        ReconnectError, "the connection factory cannot be looked up", "check `jndi`, and that the directory is there"
    ),
    "JMS-UNREACHABLE": _Meaning(
        ReconnectError, "no connection to the provider", "is it running, and is the way to it open?"
    ),
    "JMS-LOGIN": _Meaning(
        ReconnectError, "the provider refused the login", "check login and password, here and at the provider"
    ),
    "JMS-ACCESS": _Meaning(
        ReconnectError, "the provider denied access", "give this login the right to the destination"
    ),
    "JMS-CLIENT-ID": _Meaning(
        ReconnectError, "the provider refused the client id", "another connection uses it: see `client_id`"
    ),
    "JMS-DESTINATION": _Meaning(
        ReconnectError, "the provider does not know the destination", "create it, or let the provider create it"
    ),
    "JMS-SELECTOR": _Meaning(StopError, "the provider refused the selector", "mend `selector`"),
    "JMS-SUBSCRIBE": _Meaning(ReconnectError, "the provider does not let us subscribe", "see the provider's log"),
    "JMS-FULL": _Meaning(
        RetryLaterError, "the provider takes no more now", "consume from it, or raise its limits; the link goes on"
    ),
    "JMS-ROLLED-BACK": _Meaning(
        RetryLaterError, "the provider rolled the transaction back", "see the provider's log; the link goes on"
    ),
    "JMS-ENCODE": _Meaning(DeadLetterError, "the message cannot be sent", "mend the rule or the source"),
    "JMS-ANSWER": _Meaning(DeadLetterError, "whoever asked waits no more", "nothing: its temporary queue is gone"),
    "JMS-DECODE": _Meaning(DeadLetterError, "the message cannot be read", "mend the sender"),
    "JMS-DESERIALIZE": _Meaning(
        DeadLetterError, "Java may not deserialize a class", "name it in `serial_filter` if you trust the sender"
    ),
    "JMS-SERIAL-FILTER": _Meaning(
        StopError, "the provider's client needs to deserialize a class", "name it in `serial_filter`"
    ),
    "JMS-CUT": _Meaning(ReconnectError, "the connection to the provider broke", "see the provider's log"),
    "JMS-PROVIDER": _Meaning(ReconnectError, "the provider failed", "see the provider's log"),
}

_RULES: Final = (
    # a class (`jms.` is javax.jms. and jakarta.jms., `python.` is of the worker itself; empty: any), phases (empty: all), code
    ("python.ModuleNotFoundError", "start", "JMS-JPYPE"),
    ("", "start", "JMS-JVM"),
    ("java.io.InvalidClassException", "receive send answer", "JMS-DESERIALIZE"),
    ("java.io.InvalidClassException", "factory connect", "JMS-SERIAL-FILTER"),
    ("javax.naming.NoInitialContextException", "", "JMS-JNDI-CONTEXT"),
    ("javax.naming.NamingException", "", "JMS-JNDI"),
    ("java.lang.NoClassDefFoundError", "factory connect", "JMS-FACTORY"),
    ("", "factory", "JMS-FACTORY"),
    ("jms.JMSSecurityException", "connect", "JMS-LOGIN"),
    ("jms.JMSSecurityException", "", "JMS-ACCESS"),
    ("jms.InvalidClientIDException", "", "JMS-CLIENT-ID"),
    ("jms.InvalidSelectorException", "subscribe", "JMS-SELECTOR"),
    ("jms.InvalidDestinationException", "answer", "JMS-ANSWER"),
    ("jms.InvalidDestinationException", "", "JMS-DESTINATION"),
    ("jms.ResourceAllocationException", "send answer commit", "JMS-FULL"),
    ("org.apache.activemq.artemis.api.core.ActiveMQAddressFullException", "send answer commit", "JMS-FULL"),
    ("jms.TransactionRolledBackException", "send answer commit", "JMS-ROLLED-BACK"),
    ("jms.MessageFormatException", "send answer", "JMS-ENCODE"),
    ("jms.MessageFormatException", "receive", "JMS-DECODE"),
    ("jms.MessageNotWriteableException", "send answer", "JMS-ENCODE"),
    ("python.Unsendable", "send answer", "JMS-ENCODE"),
    ("python.Unreadable", "receive", "JMS-DECODE"),
    ("", "connect", "JMS-UNREACHABLE"),
    ("", "subscribe", "JMS-SUBSCRIBE"),
    ("", "lost", "JMS-CUT"),
    ("", "", "JMS-PROVIDER"),
)


def code_of(phase: Phase, classes: tuple[str, ...]) -> str:
    """By the innermost cause that the table knows."""
    for name in (*(_neutral(java) for java in classes), ""):
        for java, phases, code in _RULES:
            if java == name and (not phases or phase in phases.split()):
                return code
    raise AssertionError("the last rule is for everything")


def classify(report: Report, path: str) -> AdapterError:
    """The error that a caller is told."""
    code = code_of(report.phase, report.classes)
    meaning = _MEANINGS[code]
    outermost = report.classes[0] if report.classes else "no reason given"
    text = " ".join(report.text.split())[:MAX_TEXT] or outermost
    return meaning.kind(code, f"{meaning.message}: {text}", path=path, hint=meaning.hint)


def concerns_one_message(phase: Phase, classes: tuple[str, ...]) -> bool:
    """Whether the fault lies in one message: the others of its batch may pass."""
    return _MEANINGS[code_of(phase, classes)].kind is DeadLetterError


def shown_url(url: str) -> str:
    """Without what may hold a password: options, and what stands before an @."""
    start, separator, rest = url.partition("?")[0].rpartition("://")
    return start + separator + rest.rpartition("@")[2]


def _neutral(name: str) -> str:
    for package in ("javax.jms.", "jakarta.jms."):
        if name.startswith(package):
            return f"jms.{name[len(package) :]}"
    return name
