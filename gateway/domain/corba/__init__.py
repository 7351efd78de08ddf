"""Event domains over CORBA: the servants of CosEventDomainAdmin and its two relatives, hosted in the ORB's process.

`part.py` is the whole; `live_domain.py` is one domain: the pure core (`gateway.domain.event_domain`) with real channels
(`members.py`), real connections (`wire.py`), a store, and the doctor that mends what broke (`repair.py`).
"""
