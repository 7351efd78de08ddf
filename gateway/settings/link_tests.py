"""The `tests:` of a configuration: what a link must make of an event, checked by `isthmus test` without any peer."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from adapters.settings_base import StrictModel


class Given(StrictModel):
    """What arrives, in the JSON form of events and messages: in a file, or here."""

    file: str | None = Field(default=None, description="JSON, one event or message; from the configuration's folder.")
    event: dict[str, Any] | None = Field(default=None, description="An event, in its JSON form.")
    message: dict[str, Any] | None = Field(default=None, description="A message, in its JSON form.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Given:
        if sum(part is not None for part in (self.file, self.event, self.message)) != 1:
            raise ValueError("give exactly one of file, event and message")
        return self


class Expectation(StrictModel):
    """What must come of it: parts of a message or an event, or the reason why nothing does.

    Lists of named fields are written as mappings by name; a field is its value, or `{type: …, value: …}`, or null where it must be
    absent. What is not named is not looked at.
    """

    filtered: bool | None = Field(default=None, description="Whether the filter keeps it out.")
    expired: bool | None = Field(default=None, description="Whether its time is over.")
    error: str | None = Field(default=None, description="Code of the error, such as MAP-VALUE-RANGE.")
    headers: dict[str, Any] | None = Field(default=None, description="Header fields of the message.")
    properties: dict[str, Any] | None = Field(default=None, description="Properties of the message, by name.")
    body: dict[str, Any] | None = Field(default=None, description="{type: TextMessage, value: …}, either or both.")
    domain_name: str | None = Field(default=None, description="Domain of the event.")
    type_name: str | None = Field(default=None, description="Type of the event.")
    event_name: str | None = Field(default=None, description="Name of the event.")
    variable_header: dict[str, Any] | None = Field(default=None, description="Fields of its variable header, by name.")
    filterable_data: dict[str, Any] | None = Field(default=None, description="Its filterable fields, by name.")
    remainder_of_body: dict[str, Any] | None = Field(
        default=None, description="{type: string, value: …}, either or both."
    )

    @model_validator(mode="after")
    def _something(self) -> Expectation:
        if not self.model_fields_set:
            raise ValueError("name at least one thing to expect")
        return self


class LinkTest(StrictModel):
    """What one link must make of one event or message."""

    name: str = Field(min_length=1, description="What the test is about, for the report.")
    link: str = Field(description="Id of the link.")
    given: Given = Field(description="What arrives.")
    expect: Expectation = Field(description="What must come of it.")
