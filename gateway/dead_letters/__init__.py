"""What becomes of dead letters: seen, exported, thrown away, or sent again (`isthmus dlq`).

letters.py   a letter, and the letters of a file
wanted.py    which of them are meant
removal.py   taking letters out of a file, while a link may put others in
retry.py     putting letters into the journal of their link
"""

from __future__ import annotations
