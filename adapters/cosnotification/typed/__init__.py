"""Typed events: interfaces `<I>` known by their IDL files alone, dynamic servants and calls. Start at `interface.py`.

Nothing of an `<I>` is ever compiled or registered in a process that receives events: a type that the ORB library knows by its
repository id is decoded by what it knows, not by what was sent.
"""
