"""The capture: its key, and links that would not be captured as they say."""

from __future__ import annotations

from gateway.settings.report import Report
from gateway.settings.settings import Settings
from mappings.captures.errors import CaptureError
from mappings.captures.sealing import key_from_text


def check_capture(settings: Settings, report: Report) -> None:
    if settings.capture is None:
        for id_, link in settings.links.items():
            if link.capture:
                path = ("links", id_, "capture")
                message = "this link asks to be captured, and there is no capture"
                report.warning("CFG-CAPTURE", path, message, "add `capture: {}`, or remove it", at=report.key(path))
        return
    if settings.capture.secret_key is not None:
        try:
            key_from_text(settings.capture.secret_key.get_secret_value())
        except CaptureError as wrong:
            report.error("CFG-CAPTURE", ("capture", "secret_key"), wrong.message, wrong.hint)
