"""Which commands there are, and where each one lives: read without importing any of them.

A command is a plain function with typer annotations, or a typer.Typer where it has sub-commands. Only the one that was asked for
is imported, so that `isthmus translate` pays for neither pydantic nor a wire library, and a command that cannot be imported breaks
nobody else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple


class Entry(NamedTuple):
    target: str  # module:function, or module:typer.Typer
    summary: str  # the line of `isthmus --help`


COMMANDS: Final[dict[str, Entry]] = {
    "init": Entry("gateway.cli.init:init", "Write an annotated configuration to start from."),
    "lint": Entry("gateway.cli.lint:lint", "Check configurations, offline; every finding at once."),
    "test": Entry("gateway.cli.test_:test", "Run the tests that a configuration holds for its links."),
    "schema": Entry("gateway.cli.schema:schema", "Print the JSON Schema of the configuration."),
    "graph": Entry("gateway.cli.graph:graph", "Draw channels and links as Mermaid or DOT text."),
    "run": Entry("gateway.cli.run:run", "Start the gateway."),
    "demo": Entry("gateway.cli.demo:demo", "Start a gateway with its own channel, broker and traffic."),
    "doctor": Entry("gateway.cli.doctor:doctor", "Examine references to CORBA objects, and the way back to us."),
    "translate": Entry("gateway.cli.translate:translate", "Translate events to messages, or back, as JSON Lines."),
    "filter": Entry("gateway.cli.filter:filter_", "Try an ETCL filter or a JMS selector on JSON Lines."),
    "links": Entry("gateway.cli.links:links", "Show the links of a running gateway and their accounts."),
    "top": Entry("gateway.cli.top:top", "Show how fast the links of a running gateway are, as they go."),
    "advertise": Entry("gateway.cli.advertise:advertise", "Show the event types of a Notification Service of Isthmus."),
    "tap": Entry("gateway.cli.tap:tap", "Show events of a running gateway while they pass."),
    "plan": Entry("gateway.cli.plan:plan", "Show what a changed configuration would do to the running gateway."),
    "apply": Entry("gateway.cli.plan:apply", "Make the running gateway take over a changed configuration."),
    "domain": Entry("gateway.cli.domain:domain", "See and change event domains over CORBA."),
    "journal": Entry("gateway.cli.journal:journal", "Look into a journal, check it, mend it, export from it."),
    "capture": Entry("gateway.cli.capture:capture", "Look into a capture of traffic, without Spark."),
    "spark": Entry("gateway.cli.spark:spark", "Jobs on captured traffic: validate, compare, audit, catalogue, replay."),
    "dlq": Entry("gateway.cli.dlq:dlq", "See, export, throw away or send again dead letters."),
}


def load(entry: Entry) -> Any:
    """Import the function (or Typer) of a command; ImportError where its module, or something that it needs, is not installed."""
    module, _, function = entry.target.partition(":")
    return getattr(import_module(module), function)
