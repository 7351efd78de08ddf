"""A small STOMP 1.2 broker of our own: for trying things and for tests, a convenience and no more (decision 0003).

broker = Broker("127.0.0.1", 0, login="gw", password="…")
address = broker.start()        # "127.0.0.1:41873"
broker.stop()
"""

from adapters.embedded_broker.broker import Broker

__all__ = ["Broker"]
