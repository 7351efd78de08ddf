"""Why shims.py and the refusals are there: each fault on the bare library, in a process of its own, and then with what we do.

A test that fails in its first half tells that the library was mended, and that what works around the fault may go.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PRELUDE = """
import sys
import omniORB
from omniORB import CORBA, tcInternal
if sys.argv[1] == "mended":
    from adapters.cosnotification import shims
    shims.install()
orb = CORBA.ORB_init(["test", "-ORBconfigFile", "none", "-ORBtraceLevel", "0"], CORBA.ORB_ID)
code = lambda kind, descriptor: kind(descriptor)
struct_class = lambda id_, names: omniORB.createUnknownStruct(id_, names)
def struct(id_, *members):
    return tcInternal.TypeCode_struct((15, struct_class(id_, list(members[::2])), id_, "S", *members))
def there_and_back(any_):
    return omniORB.cdrUnmarshal(CORBA.TC_any, omniORB.cdrMarshal(CORBA.TC_any, any_))
def say(*words):
    print(*words, flush=True)
"""


def run(program: str, how: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program + "\nimport os; os._exit(0)", how],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout.strip()


def test_finding_1_a_wchar_is_misread_and_what_follows_it() -> None:
    """Hence COR-WCHAR: the TypeCode is walked, and nothing is taken that has one."""
    program = """
type_ = struct("IDL:W:1.0", "w", 26, "n", 3, "s", (18, 0))
octets = bytearray(omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(type_, type_._d[1]("x", 7, "text"))))
try:
    got = omniORB.cdrUnmarshal(CORBA.TC_any, bytes(octets)).value()
    say((got.w, got.n, got.s) == ("x", 7, "text"))
except CORBA.SystemException as error:
    say("refused")
"""
    assert run(program, "bare")[1] in ("False", "refused")
    assert run(program, "mended")[1] in ("False", "refused"), "this cannot be mended from Python"


def test_finding_2_a_derived_valuetype_kills_the_process() -> None:
    program = """
base = (29, omniORB.UnknownValueBase, "IDL:Base:1.0", "Base", 0, None, 0, "a", 3, 1)
made = type("Base", (omniORB.UnknownValueBase,), {"_NP_RepositoryId": "IDL:Base:1.0"})
base = (29, made, *base[2:])
derived_class = type("Derived", (made,), {"_NP_RepositoryId": "IDL:Derived:1.0"})
derived = (29, derived_class, "IDL:Derived:1.0", "Derived", 0, None, base, "b", 3, 1)
value = derived_class(); value.a = 1; value.b = 2
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(tcInternal.TypeCode_value(derived), value))
got = omniORB.cdrUnmarshal(CORBA.TC_any, octets).value()
say(got.a, got.b)
"""
    status, said = run(program, "bare")
    assert (status, said) != (0, "1 2")
    assert status == -signal.SIGABRT
    assert run(program, "mended") == (0, "1 2")


def test_finding_3_a_type_that_is_known_is_decoded_by_what_is_known() -> None:
    """Hence nothing of a payload is ever registered where events are received: only the OMG's own types are."""
    program = """
ours = struct("IDL:Skew:1.0", "a", 3, "b", 3)
theirs = struct("IDL:Skew:1.0", "a", 2, "b", 2, "c", 5)
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(theirs, theirs._d[1](7, 9, 4000000000)))
if known:
    omniORB.registerType("IDL:Skew:1.0", ours._d, ours)
got = omniORB.cdrUnmarshal(CORBA.TC_any, octets).value()
say([getattr(got, name, None) for name in "abc"])
"""
    for how in ("bare", "mended"):
        assert run("known = True\n" + program, how)[1] != "[7, 9, 4000000000]"
        assert run("known = False\n" + program, how) == (0, "[7, 9, 4000000000]")


def test_finding_3_no_payload_is_registered_by_what_we_import() -> None:
    program = """
import adapters.cosnotification.worker.__main__
modules = sorted({str(id_).split("/")[1] for id_ in omniORB.typeMapping if str(id_).startswith("IDL:omg.org/")})
say([str(id_) for id_ in omniORB.typeMapping if id_ and not str(id_).startswith(("IDL:omg.org/", "IDL:omniORB/", "IDL:isthmus"))])
"""
    status, said = run(program, "mended")
    assert status == 0
    assert said == "[]"


def test_finding_4_a_class_is_made_for_every_any() -> None:
    program = """
type_ = struct("IDL:Often:1.0", "a", 3)
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(type_, type_._d[1](1)))
classes = {type(omniORB.cdrUnmarshal(CORBA.TC_any, octets).value()) for _ in range(10)}
say(len(classes))
"""
    assert run(program, "bare") == (0, "10")
    assert run(program, "mended") == (0, "1")


def test_a_value_box_is_not_read_without_a_factory() -> None:
    program = """
ID = "IDL:Acme/Box:1.0"
if sys.argv[1] == "mended":
    shims.allow_value_box(ID)
box = (30, type("Box", (omniORB.UnknownValueBase,), {"_NP_RepositoryId": ID}), ID, "Box", (27, 0))
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(tcInternal.TypeCode_value_box(box), "boxed"))
try:
    say(omniORB.cdrUnmarshal(CORBA.TC_any, octets).value())
except (SystemError, CORBA.SystemException) as error:
    say("not read")
"""
    assert run(program, "bare")[1] == "not read"
    assert run(program, "mended") == (0, "boxed")


@pytest.mark.parametrize("how", ["bare", "mended"])
def test_a_union_that_begins_with_its_default_arm_crashes(how: str) -> None:
    """Hence COR-TYPE when it is to be sent, and a worker that may die when it is received."""
    program = """
arms = ((0, "otherwise", (18, 0)), (1, "one", 3))
made = omniORB.createUnknownUnion("IDL:U:1.0", 0, arms)
type_ = tcInternal.TypeCode_union((16, made, "IDL:U:1.0", "U", 3, 0, arms, arms[0], {1: arms[1]}))
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(type_, made(1, 5)))
omniORB.cdrUnmarshal(CORBA.TC_any, octets)
say("read")
"""
    assert run(program, how) == (-signal.SIGSEGV, "")


def test_large_numbers_in_a_sequence_are_falsified() -> None:
    """Hence COR-VALUE."""
    program = """
type_ = tcInternal.TypeCode_sequence((19, 24, 0))
try:
    say(there_and_back(CORBA.Any(type_, [2**64 - 1])).value() == [2**64 - 1])
except (CORBA.SystemException, OverflowError) as error:
    say("refused")
"""
    for how in ("bare", "mended"):
        assert run(program, how)[1] != "True"


def test_a_type_without_an_id_is_taken_for_an_object_reference() -> None:
    """Hence COR-TYPE."""
    program = """
octets = omniORB.cdrMarshal(CORBA.TC_TypeCode, struct("", "a", 3))
say(omniORB.cdrUnmarshal(CORBA.TC_TypeCode, octets)._d)
"""
    assert run(program, "bare")[1] == "(14, '', 'Object')"


def test_a_type_code_is_made_for_every_any() -> None:
    program = """
type_ = struct("IDL:Often:1.0", "a", 3)
octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(type_, type_._d[1](1)))
kept = [omniORB.cdrUnmarshal(CORBA.TC_any, octets).typecode() for _ in range(10)]
say(len({id(code) for code in kept}))
"""
    assert run(program, "bare") == (0, "10")
    assert run(program, "mended") == (0, "1")


def test_type_codes_of_two_versions_of_a_type_are_two() -> None:
    program = """
codes = []
for members in (("a", 3), ("a", 2), ("b", 3), ("a", 3)):
    type_ = struct("IDL:Versions:1.0", *members)
    octets = omniORB.cdrMarshal(CORBA.TC_any, CORBA.Any(type_, type_._d[1](7)))
    got = omniORB.cdrUnmarshal(CORBA.TC_any, octets)
    codes.append((got.typecode().member_name(0), got.typecode().member_type(0)._d, tuple(got.value()._values)))
say(codes)
"""
    expected = "[('a', 3, (7,)), ('a', 2, (7,)), ('b', 3, (7,)), ('a', 3, (7,))]"
    assert run(program, "bare") == run(program, "mended") == (0, expected)


def test_type_codes_that_cannot_be_remembered_are_made_anew() -> None:
    program = """
arms = ((1, "one", 3),)
made = omniORB.createUnknownUnion("IDL:U:1.0", -1, arms)
type_ = tcInternal.TypeCode_union((16, made, "IDL:U:1.0", "U", 3, -1, arms, None, {1: arms[0]}))
say(there_and_back(CORBA.Any(type_, made(1, 5))).value()._v)
hole = ["IDL:Tree:1.0"]
tree = (15, struct_class("IDL:Tree:1.0", ["n", "below"]), "IDL:Tree:1.0", "Tree", "n", 3, "below", (19, (-1, hole), 0))
hole[0] = tree
leaf = tree[1](2, [])
say(there_and_back(CORBA.Any(tcInternal.TypeCode_struct(tree), tree[1](1, [leaf]))).value().below[0].n)
"""
    assert run(program, "mended") == (0, "5\n2")
