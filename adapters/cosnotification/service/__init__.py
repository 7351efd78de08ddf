"""A Notification Service of our own. Start at `service.py`; what moves events is in `engine/`, what clients call is beside it."""
