"""`/health`, `/links`, `/metrics`, `/tap` and `/dlq/retry` on the configured address, in a thread of its own.

It shows; all that it changes is that dead letters are sent again. For that, and for events, one needs the admin right
(`rights.py`); the rest has no login: keep it on loopback or behind a proxy that has one.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from adapters.base import StopError
from gateway.admin import dead_letters
from gateway.admin.rights import refusal
from gateway.admin.tap import TapError, chooser, stream, wanted
from gateway.dead_letters.letters import DeadLettersError
from gateway.links.link import LinkStatus
from gateway.links.report import status_to_json
from gateway.links.tap import Listener, Taps
from gateway.settings.settings import Settings
from gateway.telemetry.metrics import exposition

Statuses = Callable[[], list[LinkStatus]]


class AdminServer:
    def __init__(
        self,
        host: str,
        port: int,
        statuses: Statuses,
        settings: Callable[[], Settings],
        taps: Taps,
        retry: dead_letters.Retry,
    ) -> None:
        self._host = host
        self._port = port
        config = uvicorn.Config(
            make_app(statuses, settings, taps, retry),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="admin", daemon=True)
        self._socket: socket.socket | None = None

    @property
    def address(self) -> str:
        assert self._socket is not None, "start() first"
        host, port = self._socket.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def start(self) -> None:
        try:
            family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            self._socket = socket.create_server((self._host, self._port), family=family, backlog=64)
        except OSError as trouble:
            raise StopError(
                "LNK-ADMIN-ADDRESS",
                f"the admin interface cannot listen on {self._host}:{self._port}: {trouble.strerror or trouble}",
                path="admin.listen",
                hint="another process may have the port: choose a free one",
            ) from trouble
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(5.0)
        if self._socket is not None:
            self._socket.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket] if self._socket else None)


def make_app(statuses: Statuses, settings: Callable[[], Settings], taps: Taps, retry: dead_letters.Retry) -> Starlette:
    async def health(_: Request) -> Response:
        """200 while every link runs (a peer that is away does not make us ill), 503 when one has stopped for good."""
        stopped = [s for s in statuses() if s.state == "stopped" and s.error is not None]
        body = {"healthy": not stopped, "stopped": [status_to_json(s) for s in stopped]}
        return _json(body, 503 if stopped else 200)

    async def links(_: Request) -> Response:
        return _json([status_to_json(s) for s in statuses()])

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(exposition(statuses), media_type="text/plain; version=0.0.4")

    async def tap(request: Request) -> Response:
        now = settings()
        reason, status = _refusal(request, now)
        if reason is not None:
            error = TapError("LNK-TAP-RIGHT", f"this request has no admin right: {reason}")
            return _json({"error": error.to_json()}, status)
        asked = request.query_params
        try:
            limit = int(asked["limit"]) if "limit" in asked else None
            stages = wanted(now, asked.get("of", ""), asked.get("stage"))
            chosen = chooser(now, stages, asked.get("filter"))
        except ValueError:
            error = TapError("LNK-TAP-LIMIT", "the limit is no whole number")
            return _json({"error": error.to_json()}, 400)
        except TapError as wrong:
            return _json({"error": wrong.to_json()}, 403 if wrong.code == "LNK-TAP-CONFIDENTIAL" else 400)
        events = stream(taps, Listener(stages), chosen, limit)
        return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def retry_letters(request: Request) -> Response:
        reason, status = _refusal(request, settings())
        if reason is None and dead_letters.from_a_browser(_headers(request)):
            reason, status = "it is not JSON, or comes from a page in a browser", 403
        if reason is not None:
            error = DeadLettersError("DLQ-RIGHT", f"this request has no admin right: {reason}")
            return _json({"error": error.to_json()}, status)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > dead_letters.LARGEST_BODY_BYTES:
                return _json({"error": dead_letters.too_long().to_json()}, 413)
        try:
            link, letters = dead_letters.asked(body)
        except DeadLettersError as wrong:
            return _json({"error": wrong.to_json()}, 400)
        status, form = await run_in_threadpool(dead_letters.answer, retry, link, letters)
        return _json(form, status)

    routes = [
        Route("/health", health),
        Route("/links", links),
        Route("/metrics", metrics),
        Route("/tap", tap),
        Route("/dlq/retry", retry_letters, methods=["POST"]),
    ]
    return Starlette(routes=routes)


def _headers(request: Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _refusal(request: Request, settings: Settings) -> tuple[str | None, int]:
    """Why a request has no admin right, or None; and the status to say it with."""
    secret = settings.admin.token if settings.admin is not None else None
    token = secret.get_secret_value() if secret is not None else None
    client = request.client.host if request.client is not None else None
    return refusal(_headers(request), client, token), 401 if token is not None else 403


def _json(body: object, status: int = 200) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), status, media_type="application/json")
