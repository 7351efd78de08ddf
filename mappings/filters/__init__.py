"""Filters: the Notification Service's ETCL over events, and JMS selectors over messages.

    etcl.py            compile_etcl(text) -> EtclFilter
    selector.py        compile_selector(text) -> Selector
    event_types.py     which event types a constraint or a subscription covers
    push_down/         what of a filter the far side can do already, and what is left for the gateway

Each language has a grammar (`*.lark`), a tree, checks that need no event, and closures. lark is imported when the first text
is parsed.
"""

from mappings.filters.etcl import EtclFilter, compile_etcl
from mappings.filters.selector import Selector, compile_selector

__all__ = ["EtclFilter", "Selector", "compile_etcl", "compile_selector"]
