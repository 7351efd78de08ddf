"""The second half of a replay: playing the plan, with progress on the terminal."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from gateway.capture.keys import read_keys
from gateway.cli.exit_codes import ExitCode
from gateway.cli.spark_inputs import settings_of
from gateway.links.link import LinkStatus
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of
from mappings.captures.errors import CaptureError

PLAN: Final = "plan"
LINE_SECS: Final = 10.0


@dataclass
class Replay:
    config: Path
    link: str
    out: Path
    rate: float | None
    factor: float | None
    as_sent: bool
    resume: bool
    yes: bool
    key_files: tuple[Path, ...]

    def check(self) -> None:
        """Before anything is planned. Raises SettingsError, CaptureError."""
        settings = self._settings()
        if settings.environment == "production" and not self.yes:
            raise CaptureError(
                "CAP-PRODUCTION",
                f"{self.config} is the configuration of a gateway in production, and captured traffic would go to its real peers",
                hint="say --yes if that is meant; or give a configuration with `environment: test`",
            )

    def forget(self) -> None:
        """An earlier replay: its plan, and how far it was."""
        from gateway.replay.plan_source import PROGRESS_FILE

        (self.out / PROGRESS_FILE).unlink(missing_ok=True)
        shutil.rmtree(self.out / PLAN, ignore_errors=True)

    def play(self) -> int:
        """0 when all of the plan is settled and nothing was dead-lettered. Raises SettingsError, CaptureError, StopError."""
        from gateway.appliance.services import Services
        from gateway.replay.plan_source import Pacing, PlanSource, Progress
        from gateway.replay.player import DEAD_LETTERS, play
        from gateway.telemetry.log import GatewayLog, configure

        settings = self._settings()
        its = settings.links[self.link]
        channel = settings.channels[its.sink if self.as_sent else its.source]
        source = PlanSource(
            self.out / PLAN,
            capabilities_of(channel).form,
            "sent" if self.as_sent else "source",
            Pacing(self.rate, self.factor),
            Progress(self.out),
            read_keys(self.key_files),
        )
        configure("text")
        log = GatewayLog()
        # The gateway itself may be running: its addresses are taken.
        settings = settings.model_copy(update={"orb": settings.orb.model_copy(update={"listen": "127.0.0.1:0"})})
        services = Services(settings, log)
        shower = _Shower(source.total)
        try:
            status = play(settings, services, self.link, source, self.out, log, shower.show)
        finally:
            services.stop()
        balance = status.balance
        print(
            f"replay: {source.position} of {source.total} events settled: {balance.delivered} delivered, "
            f"{balance.filtered} filtered, {balance.expired} expired, {balance.dead_lettered} dead-lettered"
        )
        if balance.dead_lettered:
            print(f"isthmus: see {self.out / DEAD_LETTERS}", file=sys.stderr)
        if status.error is not None:
            print(f"isthmus: {status.error}", file=sys.stderr)
        return ExitCode.OK if source.finished and not balance.dead_lettered else ExitCode.FAILED

    def _settings(self) -> Settings:
        settings = settings_of(self.config, look_up_secrets=True)
        if self.link not in settings.links:
            known = ", ".join(settings.links) or "none"
            print(f"isthmus: {self.config} has no link {self.link!r} (there are: {known})", file=sys.stderr)
            raise typer.Exit(ExitCode.USAGE)
        return settings


def has_plan(out: Path) -> bool:
    """Spark writes this when all of it is there."""
    return (out / PLAN / "_SUCCESS").exists()


class _Shower:
    """One line that changes on a terminal, a line now and then elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._last = time.monotonic()

    def show(self, status: LinkStatus, source: object) -> None:
        position = getattr(source, "position", 0)
        line = f"replay: {position} of {self._total} events settled, link {status.state}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
        elif time.monotonic() - self._last >= LINE_SECS:
            self._last = time.monotonic()
            print(line, file=sys.stderr)
