"""Units of work on the stand-in: what a connection has put and got under syncpoint, until it commits or backs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.mq.standin.connections import Connection

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager


def commit(manager: StandInQueueManager, connection: Connection) -> None:
    """What was put can be seen from now on; what was got is gone, and on disk so."""
    unit, connection.unit = connection.unit, []
    if not unit:
        return
    put = [(change.queue, change.message) for change in unit if change.kind == "put"]
    manager.keep(put, [change.message for change in unit if change.kind == "get"])
    for kind, queue, message in unit:
        if kind == "put":
            message.put_by = None
        else:
            queue.remove(message)
    manager.changed.notify_all()


def back_out(manager: StandInQueueManager, connection: Connection) -> None:
    """What was put was never there; what was got is back in its place, and counts one more BackoutCount."""
    unit, connection.unit = connection.unit, []
    for kind, queue, message in unit:
        if kind == "put":
            queue.remove(message)
            queue.depth -= 1
        else:
            message.got_by = None
            message.backout_count += 1
            queue.depth += 1
    manager.keep([(change.queue, change.message) for change in unit if change.kind == "get"], [])
    if unit:
        manager.changed.notify_all()
