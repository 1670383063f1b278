"""Fixtures and the device that tests run on.

Tests marked ``gpu`` need a device: a real GPU, or the software device, whichever
pycuda.driver.init() finds. Where it finds none they are skipped with its own words.
After every test, the handles this process holds and the depth of its context stack are
what they were before.

With ``--one-context`` tests share a context, and its kernels: a GPU takes longer to
make one than most tests of arrays take. It is for those, not for tests of contexts.
"""

import gc
import os

import hypothesis
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.tools import clear_context_caches

# The same cases in each run, however slow the machine is.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None
)
hypothesis.settings.load_profile("suite")


def _find_device():
    """The name of the device, and why there is none; one of them is None.

    The software device shows two, for the tests that need two.
    """
    os.environ.setdefault("PYCUDA_EMULATOR_DEVICES", "2")
    try:
        drv.init()
        if drv.Device.count() == 0:
            return None, "the driver shows no device"
        if _driver._is_emulated():  # for child processes, without the warning
            os.environ["PYCUDA_DRIVER"] = "emulator"
        return drv.Device(0).name(), None
    except drv.Error as error:
        return None, str(error)


def pytest_addoption(parser):
    words = "let tests share a context of device 0, and its kernels"
    parser.addoption("--one-context", action="store_true", help=words)


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a device, real or software")
    config.addinivalue_line("markers", "gpus(n): needs n devices")
    config.addinivalue_line("markers", "hardware: needs a real GPU, and says why")
    config.pycuda_device, config.pycuda_reason = _find_device()


def pytest_report_header(config):
    if config.pycuda_device is None:
        return f"device: none ({config.pycuda_reason})"
    version = drv.get_driver_version()
    return f"device: {config.pycuda_device}, driver {version}"


def pytest_collection_modifyitems(config, items):
    name = config.pycuda_device
    count = 0 if name is None else drv.Device.count()
    for item in items:
        needs = item.get_closest_marker("gpus")
        if name is None and (needs or item.get_closest_marker("gpu")):
            item.add_marker(pytest.mark.skip(reason=config.pycuda_reason))
        elif needs and needs.args[0] > count:
            reason = f"needs {needs.args[0]} devices, this machine shows {count}"
            item.add_marker(pytest.mark.skip(reason=reason))
        hardware = item.get_closest_marker("hardware")
        if hardware and (name is None or _driver._is_emulated()):
            reason = f"needs a real GPU: {hardware.kwargs['why']}"
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish():
    """What is there before the tests stays: no collection looks at it again."""
    gc.collect()
    gc.freeze()


def stack_depth():
    """How many contexts this thread's stack holds: popped and pushed back."""
    popped = []
    while (context := drv.Context.get_current()) is not None:
        drv.Context.pop()
        popped.append(context)
    for context in reversed(popped):
        context.push()
    return len(popped)


def live_counts(config):
    """How many handles of each kind there are. A shared context keeps its kernels, and
    the page-locked memory to which they write how many elements they found."""
    counts = _driver._live_counts()
    if config.getoption("one_context"):
        del counts["module"], counts["host"]
    return counts


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """Every test releases what it made."""
    gc.collect()
    before = live_counts(request.config)
    depth = stack_depth() if drv.Context.get_current() is not None else 0
    yield
    request.node.funcargs.clear()  # the other fixtures' values, whose turn was before
    gc.collect()
    assert live_counts(request.config) == before
    after = stack_depth() if drv.Context.get_current() is not None else 0
    assert after == depth


@pytest.fixture
def ctx(request):
    """A fresh context on device 0, or the shared one, current in this thread."""
    if request.config.getoption("one_context"):
        context = request.getfixturevalue("shared_context")
        context.push()
        yield context
        clear_context_caches()
        context.pop()
        return
    context = drv.Device(0).make_context()
    yield context
    context.pop()
    context.detach()


@pytest.fixture(scope="session")
def shared_context():
    context = drv.Device(0).make_context()
    drv.Context.pop()
    yield context
    context.detach()


@pytest.fixture
def primary_ctx():
    """The primary context of device 0, current in this thread."""
    context = drv.Device(0).retain_primary_context()
    context.push()
    yield context
    context.pop()
    context.detach()
