"""The log of failed calls, which CUDA calls error log management."""

import re

import pytest

from support.emulator import R, child

pytest_plugins = ["support.emulator_fixtures"]

START = """
from ctypes import CFUNCTYPE, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
HANDLER = CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_size_t)
said = []
def keep(data, level, text, length):
    said.append((data, level, ctypes.string_at(text, length).decode()))
handler = HANDLER(keep)
handle = c_void_p()
d.ok("Init", 0)
def fail():
    return d.CtxSynchronize()
def dump(room=1 << 16, iterator=None):
    buffer, size = ctypes.create_string_buffer(room), c_size_t(room)
    code = d.LogsDumpToMemory(iterator, buffer, byref(size), 0)
    assert len(buffer.value) == size.value
    return code, buffer.value.decode()
"""


def run(code, **environment):
    """Run code behind START. Return the lines that it prints."""
    return child(START + code, **environment).splitlines()


def test_a_callback_gets_the_messages_of_a_call():
    lines = run("""
print(d.LogsRegisterCallback(handler, c_void_p(77), byref(handle)), bool(handle))
print(fail())
for each in said: print(*each)
""")
    assert lines == [
        "0 True",
        str(R.ERROR_INVALID_CONTEXT),
        "77 0 No context is current in this thread.",
        "77 0 Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuCtxSynchronize",
    ]


def test_what_succeeds_is_not_logged():
    """A query of work that has not ended is no failure."""
    lines = run("""
context = d.context()
d.ok("LogsRegisterCallback", handler, None, byref(handle))
stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
d.lib.emu_fault_set(b"cuStreamQuery", 1, 600)
print(d.StreamQuery(stream))
d.ok("CtxSynchronize")
print(said, dump())
""")
    assert lines == [str(R.ERROR_NOT_READY), "[] (0, '')"]


def test_an_unregistered_callback_gets_nothing():
    lines = run("""
d.ok("LogsRegisterCallback", handler, None, byref(handle))
second = []
other = HANDLER(lambda data, level, text, length: second.append(length))
d.ok("LogsRegisterCallback", other, None, None)
fail()
print(len(said), len(second))
print(d.LogsUnregisterCallback(handle))
fail()
print(len(said), len(second))
print(d.LogsUnregisterCallback(handle), d.LogsUnregisterCallback(None))
""")
    assert lines == ["2 2", "0", "2 4", "1 1"]


def test_dumps_and_iterators():
    lines = run("""
fail()
at = c_uint()
print(d.LogsCurrent(byref(at), 0), at.value)
print(dump(iterator=byref(at)), at.value)
fail()
print(dump(iterator=byref(at))[1].count("No context"), at.value)
print(dump(iterator=byref(at)), at.value)
print(len(dump()[1].splitlines()))
print(dump()[1].splitlines()[-1])
""")
    assert lines[:5] == ["0 2", "(0, '') 2", "1 4", "(0, '') 4", "4"]
    assert re.fullmatch(
        r"\[\d\d:\d\d:\d\d\.\d{3}\]\[\d+\]\[CUDA\]\[E\] Returning 201 "
        r"\(CUDA_ERROR_INVALID_CONTEXT\) from cuCtxSynchronize",
        lines[5],
    )


def test_the_oldest_messages_go_first():
    lines = run("""
for i in range(1000): fail()
code, text = dump()
print(code, len(text) <= 25600, len(text) > 25000, "Older" in text)
at = c_uint(0)
code, text = dump(iterator=byref(at))
print(code, text.splitlines()[0], at.value)
code, text = dump(room=300)
print(code, text.splitlines()[0], text.splitlines()[-1][-16:], len(text) > 200)
print(dump(room=20))
""")
    assert lines[0] == "0 True True False"
    assert lines[1] == "0 Older messages were left out. 2000"
    assert lines[2] == "0 Older messages were left out. cuCtxSynchronize True"
    assert lines[3] == "(1, '')"


def test_a_dump_to_a_file(tmp_path):
    path = tmp_path / "log.txt"
    lines = run(f"""
fail()
at = c_uint(1)
print(d.LogsDumpToFile(byref(at), {str(path)!r}.encode(), 0), at.value)
print(d.LogsDumpToFile(None, b"/nowhere/log.txt", 0), dump()[1].count("/nowhere"))
""")
    assert lines == ["0 2", "1 1"]
    assert path.read_text().count("\n") == 1
    assert "from cuCtxSynchronize" in path.read_text()


@pytest.mark.parametrize(
    "call",
    [
        "d.LogsRegisterCallback(None, None, byref(handle))",
        "d.LogsCurrent(None, 0)",
        "d.LogsDumpToFile(None, None, 0)",
        "d.LogsDumpToMemory(None, None, byref(c_size_t(9)), 0)",
        "d.LogsDumpToMemory(None, c_char_p(b'text'), None, 0)",
        "d.LogsDumpToMemory(None, c_char_p(b'text'), byref(c_size_t(0)), 0)",
    ],
)
def test_wrong_arguments(call):
    """Each is refused, with a reason in the log."""
    code, reason = run(f"print({call})\nprint(dump()[1].splitlines()[0])")
    assert int(code) == R.ERROR_INVALID_VALUE
    assert "must" in reason


def test_calls_in_a_callback():
    """A callback may call the driver. It cannot change the callbacks."""
    lines = run("""
codes = []
def call(data, level, text, length):
    if len(codes) < 6:
        codes.append(fail())
        codes.append(d.LogsUnregisterCallback(handle))
        codes.append(d.LogsRegisterCallback(handler, None, None))
caller = HANDLER(call)
d.ok("LogsRegisterCallback", caller, None, byref(handle))
fail()
print(*codes)
print(d.LogsUnregisterCallback(handle))
""")
    refused = (
        f"{R.ERROR_INVALID_CONTEXT} {R.ERROR_NOT_PERMITTED} {R.ERROR_NOT_PERMITTED}"
    )
    assert lines == [f"{refused} {refused}", "0"]


def test_callbacks_of_many_threads():
    lines = run("""
import threading
def work():
    for i in range(200):
        own = c_void_p()
        d.ok("LogsRegisterCallback", handler, None, byref(own))
        fail()
        d.ok("LogsUnregisterCallback", own)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(said) >= 1600, sorted({text for _, _, text in said}))
""")
    assert lines == [
        "True ['No context is current in this thread.', "
        "'Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuCtxSynchronize']"
    ]


@pytest.mark.parametrize("name", ["stdout", "log.txt"])
def test_the_file_of_the_environment(name, tmp_path):
    path = name if name == "stdout" else str(tmp_path / name)
    lines = run("fail()", CUDA_LOG_FILE=path)
    if name != "stdout":
        assert lines == []
        lines = (tmp_path / name).read_text().splitlines()
    assert len(lines) == 2 and lines[0].endswith(
        "] No context is current in this thread."
    )


def test_without_the_variable_nothing_is_printed():
    assert run("fail()") == []


def test_a_file_that_cannot_be_written_changes_nothing():
    assert run("print(fail())", CUDA_LOG_FILE="/nowhere/log.txt") == ["201"]


def test_the_reasons():
    """The calls that say why they fail."""
    lines = run("""
def reason():
    return dump()[1].splitlines()[-2].partition("[E] ")[2]
d.CtxSynchronize()
print(reason())
context = d.context()
stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
d.ok("StreamBeginCapture", stream, 0)
d.MemAlloc(byref(c_void_p()), c_size_t(8))
print(reason())
d.StreamEndCapture(stream, byref(c_void_p()))
function = d.function(d.module(EMPTY_KERNEL), b"nothing")
def launch(grid, block, shared=0):
    assert d.LaunchKernel(function, *grid, *block, shared, None, None, None) == 1
    print(reason())
launch((1, 0, 1), (1, 1, 1))
launch((1, 1, 1), (1, 1, 65))
launch((1, 1, 1), (1024, 2, 1))
launch((1, 1, 1), (1, 1, 1), 1 << 20)
""")
    assert lines == [
        "No context is current in this thread.",
        "A stream is being captured, which forbids this call.",
        "The grid is 0 in y. It must be between 1 and 65535.",
        "The block is 65 in z. It must be between 1 and 64.",
        "The block has 2048 threads. The device allows 1024, the kernel 1024.",
        "The launch has 1048576 bytes of dynamic shared memory. The function allows "
        "49152.",
    ]


def test_a_call_has_the_name_of_its_export():
    """As on an H200, which also logs nothing before cuInit."""
    code = "d = Driver()\nprint(d.MemFree(c_uint64(3)), dump()[1].split()[-1:])\n"
    program = START.replace('d.ok("Init", 0)\n', "") + code
    program += 'd.ok("Init", 0)\ncontext = d.context()\n' + code
    assert child(program).splitlines() == ["3 []", "1 ['cuMemFree_v2']"]


def test_flags_are_ignored():
    """As on an H200."""
    assert run("print(d.LogsCurrent(byref(c_uint()), 3))") == ["0"]
