"""The process that the ORB lives in, and how the gateway talks to it.

The ORB library can be crashed by what a peer sends, before any of our code has seen it. So it runs in a process of its own:

    gateway                                    worker
    Orb (supervisor, one thread) ── frames ──▶ __main__: CORBA ORB, servants, calls to peers, the embedded service
    CosNotificationSource, -Sink  ◀── frames ──

**What was accepted is never lost with the worker**: a push returns to the peer after the event was written to the socket, and
what is in the socket outlives its writer. What was not accepted stays with the peer.

    frames.py    how frames travel         parcels.py   how events look in them
    receiving.py sending.py                the worker's side of sources and sinks
"""
