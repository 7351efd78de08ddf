"""Examines references to CORBA objects, and the way back from them to us. Start at `examination.py`."""
