"""Levels and error codes (RULES.md 1.6)."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.cosnotification.service.qos import KINDS, Level, Qos
from adapters.cosnotification.service.stubs import CORBA, CosNotification

TYPES = {2: CORBA.TC_short, 3: CORBA.TC_long, 8: CORBA.TC_boolean}
OBJECTS = (Level.CHANNEL, Level.ADMIN, Level.PROXY)


def property_(name: str, type_: Any, value: Any) -> Any:
    return CosNotification.Property(name, CORBA.Any(type_, value))


def good(name: str) -> Any:
    kind = KINDS[name]
    if isinstance(kind.type, str):
        return property_(name, CORBA.TC_long, 0)
    return property_(name, TYPES.get(kind.type if isinstance(kind.type, int) else 0, CORBA.TC_ulonglong), kind.default)


def codes(call: Any, *properties: Any) -> list[Any]:
    with pytest.raises(CosNotification.UnsupportedQoS) as caught:
        call(list(properties))
    return [error.code for error in caught.value.qos_err]


# The table of RULES.md 1.6: message, proxy, admin, channel
TABLE = {
    "EventReliability": "X--X",
    "ConnectionReliability": "-XXX",
    "Priority": "XXXX",
    "StartTime": "X---",
    "StopTime": "X---",
    "Timeout": "XXXX",
    "StartTimeSupported": "-XXX",
    "StopTimeSupported": "-XXX",
    "MaxEventsPerConsumer": "-XXX",
    "OrderPolicy": "-XXX",
    "DiscardPolicy": "-XXX",
    "MaximumBatchSize": "-XXX",
    "PacingInterval": "-XXX",
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_levels(name: str) -> None:
    for mark, level in zip(TABLE[name][1:], (Level.PROXY, Level.ADMIN, Level.CHANNEL), strict=True):
        qos = Qos(level)
        if mark == "X":
            qos.change([good(name)])
        else:
            assert codes(qos.change, good(name)) == [CosNotification.UNSUPPORTED_PROPERTY]
    if TABLE[name][0] == "-":
        assert codes(Qos(Level.PROXY).validate_event, good(name)) == [CosNotification.UNSUPPORTED_PROPERTY]


@pytest.mark.parametrize(
    ("name", "type_", "value", "low", "high"),
    [
        ("Priority", CORBA.TC_short, -32768, -32767, 32767),
        ("OrderPolicy", CORBA.TC_short, 4, 0, 3),
        ("DiscardPolicy", CORBA.TC_short, 6, 0, 4),
        ("MaxEventsPerConsumer", CORBA.TC_long, -1, 0, 2**31 - 1),
        ("MaximumBatchSize", CORBA.TC_long, 0, 1, 2**31 - 1),
        ("ConnectionReliability", CORBA.TC_short, 2, 0, 1),
    ],
)
def test_values_outside_their_range(name: str, type_: Any, value: Any, low: int, high: int) -> None:
    with pytest.raises(CosNotification.UnsupportedQoS) as caught:
        Qos(Level.CHANNEL).change([property_(name, type_, value)])
    (error,) = caught.value.qos_err
    assert error.code == CosNotification.BAD_VALUE
    assert (error.available_range.low_val.value(), error.available_range.high_val.value()) == (low, high)


def test_each_error_has_its_code_and_nothing_is_set() -> None:
    qos = Qos(Level.CHANNEL)
    assert codes(
        qos.change,
        property_("Priority", CORBA.TC_short, 7),
        property_("Nonsense", CORBA.TC_long, 1),
        property_("StartTime", CORBA.TC_long, 1),
        property_("Priority", CORBA.TC_long, 1),
        property_("OrderPolicy", CORBA.TC_short, 9),
        property_("EventReliability", CORBA.TC_short, 1),
    ) == [
        CosNotification.BAD_PROPERTY,
        CosNotification.UNSUPPORTED_PROPERTY,
        CosNotification.BAD_TYPE,
        CosNotification.BAD_VALUE,
        CosNotification.UNSUPPORTED_VALUE,
    ]
    assert qos.get("Priority") == 0


def test_reliability_where_the_service_has_a_store() -> None:
    channel = Qos(Level.CHANNEL, persistent=True)
    admin = Qos(Level.ADMIN, channel)
    events = property_("EventReliability", CORBA.TC_short, 1)
    connections = property_("ConnectionReliability", CORBA.TC_short, 1)
    assert codes(channel.change, events) == [CosNotification.UNAVAILABLE_VALUE]
    assert codes(admin.change, connections) == [CosNotification.UNAVAILABLE_VALUE]
    channel.change([events, connections])
    admin.change([connections])
    assert admin.get("ConnectionReliability") == 1


def test_a_timeout_where_nothing_stops() -> None:
    qos = Qos(Level.PROXY)
    qos.change([property_("StopTimeSupported", CORBA.TC_boolean, False)])
    timeout = property_("Timeout", CORBA.TC_ulonglong, 5)
    assert codes(qos.change, timeout) == [CosNotification.UNAVAILABLE_PROPERTY]
    qos.change([timeout, property_("StopTimeSupported", CORBA.TC_boolean, True)])
    assert qos.get("Timeout") == 5


def test_settings_are_inherited_until_they_are_made() -> None:
    channel = Qos(Level.CHANNEL)
    admin = Qos(Level.ADMIN, channel)
    proxy = Qos(Level.PROXY, admin)
    channel.change([property_("Priority", CORBA.TC_short, 1)])
    assert (proxy.get("Priority"), proxy.said("Priority")) == (1, None)
    admin.change([property_("Priority", CORBA.TC_short, 2)])
    assert (proxy.get("Priority"), proxy.said("Priority")) == (2, 2)
    proxy.change([property_("Priority", CORBA.TC_short, 0)])
    assert (proxy.get("Priority"), proxy.said("Priority"), admin.get("Priority")) == (0, 0, 2)
    assert {item.name for item in proxy.to_orb()} == {name for name, marks in TABLE.items() if marks[1] == "X"}


def test_the_discard_policy_of_the_first_edition() -> None:
    qos = Qos(Level.CHANNEL)
    qos.change([property_("DiscardPolicy", CORBA.TC_short, 5)])
    assert qos.get("DiscardPolicy") == 0, "the same, and never told"


def test_validation_tells_what_else_could_be_set() -> None:
    qos = Qos(Level.PROXY)
    available = qos.validate([property_("Priority", CORBA.TC_short, 3)])
    ranges = {item.name: (item.range.low_val.value(), item.range.high_val.value()) for item in available}
    assert "Priority" not in ranges
    assert ranges["OrderPolicy"] == (0, 3)
    assert ranges["ConnectionReliability"] == (0, 0), "there is no store"
    assert ranges["Timeout"] == (0, 2**64 - 1)
    assert qos.get("Priority") == 0, "validating sets nothing"
    event = qos.validate_event([property_("Priority", CORBA.TC_short, 3)])
    assert {item.name for item in event} == {"EventReliability", "Timeout"}
