"""The entries of `classpath:` as files: a jar, a folder of classes or of jars, or a pattern."""

from __future__ import annotations

from pathlib import Path

from adapters.base import StopError


def resolve(entries: list[str]) -> tuple[str, ...]:
    """Paths for the JVM, in order. Raises StopError for an entry that brings nothing: a missing jar would show only as some
    class that is not found, at some later moment."""
    found: dict[str, None] = {}
    for entry in entries:
        paths = _paths(Path(entry).expanduser())
        if not paths:
            raise StopError(
                "JMS-CLASSPATH",
                f"there is nothing at {entry!r}",
                path="classpath",
                hint="name the jars of the provider's client: files, folders, or patterns such as lib/*.jar",
            )
        found |= dict.fromkeys(str(path.resolve()) for path in paths)
    return tuple(found)


def fingerprint(paths: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    """Differs when a file was replaced: a JVM that is up would go on with the old one."""
    found = []
    for path in paths:
        try:
            status = Path(path).stat()
            found.append((path, status.st_mtime_ns, status.st_size))
        except OSError:
            found.append((path, 0, 0))
    return tuple(found)


def _paths(entry: Path) -> list[Path]:
    if entry.is_file():
        return [entry]
    if entry.is_dir():
        # Classes stand in the folder itself; jars in it are not found by Java unless each is named.
        return [entry, *sorted(entry.glob("*.jar"))]
    root = Path(entry.anchor)
    return sorted(root.glob(str(entry.relative_to(root))))
