"""How links send, wait and give up: numbers that contradict each other, and dead letters that would get mixed up."""

from __future__ import annotations

from pathlib import PurePosixPath

from adapters.settings_base import BackOff
from gateway.settings.document import quoted
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of


def check_back_off(settings: Settings, report: Report) -> None:
    for id_, endpoint in settings.endpoints.items():
        _back_off(report, ("endpoints", id_, "back_off"), endpoint.back_off)
    for id_, link in settings.links.items():
        _back_off(report, ("links", id_, "delivery", "retry", "back_off"), link.delivery.retry.back_off)


def check_batches(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        path = ("links", id_, "delivery", "batch")
        batch, window = link.delivery.batch, link.delivery.window
        if batch > window:
            message = f"a batch of {batch} never fills: the window holds {window} events"
            report.warning("CFG-BATCH", path, message, "make the batch smaller or the window larger")
        sink = settings.channels.get(link.sink)
        most = capabilities_of(sink).max_batch if sink is not None else batch
        if batch > most:
            message = f"a batch of {batch} is more than the channel of `to` takes at once, {most}: that many are sent"
            report.note("CFG-BATCH", path, message)


def check_parallel(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        delivery = link.delivery
        path = ("links", id_, "delivery")
        if delivery.parallel > 1 and delivery.order and not delivery.order_by:
            message = f"{delivery.parallel} connections cannot keep one order"
            hint = "name in order_by what events have in common that must stay in order, or set `order: false`"
            report.error("CFG-ORDER", (*path, "parallel"), message, hint)
        if delivery.order_by and delivery.parallel == 1:
            message = "with one connection everything stays in order anyway"
            report.warning("CFG-NO-EFFECT", (*path, "order_by"), message, "set parallel, or remove it")


def check_dead_letter_channels(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        channel = settings.channels.get(link.dead_letter.channel or "")
        if channel is not None and capabilities_of(channel).form != "message":
            path = ("links", id_, "dead_letter", "channel")
            message = (
                f"channel {report.document.shown(path)} carries events, and dead letters are passed on as messages"
            )
            report.error("CFG-DEAD-LETTER", path, message, "name a queue of a broker or of a queue manager")


def check_dead_letters(settings: Settings, report: Report) -> None:
    """Inside run_dir, where the gateway may write, and one file for each link, which has one writer only."""
    owners: dict[PurePosixPath, str] = {}
    for id_, link in settings.links.items():
        path = ("links", id_, "dead_letter", "file")
        file = link.dead_letter.file
        if file is not None and (PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts):
            shown = report.document.shown(path)
            report.error("CFG-DEAD-LETTER", path, f"{shown} is not inside run_dir", "write a relative path without ..")
            continue
        where = PurePosixPath(settings.dead_letter_path(id_).as_posix())
        other = owners.setdefault(where, id_)
        if other != id_:
            message = f"link {quoted(other)} writes its dead letters to the same file"
            report.error("CFG-DEAD-LETTER", path, message, "give each link a file of its own")


def _back_off(report: Report, path: Path, back_off: BackOff) -> None:
    if back_off.first_ms > back_off.longest_ms:
        message = f"the first pause, {back_off.first_ms} ms, is longer than the longest, {back_off.longest_ms} ms"
        report.error("CFG-BACK-OFF", path, message, "raise longest_ms, or lower first_ms")
