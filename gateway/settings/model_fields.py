"""What the models say about a place in the configuration: which keys may stand there, and what a key means."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gateway.settings.nodes import Path


def keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """The keys that the mapping at a path may have; none where it is no model's."""
    annotation: Any = model
    for step in path:
        annotation = _below(annotation, step)
    return [key for found in models_in(annotation) for key in fields_by_key(found)]


def description_at(model: type[BaseModel], path: Path) -> str:
    """What the models say about the key at a path; empty where they say nothing."""
    annotation: Any = model
    description = ""
    for step in path:
        if isinstance(step, str):  # an item of a list is described by the list
            field = _field(annotation, step)
            description = (field.description or "") if field is not None else ""
        annotation = _below(annotation, step)
    return description


@cache
def fields_by_key(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model under the names that they have in the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a value of this type may be, itself and not what is inside it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is Annotated:
        yield from models_in(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from models_in(member)


def _below(annotation: Any, step: str | int) -> Any:
    """The type of what stands under a key or an index; None where nothing is known."""
    field = _field(annotation, step)
    if field is not None:
        return field.annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _below(arguments[0], step)
    if origin in (Union, UnionType):
        return next((below for member in arguments if (below := _below(member, step)) is not None), None)
    if origin is dict:
        return arguments[1]
    if origin is list:
        return arguments[0]
    return None


def _field(annotation: Any, step: str | int) -> FieldInfo | None:
    for model in models_in(annotation):
        field = fields_by_key(model).get(str(step))
        if field is not None:
            return field
    return None
