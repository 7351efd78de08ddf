"""The translator of one link: StructuredEvent to Message and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from mappings.errors import MappingError
from mappings.model import Message, StructuredEvent
from mappings.translate.explanation import Entry, Explained, Trace
from mappings.translate.forward import Forward
from mappings.translate.forward_plan import ForwardPlan, forward_plan
from mappings.translate.options import Options
from mappings.translate.plan_cache import PlanCache
from mappings.translate.reverse import Reverse
from mappings.translate.reverse_plan import ReversePlans
from mappings.translate.rules import compile_rules


class Translator:
    """Belongs to one thread. `counts` says how often a rule had to give something up, by the rule's id."""

    def __init__(self, options: Options | None = None) -> None:
        """Raises FilterError for a rule whose selector does not parse."""
        self.options = options or Options()
        self.counts: Counter[str] = Counter()
        self._change = compile_rules(self.options.rules)
        self._forward = Forward(self.options, self.counts)
        self._reverse = Reverse(self.options, self.counts)
        self._plans: PlanCache[ForwardPlan] = PlanCache()
        self._explaining_plans: PlanCache[ForwardPlan] = PlanCache()
        self._reverse_plans = ReversePlans(self._reverse)

    def forward(self, event: StructuredEvent, *, now_ms: int, elapsed_ms: int = 0, gid: str | None = None) -> Message:
        """Raises MappingError (dead-letter it) and Expired (count it, send nothing).

        `now_ms`: milliseconds since 1970. `elapsed_ms`: how long the event has been in the gateway, taken off its Timeout.
        `gid`: an id that stays the same when the event is sent again (OC-ID-1).
        """
        message = self._by_plan(self._plans, event, now_ms, elapsed_ms, gid, None)
        return message if self._change is None else self._change(message, None)

    def reverse(self, message: Message, *, now_ms: int) -> StructuredEvent:
        """Raises MappingError and Expired. Rules of the link have no part in it: `$se` tells what they did."""
        values = {name: value for name, _, value in message.properties if value is not None}
        try:
            event = self._reverse_plans.event(message, values, now_ms)
        except RecursionError:
            event = None
        return self._reverse(message, now_ms) if event is None else event

    def explain(self, event: StructuredEvent, *, now_ms: int, elapsed_ms: int = 0, gid: str | None = None) -> Explained:
        """As `forward`, with what became of every part."""
        trace: list[Entry] = []
        plans = self._explaining_plans
        if self.options.metadata:
            message = self._by_plan(plans, event, now_ms, elapsed_ms, gid, trace)
        else:  # what is lost then depends on more than the shape
            message = self._forward(event, now_ms, elapsed_ms, gid, trace)
        if self._change is not None:
            message = self._change(message, trace)
        return Explained(message, tuple(trace))

    def explain_reverse(self, message: Message, *, now_ms: int) -> Explained:
        """As `reverse`, with what became of every part."""
        trace: list[Entry] = []
        return Explained(self._reverse(message, now_ms, trace), tuple(trace))

    def _by_plan(
        self,
        cache: PlanCache[ForwardPlan],
        event: StructuredEvent,
        now_ms: int,
        elapsed_ms: int,
        gid: str | None,
        trace: Trace,
    ) -> Message:
        data = event.filterable_data
        # Events of one shape have one key: what is no part of the shape, such as the type's name, may not be in it.
        key = (len(event.variable_header), len(data), data[0][0], data[-1][0]) if data else len(event.variable_header)
        try:
            for index, plan in enumerate(cache.get(key, ())):
                try:
                    message = plan(event, now_ms, elapsed_ms, gid, trace)
                except MappingError as error:
                    error.rule = error.rule or "OC-BODY-6"  # in a plan nothing else that looks at values names no rule
                    raise
                if message:
                    if index:
                        cache.served(key, index)
                    return message  # type: ignore[return-value]  # BAIL is False
                if message is not None:
                    if trace is not None:
                        trace.clear()
                    return self._forward(event, now_ms, elapsed_ms, gid, trace)
            message = self._forward(event, now_ms, elapsed_ms, gid, trace)
            if cache.is_worth_a_plan(key, lambda: _shape(event)):
                new = forward_plan(self._forward, event, self.counts, explain=trace is not None)
                if new is not None:
                    cache.add(key, new)
        except RecursionError:
            raise MappingError("MAP-DEPTH", "nested too deep to be translated") from None
        return message


def _shape(event: StructuredEvent) -> Hashable:
    header = tuple(field[:2] for field in event.variable_header)
    return header, tuple(field[:2] for field in event.filterable_data), event.remainder_of_body.type
