"""What of the service outlives its process: objects whose connection is Persistent, and events that are (RULES.md 1.6).

    database.py   the SQLite file, and the one thread that writes it: everything that has gathered in one transaction, one sync
    kept.py       objects: how each tells its state, and how kinds of object register themselves
    ledger.py     events: who has not got them yet
    backlog.py    what of them is in the store alone, because its consumer is far behind
    revival.py    at the start: objects first, then what they are owed, then the threads that deliver

What a client was told is on disk: an operation that changes a kept object returns after the commit, and so does a push of a
persistent event. Objects and events that are BestEffort never come here.
"""
