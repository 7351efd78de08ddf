"""Judging the outer shape of a JSON form: an object with the right keys, a list, a text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mappings.checking import check_text, describe
from mappings.errors import MappingError


class Shape:
    """The checks for forms of one kind; `code` is that of its errors."""

    def __init__(self, code: str) -> None:
        self._code = code

    def error(self, message: str, path: str = "", hint: str = "") -> MappingError:
        return MappingError(self._code, message, path=path, hint=hint)

    def wrong(self, expected: str, form: Any) -> MappingError:
        return self.error(f"expected {expected}, found {describe(form)}")

    def object(self, form: Any, what: str, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
        """The form, if it is an object with all the required keys and none that is not known."""
        if type(form) is not dict:
            raise self.wrong(f"an object for {what}", form)
        for key in required:
            if key not in form:
                raise self.error(f"{what} lacks the key {key}", f".{key}")
        if len(form) > len(required):
            for key in form:
                if key not in required and key not in optional:
                    known = ", ".join((*required, *optional))
                    raise self.error(f"{what} has the unknown key {describe(key)}", f".{key!s:.60}", f"known: {known}")
        return form

    def list(self, form: Any, what: str) -> list[Any]:
        if type(form) is not list:
            raise self.wrong(f"a list of {what}", form)
        return form

    def text(self, form: dict[str, Any], key: str, *, empty: bool = False) -> str:
        """The CORBA text under a key."""
        value = form[key]
        if type(value) is not str or not (value or empty):
            raise self.error(
                f"expected a text{'' if empty else ' that is not empty'}, found {describe(value)}", f".{key}"
            )
        with under(f".{key}"):
            check_text(value)
        return value

    def integer(self, form: dict[str, Any], key: str, low: int, high: int, absent: int | None = None) -> int:
        value = form.get(key, absent)
        if type(value) is not int or not low <= value <= high:
            raise self.error(f"expected a whole number from {low} to {high}, found {describe(value)}", f".{key}")
        return value


class under:
    """`with under(place):` errors inside get this place before their path."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, MappingError):
            error.path = self._place + error.path
