"""Stubs and skeletons of the IDL that does not come with omniORBpy, made by its own compiler when they are first needed.

The files are in `idl/`; what they include of the COS modules is in `idl/cos/`, and stands for the stubs that come with omniORBpy.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Final

import jeteve_omniorb
import omniORB

from adapters.base import StopError

FOLDER: Final = Path(__file__).with_name("idl")
COMPILE_SECS: Final = 60.0

# The compiler looks for its preprocessor beside the name that it was called by.
_COMPILER: Final = "import sys; sys.argv[0] = sys.argv.pop(1); from omniidl.main import main; sys.exit(main())"
_lock: Final = threading.Lock()


def compile_idl(name: str) -> None:
    """`idl/NAME.idl`: its modules can be imported then, under the names that they have in IDL. Raises StopError."""
    module_name = f"{name}_idl"
    with _lock:
        if module_name in sys.modules:
            return
        module = ModuleType(module_name)
        module.__file__ = file = str(FOLDER / f"{name}.idl")
        exec(compile(_source_of(name), file, "exec"), module.__dict__)
        sys.modules[module_name] = module
        for exported in module.__dict__["_exported_modules"]:
            for each in (exported, omniORB.skeletonModuleName(exported)):
                _publish(each)


def _source_of(name: str) -> bytes:
    beside = Path(jeteve_omniorb.__file__).with_name("bin") / "omniidl"
    command = [sys.executable, "-c", _COMPILER, str(beside), "-bpython", "-Wbstdout", "-nf"]
    command += [f"-I{FOLDER / 'cos'}", f"-I{FOLDER}", str(FOLDER / f"{name}.idl")]
    done = subprocess.run(command, capture_output=True, timeout=COMPILE_SECS, check=False)
    if done.returncode:
        raise StopError(
            "COR-STUBS",
            f"{name}.idl cannot be compiled: {done.stderr.decode('utf-8', 'replace').strip()[:500]}",
            hint="is omniORBpy installed whole (its omniidl and omnicpp)?",
        )
    return done.stdout


def _publish(name: str) -> None:
    """Modules whose files were not there before are kept by omniORB until they are complete."""
    partial = omniORB._partialModules.pop(name, None)
    if partial is None:
        return
    if name in sys.modules:
        omniORB.updateModuleDict(sys.modules[name], partial)
    else:
        sys.modules[name] = partial
