"""Tables of all options, made from the models, for docs/configuration.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gateway.settings.model_fields import fields_by_key, models_in
from gateway.settings.rules import RULES
from gateway.settings.settings import Settings
from gateway.settings.wires import WIRES

HEADER = "| option | what it is | default | meaning |\n|---|---|---|---|\n"


def option_tables() -> dict[str, str]:
    """By the name of the mark in the page."""
    tables = {"settings": _table(Settings, ("endpoints", "channels", "links", "foreign_links", "tests"))}
    for name, wire in WIRES.items():
        tables[f"endpoint {name}"] = _table(wire.endpoint)
        tables[f"channel {name}"] = _table(wire.channel)
    links, foreign_links, tests = (
        _model_of(Settings.model_fields[section]) for section in ("links", "foreign_links", "tests")
    )
    tables["link"] = _table(links, ("rules",))
    tables["foreign link"] = _table(foreign_links)
    for word, rule in RULES.items():
        tables[f"rule {word}"] = _table(rule)
    tables["test"] = _table(tests)
    return tables


def all_models(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A model, and all that can stand inside it."""
    found = {model}
    waiting = [model]
    while waiting:
        for field in waiting.pop().model_fields.values():
            for inner in set(_inside(field.annotation)) - found:
                found.add(inner)
                waiting.append(inner)
    return found


def _table(model: type[BaseModel], elsewhere: tuple[str, ...] = ()) -> str:
    return HEADER + "\n".join(_rows(model, "", elsewhere)) + "\n"


def _rows(model: type[BaseModel], prefix: str, elsewhere: tuple[str, ...]) -> Iterator[str]:
    for key, field in fields_by_key(model).items():
        if key in elsewhere:
            continue
        assert field.description, f"{model.__name__}.{key}"
        option = prefix + key
        inner = _single_model(field)
        if inner is not None:
            kind = "mapping"
            default = "**required**" if field.is_required() else "none" if field.default is None else ""
        else:
            kind, default = _kind(field.annotation), _default(field)
        yield f"| `{option}` | {kind} | {default} | {_cell(field.description)} |"
        if inner is not None:
            yield from _rows(inner, f"{option}.", ())


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "**required**"
    return "none" if field.default is None else f"`{json.dumps(field.default)}`"


def _kind(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in arguments)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(member) for member in arguments if member is not type(None)))
    if origin is list:
        return f"list of {_kind(arguments[0])}"
    if origin is dict:
        return "mapping"
    return {str: "text", int: "whole number", float: "number", bool: "`true`, `false`", SecretStr: "secret"}[annotation]


def _single_model(field: FieldInfo) -> type[BaseModel] | None:
    return next(iter(models_in(field.annotation)), None)


def _model_of(field: FieldInfo) -> type[BaseModel]:
    return next(_inside(field.annotation))


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _inside(argument)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
