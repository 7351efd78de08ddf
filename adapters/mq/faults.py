"""What a reason code means for us: what the caller must do, and where an operator should look."""

from __future__ import annotations

from typing import Final, Literal

from adapters.base import DeadLetterError, ReconnectError, RetryLaterError
from adapters.mq import mqi

Kind = Literal["lost", "later", "message", "refused", "unknown"]
"""The connection is gone; it is fine, but not now; this one message; a setting or right at either side; nobody knows."""

_LOST: Final = {
    2009: "CONNECTION_BROKEN", 2018: "HCONN_ERROR", 2019: "HOBJ_ERROR", 2059: "Q_MGR_NOT_AVAILABLE", 2161: "Q_MGR_QUIESCING",
    2162: "Q_MGR_STOPPING", 2195: "UNEXPECTED_ERROR", 2202: "CONNECTION_QUIESCING", 2203: "CONNECTION_STOPPING",
    2223: "Q_MGR_NOT_ACTIVE", 2273: "CONNECTION_ERROR", 2537: "CHANNEL_NOT_AVAILABLE", 2538: "HOST_NOT_AVAILABLE",
    2539: "CHANNEL_CONFIG_ERROR", 2548: "RECONNECT_FAILED", 2549: "CALL_INTERRUPTED", 2594: "PASSWORD_PROTECTION_ERROR",
}  # fmt: skip
_LATER: Final = {
    2003: "BACKED_OUT", 2016: "GET_INHIBITED", 2017: "HANDLE_NOT_AVAILABLE", 2024: "SYNCPOINT_LIMIT_REACHED",
    2042: "OBJECT_IN_USE", 2051: "PUT_INHIBITED", 2053: "Q_FULL", 2056: "Q_SPACE_NOT_AVAILABLE", 2071: "STORAGE_NOT_AVAILABLE",
    2102: "RESOURCE_PROBLEM", 2192: "STORAGE_MEDIUM_FULL", 2219: "CALL_IN_PROGRESS",
}  # fmt: skip
_MESSAGE: Final = {
    2010: "DATA_LENGTH_ERROR", 2027: "MISSING_REPLY_TO_Q", 2030: "MSG_TOO_BIG_FOR_Q", 2031: "MSG_TOO_BIG_FOR_Q_MGR",
    2047: "PERSISTENCE_ERROR", 2048: "PERSISTENT_NOT_ALLOWED", 2050: "PRIORITY_ERROR", 2061: "REPORT_OPTIONS_ERROR",
    2142: "HEADER_ERROR", 2190: "CONVERTED_STRING_TOO_BIG", 2218: "MSG_TOO_BIG_FOR_CHANNEL", 2258: "GROUP_ID_ERROR",
    2334: "RFH_ERROR", 2421: "RFH_FORMAT_ERROR",
}  # fmt: skip
_REFUSED: Final = {
    2035: "NOT_AUTHORIZED", 2043: "OBJECT_TYPE_ERROR", 2045: "OPTION_NOT_VALID_FOR_TYPE", 2046: "OPTIONS_ERROR",
    2052: "Q_DELETED", 2057: "Q_TYPE_ERROR", 2058: "Q_MGR_NAME_ERROR", 2063: "SECURITY_ERROR", 2067: "SELECTOR_ERROR",
    2082: "UNKNOWN_ALIAS_BASE_Q", 2085: "UNKNOWN_OBJECT_NAME", 2087: "UNKNOWN_REMOTE_Q_MGR", 2092: "XMIT_Q_USAGE_ERROR",
    2093: "NOT_OPEN_FOR_PASS_ALL", 2094: "NOT_OPEN_FOR_PASS_IDENT", 2095: "NOT_OPEN_FOR_SET_ALL",
    2096: "NOT_OPEN_FOR_SET_IDENT", 2189: "CLUSTER_RESOLUTION_ERROR", 2277: "CD_ERROR", 2278: "CLIENT_CONN_ERROR",
    2381: "KEY_REPOSITORY_ERROR",
    2393: "SSL_INITIALIZATION_ERROR", 2396: "SSL_NOT_ALLOWED", 2397: "JSSE_ERROR", 2398: "SSL_PEER_NAME_MISMATCH",
    2429: "SUBSCRIPTION_IN_USE", 2540: "UNKNOWN_CHANNEL_NAME",
}  # fmt: skip
_TLS: Final = frozenset({2381, 2393, 2396, 2397, 2398})
_LOGIN: Final = frozenset({2035, 2063})
_KINDS: Final[dict[int, Kind]] = {
    **dict.fromkeys(_LOST, "lost"),
    **dict.fromkeys(_LATER, "later"),
    **dict.fromkeys(_MESSAGE, "message"),
    **dict.fromkeys(_REFUSED, "refused"),
}
_NAMES: Final = {**_LOST, **_LATER, **_MESSAGE, **_REFUSED}


class MqiFailure(Exception):
    """A call of the MQI that did not end well. A warning may have done its work all the same: see the caller."""

    def __init__(self, verb: str, completion: int, reason: int) -> None:
        super().__init__(f"{verb} {reason}")
        self.verb = verb
        self.completion = completion
        self.reason = reason

    @property
    def kind(self) -> Kind:
        return _KINDS.get(self.reason, "unknown")

    @property
    def is_warning(self) -> bool:
        return self.completion == mqi.MQCC_WARNING

    @property
    def text(self) -> str:
        known = _NAMES.get(self.reason)
        return f"{self.verb} gave reason {self.reason}" + (f" (MQRC_{known})" if known else "")


class NoPlace(MqiFailure):
    """A message that has been backed out too often can be put nowhere."""


def lost(failure: MqiFailure, path: str) -> ReconnectError:
    """Whatever it was: close, wait, connect again. The code tells where to look."""
    reason = failure.reason
    code, hint = "MQ-REASON", "see IBM's documentation of the reason code"
    if isinstance(failure, NoPlace):
        code, hint = "MQ-POISON", "mend the backout queue or the dead-letter queue; the message stays where it is"
    elif reason in _TLS:
        code, hint = "MQ-TLS", "check `tls` here and the channel there"
    elif reason in _LOGIN:
        code, hint = "MQ-ACCESS", "check user and password, and the rights that the queue manager gives"
        if failure.verb == "MQCONNX":
            code = "MQ-LOGIN"
    elif failure.verb == "MQCONNX" and failure.kind == "lost":
        code, hint = "MQ-UNREACHABLE", "see whether the queue manager and its listener run, and `hosts`"
    elif failure.kind == "lost":
        code, hint = "MQ-LOST", "nothing: the link connects anew"
    elif failure.kind == "refused":
        code, hint = "MQ-OBJECT", "compare names and options with the definitions at the queue manager"
    elif failure.kind == "later":
        code, hint = "MQ-BUSY", "see whether the queue is inhibited or in use"
    return ReconnectError(code, failure.text, path=path, hint=hint)


def later(failure: MqiFailure, path: str) -> RetryLaterError:
    if failure.reason == mqi.MQRC_Q_FULL:
        return RetryLaterError("MQ-FULL", failure.text, path=path, hint="let the queue be read, or raise its MAXDEPTH")
    if failure.kind == "refused":
        return RetryLaterError("MQ-OBJECT", failure.text, path=path, hint="create the queue, or mend the route")
    return RetryLaterError(
        "MQ-BUSY", failure.text, path=path, hint="see whether the queue is inhibited or short of space"
    )


def refused(failure: MqiFailure, path: str) -> DeadLetterError:
    return DeadLetterError("MQ-REFUSED", failure.text, path=path, hint="see the dead letter")
