"""The rules of layout hold in the repository, and each rule can be broken."""

import importlib.util
import subprocess
import sys

import pytest

from support.cc import ROOT

SCRIPT = ROOT / "tools" / "check_layout.py"


def load_script():
    spec = importlib.util.spec_from_file_location("check_layout", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return module


layout = load_script()


def problems(root, files):
    """Write files below a root; return what the check says, as (rule, file, line)."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [(found.rule, found.path, found.line) for found in layout.check(root)]


def test_repository_keeps_the_rules():
    assert [str(found) for found in layout.check(ROOT)] == []


def test_script_tells_by_its_status(tmp_path):
    def run(root):
        return subprocess.run(
            [sys.executable, SCRIPT, root], capture_output=True, text=True, check=False
        )

    good = tmp_path / "good"
    good.mkdir()
    assert (run(good).returncode, run(good).stdout) == (0, "")
    path = tmp_path / "src" / "cpp_free_c" / "driver" / "a.c"
    path.parent.mkdir(parents=True)
    path.write_text("\nint count;\n")
    done = run(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("src/cpp_free_c/driver/a.c:2: process-data: count ")


C = "src/cpp_free_c/"
SIGNED = '"go($self, /)\\n--\\n\\nGo."'


def method(row, more=""):
    return f"{more}\nstatic PyMethodDef m[] = {{\n    {row},\n    {{NULL}},\n}};\n"


def traverse(body):
    return (
        f"static int\nt(PyObject *s, visitproc visit, void *arg)\n{{\n    {body}\n}}\n"
        "static PyType_Slot slots[] = {\n    {Py_tp_traverse, t},\n    {0, NULL},\n};\n"
    )


def function(lines):
    return "int\nf(void)\n{\n" + "    ;\n" * (lines - 4) + "}\n"


BROKEN = [
    ("python-header", "driver/a.c", "\n#include <Python.h>\n", 2),
    ("python-header", "tables/a.h", "#include <numpy/arrayobject.h>\n", 1),
    ("process-data", "driver/a.c", "static int x;\n", 1),
    ("process-data", "driver/a.c", "int x = 3;\n", 1),
    ("process-data", "python/a.c", "extern int x;\n", 1),
    ("process-data", "python/a.c", "static PyObject *cache = NULL;\n", 1),
    ("process-data", "python/a.c", "static const char *names[] = {0};\n", 1),
    ("process-data", "python/a.c", "static int (*hook)(int);\n", 1),
    ("process-data", "python/a.c", "static struct {\n    int a;\n} x = {1};\n", 1),
    ("process-data", "python/a.c", "static _Atomic(int) x;\n", 1),
    ("process-data", "python/a.c", "int\nf(void)\n{\n    static int n;\n    ;\n}\n", 4),
    ("process-data", "python/a.c", "ROW(a, (b))\nstatic int x;\n", 2),
    ("process-data", "python/a.c", "ROW(a, (b(c)))\nstatic int x;\n", 2),
    ("process-data", "device/a.c", "int x;\n", 1),
    ("gc-type", "python/a.c", traverse("return 0;"), 7),
    ("gc-type", "python/a.c", traverse("Py_VISIT(((x *)s)->y);"), 7),
    ("gc-type", "python/a.c", "#define SLOTS {Py_tp_traverse, gone}\n", 1),
    ("text-signature", "python/a.c", method('{"go", f, METH_NOARGS, NULL}'), 3),
    ("text-signature", "python/a.c", method('{"go", f, METH_NOARGS}'), 3),
    ("text-signature", "python/a.c", method('{"go", f, METH_NOARGS, "Go."}'), 3),
    (
        "text-signature",
        "python/a.c",
        method('{"go", f, METH_O, "go()\\n--\\n\\nGo."}'),
        3,
    ),
    ("text-signature", "python/a.c", method(f'{{"went", f, METH_O, {SIGNED}}}'), 3),
    (
        "text-signature",
        "python/a.c",
        method('{"go", f, METH_O, "go($self)\\n--\\n\\n"}'),
        3,
    ),
    ("text-signature", "python/a.c", method('{"go", f, METH_O, missing_doc}'), 3),
    ("text-signature", "python/a.c", method("UNKNOWN(go)"), 3),
    ("cuda-version", "driver/a.c", "\n#if CUDA_VERSION >= 12000\n#endif\n", 2),
    ("cuda-version", "driver/a.c", "#if 1\n#elif defined(CUDART_VERSION)\n#endif\n", 2),
    ("reason", "python/a.c", "/* why */\n\nvoid f(void) { PyErr_Clear(); }\n", 3),
    ("reason", "driver/a.c", "void f(void) { (void)drv.MemFree(0); }\n", 1),
    ("process-end", "python/a.c", "void f(void) { abort(); }\n", 1),
    ("process-end", "driver/a.c", "void\nf(void)\n{\n    exit(1);\n}\n", 4),
    ("process-end", "python/a.c", 'void f(void) { Py_FatalError("no"); }\n', 1),
    ("cxx-source", "driver/a.cpp", "int x;\n", 1),
    ("cxx-source", "python/a.hpp", "int x;\n", 1),
    ("function-length", "driver/a.c", "\n" + function(81), 2),
    ("unfinished", "driver/a.c", f"\n/* {'TO'}DO: more */\n", 2),
    ("unfinished", "driver/a.c", f"/* {'FIX'}ME */\n", 1),
]


@pytest.mark.parametrize("rule, name, text, line", BROKEN)
def test_broken(rule, name, text, line, tmp_path):
    files = {C + name: text, C + "python/support/base.h": "#include <Python.h>\n"}
    assert problems(tmp_path, files) == [(rule, C + name, line)]


def test_waiting_calls_are_found(tmp_path):
    rows = """
    X(MemFree, cuMemFree_v2, 3020, ONE, REQUIRED(NOGIL), MEMORY(dptr), FREES,  \\
      SPAN(FREE, NULL, 0), (CUdeviceptr, dptr))                                \\
    X(MemGetInfo, cuMemGetInfo_v2, 3020, ONE, REQUIRED(GIL), CONTEXT, PLAIN,   \\
      NO_SPAN, (size_t *, free), (size_t *, total))                            \\
    X(MemAlloc, (cuMemAlloc_v2, cuMemAlloc, 2000), 3020, ONE,                  \\
      REQUIRED(QUEUE), CONTEXT, ALLOCATES, NO_SPAN, (CUdeviceptr *, dptr))
"""
    files = {
        C + "abi/functions.h": rows,
        C + "driver/b.c": "void f(void) { drv.MemFree(0); }\n",
        C + "python/support/base.h": "#include <Python.h>\n",
        C + "python/a.c": """
void f(void)
{
    drv.MemGetInfo(0, 0);
    PCU_STATUS(status, MemFree, (0));
    status = drv.MemFree(0);
    status = drv.MemAlloc(0, 0);
    /* keeps the lock: a reason */
    status = drv.MemAlloc(0, 0);
}
""",
    }
    found = [("waiting-call", C + "python/a.c", line) for line in (6, 7)]
    assert problems(tmp_path, files) == found


def test_python_marks_are_found(tmp_path):
    files = {"pycuda/a.py": f"# {'HA'}CK\n", "test/a.py": f"\n\n{'X'}XX = 1\n"}
    assert problems(tmp_path, files) == [
        ("unfinished", "pycuda/a.py", 1),
        ("unfinished", "test/a.py", 3),
    ]


def test_python_header_through_others(tmp_path):
    files = {
        C + "device/api/entry/a.c": '#include "python/support/base.h"\n',
        C + "driver/a.c": '#include "driver/b.h"\n',
        C + "driver/b.h": '\n#include "python/support/c.h"\n',
        C + "python/support/c.h": '#include "python/support/base.h"\n',
        C + "python/support/base.h": "#include <Python.h>\n",
    }
    assert problems(tmp_path, files) == [
        ("include-order", C + "device/api/entry/a.c", 1),
        ("python-header", C + "device/api/entry/a.c", 1),
        ("python-header", C + "driver/a.c", 1),
        ("include-order", C + "driver/b.h", 2),
        ("python-header", C + "driver/b.h", 2),
    ]


# -- layers ----------------------------------------------------------------------------

#: Files whose includes and imports follow the order: (path, text).
LAYERED = {
    C + "abi/facts.h": "",
    C + "tables/rows.h": "",
    C + "driver/low.h": '#include "abi/facts.h"\n',
    C + "python/support/base.h": '#include "driver/low.h"\n#include "tables/rows.h"\n',
    C + "python/driver/stream.h": '#include "python/support/base.h"\n',
    C + "python/driver/stream.c": '#include "python/driver/stream.h"\n',
    C + "python/driver/memory/pool.c": '#include "python/driver/stream.h"\n',
    C + "python/array/ops/ufunc.h": '#include "python/support/base.h"\n',
    C + "device/ptx/ir.h": '#include "tables/rows.h"\n',
    C + "device/machine/warp/run.h": '#include "device/ptx/ir.h"\n',
    C + "device/api/entry/export.c": '#include "device/machine/warp/run.h"\n',
    "pycuda/__init__.py": "",
    "pycuda/_compile/__init__.py": "from pycuda._compile import store\n",
    "pycuda/_compile/store.py": "from pycuda import _driver\n",
    "pycuda/_array/codegen.py": "from pycuda._compile.store import keep\n",
    "pycuda/gpuarray.py": "def f():\n    from pycuda._array import codegen\n",
    "pycuda/sparse/__init__.py": "from pycuda import gpuarray\n",
}


def test_layered_files_pass(tmp_path):
    assert problems(tmp_path, LAYERED) == []


@pytest.mark.parametrize(
    "name, text, rule",
    [
        ("driver/a.c", '#include "python/driver/stream.h"', "include-order"),
        ("python/support/a.h", '#include "python/driver/stream.h"', "include-order"),
        ("python/driver/a.c", '#include "python/array/ops/ufunc.h"', "include-order"),
        ("device/machine/ops/a.c", '#include "driver/low.h"', "include-order"),
        ("python/driver/a.c", '#include "device/ptx/ir.h"', "include-order"),
        ("device/ptx/a.c", '#include "device/machine/warp/run.h"', "include-order"),
        ("device/ptx/a.c", '#include "abi/facts.h"', "include-order"),
        ("python/structs/a.c", '#include "python/support/base.h"', "include-order"),
        ("elsewhere/a.c", '#include "abi/facts.h"', "include-order"),
        ("python/driver/a.c", '#include "stream.h"', "include-order"),
        ("python/driver/a.c", '#include "../support/base.h"', "include-order"),
    ],
)
def test_includes_against_the_order(name, text, rule, tmp_path):
    files = {**LAYERED, C + name: f"\n{text}\n"}
    assert problems(tmp_path, files) == [(rule, C + name, 2)]


def test_a_cycle_of_units(tmp_path):
    """No header includes another one here: x.c and x.h are one unit."""
    files = {
        **LAYERED,
        C + "device/machine/ops/a.h": "",
        C + "device/machine/ops/b.h": "",
        C + "device/machine/ops/c.h": "",
        C + "device/machine/ops/a.c": '#include "device/machine/ops/b.h"\n',
        C + "device/machine/ops/b.c": '#include "device/machine/ops/c.h"\n',
        C + "device/machine/ops/c.c": '\n#include "device/machine/ops/a.h"\n',
    }
    assert problems(tmp_path, files) == [
        ("include-cycle", C + "device/machine/ops/a.c", 1)
    ]
    (found,) = layout.check(tmp_path)
    units = "device/machine/ops/a, device/machine/ops/b, device/machine/ops/c"
    assert found.message == f"these use each other: {units}"


@pytest.mark.parametrize(
    "text",
    [
        "import pycuda.gpuarray",
        "from pycuda import gpuarray",
        "from pycuda.gpuarray import GPUArray",
        "def f():\n    from pycuda import gpuarray",
        "from .. import gpuarray",
        "import importlib\nimportlib.import_module('pycuda.gpuarray')",
        "from pycuda._array.codegen import write",
        "names_at_first_use(globals(), {'pycuda._array.codegen': 'write:_write'})",
        "_public.names_at_first_use(globals(), {'pycuda': 'gpuarray'})",
    ],
)
def test_imports_against_the_order(text, tmp_path):
    path = "pycuda/_compile/link.py"
    line = text.count("\n") + 1
    files = {**LAYERED, path: f"{text}\n"}
    assert problems(tmp_path, files) == [("import-order", path, line)]


def test_a_cycle_of_imports(tmp_path):
    files = {
        **LAYERED,
        "pycuda/scan.py": "\nfrom pycuda import tools\n",
        "pycuda/tools.py": "def f():\n    import pycuda.scan\n",
    }
    assert problems(tmp_path, files) == [("import-cycle", "pycuda/scan.py", 2)]


def test_imports_for_type_checkers_are_imports(tmp_path):
    text = "if TYPE_CHECKING:\n    from pycuda.gpuarray import GPUArray\n"
    assert problems(tmp_path, {**LAYERED, "pycuda/_compile/a.py": text}) == [
        ("import-order", "pycuda/_compile/a.py", 2)
    ]


def test_a_module_must_not_ask_its_package_for_another_module(tmp_path):
    """The package may be in the middle of its own imports."""
    files = {
        **LAYERED,
        "pycuda/sparse/__init__.py": "from pycuda.sparse.csr import a\n",
        "pycuda/sparse/csr.py": "\nfrom pycuda.sparse import _matrix\n",
        "pycuda/sparse/_matrix.py": "",
    }
    assert problems(tmp_path, files) == [
        ("import-cycle", "pycuda/sparse/__init__.py", 1)
    ]
    files["pycuda/sparse/csr.py"] = "import pycuda.sparse._matrix as _matrix\n"
    assert problems(tmp_path, files) == []


def test_files_that_may_hold_data_exist():
    """A row for a file that was renamed would allow nothing and hide nothing."""
    source = ROOT / layout.layers.SOURCE
    names = {*layout.DEVICE_DATA, *layout.DATA_FILES}
    assert sorted(name for name in names if not (source / name).is_file()) == []


def test_every_folder_has_a_layer():
    """A folder that the order does not name would be refused file by file."""
    source = ROOT / layout.layers.SOURCE
    folders = {
        path.parent.relative_to(source).as_posix() for path in source.rglob("*.[ch]")
    }
    named = {*layout.layers.EXTENSION, *layout.layers.DEVICE}
    assert folders - named == set()
    assert {name for name in named if not (source / name).is_dir()} == set()


def test_stale_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "DEVICE_DATA", {"device/a.c": ["x", "y"]})
    files = {C + "device/a.c": "int x;\n", C + "device/a.h": "extern int x;\n"}
    assert problems(tmp_path, files) == [("process-data", C + "device/a.c", 1)]


MACROS = r"""
#define ROW(name) {#name, f_##name, METH_NOARGS, name##_doc}
#define BOTH(name, py) {py, name, METH_O, name##_doc}, \
    {"_" py, name, METH_O, name##_under_doc}
#define DOC(name, py) \
    PyDoc_STRVAR(name##_doc, py "($self, name)\n--\n\nDo; it."); \
    PyDoc_STRVAR(name##_under_doc, "_" py "($self)\n--\n\nDo (it).")
DOC(go, "go");
DOC(f_run, "run");
PyDoc_STRVAR(stop_doc, "stop()\n--\n\nStop.");
static PyMethodDef m[] = {
    ROW(go),
    BOTH(f_run, "run"),
    ROW(stop),
    BOTH(f_run, "ran"),
};
"""


def test_method_rows_through_macros(tmp_path):
    assert problems(tmp_path, {C + "python/a.c": MACROS}) == [
        ("text-signature", C + "python/a.c", 14),
        ("text-signature", C + "python/a.c", 15),
        ("text-signature", C + "python/a.c", 15),
    ]


def test_a_macro_of_the_file_itself_counts(tmp_path):
    other = MACROS.replace("name##_doc}", "no_doc}")
    files = {C + "python/a.c": MACROS, C + "python/b.c": other}
    lines = {(path, line) for _, path, line in problems(tmp_path, files)}
    assert lines == {
        *((C + "python/a.c", line) for line in (14, 15)),
        *((C + "python/b.c", line) for line in (12, 13, 14, 15)),
    }


GOOD = """\
/* {Py_tp_traverse, gone} abort(); PyErr_Clear(); static int x; */
#include "abi/b.h"
typedef struct { int a; int (*call)(int); } thing;
struct other { int b; };
enum { ONE = 1 };
static const int numbers[] = {1, 2};
static const char *const names[] = {"exit(1);", "static int x;"};
static int (*const calls[])(int) = {0};
static _Thread_local thing *current;
static const struct { int a; const char *b; } rows[] = {{1, "}"}};
_Static_assert(sizeof(int) == 4, "int");
__extension__ typedef unsigned __int128 wide;
static int helper(int (*f)(int), void *data);
int pcu_shared(void);
PyDoc_STRVAR(doc, "text");

static inline int
helper(int (*f)(int), void *data)
{
    static const int table[] = {1, 2};
    int x = table[0];

    PyErr_Clear(); /* the caller asked in vain */
    /* Nothing can be done about it. */
    (void)drv.MemFree(0);
    thread_exit(x);
    return f(x);
}
"""


@pytest.mark.parametrize("room", ["driver/a.c", "python/a.c", "device/api/entry/a.c"])
def test_good_source_passes(room, tmp_path):
    assert problems(tmp_path, {C + room: GOOD, C + "abi/b.h": ""}) == []


@pytest.mark.parametrize("name", sorted(layout.DATA_FILES))
def test_the_three_places_may_hold_data(name, tmp_path):
    assert problems(tmp_path, {C + name: "int x;\n"}) == []


def test_good_objects_pass(tmp_path):
    shared = "int\nvisit_all(void *s)\n{\n    Py_VISIT(Py_TYPE(s));\n    return 0;\n}\n"
    files = {
        C + "python/a.c": traverse("return visit_all(s);"),
        C + "python/b.c": shared,
        C + "python/c.c": traverse("Py_VISIT(Py_TYPE(s));")
        + method(
            f'{{"go", (PyCFunction)(void (*)(void))f, METH_CLASS | METH_O, {SIGNED}}}'
        ),
        C + "python/d.c": method(
            '{"go", f, METH_STATIC, go_doc}',
            'PyDoc_STRVAR(go_doc,\n    "go(a, /,\\n b=1)\\n--\\n\\n"\n    "Go.");\n',
        ),
        C + "tables/t.h": "\n" * 2000,
        C + "driver/edge.c": function(80),
    }
    assert problems(tmp_path, files) == []


def test_size_report_runs():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "report_size.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "src/cpp_free_c/driver" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("in all")
