"""The stand-in queue manager as a process of its own: `python -m tests.standins.mq.server --name QM1 --queue IN …`.

It prints its port and serves `libmqm_r.c` on 127.0.0.1, one thread for each connection. A client that dies has its unit of work
backed out, as with a real queue manager. It ends with the process that `--leash` names.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import struct
import threading
import time
from typing import Any

from adapters.mq.mqi import MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED
from adapters.mq.standin.connections import MqiError, Tls
from adapters.mq.standin.logins import Strings, login_of
from adapters.mq.standin.manager import StandInQueueManager
from adapters.mq.standin.store import Store
from adapters.mq.standin.verbs import VERBS
from tests.standins.mq import commands


def pack(values: tuple[Any, ...]) -> bytes:
    pieces = []
    for value in values:
        if isinstance(value, int):
            pieces.append(b"i" + struct.pack(">q", value))
        else:
            pieces.append(b"b" + struct.pack(">I", len(value)) + value)
    data = b"".join(pieces)
    return struct.pack(">I", len(data)) + data


def unpack(data: bytes) -> list[Any]:
    values: list[Any] = []
    at = 0
    while at < len(data):
        kind = data[at : at + 1]
        at += 1
        if kind == b"i":
            values.append(struct.unpack_from(">q", data, at)[0])
            at += 8
        elif kind == b"b":
            (length,) = struct.unpack_from(">I", data, at)
            values.append(data[at + 4 : at + 4 + length])
            at += 4 + length
        else:
            values.append(None)
    return values


def read(client: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        more = client.recv(length - len(data))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


def text(field: bytes | None) -> str | None:
    return None if field is None else field.decode()


def longs(array: bytes) -> tuple[int, ...]:
    return struct.unpack(f"@{len(array) // 4}i", array)


def call(manager: StandInQueueManager, verb: str, arguments: list[Any]) -> tuple[Any, ...]:
    match verb:
        case "MQCONNX":
            name, cno, cd, sco, *strings = arguments
            wanted = name.decode()
            try:
                login = login_of(wanted, cno, cd, sco, Strings(*map(text, strings)))
            except MqiError as failure:
                return -1, failure.completion, failure.reason
            return manager.call(verb, wanted, login)
        case "MQOPEN" | "MQPUT1":
            return manager.call(verb, *arguments[:-1], text(arguments[-1]))
        case "MQSUB":
            return manager.call(verb, *arguments[:-2], text(arguments[-2]), text(arguments[-1]))
        case "MQINQ":
            handle, object_, selectors = arguments
            numbers, *rest = manager.call(verb, handle, object_, longs(selectors))
            return struct.pack(f"@{len(numbers)}i", *numbers), *rest
        case "MQSET":
            handle, object_, selectors, values, texts = arguments
            return manager.call(verb, handle, object_, longs(selectors), longs(values), texts)
    return manager.call(verb, *arguments)


def serve(manager: StandInQueueManager, client: socket.socket) -> None:
    handles: list[int] = []
    try:
        while True:
            verb, *arguments = unpack(read(client, struct.unpack(">I", read(client, 4))[0]))
            name = verb.decode()
            if name not in VERBS:
                answer: tuple[Any, ...] = (MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED)
            else:
                if name == "MQGET" and (connection := manager.connection(arguments[0])) is not None:
                    connection.is_alive = lambda: not select.select([client], [], [], 0)[0]
                answer = call(manager, name, arguments)
            if name == "MQCONNX" and answer[0] > 0:
                handles.append(answer[0])
            client.sendall(pack(answer))
    except (EOFError, OSError):
        pass
    finally:
        for handle in handles:
            manager.forget(handle)
        client.close()


def end_with(pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except OSError:
            os._exit(1)
        time.sleep(1.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="QM1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--store")
    parser.add_argument("--leash", type=int)
    parser.add_argument("--queue", action="append", default=[], help="NAME, or NAME:backout_threshold:backout_queue")
    parser.add_argument("--user", action="append", default=[], help="NAME:PASSWORD; without one everybody may connect")
    parser.add_argument("--token", action="append", default=[])
    parser.add_argument("--tls", help="what every caller must wish for, as JSON")
    arguments = parser.parse_args()
    if arguments.leash is not None:
        threading.Thread(target=end_with, args=(arguments.leash,), daemon=True).start()
    store = Store(arguments.store) if arguments.store is not None else None
    manager = StandInQueueManager(
        arguments.name,
        users=dict(user.split(":", 1) for user in arguments.user) or None,
        tokens=arguments.token,
        tls=Tls(**json.loads(arguments.tls)) if arguments.tls is not None else None,
        store=store,
    )
    commands.serve(manager)
    for definition in arguments.queue:
        name, threshold, backout_queue = (definition + "::").split(":")[:3]
        attributes = {"backout_threshold": int(threshold or 0), "backout_queue": backout_queue, "max_depth": 1_000_000}
        manager.define(name, **attributes)
    with socket.create_server(("127.0.0.1", arguments.port)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(manager, client), daemon=True).start()


if __name__ == "__main__":
    main()
