"""The one place that knows the libraries: `ibmmq` and `pymqi`, whose names are nearly the same and whose defaults are not.

Structure versions are pinned, because pymqi's version 1 of MQMD and MQGMO loses group fields and match options; PubLevel and
SubLevel are set, because pymqi's zeros hide publications. Neither library's own MQRFH2, nor its way of getting a message of
unknown length, is used: see docs/mq.md for why.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from adapters.base import StopError
from adapters.mq import mqi
from adapters.mq.settings import MqEndpoint

_CLIENT_LIBRARIES: Final = ("libmqm_r.so", "libmqic_r.so")
_STAND_IN_SYMBOL: Final = "isthmus_stand_in"


class Library:
    """`ibmmq` or `pymqi`, with constructors that leave no default to chance."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.name = module.__name__
        self.Error: type[Exception] = module.MQMIError
        self.InterfaceError: type[Exception] = module.PYIFError

    def MD(self, **fields: Any) -> Any:
        return self.module.MD(Version=2, **fields)

    def GMO(self, **fields: Any) -> Any:
        return self.module.GMO(Version=4, **fields)

    def PMO(self, **fields: Any) -> Any:
        return self.module.PMO(Version=3, PubLevel=9, **fields)

    def OD(self, **fields: Any) -> Any:
        return self.module.OD(Version=4, **fields)

    def SD(self, **fields: Any) -> Any:
        return self.module.SD(SubLevel=1, **fields)

    def connect(self, endpoint: MqEndpoint) -> Any:
        """A QueueManager of the library. It never disconnects by itself: MQDISC would commit whatever is open."""
        manager = self.module.QueueManager(None, disconnect_on_exit=False)
        options = mqi.MQCNO_RECONNECT_DISABLED | mqi.MQCNO_HANDLE_SHARE_BLOCK
        wishes: dict[str, Any] = {}
        if endpoint.channel is not None:
            options |= mqi.MQCNO_CLIENT_BINDING
            wishes["cd"] = self._channel(endpoint)
        if endpoint.tls is not None:
            wishes["sco"] = self._key_repository(endpoint)
        if hasattr(self.module, "CNO"):
            wishes["cno"] = self._options(endpoint, options)
            wishes["csp"] = self._login(endpoint)
        else:
            wishes["opts"] = options
            if endpoint.user is not None and endpoint.password is not None:
                wishes["user"] = endpoint.user.encode()
                wishes["password"] = endpoint.password.get_secret_value().encode()
        manager.connect_with_options(endpoint.queue_manager, **wishes)
        return manager

    def check(self, endpoint: MqEndpoint) -> None:
        """Raises StopError where the endpoint wishes for what pymqi does not know."""
        if hasattr(self.module, "CNO"):
            return
        tls = endpoint.tls
        wished = {
            "token": endpoint.token,
            "ccdt": endpoint.ccdt,
            "tls.peer_name": tls and tls.peer_name,
            "tls.key_repository_password": tls and tls.key_repository_password,
        }
        lacking = [name for name, wish in wished.items() if wish is not None]
        if lacking:
            raise StopError("MQ-LIBRARY", f"the library {self.name} knows no `{lacking[0]}`", hint="install ibmmq")

    def _channel(self, endpoint: MqEndpoint) -> Any:
        assert endpoint.channel is not None
        channel = self.module.CD(
            ChannelName=endpoint.channel.encode(),
            ConnectionName=endpoint.connection_name.encode(),
            ChannelType=mqi.MQCHT_CLNTCONN,
            TransportType=mqi.MQXPT_TCP,
        )
        if endpoint.tls is not None:
            channel.SSLCipherSpec = endpoint.tls.cipher_spec.encode()
            if endpoint.tls.peer_name is not None:
                channel.SSLPeerNamePtr = endpoint.tls.peer_name.encode()
        return channel

    def _key_repository(self, endpoint: MqEndpoint) -> Any:
        tls = endpoint.tls
        assert tls is not None
        repository = self.module.SCO(KeyRepository=tls.key_repository.encode())
        if tls.certificate_label is not None:
            repository.Version = max(repository.Version, 5)
            repository.CertificateLabel = tls.certificate_label.encode()
        if tls.key_repository_password is not None:
            repository.Version = max(repository.Version, 6)
            repository.KeyRepoPassword = tls.key_repository_password.get_secret_value().encode()
        return repository

    def _options(self, endpoint: MqEndpoint, options: int) -> Any:
        cno = self.module.CNO(Options=options)
        if hasattr(cno, "ApplName"):
            cno.Version, cno.ApplName = 7, endpoint.application_name.encode()
        if endpoint.ccdt is not None:
            cno.Version, cno.CCDTUrl = max(cno.Version, 6), endpoint.ccdt.encode()
        return cno

    def _login(self, endpoint: MqEndpoint) -> Any:
        if endpoint.token is not None:
            return self.module.CSP(Token=endpoint.token.get_secret_value().encode())
        if endpoint.user is None or endpoint.password is None:
            return self.module.CSP()
        # As bytes: the library takes text for ASCII, and a password need not be.
        return self.module.CSP(
            CSPUserId=endpoint.user.encode(), CSPPassword=endpoint.password.get_secret_value().encode()
        )


def load(endpoint: MqEndpoint) -> Library:
    """The library that the endpoint asks for. Raises StopError where none can be had, or where it is a stand-in unasked."""
    if endpoint.stand_in is not None and endpoint.stand_in.where == "process":
        from adapters.mq.standin import host

        host.provide(endpoint)
    elif endpoint.client_folder is not None:
        _preload(Path(endpoint.client_folder))
    os.environ.setdefault(
        "MQIPY_NOOTEL", "true"
    )  # else ibmmq adds properties of its own where OpenTelemetry is installed
    reasons: list[str] = []
    for name in ("ibmmq", "pymqi") if endpoint.library == "auto" else (endpoint.library,):
        try:
            library = Library(importlib.import_module(name))
        except ImportError as error:
            # ibmmq tries a second import when the first fails: the first one tells.
            reasons.append(f"{name}: {error.__context__ or error}")
            continue
        if endpoint.stand_in is None and _is_stand_in(library):
            raise StopError(
                "MQ-STAND-IN",
                f"the client library of {name} is a stand-in, and this endpoint does not ask for one",
                hint="give the endpoint `client_folder`, or `stand_in` for a trial",
            )
        library.check(endpoint)
        return library
    raise StopError(
        "MQ-LIBRARY",
        f"no library for IBM MQ can be used ({'; '.join(reasons)})",
        hint="install isthmus[mq] and IBM's redistributable client, and see docs/mq.md",
    )


def _preload(folder: Path) -> None:
    """Load IBM's client from its folder, so that no LD_LIBRARY_PATH is needed. Raises StopError."""
    found = [folder / "lib64" / name for name in _CLIENT_LIBRARIES if (folder / "lib64" / name).is_file()]
    if not found:
        raise StopError(
            "MQ-LIBRARY", f"{folder / 'lib64'} holds no client library of IBM MQ", path="client_folder",
            hint="unpack IBM's redistributable client there",
        )  # fmt: skip
    for path in found:
        try:
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise StopError("MQ-LIBRARY", f"{path} cannot be loaded: {error}", path="client_folder") from None


def _is_stand_in(library: Library) -> bool:
    for part in ("ibmmqc", "pymqe"):
        c_part = getattr(library.module, part, None)
        if c_part is not None and hasattr(c_part, _STAND_IN_SYMBOL):
            return True
    with contextlib.suppress(OSError, TypeError):
        return hasattr(ctypes.CDLL(None), _STAND_IN_SYMBOL)  # a library that was loaded with RTLD_GLOBAL
    return False
