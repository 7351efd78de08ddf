"""The capture of a gateway: recorders for its links, the threads behind them, the mappings in force, and how it is doing."""

from __future__ import annotations

import json
import os
import time
from typing import Final

from adapters.base import StopError
from gateway.capture.observer import CaptureObserver, CaptureStatus
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Rows
from gateway.capture.sealer import Sealer
from gateway.capture.specifying import specification_of
from gateway.capture.sweeper import Sweeper
from gateway.capture.writer import Writer
from gateway.settings.settings import Settings
from mappings.captures.errors import CaptureError
from mappings.captures.layout import MAPPINGS_FOLDER
from mappings.captures.sealing import SALT_BYTES, key_from_text, sealer
from mappings.captures.specification import Specification

STOP_SECS: Final = 30.0  # for what was told to be written, and for what was written to be sealed


class Captures:
    """Made and driven by the appliance's thread, in a gateway whose configuration has a `capture:`."""

    def __init__(self, settings: Settings, observer: CaptureObserver) -> None:
        """Raises StopError where a library or the key is missing."""
        assert settings.capture is not None
        its = settings.capture
        self.root = settings.capture_path()
        self._observer = observer
        self._room = its.queue_events
        self._recorders: dict[str, LinkRecorder] = {}
        self._begun = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self._runs = 0
        try:
            seal = None
            if its.secret_key is not None:
                seal = sealer(key_from_text(its.secret_key.get_secret_value()), os.urandom(SALT_BYTES))
        except CaptureError as wrong:
            raise StopError(wrong.code, wrong.message, path="capture", hint=wrong.hint) from wrong
        level = its.level if its.compression in ("zstd", "gzip") else None
        sweeper = Sweeper(self.root, its.keep_days, its.keep_bytes)
        self._sealer = Sealer(self.root, its.compression, level, sweeper, lambda error: self._tell(error, 0))
        self._writer = Writer(
            self.root,
            settings.name,
            Rows(seal),
            self._sealer,
            its.roll_secs,
            its.roll_rows,
            self._tell,
            leave_free_bytes=its.leave_free_bytes,
        )

    def start(self) -> None:
        """Raises StopError where the folder cannot be used."""
        try:
            (self.root / MAPPINGS_FOLDER).mkdir(parents=True, exist_ok=True)
        except OSError as trouble:
            raise StopError(
                "CAP-FOLDER",
                f"the folder of the capture cannot be used: {trouble.strerror or trouble}",
                path="capture.folder",
                hint="give the gateway a folder that its user may write to",
            ) from trouble
        self._sealer.start()
        self._writer.start()

    def stop(self) -> bool:
        """After the links have ended. True when everything that they told is in Parquet files."""
        written = self._writer.stop(STOP_SECS)
        return self._sealer.stop(STOP_SECS) and written

    def recorder(self, settings: Settings, link: str) -> LinkRecorder | None:
        """For a link that is about to run; None where it is not captured."""
        if not settings.captured(link):
            self._recorders.pop(link, None)
            return None
        specification = specification_of(settings, link)
        self._save(specification)
        self._runs += 1
        run = f"{self._begun}-{os.getpid()}-{self._runs}"
        recorder = LinkRecorder(specification, run, self._room, self._writer.hand_over)
        self._recorders[link] = recorder
        return recorder

    def status(self, link: str) -> CaptureStatus | None:
        recorder = self._recorders.get(link)
        return None if recorder is None else CaptureStatus(recorder.captured, recorder.uncaptured)

    def _save(self, specification: Specification) -> None:
        """Beside the capture, before the first row that speaks of it."""
        name = f"{specification.version}.json"
        path = self.root / MAPPINGS_FOLDER / name
        text = json.dumps(specification.to_json(), ensure_ascii=False, indent=1)
        part = path.with_name(f"{name}.{os.getpid()}.part")
        try:
            part.write_text(text + "\n", encoding="utf-8")
            part.replace(path)
        except OSError as trouble:
            self._tell(
                CaptureError(
                    "CAP-WRITE",
                    f"the mapping of link {specification.link} cannot be saved: {trouble.strerror or trouble}",
                    path=str(path),
                    hint="without it the capture of this link cannot be validated, only compared and audited",
                ),
                0,
            )

    def _tell(self, error: CaptureError | None, uncaptured: int) -> None:
        self._observer.capture_changed(error, uncaptured)
