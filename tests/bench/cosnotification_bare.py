"""The ceiling: an omniORBpy consumer that does nothing. Prints its references (structured, sequence); ends with standard input."""

from __future__ import annotations

import sys
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CosNotifyComm__POA


class _Structured(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    def push_structured_event(self, notification: Any) -> None: ...


class _Sequence(CosNotifyComm__POA.SequencePushConsumer):  # type: ignore[misc]
    def push_structured_events(self, notifications: Any) -> None: ...


def main() -> None:
    orb = LocalOrb()
    orb.start()
    print(orb.to_string(orb.activate(_Structured(), b"structured")), flush=True)
    print(orb.to_string(orb.activate(_Sequence(), b"sequence")), flush=True)
    sys.stdin.read()
    orb.stop()


if __name__ == "__main__":
    main()
