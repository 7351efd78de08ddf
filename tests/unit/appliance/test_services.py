"""The ORBs of a gateway: one for all endpoints, and one for those that need it otherwise in the same way."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from adapters.cosnotification.settings import OrbOverrides
from gateway.appliance.services import Services
from gateway.settings.settings import Settings


def test_endpoints_share_an_orb_where_they_need_it_the_same_way(tmp_path: Path) -> None:
    settings = Settings.model_validate({"name": "gw", "run_dir": str(tmp_path), "orb": {"allow": ["127.0.0.1"]}})
    listener: Any = SimpleNamespace()
    services = Services(settings, listener)
    try:
        usual = services.orb()
        assert services.orb() is usual
        old = services.orb(OrbOverrides(code_set="ISO-8859-1"))
        assert old is not usual
        assert services.orb(OrbOverrides(code_set="ISO-8859-1")) is old
        assert old.settings.allow == ["127.0.0.1/32"]
    finally:
        services.stop()
