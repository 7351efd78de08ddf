"""Columns as lists are what `to_pylist` gives, wherever they are cut."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from spark.plain import plain

KINDS: list[tuple[pa.DataType, some.SearchStrategy[Any]]] = [
    (pa.int64(), some.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("us", "UTC"), some.integers(-(2**63), 2**63 - 1)),
    (pa.binary(), some.binary(max_size=20)),
    (pa.string(), some.sampled_from(["", "a", "Zürich", "\0"])),
    (pa.dictionary(pa.int32(), pa.string()), some.sampled_from(["x", "y"])),
    (pa.bool_(), some.booleans()),
]


@given(some.sampled_from(KINDS), some.booleans(), some.data())
def test_every_column_is_the_same_list(kind: tuple[pa.DataType, Any], nulls: bool, data: some.DataObject) -> None:
    type_, value = kind
    values = data.draw(some.lists(some.none() | value if nulls else value, max_size=30))
    begin = data.draw(some.integers(0, len(values)))
    end = data.draw(some.integers(begin, len(values)))
    made = pa.array(values, pa.string() if pa.types.is_dictionary(type_) else type_)
    column = made.dictionary_encode() if pa.types.is_dictionary(type_) else made
    assert plain(column.slice(begin, end - begin)) == values[begin:end]
