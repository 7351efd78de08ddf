"""GIOP by octets: what passes between peers and the ORB library, for the few operations that carry events.

messages.py   messages, headers of requests and replies
doorway.py    the address that peers call: pushes are taken as octets, everything else goes on to the library
visitor.py    one peer's connection to it
caller.py     a connection of ours, to push octets
"""
