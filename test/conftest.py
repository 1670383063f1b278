"""Fixtures, markers, and the device on which the tests run.

Tests marked ``gpu`` run on the device that pycuda.driver.init() finds: a GPU or the
software device. They are skipped if there is none, and the report shows the message of
init(). After every test, the process must hold as many handles as before, and the
context stack must be as deep as before.

With ``--one-context``, tests that use the fixture ``ctx`` share one context and its
kernels. On a GPU, a new context takes longer than most tests of arrays. The option is
for those, not for tests of contexts.
"""

import gc
import os

import hypothesis
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.tools import clear_context_caches

# Draw the same cases in every run, and set no limit on their time.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None
)
hypothesis.settings.load_profile("suite")


def _find_device():
    """Return the device's name and None, or None and the reason why there is none.

    Ask the software device for two devices, because some tests need two.
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
    text = "let tests share a context of device 0, and its kernels"
    parser.addoption("--one-context", action="store_true", help=text)


def pytest_configure(config):
    config.pycuda_device, config.pycuda_reason = _find_device()


def pytest_report_header(config):
    if config.pycuda_device is None:
        return f"device: none ({config.pycuda_reason})"
    version = drv.get_driver_version()
    return f"device: {config.pycuda_device}, driver {version}"


def pytest_collection_modifyitems(config, items):
    name = config.pycuda_device
    count = 0 if name is None else drv.Device.count()
    is_emulated = _driver._is_emulated()
    for item in items:
        needs = item.get_closest_marker("gpus")
        if name is None and (needs or item.get_closest_marker("gpu")):
            item.add_marker(pytest.mark.skip(reason=config.pycuda_reason))
        elif needs and needs.args[0] > count:
            reason = f"needs {needs.args[0]} devices, this machine shows {count}"
            item.add_marker(pytest.mark.skip(reason=reason))
        for marker, device, matches in (
            ("hardware", "a real GPU", not is_emulated),
            ("software", "the software device", is_emulated),
        ):
            needs = item.get_closest_marker(marker)
            if needs and (name is None or not matches):
                reason = f"needs {device}: {needs.kwargs['why']}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True, scope="module")
def quick_collections():
    """Exclude the objects that exist before a file from the collections in its tests.

    Each test collects twice. Without this, collections take longer and longer.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def stack_depth():
    """Return the depth of this thread's context stack, which is the same afterwards."""
    popped = []
    while (context := drv.Context.get_current()) is not None:
        drv.Context.pop()
        popped.append(context)
    for context in reversed(popped):
        context.push()
    return len(popped)


def check_stack(depth):
    """Fail if the stack is not as deep. Pop what is too much: later tests are right."""
    after = stack_depth()
    for _ in range(after - depth):
        drv.Context.pop()
    assert after == depth, f"{after} contexts are on the stack, before it were {depth}"


@pytest.fixture(autouse=True, scope="module")
def no_context_is_left():
    """Check that the tests and fixtures of a file leave no context on the stack."""
    depth = stack_depth()
    yield
    check_stack(depth)


def live_counts(config):
    """Return the number of live handles of each kind.

    A shared context keeps its kernels, and the page-locked memory into which some
    kernels write a count of elements. Leave out these kinds if tests share a context.
    """
    counts = _driver._live_counts()
    if config.getoption("one_context"):
        del counts["module"], counts["host"]
    return counts


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """Check that the test released all handles and left the context stack unchanged.

    Under the marker ``module_context`` no handles are counted: the shared context keeps
    the kernels of the tests.
    """
    if request.node.get_closest_marker("module_context"):
        request.getfixturevalue("module_context")
        depth = stack_depth()
        yield
        check_stack(depth)
        return
    gc.collect()
    before = live_counts(request.config)
    depth = stack_depth()
    yield
    # Drop the values of the other fixtures, which have already been torn down.
    request.node.funcargs.clear()
    gc.collect()
    check_stack(depth)
    assert live_counts(request.config) == before


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
    """The context of all tests that use ``ctx`` with ``--one-context``. Not current."""
    context = drv.Device(0).make_context()
    drv.Context.pop()
    yield context
    context.detach()


@pytest.fixture(scope="module")
def module_context():
    """One context for all tests of a file, so that each kernel is loaded once."""
    context = drv.Device(0).make_context()
    yield context
    context.pop()
    context.detach()


@pytest.fixture
def strict(monkeypatch):
    """Mistakes that do no harm on a GPU are errors."""
    monkeypatch.setenv("PYCUDA_STRICT", "1")


@pytest.fixture
def primary_ctx():
    """The primary context of device 0, current in this thread."""
    context = drv.Device(0).retain_primary_context()
    context.push()
    yield context
    context.pop()
    context.detach()
