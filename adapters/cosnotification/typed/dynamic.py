"""Servants and calls of `<I>` and Pull<I> without stubs or skeletons: the ORB library is given descriptors of the parameters.

Parameters are CORBA anys on our side of these functions: value and TypeCode stay together, whoever made them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from adapters.cosnotification import shims
from adapters.cosnotification.decoding import decoder_of
from adapters.cosnotification.descriptors import descriptor_of, type_code
from adapters.cosnotification.encoding import property_to_orb
from adapters.cosnotification.stubs import CORBA, PortableServer
from adapters.cosnotification.typed.interface import PULL, TRY, Operation, TypedInterface
from mappings.blank_values import blank
from mappings.type_equivalence import equivalent

KEPT_INTERFACES: Final = 256
_BOOLEAN: Final = 8  # the kind, as a descriptor

Take = Callable[["Form", list[Any]], None]
Give = Callable[["Form"], "Sequence[Any] | None"]


class Form(NamedTuple):
    """An operation as the ORB library needs it."""

    operation: Operation
    descriptors: tuple[Any, ...]
    type_codes: tuple[Any, ...]

    def anys(self, values: Sequence[Any]) -> list[Any]:
        return [CORBA.Any(code, value) for code, value in zip(self.type_codes, values, strict=True)]

    def blanks(self) -> list[Any]:
        return [property_to_orb(type_, blank(type_)).value() for _, type_ in self.operation.parameters]

    def fits(self, anys: Sequence[Any]) -> bool:
        """Whether these can be the parameters: in number, and in type."""
        parameters = self.operation.parameters
        return len(anys) == len(parameters) and all(
            equivalent(decoder_of(any_.typecode()._d).type, type_)
            for any_, (_, type_) in zip(anys, parameters, strict=True)
        )


@lru_cache(KEPT_INTERFACES)
def forms(interface: TypedInterface) -> Mapping[str, Form]:
    """By name. Raises DeadLetterError for a type that the library cannot carry."""
    made = {}
    for operation in interface.operations:
        descriptors = tuple(descriptor_of(type_) for _, type_ in operation.parameters)
        made[operation.name] = Form(operation, descriptors, tuple(map(type_code, descriptors)))
    return made


def push_servant(interface: TypedInterface, take: Take) -> Any:
    """An object of type `<I>`; `take` gets each operation that is called on it, on threads of the ORB."""
    operations: dict[str, Any] = {}
    for name, form in forms(interface).items():
        operations[name] = (form.descriptors, (), None), _taker(form, take)
    return _servant(interface.id, operations)


def _taker(form: Form, take: Take) -> Callable[..., None]:
    return lambda _self, *values: take(form, form.anys(values))


def pull_servant(interface: TypedInterface, wait: Give, look: Give) -> Any:
    """An object of type Pull<I>, in both spellings: `pull_op` and `op` wait for an event, `try_op` looks for one."""
    operations: dict[str, Any] = {}
    for name, form in forms(interface).items():
        polling = ((), (_BOOLEAN, *form.descriptors), None), _looker(form, look)
        blocking = ((), form.descriptors, None), _waiter(form, wait)
        operations.setdefault(TRY + name, polling)
        operations.setdefault(PULL + name, blocking)
        operations[name] = blocking
    return _servant(interface.pull_id, operations)


def _waiter(form: Form, wait: Give) -> Callable[..., Any]:
    def call(_self: Any) -> Any:
        anys = wait(form)
        assert anys is not None
        values = [any_.value() for any_ in anys]
        return values[0] if len(values) == 1 else tuple(values) if values else None

    return call


def _looker(form: Form, look: Give) -> Callable[..., Any]:
    def call(_self: Any) -> Any:
        anys = look(form)
        values = form.blanks() if anys is None else [any_.value() for any_ in anys]
        return (anys is not None, *values) if values else anys is not None

    return call


def _servant(id_: str, operations: Mapping[str, tuple[Any, Callable[..., Any]]]) -> Any:
    names: dict[str, Any] = {name: method for name, (_, method) in operations.items()}
    names |= {"_NP_RepositoryId": id_, "_omni_op_d": {name: descriptor for name, (descriptor, _) in operations.items()}}
    made: Any = type("TypedServant", (PortableServer.Servant,), names)
    made._omni_skeleton = made
    return made()


def invoke(target: Any, name: str, anys: Sequence[Any]) -> None:
    """`name(…)` on an object of type `<I>`. Waits for an answer, also where the IDL says oneway: else nobody heard of a loss."""
    descriptors = tuple(any_.typecode()._d for any_ in anys)
    target._obj.invoke(name, (descriptors, (), None), tuple(any_.value() for any_ in anys))


def try_pull(target: Any, form: Form) -> list[Any] | None:
    """The parameters of the next such event that an object of type Pull<I> has; None where it has none."""
    name = TRY + form.operation.name
    answer = target._obj.invoke(name, ((), (_BOOLEAN, *form.descriptors), None), ())
    has_event, *values = answer if form.descriptors else (answer,)
    return form.anys(values) if has_event else None


def is_a(target: Any, id_: str) -> bool:
    """Raises CORBA.SystemException where the object cannot be asked."""
    return not shims.is_nil(target) and bool(target._is_a(id_))
