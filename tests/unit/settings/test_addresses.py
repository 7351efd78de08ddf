"""host:port, as it is written everywhere in a configuration."""

from __future__ import annotations

import pytest

from gateway.settings.addresses import Address, AddressError, is_loopback, overlap, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:5555", "127.0.0.1", 5555),
        ("gw.example:1", "gw.example", 1),
        ("gw.example.:65535", "gw.example.", 65535),
        ("[::1]:61613", "::1", 61613),
        ("my_host-2:80", "my_host-2", 80),
    ],
)
def test_addresses_that_are_right(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "host", "host:", ":80", "host:0", "host:65536", "host:999999", "host:1234567", "host:8o", "host:-1",
        "host: 80", "ho st:80", "::1:80", "[::1]", "[host]:80", "[::g]:80", "300.1.1.1:80", "1.2.3:80", "-host:80", "host-:80",
        "a..b:80", "host:80\n", "tcp://host:80", "mqhost(1414)", "x" * 254 + ":80", "x" * 64 + ".example:80", "host:८०",
    ],
)  # fmt: skip
def test_addresses_that_are_wrong(text: str) -> None:
    with pytest.raises(AddressError):
        parse_address(text)


@pytest.mark.parametrize(
    "text", ["hunter2", "hunter2:x", "hunter2:99999", "[hunter2]:80", "-hunter2:80", "hunter2::80"]
)
def test_the_error_does_not_repeat_the_address_which_may_be_a_secret(text: str) -> None:
    with pytest.raises(AddressError) as raised:
        parse_address(text)
    assert "hunter2" not in str(raised.value)


def test_port_0_is_for_listeners_that_say_so() -> None:
    assert parse_address("127.0.0.1:0", any_port=True).port == 0


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("127.0.0.1:80", "127.0.0.1:80", True),
        ("127.0.0.1:80", "127.0.0.1:81", False),
        ("0.0.0.0:80", "127.0.0.1:80", True),
        ("127.0.0.1:80", "[::]:80", True),
        ("127.0.0.1:80", "127.0.0.2:80", False),
        ("Gw.example:80", "gw.example:80", True),
        ("127.0.0.1:0", "127.0.0.1:0", False),
    ],
)
def test_listeners_clash_on_the_same_port_of_the_same_host_or_of_all(one: str, other: str, clash: bool) -> None:
    addresses = parse_address(one, any_port=True), parse_address(other, any_port=True)
    assert overlap(*addresses) is clash
    assert overlap(*reversed(addresses)) is clash


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("LocalHost.", True),
        ("0.0.0.0", False),
        ("gw.example", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host: str, answer: bool) -> None:
    assert is_loopback(host) is answer


def test_a_scheme_before_an_address_is_called_a_scheme() -> None:
    """ActiveMQ's own examples write tcp://host:port."""
    with pytest.raises(AddressError, match="no tcp://"):
        parse_address("tcp://mq1.example:61613")
