"""What passes through a link, events or messages, and which of its options that leaves without effect."""

from __future__ import annotations

from typing import Final

from adapters.base import Form
from gateway.settings.links import LinkSettings
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of

FORWARD_ONLY: Final = frozenset(
    {"metadata", "include_seq_alias", "struct_body", "map_keys", "body_cdr", "absent_reliability", "limits"}
)
"""Options of `mapping:` that bear on events that become messages."""

REVERSE_ONLY: Final = frozenset({"text_as", "byte_as", "native_domain", "event_name_from", "numeric_headers"})
"""Options of `mapping:` that bear on messages that become events."""


def forms_of(settings: Settings, link: LinkSettings) -> tuple[Form, Form] | None:
    """What the source and the sink of a link carry; None where one of them is not known."""
    source, sink = settings.channels.get(link.source), settings.channels.get(link.sink)
    if source is None or sink is None:
        return None
    return capabilities_of(source).form, capabilities_of(sink).form


def check_effect(settings: Settings, report: Report) -> None:
    """Options that do nothing in the direction of their link."""
    for id_, link in settings.links.items():
        forms = forms_of(settings, link)
        if forms is None:
            continue
        for option in sorted(_without_effect(link, forms)):
            option_path = ("links", id_, "mapping", option)
            message = f"{option} has no effect on a link from {forms[0]}s to {forms[1]}s"
            report.warning("CFG-NO-EFFECT", option_path, message, "remove it", at=report.key(option_path))
        if link.rules and forms != ("event", "message"):
            path = ("links", id_, "rules")
            message = (
                f"rules change the message that is made of an event; this link goes from {forms[0]}s to {forms[1]}s"
            )
            report.warning("CFG-NO-EFFECT", path, message, "remove them", at=report.key(path))


def _without_effect(link: LinkSettings, forms: tuple[Form, Form]) -> frozenset[str]:
    given = frozenset(link.mapping.model_fields_set)
    if forms == ("event", "message"):
        return given & REVERSE_ONLY
    if forms == ("message", "event"):
        return given & FORWARD_ONLY
    return given
