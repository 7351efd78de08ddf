"""The interfaces that are read from IDL files, against what the IDL compiler makes of the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.base import StopError
from adapters.cosnotification.typed.idl_files import find_interface, read_interfaces
from mappings.cdr import decode_value
from mappings.idl_types import LONG, STRING, TYPECODE, IdlType

IDL = """
#include "money.idl"
#pragma prefix "acme.example"
module Plant {
  struct Node;
  typedef sequence<Node> Nodes;
  struct Node { string name; Nodes children; };
  typedef long Grid[2][3];
  enum Colour { red, green };
  typedef fixed<5,2> Price;
  union ByColour switch (Colour) { case red: long a; default: string b; };
  union ByLong switch (long) { case 1: case -4: long a; case 2: Grid b; };
  union ByTrue switch (boolean) { case TRUE: long a; default: short c; };
  union ByChar switch (char) { case 'x': long a; };
  valuetype Base { public long x; private string s; };
  valuetype Derived : truncatable Base { public long y[3]; };
  valuetype Box sequence<long>;
  exception Fault { Colour kind; };
  interface Thing { void ping(in string who); };
  interface Other { void pong(in long a, in long b); };
  typedef wstring<7> Brief;
  typedef sequence<any, 4> Few;
  interface Sensor : Thing, Other {
    void all(in Node p_node, in Grid p_grid, in Colour p_colour, in Price p_price, in ByColour p_by_colour,
      in ByLong p_by_long, in ByTrue p_by_true, in ByChar p_by_char, in Base p_base, in Derived p_derived,
      in Box p_box, in Thing p_thing, in Brief p_short, in Few p_few, in Common::Money p_money);
    oneway void basic(in octet _in, in unsigned long long big, in Object who);
  };
};
"""
MONEY = "module Common { struct Money { string<3> currency; double amount; }; };"
NAMES = [
    "Plant.Node", "Plant.Grid", "Plant.Colour", "Plant.Price", "Plant.ByColour", "Plant.ByLong", "Plant.ByTrue",
    "Plant.ByChar", "Plant.Base", "Plant.Derived", "Plant.Box", "Plant.Thing", "Plant.Brief", "Plant.Few", "Common.Money",
]  # fmt: skip
SCRIPT = """
import sys, omniORB
from operator import attrgetter
from omniORB import CORBA
orb = CORBA.ORB_init(["test", "-ORBconfigFile", "none"], CORBA.ORB_ID)
omniORB.importIDL(sys.argv[1])
import Plant, Common
for name in sys.argv[2:]:
    module, _, name = name.partition(".")
    code = getattr(sys.modules[module], "_tc_" + name)
    print(omniORB.cdrMarshal(CORBA.TC_TypeCode, code).hex())
orb.destroy()
"""


@pytest.fixture(scope="module")
def idl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("idl with blanks")
    (folder / "money.idl").write_text(MONEY)
    (folder / "plant.idl").write_text(IDL)
    return folder / "plant.idl"


@pytest.fixture(scope="module")
def compiled(idl: Path) -> list[IdlType]:
    """In a process of its own: types that are compiled in stay for good."""
    programs = Path(sys.executable).parent
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, idl.name, *NAMES], capture_output=True, text=True, check=False, cwd=idl.parent,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return [decode_value(TYPECODE, bytes.fromhex(line)) for line in run.stdout.split()]


def test_types_are_those_of_the_compiler(idl: Path, compiled: list[IdlType]) -> None:
    sensor = find_interface("Plant::Sensor", [str(idl)])
    parameters = sensor.by_name["all"].parameters
    assert [name for name, _ in parameters] == [
        "p_node", "p_grid", "p_colour", "p_price", "p_by_colour", "p_by_long", "p_by_true", "p_by_char", "p_base",
        "p_derived", "p_box", "p_thing", "p_short", "p_few", "p_money",
    ]  # fmt: skip
    for (name, type_), theirs in zip(parameters, compiled, strict=True):
        assert type_ == theirs, name


def test_operations_of_the_bases_come_first(idl: Path) -> None:
    sensor = find_interface("IDL:acme.example/Plant/Sensor:1.0", [str(idl)])
    assert [operation.scoped_name for operation in sensor.operations] == [
        "::Plant::Thing::ping", "::Plant::Other::pong", "::Plant::Sensor::all", "::Plant::Sensor::basic",
    ]  # fmt: skip
    assert sensor.by_name["pong"].parameters == (("a", LONG), ("b", LONG))
    assert [name for name, _ in sensor.by_name["basic"].parameters] == ["in", "big", "who"]
    assert sensor.pull_id == "IDL:acme.example/Plant/PullSensor:1.0"


@pytest.mark.parametrize("key", ["::Plant::Thing", "Plant::Thing", "IDL:acme.example/Plant/Thing:1.0"])
def test_a_key_is_a_repository_id_or_a_scoped_name(idl: Path, key: str) -> None:
    assert find_interface(key, [str(idl)]).by_name["ping"].parameters == (("who", STRING),)


def test_included_files_are_found_in_the_folders_that_are_given(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "money.idl").write_text(MONEY)
    main = tmp_path / "main.idl"
    main.write_text("#include <money.idl>\ninterface I { void paid(in Common::Money how_much); };")
    with pytest.raises(StopError) as caught:
        find_interface("I", [str(main)])
    assert (caught.value.code, caught.value.path) == ("COR-IDL", f"{main}:1")
    assert find_interface("I", [str(main)], [str(tmp_path / "common")]).by_name["paid"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("module M {\n  interface I { void op(in strin s); };\n};", 2, "'strin' not found"),
        ("interface I { void op(in string s) };", 1, "Syntax error"),
        ("struct S { long a; };\ninterface J {};", None, "no interface I"),
        ("interface I {\n  void op(in string s);\n  long get();\n};", 3, "operation get: it returns a value"),
        ("interface I {\n  void op(inout string s);\n};", 2, "parameter s is not `in`"),
        ("exception E {};\ninterface I { void op() raises (E); };", 2, "it raises an exception"),
        ("interface I {\n\n  readonly attribute long x;\n};", 3, "attribute x"),
        ("interface I { void op(in wchar c); };", 1, "wchar"),
        ("struct S { sequence<long double> d; };\ninterface I { void op(in S x); };", 2, "long double"),
        ("union U switch (long) { default: long a; case 1: string b; };\ninterface I { void op(in U x); };", 2, "default arm"),
        ("local interface I { void op(); };", 1, "local"),
        ("custom valuetype V { public long a; };\ninterface I { void op(in V x); };", 2, "custom"),
        ("struct S;\ntypedef sequence<S> Ss;\ninterface I { void op(in Ss s); };", None, "S"),
        ("interface I { void op(in ValueBase v); };", 1, "ValueBase"),
        ("\x00\xff\xfe garbage", None, ""),
        ("", None, "no interface I"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    file = tmp_path / "wrong.idl"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(StopError) as caught:
        find_interface("I", [str(file)])
    assert caught.value.code == "COR-IDL"
    assert message in caught.value.message
    assert caught.value.path == (f"{file}:{line}" if line else caught.value.path)
    assert str(file) in caught.value.path


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StopError, match="cannot be read"):
        read_interfaces([str(tmp_path / "none.idl")])


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "i.idl"
    file.write_text("interface I { void one(); };")
    assert list(find_interface("I", [str(file)]).by_name) == ["one"]
    file.write_text("interface I { void one(); void two(); };")
    assert list(find_interface("I", [str(file)]).by_name) == ["one", "two"]


def test_nothing_is_compiled_into_the_process_that_asks(idl: Path) -> None:
    """In a process of its own: other tests compile the same file."""
    program = (
        "import sys, omniORB\n"
        "from adapters.cosnotification.typed.idl_files import read_interfaces\n"
        "print(len(read_interfaces([sys.argv[1]])), [str(id_) for id_ in omniORB.typeMapping if 'Plant' in str(id_)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(idl)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(read_interfaces([str(idl)]))} []\n"
