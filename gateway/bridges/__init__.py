"""Bridges that CORBA clients make at run time (Notification/JMS Interworking, RULES.md 5.1): links like those of the configuration.

`bridge.py` is one, `registry.py` keeps them, `overlay.py` makes links of them, `service.py` and `part.py` are their CORBA side.
"""
