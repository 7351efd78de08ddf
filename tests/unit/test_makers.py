"""What a maker makes cannot be told from what the class makes itself."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any

import pytest

from adapters.base import Delivery
from mappings.makers import maker
from mappings.model import Headers, Message


@pytest.mark.parametrize("class_", [Headers, Message])
def test_it_is_the_same_object_in_every_way(class_: type[Any]) -> None:
    values = [f"value of {field.name}" for field in fields(class_)]
    made, plain = maker(class_)(*values), class_(*values)
    assert type(made) is class_
    assert made == plain
    assert hash(made) == hash(plain)
    assert repr(made) == repr(plain)
    assert replace(made) == copy.copy(made) == pickle.loads(pickle.dumps(made)) == plain
    assert type(made).__match_args__ == class_.__match_args__
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(class_)[0].name, "changed")


def test_a_delivery_keeps_its_identity() -> None:
    values = (None, "id", 1.0, True, False, None, None, "token")
    make = maker(Delivery)
    assert make(*values) != make(*values)
    assert make(*values).token == "token"


def test_every_field_must_be_given() -> None:
    with pytest.raises(TypeError):
        maker(Headers)("type only")


@dataclass(frozen=True, slots=True)
class Checked:
    value: int

    def __post_init__(self) -> None:
        raise ValueError


@dataclass(frozen=True)
class WithoutSlots:
    value: int


@pytest.mark.parametrize("class_", [Checked, WithoutSlots])
def test_a_class_that_does_more_is_refused(class_: type[Any]) -> None:
    with pytest.raises(TypeError):
        maker(class_)
