"""Keys that nobody guesses, addresses that are let in, and clients that do not find one another."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.advertiser_stubs import advertise
from adapters.cosnotification.service.peer import host_in
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin
from tests.interop.notification_service.clients import AND_OP, Channel, event, until
from tests.interop.notification_service.kept_service import KeptService
from tests.interop.notification_service.test_persistence import CONNECTIONS, orb, reliable

__all__ = ["orb"]


class Relay:
    """Reaches the service from another address of the loopback network: to the service, this is another client."""

    def __init__(self, port: int, source: str) -> None:
        self._to, self._source = ("127.0.0.1", port), source
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._connections = [self._server]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
                far = socket.create_connection(self._to, source_address=(self._source, 0))
            except OSError:
                return
            self._connections += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def through(self, orb: LocalOrb, reference: Any, interface: Any) -> Any:
        """The same object, by way of this relay."""
        ior = bytes.fromhex(orb.to_string(reference).removeprefix("IOR:"))
        key = re.search(
            rb"\xff\x00\x00\x00notification\x00notify-[0-9a-f]{32}|\xffnotification\x00notify-[0-9a-f]{32}", ior
        )
        assert key is not None
        written = "".join(f"%{octet:02x}" for octet in key.group())
        return orb.corba.string_to_object(f"corbaloc:iiop:1.2@127.0.0.1:{self.port}/{written}")._unchecked_narrow(
            interface
        )

    def close(self) -> None:
        for each in self._connections:
            each.close()


def keys_in(orb: LocalOrb, *references: Any) -> list[bytes]:
    found = [re.findall(rb"notify-([0-9a-f]{32})", bytes.fromhex(orb.to_string(each)[4:])) for each in references]
    assert all(len(keys) == 1 for keys in found)
    return [keys[0] for keys in found]


def test_keys_are_random_and_stay(orb: LocalOrb, tmp_path: Path) -> None:
    keys: list[bytes] = []
    with ExitStack() as stack:
        for folder in (tmp_path / "one", tmp_path / "other"):
            folder.mkdir()
            kept = stack.enter_context(closing(KeptService(folder)))
            kept.start()
            channel = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
            objects = [
                channel.factory,
                channel.factory.get_event_channel(0),
                channel.reference,
                channel.consumers,
                channel.puller(),
                channel.puller(),
                channel.filter("$n > 1"),
            ]
            mine = keys_in(orb, *objects)
            kept.kill()
            kept.start()
            factory = orb.corba.string_to_object(kept.factory_ior)._narrow(CosNotifyChannelAdmin.EventChannelFactory)
            back = factory.get_event_channel(channel.id)
            admin = back._get_default_consumer_admin()
            again = [
                factory,
                factory.get_event_channel(0),
                back,
                admin,
                admin.get_proxy_supplier(1),
                admin.get_proxy_supplier(2),
            ]
            assert keys_in(orb, *again) == mine[:6]
            keys += mine
    assert len(set(keys)) == len(keys) == 14, "neither of two objects, nor of two services, is like another"


def test_connections_from_elsewhere_are_refused(orb: LocalOrb, tmp_path: Path) -> None:
    with ExitStack() as stack:
        kept = KeptService(tmp_path, allow=["127.0.0.1", "127.0.4.0/24"])
        stack.callback(kept.close)
        kept.start()
        channel = Channel(orb, kept.factory_ior)
        interface = CosNotifyChannelAdmin.EventChannelFactory
        for source, allowed in (("127.0.0.2", False), ("127.0.4.7", True), ("127.0.5.7", False)):
            relay = Relay(kept.port, source)
            stack.callback(relay.close)
            factory = relay.through(orb, channel.factory, interface)
            if allowed:
                assert channel.id in factory.get_all_channels()
            else:
                with pytest.raises((CORBA.COMM_FAILURE, CORBA.TRANSIENT)):
                    factory.get_all_channels()


def test_clients_do_not_find_one_another(orb: LocalOrb, tmp_path: Path) -> None:
    with ExitStack() as stack:
        kept = KeptService(tmp_path, hides_others=True)
        stack.callback(kept.close)
        kept.start()
        channel = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
        _, admin_id = channel.reference.new_for_consumers(AND_OP)
        relay = Relay(kept.port, "127.0.0.2")
        stack.callback(relay.close)
        consumer, _ = channel.consumer()  # of the default admin, which is everybody's

        def look() -> None:
            theirs = relay.through(orb, channel.reference, CosNotifyChannelAdmin.EventChannel)
            assert channel.reference.get_all_consumeradmins() == [0, admin_id]
            assert admin_id not in theirs.get_all_consumeradmins()
            assert theirs.get_all_consumeradmins()[:1] == [0]
            with pytest.raises(CosNotifyChannelAdmin.AdminNotFound):
                theirs.get_consumeradmin(admin_id)
            assert theirs.get_consumeradmin(0)._is_equivalent(channel.consumers)
            default = relay.through(orb, channel.consumers, CosNotifyChannelAdmin.ConsumerAdmin)
            assert channel.consumers._get_push_suppliers() == [1]
            assert default._get_push_suppliers() == []
            with pytest.raises(CosNotifyChannelAdmin.ProxyNotFound):
                default.get_proxy_supplier(1)

        look()
        theirs = relay.through(orb, channel.reference, CosNotifyChannelAdmin.EventChannel)
        other, other_id = theirs.new_for_suppliers(AND_OP)
        with pytest.raises(CosNotifyChannelAdmin.AdminNotFound):
            channel.reference.get_supplieradmin(other_id)
        assert not other._non_existent(), "who has the reference can use it"
        channel.supplier().push_structured_event(event(1))
        until(lambda: consumer.numbers == [1])
        kept.kill()
        kept.start()
        until(lambda: not _fails(channel.reference))
        relay_again = Relay(kept.port, "127.0.0.2")
        stack.callback(relay_again.close)
        relay = relay_again
        look()


def test_the_advertiser_tells_everybody_how_many_and_names_the_callers_own(orb: LocalOrb, tmp_path: Path) -> None:
    with ExitStack() as stack:
        kept = KeptService(tmp_path, hides_others=True)
        stack.callback(kept.close)
        kept.start()
        relay = Relay(kept.port, "127.0.0.2")
        stack.callback(relay.close)
        channel = Channel(orb, kept.factory_ior)
        supplier = channel.supplier()
        supplier.offer_change([CosNotification.EventType("d", "t")], [])
        factory = channel.factory
        theirs = relay.through(orb, factory, CosNotifyChannelAdmin.EventChannelFactory)
        for asked, named in ((factory, ["SupplierAdmin/0/proxy/1"]), (theirs, [])):
            (report,) = [each for each in advertise(asked) if each.id == channel.id]
            (type_,) = report.types
            assert (report.suppliers, type_.offers) == (1, 1)
            assert [party.place for party in type_.offered_by] == named


def _fails(reference: Any) -> bool:
    try:
        return bool(reference._non_existent())
    except CORBA.SystemException:
        return True


@given(st.ip_addresses(), st.integers(1, 65535))
def test_the_address_of_a_caller(address: Any, port: int) -> None:
    written = f"[{address}]" if address.version == 6 else str(address)
    mapped = getattr(address, "ipv4_mapped", None)
    assert host_in(f"giop:tcp:{written}:{port}") == str(mapped or address)
    if address.version == 4:
        assert host_in(f"giop:tcp:[::ffff:{address}]:{port}") == str(address)


def test_a_caller_without_an_address() -> None:
    assert host_in("") == host_in("giop:unix:/tmp/x") == host_in("giop:tcp:name:80") == ""
