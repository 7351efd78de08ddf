"""Plans: made once per shape, told apart, bounded, and left alone by what is out of the ordinary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from mappings.errors import MappingError
from mappings.idl_types import ANY, LONG, SHORT, STRING, ULONGLONG, Member, Sequence, Struct
from mappings.known_types import NAME, TIME_T, UTC_T
from mappings.model import Any_, StructuredEvent
from mappings.translate import Options, Translator, forward_plan
from mappings.translate.forward import Forward
from mappings.translate.plan_cache import PER_KEY, PLANS, PlanCache
from mappings.translate.reverse import Reverse
from tests.unit.translate.build import NOW_MS, UTC_OF_NOW, all_text, changed, event

POINT = Struct("IDL:M/P:1.0", "P", (Member("n", STRING), Member("v", LONG)))
ALARM = event(
    [
        ("time", UTC_T, {"time": UTC_OF_NOW, "inacclo": 0, "inacchi": 0, "tdf": 0}),
        ("where", NAME, [{"id": "a", "kind": "b"}]),
        ("points", Sequence(POINT), [{"n": "x", "v": 1}, {"n": "y", "v": 2}]),
        ("text", STRING, "hello"),
    ],
    [("Priority", SHORT, 2), ("Timeout", TIME_T, 10_000_000)],
    Any_(STRING, "body"),
)


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the walks were needed."""
    counts: Counter[str] = Counter()

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            counts[name] += 1
            return call(*arguments)

        return counting

    for cls in (Forward, Reverse):
        monkeypatch.setattr(cls, "__call__", counted(cls.__name__, cls.__call__))
    return counts


def test_only_the_first_event_of_a_shape_is_walked(walks: Counter[str]) -> None:
    translator = Translator()
    for _ in range(5):
        message = translator.forward(ALARM, now_ms=NOW_MS, gid="g")
        assert translator.reverse(message, now_ms=NOW_MS) == ALARM
        assert translator.reverse(all_text(message), now_ms=NOW_MS) == ALARM
    assert walks == {"Forward": 1}


def test_a_struct_as_the_remainder_needs_no_walk_and_what_does_not_fit_it_is_refused_in_the_same_words(
    walks: Counter[str],
) -> None:
    translator = Translator()
    for number in range(3):
        alarm = event([], remainder=Any_(POINT, {"n": "x", "v": number}))
        assert translator.reverse(translator.forward(alarm, now_ms=NOW_MS), now_ms=NOW_MS) == alarm
    assert walks == {"Forward": 1}
    misfit = event([], remainder=Any_(POINT, {"n": "x", "v": 2**40}))
    with pytest.raises(MappingError) as by_plan:
        translator.forward(misfit, now_ms=NOW_MS)
    with pytest.raises(MappingError) as by_walk:
        Translator().forward(misfit, now_ms=NOW_MS)
    assert by_plan.value.to_json() == by_walk.value.to_json()


def test_equal_types_are_the_same_shape_though_they_are_other_objects(walks: Counter[str]) -> None:
    translator = Translator()
    for _ in range(3):
        own = Struct("IDL:M/P:1.0", "P", (Member("n", STRING), Member("v", LONG)))
        translator.forward(event([("p", own, {"n": "x", "v": 1})]), now_ms=NOW_MS)
    assert walks == {"Forward": 1}


def test_shapes_under_one_name_have_their_own_plans(walks: Counter[str]) -> None:
    translator = Translator()
    shapes = [
        event([("a", LONG, 1)]),
        event([("a", STRING, "x")]),
        event([("b", LONG, 1)]),
        event([("a", LONG, 1)], remainder=Any_(LONG, 1)),
        event([("a", ANY, Any_(LONG, 1))]),
    ]
    for _ in range(4):
        for shape in shapes:
            message = translator.forward(shape, now_ms=NOW_MS)
            assert translator.reverse(message, now_ms=NOW_MS) == shape
    assert walks == {"Forward": len(shapes)}


@pytest.mark.parametrize(
    "odd",
    [
        event([("u", ULONGLONG, 2**64 - 1), ("s", STRING, "x"), ("l", Sequence(LONG), [1])]),
        event([("u", ULONGLONG, 1), ("s", STRING, "x" * 70_000), ("l", Sequence(LONG), [1])]),
        event([("u", ULONGLONG, 1), ("s", STRING, "ü" * 20_000), ("l", Sequence(LONG), [1])]),
        event([("u", ULONGLONG, 1), ("s", STRING, "x"), ("l", Sequence(LONG), [1] * 300)]),
        event([("u", ULONGLONG, 1), ("s", STRING, "x"), ("l", Sequence(LONG), [1] * 254)]),
    ],
)
def test_what_is_out_of_the_ordinary_is_walked_and_the_plan_stays(odd: StructuredEvent, walks: Counter[str]) -> None:
    plain = event([("u", ULONGLONG, 1), ("s", STRING, "x"), ("l", Sequence(LONG), [1])])
    translator = Translator()
    translator.forward(plain, now_ms=NOW_MS)
    for _ in range(2):
        message = translator.forward(odd, now_ms=NOW_MS)
        assert message == Translator().forward(odd, now_ms=NOW_MS)
        assert translator.reverse(message, now_ms=NOW_MS) == odd
    walked = walks["Forward"]
    translator.forward(plain, now_ms=NOW_MS)
    assert walks["Forward"] == walked
    assert len(translator._plans) == 1


def test_a_message_that_was_changed_is_walked_and_the_plan_stays(walks: Counter[str]) -> None:
    translator = Translator()
    message = translator.forward(ALARM, now_ms=NOW_MS)
    translator.reverse(changed(message, **{"$text": None, "new": 1}), now_ms=NOW_MS)
    assert walks["Reverse"] == 1
    assert translator.reverse(message, now_ms=NOW_MS) == ALARM
    assert translator.reverse(changed(message, **{"$points.1.v": 9}), now_ms=NOW_MS) != ALARM
    assert walks["Reverse"] == 1


def test_traffic_whose_shapes_never_repeat_makes_no_plans_once_there_are_enough() -> None:
    translator = Translator()
    for n in range(PLANS + 200):
        translator.forward(
            StructuredEvent("d", f"type {n}", "", (), event([(f"f{n}", LONG, n)]).filterable_data), now_ms=0
        )
    assert len(translator._plans) == PLANS


def test_a_shape_that_comes_again_gets_a_plan_though_there_are_enough(walks: Counter[str]) -> None:
    translator = Translator()
    for n in range(PER_KEY + 1):
        translator.forward(event([("a", LONG, 1), (f"f{n}", LONG, n), ("z", LONG, 2)]), now_ms=NOW_MS)
    late = event([("a", LONG, 1), ("late", LONG, 1), ("z", LONG, 2)])
    for _ in range(4):
        translator.forward(late, now_ms=NOW_MS)
    assert walks["Forward"] == PER_KEY + 1 + 2, "walked twice, then by its plan"
    assert len(translator._plans) == PER_KEY


def test_what_is_no_part_of_the_shape_needs_no_plan_of_its_own(walks: Counter[str]) -> None:
    translator = Translator()
    for n in range(1000):
        translator.forward(StructuredEvent(f"d{n}", f"type {n}", f"e{n}", (), ALARM.filterable_data), now_ms=n)
    assert walks == {"Forward": 1}
    assert len(translator._plans) == 1


def test_the_cache_is_bounded_and_keeps_what_serves() -> None:
    cache: PlanCache[Callable[[], int]] = PlanCache(plans=4, per_key=2)
    plans = [lambda n=n: n for n in range(6)]
    for n, plan in enumerate(plans[:4]):
        cache.add("ab"[n % 2], plan)
    assert [plan() for plan in cache.get("a") or []] == [2, 0]
    cache.served("a", 1)
    assert [plan() for plan in cache.get("a") or []] == [0, 2]
    cache.add("a", plans[4])
    assert [plan() for plan in cache.get("a") or []] == [4, 0]
    cache.add("c", plans[5])
    assert len(cache) <= 4
    assert [plan() for plan in cache.get("c") or []] == [5]


def test_names_out_of_events_are_never_code() -> None:
    """Every name that ends up in the source of a plan is a literal there."""
    evil = ["'", '"', "\\", "\n", "{x}", "'); import os; ('", "\u2028", "%s", "f0", "out", "\ud7ff", "a'''b"]
    struct = Struct("IDL:'x:1.0", "'", tuple(Member(name, LONG) for name in evil))
    numbers = [(name, LONG, n) for n, name in enumerate(evil)]
    the_event = event([*numbers, ("s", struct, dict.fromkeys(evil, 1))], remainder=Any_(struct, dict.fromkeys(evil, 2)))
    for profile in ("borland", "strict", "mq"):
        translator = Translator(Options(profile=profile))
        for _ in range(3):
            message = translator.forward(the_event, now_ms=NOW_MS)
            assert translator.reverse(message, now_ms=NOW_MS) == the_event


def test_very_large_shapes_get_no_plan() -> None:
    many = event([(f"f{n}", LONG, n) for n in range(1001)])
    forward = Forward(Options(), Counter())
    assert forward_plan.forward_plan(forward, many, Counter(), explain=False) is None
    long_names = event([("n" * 5_000 + str(n), LONG, n) for n in range(100)])
    assert forward_plan.forward_plan(forward, long_names, Counter(), explain=False) is None
