"""What channels of ours say of themselves, and others do not: the types that they name are all that their consumers may want.

Of another vendor's channel we cannot know whether its consumers want more than they have named, and to pass on too little would
lose events.
"""

from __future__ import annotations

import re
from typing import Final

NOBODY: Final = ("$isthmus", "nobody")
"""A type that no event has. Who subscribes to it alone is sent nothing, until he subscribes to something else."""

_OUR_KEY: Final = re.compile(rb"notify-[0-9a-f]{32}", re.DOTALL)


def tells_all_subscriptions(ior: str) -> bool:
    """Of a channel, by its reference."""
    try:
        profile = bytes.fromhex(ior[4:])
    except ValueError:
        return False
    return _OUR_KEY.search(profile) is not None
