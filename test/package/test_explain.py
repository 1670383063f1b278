"""python -m pycuda.explain: what it runs, what it prints, and its exit status."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from planted.program import programs
from pycuda import _command_line, _reports, _sanitizer, explain
from support.compilers import needs_nvcc

pytestmark = pytest.mark.software(why="explain runs programs on the software device")

DATA = Path(__file__).parents[1] / "data" / "compute_sanitizer"
GUARD = next(each for each in programs() if each.name == "memory/no_guard")


def run(tmp_path, text, *arguments, options=(), **environment):
    """Write a script and explain it. Return the completed process."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    command = [
        sys.executable,
        "-m",
        "pycuda.explain",
        *options,
        str(script),
        *arguments,
    ]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120
    )


def test_an_error_is_shown_with_its_lines(tmp_path):
    done = run(tmp_path, GUARD.faulty)
    assert done.returncode == 1
    assert "1. memory" in done.stdout and "found 1 error\n" in done.stdout
    assert "beyond the end of the\n   4000-byte device allocation" in done.stdout
    assert "in kernel twice, block (7, 0, 0), thread (104, 0, 0)" in done.stdout
    ((_, line),) = GUARD.marked("FAULT", "script.py")
    python_line = GUARD.faulty.split("\n").index("    x[i] *= 2;  // FAULT") + 1
    assert f"at kernel.cu:{line} (script.py:{python_line})\n" in done.stdout
    assert "       x[i] *= 2;" in done.stdout
    assert "with the size of the array" in " ".join(done.stdout.split())
    assert "LogicError" in done.stderr  # the program's own output is unchanged


def test_a_program_without_errors(tmp_path):
    done = run(tmp_path, "import sys; print(sys.argv[1:])", "--gpu", "x")
    assert done.returncode == 0
    assert done.stdout.startswith("['--gpu', 'x']\n")
    assert "the software device found no errors" in done.stdout


UNWAITED = """
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule

    module = SourceModule('''
    __global__ void fill(float *x) { x[threadIdx.x] = threadIdx.x; }
    __global__ void twice(float *y, const float *x)
    {
        y[threadIdx.x] = 2 * x[threadIdx.x];
    }
    ''')
    fill, twice = module.get_function("fill"), module.get_function("twice")
    x, y, z = (drv.mem_alloc(256) for _ in range(3))
    host = drv.pagelocked_zeros(64, np.float32)
    one, two, ready = drv.Stream(), drv.Stream(), drv.Event()
    free = drv.Stream(drv.stream_flags.NON_BLOCKING)
    size = {"block": (64, 1, 1)}
"""

#: Programs without a wait: the work, and the line at fault. Each reads what was not
#: written, because the other stream keeps its work.
WITHOUT_WAIT = {
    "kernel": """
    fill(x, **size, stream=one)
    # wait
    twice(y, x, **size, stream=two)  # FAULT
    """,
    "copy": """
    drv.memcpy_htod_async(x, host, one)
    # wait
    twice(y, x, **size, stream=two)  # FAULT
    """,
    "copy of it": """
    fill(x, **size, stream=one)
    # wait
    drv.memcpy_dtod_async(z, x, 256, two)  # FAULT
    twice(y, z, **size, stream=two)
    """,
    "default stream": """
    fill(x, **size, stream=free)
    # wait
    twice(y, x, **size)  # FAULT
    """,
}
WAIT = {"default stream": "free.synchronize()"}
EVENT = "ready.record(one); two.wait_for_event(ready)"


@pytest.mark.parametrize("name", WITHOUT_WAIT)
@pytest.mark.parametrize("end", ["drv.Context.synchronize()", "two.synchronize()"])
def test_a_missing_wait_is_the_cause(tmp_path, name, end):
    """The check sync reports it, and init does not report the value that is missing."""
    program = textwrap.dedent(UNWAITED) + textwrap.dedent(WITHOUT_WAIT[name]) + end
    done = run(tmp_path, program)
    line = 1 + next(
        i for i, text in enumerate(program.split("\n")) if text.endswith("# FAULT")
    )
    assert "1. sync" in done.stdout and "found 1 error\n" in done.stdout, done.stdout
    assert f"at script.py:{line}\n" in done.stdout
    waits = program.replace("# wait", WAIT.get(name, EVENT))
    assert run(tmp_path, waits).returncode == 0


def test_a_missing_value_is_not_a_missing_wait(tmp_path):
    """Both streams read memory that nothing writes."""
    program = """
    twice(y, x, **size, stream=one)
    twice(z, x, **size, stream=two)
    drv.Context.synchronize()
    """
    done = run(tmp_path, textwrap.dedent(UNWAITED) + textwrap.dedent(program))
    assert "1. init" in done.stdout and "found 1 error\n" in done.stdout


def test_a_program_that_fails_without_a_report(tmp_path):
    done = run(tmp_path, "raise SystemExit(3)")
    assert done.returncode == 1
    assert "the program failed with status 3, and no check has a report" in done.stdout
    assert "no errors" not in done.stdout


def test_a_module(tmp_path):
    (tmp_path / "tool.py").write_text("import sys; print('run as', __name__, sys.argv)")
    done = subprocess.run(
        [sys.executable, "-m", "pycuda.explain", "-m", "tool", "a"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 0 and "run as __main__" in done.stdout


FORGIVEN = """
    import numpy as np
    import pycuda.autoinit
    from pycuda.compiler import SourceModule
    f = SourceModule("__global__ void f(double x) {}").get_function("f")
    f(np.float32(1), block=(1, 1, 1))
"""


def test_what_a_gpu_forgives_is_an_error(tmp_path):
    done = run(tmp_path, FORGIVEN)
    said = " ".join(done.stdout.split())
    assert "1. mistake argument 0 of f is a numpy.float32 of 4 bytes" in said
    assert "takes 8" in said and "at script.py:6 f(np.float32(1), block=" in said
    assert done.returncode == 1 and "found 1 error\n" in done.stdout
    assert "ArgumentTypeWarning" in done.stderr  # as in a plain run


def test_with_the_variable_it_ends_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    done = run(tmp_path, FORGIVEN)
    assert "TypeError: argument 0 of f is a numpy.float32 of 4 bytes" in done.stderr
    assert done.returncode == 1 and "no errors" not in done.stdout


MISTAKEN = """
    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule
    f = SourceModule(
        "__global__ void f(float *x, float by) { x[threadIdx.x] *= by; }"
    ).get_function("f")
    f(gpuarray.to_gpu(np.ones(N)), np.int32(2), block=(N, 1, 1))
    print('end')
"""


def test_each_type_of_an_argument_that_is_wrong(tmp_path):
    """The program goes on, and warns as without explain."""
    done = run(tmp_path, MISTAKEN.replace("N", "32"))
    assert done.returncode == 1 and "found 2 errors\n" in done.stdout
    assert done.stdout.startswith("end\n")
    said = " ".join(done.stdout.split())
    assert (
        "1. mistake argument 0 of f is a GPUArray of float64, but the parameter" in said
    )
    assert "2. mistake argument 1 of f is a numpy.int32, but the parameter 'by'" in said
    right = MISTAKEN.replace("np.ones(N)", "np.ones(N, np.float32)")
    right = right.replace("np.int32", "np.float32").replace("N", "32")
    assert "found no errors\n" in run(tmp_path, right).stdout


def test_a_warning_that_is_no_mistake(tmp_path):
    program = """
    import warnings
    import pycuda.autoinit
    from pycuda.compiler import SourceModule
    SourceModule("__global__ void f(int *x) { int unused; x[0] = 1; } // NEW")
    warnings.warn("of the program")
    """
    done = run(tmp_path, program.replace("NEW", str(tmp_path)))  # not in the cache
    assert done.returncode == 0
    assert "found no errors, and the program warned 1 time\n" in done.stdout
    assert "1. warning" in done.stdout and "at script.py:5\n" in done.stdout


def test_a_warning_of_a_kernel_has_each_place_once(tmp_path):
    program = """
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule
    f = SourceModule('''
    __global__ void f(int *x)
    {
        if (threadIdx.x > 40) return;
        __syncthreads();
        x[threadIdx.x] = 1;
    }''').get_function("f")
    f(drv.InOut(np.zeros(64, np.int32)), block=(64, 1, 1))
    """
    done = run(tmp_path, program)
    assert done.returncode == 0
    assert "found no errors, and the program warned 1 time\n" in done.stdout
    rows = [row.strip() for row in done.stdout.splitlines()]
    places = [row for row in rows if " script.py:" in row or "(script.py:" in row]
    assert places == [
        "at kernel.cu:5 (script.py:10)",
        "launched at script.py:13",
        "at kernel.cu:4 (script.py:9)",
    ]
    assert rows.count("__syncthreads();") == 1 and "instead of a return" in done.stdout


def test_the_capability_is_that_of_a_plain_run(tmp_path, monkeypatch):
    program = """
    PLAIN
    import pycuda.autoinit
    import pycuda.driver as drv
    print(drv.Device(0).compute_capability())
    """
    monkeypatch.setenv("PYCUDA_DRIVER", "emulator")
    monkeypatch.delenv("PYCUDA_EMULATOR_CAPABILITY", raising=False)
    plain = program.replace("PLAIN", "")
    assert run(tmp_path, plain).stdout.startswith("(7, 5)")
    own = "import os; os.environ['PYCUDA_EMULATOR_CAPABILITY'] = '8.6'"
    assert run(tmp_path, program.replace("PLAIN", own)).stdout.startswith("(8, 6)")
    chosen = run(tmp_path, plain, options=["--capability", "9.0"])
    assert chosen.stdout.startswith("(9, 0)")
    monkeypatch.setenv("PYCUDA_EMULATOR_CAPABILITY", "8.0")
    assert run(tmp_path, plain).stdout.startswith("(8, 0)")


@pytest.mark.parametrize(
    ("found", "known"), [((9, 0), "9.0"), ((9, 9), "9.0"), ((3, 5), "5.0")]
)
def test_the_capability_of_a_gpu(found, known):
    assert _command_line.known_capability(*found) == known


# -- notebooks -------------------------------------------------------------------------

CELLS = [
    "%matplotlib inline\n%time n = 64\nimport numpy as np\nimport pycuda.autoinit\n"
    "from pycuda import gpuarray\nfrom pycuda.compiler import SourceModule",
    'f = SourceModule("""\n__global__ void f(int *x)\n{\n    x[threadIdx.x + 1] = 2;\n'
    '}\n""").get_function("f")',
    "x = gpuarray.zeros(64, np.int32)\nf(x, block=(64, 1, 1))",
    "import sys\nprint(sys.argv[1:], __name__, x.get()[1])",
]
CUDA_CELLS = [
    "%load_ext pycuda.notebook\nfrom pycuda import gpuarray",
    "%%cuda\n__global__ void f(int *x)\n{\n    x[threadIdx.x + 1] = 2;\n}",
    "f(gpuarray.zeros(64, 'i4'), block=(64, 1, 1))",
]


def run_notebook(tmp_path, cells, *arguments, before=""):
    """Write a notebook and explain it. ``before`` runs when Python starts."""
    rows = [{"cell_type": "markdown", "source": ["text"]}]
    rows += [{"cell_type": "code", "source": each.splitlines(True)} for each in cells]
    (tmp_path / "it.ipynb").write_text(json.dumps({"cells": rows, "nbformat": 4}))
    (tmp_path / "sitecustomize.py").write_text(before)
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, "-m", "pycuda.explain", "it.ipynb", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
    )


WITHOUT_IPYTHON = "import sys; sys.modules['IPython'] = None"


@pytest.mark.parametrize("before", ["", WITHOUT_IPYTHON])
def test_a_notebook(tmp_path, before):
    if not before:
        pytest.importorskip("IPython", reason="IPython is not installed")
    cells = CELLS if not before else [CELLS[0].replace("%time n", "n"), *CELLS[1:]]
    done = run_notebook(tmp_path, cells, "a", before=before)
    assert done.returncode == 1 and "found 1 error\n" in done.stdout, done.stderr
    assert (
        "at kernel.cu:4 (it.ipynb[2]:4)\n       x[threadIdx.x + 1] = 2;" in done.stdout
    )
    assert "launched at it.ipynb[3]:2\n       f(x, block=(64, 1, 1))" in done.stdout
    assert 'it.ipynb[4]", line 2' in done.stderr
    left = "it.ipynb[1]: left out, since IPython is not installed: %matplotlib inline"
    assert (left in done.stderr) == bool(before)
    right = [each.replace(" + 1", "") for each in cells]
    done = run_notebook(tmp_path, right, "a", before=before)
    assert done.returncode == 0 and "['a'] __main__ 2\n" in done.stdout, done.stderr


def test_a_cell_of_cuda(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not installed")
    done = run_notebook(tmp_path, CUDA_CELLS)
    assert (
        "at kernel.cu:4 (it.ipynb[2]:4)\n       x[threadIdx.x + 1] = 2;" in done.stdout
    )
    done = run_notebook(tmp_path, CUDA_CELLS, before=WITHOUT_IPYTHON)
    assert "since IPython is not installed: %%cuda\n" in done.stderr
    assert "NameError: name 'f'" in done.stderr and "no errors" not in done.stdout


def test_a_file_that_is_no_notebook(tmp_path, capsys):
    (tmp_path / "it.ipynb").write_text("{}")
    assert explain.main([str(tmp_path / "it.ipynb")]) == 2
    assert "is not a notebook of the format 4" in capsys.readouterr().err


def test_a_script_that_does_not_exist(capsys):
    assert explain.main(["nowhere.py"]) == 2
    assert "there is no file 'nowhere.py'" in capsys.readouterr().err


def test_a_gpu_without_compute_sanitizer(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_sanitizer, "find", lambda: None)
    (tmp_path / "script.py").write_text("")
    assert explain.main(["--gpu", str(tmp_path / "script.py")]) == 2
    assert "compute-sanitizer was not found" in capsys.readouterr().err


@pytest.mark.parametrize(
    "symbol, name",
    [
        ("add", "add"),
        ("_Z3addPfi", "add"),
        ("_ZN5space6kernelIfEEvPT_", "kernel"),
        ("_Z5scaleIfEvPT_", "scale"),
    ],
)
def test_plain_names_of_kernels(symbol, name):
    assert explain._plain_name(symbol) == name


def test_places_of_a_report():
    report = _reports.parse(
        "race",
        "race: write of 4 bytes and the read by thread (1, 0, 0) (kernel.cu:7)\n"
        "  in kernel f, block (0, 0, 1), thread (32, 0, 0)\n"
        "  at /home/me/kernel.cu:5\n"
        "  launched at /home/me/run.py:12 in main\n"
        "  the memory was allocated at /home/me/run.py:9 in Tables.make\n",
    )
    assert (report.kernel, report.block, report.thread) == (
        "f",
        "(0, 0, 1)",
        "(32, 0, 0)",
    )
    assert report.lines("access") == [("/home/me/kernel.cu", 5), ("kernel.cu", 7)]
    assert report.lines("launch") == [("/home/me/run.py", 12)]
    assert report.lines("memory") == [("/home/me/run.py", 9)]
    assert report.places[2].function == "Tables.make"


def test_a_row_replaces_the_same_place_in_a_sentence():
    report = _reports.parse(
        "race",
        "race: write and the read by thread (1, 0, 0) (kernel.cu:7)\n"
        "  at /me/kernel.cu:5\n  other access at /me/kernel.cu:7\n",
    )
    assert [(each.words, each.line) for each in report.places] == [
        ("", 5),
        ("other access", 7),
    ]


def test_a_leak_is_its_line():
    text = "  2 device allocations, 64 bytes, made at /my files/run.py:3 in f"
    (place,) = _reports.parse("leak", text).places
    words = "2 device allocations, 64 bytes, made"
    assert place == ("access", words, "/my files/run.py", 3, "f")
    shown = explain.explain(_reports.parse("leak", text))
    assert shown.count("2 device allocations") == 1


SANITIZED = [
    ("init", "multiply", [6], "product.py", "Uninitialized __global__ memory read"),
    ("memory", "twice", [6], "no_guard.py", "is 1 bytes after the nearest allocation"),
    ("race", "multiply", [10, 13], None, "Race reported between Write access"),
    ("barrier", "pass_on", [9], "two_branches.py", "Divergent thread(s) in block."),
]


@pytest.mark.parametrize("kind, kernel, lines, script, words", SANITIZED)
def test_reports_of_compute_sanitizer(kind, kernel, lines, script, words):
    text = _sanitizer.reports(DATA / f"{kind}.txt", kind)
    reports = explain._distinct(_reports.read(text))
    first = reports[0]
    assert (first.kind, first.kernel) == (kind, kernel) and words in first.text
    assert first.lines("access") == [("kernel.cu", line) for line in lines]
    assert [file for file, _ in first.lines("launch")] == ([script] if script else [])
    assert len(reports) == 1 or kind == "race"


def test_a_file_of_compute_sanitizer_that_is_missing(tmp_path):
    assert _sanitizer.reports(tmp_path / "nothing", "memory") == ""


def test_tools_of_compute_sanitizer():
    assert [tool for tool, _ in _sanitizer.tools_for("all")] == [
        "memcheck",
        "initcheck",
        "racecheck",
        "synccheck",
    ]
    assert _sanitizer.tools_for("race, barrier") == [
        ("racecheck", "race"),
        ("synccheck", "barrier"),
    ]


BEYOND = (
    "write of 4 bytes at address 0x1080: it is 0 bytes beyond the end of the 128-byte "
    "device allocation at 0x1000"
)
BEFORE = (
    "read of 8 bytes at address 0xff8: it is 8 bytes before the 64-byte device "
    "allocation at 0x1000"
)


@pytest.mark.parametrize(
    "text, element",
    [
        (BEYOND, "element 32, in units of 4 bytes; there are 32, from 0 on."),
        (BEFORE, "element -1, in units of 8 bytes; there are 8, from 0 on."),
        ("read of 4 bytes at byte 8 of the 16-byte device allocation", "element 2,"),
        ("write of 4 bytes at offset 128 of shared memory and the", "element 32, in"),
        ("write of 1 bytes at offset 9 of shared memory, which has 8 bytes", "are 8,"),
        ("write of 4 bytes at address 0x2: no allocation is near", ""),
        ("read of 8 bytes at byte 4 of the 16-byte device allocation", ""),
        ("deadlock: 64 threads wait", ""),
    ],
)
def test_the_element_of_an_access(text, element):
    found = explain._element(text)
    assert element in found and bool(element) == bool(found)


def test_a_file_name_gets_the_folder_of_the_script(tmp_path):
    script = tmp_path / "run.py"
    script.write_text("x = 1\ny = f(x)\n")
    report = _reports.parse("memory", "bad\n  launched at run.py:2 in <module>")
    assert "y = f(x)" in explain.explain(report, files=[str(script)])


def test_reports_of_a_file():
    text = "== race 12\nrace: a\n  at k.cu:1\n\n== leak 13\nleak: b\n\n"
    first, second = _reports.read("noise\n" + text)
    assert (first.kind, second.kind) == ("race", "leak")
    assert first.text == "race: a\n  at k.cu:1"
    assert second.places == ()


AT_THE_END = """
import ctypes
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

fill = SourceModule(
    "__global__ void fill(int *x) { x[threadIdx.x] = 7; }"
).get_function("fill")
x = drv.mem_alloc(16)
"""
#: Programs that end before a call could report their error: what comes to stderr.
WITHOUT_A_CALL = {
    "memory": ("fill(x, block=(8, 1, 1))\n", ""),
    "leak": (
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))\n",
        "1 device allocation, 16 bytes, made at",
    ),
    "sync": (
        "stream = drv.Stream()\n"
        "host = drv.pagelocked_zeros(4, np.int32)\n"
        "drv.memcpy_dtoh_async(host, x, stream)\n"
        "host[0]\n",
        "the host reads",
    ),
}


@needs_nvcc
@pytest.mark.parametrize("check", WITHOUT_A_CALL)
def test_a_check_does_not_change_the_status_and_explain_does(tmp_path, check):
    """As the chapter about errors says."""
    end, said = WITHOUT_A_CALL[check]
    (tmp_path / "plain.py").write_text(AT_THE_END + end)
    done = subprocess.run(
        [sys.executable, "plain.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYCUDA_CHECK": check, "PYCUDA_DRIVER": "emulator"},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (said in done.stderr) if said else (done.stderr == "")
    explained = run(tmp_path, AT_THE_END + end, options=["--checks", check])
    assert explained.returncode == 1, explained.stdout
