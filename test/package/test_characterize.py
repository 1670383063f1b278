"""pycuda.characterize, and the small modules that other libraries import."""

import sys
import types

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _cluda, characterize
from pycuda.compiler import SourceModule
from support.child import run_child


@pytest.mark.gpu
def test_capabilities(ctx):
    assert characterize.has_double_support() is True
    assert characterize.has_stack() is True
    assert characterize.platform_bits() == 64


@pytest.mark.gpu
def test_sizes_of_types(ctx, monkeypatch):
    assert characterize.sizeof("int") == 4
    assert characterize.sizeof("double2") == 16
    struct = "struct mixed { char c; double d; short s; };"
    assert characterize.sizeof("mixed", struct) == 24
    assert characterize.sizeof("mixed", preamble=struct) == 24
    with pytest.raises(drv.CompileError, match="nothing"):
        characterize.sizeof("nothing")

    def refuse(*args, **kwargs):
        raise AssertionError("compiled again")

    monkeypatch.setattr(characterize, "SourceModule", refuse)
    assert characterize.sizeof("int") == 4
    with drv.Device(0).make_context(), pytest.raises(AssertionError, match="again"):
        characterize.sizeof("int")
    drv.Context.pop()  # make_context also pushed it


def test_a_context_is_needed():
    for ask in (characterize.has_stack, characterize.has_double_support):
        with pytest.raises(drv.LogicError):
            ask()


BOTH = """
WITHIN_KERNEL int twice(int x) { return 2 * x; }

KERNEL REQD_WG_SIZE(4, 2, 1) void reverse(GLOBAL_MEM int *a)
{
    LOCAL_MEM int line[8];
    int i = LID_0 + LDIM_0 * LID_1, n = LDIM_0 * LDIM_1 * LDIM_2;
    GLOBAL_MEM int *mine = a + n * (GID_0 + GDIM_0 * (GID_1 + GDIM_1 * GID_2));
    line[i] = twice(mine[i]) + LID_2;
    local_barrier();
    mine[i] = line[n - 1 - i];
}
"""


@pytest.mark.gpu
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_a_kernel_of_both_languages(ctx, no_extern_c):
    module = SourceModule(_cluda.CLUDA_PREAMBLE + BOTH, no_extern_c=no_extern_c)
    values = np.arange(32, dtype=np.int32)
    grid, block = (2, 2, 1), (4, 2, 1)
    module.get_function("reverse")(drv.InOut(values), block=block, grid=grid)
    assert (values.reshape(4, 8) == 2 * np.arange(32).reshape(4, 8)[:, ::-1]).all()


def test_mako_under_our_name(monkeypatch):
    mako = types.ModuleType("mako")
    mako.template = types.ModuleType("mako.template")
    monkeypatch.setitem(sys.modules, "mako", mako)
    monkeypatch.delitem(sys.modules, "pycuda._mymako", raising=False)
    import pycuda._mymako

    assert pycuda._mymako.template is mako.template
    monkeypatch.delitem(sys.modules, "pycuda._mymako")


def test_without_mako():
    code = """
        import sys
        sys.modules["mako"] = None
        try:
            import pycuda._mymako
        except ImportError as error:
            print(error)
        """
    assert "pip install mako" in run_child(code).stdout
