"""Topic strings: `+` is one level, `#` any number of them."""

from __future__ import annotations


def matches(pattern: str, topic: str) -> bool:
    """Whether a subscription's topic string takes a publication's. Both are short; the number of `#` bounds the work."""
    wanted, levels = pattern.split("/"), topic.split("/")
    reached = {0}
    for part in wanted:
        if part == "#":
            reached = set(range(min(reached), len(levels) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(levels) and part in ("+", levels[at])}
    return len(levels) in reached
