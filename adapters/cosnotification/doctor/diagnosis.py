"""What an examination has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.cosnotification.ior import ObjectReference

Verdict = Literal["ok", "note", "warning", "error"]
SEVERITY: tuple[Verdict, ...] = ("ok", "note", "warning", "error")


@dataclass(frozen=True, slots=True)
class Check:
    name: str  # what was looked at: reference, address, version, code set, tls, bidirectional, object, callback …
    verdict: Verdict
    message: str
    hint: str = ""


@dataclass(slots=True)
class Diagnosis:
    target: str
    reference: ObjectReference | None = None
    checks: list[Check] = field(default_factory=list)

    def add(self, name: str, verdict: Verdict, message: str, hint: str = "") -> None:
        self.checks.append(Check(name, verdict, message, hint))

    @property
    def verdict(self) -> Verdict:
        return max((check.verdict for check in self.checks), key=SEVERITY.index, default="ok")

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "verdict": self.verdict,
            "reference": None if self.reference is None else _reference(self.reference),
            "checks": [
                {"name": each.name, "verdict": each.verdict, "message": each.message, "hint": each.hint}
                for each in self.checks
            ],
        }


def _reference(reference: ObjectReference) -> dict[str, Any]:
    return {
        "type_id": reference.type_id,
        "profiles": [
            {
                "version": profile.version,
                "addresses": [str(address) for address in profile.addresses],
                "object_key": profile.key.hex(),
                "orb": profile.orb,
                "code_set": profile.code_sets and [profile.code_sets.native, *profile.code_sets.conversions],
                "wide_code_set": profile.wide_code_sets
                and [profile.wide_code_sets.native, *profile.wide_code_sets.conversions],
                "tls_ports": [tls.port for tls in profile.tls],
                "bidirectional": profile.bidirectional,
                "components": [f"{tag:#x}" for tag in profile.components],
            }
            for profile in reference.profiles
        ],
        "other_profiles": [f"{tag:#x}" for tag in reference.other_profiles],
    }
