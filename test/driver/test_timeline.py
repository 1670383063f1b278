"""Timelines: which calls they record, the times of the device, files, the command."""

import gc
import inspect
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.profile as profile
from pycuda import _driver, gpuarray
from pycuda.compiler import SourceModule
from pycuda.profile import _html, _summary
from support.child import run_child

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

SOURCE = """
__global__ void spin(float *a, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = a[i];
        for (int k = 0; k < turns; k++)
            x = x * 1.0001f + 0.5f;
        a[i] = x;
    }
}
"""
COUNT = 4096


@pytest.fixture
def spin(module_context):
    return SourceModule(SOURCE).get_function("spin")


@pytest.fixture
def array(module_context):
    return gpuarray.zeros(COUNT, np.float32)


def launch(function, array, turns=10, **more):
    n = np.int32(array.size)
    function(array, n, np.int32(turns), block=(256, 1, 1), grid=(16, 1), **more)


def here(back=0):
    return inspect.currentframe().f_back.f_lineno - back


def kinds(timeline):
    return [span.kind for span in timeline.spans]


# -- what is recorded ------------------------------------------------------------------


def test_a_launch_has_its_kernel_shape_line_and_times(spin, array):
    with profile.timeline() as t:
        launch(spin, array, 1000)
    [span] = t.spans
    assert (span.kind, span.name, span.routine) == ("kernel", "spin", "cuLaunchKernel")
    assert (span.grid, span.block) == ((16, 1, 1), (256, 1, 1))
    assert span.bytes == array.nbytes
    assert (span.line.file, span.line.function) == (__file__, "launch")
    assert span.kernel.registers > 0 and span.kernel.threads == 256
    assert 0 <= span.begin <= span.end <= t.duration
    assert span.device_time > 0
    # The clocks of host and device are compared to a few microseconds on a GPU.
    assert span.device_begin > span.begin - 200_000
    assert span.device_end < t.duration + 200_000
    assert not span.failed


def test_array_operations_have_their_names(array):
    array + array  # compiles
    with profile.timeline() as t:
        b = array + array
        line = here(1)
    launched = [span for span in t.spans if span.kind == "kernel"]
    assert [span.name for span in launched] == ["add"]
    assert launched[0].line.line == line
    assert launched[0].bytes == 2 * array.nbytes
    del b


def test_copies_fills_and_waits(array):
    host = np.ones(COUNT, np.float32)
    pinned = drv.pagelocked_empty(COUNT, np.float32)
    stream = drv.Stream()
    other = gpuarray.empty_like(array)
    with profile.timeline() as t:
        drv.memcpy_htod(array.gpudata, host)
        drv.memcpy_dtoh(host, array.gpudata)
        drv.memcpy_dtod(other.gpudata, array.gpudata, array.nbytes)
        drv.memcpy_htod_async(array.gpudata, pinned, stream)
        drv.memset_d32(array.gpudata, 7, COUNT)
        stream.synchronize()
        drv.Context.synchronize()
        drv.Event().record().synchronize()
    found = kinds(t)
    assert found == [
        *("copy to device", "copy to host", "copy", "copy to device", "fill"),
        *("wait", "wait", "wait"),
    ]
    assert [span.bytes for span in t.spans[:5]] == [array.nbytes] * 5
    assert all(span.device_time > 0 for span in t.spans[:5])
    assert t.spans[3].stream == stream.handle
    copies = {row.kind: (row.calls, row.bytes) for row in t.copies()}
    assert copies["copy to device"] == (2, 2 * array.nbytes)
    assert t.copies()[0].bandwidth > 0


def test_copies_of_rectangles_have_their_bytes(array):
    copy = drv.Memcpy2D()
    copy.set_src_device(array.gpudata)
    copy.set_dst_host(np.empty((8, 16), np.float32))
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 64
    copy.height = 8
    with profile.timeline() as t:
        copy(aligned=True)
    assert [span.bytes for span in t.spans] == [512]


def test_allocations_and_modules_are_recorded():
    with profile.timeline() as t:
        block = drv.mem_alloc(1000)
        block.free()
        drv.pagelocked_empty(1000, np.uint8)
        SourceModule(SOURCE)
    found = kinds(t)
    assert found[:4] == ["allocate", "free", "allocate", "free"]
    assert "load" in found
    assert t.spans[0].bytes == 1000


def test_a_compilation_is_a_span(monkeypatch, tmp_path):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    with profile.timeline() as t:
        SourceModule(SOURCE, cache_dir=str(tmp_path))
        line = here(1)
        SourceModule(SOURCE, cache_dir=str(tmp_path))
    [span] = [span for span in t.spans if span.kind == "compile"]
    assert "spin" in span.name and span.line.line == line
    assert span.host_time > 1_000_000


def test_graphs_are_recorded(spin, array):
    stream = drv.Stream()
    with profile.timeline() as t:
        with stream.capture() as graph:
            launch(spin, array, stream=stream)
        executable = graph.instantiate()
        executable.launch(stream)
        stream.synchronize()
    by_kind = {span.kind: span for span in t.spans}
    assert by_kind["kernel"].device_begin is None  # captured, not run
    assert by_kind["graph"].device_time > 0


def test_a_failed_call_is_marked(array):
    with profile.timeline() as t:
        with pytest.raises(drv.MemoryError):
            drv.mem_alloc(1 << 50)
        drv.mem_alloc(64)
    failed = [span.failed for span in t.spans if span.kind == "allocate"]
    assert failed == [True, True, False]  # it is tried again


def test_threads_and_streams_have_rows(spin, array, module_context):
    stream = drv.Stream()

    def work():
        module_context.push()
        launch(spin, array, stream=stream)
        drv.Context.pop()

    with profile.timeline() as t:
        launch(spin, array)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    spans = [span for span in t.spans if span.kind == "kernel"]
    assert len({span.thread for span in spans}) == 2
    assert len({span.stream for span in spans}) == 2
    titles = _html._data(t)["tracks"]
    assert "host, thread 1" in titles and len(titles) >= 4


def test_work_of_one_stream_does_not_overlap(spin, array):
    with profile.timeline() as t:
        for _ in range(20):
            launch(spin, array, 200)
    spans = [span for span in t.spans if span.kind == "kernel"]
    ends = [span.device_end for span in spans]
    begins = [span.device_begin for span in spans]
    assert all(b >= a - 2_000 for a, b in zip(ends, begins[1:], strict=False))


def test_many_launches_reuse_their_events(spin, array):
    with profile.timeline() as t:
        for i in range(6000):
            launch(spin, array, 1)
            if i % 1000 == 0:
                drv.Context.synchronize()
    spans = [span for span in t.spans if span.kind == "kernel"]
    assert len(spans) == 6000
    assert all(span.device_time > 0 for span in spans)


# -- begin and end ---------------------------------------------------------------------


def test_nothing_is_recorded_outside(spin, array):
    launch(spin, array)
    with profile.timeline() as t:
        pass
    launch(spin, array)
    assert t.spans == [] and "0 calls" in t.text()


def test_one_timeline_at_a_time():
    first = profile.timeline().start()
    with pytest.raises(RuntimeError, match="a timeline is being recorded"):
        profile.timeline().start()
    first.stop()
    with pytest.raises(RuntimeError, match="no timeline is being recorded"):
        _driver._timeline_finish()
    assert not _driver._timeline_is_on()


def test_an_exception_ends_the_timeline(tmp_path):
    path = tmp_path / "t.html"
    with pytest.raises(KeyError), profile.timeline(path):
        raise KeyError
    assert path.exists() and not _driver._timeline_is_on()


def test_calls_beyond_the_limit_are_counted(spin, array):
    with profile.timeline(most=3) as t:
        for _ in range(5):
            launch(spin, array)
    assert (len(t.spans), t.dropped) == (3, 2)
    assert "2 more calls were not kept." in t.text()


def test_a_context_that_ends_keeps_its_times():
    with profile.timeline() as t:
        context = drv.Device(0).make_context()
        gpuarray.zeros(COUNT, np.float32)
        context.pop()
        context.detach()
        gc.collect()
    [fill] = [span for span in t.spans if span.kind == "fill"]
    assert fill.device_time > 0


def test_a_timeline_over_a_context_that_ended_before():
    context = drv.Device(0).make_context()
    t = profile.timeline().start()
    gpuarray.zeros(COUNT, np.float32)
    context.pop()
    context.detach()
    del context
    gc.collect()
    t.stop()
    assert "fill" in kinds(t)


FORKED = """
import os
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.profile as profile

t = profile.timeline().start()
drv.mem_alloc(1024)
child = os.fork()
if child == 0:
    try:
        drv.mem_alloc(1024)
    except drv.LogicError:
        t.stop()
        os._exit(len(t.spans))
_, status = os.waitpid(child, 0)
t.stop()
print(os.waitstatus_to_exitcode(status), len(t.spans) >= 2)
"""


def test_a_forked_child_ends_its_copy():
    done = run_child(FORKED, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert done.stdout.split() == ["2", "True"]


def test_an_exit_with_a_timeline_is_clean():
    run_child(
        """
        import pycuda.autoinit
        import pycuda.driver as drv
        import pycuda.profile as profile
        t = profile.timeline().start()
        block = drv.mem_alloc(1024)
        """
    )


# -- ranges ----------------------------------------------------------------------------


def test_ranges_are_nested(spin, array):
    with profile.timeline() as t, profile.range("outer"):
        for name in ("a", "b"):
            with profile.range(name):
                launch(spin, array)
    ranges = {s.name: s for s in t.spans if s.kind == "range"}
    assert list(ranges) == ["outer", "a", "b"]
    assert ranges["outer"].begin <= ranges["a"].begin
    assert ranges["a"].end <= ranges["b"].begin <= ranges["outer"].end
    assert _html._data(t)["tracks"][:2] == ["ranges", ""]
    assert all("range" not in row.work for row in t.lines())


def test_a_range_without_a_timeline_does_nothing():
    with profile.range("alone"):
        pass
    with profile.timeline() as t:
        pass
    assert t.spans == []


def test_ranges_of_nvtx(monkeypatch):
    class Library:
        calls = []

        def nvtxRangePushA(self, name):
            self.calls.append(name)

        def nvtxRangePop(self):
            self.calls.append("pop")

    library = Library()
    monkeypatch.setattr(profile, "_nvtx", lambda: library)
    with profile.range("part"):
        pass
    assert library.calls == [b"part", "pop"]
    monkeypatch.setattr(profile, "_nvtx", lambda: None)
    with profile.range("part"):
        pass


# -- sums ------------------------------------------------------------------------------


def test_kernels_beside_the_limits_of_the_device(spin, array):
    with profile.timeline() as t:
        launch(spin, array, 10)
        launch(spin, array, 1000)
    [row] = t.kernels()
    assert (row.kernel.name, row.launches, row.blocks) == ("spin", 2, 16)
    assert 0 < row.occupancy <= 1
    assert row.shortest <= row.device_time / 2 <= row.longest
    assert row.bandwidth == pytest.approx(2 * array.nbytes / row.device_time * 1e9)
    limits = t.limits[0]
    resident = row.kernel.blocks_per_multiprocessor * limits.multiprocessors
    assert row.waves == pytest.approx(16 / resident)
    if limits.bandwidth is None:
        assert row.of_peak is None
    else:
        assert row.of_peak == pytest.approx(row.bandwidth / limits.bandwidth)


def test_the_heaviest_line_comes_first(spin, array):
    array.fill(0)  # the driver of a GPU loads a kernel when it is first launched
    launch(spin, array)
    with profile.timeline() as t:
        array.fill(0)
        launch(spin, array, 3000)
    rows = t.lines()
    # On a GPU that other processes use, the fill may take longer than the kernel.
    work = {row.line.function: row.work for row in rows}
    assert len(rows) == 2 and work["launch"] == ["spin"]
    assert [row.time for row in rows] == sorted((r.time for r in rows), reverse=True)
    assert t.busy() <= sum(span.device_time for span in t.spans)


def test_busy_counts_overlapping_work_once():
    class Part:
        def __init__(self, begin, end):
            self.device_begin, self.device_end = begin, end

    parts = [Part(0, 10), Part(5, 8), Part(8, 20), Part(30, 31), Part(None, None)]
    assert _summary.busy(parts) == 21


# -- files -----------------------------------------------------------------------------


@pytest.fixture
def recorded(spin, array, tmp_path):
    paths = [tmp_path / f"t{end}" for end in (".html", ".json", ".txt")]
    with profile.timeline(*paths) as t, profile.range("all </script>"):
        launch(spin, array)
        array.get()
    return t, paths


def test_files(recorded):
    t, (page, trace, table) = recorded
    html = page.read_text(encoding="utf-8")
    for outside in ("src=", "href=", "@import", "url("):
        assert outside not in html
    assert html.count("</script>") == 1
    assert "spin" in html and "test_timeline.py" in html
    assert table.read_text(encoding="utf-8") == t.text()
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]
    assert {e["pid"] for e in complete} == {0, 1}
    assert [e["name"] for e in complete if e["pid"] == 1] == ["spin", "cuMemcpyDtoH"]
    assert {e["ph"] for e in events} == {"X", "M", "s", "f"}


def test_the_table(recorded):
    text = recorded[0].text()
    for words in (
        "Lines:",
        "Kernels:",
        "Copies:",
        "spin (256 threads)",
        "copy to host",
    ):
        assert words in text


def test_the_output_of_a_notebook(recorded):
    assert recorded[0]._repr_html_().startswith("<iframe src=")


def test_a_name_without_a_format_is_refused_at_once():
    with pytest.raises(ValueError, match=r"use \.html, \.json, \.txt"):
        profile.timeline("run.png")


def test_names_of_files_and_ranges_that_are_no_utf_8(tmp_path, ctx):
    names = {"gpuarray": gpuarray, "np": np, "profile": profile}
    text = "def work():\n    with profile.range(name): gpuarray.zeros(5, np.int8)\n"
    timeline = profile.timeline(tmp_path / "t.html", os.fsencode(tmp_path / "t.json"))
    with timeline:
        for file in ("/x/\udcff.py", '/x/</script><evil>&".py'):
            exec(compile(text, file, "exec"), names)
            for names["name"] in ("\udcff", "a\0b", "</script><evil>"):
                names["work"]()
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    before_script = page.partition("<script>")[0]
    assert "<evil>" not in before_script and "</script><evil>" not in page
    assert "\ufffd.py" in before_script
    json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    timeline.save(tmp_path / "t.txt")
    assert timeline._repr_html_().startswith("<iframe src=")


def test_a_range_needs_a_text():
    with (
        pytest.raises(TypeError, match="the name of a range is a text, not 5"),
        profile.range(5),
    ):
        raise AssertionError


def test_a_relative_path_begins_where_the_timeline_begins(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    with profile.timeline("t.txt"):
        monkeypatch.chdir("sub")
    assert (tmp_path / "t.txt").exists()


SCRIPT = """
import sys
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray

print(sys.argv[1:], float((gpuarray.zeros(100, np.float32) + 1).sum().get()))
if "fail" in sys.argv:
    sys.exit(3)
"""


def run_command(folder, *arguments):
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pycuda.profile", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def test_the_command(tmp_path):
    done = run_command(tmp_path, "-o", "a.html", "-o", "a.json", "script.py", "x", "-o")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['x', '-o'] 100.0\n"
    assert "script.py:7 in <module>" in done.stderr and "wrote a.json" in done.stderr
    assert (tmp_path / "a.html").exists() and (tmp_path / "a.json").exists()


def test_the_command_ends_as_the_program_does(tmp_path):
    done = run_command(tmp_path, "-q", "script.py", "fail")
    assert (done.returncode, done.stderr) == (3, "")
    assert (tmp_path / "pycuda_profile.html").exists()
