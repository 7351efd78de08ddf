"""Certificates for tests, made by OpenSSL and good for two days: an authority of our own, and what it has signed."""

from __future__ import annotations

import subprocess
from pathlib import Path

_NEW = ("-newkey", "rsa:2048", "-nodes", "-days", "2")


def authority(folder: Path, name: str = "ca") -> Path:
    """NAME.pem, with NAME.key beside it."""
    _openssl(folder, "req", "-x509", *_NEW, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    return folder / f"{name}.pem"


def signed(folder: Path, name: str, *, by: str = "ca", alternative_names: str = "DNS:localhost,IP:127.0.0.1") -> Path:
    """NAME.pem, with NAME.key beside it."""
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={alternative_names}\n")
    _openssl(folder, "req", *_NEW[:-2], "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    by_whom = ("-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial", "-days", "2")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *by_whom, "-extfile", extensions.name)
    return folder / f"{name}.pem"


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)
