"""A queue manager in this process, at the boundary of the MQI: packed structures in, packed structures out.

It is a stand-in: for the tests, and for a first look without IBM's software. It keeps IBM's documented rules of units of work,
ordering, expiry, browsing, contexts and publish/subscribe, as far as this wire uses them; it has never been compared with a real
queue manager. See docs/mq.md for what that means, and `door.py` for how the libraries `ibmmq` and `pymqi` come to talk to it.
"""
