"""What a caller of MQCONNX tells of itself: out of MQCNO, MQCD, MQCSP and MQSCO, and of a client channel definition table."""

from __future__ import annotations

import ctypes
import json
import struct
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from adapters.mq.mqi import MQRC_CLIENT_CONN_ERROR, MQRC_Q_MGR_NAME_ERROR
from adapters.mq.standin.connections import Login, MqiError, Tls
from adapters.mq.standin.structures import name

_CD_VERSION_AT: Final = 20
_POINTED: Final = struct.Struct("@Pii")  # a pointer, an offset that nobody uses, and a length
_USER_AND_PASSWORD: Final = 1  # MQCSP_AUTH_USER_ID_AND_PWD
_TOKEN: Final = 2  # MQCSP_AUTH_ID_TOKEN


class Strings(NamedTuple):
    """What the pointers in these structures lead to."""

    user: str | None = None
    password: str | None = None
    token: str | None = None
    peer_name: str | None = None
    key_repository_password: str | None = None
    ccdt: str | None = None


def strings_of(cno: bytes, cd: bytes | None, csp: bytes | None, sco: bytes | None) -> Strings:
    """Where the caller is this very process."""
    user = password = token = None
    kind = struct.unpack_from("i", csp, 8)[0] if csp else 0
    if csp and kind == _USER_AND_PASSWORD:
        user, password = _pointed(csp, 16), _pointed(csp, 40)
    elif csp and kind == _TOKEN:
        token = _pointed(csp, 88)
    peer_name = None
    if cd and _version(cd, _CD_VERSION_AT) >= 7:
        pointer, length = struct.unpack_from("@Pi", cd, 1720)
        peer_name = ctypes.string_at(pointer, length).decode() if pointer else None
    secret = _pointed(sco, 632) if sco and _version(sco) >= 6 else None
    return Strings(user, password, token, peer_name, secret, _pointed(cno, 200) if _version(cno) >= 6 else None)


def login_of(manager: str, cno: bytes, cd: bytes | None, sco: bytes | None, strings: Strings) -> Login:
    """Raises MqiError where a client channel definition table leads nowhere."""
    channel = connection_name = cipher = peer_name = ""
    if cd:
        channel, connection_name, peer_name = name(cd[:20]), name(cd[1024:1288]), strings.peer_name or ""
        if _version(cd, _CD_VERSION_AT) >= 7:
            cipher = name(cd[1688:1720])
    elif strings.ccdt:
        channel, connection_name, cipher, peer_name = _from_table(strings.ccdt, manager.lstrip("*"))
    repository = name(sco[8:264]) if sco else ""
    label = name(sco[564:628]) if sco and _version(sco) >= 5 else ""
    tls = Tls(cipher, peer_name, repository, strings.key_repository_password or "", label)
    application = name(cno[224:252]) if _version(cno) >= 7 else ""
    return Login(channel, connection_name, strings.user, strings.password, strings.token, application, tls)


def _from_table(url: str, manager: str) -> tuple[str, str, str, str]:
    """Name, hosts, cipher specification and peer name of the first channel that leads to this queue manager."""
    try:
        table: Any = json.loads(Path(unquote(urlsplit(url).path)).read_text(encoding="utf-8"))
        for channel in table["channel"]:
            way = channel["clientConnection"]
            if manager in ("", way.get("queueManager")):
                hosts = ",".join(f"{host['host']}({host.get('port', 1414)})" for host in way["connection"])
                security = channel.get("transmissionSecurity", {})
                return (
                    channel["name"],
                    hosts,
                    security.get("cipherSpecification", ""),
                    security.get("certificatePeerName", ""),
                )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise MqiError(MQRC_CLIENT_CONN_ERROR) from None
    raise MqiError(MQRC_Q_MGR_NAME_ERROR)


def _version(structure: bytes, at: int = 4) -> int:
    return int(struct.unpack_from("i", structure, at)[0]) if len(structure) >= at + 4 else 0


def _pointed(structure: bytes, offset: int) -> str | None:
    if len(structure) < offset + _POINTED.size:
        return None
    pointer, _, length = _POINTED.unpack_from(structure, offset)
    return ctypes.string_at(pointer, length).decode() if pointer else None
