"""The plugin of pytest, in runs of pytest over small test files."""

import importlib
import os
import re
import subprocess
import sys
import time

import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda._leaks import Mark
from support.child import run_child
from support.compilers import needs_nvcc
from support.pyproject import project

IMPORTS = """
import numpy as np
import pytest
import pycuda.driver as drv
from pycuda import gpuarray
"""


class Run:
    """A run of pytest: the counts of its outcomes, and what it has written."""

    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout
        self.error = done.stderr
        last = self.text.strip().splitlines()[-1] if self.text.strip() else ""
        self.counts = {
            word: int(n)
            for n, word in re.findall(r"(\d+) (\w+)", last)
            if not word.startswith("warning")
        }


@pytest.fixture
def run(tmp_path):
    """Write a test file, and run pytest with the plugin over it."""

    def run(text, *options, settings="", python=(), **variables):
        (tmp_path / "test_it.py").write_text(text)
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{settings}")
        plugin = ["-p", "no:pycuda", "-p", "pycuda.pytest_plugin"]
        command = [sys.executable, *python, "-m", "pytest", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables}
        for name in ("PYTEST_ADDOPTS", "PYCUDA_EMULATOR_DEVICES"):
            environment.pop(name, None)
        environment.pop("PYCUDA_EMULATOR_SEED", None)
        done = subprocess.run(
            [*command, *plugin, "-rs", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            timeout=120,
        )
        return Run(done)

    return run


def test_the_entry_point():
    (target,) = project()["entry-points"]["pytest11"].values()
    assert hasattr(importlib.import_module(target), "pytest_addoption")


# -- without a device ------------------------------------------------------------------


#: Every run of pytest in an environment loads the plugin. So its import loads these
#: modules of the package, no other package, and takes this time at most.
LOADED = ["pycuda", "pycuda._start", "pycuda.pytest_plugin"]
MOST_MILLISECONDS = 3

IMPORT = """
import pytest, random, sys, time
before = set(sys.modules)
begin = time.perf_counter()
import MODULE
print((time.perf_counter() - begin) * 1e3)
print(*sorted(set(sys.modules) - before - set(sys.stdlib_module_names)))
"""


def imported(module, folder):
    """Return the milliseconds of an import, the fewest of five, and its modules.

    ``folder`` keeps the bytecode.
    """
    code = IMPORT.replace("MODULE", module)
    said = [
        run_child(code, PYTHONPYCACHEPREFIX=str(folder), PYTHONDONTWRITEBYTECODE=None)
        for _ in range(6)
    ]
    runs = [done.stdout.splitlines() for done in said[1:]]
    return min(float(each[0]) for each in runs), runs[0][1].split()


def test_the_import_of_the_plugin_is_cheap(tmp_path):
    took, modules = imported("pycuda.pytest_plugin", tmp_path)
    assert modules == LOADED
    assert took < MOST_MILLISECONDS


def test_a_plugin_that_is_not_cheap_is_seen(tmp_path):
    took, modules = imported("pycuda.gpuarray", tmp_path)
    assert "numpy" in modules and "pycuda._driver" in modules
    assert took > MOST_MILLISECONDS


def test_a_run_without_a_gpu_does_not_load_the_driver(run):
    done = run(
        "import sys\n"
        "def test_it():\n"
        "    names = [x for x in sys.modules if x.partition('.')[0] == 'pycuda']\n"
        f"    assert sorted(names) == {LOADED} and 'numpy' not in sys.modules\n"
    )
    assert done.counts == {"passed": 1}, done.text
    assert "pycuda" not in done.text.split("test session starts")[1].split("\n", 6)[6]


def test_without_a_device_tests_are_skipped(run):
    done = run(
        "import pytest\n"
        "def test_fixture(cuda_context): pass\n"
        "@pytest.mark.cuda\ndef test_mark(): pass\n"
        "def test_other(): pass\n",
        PYCUDA_DRIVER="cuda",
        CUDA_VISIBLE_DEVICES="",
    )
    assert done.counts == {"passed": 1, "skipped": 2}, done.text
    assert "needs a CUDA device: " in done.text


@pytest.mark.parametrize(
    ("options", "settings", "text"),
    [
        (["--pycuda-check=rac"], "", "pycuda_check is 'rac', and it must be one of"),
        (["--pycuda-check=,"], "", "pycuda_check is ',', which names no check"),
        (["--pycuda-check=all", "--pycuda-driver=cuda"], "", "Leave out one of them"),
        (["--pycuda-driver=gpu"], "", "invalid choice: 'gpu'"),
        (["--pycuda-seed=many"], "", "a number from 0 to 2147483647, or random"),
        ([], "pycuda_leaks = maybe", "must be one of report, fail, off"),
        ([], "pycuda_scope = class", "must be one of function, module, session"),
    ],
)
def test_wrong_settings(run, options, settings, text):
    done = run("def test_it(): pass", *options, settings=settings)
    assert done.status == 4
    assert text in done.error, done.error


# -- devices ---------------------------------------------------------------------------


@pytest.mark.gpu
def test_each_test_has_a_context_of_its_own(run):
    done = run(
        IMPORTS
        + """
seen = []
def test_one(cuda_context):
    assert drv.Context.get_current() == cuda_context
    seen.append(cuda_context.handle)
    drv.Device(0).make_context()  # and not popped
def test_two(cuda_context):
    assert drv.Context.get_current() == cuda_context
    assert (gpuarray.arange(4, dtype=np.float32) + 1).get().sum() == 10
def test_three():
    assert drv.Context.get_current() is None
"""
    )
    assert done.counts["passed"] == 3, done.text
    assert "pycuda: the device was " in done.text


@pytest.mark.gpu
@pytest.mark.parametrize(("scope", "contexts"), [("function", 3), ("session", 1)])
def test_tests_can_share_a_context(run, scope, contexts):
    done = run(
        IMPORTS
        + f"""
seen = []
@pytest.mark.parametrize("n", range(3))
def test_it(cuda_context, n):
    seen.append(cuda_context)
def test_how_many():
    assert len(set(map(id, seen))) == {contexts}
""",
        settings=f"pycuda_scope = {scope}",
    )
    assert done.counts == {"passed": 4}, done.text


STACK = (
    IMPORTS
    + """
kept = []
def is_current(context):
    return drv.Context.get_current() == context
def test_pop(cuda_context):
    drv.Context.pop()
    with pytest.raises(drv.Error):
        drv.Context.pop()
def test_after_pop(cuda_context):
    assert is_current(cuda_context)
def test_push(cuda_context):
    kept.append(drv.Device(0).make_context())
def test_after_push(cuda_context):
    assert is_current(cuda_context)
@pytest.fixture(scope="module")
def inner(cuda_context):
    cuda_context.push()
    yield
    cuda_context.pop()
def test_outer_pop(inner, cuda_context):
    drv.Context.pop(), drv.Context.pop()
def test_inner(inner, cuda_context):
    assert is_current(cuda_context)
    drv.Context.pop()
    assert is_current(cuda_context)
"""
)


@pytest.mark.gpu
@pytest.mark.parametrize("scope", ["module", "session"])
def test_a_shared_context_stays_current_for_the_next_test(run, scope):
    done = run(STACK, f"--pycuda-scope={scope}", "--pycuda-leaks=off")
    assert done.counts == {"passed": 6}, done.text


@pytest.mark.gpu
@pytest.mark.parametrize("scope", ["function", "module"])
def test_a_test_may_end_the_context_of_the_fixture(run, scope):
    text = IMPORTS + "def test_it(cuda_context): cuda_context.detach()\n"
    text += "def test_other(): pass\n"
    done = run(text, f"--pycuda-scope={scope}")
    assert done.counts == {"passed": 2}, done.text


@pytest.mark.gpu
def test_marks(run):
    done = run(
        IMPORTS
        + """
@pytest.mark.cuda_devices(1)
def test_one_device(): pass
@pytest.mark.cuda_devices(99)
def test_many_devices(): pass
@pytest.mark.cuda_capability(5, 0)
def test_old(): pass
@pytest.mark.cuda_capability(99)
def test_new(): pass
@pytest.mark.cuda_hardware
def test_hardware(): pass
""",
        "--strict-markers",
    )
    emulated = _driver._is_emulated()
    assert done.counts == {"passed": 3 - emulated, "skipped": 2 + emulated}, done.text
    assert "needs 99 devices, and this machine shows" in done.text
    assert "needs compute capability 99.0, and the device has" in done.text
    assert ("this is the software device" in done.text) == emulated


@pytest.mark.gpu
@pytest.mark.parametrize(
    "mark",
    [
        "cuda_devices",
        "cuda_devices('2')",
        "cuda_devices(number=2)",
        "cuda_devices(1, count=1)",
        "cuda_devices(1, 2)",
    ],
)
def test_a_mark_with_wrong_arguments(run, mark):
    done = run(f"import pytest\n@pytest.mark.{mark}\ndef test_it(): pass")
    assert "the mark cuda_devices takes whole numbers" in done.text + done.error
    assert "passed" not in done.counts
    assert "pytest_plugin.py:" not in done.text


@pytest.mark.gpu
def test_the_arguments_of_a_mark_by_name(run):
    done = run(
        "import pytest\n"
        "@pytest.mark.cuda_capability(minor=0, major=99)\ndef test_new(): pass\n"
        "@pytest.mark.cuda_capability(minor=9, major=0)\ndef test_old(): pass\n"
    )
    assert done.counts == {"passed": 1, "skipped": 1}, done.text
    assert "needs compute capability 99.0" in done.text


@pytest.mark.software(why="the checks and variables are for the software device")
def test_checks_with_blanks_are_not_a_run_of_skipped_tests(run):
    text = "import os\ndef test_it(cuda_context):\n"
    text += "    assert os.environ['PYCUDA_CHECK'] == 'memory,race'\n"
    for words in ("memory, race", " memory ,,race,"):
        done = run(text, f"--pycuda-check={words}")
        assert done.counts == {"passed": 1}, done.text


@pytest.mark.software(why="the checks and variables are for the software device")
@pytest.mark.parametrize("name", ["PYCUDA_CHECK", "PYCUDA_EMULATOR_DEVICES"])
def test_a_wrong_variable_is_an_error_of_each_test(run, name, monkeypatch):
    text = "import pytest\ndef test_it(cuda_context): pass\n"
    text += "@pytest.mark.cuda\ndef test_mark(): pass\n"
    if name == "PYCUDA_CHECK":
        done = run(text, **{name: "wrong"})
    else:  # run() takes the number of devices away
        done = run(
            text,
            python=[
                "-c",
                "import os, sys, pytest\n"
                f"os.environ['{name}'] = 'wrong'\nsys.exit(pytest.main(sys.argv[3:]))",
            ],
        )
    assert done.counts in ({"error": 2}, {"errors": 2}), done.text
    assert f'{name} is "wrong"; it must be' in done.text
    assert "pytest_plugin.py:" not in done.text


@pytest.mark.software(why="the options are for the software device")
def test_the_driver_and_the_checks_of_a_run(run):
    text = (
        IMPORTS
        + """
import os
from pycuda import _driver
from pycuda.compiler import SourceModule
def test_driver(cuda_context):
    assert _driver._is_emulated()
    assert os.environ["PYCUDA_DRIVER"] == "emulator"
def test_uninitialised(cuda_context):
    f = SourceModule('''__global__ void f(int *x, const int *y) { x[0] = y[0] + 1; }''')
    x, y = gpuarray.zeros(1, np.int32), gpuarray.empty(1, np.int32)
    f.get_function("f")(x, y, block=(1, 1, 1))
    cuda_context.synchronize()
"""
    )
    done = run(text, "--pycuda-check=init", PYCUDA_DRIVER="cuda")
    assert "pycuda: check init" in done.text
    assert done.counts == {"failed": 1, "passed": 1}, done.text
    assert "uninitialised read" in done.text
    done = run(text, "--pycuda-driver=emulator", PYCUDA_DRIVER="cuda")
    assert done.counts == {"passed": 2}, done.text


FORGIVEN = (
    IMPORTS
    + """
from pycuda.compiler import SourceModule
def test_it(cuda_context):
    f = SourceModule("__global__ void f(int *x, double y) {}").get_function("f")
    f(gpuarray.zeros(1, np.int32), np.float32(1), block=(1, 1, 1))
"""
)


def test_tests_are_strict(run, monkeypatch):
    """Elsewhere it is a warning, see test/driver/test_launch_sizes.py."""
    monkeypatch.delenv("PYCUDA_STRICT", raising=False)
    done = run(FORGIVEN)
    assert done.counts == {"failed": 1}, done.text
    assert "TypeError: argument 1 of f is a numpy.float32 of 4 bytes" in done.text
    done = run(FORGIVEN, PYCUDA_STRICT="0")
    assert done.counts == {"passed": 1}, done.text
    assert "ArgumentTypeWarning: argument 1 of f" in done.text


@pytest.mark.software(why="the check is for the software device")
def test_an_empty_variable_counts_as_not_set(run):
    """With other checks, a read behind an array is a warning."""
    text = (
        IMPORTS
        + """
import os
from pycuda.compiler import SourceModule
def test_it(cuda_context):
    assert os.environ["PYCUDA_STRICT"] == "1"
    f = SourceModule("__global__ void f(int *x) { x[0] = x[4]; }").get_function("f")
    f(drv.to_device(np.zeros(4, np.int32)), block=(1, 1, 1))
    drv.Context.synchronize()
"""
    )
    done = run(text, PYCUDA_CHECK="", PYCUDA_STRICT="")
    assert done.counts == {"failed": 1}, done.text
    assert "illegal memory access" in done.text, done.text
    done = run(text, PYCUDA_CHECK="sync", PYCUDA_STRICT="1")
    assert done.counts == {"passed": 1}, done.text


def test_the_variables_are_as_before_after_the_run(run, monkeypatch):
    monkeypatch.delenv("PYCUDA_STRICT", raising=False)
    text = "import os\ndef test_it(): assert os.environ['PYCUDA_STRICT'] == '1'\n"
    start = "import os, sys, pytest; status = pytest.main(sys.argv[3:]); "
    start += "sys.exit(status or 'PYCUDA_STRICT' in os.environ)"
    done = run(text, python=["-c", start])
    assert done.counts == {"passed": 1} and done.status == 0, done.text


@pytest.mark.software(why="the driver of a GPU may be missing here")
def test_a_driver_that_was_loaded_before(run):
    start = "import pycuda.driver; pycuda.driver.init(); import sys, pytest; "
    start += "sys.exit(pytest.main(sys.argv[3:]))"
    done = run(
        "def test_it(cuda_context): pass",
        "--pycuda-driver=cuda",
        python=["-c", start],
    )
    assert "Start pytest in a process of its own" in done.text + done.error


@pytest.mark.gpu
def test_a_broken_context_breaks_no_other_test(run):
    """On a GPU, an error of a kernel breaks the process, so this is emulated."""
    if not _driver._is_emulated():
        pytest.skip("a GPU cannot be used after an error of a kernel")
    done = run(
        IMPORTS
        + """
from pycuda.compiler import SourceModule
def test_bad(cuda_context):
    f = SourceModule("__global__ void f(int *x) { x[1 << 28] = 1; }").get_function("f")
    f(gpuarray.zeros(1, np.int32), block=(1, 1, 1))
    cuda_context.synchronize()
def test_good(cuda_context):
    assert gpuarray.zeros(1, np.int32).get() == [0]
"""
    )
    assert done.counts == {"failed": 1, "passed": 1}, done.text


# -- faults that come after the test ---------------------------------------------------

FAULTS = (
    IMPORTS
    + """
from pycuda.compiler import SourceModule
from pycuda.tools import mark_cuda_test
START
def fault(stream=None):
    x = gpuarray.zeros(4, np.int32)
    source = "__global__ void far(int *x) { x[1 << 28] = 1; }"
    SourceModule(source).get_function("far")(x, block=(1, 1, 1), stream=stream)
def works():
    assert gpuarray.zeros(4, np.int32).get().sum() == 0
def test_bad_kernel(ARG): fault()
def test_good_1(ARG): works()
def test_bad_kernel_in_a_stream(ARG): fault(drv.Stream())
def test_good_2(ARG): works()
def test_bad_read(ARG):
    stream, host = drv.Stream(), drv.pagelocked_zeros(4, np.int32)
    drv.memcpy_dtoh_async(host, gpuarray.zeros(4, np.int32).gpudata, stream)
    host[0]
def test_good_3(ARG): works()
@mark_cuda_test
def test_bad_kernel_in_a_context_that_has_ended(): fault()
def test_bad_kernel_in_a_detached_context():
    context = drv.Device(0).make_context()
    fault()
    context.pop()
    context.detach()
def test_good_4(ARG): works()
def test_good_error_that_is_expected(ARG):
    fault()
    with pytest.raises(drv.LogicError):
        drv.Context.synchronize()
def test_good_5(ARG): works()
"""
)


def faults(argument):
    """Return the text of a test file whose tests have this argument."""
    start = "" if argument else "import pycuda.autoinit"
    return FAULTS.replace("ARG", argument).replace("START", start)


@pytest.mark.software(why="a GPU cannot be used after an error of a kernel")
@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("cuda_context", []),
        ("cuda_context", ["--pycuda-scope=session"]),
        ("", []),
        ("cuda_context", ["-n", "1", "-p", "xdist"]),
    ],
)
def test_a_fault_fails_the_test_that_made_it(run, argument, options):
    if "xdist" in options:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    done = run(faults(argument), "--pycuda-check=all", "-rA", "--tb=short", *options)
    outcomes = re.findall(
        r"^(PASSED|FAILED|ERROR) \S+::test_(good|bad)", done.text, re.M
    )
    assert set(outcomes) == {("PASSED", "good"), ("FAILED", "bad")}, done.text
    assert done.counts["failed"] == 5 and done.counts["passed"] == 6, done.text
    said = re.findall("^at the end of the test the device reports: ", done.text, re.M)
    assert len(said) == 5, done.text
    assert "the host reads byte 0 of the 16-byte page-locked allocation" in done.text
    assert "1. kernel far, grid (1, 1, 1), block (1, 1, 1), at " in done.text


@pytest.mark.software(why="without the checks a read is no error")
def test_without_the_check_a_read_passes(run):
    done = run(faults("cuda_context"), "--pycuda-driver=emulator", "-k", "read")
    assert done.counts == {"passed": 1, "deselected": 10}, done.text


@pytest.mark.software(why="the test makes an error of a kernel")
def test_a_fault_of_a_fixture_and_of_a_test_that_fails(run):
    text = faults("cuda_context").partition("def test_")[0]
    done = run(
        text
        + """
@pytest.fixture
def fixture(cuda_context):
    yield
    fault()
def test_it(fixture): pass
def test_wrong(cuda_context):
    fault()
    assert 0
def test_index(cuda_context):
    gpuarray.zeros(4, np.int32)[gpuarray.to_gpu(np.array([7]))]
def test_capture(cuda_context):  # is no fault of the device
    works()
    drv.Stream().capture().__enter__()
"""
    )
    assert done.counts["failed"] == 2 and done.counts["passed"] == 2, done.text
    assert done.counts["error"] == 1, done.text
    assert "--- pycuda: at the end of the test ---" in done.text
    assert "IndexError" not in done.text and "index 7 is out of bounds" in done.text


@pytest.mark.gpu
def test_the_first_fault_of_a_run(run):
    """On a GPU the next tests may fail, too. Their reports name the test at fault."""
    done = run(faults("cuda_context"), "-k", "bad_kernel or good_1", "-rf")
    assert "FAILED test_it.py::test_bad_kernel - Failed: at the end of" in done.text
    named = "test_it.py::test_bad_kernel has broken a context. A GPU may fail in all"
    assert (named in done.text) != _driver._is_emulated(), done.text


# -- objects of other contexts ---------------------------------------------------------

TITLE = "pycuda: contexts"
EMULATED = ["--pycuda-driver=emulator"]
KERNEL = (
    IMPORTS
    + """
import functools
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

def compiled():
    source = "__global__ void fill(int *x) { x[threadIdx.x] = 7; }"
    return SourceModule(source).get_function("fill")

def check(fill):
    x = gpuarray.zeros(4, np.int32)
    fill(x, block=(4, 1, 1))
    assert (x.get() == 7).all()
"""
)
CACHED = """
kernel = {cache}(compiled)

@pytest.mark.parametrize("n", [1, 2, 3])
def test_it(cuda_context, n):
    check(kernel())
"""
AT_IMPORT = """
import pycuda.autoinit
fill = compiled()

def test_it({argument}):
    check(fill)
"""


@needs_nvcc
@pytest.mark.parametrize(
    ("cache", "options", "failed"),
    [
        ("functools.cache", [], 2),
        ("functools.cache", ["--pycuda-scope=session"], 0),
        ("context_dependent_memoize", [], 0),
        ("", [], 0),
    ],
)
def test_a_kernel_that_outlives_its_context(run, cache, options, failed):
    done = run(KERNEL + CACHED.format(cache=cache), *EMULATED, *options)
    assert done.counts.pop("failed", 0) == failed
    assert done.counts == {"passed": 3 - failed}
    assert done.text.count(TITLE) == failed
    if failed:
        text = " ".join(done.text.split())
        assert "pycuda.tools.context_dependent_memoize instead of functools" in text


@needs_nvcc
@pytest.mark.parametrize(("argument", "failed"), [("cuda_context", 1), ("", 0)])
def test_a_kernel_of_module_level(run, argument, failed):
    done = run(KERNEL + AT_IMPORT.format(argument=argument), *EMULATED)
    assert done.counts == {"failed" if failed else "passed": 1}
    assert done.text.count(TITLE) == failed


@needs_nvcc
def test_a_kernel_of_module_level_without_a_context(run):
    done = run(KERNEL + "fill = compiled()\n\ndef test_it(): pass\n", *EMULATED)
    assert done.counts == {"error": 1}
    assert done.text.count(TITLE) == 1 and "No context was current." in done.text


def test_a_test_without_a_context(run):
    text = "\ndef test_it():\n    drv.init()\n    gpuarray.zeros(1, np.int32)\n"
    done = run(IMPORTS + text, *EMULATED)
    assert done.text.count(TITLE) == 1 and "No context was current." in done.text


def test_other_errors_get_no_such_text(run):
    text = "\ndef test_it(cuda_context):\n    drv.mem_alloc(1 << 60)\n"
    done = run(IMPORTS + text, *EMULATED)
    assert done.counts == {"failed": 1} and TITLE not in done.text
    done = run("\ndef test_it():\n    raise ValueError('another context')\n")
    assert done.counts == {"failed": 1} and TITLE not in done.text


# -- seeds -----------------------------------------------------------------------------

SEEDS = """
import os
import pytest
@pytest.mark.parametrize("n", [0, 1])
def test_it(cuda_seed, n):
    print(f"<{cuda_seed} {os.environ.get('PYCUDA_EMULATOR_SEED')}>")
    assert n == 0
"""


def test_seeds(run):
    def seeds(*options):
        done = run(SEEDS, "-s", *options)
        assert done.counts == {"failed": 1, "passed": 1}
        return done.text, re.findall(r"<(\d+) (\w+)>", done.text)

    text, ((first, of_device), (second, _)) = seeds()
    assert first != second and of_device == "None" and "--pycuda-seed" not in text
    assert seeds()[1] == [(first, "None"), (second, "None")]
    text, ((other, of_device), _) = seeds("--pycuda-seed=7")
    assert other != first and of_device == "7"
    assert "Run this again with --pycuda-seed 7" in text
    text, ((_, of_device), _) = seeds("--pycuda-seed=random")
    assert f"pycuda: seed {of_device}" in text
    assert f"Run this again with --pycuda-seed {of_device}" in text


# -- leaks -----------------------------------------------------------------------------

LEAKS = (
    IMPORTS
    + """
kept = []

@pytest.fixture(scope="module")
def shared(cuda_context):
    return gpuarray.zeros(1000, np.float32)  # lives as long as the module

@pytest.fixture
def own(cuda_context):
    return gpuarray.zeros(1000, np.float32)

def test_clean(cuda_context, shared, own):
    a = gpuarray.arange(100, dtype=np.float32)
    assert (a + a).sum().get() == 9900
    loop = [a]
    loop.append(loop)

def test_leak(cuda_context, shared):
    for i in range(2):
        kept.append(drv.mem_alloc(1024))
    kept.append(drv.Stream())

def test_next(cuda_context, shared): pass
"""
)


@pytest.mark.gpu
def test_an_allocation_is_the_same_at_each_mark(ctx):
    """The nanoseconds of its time differ by some, as they come from a rate."""
    memory = drv.mem_alloc(4000)
    before = Mark()
    for _ in range(50):
        time.sleep(0.001)
        assert Mark().lines_since(before) == []
    more = drv.mem_alloc(100)
    assert [each.bytes for each in Mark().lines_since(before)] == [100]
    more.free()
    memory.free()
    memory = drv.mem_alloc(4000)  # maybe at the same address
    assert [each.bytes for each in Mark().lines_since(before)] == [4000]


@pytest.mark.gpu
def test_leaks_are_reported(run):
    done = run(LEAKS, "--pycuda-scope=module")
    assert done.counts == {"passed": 3}, done.text
    (section,) = re.findall(
        r"left behind by tests =+\n(.*?)pycuda: the", done.text, re.S
    )
    assert section.strip().splitlines() == [
        "test_it.py::test_leak",
        "  2.0 KiB in 2 allocations of device memory, allocated at test_it.py:25 "
        "in test_leak",
        "  1 stream",
    ]


@pytest.mark.gpu
def test_leaks_can_fail(run):
    done = run(LEAKS, settings="pycuda_leaks = fail\npycuda_scope = module")
    assert done.counts == {"passed": 3, "error": 1}, done.text
    assert "the test has left behind:\n  2.0 KiB in 2 allocations" in done.text


@pytest.mark.gpu
def test_leaks_can_be_ignored(run):
    done = run(LEAKS, "--pycuda-leaks=off", "--pycuda-scope=module")
    assert done.counts == {"passed": 3}, done.text
    assert "left behind" not in done.text


@pytest.mark.gpu
def test_a_context_that_ends_with_its_test_leaves_nothing(run):
    done = run(IMPORTS + "def test_it(cuda_context): gpuarray.zeros(4, np.int32) + 1")
    assert "left behind" not in done.text, done.text


@pytest.mark.gpu
def test_what_a_test_keeps_in_its_own_context(run):
    text = IMPORTS + "kept = []\ndef test_it(cuda_context):\n"
    done = run(f"{text}    kept.append(drv.mem_alloc(8))", "--pycuda-leaks=fail")
    assert done.counts == {"passed": 1, "error": 1}, done.text
    assert "8 B of device memory, allocated at test_it.py:8 in test_it" in done.text
    done = run(f"{text}    a = drv.mem_alloc(8)\n    assert 0", "--pycuda-leaks=fail")
    assert done.counts == {"failed": 1}, done.text


ORDINARY = (
    IMPORTS
    + """
from pycuda import curandom, fft, linalg
from pycuda.tools import DeviceMemoryPool

def numbers():
    return gpuarray.to_gpu(np.linspace(0, 1, 1000, dtype=np.float32))
def test_reductions(cuda_context):
    gpuarray.percentile(numbers(), 20), numbers().sum().get()
def test_sort(cuda_context):
    gpuarray.unique(gpuarray.sort(numbers()))
def test_mask(cuda_context):
    x = numbers()
    gpuarray.nonzero(x[x > 0.5])
def test_random(cuda_context):
    curandom.XORWOWRandomNumberGenerator().gen_uniform(100, np.float32)
def test_products(cuda_context):
    x = gpuarray.to_gpu(np.eye(64, dtype=np.float32))
    linalg.solve(x @ x, fft.fft(x).real.copy())
def test_objects(cuda_context):
    stream, x = drv.Stream(), numbers()
    with stream.capture() as graph:
        x += 1
    graph.instantiate().launch(stream)
    drv.TextureObject(drv.matrix_to_array(np.zeros((4, 4), np.float32), "C"))
    drv.Event().record(stream)
    stream.synchronize()
def test_memory(cuda_context):
    drv.pagelocked_zeros(100, np.float32)
    pool = DeviceMemoryPool()
    gpuarray.zeros(100, np.float32, allocator=pool.allocate)
"""
)


@pytest.mark.gpu
@pytest.mark.parametrize("scope", ["function", "session"])
def test_ordinary_work_leaves_nothing(run, scope):
    done = run(ORDINARY, "--pycuda-leaks=fail", f"--pycuda-scope={scope}")
    assert done.counts == {"passed": 7}, done.text


@pytest.mark.gpu
def test_several_processes(run):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    done = run(LEAKS, "--pycuda-scope=module", "-n", "1", "-p", "xdist")
    assert done.counts["passed"] == 3, done.text
    assert done.text.count("test_it.py::test_leak") == 1
    assert "pycuda: the device was " in done.text


# -- coverage of kernels ---------------------------------------------------------------

COVERED = (
    IMPORTS
    + """
from pycuda.compiler import SourceModule
SOURCE = '''
__global__ void k(int *x, int n)
{
    if (x[threadIdx.x] < 0)
        x[threadIdx.x] += 7; // negative
    else
        x[threadIdx.x] *= n;
}
'''
def launch(first):
    x = np.arange(first, first + 32, dtype=np.int32)
    k = SourceModule(SOURCE).get_function("k")
    k(drv.InOut(x), np.int32(3), block=(32, 1, 1))
def test_positive(cuda_context):
    launch(5)
"""
)
NEGATIVE = """
def test_negative(cuda_context):
    launch(-9)
"""
_LINE = COVERED.split("// negative")[0].count("\n") + 1


@needs_nvcc
@pytest.mark.parametrize("more", [(), ("-n", "2", "-p", "xdist")])
def test_coverage_of_kernels(run, more):
    if more:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    done = run(COVERED, "--pycuda-cov", "test_it.py", *more)
    assert done.status == 0, done.text
    assert re.search(rf"test_it\.py .* {_LINE}, {_LINE - 1}->{_LINE}\n", done.text)
    done = run(COVERED + NEGATIVE, "--pycuda-cov", *more)
    assert re.search(r"test_it\.py +3 +0 +2 +0 +100%\n", done.text), done.text


@needs_nvcc
def test_coverage_that_is_too_small(run, tmp_path):
    limit = "pycuda_cov = on\npycuda_cov_fail_under = 90\n"
    limit += "pycuda_cov_report = term xml:o/c.xml html"
    for text, status in (COVERED, 1), (COVERED + NEGATIVE, 0):
        done = run(text, settings=limit)
        assert done.status == status, done.text
        assert ("are asked for" in done.text) == bool(status)
        assert "missing" not in done.text and "o/c.xml is written" in done.text
    assert (tmp_path / "o" / "c.xml").exists()
    assert (tmp_path / "kernel-coverage.html").exists()


@needs_nvcc
def test_coverage_of_other_sources_only(run, tmp_path):
    (tmp_path / "lib").mkdir()
    done = run(COVERED, "--pycuda-cov", "--pycuda-cov-source=lib")
    assert "no kernel of the tests was loaded" in done.text
    assert "coverage of kernels" not in run(COVERED).text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--pycuda-driver=cuda"], "--pycuda-cov is for the software device"),
        (["--pycuda-cov-report=text"], "must be one of term, term-missing, html"),
        (["--pycuda-cov-report=term:x"], "term is written to no file"),
        (["--pycuda-cov-fail-under=many"], "must be a number"),
    ],
)
def test_wrong_options_of_coverage(run, options, text):
    done = run("def test_it(): pass", "--pycuda-cov", *options)
    assert done.status == 4 and text in done.error + done.text


@needs_nvcc
@pytest.mark.parametrize("branches", ["true", "false"])
def test_reports_of_coverage_py_have_the_lines(run, tmp_path, branches):
    pytest.importorskip("pytest_cov", reason="pytest-cov is not installed")
    options = ("-p", "pytest_cov.plugin", "--cov=.", "--pycuda-cov", "--cov-append")
    settings = f"[tool.coverage.run]\nbranch = {branches}\n"
    (tmp_path / "pyproject.toml").write_text(settings)
    done = run(COVERED, *options, "--cov-report=term-missing")
    assert 'plugins = ["pycuda.coverage"]' in done.text
    (tmp_path / ".coverage").unlink()
    settings += 'plugins = ["pycuda.coverage"]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    for text, missing in (COVERED, f"   {_LINE}"), (COVERED + NEGATIVE, ""):
        done = run(text, *options, "--cov-report=term-missing")
        row = re.search(r"test_it\.py +\d.*", done.text)[0]
        assert row.endswith(missing or "100%"), done.text

    later = (tmp_path / ".coverage").stat().st_mtime + 60
    for when, is_known in (later - 60, True), (later, False):
        os.utime(tmp_path / ".coverage", (when, when))
        command = [sys.executable, "-m", "coverage", "lcov", "-q", "-o", "-"]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert (f"DA:{_LINE},1\n" in done.stdout) == is_known


CALLBACK = (
    IMPORTS
    + """
def test_it(cuda_context):
    stream = drv.Stream()
    def finished():
        assert VALUE == 1
    stream.add_callback(finished)
    WAIT
"""
)


@pytest.mark.parametrize("wait", ["stream.synchronize()", "pass"])
def test_a_function_of_a_stream_that_raises_fails_the_test(run, wait):
    text = CALLBACK.replace("WAIT", wait)
    done = run(text.replace("VALUE", "2"), "--pycuda-driver=emulator")
    assert done.counts == {"failed": 1}
    assert "a function that a stream calls, has raised AssertionError" in done.text
    assert "test_it.py:10" in done.text
    done = run(text.replace("VALUE", "1"), "--pycuda-driver=emulator")
    assert done.counts == {"passed": 1}


def test_explain_reports_such_a_function_of_a_test(run, tmp_path):
    text = CALLBACK.replace("WAIT", "stream.synchronize()")
    for value, has_report in (("2", True), ("1", False)):
        log = tmp_path / f"log{value}"
        run(
            text.replace("VALUE", value),
            "--pycuda-driver=emulator",
            PYCUDA_CHECK_LOG=str(log),
        )
        said = log.read_text() if log.exists() else ""
        assert ("== callback " in said) == has_report
        assert ("has raised AssertionError" in said) == has_report


def test_what_a_faulty_test_could_not_release_is_no_leak(run):
    """Its context was lost, and works again for the next tests."""
    text = (
        IMPORTS
        + """
import ctypes
import pycuda.autoinit
from pycuda.compiler import SourceModule

def test_fault():
    f = SourceModule("__global__ void f(int *x) { x[1 << 28] = 1; }").get_function("f")
    f(gpuarray.zeros(4, np.int32), block=(1, 1, 1))
    pycuda.autoinit.context.synchronize()

def test_kept():
    LEFT
"""
    )
    done = run(text.replace("LEFT", "pass"), "--pycuda-check=all")
    assert done.counts == {"failed": 1, "passed": 1}, done.text
    assert "alive at exit" not in done.text + done.error
    keep = "ctypes.pythonapi.Py_IncRef(ctypes.py_object(drv.mem_alloc(24)))"
    done = run(text.replace("LEFT", keep), "--pycuda-check=all")
    assert "24 bytes, made at" in done.text + done.error


def test_other_exceptions_that_are_ignored_do_not_fail_a_test(run):
    done = run(
        """
def test_it():
    class It:
        def __del__(self):
            1 / 0
    It()
"""
    )
    assert done.counts == {"passed": 1} and "ZeroDivisionError" in done.text
