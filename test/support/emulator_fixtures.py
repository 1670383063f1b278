"""Fixtures for the tests that call the software device's library directly.

A test module loads them with `pytest_plugins = ["support.emulator_fixtures"]`.
"""

from ctypes import c_void_p

import pytest

from support.driver_graphs import GraphBench
from support.emulator import Driver
from support.emulator_arrays import Arrays


@pytest.fixture(scope="session")
def emu_driver():
    d = Driver()
    d.ok("Init", 0)
    return d


@pytest.fixture
def d(emu_driver):
    """The driver. Check that the test leaves nothing behind."""
    if not emu_driver.emulated:
        yield emu_driver
        return
    live, abandoned = emu_driver.live(), emu_driver.lib.emu_abandoned_count()
    foreign = emu_driver.lib.emu_foreign_free_count()
    yield emu_driver
    emu_driver.lib.emu_fault_clear()
    assert emu_driver.live() == live
    assert emu_driver.lib.emu_abandoned_count() == abandoned
    assert emu_driver.lib.emu_foreign_free_count() == foreign
    assert emu_driver.out(c_void_p, "CtxGetCurrent") is None


@pytest.fixture
def emu_ctx(d):
    context = d.context()
    yield context
    d.ok("CtxDestroy", context)


@pytest.fixture
def g(d, emu_ctx):
    """Arrays and launches in a context of their own. See support.emulator_arrays."""
    arrays = Arrays(d)
    yield arrays
    arrays.close()


@pytest.fixture
def bench(d, emu_ctx):
    """Graphs in a context of their own. See support.driver_graphs."""
    bench = GraphBench(d, emu_ctx)
    yield bench
    bench.close()
