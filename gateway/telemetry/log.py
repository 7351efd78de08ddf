"""Log lines on standard error: one for each change of state, none for each event.

`text` is for people (`time level event key=value …`), `json` for collectors (one object a line).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

import structlog

from adapters.base import Delivery, EventTypes
from gateway.appliance.applying import Removal
from gateway.journal.errors import JournalError
from gateway.links.observer import Side, State
from gateway.settings.findings import Finding
from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError

LogFormat = Literal["text", "json"]
MOST_TYPES = 8  # event types named in one line


def configure(log_format: LogFormat) -> None:
    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), pad_event_to=0, sort_keys=False, timestamp_key="time"
        )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


class GatewayLog:
    """Writes what links and the appliance tell (`gateway.links.observer.LinkObserver`, `gateway.appliance.listener.Listener`)."""

    def __init__(self) -> None:
        self._log = structlog.get_logger()

    def side_changed(self, link: str, side: Side, state: State, error: IsthmusError | None, attempts: int) -> None:
        facts: dict[str, object] = {"link": link, "side": side, "state": state}
        if attempts:
            facts["attempts"] = attempts
        if error is None:
            self._log.info("link side changed", **facts)
        else:
            self._log.warning("link side changed", **facts, **_spelt_out(error))

    def link_changed(self, link: str, state: State, error: IsthmusError | None) -> None:
        if error is None:
            self._log.info("link changed", link=link, state=state)
        else:
            self._log.error("link changed", link=link, state=state, **_spelt_out(error))

    def gateway_changed(self, state: str, **facts: object) -> None:
        self._log.info("gateway changed", state=state, **facts)

    def subscriptions_removed(self, removals: Sequence[Removal]) -> None:
        for channel, topic, name, trouble in removals:
            facts = {"channel": channel, "topic": topic, "subscription": name}
            if trouble:
                self._log.error("durable subscription stays", **facts, reason=trouble)
            else:
                self._log.info("durable subscription removed", **facts)

    def doubts(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._log.warning("finding", **_placed(finding))

    def reload_refused(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._log.error("finding", **_placed(finding))
        self._log.error("configuration refused: the gateway goes on as it was", findings=len(findings))

    def service_changed(self, service: str, state: str, error: IsthmusError | None = None, **facts: object) -> None:
        if error is None:
            self._log.info("service changed", service=service, state=state, **facts)
        else:
            self._log.warning("service changed", service=service, state=state, **facts, **_spelt_out(error))

    def service_found(self, service: str, error: IsthmusError) -> None:
        self._log.warning("service finding", service=service, **_spelt_out(error))

    def service_store_changed(self, service: str, error: IsthmusError | None) -> None:
        if error is None:
            self._log.info("store changed", service=service, state="ready")
        else:
            self._log.error("store changed", service=service, state="down", **_spelt_out(error))

    def demand_changed(self, link: str, types: EventTypes) -> None:
        wanted = "everything" if types is None else "nothing"
        if types:
            names = sorted(f"{domain}/{type_}" for domain, type_ in types)
            more = len(names) - MOST_TYPES
            wanted = ", ".join(names[:MOST_TYPES]) + (f" and {more} more" if more > 0 else "")
        self._log.info("demand changed", link=link, wanted=wanted)

    def bridge_refused(self, operation: str, error: IsthmusError) -> None:
        self._log.warning("bridge refused", operation=operation, **_spelt_out(error))

    def domain_connection_changed(self, domain: str, connection: int, state: str, trouble: str) -> None:
        facts = {"domain": domain, "connection": connection, "state": state}
        if trouble:
            self._log.warning("domain connection changed", **facts, reason=trouble)
        else:
            self._log.info("domain connection changed", **facts)

    def domain_answer_cut(self, domain: str, operation: str, answers: int) -> None:
        self._log.warning("domain answer cut: there are more", domain=domain, operation=operation, answers=answers)

    def inlet_changed(self, channel: str, state: State, error: IsthmusError | None, attempts: int) -> None:
        facts: dict[str, object] = {"channel": channel, "state": state}
        if attempts:
            facts["attempts"] = attempts
        if error is None:
            self._log.info("inlet changed", **facts)
        elif state == "stopped":
            self._log.error("inlet changed", **facts, **_spelt_out(error))
        else:
            self._log.warning("inlet changed", **facts, **_spelt_out(error))

    def journal_found(self, channel: str, finding: JournalError) -> None:
        self._log.warning("journal finding", channel=channel, **_spelt_out(finding))

    def journal_held(self, channel: str, reason: JournalError) -> None:
        self._log.error("journal held: the source waits", channel=channel, **_spelt_out(reason))

    def journal_released(self, channel: str, held_secs: float) -> None:
        self._log.info("journal released: the source goes on", channel=channel, held_secs=round(held_secs, 3))

    def capture_changed(self, error: CaptureError | None, uncaptured: int) -> None:
        if error is None:
            self._log.info("capture changed", state="ready", uncaptured=uncaptured)
        else:
            self._log.warning("capture changed", state="down", uncaptured=uncaptured, **_spelt_out(error))

    def letters_expired(self, link: str, count: int) -> None:
        self._log.info("dead letters expired", link=link, count=count)

    def numbers_missing(self, link: str, by: str, first: int, last: int) -> None:
        facts = {"sender": by} if by else {}
        self._log.warning("events missing", link=link, first=first, last=last, count=last - first + 1, **facts)

    def dead_lettered(self, link: str, delivery: Delivery, error: IsthmusError) -> None:
        self._log.warning("dead letter", link=link, id=delivery.id, **_spelt_out(error))


def _spelt_out(error: IsthmusError) -> dict[str, str]:
    facts = {"code": error.code, "reason": error.message}
    if error.path:
        facts["place"] = error.path
    if error.rule:
        facts["rule"] = error.rule
    if error.hint:
        facts["hint"] = error.hint
    return facts


def _placed(finding: Finding) -> dict[str, str]:
    place = f"{finding.file}:{finding.line}:{finding.column}"
    return {"code": finding.code, "reason": finding.message, "place": place, "hint": finding.hint}
