"""Logs of the Telecom Log Service: event channels that keep what passes through them. Start at `log.py`."""
