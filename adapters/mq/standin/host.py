"""The stand-ins of this process: one for each name of a queue manager, made when an endpoint first asks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from adapters.base import StopError
from adapters.mq.standin import door
from adapters.mq.standin.manager import StandInQueueManager
from adapters.mq.standin.store import Store

if TYPE_CHECKING:
    from adapters.mq.settings import MqEndpoint

_lock: Final = threading.Lock()


def provide(endpoint: MqEndpoint) -> StandInQueueManager:
    """The stand-in of an endpoint, with the queues that it names. Raises StopError."""
    assert endpoint.stand_in is not None
    with _lock:
        try:
            door.install()
        except RuntimeError as error:
            raise StopError("MQ-STAND-IN", str(error), hint="run the stand-in in a gateway of its own") from None
        manager = door.registered(endpoint.queue_manager)
        if manager is None:
            store = Store(endpoint.stand_in.store) if endpoint.stand_in.store is not None else None
            manager = StandInQueueManager(endpoint.queue_manager, store=store)
            door.register(manager)
    for queue in endpoint.stand_in.queues:
        manager.define(queue)
    return manager
