"""How garbage is collected in our processes, the gateway's own and the ORB's.

Events are trees: counting references frees them, and the collector of cycles finds nothing in them. By default it goes over every
object that is alive each time that some thousands more are: with many events waiting, that was most of the cost of an event.
"""

from __future__ import annotations

import gc


def tune(young: int = 100_000) -> None:
    """Once, when everything is imported: that stays, and need not be looked at again.

    `young`: so many objects more than at the last look, and it looks again. That bounds what garbage in circles can hold, too.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(young, 50, 100)
