"""The public modules show their names and nothing that they import for themselves."""

import json
import sys

import pytest

import pycuda
from support import api_table, public_names
from support.child import run_child

#: Modules that make a context when imported are among them, so a child process checks.
CHILD = """
import json, sys
sys.path[:0] = {path!r}
import pycuda.driver as drv
import pycuda.gl

# Names do not depend on whether OpenGL is there to share with.
pycuda.gl.make_context = lambda device, flags=0: device.make_context()
drv.init()
from support import api_table, public_names

names = public_names.modules(pycuda)
tables = [line.partition("\\t")[0] for line in api_table.PATH.read_text().splitlines()]
rows = api_table.read(*{*names} & {*tables})
print(json.dumps({
    "problems": {name: public_names.problems(name) for name in names},
    "rows": len(rows),
    "unlisted": public_names.unlisted(rows),
}))
"""


@pytest.fixture(scope="module")
def report():
    return json.loads(
        run_child(CHILD.replace("{path!r}", repr(sys.path))).stdout.splitlines()[-1]
    )


@pytest.mark.gpu
def test_every_public_module(report):
    assert len(report["problems"]) >= 45
    wrong = {name: found for name, found in report["problems"].items() if found}
    assert wrong == {}


@pytest.mark.gpu
def test_every_name_of_pycuda(report):
    """Programs can import it, and a star import binds it unless it is a builtin."""
    assert report["rows"] > 1000
    assert report["unlisted"] == []


def test_the_package_lists_what_users_need():
    shown = {name for name in dir(pycuda) if not name.startswith("_")}
    assert shown >= {"VERSION", "VERSION_TEXT", "show", "driver"}
    assert "__version__" in dir(pycuda)
    assert "_start" in vars(pycuda) and "_start" not in dir(pycuda)


def test_a_star_import_of_arrays_keeps_the_builtins():
    stars = {}
    exec("from pycuda.gpuarray import *\ntotal = sum([1, 2])", stars)
    assert stars["total"] == 3
    assert "zeros" in stars
    exec("from pycuda.gpuarray import sum", stars)
    assert stars["sum"] is pycuda.gpuarray.sum


# -- what is wrong is found ------------------------------------------------------------

GOOD = """
import os
from typing import Any

from pycuda import _hide_imports

__all__ = ["FIGURE", "compute"]
_hide_imports(globals())
FIGURE = 1

def compute(x: Any) -> str:
    return os.fspath(x)

def sum(x):
    return x

compute.__module__ = __name__
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Write a module, and return what is wrong with it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def planted(text, stub=None):
        (tmp_path / "planted_names.py").write_text(text)
        if stub is not None:
            (tmp_path / "planted_names.pyi").write_text(stub)
        monkeypatch.delitem(sys.modules, "planted_names", raising=False)
        return public_names.problems("planted_names")

    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    yield planted
    sys.dont_write_bytecode = before
    sys.modules.pop("planted_names", None)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        (
            '__all__ = ["FIGURE", "compute"]\n_hide_imports(globals())\n',
            "",
            ["has no __all__"],
        ),
        (
            "_hide_imports(globals())\n",
            "",
            ["dir() has Any", "dir() has os", "dir() has _hide_imports"],
        ),
        ('"FIGURE", "compute"', '"compute", "FIGURE"', ["__all__ is not sorted"]),
        (
            '"FIGURE", "compute"',
            '"FIGURE", "FIGURE", "compute"',
            ["__all__ has a name twice"],
        ),
        ('"compute"]', '"compute", "sum"]', ["__all__ has sum, a builtin"]),
        ('"compute"]', '"compute", "zero"]', ["zero is not there"]),
        ('"compute"]', '"compute", "os"]', ["dir() has os"]),
        ('["FIGURE"', '["Any", "FIGURE"', ["dir() has Any"]),
        (
            '"FIGURE", "compute"',
            '"FIGURE", "_hide_imports", "compute"',
            ["__all__ has _hide_imports"],
        ),
        ('"FIGURE", "compute"]', '"FIGURE"] + ["compute"]', None),
    ],
)
def test_a_planted_leak_is_found(planted, old, new, found):
    assert old in GOOD
    text = GOOD.replace(old, new)
    if found is None:
        with pytest.raises(ValueError):  # no list that type checkers can read
            planted(text)
    else:
        assert sorted(planted(text)) == sorted(found)


def test_another_list_in_the_stub_is_found(planted):
    stub = '__all__ = ["FIGURE"]\nFIGURE: int\n'
    assert planted(GOOD, stub) == ["__all__ is another one in planted_names.pyi"]


def test_a_name_that_is_missing_or_not_listed_is_found():
    rows = [
        api_table.Row("pycuda.tools", name, "function", "()")
        for name in ("no_such_tool", "os", "Counter", "bitlog2", "_exact_div")
    ]
    assert public_names.unlisted(rows) == [
        "pycuda.tools.no_such_tool cannot be imported",
        "pycuda.tools.Counter is not in __all__",
    ]
