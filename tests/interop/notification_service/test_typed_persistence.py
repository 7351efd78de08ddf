"""Typed channels over a kill -9: proxies with their interface, typed objects on both sides, operations that nobody had yet."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from tests.contract.wires.cosnotification_peer import PLANT
from tests.interop.notification_service.clients import until
from tests.interop.notification_service.kept_service import KeptService
from tests.interop.notification_service.test_persistence import EVENTS, orb, reliable
from tests.interop.notification_service.typed_clients import TypedChannel, connect

# ruff: isort: split
import Plant

__all__ = ["orb"]


@pytest.mark.parametrize("form", ["typed", "typed plain"])
def test_typed_clients_stay_connected_and_get_what_they_had_not(orb: LocalOrb, tmp_path: Path, form: str) -> None:
    with closing(KeptService(tmp_path, idl=[str(PLANT)])) as kept:
        kept.start()
        channel = TypedChannel(orb, kept.factory_ior, reliable(*EVENTS))
        taking, giving = channel.client("push", "consumer"), channel.client("pull", "supplier")
        pushing = channel.proxy("push", "consumer", form)
        connect(pushing, "push", "consumer", form, channel.activate(taking))
        pulled = channel.proxy("pull", "consumer", form)
        connect(pulled, "pull", "consumer", form, None)
        asking = channel.proxy("pull", "supplier", form)
        connect(asking, "pull", "supplier", form, channel.activate(giving))
        supplier = channel.proxy("push", "supplier", form)
        connect(supplier, "push", "supplier", form, None)
        typed = supplier.get_typed_consumer()._narrow(Plant.Alarms)
        offered = pulled.get_typed_supplier()._narrow(Plant.PullAlarms)
        if form == "typed":
            pushing.suspend_connection()
        typed.moved(7, [])
        typed.named("x")
        kept.kill()
        kept.start()
        typed.moved(8, [])
        giving.typed.stock["silence"].append(())
        assert [offered.try_moved()[:2], offered.try_moved()[:2], offered.try_named()] == [
            (True, 7),
            (True, 8),
            (True, "x"),
        ]
        if form == "typed":
            pushing.resume_connection()
        until(lambda: "silence" in dict(taking.typed.calls))
        first = list(dict.fromkeys((name, *values[:1]) for name, values in taking.typed.calls))
        assert first == [("moved", 7), ("named", "x"), ("moved", 8), ("silence",)]


def test_an_interface_that_is_not_known_any_more(orb: LocalOrb, tmp_path: Path) -> None:
    """The service does not start, rather than to forget connections; with the file back it goes on."""
    with closing(KeptService(tmp_path, idl=[str(PLANT)])) as kept:
        kept.start()
        channel = TypedChannel(orb, kept.factory_ior, reliable(*EVENTS))
        proxy = channel.proxy("push", "supplier", "typed")
        kept.kill()
        kept.options["idl"] = []
        with pytest.raises(AssertionError, match="did not start"):
            kept.start()
        kept.kill()
        kept.options["idl"] = [str(PLANT)]
        kept.start()
        assert not proxy._non_existent()
