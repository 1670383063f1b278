"""The modules around the driver have all names of test/data/api.tsv, with the same
signatures and values."""

import dataclasses
import json
import sys

import pytest

import pycuda.driver as drv
from support import api_table
from support.api_table import Row
from support.child import run_child

MODULES = (
    "pycuda",
    "pycuda._cluda",
    "pycuda._driver",
    "pycuda._pvt_struct",
    "pycuda.characterize",
    "pycuda.compiler",
    "pycuda.compyte.array",
    "pycuda.compyte.dtypes",
    "pycuda.cumath",
    "pycuda.curandom",
    "pycuda.debug",
    "pycuda.driver",
    "pycuda.elementwise",
    "pycuda.gl",
    "pycuda.gpuarray",
    "pycuda.reduction",
    "pycuda.scan",
    "pycuda.sparse",
    "pycuda.sparse.cg",
    "pycuda.sparse.coordinate",
    "pycuda.sparse.inner",
    "pycuda.sparse.operator",
    "pycuda.sparse.packeted",
    "pycuda.sparse.pkt_build",
    "pycuda.sparse.pkt_build_cython",
    "pycuda.tools",
)
#: These modules make a context when imported, so a child process checks them.
MAKING_CONTEXTS = ("pycuda.autoinit", "pycuda.autoprimaryctx", "pycuda.gl.autoinit")

CHILD = """
import json, sys
sys.path[:0] = {path!r}
import pycuda.driver as drv
import pycuda.gl

# Names do not depend on whether OpenGL is there to share with.
pycuda.gl.make_context = lambda device, flags=0: device.make_context()
drv.init()
from support import api_table
print(json.dumps(api_table.walk({module!r})))
"""


@pytest.fixture
def report(capsys):
    """Print the number of correct rows, and fail with the wrong ones."""

    def report(module, total, wrong):
        with capsys.disabled():
            print(f"\n{module}: {total - len(wrong)} of {total}")
        assert total > 0
        lines = [f"{name} {what}" for name, what in wrong]
        assert not lines, "\n".join([f"{len(lines)} rows do not hold:", *lines])

    return report


@pytest.mark.gpu
@pytest.mark.parametrize("module", MODULES)
def test_every_row(ctx, module, report):
    report(module, *api_table.walk(module))


@pytest.mark.gpu
@pytest.mark.parametrize("module", MAKING_CONTEXTS)
def test_every_row_of_what_makes_a_context(module, report):
    code = CHILD.replace("{path!r}", repr(sys.path))
    done = run_child(code.replace("{module!r}", repr(module)))
    report(module, *json.loads(done.stdout))


def test_every_module_of_the_table_is_known():
    """The modules that are not checked here belong to other tests."""
    rows = api_table.read(*MODULES, *MAKING_CONTEXTS)
    assert {row.module for row in rows} == {*MODULES, *MAKING_CONTEXTS}
    assert len(rows) > 1000


# -- what is wrong is found ------------------------------------------------------------


def row_of(name):
    """Return the row of a full name."""
    found = [row for row in api_table.read(*MODULES) if str(row) == name]
    assert len(found) == 1, name
    return found[0]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("pycuda.driver.Event.query", {"qualname": "Event.ask"}, "is missing"),
        ("pycuda.driver.Event.query", {"module": "pycuda.nowhere"}, "is missing"),
        ("pycuda.VERSION", {"signature": "= (2026, 2)"}, "not (2026, 2)"),
        ("pycuda.driver.limit.STACK_SIZE", {"signature": "= 7"}, "not 7"),
        ("pycuda._driver.Event", {"qualname": "Stream"}, "is another object"),
        ("pycuda.driver.Event", {"qualname": "init"}, "is no class"),
        ("pycuda.driver.LogicError", {"signature": "(OSError)"}, "derived from OSE"),
        ("pycuda.driver.Error", {"qualname": "Event"}, "is no exception"),
        ("pycuda.driver.In", {"signature": "(array) ; base Out"}, "derived from Out"),
        ("pycuda.driver.Module", {"qualname": "Event"}, "can be made"),
        ("pycuda.driver.limit", {"qualname": "Event"}, "is not derived from int"),
        ("pycuda.driver.HostAllocation", {"qualname": "Event"}, "is not Pagelocked"),
        ("pycuda.driver.init", {"qualname": "TR_DEFAULT"}, "cannot be called"),
        ("pycuda.driver.init", {"signature": "(flag=0)"}, "flag by keyword"),
        ("pycuda.driver.init", {"signature": "(flags=1)"}, "not the default 1"),
        ("pycuda.driver.init", {"signature": "(flags=0, more=0)"}, "parameter more"),
        ("pycuda.driver.init", {"signature": "(*args)"}, "args in any number"),
        ("pycuda.driver.memcpy_htod", {"signature": "(dest)"}, "wants src too"),
        ("pycuda.driver.bitlog2", {"signature": "(value)"}, "value by keyword"),
        ("pycuda.driver.Event.record", {"signature": "(s=None)"}, "s by keyword"),
        ("pycuda.driver.Context.attach", {"signature": "(x=0)"}, "x by keyword"),
        ("pycuda.tools.Argument.name", {"qualname": "Argument.title"}, "is missing"),
        (
            "pycuda.sparse.cg.CGStateContainer.x",
            {"qualname": "CGStateContainer.z"},
            "is missing",
        ),
        (
            "pycuda.sparse.cg.solve_pkt_with_cg",
            {"signature": "(pkt_spmv, b, tol=1e-7)"},
            "does not take tol by keyword",
        ),
    ],
)
def test_a_row_that_does_not_hold(ctx, name, change, said):
    row = row_of(name)
    assert api_table.complaint(row) is None
    assert said in api_table.complaint(dataclasses.replace(row, **change))


@pytest.mark.gpu
def test_a_name_that_is_gone(ctx, monkeypatch):
    row = Row("pycuda.driver", "set_debugging", "function", "(flag=True)")
    assert api_table.complaint(row) is None
    monkeypatch.delattr(drv, "set_debugging")
    total, wrong = api_table.walk("pycuda.driver")
    assert total > 500
    assert [name for name, _ in wrong] == ["pycuda.driver.set_debugging"]


def test_attributes_that_were_served_by_getattr(monkeypatch):
    row = row_of("pycuda.driver.Device.__getattr__")
    assert api_table.complaint(row) is None

    class Device:
        pass

    monkeypatch.setattr(drv, "Device", Device)
    assert "has no" in api_table.complaint(row) and "WARP_SIZE" in api_table.complaint(
        row
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("()", []),
        ("(a, /, b=1, *args, c, d=None, **rest)", ["a", "b", "args", "c", "d", "rest"]),
        ("(stream=<same as map>)", ["stream"]),
        ("(flags=graphics_map_flags.NONE, /)", ["flags"]),
        ("(allocator=PageLockedAllocator(), /)", ["allocator"]),
    ],
)
def test_the_table_is_understood(text, names):
    assert [parameter.name for parameter in api_table.parse(text)] == names
    assert api_table.parentheses(f"{text} -> int ; (other)") == text
