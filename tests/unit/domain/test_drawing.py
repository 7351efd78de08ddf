"""Names that would break out of a drawing do not."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.drawing import Drawing, Edge, Group, Vertex, to_dot, to_mermaid

NASTY = 'end"];\nclick x "javascript:alert(1)" %%{init: {}}%% <b>&#59;`\\$$x$$ subgraph'


def drawing_of(name: str, title: str, label: str) -> Drawing:
    return Drawing(
        [Group(title, (Vertex(name),)), Group("", (Vertex(name + "2"),))], [Edge(name, name + "2", (label,))]
    )


def test_names_of_channels_are_never_ids() -> None:
    text = to_mermaid(drawing_of("end", "subgraph", "graph"))
    assert text.splitlines()[1:] == [
        '  subgraph group0["subgraph"]',
        '    channel0["end"]',
        "  end",
        '  channel1["end2"]',
        '  channel0 -->|"graph"| channel1',
    ]


def test_mermaid_sees_nothing_that_means_something_to_it() -> None:
    lines = to_mermaid(drawing_of(NASTY, NASTY, NASTY)).splitlines()
    assert len(lines) == 6
    for line in lines:
        for label in re.findall(r'"(.*)"', line):
            assert not re.search(r'["<>`%{}\[\]$\\&]|;(?<!#[0-9];)(?<!#[0-9][0-9];)(?<!#[0-9][0-9][0-9];)', label), (
                label
            )


DOT_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_dot_strings_end_where_they_should(name: str, title: str, label: str) -> None:
    text = to_dot(drawing_of(name, title, label))
    bare = DOT_STRING.sub("S", text)
    assert bare.splitlines() == [
        "digraph domain {",
        "  rankdir=LR",
        "  node [shape=box]",
        "  subgraph cluster_0 {",
        "    label=S",
        "    channel0 [label=S]",
        "  }",
        "  channel1 [label=S]",
        "  channel0 -> channel1 [label=S]",
        "}",
    ]


@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_mermaid_labels_end_where_they_should(name: str, title: str, label: str) -> None:
    text = to_mermaid(drawing_of(name, title, label))
    assert re.sub(r'"[^"]*"', "S", text).split("\n") == [
        "flowchart LR",
        "  subgraph group0[S]",
        "    channel0[S]",
        "  end",
        "  channel1[S]",
        "  channel0 -->|S| channel1",
        "",
    ]


def test_edges_that_are_not_ours_are_thick_and_those_not_in_use_dashed() -> None:
    drawing = Drawing(
        [Group("", (Vertex("a"), Vertex("b")))],
        [Edge("a", "b", ("ours",)), Edge("a", "b", ("off",), dashed=True), Edge("b", "a", ("theirs",), thick=True)],
    )
    assert to_mermaid(drawing).splitlines()[-3:] == [
        '  channel0 -->|"ours"| channel1',
        '  channel0 -.->|"off"| channel1',
        '  channel1 ==>|"theirs"| channel0',
    ]
    assert to_dot(drawing).splitlines()[-4:-1] == [
        '  channel0 -> channel1 [label="ours"]',
        '  channel0 -> channel1 [label="off" style=dashed]',
        '  channel1 -> channel0 [label="theirs" style=bold]',
    ]
