"""Our packages as one archive, for executors: pure Python and data, no wheels."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Final

import mappings

PACKAGES: Final = ("mappings", "spark")
SUFFIXES: Final = (".py", ".lark", ".json", ".idl", ".typed")


def write_archive(path: Path) -> None:
    """The same files give the same archive, octet for octet."""
    root = Path(mappings.__file__).parents[1]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((root / package).rglob("*")):
                if file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                    entry = zipfile.ZipInfo(str(file.relative_to(root)), (1980, 1, 1, 0, 0, 0))
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, file.read_bytes())


if __name__ == "__main__":
    try:
        write_archive(Path(sys.argv[1]))
    except OSError as trouble:
        sys.exit(f"isthmus: CAP-OUT: {trouble}")
