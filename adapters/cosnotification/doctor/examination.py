"""The examination of one reference, from its text to the object behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from adapters.base import AdapterError
from adapters.cosnotification.doctor import addresses
from adapters.cosnotification.doctor.diagnosis import Diagnosis
from adapters.cosnotification.faults import spell
from adapters.cosnotification.ior import Address, BadReference, IiopProfile, decode_ior
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.references import find_object, read_reference
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosNaming,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin,
    CosTypedNotifyChannelAdmin,
)

KINDS: Final = (
    (CosNotifyChannelAdmin.EventChannelFactory, "an EventChannelFactory"),
    (CosTypedNotifyChannelAdmin.TypedEventChannelFactory, "a TypedEventChannelFactory"),
    (CosNotifyChannelAdmin.EventChannel, "an EventChannel of a Notification Service"),
    (CosTypedNotifyChannelAdmin.TypedEventChannel, "a TypedEventChannel of a Notification Service"),
    (CosEventChannelAdmin.EventChannel, "an EventChannel of an Event Service"),
    (CosTypedEventChannelAdmin.TypedEventChannel, "a TypedEventChannel of an Event Service"),
    (CosNaming.NamingContext, "a naming context"),
)
_CORBALOC: Final = re.compile(r"corbaloc:(?P<addresses>[^/]*)/(?P<key>.+)", re.IGNORECASE)
_LOCATION: Final = re.compile(
    r"(?P<protocol>iiop|ssliop|)?:(?:(?P<version>[0-9.]+)@)?(?P<host>\[[^\]]*\]|[^:,/]*)(?::(?P<port>[0-9]+))?",
    re.IGNORECASE,
)
DEFAULT_PORT: Final = 2809


class Examination:
    def __init__(self, orb: LocalOrb, timeout_ms: int, *, offline: bool = False) -> None:
        self._orb = orb
        self._timeout_ms = timeout_ms
        self._offline = offline

    def examine(self, target: str) -> tuple[Diagnosis, Any]:
        """What was found, and the object where it answers."""
        diagnosis = Diagnosis(target)
        try:
            text = read_reference(target, self._timeout_ms, self._orb.settings.ca_file)
        except AdapterError as error:
            diagnosis.add("reference", "error", error.message, error.hint)
            return diagnosis, None
        if text.lower().startswith("ior:"):
            self._ior(text, diagnosis)
        elif text.lower().startswith("corbaloc:"):
            self._corbaloc(text, diagnosis)
        else:
            diagnosis.add("reference", "note", "a name, which a naming service has to resolve")
        if self._offline or diagnosis.verdict == "error":
            return diagnosis, None
        return diagnosis, self._ask(text, diagnosis)

    def _ior(self, text: str, diagnosis: Diagnosis) -> None:
        try:
            reference = decode_ior(text)
        except BadReference as error:
            diagnosis.add("reference", "error", f"the IOR is damaged: {error}", "copy it again, whole and as one line")
            return
        diagnosis.reference = reference
        if reference.is_nil:
            diagnosis.add("reference", "error", "this is the nil reference: it leads to no object")
            return
        diagnosis.add("reference", "ok", f"an IOR of type {reference.type_id or '(none given)'}")
        if not reference.profiles:
            diagnosis.add("reference", "error", "it has no IIOP profile: its object cannot be reached over TCP")
        for profile in reference.profiles:
            self._profile(profile, diagnosis)

    def _profile(self, profile: IiopProfile, diagnosis: Diagnosis) -> None:
        if profile.orb is not None:
            diagnosis.add("orb", "ok", f"written by {profile.orb}")
        self._version(profile.version, diagnosis)
        self._code_set(profile, diagnosis)
        ports = ", ".join(str(tls.port or "as above") for tls in profile.tls)
        if profile.tls and profile.addresses[0].port == 0:
            diagnosis.add(
                "tls",
                "error",
                f"the server takes nothing but TLS (port {ports}), and the gateway's ORB has none",
                "put a TLS tunnel in front of the gateway: docs/cosnotification.md shows how",
            )
        elif profile.tls:
            diagnosis.add(
                "tls",
                "note",
                f"TLS is offered (port {ports}); the gateway's ORB has none",
                "put a TLS tunnel in front of the gateway where the server insists on it",
            )
        if profile.bidirectional:
            diagnosis.add("bidirectional", "ok", "it takes calls back over the connection that we open")
        self._addresses(_tried(profile), diagnosis)

    def _addresses(self, found: Sequence[Address], diagnosis: Diagnosis) -> None:
        """One of several is enough: the others cost time at each connect, and no more."""
        before = len(diagnosis.checks)
        reached = [addresses.examine(each, self._secs, diagnosis, offline=self._offline) for each in found]
        if any(reached):
            diagnosis.checks[before:] = [
                replace(check, verdict="warning") if check.verdict == "error" else check
                for check in diagnosis.checks[before:]
            ]

    def _version(self, version: str, diagnosis: Diagnosis) -> None:
        if version == "1.0":
            diagnosis.add(
                "version", "warning", "IIOP 1.0: code sets cannot be agreed upon, and text beyond ASCII may be garbled"
            )
        elif version == "1.1":
            diagnosis.add("version", "note", "IIOP 1.1: no wide strings, and no calls back over the same connection")
        elif version == "1.2":
            diagnosis.add("version", "ok", "IIOP 1.2")
        else:
            diagnosis.add("version", "warning", f"IIOP {version} is unknown; 1.2 is spoken instead")

    def _code_set(self, profile: IiopProfile, diagnosis: Diagnosis) -> None:
        ours, theirs = self._orb.settings.code_set, profile.code_sets
        if profile.version == "1.0":
            return
        if theirs is None or theirs.native == "none":
            diagnosis.add(
                "code set",
                "warning",
                "it does not say its code set: then only ISO-8859-1 travels",
                "keep text within ISO-8859-1, or let the server declare its code set",
            )
            return
        known = [theirs.native, *theirs.conversions]
        if ours in known or "UTF-8" in known:
            diagnosis.add("code set", "ok", f"its code set is {theirs.native}; with ours, {ours}, text travels")
        else:
            diagnosis.add(
                "code set",
                "warning",
                f"it knows {', '.join(known)}, and ours is {ours}",
                f"set orb.code_set: {theirs.native}" if theirs.native == "ISO-8859-1" else "keep text within ASCII",
            )

    def _corbaloc(self, text: str, diagnosis: Diagnosis) -> None:
        found = _CORBALOC.fullmatch(text)
        if found is None:
            diagnosis.add(
                "reference", "error", "corbaloc without the key of an object", "write corbaloc::host:port/key"
            )
            return
        if found["addresses"].lower() == "rir:":
            diagnosis.add("reference", "note", f"the initial reference {found['key']}")
            return
        diagnosis.add("reference", "ok", f"a corbaloc; the object's key is {found['key']}")
        locations = []
        for part in found["addresses"].split(","):
            location = _LOCATION.fullmatch(part)
            if location is None:
                diagnosis.add("reference", "error", f"{part} is no address", "write corbaloc::host:port/key")
                continue
            if (location["protocol"] or "").lower() == "ssliop":
                diagnosis.add("tls", "error", "ssliop: the gateway's ORB has no TLS", "go through a TLS tunnel")
                continue
            if location["version"]:
                self._version(location["version"], diagnosis)
            host = (location["host"] or addresses.HERE).strip("[]")
            locations.append(Address(host, int(location["port"] or DEFAULT_PORT)))
        self._addresses(locations, diagnosis)

    def _ask(self, text: str, diagnosis: Diagnosis) -> Any:
        """The object, where it answers."""
        try:
            found = find_object(self._orb, text, self._timeout_ms)
            if found is None:
                diagnosis.add("object", "error", "this is the nil reference: it leads to no object")
                return None
            if diagnosis.reference is None:
                self._resolved(found, diagnosis)
            set_time_out(found, self._timeout_ms)
            if found._non_existent():
                diagnosis.add(
                    "object",
                    "error",
                    "the server answers, and has no such object any more",
                    "look for its new reference",
                )
                return None
            kinds = [name for interface, name in KINDS if found._is_a(interface._NP_RepositoryId)]
        except AdapterError as error:
            diagnosis.add("object", "error", error.message, error.hint)
            return None
        except CORBA.Exception as error:
            diagnosis.add("object", "error", f"the object cannot be asked: {spell(error)}")
            return None
        what = " and ".join(kinds) or "of an interface that the gateway has no use for"
        diagnosis.add("object", "ok" if kinds else "warning", f"it answers, and is {what}")
        return found

    def _resolved(self, found: Any, diagnosis: Diagnosis) -> None:
        """What a name or a corbaloc has led to."""
        ior = self._orb.to_string(found)
        if diagnosis.target.lower().startswith("corbaloc:"):
            return  # made by our own ORB from that text: it says nothing more
        self._ior(ior, diagnosis)

    @property
    def _secs(self) -> float:
        return self._timeout_ms / 1000


def _tried(profile: IiopProfile) -> tuple[Address, ...]:
    if profile.tls and profile.addresses[0].port == 0:
        return tuple(Address(profile.addresses[0].host, tls.port) for tls in profile.tls if tls.port)
    return profile.addresses
