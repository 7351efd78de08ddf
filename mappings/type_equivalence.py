"""Whether values of two IDL types look the same on the wire: CORBA's `equivalent`, and the parts must be equal too.

Typedefs and the names of types and members mean nothing. Repository ids must agree where both types have one; that they do is not
enough, for a peer may have another version of the type.
"""

from __future__ import annotations

from functools import lru_cache

from mappings import idl_types as idl

REMEMBERED = 4096


@lru_cache(REMEMBERED)
def equivalent(one: idl.IdlType, other: idl.IdlType) -> bool:
    one, other = idl.unalias(one), idl.unalias(other)
    if one == other:
        return True
    if type(one) is not type(other):
        return _is_reference(one) and _is_reference(other)
    ids = getattr(one, "id", ""), getattr(other, "id", "")
    if all(ids) and ids[0] != ids[1]:
        return isinstance(one, idl.ObjRef)  # a reference tells its interface itself
    match one, other:
        case idl.Struct() | idl.Exception_(), idl.Struct() | idl.Exception_():
            return _all(one.members, other.members)
        case idl.Value(), idl.Value():
            bases = one.base, other.base
            same_base = bases[0] is bases[1] or (None not in bases and equivalent(*bases))
            return same_base and one.modifier == other.modifier and _all(one.members, other.members)
        case idl.Union(), idl.Union():
            labels = [[arm.label for arm in union.members] for union in (one, other)]
            same_labels = isinstance(idl.unalias(one.discriminator), idl.Enum) or labels[0] == labels[1]
            return (
                equivalent(one.discriminator, other.discriminator) and same_labels and _all(one.members, other.members)
            )
        case idl.Enum(), idl.Enum():
            return len(one.members) == len(other.members)
        case idl.Sequence(), idl.Sequence():
            return one.bound == other.bound and equivalent(one.element, other.element)
        case idl.Array(), idl.Array():
            return one.length == other.length and equivalent(one.element, other.element)
        case idl.ValueBox(), idl.ValueBox():
            return equivalent(one.type, other.type)
        case idl.Recursive(), idl.Recursive():
            return one.id == other.id
        case idl.ObjRef(), idl.ObjRef():
            return True
    return False


_Parts = tuple[idl.Member, ...] | tuple[idl.UnionMember, ...]


def _all(ones: _Parts, others: _Parts) -> bool:
    return len(ones) == len(others) and all(equivalent(ones[n].type, others[n].type) for n in range(len(ones)))


def _is_reference(type_: idl.IdlType) -> bool:
    return type_ == idl.OBJECT or isinstance(type_, idl.ObjRef)
