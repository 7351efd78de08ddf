"""Events that pass through the service as octets: they are what they were, and whoever gets them is treated as ever."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.encoding import any_to_orb
from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.caller import Caller
from adapters.cosnotification.giop.messages import RequestMaker
from adapters.cosnotification.giop.target import Target, target_of
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosEventComm, CosNotifyComm
from mappings.cdr import encode_bare
from mappings.cdr.events import event_octets, event_reader
from mappings.event_forms import structured_value, to_any
from mappings.idl_types import DOUBLE, LONG, SHORT, STRING, WCHAR
from mappings.known_types import EVENT_BATCH, UTC_T
from mappings.model import Any_, Event, Property, StructuredEvent, UntypedEvent
from tests.interop.any_corpus import CARRIED, REFUSED
from tests.interop.notification_service.clients import CLIENTS, PATIENCE_SECS, Channel, connect, property_, until
from tests.interop.notification_service.test_forms import pull_all, read, seen_by
from tests.parts.scripted_peer import (
    COMPLETED_NO,
    Answer,
    Asked,
    ScriptedPeer,
    exception,
    in_fragments,
    system_exception,
)

TIMEOUT_MS = 20_000
LONGEST = 1 << 26
OPERATIONS = {"structured": "push_structured_event", "sequence": "push_structured_events"}
TYPES = {"structured": CosNotifyComm.StructuredPushConsumer, "sequence": CosNotifyComm.SequencePushConsumer}
SMALL = {name: any_ for name, any_ in CARRIED.items() if not name.startswith("1 ")}
MARK = b"d\0\xaa\xaa"
LONG_AGO = {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0}


def event(
    number: int, *fields: Property, header: tuple[Property, ...] = (), body: Any_ | None = None
) -> StructuredEvent:
    properties = (Property("n", LONG, number), *fields)
    return StructuredEvent("d", "t", f"e{number}", header, properties, body or Any_(STRING, "body"))


def batch_octets(events: list[StructuredEvent], *, little: bool = True) -> bytes:
    return encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little)


class Supplier:
    """Pushes octets."""

    def __init__(self, channel: Channel, form: str, proxy: Any, caller: type[Caller]) -> None:
        target = target_of(channel.orb.to_string(proxy))
        assert target is not None
        self._caller = caller(target, OPERATIONS[form], TIMEOUT_MS, LONGEST)
        self._one_by_one = form == "structured"
        self.close = self._caller.close

    def push(self, *events: StructuredEvent, little: bool = True) -> None:
        if not self._one_by_one:
            self.push_octets(batch_octets(list(events), little=little), little=little)
            return
        for each in events:
            self.push_octets(event_octets(each, little), little=little)

    def push_octets(self, octets: bytes, *, little: bool = True) -> None:
        self._caller.call(octets, little=little)


class Quiet(Caller):
    """Never says which code sets it uses: then nothing that it sends is taken as octets."""

    def __init__(self, target: Target, operation: str, *more: Any) -> None:
        super().__init__(target, operation, *more)
        self._makers = {
            key: RequestMaker(target.key, operation.encode(), little=key[0], code_sets=False) for key in self._makers
        }


class Consumer(ScriptedPeer):
    """Takes octets, and answers pushes as it is told; the calls that every ORB answers by itself it answers well."""

    def __init__(self, form: str, answer: Answer = Asked.reply) -> None:
        super().__init__(self._answer)
        self._form = form
        self.on_push: Answer = answer
        self.octets: list[bytes] = []  # of pushes that it has taken

    def _answer(self, asked: Asked) -> bytes | None:
        if asked.operation == "_is_a":
            return asked.reply(body=b"\1")
        if asked.operation == "_non_existent":
            return asked.reply(body=b"\0")
        if asked.operation != OPERATIONS[self._form]:
            return asked.reply()
        answer = self.on_push(asked)
        if answer is not None and struct.unpack_from("<L", answer, 16)[0] == messages.NO_EXCEPTION:
            self.octets.append(asked.arguments)
        return answer

    def connect(self, channel: Channel) -> Any:
        proxy = channel.proxy("push", "consumer", self._form)
        proxy.set_qos([property_("MaximumBatchSize", CORBA.TC_long, 100)])
        ior = self.ior(TYPES[self._form]._NP_RepositoryId)
        connect(proxy, "push", "consumer", self._form, channel.orb.corba.string_to_object(ior))
        return proxy

    @property
    def numbers(self) -> list[int]:
        found: list[StructuredEvent] = []
        for octets in self.octets:
            reader = event_reader(True)
            found += [reader.event(octets)[0]] if self._form == "structured" else reader.events(octets)
        return [each.filterable_data[0].value for each in found]


class Stage:
    """A channel, and its clients that are closed with it."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._stack = ExitStack()

    def supplier(self, form: str = "structured", proxy: Any = None, caller: type[Caller] = Caller) -> Supplier:
        supplier = Supplier(self.channel, form, proxy or self.channel.supplier(form), caller)
        self._stack.callback(supplier.close)
        return supplier

    def consumer(self, form: str = "structured", answer: Answer = Asked.reply) -> Consumer:
        consumer = self._stack.enter_context(Consumer(form, answer))
        consumer.connect(self.channel)
        return consumer

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def stage(channel: Channel) -> Iterator[Stage]:
    stage = Stage(channel)
    yield stage
    stage.close()


def with_marks(octets: bytes, little: bool) -> bytes:
    """The same event with something in its pads, by which it is known again: no ORB would write just that."""
    marked = octets.replace(b"d\0\0\0", MARK, 1)
    assert marked != octets
    assert event_reader(little).events(marked) == event_reader(little).events(octets)
    return marked


@pytest.mark.parametrize("little", [True, False])
def test_the_very_octets_arrive(stage: Stage, little: bool) -> None:
    one, many = stage.supplier("structured"), stage.supplier("sequence")
    takes_one, takes_many = stage.consumer("structured"), stage.consumer("sequence")
    octets = event_octets(event(1, Property("d", DOUBLE, 0.5)), little)
    one.push_octets(octets, little=little)
    until(lambda: takes_one.octets)
    assert takes_one.octets == [octets]
    until(lambda: takes_many.octets)
    takes_many.octets.clear()
    both = with_marks(batch_octets([event(2, Property("d", DOUBLE, 0.5)), event(3)], little=little), little)
    many.push_octets(both, little=little)
    until(lambda: takes_many.octets)
    assert takes_many.octets == [both]
    assert takes_many.asked[-1].little == little
    assert {asked.code_sets for asked in takes_many.asked[-2:]} <= {None, (messages.UTF_8, messages.UTF_16)}


@pytest.fixture
def next_channel(service: tuple[LocalOrb, str]) -> Iterator[Channel]:
    channel = Channel(*service)
    yield channel
    channel.close()


@pytest.mark.parametrize("form", OPERATIONS)
def test_the_very_octets_pass_from_channel_to_channel(stage: Stage, next_channel: Channel, form: str) -> None:
    """Both are in one process: no connection and no library is between them."""
    proxy = stage.channel.proxy("push", "consumer", form)
    proxy.set_qos([property_("MaximumBatchSize", CORBA.TC_long, 100)])
    connect(proxy, "push", "consumer", form, next_channel.supplier(form))
    with Consumer("sequence") as consumer:
        consumer.connect(next_channel)
        marked = with_marks(batch_octets([event(1), event(2)]), True)
        stage.supplier("sequence").push_octets(marked)
        until(lambda: consumer.numbers == [1, 2])
        assert consumer.octets[0].startswith(marked[4:100], 4), "in one call or two"
        puller = next_channel.puller("structured")
        stage.supplier("sequence").push(*(event(n, Property("d", DOUBLE, n / 3)) for n in range(3, 20)))
        until(lambda: consumer.numbers == list(range(1, 20)))
        numbers = [event_from_orb(each).filterable_data[0].value for each in pull_all(puller, "structured", 17)]
        assert numbers == list(range(3, 20))


@pytest.mark.parametrize("form", OPERATIONS)
def test_a_channel_that_wants_no_octets_gets_events_from_the_one_before_it(
    stage: Stage, next_channel: Channel, form: str
) -> None:
    puller = next_channel.puller("any")
    proxy, _ = stage.channel.proxy("push", "consumer", form), stage.consumer(form)
    connect(proxy, "push", "consumer", form, next_channel.supplier(form))
    sent = [event(number, Property("d", DOUBLE, 0.5)) for number in range(5)]
    stage.supplier(form).push(*sent)
    assert [read("any", value) for value in pull_all(puller, "any", 5)] == list(map(to_any, sent))


@pytest.mark.parametrize("supplier_form", ["structured", "sequence"])
def test_every_value_reaches_every_kind_of_consumer(stage: Stage, supplier_form: str) -> None:
    channel = stage.channel
    supplier = stage.supplier(supplier_form)
    takers = {form: channel.consumer(form)[0] for form in ("structured", "sequence", "any")}
    pullers = {form: channel.puller(form) for form in ("structured", "sequence", "any")}
    octets = stage.consumer(supplier_form)
    sent = [event(n, Property("v", any_.type, any_.value), body=any_) for n, any_ in enumerate(SMALL.values())]
    for start in range(0, len(sent), 10):
        supplier.push(*sent[start : start + 10])
    until(lambda: all(len(taker.got) == len(sent) for taker in takers.values()))
    for form, taker in takers.items():
        expected = [to_any(each) for each in sent] if form == "any" else sent
        assert [read(form, value) for value in taker.got] == expected, form
    for form, puller in pullers.items():
        expected = [to_any(each) for each in sent] if form == "any" else sent
        assert [read(form, value) for value in pull_all(puller, form, len(sent))] == expected, f"pull {form}"
    until(lambda: len(octets.numbers) == len(sent))
    assert octets.numbers == list(range(len(sent)))


@pytest.mark.parametrize("supplier_form", ["structured", "sequence", "any"])
def test_what_an_orb_has_written_reaches_every_kind_of_consumer(stage: Stage, supplier_form: str) -> None:
    """Between omniORB and omniORB, as most of our users have it."""
    takers = {form: stage.channel.consumer(form)[0] for form in ("structured", "sequence", "any")}
    proxy = stage.channel.supplier(supplier_form)
    events = [event(n, Property("v", any_.type, any_.value), body=any_) for n, any_ in enumerate(SMALL.values())]
    sent: list[Event] = [*events]
    if supplier_form == "any":
        sent = [UntypedEvent(to_any(each)) for each in events]
        for each in events:
            proxy.push(any_to_orb(to_any(each)))
    else:
        push = proxy.push_structured_events if supplier_form == "sequence" else lambda some: push_each(proxy, some)
        for start in range(0, len(events), 10):
            push(list(map(event_to_orb, events[start : start + 10])))
    until(lambda: all(len(taker.got) == len(sent) for taker in takers.values()))
    for form, taker in takers.items():
        assert [read(form, value) for value in taker.got] == [seen_by(form, each) for each in sent], form


def push_each(proxy: Any, events: list[Any]) -> None:
    for each in events:
        proxy.push_structured_event(each)


@pytest.mark.parametrize("little", [True, False])
def test_numbers_that_must_be_aligned_are_moved_between_forms(stage: Stage, little: bool) -> None:
    """Where an event stands in a call depends on its form; a double must stand where 8 divides the offset all the same."""
    one, many = stage.supplier("structured"), stage.supplier("sequence")
    takers = [stage.channel.consumer(form)[0] for form in ("structured", "sequence")]
    sent = [event(n, Property("d", DOUBLE, n / 3), Property("s", STRING, "x" * n)) for n in range(20)]
    many.push(*sent[:10], little=little)
    for each in sent[10:]:
        one.push(each, little=little)
        one.push(each, little=not little)
    expected = [*sent[:10], *(each for each in sent[10:] for _ in range(2))]
    until(lambda: all(len(taker.got) == len(expected) for taker in takers))
    for taker in takers:
        assert [event_from_orb(value) for value in taker.got] == expected


def test_events_of_both_ways_keep_their_order(stage: Stage) -> None:
    """As octets, and by the library."""
    proxy, consumer = stage.channel.supplier(), stage.consumer()
    octets, library = stage.supplier(proxy=proxy), stage.supplier(proxy=proxy, caller=Quiet)
    for number in range(60):
        (library if number % 3 == 0 else octets).push(event(number))
    until(lambda: len(consumer.octets) == 60)
    assert consumer.numbers == list(range(60))


def test_what_their_headers_say_is_heeded(stage: Stage) -> None:
    supplier, consumer = stage.supplier(), Consumer("structured")
    with consumer:
        proxy = consumer.connect(stage.channel)
        proxy.set_qos([property_("OrderPolicy", CORBA.TC_short, 2)])  # PriorityOrder
        proxy.suspend_connection()
        for number in range(6):
            supplier.push(event(number, header=(Property("Priority", SHORT, number % 3),)))
        supplier.push(event(6, header=(Property("StopTime", UTC_T, LONG_AGO),)))
        proxy.resume_connection()
        until(lambda: len(consumer.octets) == 6)
        supplier.push(event(7))
        until(lambda: len(consumer.octets) == 7)
        assert consumer.numbers == [2, 5, 1, 4, 0, 3, 7]


def test_filters_see_events_that_came_as_octets(stage: Stage) -> None:
    channel = stage.channel
    proxy = channel.supplier("sequence")
    proxy.add_filter(channel.filter("$n < 15"))
    taker, its_proxy = channel.consumer("sequence")
    its_proxy.add_filter(channel.filter("$n > 4 and $d == 0.5"))
    everything, _ = channel.consumer("structured")
    supplier = stage.supplier("sequence", proxy)
    for start in range(0, 20, 5):
        supplier.push(*(event(n, Property("d", DOUBLE, 0.5)) for n in range(start, start + 5)))
    until(lambda: len(everything.got) == 15 and len(taker.got) == 10)
    assert (everything.numbers, taker.numbers) == (list(range(15)), list(range(5, 15)))


def test_a_priority_of_the_suppliers_proxy_orders_them(stage: Stage) -> None:
    channel = stage.channel
    consumer, its_proxy = channel.consumer()
    its_proxy.set_qos([property_("OrderPolicy", CORBA.TC_short, 2)])  # PriorityOrder
    its_proxy.suspend_connection()
    low, high = channel.supplier(), channel.supplier()
    high.set_qos([property_("Priority", CORBA.TC_short, 5)])
    for number in range(4):
        low.push_structured_event(event_to_orb(event(number)))
        high.push_structured_event(event_to_orb(event(100 + number)))
    its_proxy.resume_connection()
    until(lambda: len(consumer.got) == 8)
    assert consumer.numbers == [100, 101, 102, 103, 0, 1, 2, 3]


MALFORMED = {
    "cut short": event_octets(event(1), True)[:-6],
    "a string that does not end": event_octets(event(1), True).replace(b"body\0", b"body!"),
    "nothing": b"",
    "a length beyond the end": b"\xff\xff\xff\x7f" * 8,
}


@pytest.mark.parametrize("what", MALFORMED)
def test_octets_that_are_no_event_are_refused_by_the_library(stage: Stage, what: str) -> None:
    supplier, consumer = stage.supplier(), stage.consumer()
    with pytest.raises(CORBA.MARSHAL):
        supplier.push_octets(MALFORMED[what])
    supplier.push(event(2))
    until(lambda: consumer.octets)
    assert consumer.numbers == [2]


def test_who_is_not_connected_is_told_so(stage: Stage) -> None:
    channel = stage.channel
    stage.consumer()
    proxy = channel.proxy("push", "supplier", "structured")
    target = target_of(channel.orb.to_string(proxy))
    assert target is not None
    caller = Caller(target, OPERATIONS["structured"], TIMEOUT_MS, LONGEST, (CosEventComm.Disconnected,))
    for _ in range(2):
        with pytest.raises(CosEventComm.Disconnected):
            caller.call(event_octets(event(1), True), little=True)
    connect(proxy, "push", "supplier", "structured", None)
    caller.call(event_octets(event(2), True), little=True)
    proxy.disconnect_structured_push_consumer()
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        caller.call(event_octets(event(3), True), little=True)
    caller.close()


# Consumers


def scripted(*answers: Answer) -> Answer:
    """One after the other; then all is well."""
    left = list(answers)
    return lambda asked: left.pop(0)(asked) if left else asked.reply()


def failing(name: str) -> Answer:
    return lambda asked: asked.reply(2, system_exception(name, 0, COMPLETED_NO))


def end_politely(asked: Asked) -> None:
    asked.line.sendall(messages.CLOSE)
    asked.line.shutdown(socket.SHUT_RDWR)


def hang_up(asked: Asked) -> None:
    asked.line.shutdown(socket.SHUT_RDWR)


def disconnected(asked: Asked) -> bytes:
    return asked.reply(1, exception(CosEventComm.Disconnected._NP_RepositoryId))


@pytest.mark.parametrize("form", OPERATIONS)
@pytest.mark.parametrize(
    "first", [failing("TRANSIENT"), failing("COMM_FAILURE"), failing("IMP_LIMIT"), hang_up, end_politely]
)
def test_an_event_that_was_not_taken_comes_again(stage: Stage, form: str, first: Answer) -> None:
    consumer, supplier = stage.consumer(form, scripted(first)), stage.supplier(form)
    for number in range(5):
        supplier.push(event(number))
    until(lambda: consumer.numbers[-1:] == [4])
    assert consumer.numbers[-5:] == list(range(5))


@pytest.mark.parametrize("form", OPERATIONS)
@pytest.mark.parametrize("last", [failing("OBJECT_NOT_EXIST"), failing("NO_PERMISSION"), disconnected])
def test_a_consumer_that_wants_no_more_loses_its_proxy(stage: Stage, form: str, last: Answer) -> None:
    supplier = stage.supplier(form)
    consumer = Consumer(form, last)
    with consumer:
        proxy = consumer.connect(stage.channel)
        supplier.push(event(1))
        until(proxy._non_existent)
        until(lambda: stage.channel.consumers._get_push_suppliers() == [])


@pytest.mark.parametrize("form", OPERATIONS)
def test_an_event_that_it_cannot_take_costs_no_other(stage: Stage, form: str) -> None:
    bad = b"unbearable"

    def choosy(asked: Asked) -> bytes:
        return failing("MARSHAL")(asked) or b"" if bad in asked.arguments else asked.reply()

    supplier, consumer = stage.supplier(form), stage.consumer(form, choosy)
    supplier.push(event(1), event(2, body=Any_(STRING, bad.decode())), event(3))
    until(lambda: consumer.numbers == [1, 3])
    supplier.push(event(4))
    until(lambda: consumer.numbers == [1, 3, 4])


def test_who_reads_the_librarys_writing_alone_gets_that(stage: Stage) -> None:
    """Something in a pad is what this consumer cannot read; the library writes none there that we have put in."""
    marked = with_marks(batch_octets([event(1)]), True)

    def choosy(asked: Asked) -> bytes | None:
        return failing("MARSHAL")(asked) if asked.arguments == marked else asked.reply()

    supplier, consumer = stage.supplier("sequence"), stage.consumer("sequence", choosy)
    for count in range(1, 4):
        supplier.push_octets(marked)
        until(lambda count=count: consumer.numbers == [1] * count)
    pushes = [asked.arguments for asked in consumer.asked if asked.operation == "push_structured_events"]
    assert [arguments == marked for arguments in pushes] == [True, False, False, False], "it is learnt once"


def test_an_event_over_which_it_hangs_up_costs_no_other(stage: Stage) -> None:
    bad = b"unbearable"

    def touchy(asked: Asked) -> bytes | None:
        return hang_up(asked) if bad in asked.arguments else asked.reply()

    supplier, consumer = stage.supplier(), stage.consumer("structured", touchy)
    supplier.push(event(1), event(2, body=Any_(STRING, bad.decode())), event(3))
    until(lambda: consumer.numbers == [1, 3])


def test_a_wide_character_is_left_out_where_the_consumers_library_cannot_read_it(stage: Stage) -> None:
    """omniORBpy hangs up over it; an ORB that reads it gets it."""
    supplier, consumer = stage.supplier(), stage.consumer()
    taker, _ = stage.channel.consumer()
    supplier.push(event(1), event(2, body=Any_(WCHAR, "x")), event(3))
    until(lambda: consumer.numbers == [1, 2, 3])
    until(lambda: taker.numbers == [1, 3])


@pytest.mark.parametrize(
    "name", ["long double", "sequence of unsigned long long from 2^63", "union with its default arm first"]
)
def test_what_the_library_cannot_carry_goes_to_those_who_need_no_library(stage: Stage, name: str) -> None:
    """And is left out for the others; the process lives."""
    supplier, consumer = stage.supplier("sequence"), stage.consumer("sequence")
    any_, puller = stage.channel.consumer("any")[0], stage.channel.puller("sequence")
    supplier.push(event(1), event(2, body=REFUSED[name].value), event(3))
    until(lambda: consumer.numbers == [1, 2, 3])
    until(lambda: len(any_.got) == 2)
    assert [event_from_orb(each).event_name for each in pull_all(puller, "sequence", 2)] == ["e1", "e3"]


def test_answers_in_fragments(stage: Stage) -> None:
    answer = in_pieces(scripted(failing("TRANSIENT")))
    supplier, consumer = stage.supplier(), stage.consumer("structured", answer)
    for number in range(5):
        supplier.push(event(number))
    until(lambda: len(consumer.asked) >= 6 and consumer.asked[-1].arguments == event_octets(event(4), True))
    assert len([asked for asked in consumer.asked if asked.operation == "push_structured_event"]) == 6


def in_pieces(answer: Answer) -> Answer:
    return lambda asked: in_fragments(answer(asked) or b"", 8)


def test_a_consumer_that_is_elsewhere_is_called_by_the_library(stage: Stage) -> None:
    with Consumer("structured") as other:
        forward = bytes.fromhex(other.ior(TYPES["structured"]._NP_RepositoryId)[4:])[4:]

        def elsewhere(asked: Asked) -> bytes:
            return asked.reply(3, forward)

        supplier, consumer = stage.supplier(), stage.consumer("structured", elsewhere)
        for number in range(3):
            supplier.push(event(number))
        until(lambda: other.numbers == [0, 1, 2])
        assert consumer.octets == []


def test_a_consumer_that_hangs_holds_up_nobody(stage: Stage) -> None:
    let_go = threading.Event()

    def hanging(asked: Asked) -> bytes:
        let_go.wait(PATIENCE_SECS)
        return asked.reply()

    supplier = stage.supplier()
    stage.consumer("structured", hanging)
    quick = stage.consumer()
    for number in range(50):
        supplier.push(event(number))
    until(lambda: len(quick.octets) == 50)
    assert not let_go.is_set()
    let_go.set()


def test_one_that_disconnects_in_the_middle_of_a_push_gets_its_answer_through(stage: Stage) -> None:
    failed: list[Exception] = []

    class Leaving(CLIENTS["push", "consumer"]["structured"]):  # type: ignore[misc]
        def push_structured_event(self, notification: Any) -> None:
            super().push_structured_event(notification)
            try:
                proxy.disconnect_structured_push_supplier()
            except CORBA.Exception as error:
                failed.append(error)

    client, proxy = Leaving(), stage.channel.proxy("push", "consumer", "structured")
    connect(proxy, "push", "consumer", "structured", stage.channel.activate(client))
    supplier = stage.supplier()
    supplier.push(event(1))
    until(lambda: client.got)
    until(proxy._non_existent)
    assert not failed


def test_a_connection_ends_with_its_proxy(stage: Stage) -> None:
    supplier = stage.supplier()
    with Consumer("structured") as consumer:
        proxy = consumer.connect(stage.channel)
        supplier.push(event(1))
        until(lambda: consumer.octets)
        number = next(asked.connection for asked in consumer.asked if asked.operation == "push_structured_event")
        line = next(asked.line for asked in consumer.asked if asked.connection == number)
        proxy.disconnect_structured_push_supplier()
        until(lambda: _is_closed(line))


def _is_closed(line: socket.socket) -> bool:
    try:
        line.sendall(b"?")
    except OSError:
        return True
    return False
