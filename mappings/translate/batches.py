"""An EventBatch on the JMS side: one message per event, in order, marked as belonging together (OC-SEQ-1)."""

from __future__ import annotations

from collections.abc import Sequence

from mappings.model import Message, MessageProperty
from mappings.translate.names import BATCH, PROFILES
from mappings.translate.options import ProfileName


def in_batch(messages: Sequence[Message], batch_id: str, profile: ProfileName = "borland") -> list[Message]:
    """The messages with JMSXGroupID, JMSXGroupSeq from 1 on, and `$batch`, the size of the batch.

    Receivers of ours ignore the three on the way back, and brokers keep a group together.
    """
    name = PROFILES[profile].root(BATCH)
    size = len(messages)
    return [
        Message(
            message.headers,
            (
                *message.properties,
                MessageProperty("JMSXGroupID", "String", batch_id),
                MessageProperty("JMSXGroupSeq", "int", number),
                MessageProperty(name, "int", size),
            ),
            message.body,
        )
        for number, message in enumerate(messages, 1)
    ]
