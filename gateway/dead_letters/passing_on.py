"""Passes the dead letters of a link on to a channel: a queue that people or programs look after (`dead_letter.channel`).

A letter is taken out of the link's file when the far side has confirmed it: a crash in between brings it there twice. What the far
side refuses for good stays in the file.

The message is the dead one itself, where it was one, with properties that say why it is here; what was an event, or could not be
decoded, is a TextMessage with the letter's JSON:

    dl_link, dl_code, dl_message, dl_path, dl_rule, dl_id    String
    dl_received_at, dl_at                                    long, milliseconds since 1970
    dl_attempts                                              int
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final

from adapters.base import (
    AdapterError,
    Confirmation,
    DeadLetterError,
    Outgoing,
    ReconnectError,
    RetryLaterError,
    Sink,
    StopError,
)
from adapters.settings_base import BackOff
from gateway.dead_letters.letters import DeadLettersError, Letter, letters_in
from gateway.dead_letters.removal import remove
from gateway.links.connection import Connection
from gateway.links.observer import LinkObserver
from mappings.model import Body, Headers, Message, MessageProperty

LOOK_SECS: Final = 2.0
CONFIRM_SECS: Final = 30.0
LONGEST_TEXT: Final = 4_000


class PassingOn:
    def __init__(self, link: str, path: Path, sink: Sink, back_off: BackOff, observer: LinkObserver) -> None:
        self._link = link
        self._path = path
        self._sink = sink
        self._end = Connection(link, "dead-letters", sink, back_off, observer)
        self._batch = min(100, sink.capabilities.max_batch)
        self._refused: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"dead-letters-{link}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join(CONFIRM_SECS + 10.0)

    def _run(self) -> None:
        try:
            while not self._stopping.wait(LOOK_SECS):
                while not self._stopping.is_set() and self._turn():
                    pass
        except StopError:
            pass  # said already; the letters stay where they are
        finally:
            self._end.close()

    def _turn(self) -> bool:
        """True while there is more to do at once."""
        try:
            letters = list(islice(self._waiting(), self._batch))
            if not letters:
                return False
            self._end.attempt()
            if not self._end.ready:
                return False
            done = self._send(letters)
            remove(self._path, done)
        except ReconnectError as error:
            self._end.lost(error)
            return False
        except (RetryLaterError, OSError, DeadLettersError):
            return False  # later
        return bool(done)

    def _waiting(self) -> Iterable[Letter]:
        return (
            letter for letter in letters_in(self._path, self._link) if letter.key not in self._refused and letter.form
        )

    def _send(self, letters: list[Letter]) -> frozenset[str]:
        letters, batch = self._made_of(letters)
        if not batch:
            return frozenset()
        confirmation: Confirmation = self._sink.send(batch)
        try:
            refusals = confirmation.result(CONFIRM_SECS)
        except TimeoutError:
            raise ReconnectError("LNK-DEAD-LETTER-CHANNEL", "a dead letter was not confirmed in time") from None
        later = {refusal.index for refusal in refusals}
        self._refused.update(
            letters[refusal.index].key for refusal in refusals if isinstance(refusal.error, DeadLetterError)
        )
        return frozenset(letter.key for index, letter in enumerate(letters) if index not in later)

    def _made_of(self, letters: list[Letter]) -> tuple[list[Letter], list[Outgoing]]:
        """What somebody has changed so that no message can be made of it stays in the file, and holds up no other."""
        made, batch = [], []
        for letter in letters:
            try:
                batch.append(Outgoing(message_of(letter), letter.key))
            except (ValueError, TypeError, AttributeError, OverflowError):
                self._refused.add(letter.key)
            else:
                made.append(letter)
        return made, batch


def message_of(letter: Letter) -> Message:
    form = letter.form
    assert form is not None
    dead: Message | None = None
    if isinstance((form.get("payload") or {}).get("message"), dict):
        try:
            payload = letter.delivery().payload
            dead = payload if isinstance(payload, Message) else None
        except (DeadLettersError, AdapterError):
            dead = None
    said = _properties(form)
    if dead is None:
        text = json.dumps(form, ensure_ascii=False)
        return Message(Headers(JMSType="isthmus.dead-letter"), said, Body("TextMessage", text))
    names = {name for name, _, _ in said}
    kept = tuple(property_ for property_ in dead.properties if property_[0] not in names)
    headers = Headers(
        JMSType=dead.headers.JMSType,
        JMSPriority=dead.headers.JMSPriority,
        JMSCorrelationID=dead.headers.JMSCorrelationID,
    )
    return Message(headers, (*kept, *said), dead.body)


def _properties(form: dict[str, Any]) -> tuple[MessageProperty, ...]:
    error = form["error"]
    texts = {
        "dl_link": form.get("link"),
        "dl_code": error.get("code"),
        "dl_message": error.get("message"),
        "dl_path": error.get("path"),
        "dl_rule": form.get("rule"),
        "dl_id": form.get("id"),
    }
    return (
        *(
            MessageProperty(name, "String", str(text or "").replace("\0", "")[:LONGEST_TEXT])
            for name, text in texts.items()
        ),
        MessageProperty("dl_received_at", "long", int(float(form.get("received_at") or 0) * 1000)),
        MessageProperty("dl_at", "long", int(float(form["dead_lettered_at"]) * 1000)),
        MessageProperty("dl_attempts", "int", int(form.get("attempts") or 0)),
    )
