"""Store and forward: a source's deliveries are safe here before it is acknowledged, and stay until every link has settled them.

journal.py          the whole of it: open, append, cursor, forget, status, close
board.py            what the threads share
committer.py        the one thread that writes; group commit, holding while the disk cannot take a write
writer.py           the newest segment; what follows a failed sync
cursor.py           a link's view: read, settle, release; cursor_state.py, cursor_file.py, cursor_keeper.py under it
retention.py        which segments may go, and the policies of links that are in the way
recovery.py         what is done at the start
scan.py, format.py  the bytes; envelope.py: compression and encryption
delivery_codec.py   a Delivery as bytes
source.py           a journal as the Source of a link
inspection.py, repair.py   for `isthmus journal`
"""

from __future__ import annotations
