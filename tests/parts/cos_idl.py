"""The IDL of the COS services as the OMG published it, from Debian's packages: what each interface declares.

As a program: `python -m tests.parts.cos_idl FOLDER MODULE…` prints {"MODULE::INTERFACE": {operation: [exceptions]}} as JSON,
inherited operations included. The compiler is C++ with one global state, so it reads one file in a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.parts.debian import unpacked

Declared = dict[str, dict[str, list[str]]]


def fetch() -> Path:
    """The folder of the IDL files."""
    return unpacked("omniorb-idl", "omniorb-idl", share=True) / "usr" / "share" / "idl" / "omniORB" / "COS"


def declared_in(folder: Path, module: str) -> Declared:
    command = [sys.executable, "-m", "tests.parts.cos_idl", str(folder), module]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found: Declared = json.loads(done.stdout)
    return found


def _read(file: Path) -> Any:
    import _omniidl
    import jeteve_omniorb
    from omniidl.main import preprocessor_cmd

    preprocessor = Path(jeteve_omniorb.__file__).parent / "bin" / "omnicpp"
    command = [str(preprocessor), *preprocessor_cmd.split()[1:], f"-I{file.parent}", f"-I{file.parent.parent}"]
    plain = subprocess.run([*command, str(file)], stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryFile("w+b") as text:
        text.write(plain)
        text.seek(0)
        with os.fdopen(os.dup(text.fileno())) as given:
            return _omniidl.compile(given, str(file))


def _interfaces(nodes: Any) -> Iterator[Any]:
    from omniidl import idlast

    for node in nodes:
        if isinstance(node, idlast.Module):
            yield from _interfaces(node.definitions())
        elif isinstance(node, idlast.Interface):
            yield node


def _operations(interface: Any) -> dict[str, list[str]]:
    """Attributes by the names that they have on the wire."""
    from omniidl import idlast

    found: dict[str, list[str]] = {}
    for base in interface.inherits():
        found |= _operations(base.fullDecl())
    for item in interface.callables():
        if isinstance(item, idlast.Attribute):
            for name in item.identifiers():
                found |= {f"_get_{name}": []} if item.readonly() else {f"_get_{name}": [], f"_set_{name}": []}
        else:
            found[item.identifier()] = sorted(exception.repoId() for exception in item.raises())
    return found


def main() -> None:
    folder, module = sys.argv[1:]
    tree = _read(Path(folder) / f"{module}.idl")
    found = {"::".join(node.scopedName()): _operations(node) for node in _interfaces(tree.declarations())}
    print(json.dumps({name: operations for name, operations in found.items() if name.startswith(f"{module}::")}))


if __name__ == "__main__":
    main()
