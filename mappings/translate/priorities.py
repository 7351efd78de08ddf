"""Priority of an event (-32767 … 32767) to JMSPriority (0 … 9) and back: the three mappings of OC-VAR-1.

A mapping keeps the order, sends 0 to 4 (both defaults), and `back` gives for each JMSPriority the one Priority that needs no
property beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

LARGEST: Final = 32767
_FUJITSU_BACK: Final = (-3, -3, -2, -1, 0, 1, 2, 2, 3, 3)
_FUJITSU: Final = {-3: 1, -2: 2, -1: 3, 0: 4, 1: 5, 2: 6, 3: 8}


class PriorityMap(NamedTuple):
    to_jms: Callable[[int], int]
    back: Callable[[int], int]


def _clamp(priority: int) -> int:
    return min(max(4 + priority, 0), 9)


def _clamp_back(jms: int) -> int:
    return jms - 4


def _linear(priority: int) -> int:
    if priority < 0:
        return max(4 - -(-4 * -priority // LARGEST), 0)
    return 4 + -(-5 * priority // LARGEST)


def _linear_back(jms: int) -> int:
    """The outermost of those that share a JMSPriority."""
    return -((4 - jms) * LARGEST // 4) if jms < 4 else (jms - 4) * LARGEST // 5


def _fujitsu(priority: int) -> int:
    return _FUJITSU.get(priority, 0 if priority < 0 else 9)


def _fujitsu_back(jms: int) -> int:
    return _FUJITSU_BACK[jms]


PRIORITY_MAPS: Final[Mapping[str, PriorityMap]] = MappingProxyType(
    {
        "clamp": PriorityMap(_clamp, _clamp_back),
        "linear": PriorityMap(_linear, _linear_back),
        "fujitsu": PriorityMap(_fujitsu, _fujitsu_back),
    }
)
