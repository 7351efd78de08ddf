"""`isthmus dlq list|show|export|purge|retry CONFIG`: the dead letters of a gateway, by its configuration.

All of them work while the gateway runs; `retry` then asks it over its admin interface. Paths in the configuration that are relative
lead from the folder that the gateway is started in: run these commands there too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.showing import minding_disks, print_json, printable, utc
from gateway.dead_letters.letters import DeadLettersError, Letter, letters_in
from gateway.dead_letters.removal import remove
from gateway.dead_letters.wanted import Wanted, seconds
from gateway.settings import Settings, SettingsError, load, read
from mappings.errors import IsthmusError


def _duration(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None


Config = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The gateway's configuration.", readable=False, show_default=False)
]
Keys = Annotated[
    list[str] | None,
    typer.Argument(metavar="[LETTER]...", help="Letters, by the first characters of their keys.", show_default=False),
]
Link = Annotated[str | None, typer.Option("--link", help="Only letters of this link.", show_default=False)]
Code = Annotated[str, typer.Option("--code", help="Only letters whose error code begins so.", show_default=False)]
Older = Annotated[
    float | None,
    typer.Option(
        "--older-than", metavar="AGE", parser=_duration, help="Such as 90s, 15m, 12h, 7d.", show_default=False
    ),
]
Newer = Annotated[
    float | None,
    typer.Option(
        "--newer-than", metavar="AGE", parser=_duration, help="Such as 90s, 15m, 12h, 7d.", show_default=False
    ),
]
All = Annotated[bool, typer.Option("--all", help="Every letter there is.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]

dlq = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="See, export, throw away or send again the dead letters of a gateway. Run it where the gateway is started.",
)


@minding_disks
def _command(trouble: OSError) -> IsthmusError:
    return DeadLettersError(
        "DLQ-IO",
        f"the dead letters cannot be read or written: {trouble.strerror or trouble}",
        path=str(trouble.filename or ""),
        hint="see to the rights of the folder and to the room on the disk",
    )


@dlq.command("list")
@_command
def list_(
    config: Config,
    link: Link = None,
    code: Code = "",
    older_than: Older = None,
    newer_than: Newer = None,
    limit: Annotated[int, typer.Option(min=1, help="So many letters at the most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show dead letters, oldest first: one line each."""
    settings = _settings(config)
    for letter in _letters(settings, link, Wanted((), code, older_than, newer_than)):
        if limit == 0:
            print("isthmus: there are more (--limit, --newer-than)", file=sys.stderr)
            break
        limit -= 1
        if as_json:
            print_json(_summary(letter))
        else:
            facts = (letter.link, printable(letter.code), printable(letter.headline))
            print("  ".join([letter.key, utc(letter.dead_lettered_at), *facts]))


@dlq.command()
@_command
def show(
    config: Config, letter: Annotated[str, typer.Argument(help="The letter, by the first characters of its key.")]
) -> None:
    """Show one letter, whole, as JSON: the event, its original bytes, the error, the times."""
    wanted = Wanted((letter,))
    found = list(_letters(_settings(config), None, wanted))
    wanted.check_keys(found)
    print_json(_whole(found[0]), indent=2)


@dlq.command()
@_command
def export(
    config: Config,
    keys: Keys = None,
    link: Link = None,
    code: Code = "",
    older_than: Older = None,
    newer_than: Newer = None,
    bare: Annotated[
        bool, typer.Option("--bare", help="Only the event or message of each, as `isthmus translate` reads them.")
    ] = False,
) -> None:
    """Write letters as JSON Lines on standard output; they stay. Exits with 1 when one could not be written."""
    trouble = False
    for letter in _chosen(_settings(config), link, Wanted(tuple(keys or ()), code, older_than, newer_than)):
        line = letter.payload_form if bare else _whole(letter)
        if line is None or letter.form is None:
            print(f"isthmus: letter {letter.key} holds no event: {printable(letter.headline)}", file=sys.stderr)
            trouble = True
        else:
            print_json(line)
    if trouble:
        raise typer.Exit(ExitCode.FAILED)


@dlq.command()
@_command
def purge(
    config: Config,
    keys: Keys = None,
    link: Link = None,
    code: Code = "",
    older_than: Older = None,
    newer_than: Newer = None,
    every: All = False,
) -> None:
    """Throw letters away for good. What is not named by key, link, code or age needs --all."""
    settings = _settings(config)
    wanted = Wanted(tuple(keys or ()), code, older_than, newer_than)
    count = 0
    for its_link, letters in _by_link(settings, link, wanted, every=every).items():
        count += remove(settings.dead_letter_path(its_link), frozenset(letter.key for letter in letters))
    print(f"thrown away: {count}")


@dlq.command()
@_command
def retry(
    config: Config,
    keys: Keys = None,
    link: Link = None,
    code: Code = "",
    older_than: Older = None,
    newer_than: Newer = None,
    every: All = False,
    admin: Annotated[
        str | None,
        typer.Option(
            envvar="ISTHMUS_ADMIN",
            help="host:port of a running gateway's admin interface; else as `admin.listen` says.",
        ),
    ] = None,
) -> None:
    """Send letters again: put them into the journal of their link, which delivers them: now where the gateway runs, else when it
    is started next.

    The link must use the journal. Exits with 1 when a letter could not be sent again; it stays.
    """
    from adapters.base import StopError
    from gateway.appliance.run_dir import RunDir
    from gateway.cli.dlq_running import retry_in_running
    from gateway.dead_letters.retry import check_retry
    from gateway.dead_letters.retry import retry as retry_letters

    settings = load(config)
    chosen = _by_link(settings, link, Wanted(tuple(keys or ()), code, older_than, newer_than), every=every)
    for its_link in chosen:
        check_retry(settings, its_link)
    run_dir = RunDir(Path(settings.run_dir))
    runs: StopError | None = None
    try:
        run_dir.acquire()
    except StopError as taken:
        runs = taken
        if settings.admin is None and admin is None:
            raise DeadLettersError(
                "DLQ-RUNNING",
                f"a running gateway sends letters again itself, and has no admin interface: {taken.message}",
                path="admin",
                hint="give it `admin: {listen: …}`; or stop it, retry, start it",
            ) from None
    trouble = False
    try:
        for its_link, letters in chosen.items():
            if runs is None:
                reasons = retry_letters(settings, its_link, letters)
                for reason in reasons:
                    print(f"isthmus: {reason}", file=sys.stderr)
                refused = len(reasons)
            else:
                refused = retry_in_running(settings, admin, its_link, [letter.key for letter in letters])
            trouble = trouble or refused > 0
            print(f"{its_link}: {len(letters) - refused} to be sent again")
    finally:
        run_dir.release()
    if trouble:
        raise typer.Exit(ExitCode.FAILED)


def _settings(config: Path) -> Settings:
    """Secrets are not looked up: whoever looks at letters need not have them."""
    reading = read(config, look_up_secrets=False)
    if reading.settings is None or any(finding.severity == "error" for finding in reading.findings):
        raise SettingsError(reading.findings)
    return reading.settings


def _letters(settings: Settings, link: str | None, wanted: Wanted) -> Iterator[Letter]:
    if link is not None and link not in settings.links:
        known = ", ".join(settings.links) or "none"
        raise DeadLettersError("DLQ-NO-LINK", f"there is no link {link!r}", path="--link", hint=f"there are: {known}")
    now = time.time()
    for its_link in settings.links if link is None else [link]:
        for letter in letters_in(settings.dead_letter_path(its_link), its_link):
            if wanted.matches(letter, now):
                yield letter


def _chosen(settings: Settings, link: str | None, wanted: Wanted) -> Iterator[Letter]:
    """As `_letters`; each key that was given must lead to one."""
    if not wanted.keys:
        return _letters(settings, link, wanted)
    found = list(_letters(settings, link, wanted))
    wanted.check_keys(found)
    return iter(found)


def _by_link(settings: Settings, link: str | None, wanted: Wanted, *, every: bool) -> dict[str, list[Letter]]:
    if wanted.is_everything and link is None and not every:
        raise DeadLettersError(
            "DLQ-WHICH", "it was not said which letters", hint="name them, or --link, --code, --older-than …, or --all"
        )
    found: dict[str, list[Letter]] = {}
    for letter in _chosen(settings, link, wanted):
        found.setdefault(letter.link, []).append(letter)
    return found


def _summary(letter: Letter) -> dict[str, Any]:
    form = letter.form or {}
    return {
        "letter": letter.key,
        "link": letter.link,
        "id": form.get("id"),
        "received_at": form.get("received_at"),
        "dead_lettered_at": form.get("dead_lettered_at"),
        "error": form.get("error") or {"code": letter.code, "message": letter.headline},
        "rule": form.get("rule"),
        "headline": letter.headline,
    }


def _whole(letter: Letter) -> dict[str, Any]:
    return {"letter": letter.key, **(letter.form or _summary(letter))}
