"""Keys of encrypted captures, from files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mappings.captures.errors import CaptureError
from mappings.captures.sealing import key_from_text

LARGEST_KEY_FILE: Final = 4096


def read_keys(files: Iterable[Path]) -> list[bytes]:
    """Raises CaptureError; never repeats what is in a file."""
    keys = []
    for path in files:
        try:
            with path.open("rb") as file:
                keys.append(key_from_text(file.read(LARGEST_KEY_FILE).decode("ascii", "replace")))
        except OSError as trouble:
            raise CaptureError("CAP-KEY-FORM", f"the key cannot be read: {trouble.strerror}", path=str(path)) from None
    return keys
