"""JMS selectors on subscriptions, by the project's own engine."""

from __future__ import annotations

from collections.abc import Callable

from adapters.embedded_broker.messages import StoredMessage
from adapters.stomp.codec import CodecError, Decoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame
from mappings.errors import FilterError


class SelectorError(ValueError):
    """A selector that does not parse."""


def acceptor(text: str) -> Callable[[StoredMessage], bool]:
    """Whether a subscription with this selector takes a message.

    STOMP properties are text, and by the rules of JMS no text is ever greater than a number. So, as ActiveMQ does for its STOMP
    subscribers, text counts as a number or a boolean where it is compared with one.
    """
    from mappings.filters.selector import CONVERT_PREFIX, compile_selector  # the grammar is loaded where one is used

    try:
        selector = compile_selector(text if text.lstrip().startswith(CONVERT_PREFIX) else CONVERT_PREFIX + text)
    except FilterError as error:
        raise SelectorError(str(error)) from None
    decoder = Decoder(FLAVOURS["embedded"])

    def accepts(stored: StoredMessage) -> bool:
        try:
            return selector.matches_values(
                decoder.values(Frame(b"MESSAGE\nmessage-id:" + stored.id + stored.lines, stored.body))
            )
        except CodecError:
            return False

    return accepts
