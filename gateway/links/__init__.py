"""Links: the directed edges of the event domain. Start reading at `link.py`."""
