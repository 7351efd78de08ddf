"""What stands between a source and its journal, so that a source with three links is asked, and written to disk, once.

inlet.py              the thread that owns a source: receive, append to the journal, acknowledge when it is safe
journalled_source.py  the journal as the source of one link, with the link's accounts
intake.py             one source channel: its journal, its inlet, the cursors of its links
intakes.py            those of the whole gateway; what a reload does to them
"""

from __future__ import annotations
