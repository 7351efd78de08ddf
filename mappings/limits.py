"""The bounds that `mappings` puts on what it reads, so that hostile input costs an error and not the process."""

from __future__ import annotations

from typing import Final

from mappings.errors import MappingError

MAX_DEPTH: Final = 100
"""How deep types, and values inside values, may nest; deeper is MAP-DEPTH.

An any's type counts from the depth of the any. IDL that people write stays below 20. Python's stack holds about 1000 frames,
and comparing two types takes seven of them for each level: this bound keeps every walk, ours and Python's own, away from that.
"""

MAX_TYPE_NODES: Final = 100_000
"""How many types one type may consist of, repetitions counted: TypeCodes on a wire can name an earlier part again and again."""

MAX_EMPTY_ELEMENTS: Final = 100_000
"""How many elements that take no octets (null, structs without members) one CDR value may hold in all."""

CACHED_TYPES: Final = 1024
"""How many types each cache of compiled functions remembers."""


def too_deep() -> MappingError:
    return MappingError(
        "MAP-DEPTH", f"nested more than {MAX_DEPTH} levels deep", hint="flatten the type, or split the value in several"
    )
