"""User objects: functions that are called when no graph refers to them any more."""

import gc
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from support.child import run_child

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]


@pytest.fixture
def stream(module_context):
    return drv.Stream()


def wait(condition):
    """Wait until a thread of the driver has made a condition true."""
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def test_without_graphs(module_context):
    seen = []
    first, second = drv.UserObject(lambda: seen.append(1)), drv.UserObject(seen.clear)
    assert first.handle != second.handle
    first.release()
    assert wait(lambda: seen == [1])
    with pytest.raises(drv.LogicError, match="was released"):
        first.release()
    with pytest.raises(drv.LogicError, match="was released"):
        _ = first.handle
    del second
    assert wait(lambda: seen == [])


def test_graphs_and_executable_graphs_refer_to_it(stream):
    seen = []
    x = gpuarray.zeros(16, np.float32)
    item = drv.UserObject(lambda: seen.append("gone"))
    with stream.capture() as graph:
        x += 1
    graph.retain(item)
    copy = graph.clone()
    executable = graph.instantiate()
    del item, graph
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert not seen
    del executable
    gc.collect()
    stream.synchronize()
    assert not seen
    del copy
    assert wait(lambda: seen == ["gone"])
    assert (x.get() == 1).all()


def test_references_are_counted(module_context):
    seen = []
    item = drv.UserObject(lambda: seen.append("gone"))
    graph = drv.Graph()
    graph.retain(item, 3)
    graph.release(item, count=2)
    graph.release(item)
    assert not seen
    graph.retain(item)
    item.release()
    assert not seen
    with pytest.raises(drv.LogicError, match="was released"):
        graph.retain(item)
    del graph
    assert wait(lambda: seen == ["gone"])


def test_an_exception_is_reported(module_context, monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(info.exc_type))
    drv.UserObject(lambda: 1 // 0)
    assert wait(lambda: seen == [ZeroDivisionError])


def test_arguments(module_context):
    graph = drv.Graph()
    with pytest.raises(TypeError, match="must be callable, not int"):
        drv.UserObject(3)
    with pytest.raises(TypeError, match="must be a UserObject, not int"):
        graph.retain(3)
    item = drv.UserObject(int)
    with pytest.raises(drv.LogicError, match="called before"):
        item.__init__(int)
    item.name = "attributes are possible"
    assert weakref.ref(item)() is item
    with pytest.raises(drv.LogicError, match="cuGraphRetainUserObject"):
        graph.retain(item, 0)


def test_captured_callbacks_end_with_their_graphs(stream):
    class Callback:
        def __call__(self):
            pass

    callback = Callback()
    reference = weakref.ref(callback)
    with stream.capture() as graph:
        stream.add_callback(callback)
    executable = graph.instantiate()
    del callback, graph
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert reference() is not None
    del executable
    assert wait(lambda: reference() is None)


def test_the_end_of_the_process():
    run_child(
        """
        import pycuda.driver as drv

        drv.init()
        context = drv.Device(0).make_context()
        graph = drv.Graph()
        item = drv.UserObject(lambda: print("not called"))
        graph.retain(item)
        context.pop()
        """
    )
