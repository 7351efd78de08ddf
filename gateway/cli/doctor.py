"""`isthmus doctor`: what is wrong between us and a CORBA service, before a link finds out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from adapters.cosnotification.doctor.diagnosis import Diagnosis
    from adapters.cosnotification.local_orb import LocalOrb
    from adapters.cosnotification.settings import OrbSettings

YAML: Final = (".yaml", ".yml")
STYLES: Final = {"ok": "green", "note": "cyan", "warning": "yellow", "error": "bold red"}


def doctor(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="REFERENCE|CONFIGURATION…",
            help="IOR:…, corbaloc:…, corbaname:…, a URL or file that holds one of them; or a configuration (.yaml), whose "
            "CORBA endpoints are all examined, and its services where they run.",
            show_default=False,
        ),
    ],
    callback: Annotated[
        bool, typer.Option("--callback", help="Prove the way back: one event through a scratch channel to us.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Decode only; touch no network.")] = False,
    listen: Annotated[
        str | None,
        typer.Option(help="host:port for calls back; orb.listen where a configuration says.", show_default=False),
    ] = None,
    publish: Annotated[
        str | None,
        typer.Option(help="host:port in our references, where others reach us by another.", show_default=False),
    ] = None,
    ca_file: Annotated[
        str | None,
        typer.Option(
            help="PEM file of the authorities that vouch for web servers (https://…); orb.ca_file where a configuration says.",
            show_default=False,
        ),
    ] = None,
    timeout_ms: Annotated[int, typer.Option(min=1, help="Longest wait for each answer.")] = 5_000,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")] = False,
) -> None:
    """Examine references to CORBA objects: what they say, whether they lead somewhere, and whether that can call us back."""
    failed = False
    for option, address, any_port in (("--listen", listen, True), ("--publish", publish, False)):
        _check_address(option, address, any_port=any_port)
    given = {"listen": listen, "publish": publish, "ca_file": ca_file, "call_timeout_ms": timeout_ms}
    given = {name: value for name, value in given.items() if value is not None}
    for orb_settings, found in _patients(targets, given):
        with _orb(orb_settings) as (orb, trouble):
            for name, reference in found:
                diagnosis = _examine(orb, name, reference, timeout_ms, callback=callback, offline=offline)
                for each in trouble:
                    diagnosis.add("listen", "note", each)
                failed = failed or diagnosis.verdict == "error"
                print(json.dumps(diagnosis.to_json(), ensure_ascii=False)) if as_json else _show(diagnosis)
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def _patients(targets: list[str], given: dict[str, Any]) -> Iterator[tuple[OrbSettings, list[tuple[str, str]]]]:
    """Names and references, with the ORB that they are examined with."""
    from adapters.cosnotification.settings import OrbSettings

    plain = [(target, target) for target in targets if not target.endswith(YAML)]
    if plain:
        yield OrbSettings(**given), plain
    for target in targets:
        if target.endswith(YAML):
            settings = _settings(Path(target))
            if not any(found for _, found in _by_orb(settings)):
                print(f"{target}: no CORBA endpoint, and no service that runs: nothing to examine", file=sys.stderr)
            yield from ((orb.model_copy(update=given), found) for orb, found in _by_orb(settings) if found)


def _settings(file: Path) -> Any:
    from gateway.settings import SettingsError, load

    try:
        return load(file)
    except SettingsError as error:
        for finding in error.findings:
            print(finding, file=sys.stderr)
        raise typer.Exit(ExitCode.CONFIGURATION) from None


def _by_orb(settings: Any) -> list[tuple[OrbSettings, list[tuple[str, str]]]]:
    """The references of a configuration, each with the ORB that the gateway has for it: one endpoint may need its own."""
    from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint

    found: list[tuple[OrbSettings, list[tuple[str, str]]]] = [(settings.orb, [])]

    def add(endpoint: Any, name: str, reference: str | None) -> None:
        if reference is None or not isinstance(endpoint, CosNotificationEndpoint):
            return
        orb = settings.orb if endpoint.orb is None else endpoint.orb.over(settings.orb)
        for known, references in found:
            if known == orb:
                references.append((name, reference))
                return
        found.append((orb, [(name, reference)]))

    for id_, endpoint in settings.endpoints.items():
        add(endpoint, f"endpoint {id_}", getattr(endpoint, "factory", None))
    for id_, channel in settings.channels.items():
        if isinstance(channel, CosNotificationChannel):
            add(settings.endpoints.get(channel.endpoint), f"channel {id_}", channel.reference)
    if settings.orb.naming_service is not None:
        found[0][1].append(("orb.naming_service", settings.orb.naming_service))
    found[0][1].extend(_of_services(settings))
    return found


def _of_services(settings: Any) -> Iterator[tuple[str, str]]:
    """What the gateway hosts itself, if it runs: the files are there as long as it does."""
    for name in settings.services.model_fields_set:
        file = getattr(getattr(settings.services, name), "factory_ior", None)
        if file is not None and Path(file).is_file():
            yield f"services.{name}", file


def _check_address(option: str, text: str | None, *, any_port: bool) -> None:
    from gateway.settings.addresses import AddressError, parse_address

    if text is not None:
        try:
            parse_address(text, any_port=any_port)
        except AddressError as error:
            raise typer.BadParameter(f"{text} is no address: {error}", param_hint=option) from None


@contextmanager
def _orb(settings: OrbSettings) -> Iterator[tuple[LocalOrb, list[str]]]:
    """An ORB of our own; where the address is taken, as by a gateway that runs, on another port of the same host."""
    from adapters.base import StopError
    from adapters.cosnotification.local_orb import LocalOrb

    orb, trouble = LocalOrb(settings), []
    try:
        orb.start()
    except StopError:
        host = settings.listen.rpartition(":")[0]
        trouble.append(f"{settings.listen} is taken, by the gateway perhaps: another port was used for calls back")
        orb = LocalOrb(settings.model_copy(update={"listen": f"{host}:0", "publish": None}))
        orb.start()
    try:
        yield orb, trouble
    finally:
        orb.stop()


def _examine(orb: LocalOrb, name: str, reference: str, timeout_ms: int, *, callback: bool, offline: bool) -> Diagnosis:
    from adapters.cosnotification.doctor.callback import prove
    from adapters.cosnotification.doctor.examination import Examination
    from adapters.cosnotification.stubs import CosNotifyChannelAdmin

    diagnosis, found = Examination(orb, timeout_ms, offline=offline).examine(reference)
    diagnosis.target = name
    if callback and found is not None:
        factory = found._narrow(CosNotifyChannelAdmin.EventChannelFactory)
        if factory is None:
            diagnosis.add("callback", "note", "only an EventChannelFactory can make a scratch channel")
        else:
            prove(orb, factory, timeout_ms, diagnosis)
    return diagnosis


def _show(diagnosis: Diagnosis) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    shown = diagnosis.target if len(diagnosis.target) <= 100 else f"{diagnosis.target[:80]}…"
    console.print(f"[bold]{escape(_visible(shown))}[/]")
    for profile in diagnosis.reference.profiles if diagnosis.reference is not None else ():
        where = ", ".join(map(str, profile.addresses))
        console.print(f"  IIOP {profile.version} at {escape(_visible(where))}, object key {len(profile.key)} octets")
    for check in diagnosis.checks:
        style = STYLES[check.verdict]
        console.print(f"  [{style}]{check.verdict:<8}[/]{escape(check.name)}: {escape(_visible(check.message))}")
        if check.hint and check.verdict != "ok":
            console.print(f"          [dim]{escape(_visible(check.hint))}[/]")


def _visible(text: str) -> str:
    """What stands in a reference is written by others: it must not speak to the terminal."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)
