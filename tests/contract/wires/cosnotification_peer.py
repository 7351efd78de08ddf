"""Our Notification Service as a process of its own: `python -m tests.contract.wires.cosnotification_peer IOR_FILE CHANNELS`.

Beside them it has as many typed channels, for the interfaces of tests/parts/idl/plant.idl.

Prints "ready"; then, for each line on standard input, the number of events that wait for a consumer. Ends with standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.typed.idl_files import read_interfaces

PLANT = Path(__file__).parents[2] / "parts" / "idl" / "plant.idl"


def main() -> None:
    orb = LocalOrb(doorway=True)
    orb.start()
    channels = int(sys.argv[2])
    service = ServiceHost(orb, channels=channels, typed_channels=channels, interfaces=read_interfaces([str(PLANT)]))
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
