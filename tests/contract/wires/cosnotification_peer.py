"""Our Notification Service as a process of its own: `python -m tests.contract.wires.cosnotification_peer IOR_FILE CHANNELS`.

Prints "ready"; then, for each line on standard input, the number of events that wait for a consumer. Ends with standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.host import ServiceHost


def main() -> None:
    orb = LocalOrb()
    orb.start()
    service = ServiceHost(orb, channels=int(sys.argv[2]))
    service.start()
    path = Path(sys.argv[1])
    new = path.with_suffix(".new")
    new.write_text(service.factory_ior + "\n")
    new.rename(path)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(service.queued(), flush=True)
    service.stop()
    orb.stop()


if __name__ == "__main__":
    main()
