"""Driver calls in a thread without a current context, or with another one.

test/data/no_context.txt and other_context.txt have the results of an H200. The software
device returns the same. The package needs a context only where the driver needs one.
"""

import threading
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.driver import module_from_buffer
from support import no_context
from support.emulator import LIBRARY, Driver, child

DATA = Path(__file__).parents[1] / "data"
TABLES = {
    "none": no_context.read(DATA / "no_context.txt"),
    "other": no_context.read(DATA / "other_context.txt"),
}

RECORD = """
from support.no_context import record
for words, code in record(d, {mode!r}).items():
    print(f"{words}: {code}")
"""


def record_in_child(mode, **variables):
    lines = child(RECORD.replace("{mode!r}", repr(mode)), **variables).splitlines()
    return {words: int(code) for words, _, code in (x.rpartition(": ") for x in lines)}


def differences(codes, table):
    """Return {call: (its result, the table's result)} where these differ."""
    return {
        words: (codes.get(words), code)
        for words, code in table.items()
        if codes.get(words) != code
    }


@pytest.mark.parametrize("mode", TABLES)
def test_the_software_device_returns_what_a_gpu_returns(mode):
    codes, table = record_in_child(mode), TABLES[mode]
    assert len(table) >= 75
    assert differences(codes, table) == {}
    # The check detects one wrong code.
    wrong = {**table, "cuEventQuery .": 201}
    assert differences(codes, wrong) == {"cuEventQuery .": (0, 201)}


@pytest.mark.parametrize("mode", TABLES)
def test_results_do_not_depend_on_the_progress_of_work(mode):
    """A GPU on which other contexts work may be behind, as these streams always are."""
    codes = record_in_child(mode, PYCUDA_EMULATOR_STREAMS="late")
    assert differences(codes, TABLES[mode]) == {}


def test_the_two_tables_differ():
    assert differences(TABLES["other"], TABLES["none"])


def test_with_a_current_context_no_call_asks_for_one():
    d = Driver(LIBRARY)
    if not d.emulated:
        pytest.skip("the library is not the software device")
    objects = no_context.Objects(d)
    try:
        codes = {
            words: no_context.result(d, name, arguments)
            for words, name, arguments in no_context.calls(objects)
            if words in TABLES["none"] and "CtxPopCurrent" not in words
        }
    finally:
        d.ok("CtxDestroy", objects.context)
        d.ok("CtxDestroy", objects.other)
    assert not {201, 400} & set(codes.values())
    assert differences(codes, TABLES["none"])


@pytest.mark.gpu
@pytest.mark.hardware(why="it records the table of a GPU again")
@pytest.mark.parametrize("mode", TABLES)
def test_a_gpu_returns_what_the_table_says(mode):
    codes = no_context.record(Driver("libcuda.so.1"), mode)
    assert differences(codes, TABLES[mode]) == {}


# -- this package in such a thread


def in_thread(function, *arguments):
    """Call in a new thread. Return the result or raise the exception here."""
    outcome = []

    def body():
        try:
            outcome.append((function(*arguments), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


@pytest.fixture
def things(ctx):
    class Things:
        module = module_from_buffer(no_context.SOURCE)
        function = module.get_function("k")
        stream, start, end = drv.Stream(), drv.Event(), drv.Event()
        memory, page = drv.mem_alloc(64), drv.pagelocked_zeros(16, np.int32)

    Things.start.record(Things.stream)
    Things.end.record(Things.stream)
    yield Things
    for name in ("function", "module", "stream", "start", "end", "memory", "page"):
        delattr(Things, name)


#: Calls that neither the driver nor the package needs a context for.
WORK = {
    "get_function": lambda t: t.module.get_function("k").name,
    "get_global": lambda t: t.module.get_global("g")[1],
    "attributes": lambda t: (t.function.num_regs, t.function.max_threads_per_block),
    "set_cache_config": lambda t: t.function.set_cache_config(drv.func_cache.PREFER_L1),
    "launch": lambda t: t.function(block=(1, 1, 1), stream=t.stream),
    "prepared": lambda t: t.function.prepare("").prepared_async_call(
        (1, 1), (1, 1, 1), t.stream
    ),
    "record": lambda t: t.start.record(t.stream),
    "query": lambda t: t.start.query(),
    "event synchronize": lambda t: t.start.synchronize(),
    "time": lambda t: t.end.time_since(t.start) >= 0,
    "is_done": lambda t: t.stream.is_done(),
    "synchronize": lambda t: t.stream.synchronize(),
    "wait_for_event": lambda t: t.stream.wait_for_event(t.start),
    "htod": lambda t: drv.memcpy_htod_async(t.memory, t.page, t.stream),
    "dtoh": lambda t: drv.memcpy_dtoh_async(t.page, t.memory, t.stream),
    "memset": lambda t: drv.memset_d8_async(t.memory, 1, 64, t.stream),
    "free": lambda t: t.memory.free(),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", WORK)
def test_what_needs_no_context_works_in_a_thread_without_one(things, name):
    in_thread(WORK[name], things)
    things.stream.synchronize()


#: Calls that need a context and say so.
REFUSED = {
    "launch": lambda t: t.function(block=(1, 1, 1)),
    "record": lambda t: t.start.record(),
    "htod": lambda t: drv.memcpy_htod(t.memory, t.page),
    "memset": lambda t: drv.memset_d8(t.memory, 1, 64),
    "alloc": lambda t: drv.mem_alloc(16),
    "stream": lambda t: drv.Stream(),
    "event": lambda t: drv.Event(),
    "pagelocked": lambda t: drv.pagelocked_empty(4, np.int32),
    "synchronize": lambda t: drv.Context.synchronize(),
    "info": lambda t: drv.mem_get_info(),
    "device": lambda t: drv.Context.get_device(),
    "module": lambda t: module_from_buffer(no_context.SOURCE),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_context_says_so(things, name):
    with pytest.raises(drv.LogicError, match="this thread has no current context"):
        in_thread(REFUSED[name], things)


def test_these_tests_lend_no_context():
    assert _driver._working_context() is None
