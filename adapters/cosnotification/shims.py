"""Mends faults of omniORBpy 4.3.3 that would cost us events or speed. `install()` before the first ORB_init; twice is fine.

- `createUnknownValue` builds a class with a broken order of bases for a derived valuetype, and the ORB then spins or aborts.
- `createUnknownStruct`, `createUnknownUnion` and `createUnknownUserException` make a new class for every Any that arrives: half of
  the cost of an event. Ours come from a cache, keyed by all that the class depends on, so that two versions of a type never mix.
- Items of an enum that was never compiled in can be neither hashed nor compared quickly; ours are tuples, and shared.
- `createTypeCode` makes a new TypeCode for every Any; equal ones are one now. Beside the time it saves what waits in queues a
  quarter of its objects, which the collector of garbage else goes over again and again.

The library calls these by name through its own module. The functions must be plain ones: the C++ side insists on it. Only
`createTypeCode` it has looked up when it was imported: it is told to look again.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable
from typing import Any

import _omnipy
from omniORB import tcInternal

from adapters.cosnotification.stubs import CORBA, omniORB
from mappings.idl_types import ValueBox
from mappings.known_types import KNOWN

CACHED_CLASSES = 4096

_cache: dict[Hashable, Any] = {}


def install() -> None:
    omniORB.createUnknownStruct = createUnknownStruct
    omniORB.createUnknownUnion = createUnknownUnion
    omniORB.createUnknownUserException = createUnknownUserException
    omniORB.createUnknownValue = createUnknownValue
    omniORB.EnumItem = EnumItem
    if tcInternal.createTypeCode is not createTypeCode:
        tcInternal.createTypeCode = createTypeCode
        _omnipy.registerPyObjects(omniORB)
    for known in KNOWN.values():
        if isinstance(known, ValueBox):
            allow_value_box(known.id)


class UnknownStruct(tuple):  # type: ignore[type-arg]
    """A struct that is its own tuple of members: cheap to make, and its members are read at the speed of C."""

    __slots__ = ()
    _NP_RepositoryId: str
    _members: tuple[str, ...]

    def __new__(cls, *values: Any) -> UnknownStruct:
        return tuple.__new__(cls, values)

    @property
    def _values(self) -> tuple[Any, ...]:
        return self

    def _tuple(self) -> tuple[Any, ...]:
        return tuple(self)


class _Shared(type):
    """The same arguments give the same item, found at the speed of C: every Any with an enum in its type asks for all of them."""

    __call__ = functools.lru_cache(CACHED_CLASSES)(lambda cls, name, value: tuple.__new__(cls, (name, value)))


class EnumItem(tuple, metaclass=_Shared):  # type: ignore[type-arg]
    """Label and ordinal. The library hangs a `_parent_id` on it, which nobody needs. Items of compiled stubs stay what they were:
    singletons, equal by identity."""

    def __new__(cls, name: str, value: int) -> EnumItem:
        raise NotImplementedError  # for readers and type checkers: _Shared makes them

    _n = property(operator.itemgetter(0))
    _v = property(operator.itemgetter(1))

    def __repr__(self) -> str:
        return str(self[0])

    __str__ = __repr__


def createUnknownStruct(repoId: str, members: Any) -> Any:
    key = ("struct", repoId, tuple(members))
    return _cache.get(key) or _keep(key, lambda: _struct_class(repoId, key[2]))


def _struct_class(repoId: str, members: tuple[str, ...]) -> type:
    names: dict[str, Any] = {name: property(operator.itemgetter(i)) for i, name in enumerate(members) if name}
    names |= {"__slots__": (), "_NP_RepositoryId": repoId, "_members": members}
    return type("UnknownStruct", (UnknownStruct,), names)


_original_union: Callable[..., Any] = omniORB.createUnknownUnion


def createUnknownUnion(repoId: str, def_used: int, members: Any) -> Any:
    key = ("union", repoId, def_used, tuple((label, name) for label, name, _ in members))
    return _cache.get(key) or _keep(key, lambda: _original_union(repoId, def_used, members))


_original_exception: Callable[..., Any] = omniORB.createUnknownUserException


def createUnknownUserException(repoId: str, members: Any) -> Any:
    key = ("exception", repoId, tuple(members))
    return _cache.get(key) or _keep(key, lambda: _original_exception(repoId, tuple(members)))


def createUnknownValue(repoId: str, base_desc: Any) -> Any:
    bases: tuple[type, ...]
    if base_desc == tcInternal.tv_null:
        bases = (omniORB.UnknownValueBase,)
    elif issubclass(base_desc[1], omniORB.UnknownValueBase):
        bases = (base_desc[1],)
    else:
        bases = (omniORB.UnknownValueBase, base_desc[1])
    key = ("value", repoId, bases)
    return _cache.get(key) or _keep(key, lambda: type("UnknownValue", bases, {"_NP_RepositoryId": repoId}))


_original_type_code: Callable[..., Any] = tcInternal.createTypeCode
_type_codes: dict[Any, Any] = dict(tcInternal.basicTypeCodes)


def createTypeCode(d: Any) -> Any:
    """By all of the descriptor, so that two versions of a type never mix."""
    try:
        return _type_codes[d]
    except KeyError:
        if len(_type_codes) >= CACHED_CLASSES:
            _type_codes.clear()
        made = _type_codes[d] = _original_type_code(d)
        return made
    except TypeError:  # unions and recursive types hold a dict or a list
        return _original_type_code(d)


def allow_value_box(repoId: str) -> None:
    """The library reads a value box only where a factory is registered for its id, though it never calls it for one."""
    if omniORB.findValueFactory(repoId) is None:
        omniORB.registerValueFactory(repoId, omniORB.UnknownValueBase)


def _keep(key: Hashable, make: Callable[[], Any]) -> Any:
    if len(_cache) >= CACHED_CLASSES:
        _cache.clear()  # classes in use live on with their values
    made = _cache[key] = make()
    return made


def is_nil(reference: Any) -> bool:
    """None, or an object reference that points nowhere."""
    return reference is None or bool(CORBA.is_nil(reference))
