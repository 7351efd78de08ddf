from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from tests.contract.wires.cosnotification import Peer
from tests.interop.notification_service.clients import Channel


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalOrb, str]]:
    """The ORB of this process, and where the factory of the other is."""
    orb = LocalOrb()
    orb.start()
    peer = Peer(Path(tmp_path_factory.mktemp("service")))
    peer.start()
    yield orb, str(peer.ior)
    peer.kill()
    orb.stop()


@pytest.fixture
def channel(service: tuple[LocalOrb, str]) -> Iterator[Channel]:
    channel = Channel(*service)
    yield channel
    channel.close()
