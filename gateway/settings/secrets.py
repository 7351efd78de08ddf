"""`${env:NAME}` and `${file:PATH}`: values that come from outside the file, and that nobody is ever shown.

They may stand anywhere in a text value, as a whole or as a part; what they bring is taken as it is, never looked at again for
`${`. A scalar that holds one is marked, and is shown only as it was written. `$${` stands for `${`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from gateway.settings.nodes import Node, Scalar, scalars

LARGEST_FILE_BYTES: Final = 64 * 1024

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{(?:(?P<kind>env|file):(?P<name>[^}]+)\})?")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_KEY: Final = re.compile(r"pass(word|wd|phrase|code)|secret|token|credential", re.IGNORECASE)


def is_secret_key(key: str | int) -> bool:
    """Whether what stands under this key is to be hidden even where it was written as plain text."""
    return isinstance(key, str) and _SECRET_KEY.search(key) is not None


class SecretProblem(Exception):
    """A reference that brings nothing; the texts name the reference, never a value."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


def resolve(top: Node, folder: Path, environment: Mapping[str, str]) -> list[tuple[Scalar, SecretProblem]]:
    """Put what the references bring into the values of the tree; gives those that brought nothing."""

    def bring(kind: str, name: str) -> str:
        return _variable(name, environment) if kind == "env" else _file(name, folder)

    problems = []
    for scalar in _references(top):
        try:
            scalar.value = _expand(scalar.text, bring)
        except SecretProblem as problem:
            problems.append((scalar, problem))
        else:
            scalar.unresolved = False
    return problems


def check_syntax(top: Node) -> list[tuple[Scalar, SecretProblem]]:
    """As `resolve`, but nothing is looked up: every value with a reference stays unknown."""

    def bring(kind: str, name: str) -> str:
        if kind == "env":
            _check_variable(name)
        return ""

    problems = []
    for scalar in _references(top):
        try:
            _expand(scalar.text, bring)
        except SecretProblem as problem:
            problems.append((scalar, problem))
    return problems


def holds_reference(text: str) -> bool:
    """Whether a text, as it is written, takes something from outside the file."""
    return any(found["kind"] for found in _REFERENCE.finditer(text))


def _references(top: Node) -> list[Scalar]:
    """Mark every scalar that holds a reference or an escaped one, and give them."""
    found = []
    for scalar in scalars(top):
        if isinstance(scalar.value, str) and "${" in scalar.value:
            scalar.substituted = scalar.unresolved = True
            found.append(scalar)
    return found


def _expand(text: str, bring: Callable[[str, str], str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found.group() == "$${":
            return "${"
        if found["kind"]:
            return bring(found["kind"], found["name"])
        raise SecretProblem(
            "CFG-SECRET-SYNTAX",
            "a reference is written ${env:NAME} or ${file:PATH}",
            "write $${ where the characters ${ themselves are meant",
        )

    return _REFERENCE.sub(value, text)


def _check_variable(name: str) -> None:
    if not _VARIABLE.fullmatch(name):
        raise SecretProblem(
            "CFG-SECRET-SYNTAX",
            "the name of an environment variable is made of letters, digits and _",
            "write ${env:NAME}, without spaces",
        )


def _variable(name: str, environment: Mapping[str, str]) -> str:
    _check_variable(name)
    value = environment.get(name, "")
    if not value:
        state = "empty" if name in environment else "not set"
        raise _missing(f"environment variable {name} is {state}", f"set {name}, or use ${{file:PATH}}")
    if any("\ud800" <= character <= "\udfff" for character in value):  # how Python spells bytes that are not UTF-8
        raise _missing(f"environment variable {name} is not UTF-8", "secrets are text in UTF-8")
    return value


def _file(name: str, folder: Path) -> str:
    what = f"the file of ${{file:{name}}}"
    try:
        data = _content(folder / name)
    except (OSError, ValueError) as error:  # ValueError: a path that holds a NUL
        reason = getattr(error, "strerror", None) or "no such file"
        hint = f"relative paths start at the folder of the configuration, {folder.absolute()}"
        raise _missing(f"{what} cannot be read: {reason}", hint) from None
    try:
        value = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise _missing(f"{what} is not UTF-8", "secrets are text in UTF-8") from None
    if not value:
        raise _missing(f"{what} is empty", "write the value into the file")
    return value


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise OSError(0, "it is not a regular file")  # a pipe would make us wait for ever
    with path.open("rb") as file:
        data = file.read(LARGEST_FILE_BYTES + 1)
    if len(data) > LARGEST_FILE_BYTES:
        raise OSError(0, f"it is larger than {LARGEST_FILE_BYTES // 1024} KiB")
    return data


def _missing(message: str, hint: str) -> SecretProblem:
    return SecretProblem("CFG-SECRET-MISSING", message, hint)
