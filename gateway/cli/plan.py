"""`isthmus plan NEW.yaml` and `isthmus apply NEW.yaml`: what a changed configuration does to the running gateway, and do it.

Both run where the gateway was started: `run_dir` of the new configuration leads them to it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from math import isinf
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.appliance.active import Active, read_active
from gateway.appliance.applying import Removal, ask_to_remove
from gateway.appliance.plan import Plan
from gateway.appliance.plan import plan as plan_of
from gateway.appliance.run_dir import write_whole
from gateway.settings import Settings, SettingsError, Source, read
from mappings.errors import IsthmusError

POLL_SECS: Final = 0.1

New = Annotated[
    Path, typer.Argument(metavar="NEW", help="The changed configuration.", readable=False, show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")]


def plan(new: New, as_json: AsJson = False) -> None:
    """Show what a changed configuration would do to the running gateway; nothing is changed."""
    found, _, _ = _planned(new)
    if as_json:
        print(json.dumps(found.to_json()))
    else:
        _print(found)


def apply(
    new: New,
    as_json: AsJson = False,
    keep_subscriptions: Annotated[
        bool,
        typer.Option(
            "--keep-subscriptions", help="Leave durable subscriptions that nobody reads any more at the broker."
        ),
    ] = False,
    wait_secs: Annotated[
        float, typer.Option(min=1.0, help="How long to wait until the gateway has taken it over.")
    ] = 60.0,
) -> None:
    """Make the running gateway take over a changed configuration. Links that do not change are not touched.

    Durable subscriptions that no link needs any more are removed at their brokers, with the messages that wait in them.
    """
    found, active, text = _planned(new)
    if not as_json:
        _print(found, keeps=keep_subscriptions)
    if found.needs_restart:
        print(f"isthmus: {', '.join(found.needs_restart)}: taken over at the next start only", file=sys.stderr)
    config, run_dir = Path(active.config), Path(_valid(new).run_dir)
    before = config.read_text(encoding="utf-8")
    if before != text:
        write_whole(config.with_name(config.name + ".before"), before)
        write_whole(config, text)
    if found.subscriptions and not keep_subscriptions:
        ask_to_remove(run_dir, text)
    os.kill(active.process, signal.SIGHUP)
    then = _taken_over(active, run_dir, text, wait_secs)
    if then is None:
        if before != text:
            write_whole(config, before)
        raise IsthmusError(
            "LNK-NOT-APPLIED",
            "the gateway has not taken the configuration over, and goes on as it was",
            path=str(new),
            hint="its log says why",
        )
    removals = [Removal(*each) for each in then.removals] if found.subscriptions and not keep_subscriptions else []
    if as_json:
        print(json.dumps({**found.to_json(), "removals": [removal._asdict() for removal in removals]}))
    _tell_of(removals, as_json)


def _tell_of(removals: Sequence[Removal], as_json: bool) -> None:
    """Raises IsthmusError where one is still there."""
    for channel, topic, name, trouble in removals:
        if not trouble and not as_json:
            print(f"durable subscription {name} of channel {channel} ({topic}) is removed")
    left = [removal for removal in removals if removal.trouble]
    if left:
        reasons = "; ".join(f"{name} of channel {channel} ({topic}): {why}" for channel, topic, name, why in left)
        raise IsthmusError(
            "LNK-SUBSCRIPTION-STAYS",
            f"the configuration is taken over, and durable subscriptions go on collecting messages: {reasons}",
            hint="remove them at the broker",
        )


def _planned(new: Path) -> tuple[Plan, Active, str]:
    settings = _valid(new)
    active = read_active(Path(settings.run_dir))
    source = Source(active.config, active.text.encode(), Path(active.config).parent)
    running = read(source, look_up_secrets=False).settings
    if running is None:
        raise IsthmusError("LNK-NO-GATEWAY", "what the gateway runs with cannot be read", path=active.config)
    return plan_of(running, settings), active, new.read_text(encoding="utf-8")


def _valid(new: Path) -> Settings:
    """Secrets are not looked up: they may be the gateway's alone."""
    reading = read(new, look_up_secrets=False)
    errors = [finding for finding in reading.findings if finding.severity == "error"]
    if errors or reading.settings is None:
        raise SettingsError(errors)
    return reading.settings


def _taken_over(active: Active, run_dir: Path, text: str, wait_secs: float) -> Active | None:
    """What the gateway runs with then; None where it has refused it, or says nothing in time."""
    deadline = time.monotonic() + wait_secs
    while time.monotonic() < deadline:
        now = read_active(run_dir)
        if now.reloads > active.reloads:
            if now.refused == text:
                return None
            if now.text == text:
                return now
        time.sleep(POLL_SECS)
    return None


def _print(found: Plan, *, keeps: bool = False) -> None:
    for link in found.drained:
        print(f"- link {link}: drained, and ends")
    for link in found.anew:
        print(f"~ link {link}: drained, and begins again with other settings")
    for link in found.begun:
        print(f"+ link {link}: begins")
    for link, end, channel in found.proxies:
        print(f"- proxy of link {link} ({end}) at channel {channel}: destroyed")
    for channel, topic, name in found.subscriptions:
        fate = (
            "left at the broker, where it goes on collecting" if keeps else "removed, with the messages that wait in it"
        )
        print(f"- durable subscription {name} of channel {channel} ({topic}): nobody reads it any more; {fate}")
    for channel, before, then in found.copies:
        print(f"! channel {channel}: {_copies(before)} of each event so far, {_copies(then)} then")
    for part in found.needs_restart:
        print(f"! {part}: differs, and is taken over at the next start only")
    count = len(found.untouched)
    print(
        "nothing changes"
        if found.is_empty
        else "1 link is not touched"
        if count == 1
        else f"{count} links are not touched"
    )


def _copies(number: float) -> str:
    return "copies again and again" if isinf(number) else f"{int(number)} {'copy' if number == 1 else 'copies'}"
