"""Parts from Debian's packages: downloaded and unpacked, never installed, so that no rights are needed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

ATTEMPT_SECS = 300.0
NOTHING_ELSE = [f"--no-{kind}" for kind in ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]


def unpacked(package: str, dependencies: str, *, share: bool = False) -> Path:
    """The folder that holds `package`, and of all that it depends on whatever is named `dependencies`…, as if it were the root.

    `share`: with what is in /usr/share, which mostly is documentation.

    The version is the one that this machine's Debian has. PartUnavailable where there is no Debian, or no network.
    """

    def make(folder: Path) -> None:
        for needed in ("apt-get", "apt-cache", "dpkg-deb"):
            if shutil.which(needed) is None:
                raise PartUnavailable(f"there is no `{needed}` here: {package} is fetched on Debian and its kin only")
        with tempfile.TemporaryDirectory(prefix="isthmus-fetch-") as temporary:
            fetch = Path(temporary)
            options = _options(package, fetch)
            listed = _run(["apt-cache", *options, "depends", "--recurse", *NOTHING_ELSE, package], fetch).split()
            names = sorted({name for name in listed if name == package or name.startswith(dependencies)})
            _run(["apt-get", *options, "download", *names], fetch)
            for archive in sorted(fetch.glob("*.deb")):
                _run(["dpkg-deb", "--extract", str(archive), str(folder)], fetch)
        if not share:
            shutil.rmtree(folder / "usr" / "share", ignore_errors=True)

    return made(f"{package}-debian", f"{package} and {dependencies}* of Debian, unpacked, 1\n", make)


def _options(package: str, fetch: Path) -> list[str]:
    """None, where the machine knows its packages already; else what makes apt keep lists of its own."""
    plain = ["-o", "APT::Sandbox::User=root", "-q"]
    policy = _run(["apt-cache", "policy", package], fetch)
    if "Candidate: " in policy and "Candidate: (none)" not in policy:
        return plain
    (fetch / "lists" / "partial").mkdir(parents=True)
    (fetch / "cache").mkdir()
    own = [*plain, "-o", f"Dir::State::lists={fetch / 'lists'}", "-o", f"Dir::Cache={fetch / 'cache'}"]
    _run(["apt-get", *own, "update"], fetch)
    return own


def _run(command: Sequence[str], within: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=within,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ATTEMPT_SECS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PartUnavailable(f"no answer of {command[0]} within {ATTEMPT_SECS:.0f} s") from None
    if done.returncode:
        reason = done.stderr.strip().splitlines()
        raise PartUnavailable(f"{command[0]} failed: {reason[-1] if reason else f'status {done.returncode}'}")
    return done.stdout
