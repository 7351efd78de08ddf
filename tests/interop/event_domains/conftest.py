from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from tests.interop.event_domains.plant import Plant, plant
from tests.parts.availability import available
from tests.parts.jacorb import JacOrb


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """For tests that make domains and channels of their own and leave the gateway as it is."""
    with plant(Path(tmp_path_factory.mktemp("plant"))) as found:
        yield found


@pytest.fixture(scope="package")
def jacorb() -> Iterator[JacOrb]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(JacOrb()))


@pytest.fixture(params=["isthmus", "jacorb"])
def channel_factory(request: pytest.FixtureRequest, shared: Plant) -> Any:
    """Where the members of the domains come from."""
    if request.param == "isthmus":
        return shared.channels
    file = str(request.getfixturevalue("jacorb").ior)
    return resolve(shared.orb, file, CosNotifyChannelAdmin.EventChannelFactory, 15_000)
