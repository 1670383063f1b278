"""Check the behaviour of each row of the table of the API (see behaviours/).

A row without a behaviour fails, and so does a behaviour without a row. To prove that a
behaviour tests its row, the tests break the object that the row names. The behaviour
must then fail.
"""

import dataclasses
import importlib
import json
import sys

import pytest

from package.behaviours import (
    BEHAVIOURS,
    array_functions,  # noqa: F401  these fill BEHAVIOURS
    array_type,  # noqa: F401
    compyte,  # noqa: F401
    kernels,  # noqa: F401
    show,
)
from support import api_table
from support.child import run_child

MODULES = (
    "pycuda.gpuarray",
    "pycuda.cumath",
    "pycuda.elementwise",
    "pycuda.reduction",
    "pycuda.scan",
    "pycuda.compyte.array",
    "pycuda.compyte.dtypes",
)
ROWS = api_table.read(*MODULES)


@pytest.mark.gpu
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_behaviour(ctx, row):
    show(row)


def test_every_row_has_a_behaviour(capsys):
    rows = {str(row) for row in ROWS}
    with capsys.disabled():
        print(f"\nbehaviours: {len(rows & BEHAVIOURS.keys())} of {len(rows)}")
    assert len(rows) == len(ROWS) > 350
    assert rows == BEHAVIOURS.keys()


def test_a_row_without_a_behaviour_is_found():
    row = dataclasses.replace(ROWS[0], qualname="GPUArray.nothing_of_the_kind")
    with pytest.raises(LookupError, match="nothing_of_the_kind has no behaviour"):
        show(row)


# -- that a behaviour looks at its row -------------------------------------------------


class Broken(Exception):
    """Raised by every object that a test has broken."""


def is_read(row):
    """Whether the row is an attribute of instances and not a function."""
    return row.kind in ("attribute", "property")


def break_row(row):
    """Replace the object that a row names by one that fails. Return its undo."""
    owner = importlib.import_module(row.module)
    *path, name = row.qualname.split(".")
    for part in path:
        owner = getattr(owner, part)

    def fail(*args, **kwargs):
        raise Broken(str(row))

    missing = object()
    before = vars(owner).get(name, missing)
    setattr(owner, name, property(fail, fail) if path and is_read(row) else fail)

    def mend():
        if before is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, before)

    return mend


def notices(row):
    """Whether the behaviour of a row fails when the object of the row is broken."""
    mend = break_row(row)
    try:
        show(row)
    except BaseException:
        return True
    finally:
        mend()
    return False


#: Runs in a child, because replaced methods change a C type for good.
CHILD = """
import json, sys, warnings
sys.path[:0] = {path!r}
warnings.simplefilter("ignore")
import pycuda.driver as drv
from package import test_behaviours as t
drv.init()
context = drv.Device(0).make_context()
blind = [str(row) for row in t.ROWS if row.module == {module!r} and not t.notices(row)]
context.pop()
print(json.dumps(blind))
"""


@pytest.mark.gpu
@pytest.mark.parametrize("module", MODULES)
def test_every_behaviour_fails_when_its_row_is_broken(module):
    code = CHILD.replace("{path!r}", repr(sys.path))
    done = run_child(code.replace("{module!r}", repr(module)))
    assert json.loads(done.stdout.splitlines()[-1]) == []
