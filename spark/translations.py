"""In a worker: compiled mappings, and what they make of one row of a capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mappings.captures.errors import CaptureError
from mappings.captures.layout import SEALED
from mappings.captures.payloads import PayloadReader, PayloadWriter
from mappings.captures.sealing import Opener
from mappings.captures.specification import Specification, specification_from_json, specification_from_text
from mappings.errors import Expired, IsthmusError, MappingError
from mappings.model import Payload, StructuredEvent
from mappings.passage import as_event, compile_admission, compile_translate
from mappings.translate import Entry, Translator

RESULT_SENT = "sent"


class Made(NamedTuple):
    """What a mapping makes of an event: `sent` with a payload, `filtered`, `expired`, `looped`, or `failed` with a code."""

    result: str
    payload: Payload | None = None
    code: str = ""
    message: str = ""


class LinkTranslation:
    """One link's mapping, compiled."""

    def __init__(self, specification: Specification) -> None:
        """Raises IsthmusError where it does not compile."""
        self.specification = specification
        translation = specification.translation
        self._translator = Translator(translation.options)
        self._admits = compile_admission(translation)
        self._translate = compile_translate(translation, self._translator)
        self._explains = (translation.source_form, translation.sink_form) == ("event", "message")

    def make(self, payload: Payload, id_: str, made_ms: int, elapsed_ms: int) -> Made:
        """Raises nothing."""
        try:
            if self._admits is not None and not self._admits(payload):
                return Made("filtered")
            return Made(RESULT_SENT, self._translate(payload, id_, made_ms, elapsed_ms))
        except Expired:
            return Made("expired")
        except MappingError as error:
            return Made("looped" if error.code == "MAP-LOOPED" else "failed", None, error.code, str(error))
        except IsthmusError as error:
            return Made("failed", None, error.code, str(error))
        except Exception as bug:  # noqa: BLE001 - one event must not end the job
            return Made("failed", None, "LNK-TRANSLATION", f"{type(bug).__name__}: {bug}")

    def explain(self, payload: Payload, made_ms: int) -> Sequence[Entry]:
        """Which rule moved what where; nothing where the mapping has nothing to tell."""
        if not self._explains or not isinstance(payload, StructuredEvent):
            return ()
        try:
            return self._translator.explain(as_event(payload), now_ms=made_ms).entries
        except IsthmusError:
            return ()


class Translations:
    """Those of a job, by a key; compiled when they are first asked for."""

    def __init__(self, texts: Mapping[str, str] | None = None, forms: Mapping[str, Any] | None = None) -> None:
        self._texts = texts or {}
        self._forms = forms or {}
        self._compiled: dict[str, LinkTranslation | CaptureError] = {}

    def get(self, key: str | None) -> LinkTranslation | CaptureError:
        """The error says why there is none."""
        found = self._compiled.get(key or "")
        if found is None:
            found = self._compiled[key or ""] = self._compile(key or "")
        return found

    def _compile(self, key: str) -> LinkTranslation | CaptureError:
        try:
            if key in self._texts:
                return LinkTranslation(specification_from_text(self._texts[key]))
            if key in self._forms:
                return LinkTranslation(specification_from_json(self._forms[key]))
        except CaptureError as error:
            return error
        except IsthmusError as error:
            return CaptureError("CAP-MAPPING", f"a mapping does not compile: {error}")
        return CaptureError(
            "CAP-NO-MAPPING",
            f"there is no mapping {key!r}",
            hint="`_mappings` lies beside the files of a capture: copy it with them; or the configuration has no such link",
        )


class Cells:
    """Reads and writes the cells of rows."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._opener = Opener(keys)
        self._read = PayloadReader().read
        self.write = PayloadWriter().write

    def plain(self, cell: bytes, codec: str, column: str, event_id: str) -> bytes:
        """Raises CaptureError."""
        return self._opener.open(cell, f"{column} {event_id}") if codec == SEALED else cell

    def payload(self, cell: bytes, codec: str, column: str, event_id: str, form: Any) -> Payload:
        """Raises IsthmusError."""
        return self._read(form, self.plain(cell, codec, column, event_id))
