"""`isthmus tap LINK|CHANNEL`: events of a running gateway while they pass, asked over its admin interface.

It takes nothing from anybody: what it cannot keep up with it misses, and says so.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.links import DEFAULT_ADMIN, unavailable
from gateway.settings.addresses import Address, AddressError, parse_address

SILENCE_SECS: Final = 30.0  # the gateway says something every five seconds


def tap(
    what: Annotated[str, typer.Argument(metavar="LINK|CHANNEL", help="Id of a link or of a channel.")],
    stage: Annotated[
        Literal["received", "translated", "sent"] | None,
        typer.Option(
            help="Where to look; else: what a link receives, what comes from a channel and what is sent to it."
        ),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", help="Only these: ETCL where it is events, a JMS selector where it is messages."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="End after so many.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with the whole event.")] = False,
    admin: Annotated[
        str, typer.Option(envvar="ISTHMUS_ADMIN", help="host:port of the gateway's admin interface (`admin.listen`).")
    ] = DEFAULT_ADMIN,
    token_file: Annotated[
        Path | None,
        typer.Option(
            envvar="ISTHMUS_ADMIN_TOKEN_FILE", help="File with the token of `admin.token`; or ISTHMUS_ADMIN_TOKEN."
        ),
    ] = None,
) -> None:
    """Show events while they pass, until Ctrl-C. It slows nothing down: what it cannot keep up with it misses, and says so."""
    try:
        address = parse_address(admin)
    except AddressError as wrong:
        print(f"isthmus: --admin: {wrong}", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE) from None
    asked = {"of": what, "stage": stage, "filter": filter_, "limit": limit}
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    for kind, data in _seen(address, f"/tap?{query}", _right(token_file)):
        if kind == "missed":
            print(f"isthmus: {data['missed']} events passed unseen", file=sys.stderr)
        else:
            print(json.dumps(data, ensure_ascii=False) if as_json else _line(data), flush=True)


def _seen(address: Address, path: str, headers: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Trouble with the gateway is told here, apart from trouble with whoever reads what we print."""
    try:
        with closing(http.client.HTTPConnection(address.host, address.port, timeout=SILENCE_SECS)) as connection:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            if answer.status != http.HTTPStatus.OK:
                _refused(answer)
            yield from _events(answer)
    except (OSError, http.client.HTTPException, ValueError) as trouble:
        unavailable(address, str(trouble) or type(trouble).__name__)


def _right(token_file: Path | None) -> dict[str, str]:
    token = os.environ.get("ISTHMUS_ADMIN_TOKEN", "")
    if token_file is not None:
        try:
            token = token_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as trouble:
            print(f"isthmus: --token-file: {token_file} cannot be read: {trouble}", file=sys.stderr)
            raise typer.Exit(ExitCode.USAGE) from None
    return {"Authorization": f"Bearer {token.strip()}"} if token.strip() else {}


def _refused(answer: http.client.HTTPResponse) -> None:
    try:
        error = json.loads(answer.read(65_536))["error"]
        hint = f" ({error['hint']})" if error.get("hint") else ""
        print(f"isthmus: {error['code']}: {error['message']}{hint}", file=sys.stderr)
    except (ValueError, KeyError, TypeError):
        print(f"isthmus: the answer is not that of a gateway (HTTP {answer.status})", file=sys.stderr)
    raise typer.Exit(ExitCode.FAILED)


def _events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = ""
    for raw in answer:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))
        elif not line:
            kind = ""


def _line(seen: dict[str, Any]) -> str:
    """Time, link, stage, id, and what a person knows the event by."""
    at = time.strftime("%H:%M:%S", time.localtime(seen["at"])) + f".{int(seen['at'] * 1000) % 1000:03d}"
    head = f"{at} {seen['link']} {seen['stage']} {seen['id']}"
    if event := seen.get("event"):
        names = " / ".join(str(event.get(name, "")) for name in ("domain_name", "type_name", "event_name"))
        fields = {field["name"]: field.get("value") for field in event.get("filterable_data", ())}
        return f"{head}  {names}  {json.dumps(fields, ensure_ascii=False)}"
    if message := seen.get("message"):
        headers = message["headers"]
        fields = {
            field["name"]: field.get("value") for field in message["properties"] if field["name"] not in ("$se", "_sse")
        }
        return f"{head}  {message['body']['type']} {headers.get('JMSType') or ''}  {json.dumps(fields, ensure_ascii=False)}"
    return f"{head}  {(seen.get('error') or {}).get('message', 'what it is cannot be shown')}"
