"""Which links a new configuration touches."""

from __future__ import annotations

from typing import Any

from gateway.appliance.changes import changes
from gateway.settings.settings import Settings


def settings(**changed: Any) -> Settings:
    whole: dict[str, Any] = {
        "name": "gw",
        "endpoints": {"here": {"type": "memory"}, "there": {"type": "memory"}},
        "channels": {
            "a": {"endpoint": "here", "name": "a"},
            "b": {"endpoint": "there", "name": "b"},
            "c": {"endpoint": "here", "name": "c"},
        },
        "links": {"ab": {"from": "a", "to": "b"}, "ac": {"from": "a", "to": "c"}},
    }
    return Settings.model_validate({**whole, **changed})


def test_the_same_configuration_touches_nothing() -> None:
    assert changes(settings(), settings()) == ((), (), ())


def test_a_link_that_is_gone_ends_and_a_new_one_begins() -> None:
    new = settings(links={"ab": {"from": "a", "to": "b"}, "ca": {"from": "c", "to": "a"}})
    assert changes(settings(), new) == (("ac",), ("ca",), ())


def test_a_link_that_is_switched_off_ends_and_on_begins() -> None:
    off = settings(links={"ab": {"from": "a", "to": "b"}, "ac": {"from": "a", "to": "c", "enabled": False}})
    assert changes(settings(), off) == (("ac",), (), ())
    assert changes(off, settings()) == ((), ("ac",), ())


def test_a_link_is_made_anew_when_its_own_settings_differ() -> None:
    new = settings(links={"ab": {"from": "a", "to": "b", "filter": "$x == 1"}, "ac": {"from": "a", "to": "c"}})
    assert changes(settings(), new) == (("ab",), ("ab",), ())


def test_a_link_is_made_anew_when_a_channel_or_an_endpoint_of_its_differs() -> None:
    channel = settings(
        channels={
            "a": {"endpoint": "here", "name": "a"},
            "b": {"endpoint": "there", "name": "b"},
            "c": {"endpoint": "here", "name": "elsewhere"},
        }
    )
    assert changes(settings(), channel) == (("ac",), ("ac",), ())
    endpoint = settings(
        endpoints={"here": {"type": "memory"}, "there": {"type": "memory", "back_off": {"first_ms": 7}}}
    )
    assert changes(settings(), endpoint) == (("ab",), ("ab",), ())


def test_what_cannot_change_in_a_running_gateway_is_named() -> None:
    new = settings(name="other", orb={"listen": "127.0.0.1:7777"})
    assert changes(settings(), new) == ((), (), ("name", "orb"))
