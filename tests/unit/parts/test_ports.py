"""A reserved port belongs to us whether or not a server of ours is up."""

from __future__ import annotations

import socket

import pytest

from tests.parts.ports import LOOPBACK, ReservedPort


def test_nobody_answers_until_a_server_listens() -> None:
    with ReservedPort() as port:
        for _ in range(2):  # and again after that server has ended
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((LOOPBACK, port.number), timeout=5.0)
            with (
                socket.create_server((LOOPBACK, port.number)),  # with SO_REUSEADDR, as servers do
                socket.create_connection((LOOPBACK, port.number), timeout=5.0),
            ):
                pass


def test_nobody_else_gets_it() -> None:
    with ReservedPort() as port, socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((LOOPBACK, port.number))
