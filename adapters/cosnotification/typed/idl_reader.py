"""Reads IDL files in a process of its own: `python -m adapters.cosnotification.typed.idl_reader FILE… [-I FOLDER]…`.

The compiler is C++ with one global state, and writes what is wrong to its standard streams; whatever it does, it does it here.
The interfaces go to standard output, pickled; what is wrong goes to standard error, as `file:line: message`, and status 1.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import _omniidl
import jeteve_omniorb
from omniidl import idlast, idltype
from omniidl.main import preprocessor_cmd

from adapters.cosnotification.typed.interface import Operation, TypedInterface
from mappings import idl_types as idl

_BASIC: Final = {
    idltype.tk_short: idl.SHORT, idltype.tk_long: idl.LONG, idltype.tk_ushort: idl.USHORT, idltype.tk_ulong: idl.ULONG,
    idltype.tk_float: idl.FLOAT, idltype.tk_double: idl.DOUBLE, idltype.tk_boolean: idl.BOOLEAN, idltype.tk_char: idl.CHAR,
    idltype.tk_octet: idl.OCTET, idltype.tk_any: idl.ANY, idltype.tk_TypeCode: idl.TYPECODE,
    idltype.tk_longlong: idl.LONGLONG, idltype.tk_ulonglong: idl.ULONGLONG,
}  # fmt: skip


class Unfit(Exception):
    """This declaration cannot be a part of an event."""


def read(file: Path, folders: list[str]) -> list[TypedInterface]:
    """Every interface that the file declares or includes. Raises SystemExit where it is no IDL."""
    cpp = Path(jeteve_omniorb.__file__).parent / "bin" / "omnicpp"
    options = preprocessor_cmd.split()[1:]  # -lang-c++ -undef and the version
    command = [str(cpp), *options, *(f"-I{f}" for f in folders), str(file)]
    made = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if made.returncode != 0:
        sys.exit(1)
    with tempfile.TemporaryFile("w+b") as plain:
        plain.write(made.stdout)
        plain.seek(0)
        with os.fdopen(os.dup(plain.fileno())) as text:
            tree = _omniidl.compile(text, str(file))
    if tree is None:
        sys.exit(1)
    return [_interface(node) for node in _interfaces(tree.declarations())]


def _interfaces(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, idlast.Module):
            yield from _interfaces(node.definitions())
        elif isinstance(node, idlast.Interface):
            yield node


def _interface(node: Any) -> TypedInterface:
    operations: dict[str, Operation] = {}
    troubles: list[str] = []
    if node.local() or node.abstract():
        troubles.append(_at(node, "a local or abstract interface cannot be called from elsewhere"))
    _add_callables(node, operations, troubles, set())
    return TypedInterface(node.repoId(), _scoped(node), tuple(operations.values()), tuple(troubles))


def _add_callables(node: Any, operations: dict[str, Operation], troubles: list[str], seen: set[str]) -> None:
    """Those of the bases first, each once."""
    if node.repoId() in seen:
        return
    seen.add(node.repoId())
    for base in node.inherits():
        _add_callables(base.fullDecl(), operations, troubles, seen)
    for item in node.callables():
        if isinstance(item, idlast.Attribute):
            names = ", ".join(item.identifiers())
            troubles.append(_at(item, f"attribute {names}: an interface of typed events has operations only"))
            continue
        try:
            operations[item.identifier()] = _operation(item)
        except Unfit as unfit:
            troubles.append(_at(item, f"operation {item.identifier()}: {unfit}"))


def _operation(node: Any) -> Operation:
    if node.returnType().kind() != idltype.tk_void:
        raise Unfit("it returns a value, and an event has nothing to answer")
    if node.raises():
        raise Unfit("it raises an exception, and an event has nothing to answer")
    parameters = []
    for parameter in node.parameters():
        if parameter.is_out():
            raise Unfit(f"parameter {parameter.identifier()} is not `in`")
        parameters.append((parameter.identifier(), _type(parameter.paramType(), ())))
    return Operation(node.identifier(), _scoped(node), tuple(parameters))


_Around = tuple[str, ...]  # repository ids of the enclosing types


def _type(type_: Any, around: _Around) -> idl.IdlType:
    kind = type_.kind()
    if isinstance(type_, idltype.String):
        return idl.String(type_.bound())
    if isinstance(type_, idltype.WString):
        return idl.WString(type_.bound())
    if isinstance(type_, idltype.Sequence):
        return idl.Sequence(_type(type_.seqType(), around), type_.bound())
    if isinstance(type_, idltype.Fixed):
        return idl.Fixed(type_.digits(), type_.scale())
    if isinstance(type_, idltype.Declared):
        if type_.scopedName() in (["Object"], ["CORBA", "Object"]):
            return idl.OBJECT
        if type_.decl() is None or type_.decl().builtIn():
            raise Unfit(f"{type_.name()} cannot be carried")
        return _declared(type_.decl().fullDecl(), around)
    if kind in _BASIC:
        return _BASIC[kind]
    if kind == idltype.tk_wchar:
        raise Unfit("the ORB library misreads a wchar; let it be a wstring")
    if kind == idltype.tk_longdouble:
        raise Unfit("the ORB library cannot carry a long double")
    raise Unfit(f"a type of kind {kind} cannot be carried")


def _declared(node: Any, around: _Around) -> idl.IdlType:
    id_ = node.repoId()
    if id_ in around:
        return idl.Recursive(id_)
    inside = (*around, id_)
    name = node.identifier()
    match node:
        case idlast.Declarator():
            return idl.Alias(id_, name, _sized(_type(node.alias().aliasType(), inside), node))
        case idlast.Struct():
            return idl.Struct(id_, name, tuple(_members(node.members(), inside)))
        case idlast.Exception():
            return idl.Exception_(id_, name, tuple(_members(node.members(), inside)))
        case idlast.Union():
            return _union(node, inside)
        case idlast.Enum():
            return idl.Enum(id_, name, tuple(item.identifier() for item in node.enumerators()))
        case idlast.ValueBox():
            return idl.ValueBox(id_, name, _type(node.boxedType(), inside))
        case idlast.Value():
            return _value(node, inside)
        case idlast.Interface() if not (node.local() or node.abstract()):
            return idl.ObjRef(id_, name)
        case idlast.Forward() | idlast.StructForward() | idlast.UnionForward() | idlast.ValueForward():
            raise Unfit(f"{_scoped(node)} is declared, but never defined")
    raise Unfit(f"{_scoped(node)} cannot be carried")


def _members(members: Any, inside: _Around) -> Iterator[idl.Member]:
    for member in members:
        for declarator in member.declarators():
            type_ = _sized(_type(member.memberType(), inside), declarator)
            private = isinstance(member, idlast.StateMember) and member.memberAccess() == 1
            yield idl.Member(declarator.identifier(), type_, "private" if private else "public")


def _union(node: Any, inside: _Around) -> idl.Union:
    members = []
    for case in node.cases():
        type_ = _sized(_type(case.caseType(), inside), case.declarator())
        for label in case.labels():
            value = None if label.default() else label.value()
            value = value.identifier() if isinstance(value, idlast.Enumerator) else value
            if value is not None and node.switchType().unalias().kind() == idltype.tk_boolean:
                value = bool(value)
            members.append(idl.UnionMember(value, case.declarator().identifier(), type_))
    if members[0].label is None:
        raise Unfit(f"union {node.identifier()} begins with its default arm, on which the ORB library crashes")
    return idl.Union(node.repoId(), node.identifier(), _type(node.switchType(), inside), tuple(members))


def _value(node: Any, inside: _Around) -> idl.Value:
    bases = [base.fullDecl() for base in node.inherits()]
    base = bases[0] if bases and isinstance(bases[0], idlast.Value) else None
    modifier = "custom" if node.custom() else "truncatable" if node.truncatable() else "none"
    if modifier == "custom":
        raise Unfit(f"valuetype {node.identifier()} is custom: only its own code can read it")
    return idl.Value(
        node.repoId(),
        node.identifier(),
        None if base is None else _declared(base, inside),
        tuple(_members(node.statemembers(), inside)),
        modifier,
    )


def _sized(type_: idl.IdlType, declarator: Any) -> idl.IdlType:
    for size in reversed(declarator.sizes()):
        type_ = idl.Array(type_, size)
    return type_


def _scoped(node: Any) -> str:
    return "::" + "::".join(node.scopedName())


def _at(node: Any, message: str) -> str:
    return f"{node.file()}:{node.line()}: {message}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("-I", dest="folders", action="append", default=[])
    arguments = parser.parse_args()
    with os.fdopen(os.dup(1), "wb") as result:
        os.dup2(2, 1)  # whatever the compiler prints goes to standard error
        found: dict[str, TypedInterface] = {}
        for file in arguments.files:
            found.update((interface.id, interface) for interface in read(Path(file), arguments.folders))
            _omniidl.clear()
            idltype.clear()
        pickle.dump(list(found.values()), result)


if __name__ == "__main__":
    main()
