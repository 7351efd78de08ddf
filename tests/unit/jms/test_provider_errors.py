"""What exceptions of providers mean for us."""

from __future__ import annotations

import pytest

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError, StopError
from adapters.jms.provider_errors import MAX_TEXT, Phase, Report, classify, code_of, concerns_one_message, shown_url

JMS = ("javax.jms.JMSException", "java.lang.Exception", "java.lang.Throwable")

TABLE: list[tuple[Phase, tuple[str, ...], type[AdapterError], str]] = [
    ("start", ("python.ModuleNotFoundError",), StopError, "JMS-JPYPE"),
    ("start", ("python.JVMNotFoundException",), StopError, "JMS-JVM"),
    ("factory", ("python.TypeError",), StopError, "JMS-FACTORY"),
    (
        "factory",
        ("javax.naming.NoInitialContextException", "javax.naming.NamingException"),
        StopError,
        "JMS-JNDI-CONTEXT",
    ),
    ("factory", ("javax.naming.CommunicationException", "javax.naming.NamingException"), ReconnectError, "JMS-JNDI"),
    ("connect", ("java.lang.NoClassDefFoundError", "java.lang.LinkageError"), StopError, "JMS-FACTORY"),
    ("connect", ("java.io.InvalidClassException", *JMS), StopError, "JMS-SERIAL-FILTER"),
    ("connect", ("java.net.ConnectException", "java.io.IOException", *JMS), ReconnectError, "JMS-UNREACHABLE"),
    ("connect", ("javax.jms.JMSSecurityException", *JMS), ReconnectError, "JMS-LOGIN"),
    ("connect", ("jakarta.jms.JMSSecurityException", "jakarta.jms.JMSException"), ReconnectError, "JMS-LOGIN"),
    ("connect", ("javax.jms.InvalidClientIDException", *JMS), ReconnectError, "JMS-CLIENT-ID"),
    ("subscribe", ("javax.jms.JMSSecurityException", *JMS), ReconnectError, "JMS-ACCESS"),
    ("subscribe", ("javax.jms.InvalidSelectorException", *JMS), StopError, "JMS-SELECTOR"),
    ("subscribe", ("javax.jms.InvalidDestinationException", *JMS), ReconnectError, "JMS-DESTINATION"),
    ("subscribe", JMS, ReconnectError, "JMS-SUBSCRIBE"),
    ("receive", ("python.Unreadable",), DeadLetterError, "JMS-DECODE"),
    ("receive", ("java.io.InvalidClassException", *JMS), DeadLetterError, "JMS-DESERIALIZE"),
    ("receive", JMS, ReconnectError, "JMS-PROVIDER"),
    ("send", ("javax.jms.MessageFormatException", *JMS), DeadLetterError, "JMS-ENCODE"),
    ("send", ("python.Unsendable",), DeadLetterError, "JMS-ENCODE"),
    ("send", ("javax.jms.ResourceAllocationException", *JMS), RetryLaterError, "JMS-FULL"),
    ("commit", ("jakarta.jms.TransactionRolledBackException",), RetryLaterError, "JMS-ROLLED-BACK"),
    ("send", ("javax.jms.InvalidDestinationException", *JMS), ReconnectError, "JMS-DESTINATION"),
    ("answer", ("javax.jms.InvalidDestinationException", *JMS), DeadLetterError, "JMS-ANSWER"),
    ("send", JMS, ReconnectError, "JMS-PROVIDER"),
    ("lost", JMS, ReconnectError, "JMS-CUT"),
    ("send", (), ReconnectError, "JMS-PROVIDER"),
]


@pytest.mark.parametrize(("phase", "classes", "kind", "code"), TABLE)
def test_each_is_told_by_what_must_be_done(
    phase: Phase, classes: tuple[str, ...], kind: type[AdapterError], code: str
) -> None:
    error = classify(Report(phase, classes, "because"), "tcp://x")
    assert (type(error), error.code, error.path) == (kind, code, "tcp://x")
    assert "because" in error.message
    assert error.hint
    assert concerns_one_message(phase, classes) == (kind is DeadLetterError)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("tcp://mq1:61616", "tcp://mq1:61616"),
        ("tcp://mq1:61616?password=x&a=b", "tcp://mq1:61616"),
        ("amqps://me:secret@mq1", "amqps://mq1"),
        ("(tcp://a,tcp://b)?x=y", "(tcp://a,tcp://b)"),
        ("local", "local"),
    ],
)
def test_addresses_are_shown_without_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_the_innermost_cause_counts() -> None:
    wrapped = ("javax.jms.ResourceAllocationException", *JMS, "javax.jms.IllegalStateException", *JMS)
    assert code_of("send", wrapped) == "JMS-FULL"


def test_texts_are_one_line_and_not_endless() -> None:
    error = classify(Report("send", JMS, "a\n\tb " + "x" * 10_000), "")
    assert "a b x" in error.message
    assert len(error.message) < MAX_TEXT + 100
