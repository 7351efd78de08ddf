"""Shows messages as they arrive at a JMS consumer: the first one whole, the others a line each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from mappings.forms.messages import message_to_json
from mappings.model import Message

SEVERITIES: Final = {"1": "critical", "2": "major", "3": "minor", "4": "warning", "5": "cleared"}
STYLES: Final = {"critical": "bold red", "major": "red", "minor": "yellow", "warning": "cyan", "cleared": "green"}


class Screen:
    def __init__(self, console: Console) -> None:
        self._console = console
        self.shown = 0

    def show(self, message: Message) -> None:
        if self.shown == 0:
            self._whole(message)
        self.shown += 1
        self._line(message)

    def _whole(self, message: Message) -> None:
        form = message_to_json(message)
        for property_ in form["properties"]:
            if property_["name"].startswith("$se"):  # for machines, and as long as all the others together
                property_["value"] = "… (the original IDL types, for the way back)"
        self._console.print("The first message as a JMS consumer gets it:", style="bold")
        for line in _laid_out(form):
            self._console.print(Text(line))
        self._console.print()

    def _line(self, message: Message) -> None:
        fields = {property_.name: property_.value for property_ in message.properties}
        severity = SEVERITIES.get(str(fields.get("$h")), "unknown")
        line = Text.assemble(
            time.strftime("%H:%M:%S "),
            (f"{severity:<9}", STYLES.get(severity, "")),
            f"JMSPriority={message.headers.JMSPriority} $type_name={fields.get('$type_name')} $k={fields.get('$k')} ",
            (str(message.body.value), "dim"),
        )
        self._console.print(line)


def _laid_out(form: dict[str, Any]) -> Iterator[str]:
    """The JSON form, a property a line."""
    yield f'{{"headers": {json.dumps(form["headers"], ensure_ascii=False)},'
    properties = [json.dumps(property_, ensure_ascii=False) for property_ in form["properties"]]
    yield ' "properties": [' + ",\n                ".join(properties) + "],"
    yield f' "body": {json.dumps(form["body"], ensure_ascii=False)}}}'
