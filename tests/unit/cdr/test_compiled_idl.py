"""TypeCodes of IDL that omniidl has compiled: we read them, and write them again as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import omniORB
import pytest
from omniORB import CORBA, tcInternal

from mappings.cdr import decode_any, decode_value, encode_any, encode_value
from mappings.checking import check_value
from mappings.idl_types import LONG, TYPECODE, IdlType, Member, Recursive, Sequence, Struct, Union, Value
from mappings.model import Any_
from tests.unit.cdr.pads import pads

IDL = """
module M {
  enum Colour { red, green, blue };
  typedef fixed<5,2> Price;
  typedef sequence<octet, 16> Key;
  union ByLong switch (long) { case 1: long a; case 3: case -4: string b; default: short c; };
  union ByShort switch (short) { case -32768: long a; default: short c; };
  union ByUShort switch (unsigned short) { case 65535: long a; default: short c; };
  union ByULong switch (unsigned long) { case 7: long a; default: short c; };
  union ByLongLong switch (long long) { case -1: long a; default: short c; };
  union ByULongLong switch (unsigned long long) { case 0: long a; default: short c; };
  union ByChar switch (char) { case '\\xff': long a; case 'a': long b; default: short c; };
  union ByTrue switch (boolean) { case TRUE: long a; default: short c; };
  union ByFalse switch (boolean) { case FALSE: long a; default: short c; };
  union ByColour switch (Colour) { case red: long a; default: Colour c; };
  union ByAll switch (Colour) { case red: long a; case green: case blue: short c; };
  exception Fault { Colour kind; string why; };
  struct Node; typedef sequence<Node> Nodes; struct Node { long number; Nodes kids; };
  struct Tree; typedef sequence<Tree> Trees; struct Tree { struct Branch { Trees twigs; } first; sequence<Branch> others; };
  struct Forest { Tree a; Tree b; };
  valuetype Base { public long a; private short b; public Base next; };
  valuetype Derived : truncatable Base { public octet c; public Derived other; };
  valuetype Text wstring;
  valuetype Amount Price;
  interface Thing { };
  struct Mixed {
    Colour c1; Colour c2; Object o1; Object o2; Thing t; Price p; string<5> s1; wstring<5> s2; sequence<long> q1;
    sequence<long> q2; Key k[2][3]; any x; wchar w; Text z; Amount m; Derived d;
  };
};
"""

NAMES = [
    "ByLong", "ByShort", "ByUShort", "ByULong", "ByLongLong", "ByULongLong", "ByChar", "ByTrue", "ByFalse", "ByColour", "ByAll",
    "Fault", "Node", "Nodes", "Tree", "Forest", "Base", "Derived", "Text", "Amount", "Thing", "Mixed",
]  # fmt: skip

SCRIPT = """
import sys, omniORB
from omniORB import CORBA
orb = CORBA.ORB_init(["test", "-ORBconfigFile", "none"], CORBA.ORB_ID)
omniORB.importIDLString(sys.stdin.read())
import M
for name in sys.argv[1:]:
    print(name, omniORB.cdrMarshal(CORBA.TC_TypeCode, getattr(M, "_tc_" + name)).hex())
orb.destroy()
"""


@pytest.fixture(scope="module")
def compiled() -> dict[str, bytes]:
    """In a process of its own: types that are compiled in stay for good, and change how anys are read."""
    programs = Path(sys.executable).parent
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *NAMES], input=IDL, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return {name: bytes.fromhex(octets) for name, octets in map(str.split, run.stdout.splitlines())}


@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(compiled: dict[str, bytes], name: str) -> None:
    theirs = bytearray(compiled[name])
    type_ = decode_value(TYPECODE, bytes(theirs))
    for position in pads(TYPECODE, type_, little=True):
        theirs[position] = 0
    assert encode_value(TYPECODE, type_).hex(" ") == bytes(theirs).hex(" ")


def test_what_is_read(compiled: dict[str, bytes]) -> None:
    def read(name: str) -> Any:
        return decode_value(TYPECODE, compiled[name])

    union = read("ByLong")
    assert isinstance(union, Union)
    assert [(member.label, member.name) for member in union.members] == [(1, "a"), (3, "b"), (-4, "b"), (None, "c")]
    assert read("Node").members == (
        Member("number", LONG),
        Member("kids", read("Nodes").__class__("IDL:M/Nodes:1.0", "Nodes", Sequence(Recursive("IDL:M/Node:1.0")))),
    )
    derived = read("Derived")
    assert isinstance(derived, Value)
    assert derived.base == read("Base")
    assert (derived.modifier, [(m.name, m.visibility) for m in derived.base.members]) == (
        "truncatable", [("a", "public"), ("b", "private"), ("next", "public")],
    )  # fmt: skip


def test_a_type_inside_another_that_is_named_again_outside(orb: Any) -> None:
    """Twig holds branches, a branch holds twigs; and behind a twig stands a branch by itself, as an indirection into the twig."""
    twig_hole: list[Any] = [None]
    branch = (15, object, "IDL:Branch:1.0", "Branch", "twigs", (19, (-1, twig_hole), 0))
    twig = (15, object, "IDL:Twig:1.0", "Twig", "n", 3, "branches", (19, branch, 0))
    twig_hole[0] = twig
    pair = (15, object, "IDL:Pair:1.0", "Pair", "twig", twig, "branch", branch)
    type_: IdlType = decode_value(TYPECODE, omniORB.cdrMarshal(CORBA.TC_TypeCode, tcInternal.createTypeCode(pair)))

    assert isinstance(type_, Struct)
    inner = Struct("IDL:Branch:1.0", "Branch", (Member("twigs", Sequence(Recursive("IDL:Twig:1.0"))),))
    outer = Struct("IDL:Twig:1.0", "Twig", (Member("n", LONG), Member("branches", Sequence(inner))))
    assert type_.members[0].type == outer
    assert type_.members[1].type == Struct("IDL:Branch:1.0", "Branch", (Member("twigs", Sequence(outer)),))
    leaf = {"n": 2, "branches": [{"twigs": []}]}
    any_ = Any_(type_, {"twig": {"n": 1, "branches": [{"twigs": [leaf]}]}, "branch": {"twigs": [leaf]}})
    check_value(any_.type, any_.value)
    assert decode_any(encode_any(any_)) == any_
