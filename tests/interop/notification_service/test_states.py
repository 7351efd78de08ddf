"""The connection state machine, for every kind of proxy (RULES.md 1.10)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from adapters.cosnotification.service.engine.inlet import LONGEST_PAUSE_SECS
from adapters.cosnotification.stubs import CORBA, CosEventChannelAdmin, CosEventComm, CosNotifyChannelAdmin
from tests.interop.notification_service.clients import CLIENTS, PATIENCE_SECS, Channel, connect, event, until

FORMS = ("any", "structured", "sequence", "plain")
ALL = [(style, side, form) for style in ("push", "pull") for side in ("consumer", "supplier") for form in FORMS]
ACTIVE = [
    kind for kind in ALL if kind[:2] in (("push", "consumer"), ("pull", "supplier"))
]  # the service calls these clients
PASSIVE = [kind for kind in ALL if kind not in ACTIVE]
every_kind = pytest.mark.parametrize("kind", ALL, ids=" ".join)


def disconnect(proxy: Any, kind: tuple[str, str, str]) -> None:
    style, side, form = kind
    other = "supplier" if side == "consumer" else "consumer"
    middle = "" if form in ("any", "plain") else f"{form}_"
    getattr(proxy, f"disconnect_{middle}{style}_{other}")()


def use(proxy: Any, kind: tuple[str, str, str]) -> None:
    """push or try_pull."""
    style, _, form = kind
    match style, form:
        case "push", "any" | "plain":
            proxy.push(CORBA.Any(CORBA.TC_long, 1))
        case "push", "structured":
            proxy.push_structured_event(event(1))
        case "push", "sequence":
            proxy.push_structured_events([event(1)])
        case "pull", "any" | "plain":
            proxy.try_pull()
        case "pull", "structured":
            proxy.try_pull_structured_event()
        case "pull", "sequence":
            proxy.try_pull_structured_events(1)


@every_kind
def test_connecting_twice(channel: Channel, kind: tuple[str, str, str]) -> None:
    _, proxy = channel.join(*kind)
    style, side, form = kind
    again = channel.activate(CLIENTS[style, side][form]())
    with pytest.raises(CosEventChannelAdmin.AlreadyConnected):
        connect(proxy, *kind, again)


@pytest.mark.parametrize("kind", ACTIVE, ids=" ".join)
def test_a_nil_client_that_would_be_called_is_refused(channel: Channel, kind: tuple[str, str, str]) -> None:
    with pytest.raises(CORBA.BAD_PARAM):
        connect(channel.proxy(*kind), *kind, None)


@pytest.mark.parametrize("kind", PASSIVE, ids=" ".join)
def test_a_nil_client_that_only_calls_is_fine(channel: Channel, kind: tuple[str, str, str]) -> None:
    proxy = channel.proxy(*kind)
    with pytest.raises(CosEventComm.Disconnected):
        use(proxy, kind)
    connect(proxy, *kind, None)
    use(proxy, kind)


@pytest.mark.parametrize("kind", ACTIVE, ids=" ".join)
def test_a_client_of_another_interface(channel: Channel, kind: tuple[str, str, str]) -> None:
    """A channel, which is neither consumer nor supplier, in a stub of the interface that is wanted: our ORB sends nothing else."""
    proxy = channel.proxy(*kind)
    with pytest.raises(CosEventChannelAdmin.TypeError):
        connect(proxy, *kind, channel.reference._unchecked_narrow(CLIENT_STUBS[kind]))
    stranger = channel.activate(CLIENTS["push", "supplier"]["structured"]())
    with pytest.raises(CosEventChannelAdmin.TypeError):
        connect(proxy, *kind, stranger._unchecked_narrow(CLIENT_STUBS[kind]))


def _client_stubs() -> dict[tuple[str, str, str], Any]:
    import CosNotifyComm

    stubs: dict[tuple[str, str, str], Any] = {}
    for style, side, form in ALL:
        if form in ("any", "plain"):
            stubs[style, side, form] = getattr(CosEventComm, f"{style.capitalize()}{side.capitalize()}")
        else:
            stubs[style, side, form] = getattr(
                CosNotifyComm, f"{form.capitalize()}{style.capitalize()}{side.capitalize()}"
            )
    return stubs


CLIENT_STUBS = _client_stubs()


@every_kind
def test_a_client_that_disconnects_is_not_told_and_its_proxy_is_gone(
    channel: Channel, kind: tuple[str, str, str]
) -> None:
    client, proxy = channel.join(*kind)
    disconnect(proxy, kind)
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        disconnect(proxy, kind)
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        connect(proxy, *kind, None)
    until(proxy._non_existent)
    channel.reference.destroy()
    assert not client.disconnected.is_set(), "a disconnect is never answered with a disconnect"


@every_kind
def test_destroying_the_channel_tells_the_client(channel: Channel, kind: tuple[str, str, str]) -> None:
    client, proxy = channel.join(*kind)
    channel.reference.destroy()
    assert client.disconnected.wait(PATIENCE_SECS)
    until(proxy._non_existent)


@pytest.mark.parametrize("kind", [kind for kind in ACTIVE if kind[2] != "plain"], ids=" ".join)
def test_suspending_and_resuming(channel: Channel, kind: tuple[str, str, str]) -> None:
    unconnected = channel.proxy(*kind)
    for call in (unconnected.suspend_connection, unconnected.resume_connection):
        with pytest.raises(CosNotifyChannelAdmin.NotConnected):
            call()
    client, proxy = channel.join(*kind)
    with pytest.raises(CosNotifyChannelAdmin.ConnectionAlreadyActive):
        proxy.resume_connection()
    proxy.suspend_connection()
    with pytest.raises(CosNotifyChannelAdmin.ConnectionAlreadyInactive):
        proxy.suspend_connection()
    with pytest.raises(CosEventChannelAdmin.AlreadyConnected):
        connect(proxy, *kind, channel.activate(CLIENTS[kind[0], kind[1]][kind[2]]()))
    witness, _ = channel.consumer("structured")
    if kind[1] == "consumer":
        channel.supplier().push_structured_event(event(5))
        until(lambda: witness.got)
        assert client.got == [], "it is suspended"
        proxy.resume_connection()
        until(lambda: len(client.got) == 1)
    else:
        asked = client.asked
        client.stock.append(CORBA.Any(CORBA.TC_long, 5) if kind[2] == "any" else event(5))
        channel.supplier().push_structured_event(event(6))
        until(lambda: witness.got)
        time.sleep(2 * LONGEST_PAUSE_SECS)
        assert witness.numbers == [6], "nothing is pulled while it is suspended"
        assert client.asked == asked
        proxy.resume_connection()
        until(lambda: len(witness.got) == 2)
    proxy.suspend_connection()
    proxy.resume_connection()


def test_a_pull_that_waits_ends_with_its_proxy(channel: Channel) -> None:
    proxy = channel.puller("structured")
    outcome: list[type[Exception]] = []

    def pull() -> None:
        try:
            proxy.pull_structured_event()
        except CORBA.Exception as error:
            outcome.append(type(error))

    thread = threading.Thread(target=pull)
    thread.start()
    proxy.disconnect_structured_pull_supplier()
    thread.join(PATIENCE_SECS)
    assert outcome == [CORBA.OBJECT_NOT_EXIST]


def test_a_sequence_of_no_events_cannot_be_asked_for(channel: Channel) -> None:
    proxy = channel.puller("sequence")
    for call in (proxy.pull_structured_events, proxy.try_pull_structured_events):
        with pytest.raises(CORBA.BAD_PARAM):
            call(0)


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind[:2] == ("pull", "supplier")], ids=" ".join)
def test_a_supplier_that_is_gone_loses_its_proxy(channel: Channel, kind: tuple[str, str, str]) -> None:
    client, proxy = channel.join(*kind)

    def refuse(*_: int) -> Any:
        raise CosEventComm.Disconnected

    for name in ("try_pull", "try_pull_structured_event", "try_pull_structured_events"):
        setattr(client, name, refuse)
    until(proxy._non_existent)
    assert not client.disconnected.is_set()


def test_a_channel_of_the_event_service(channel: Channel) -> None:
    """Seen by a client that knows only CosEventChannelAdmin."""
    plain = channel.reference._narrow(CosEventChannelAdmin.EventChannel)
    consumer = CLIENTS["push", "consumer"]["plain"]()
    plain.for_consumers().obtain_push_supplier().connect_push_consumer(channel.activate(consumer))
    proxy = plain.for_suppliers().obtain_push_consumer()
    proxy.connect_push_supplier(None)
    proxy.push(CORBA.Any(CORBA.TC_string, "hello"))
    until(lambda: consumer.got)
    assert consumer.got[0].value() == "hello"
    plain.destroy()
    assert consumer.disconnected.wait(PATIENCE_SECS)
    until(plain._non_existent)
