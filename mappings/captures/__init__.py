"""Captures: the traffic of links as Parquet files. What is written by `gateway.capture` and read by `spark`, as pure data.

layout.py           columns, statuses, names of folders and files
payloads.py         events and messages as the canonical JSON bytes of a cell, and back
specification.py    the mapping in force as JSON, from which it can be compiled again
sealing.py          cells that are compressed and encrypted
"""
