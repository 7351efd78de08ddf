"""The Any corpus through a Notification Service that is not ours: JacORB reads every value, and writes it anew.

What it cannot read it refuses, and that is a dead letter. Nothing arrives as something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.base import DeadLetterError
from adapters.cosnotification.orb import Orb
from mappings.model import StructuredEvent
from tests.interop.any_corpus import CARRIED
from tests.interop.test_any_corpus import Ends, event_with
from tests.parts.availability import available
from tests.parts.jacorb import JacOrb

pytestmark = pytest.mark.java

REFUSED_BY_JACORB = {
    "struct with everything", "union first arm", "union default arm", "type code of a struct", "valuetype",
    "valuetype derived", "valuetype that links to another", "value box of string", "value box of wstring",
}  # fmt: skip
BOUND_FORGOTTEN = {"string bounded, full", "wstring bounded"}  # the text arrives, its type has no bound any more
WITHOUT_LEADING_ZEROS = {
    "fixed with zeros",
    "fixed all behind the point",
    "alias",
    "alias of alias",
}  # so it writes a fixed


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    orb = Orb()
    orb.start()
    with ExitStack() as stack:
        peer: Any = available(lambda: stack.enter_context(JacOrb()))
        ends = Ends(orb, peer, "structured")
        ends.connect()
        yield ends
        ends.close()
    orb.stop()
    assert orb.crashes == 0


def test_the_exceptions_are_of_the_corpus() -> None:
    exceptions = REFUSED_BY_JACORB | BOUND_FORGOTTEN | WITHOUT_LEADING_ZEROS
    assert exceptions <= set(CARRIED)
    assert len(CARRIED) - len(exceptions) > 60


@pytest.mark.parametrize("name", CARRIED)
def test_it_arrives_equal_or_is_refused(ends: Ends, name: str) -> None:
    sent = event_with(CARRIED[name], "structured")
    refusals = ends.send(sent)
    if name in REFUSED_BY_JACORB:
        assert [(type(refusal.error), refusal.error.code) for refusal in refusals] == [(DeadLetterError, "COR-MARSHAL")]
        return
    assert refusals == ()
    (delivery,) = ends.receive(1)
    if name in WITHOUT_LEADING_ZEROS:
        assert delivery.error is not None or delivery.payload == sent
        return
    assert delivery.error is None
    assert isinstance(delivery.payload, StructuredEvent)
    assert delivery.payload.remainder_of_body.value == sent.remainder_of_body.value
    if name not in BOUND_FORGOTTEN:
        assert delivery.payload == sent
