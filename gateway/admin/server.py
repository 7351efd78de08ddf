"""`/health`, `/links` and `/metrics` on the configured address, in a thread of its own.

It shows; it changes nothing. It has no login: keep it on loopback or behind a proxy that has one.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from adapters.base import StopError
from gateway.links.link import LinkStatus
from gateway.links.report import status_to_json
from gateway.telemetry.metrics import exposition

Statuses = Callable[[], list[LinkStatus]]


class AdminServer:
    def __init__(self, host: str, port: int, statuses: Statuses) -> None:
        self._host = host
        self._port = port
        config = uvicorn.Config(
            make_app(statuses), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
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


def make_app(statuses: Statuses) -> Starlette:
    async def health(_: Request) -> Response:
        """200 while every link runs (a peer that is away does not make us ill), 503 when one has stopped for good."""
        stopped = [s for s in statuses() if s.state == "stopped" and s.error is not None]
        body = {"healthy": not stopped, "stopped": [status_to_json(s) for s in stopped]}
        return _json(body, 503 if stopped else 200)

    async def links(_: Request) -> Response:
        return _json([status_to_json(s) for s in statuses()])

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(exposition(statuses), media_type="text/plain; version=0.0.4")

    return Starlette(routes=[Route("/health", health), Route("/links", links), Route("/metrics", metrics)])


def _json(body: object, status: int = 200) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), status, media_type="application/json")
