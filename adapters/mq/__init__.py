"""The IBM MQ wire: JMS-compatible messages on queues and topics, got and put in units of work.

codec.py        a Message as MQMD, MQRFH2 and body, and back: `rfh2.py`, `chain.py`, `markup.py`, `folders.py`, `bodies.py` …
shim.py         the one place that knows the libraries `ibmmq` and `pymqi`; faults.py what their reason codes mean
source.py       MQGET under syncpoint, accepted, MQCMIT; poison.py what has been backed out too often
sink.py         MQPUT under syncpoint, MQCMIT, settled
standin/        a queue manager in this process, for tests and for a first look; never for production
"""
