"""References that are documents at a web server."""

from __future__ import annotations

import ssl
import time
import urllib.error
import urllib.request
from typing import Final

from adapters.base import ReconnectError, StopError
from adapters.cosnotification.ior import shorten

LONGEST_TEXT_BYTES: Final = 1024 * 1024
_PIECE: Final = 64 * 1024


def fetch(url: str, timeout_ms: int, ca_file: str | None = None) -> bytes:
    """The document, as far as it can be a reference. Raises ReconnectError, or StopError for a `ca_file` of no use."""
    trust = _trust(ca_file) if url.lower().startswith("https:") else None
    until = time.monotonic() + timeout_ms / 1000
    read = bytearray()
    try:
        with urllib.request.urlopen(url, timeout=timeout_ms / 1000, context=trust) as document:
            while len(read) < LONGEST_TEXT_BYTES and (piece := document.read1(_PIECE)):
                read += piece
                if time.monotonic() > until:  # each read has a time-out; a server may never run into it, and never end
                    raise TimeoutError("it does not end")
        return bytes(read)
    except urllib.error.HTTPError as error:
        error.close()
        reason = f"the server answers {error.code} {error.reason}"
    except (OSError, ValueError) as error:  # URLError among them
        cause = getattr(error, "reason", error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ReconnectError(
                "COR-CERTIFICATE",
                f"its certificate is not accepted: {cause.verify_message}",
                path=shorten(url),
                hint="name the authority that has signed it in orb.ca_file, or let the server show a certificate for this name",
            ) from error
        reason = f"it cannot be fetched: {cause}"
    raise ReconnectError("COR-REFERENCE", reason, path=shorten(url), hint="is the web server running?")


def _trust(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # SSLError among them
        raise StopError(
            "COR-CERTIFICATE",
            f"the authorities in {ca_file} cannot be read: {error.strerror or error}",
            path="orb.ca_file",
            hint="name a PEM file with certificates",
        ) from error
