"""GIOP by octets: what passes between peers and the ORB library, for the few operations that carry events.

messages.py    messages, headers of requests and replies

doorway.py     the address that peers call: pushes are taken as octets, everything else goes on to the library
visitor.py     one peer's connection to it
held.py        an answer that it owes a peer, and that comes later
callers.py     who is behind a connection of the doorway's to the library

target.py      which objects can be called past the library
connection.py  a connection of ours to a peer
caller.py      one operation of one object, called with octets
neighbour.py   likewise where the object is in this process
"""
