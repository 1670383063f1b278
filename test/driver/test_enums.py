"""The enumerations: all names and values of PyCUDA, and the behavior of members."""

import copy
import csv
import gc
import inspect
import pickle
import pydoc
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import pycuda._driver as _driver
import pycuda.driver as drv

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "src" / "cpp_free_c" / "abi"
API = ROOT / "test" / "data" / "api.tsv"


def read_tables():
    """{class: [(member, value, docstring)]} in the order of rows of the C tables."""
    rows = {}
    text = (TABLES / "enums.h").read_text()
    for name in re.findall(r'^ *X\((\w+), "[^"]*"\)', text, re.MULTILINE):
        rows[name] = []
    pattern = r'X\((\w+), (\w+), (\d+), "(.*)"\)'
    for name, member, value, doc in re.findall(pattern, text):
        rows[name].append((member, int(value), doc))
    for name, file in [
        ("device_attribute", "device_attributes.h"),
        ("function_attribute", "function_attributes.h"),
    ]:
        pattern = r'X\((\w+), (\d+),(?: \w+,)? "(.*)"\)'
        found = re.findall(pattern, (TABLES / file).read_text())
        rows[name] = [(member, int(value), doc) for member, value, doc in found]
    return rows


def read_api(kind):
    """[(class, member, value)] of the public surface that programs rely on."""
    with API.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            (*row["qualname"].split("."), int(row["signature"].removeprefix("= ")))
            for row in rows
            if row["kind"] == kind and re.fullmatch(r"= -?\d+", row["signature"])
            if row["module"] in ("pycuda.driver", "pycuda.gl")
            if row["qualname"].count(".") == 1
        ]


TABLE = read_tables()
ROWS = {name: [row[:2] for row in rows] for name, rows in TABLE.items()}
MEMBERS = [(name, *row) for name, rows in ROWS.items() for row in rows]
CLASSES = [getattr(drv, name) for name in ROWS]
API_MEMBERS = read_api("enum_value")
PLAIN = [row for row in read_api("constant") if row[0].endswith("_flags")]

#: Names that share a value with a later one: (class, earlier name, last name).
ALIASES = [
    ("ctx_flags", "BLOCKING_SYNC", "SCHED_BLOCKING_SYNC"),
    ("device_attribute", "MAX_SHARED_MEMORY_PER_BLOCK", "SHARED_MEMORY_PER_BLOCK"),
    ("device_attribute", "MAX_REGISTERS_PER_BLOCK", "REGISTERS_PER_BLOCK"),
    *[
        (
            "device_attribute",
            f"MAXIMUM_TEXTURE2D_ARRAY_{old}",
            f"MAXIMUM_TEXTURE2D_LAYERED_{new}",
        )
        for old, new in [
            ("WIDTH", "WIDTH"),
            ("HEIGHT", "HEIGHT"),
            ("NUMSLICES", "LAYERS"),
        ]
    ],
]
EARLIER = {(name, first) for name, first, _ in ALIASES}

every_class = pytest.mark.parametrize("class_", CLASSES, ids=lambda c: c.__name__)


def member_of(name, member):
    return getattr(getattr(drv, name), member)


def test_the_lists_are_whole():
    assert len(ROWS) == 40 and all(ROWS.values())
    assert len(MEMBERS) > 300
    assert len(API_MEMBERS) == 237
    assert {row[0] for row in PLAIN} == {
        "array3d_flags",
        "host_alloc_flags",
        "mem_host_register_flags",
    }


@pytest.mark.parametrize("name", sorted({row[0] for row in API_MEMBERS}))
def test_known_to_programs(name):
    for member, value in [row[1:] for row in API_MEMBERS if row[0] == name]:
        found = member_of(name, member)
        assert (type(found), int(found)) == (getattr(drv, name), value), member


@pytest.mark.parametrize(("name", "member", "value"), PLAIN)
def test_plain_flags(name, member, value):
    found = member_of(name, member)
    assert (type(found), found) == (int, value)
    with pytest.raises(TypeError, match=f"cannot create '.*{name}' instances"):
        getattr(drv, name)()


@every_class
def test_class(class_):
    name = class_.__name__
    rows = ROWS[name]
    assert class_ is getattr(_driver, name)
    assert class_.__module__ == "pycuda._driver" and class_.__doc__
    assert class_.__bases__ == (int,)
    assert list(class_.names) == [member for member, _ in rows], "and in this order"
    assert class_.values.keys() == {value for _, value in rows}
    for member, found in class_.names.items():
        assert getattr(class_, member) is found
        assert type(found) is class_
    last = {value: member for member, value in rows}
    assert {int(v): found.name for v, found in class_.values.items()} == last


@pytest.mark.parametrize("name", ROWS)
def test_members(name):
    for member, value in ROWS[name]:
        found = member_of(name, member)
        assert found.name == member
        assert str(found) == member == f"{found}"
        assert repr(found) == f"pycuda._driver.{name}.{member}"
        assert int(found) == value == found and type(int(found)) is int
        assert hash(found) == hash(value)
        assert f"{found:d}" == str(value)
        assert range(value + 1)[found] == value


@pytest.mark.parametrize("name", ROWS)
def test_docstrings(name):
    """Each member has its own, also if members share a value; help() shows them."""
    for member, _, doc in TABLE[name]:
        found = member_of(name, member)
        assert inspect.getdoc(found) == found.__doc__ == doc
        assert doc.endswith(".") and len(doc) > 10
    class_ = getattr(drv, name)
    shown = pydoc.plain(pydoc.render_doc(class_))
    assert class_.__doc__ in shown
    assert all(doc in shown for _, _, doc in TABLE[name])


def test_docstrings_of_plain_flags():
    """A plain int has none, so the class lists them."""
    for name, member, _ in PLAIN:
        doc = getattr(drv, name).__doc__
        assert re.search(rf"^{member} : int\n    \w.*\.$", doc, re.MULTILINE), member


def test_values_without_a_name_have_no_docstring():
    class Mine(drv.limit):
        pass

    class Described(drv.limit):
        """Mine."""

    assert drv.limit(4321).__doc__ is Mine.__doc__ is Mine(4321).__doc__ is None
    assert Mine(0).__doc__ == drv.limit.STACK_SIZE.__doc__
    assert Described.__doc__ == "Mine."


@pytest.mark.parametrize(
    ("class_", "enumeration"),
    [(drv.Device, drv.device_attribute), (drv.Function, drv.function_attribute)],
)
def test_properties_have_the_docstrings_of_the_members(class_, enumeration):
    found = 0
    for member in enumeration.names.values():
        attribute = vars(class_).get(member.name.lower())
        if inspect.isgetsetdescriptor(attribute):
            assert attribute.__doc__ == member.__doc__
            found += 1
    assert found >= len(enumeration.names) - 2
    assert drv.Device.clock_rate.__doc__ == drv.device_attribute.CLOCK_RATE.__doc__
    assert drv.Device.clock_rate.__doc__ != drv.Device.memory_clock_rate.__doc__


@pytest.mark.parametrize(("name", "first", "last"), ALIASES)
def test_aliases(name, first, last):
    class_ = getattr(drv, name)
    earlier, later = member_of(name, first), member_of(name, last)
    assert earlier == later and earlier is not later
    assert (str(earlier), str(later)) == (first, last)
    assert class_(int(earlier)) is later, "a value comes back under its last name"
    assert class_.values[int(earlier)] is later
    assert class_.names[first] is earlier


def test_there_are_no_other_aliases():
    found = []
    for name, rows in ROWS.items():
        last = {value: member for member, value in rows}
        found += [(name, m, last[v]) for m, v in rows if last[v] != m]
    assert sorted(found) == sorted(ALIASES)


@every_class
def test_from_int(class_):
    for value, found in class_.values.items():
        assert class_(value) is found
        assert class_(np.int64(value)) is found
        assert class_(found) is found
    odd = max(class_.values) + 12345
    for value in (odd, 2**40, -1):
        unnamed = class_(value)
        assert type(unnamed) is class_ and unnamed == value
        assert unnamed.name is None
        assert str(unnamed) == str(value)
        assert repr(unnamed) == f"pycuda._driver.{class_.__name__}({value})"
        assert value not in class_.values, "asking leaves no trace"


@every_class
def test_from_nothing_else(class_):
    for args in [(), (0, 0)]:
        with pytest.raises(TypeError, match="takes exactly 1 argument"):
            class_(*args)
    for value in ("0", 0.0, None, b"0", [0]):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            class_(value)
    with pytest.raises(TypeError, match=r"\(\) takes no keyword arguments"):
        class_(value=0)


COPIES = [
    copy.copy,
    copy.deepcopy,
    *[
        lambda member, p=protocol: pickle.loads(pickle.dumps(member, p))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ],
]


@pytest.mark.parametrize("name", ROWS)
def test_copies_and_pickles_are_the_member(name):
    for member, value in ROWS[name]:
        found = member_of(name, member)
        for through in COPIES:
            back = through(found)
            assert type(back) is type(found) and back == value
            if (name, member) in EARLIER:
                assert back is type(found)(value), "the last name of the value"
            else:
                assert back is found


def test_old_pickle_protocols_are_refused():
    """They would make a member without a call of its class."""
    for protocol in (0, 1):
        with pytest.raises(TypeError, match="cannot pickle 'limit' object"):
            pickle.dumps(drv.limit.STACK_SIZE, protocol)


def test_an_unnamed_value_survives_a_pickle():
    unnamed = drv.limit(4321)
    back = pickle.loads(pickle.dumps(unnamed))
    assert type(back) is drv.limit and back == 4321 and back.name is None


@pytest.mark.parametrize("class_", [drv.ctx_flags, drv.event_flags, drv.stream_flags])
def test_flags_are_or_ed_to_an_int(class_):
    members = list(class_.names.values())
    for a in members:
        for b in members:
            for both in (a | b, a & b, a ^ b, a + b):
                assert type(both) is int
            assert a | b == int(a) | int(b)
    assert class_.values[0] | 8 == 8


def test_members_take_no_attributes():
    member = drv.limit.STACK_SIZE
    for name in ("colour", "name"):
        with pytest.raises(AttributeError):
            setattr(member, name, 1)


def test_members_are_keys_as_their_ints():
    assert {drv.limit.SHMEM_SIZE: 1}[7] == 1
    assert drv.func_cache(7) == drv.limit.SHMEM_SIZE
    assert sorted([drv.limit.SHMEM_SIZE, 3, drv.limit.STACK_SIZE]) == [0, 3, 7]


def test_a_subclass_gets_the_members():
    class Mine(drv.limit):
        pass

    assert Mine(0) is drv.limit.STACK_SIZE
    assert type(Mine(999)) is Mine and Mine(999).name is None


def test_making_values_leaks_nothing():
    def work():
        for i in range(2000):
            number = drv.limit(100000 + i)
            repr(number), str(number), number.name, drv.limit(0).name

    work()
    gc.collect()
    before = sys.getallocatedblocks()
    work()
    gc.collect()
    assert sys.getallocatedblocks() - before < 200


@every_class
def test_a_member_of_another_class_is_refused(class_):
    """Through Context.get_limit, the one lookup that checks before the driver."""
    if class_ is drv.limit:
        class_ = drv.func_cache
    with pytest.raises(TypeError) as caught:
        drv.Context.get_limit(class_.values[next(iter(class_.values))])
    assert str(caught.value) == (
        "limit must be a pycuda._driver.limit or an int, not "
        f"pycuda._driver.{class_.__name__}"
    )
