from __future__ import annotations

import pytest

from adapters.cosnotification.service.event_types import EVERYTHING, Declared, TypeBoard, normalised
from adapters.cosnotification.service.stubs import CosNotification, CosNotifyComm
from mappings.filters.event_types import EventType

A, B = EventType("d", "a"), EventType("d", "b")


def types(*pairs: tuple[str, str]) -> list[CosNotification.EventType]:
    return [CosNotification.EventType(*pair) for pair in pairs]


def test_only_changes_of_the_sum_are_told() -> None:
    told: list[tuple[set[EventType], set[EventType]]] = []
    board = TypeBoard(lambda gained, lost: told.append((set(gained), set(lost))))
    board.set("one", frozenset({A}))
    board.set("two", frozenset({A, B}))
    board.set("two", frozenset({A}))
    board.set("one", frozenset())
    board.set("two", frozenset())
    assert told == [({A}, set()), ({B}, set()), (set(), {B}), (set(), {A})]
    assert board.all == frozenset()


def test_a_declaration_with_an_invalid_type_changes_nothing() -> None:
    declared = Declared()
    declared.change(types(("d", "a")), [])
    for bad in (("d", "%ALL"), ("d", "%ANY"), ("d", "%TYPED")):
        with pytest.raises(CosNotifyComm.InvalidEventType) as caught:
            declared.change(types(("d", "b"), bad), types(("d", "a")))
        assert (caught.value.type.domain_name, caught.value.type.type_name) == bad
        with pytest.raises(CosNotifyComm.InvalidEventType):
            declared.change(types(("d", "b")), types(("d", "a"), bad))
    assert declared.types == {A}


@pytest.mark.parametrize("everything", [("", ""), ("*", "*"), ("", "*"), ("*", ""), ("", "%ALL"), ("*", "%ALL")])
def test_one_spelling_of_everything(everything: tuple[str, str]) -> None:
    declared = Declared()
    declared.change(types(everything), [])
    assert declared.types == EVERYTHING == normalised([]) == normalised([everything])
