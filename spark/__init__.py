"""PySpark jobs on captured traffic: validate, compare, audit, catalogue, plan of a replay. They import `mappings` only.

    python -m spark JOB.json     runs one job (job.py); `isthmus spark …` writes that file from a configuration and starts this

units.py        which files there are, and which parts of them can be read: the units of work
scanning.py, plain.py     in a worker: from a unit to rows; what cannot be read becomes a finding
tallies.py      counts with samples: what workers send back instead of rows
translations.py in a worker: the mappings that were in force, compiled once
differences.py  what differs between two messages or events
validate.py, compare.py, audit.py, catalogue.py, replay.py    one job each: work (in workers), result (plain data)
facts.py, intact.py, held.py    what an audit knows of each row: its payloads are whole, the link held it
following.py    the same on a capture that grows
reports/        results as pages and as JSON
session.py, archive.py, progress.py                           Spark itself

Spark distributes, aggregates, joins and keeps checkpoints. Files are read by pyarrow in the workers: it costs less than passing the
payloads through the JVM, and a damaged file is a finding there instead of the end of the job.
"""
