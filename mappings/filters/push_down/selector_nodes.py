"""Short ways to build the tree of a selector that was not parsed: positions and depths mean nothing there."""

from __future__ import annotations

from mappings.filters import selector_tree as sql


def literal(value: bool | int | float | str) -> sql.Literal:
    return sql.Literal(0, 1, value)


def named(name: str) -> sql.Name:
    return sql.Name(0, 1, name)


def compared(operator: str, name: str, value: bool | int | float | str) -> sql.Expression:
    return sql.Compare(0, 1, operator, named(name), literal(value))


def is_null(name: str, *, negated: bool) -> sql.Expression:
    return sql.IsNull(0, 1, named(name), negated)


def negation(operand: sql.Expression) -> sql.Expression:
    if isinstance(operand, sql.IsNull):
        return sql.IsNull(0, 1, operand.operand, not operand.negated)
    return sql.Not(0, 1, operand)


def all_of(operands: list[sql.Expression]) -> sql.Expression:
    flat = _flat(sql.And, operands)
    return flat[0] if len(flat) == 1 else sql.And(0, 1, flat)


def any_of(operands: list[sql.Expression]) -> sql.Expression:
    flat = _flat(sql.Or, operands)
    return flat[0] if len(flat) == 1 else sql.Or(0, 1, flat)


def _flat(joined: type[sql.And] | type[sql.Or], operands: list[sql.Expression]) -> tuple[sql.Expression, ...]:
    """Each operand once; in the place of one of the same sort stand its own operands."""
    flat: dict[sql.Expression, None] = {}
    for operand in operands:
        if isinstance(operand, sql.And | sql.Or) and isinstance(operand, joined):
            flat.update(dict.fromkeys(operand.operands))
        else:
            flat[operand] = None
    return tuple(flat)
