"""What of a Kubernetes API server `spark-submit` talks to: it takes objects, and says that a pod has ended well once it is made.

There is no cluster to be had here. What is asserted is what the real spark-submit asks for; the pod is then run by hand.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ApiServer:
    """`made`: by kind, the objects that were made, in their order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.made: dict[str, list[dict[str, Any]]] = {}

    def take(self, form: dict[str, Any]) -> dict[str, Any]:
        self.made.setdefault(form["kind"], []).append(json.loads(json.dumps(form)))
        form["metadata"] |= {"uid": "1", "resourceVersion": "1", "namespace": "default"}
        if form["kind"] == "Pod":
            form["status"] = {"phase": "Succeeded"}
        return form

    def pods(self, path: str) -> dict[str, Any]:
        ended = [{**pod, "status": {"phase": "Succeeded"}} for pod in self.made.get("Pod", ())]
        for pod in ended:
            if path.endswith("/" + pod["metadata"]["name"]):
                return pod
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": ended}


@contextmanager
def api_server() -> Iterator[ApiServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            form = server.take(json.loads(body)) if body else server.pods(self.path)
            text = json.dumps(form).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = answer  # the names of http.server

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ApiServer(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
