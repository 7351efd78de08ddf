"""Capturing the traffic of links as Parquet, off their way: a link hands over references, a thread of ours does the work.

recorder.py    what one link tells (`gateway.links.recorder`), numbered and queued; lossy with a count, never in the way
rows.py        from what was told to the columns of `mappings.captures.layout`
writer.py      the thread that writes open files, and tells when the disk does not follow
open_file.py   one file that grows: readable up to its last batch whenever the process dies
sealer.py      the thread that turns closed files into Parquet and moves them to where Spark sees them
captures.py    all of it for one gateway: settings, recorders, saved mappings, status
inspection.py  looking into a capture: for `isthmus capture`
"""
