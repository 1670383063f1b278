"""What pages, messages and CI files say about installing is true.

On the Python Package Index the name ``pycuda`` belongs to another package. So no line
installs this package by its name, except where ``ALLOWED`` says so.
"""

import re
import subprocess
import sys

import pytest

from pycuda import __version__, _extras
from support.pages import DOC
from support.pyproject import dependency_groups, project

ROOT = DOC.parent
FOLDERS = ("doc", "pycuda", "examples", "src", "tools", "bench", ".ci")
KINDS = {".rst", ".py", ".pyi", ".inc", ".ipynb", ".yml", ".c", ".h", ".sh", ".hpp", ""}

#: A command of pip that names the package as the index does, also if a line ends in it.
BY_NAME = re.compile(
    r"""pip[\d.]*["'`,]*\s+(?:"\s*f?")?["'`]*install\b[^\n|;&]*?"""
    r"""(?:\s+(?:"\s*f?")?)[\\"'`]*pycuda(?![\w/.-])[^\n]*"""
)
#: The name with an extra in brackets, which a message would ask to install.
WITH_EXTRA = re.compile(r"\bpycuda\[[a-z,]+\]")

#: The lines that may name the package so, by file.
ALLOWED = {
    # the box about the name, and the line for a package that is installed already
    "doc/install.rst": [
        "pip install pycuda`` installs the original, not this package. Both are "
        "imported as",
        'pip install "pycuda[fft]"``',
        # the table of what such lines do
        "pip install pycuda``",
        "pip install --upgrade pycuda``",
        "pip install --force-reinstall pycuda``, ``uv pip install --reinstall pycuda``",
        "pip install PACKAGE``, where PACKAGE requires ``pycuda>=2022`` or",
        # pip sees the folder only, not the index
        'pip install --no-index --find-links wheelhouse "pycuda[nvrtc]"',
    ],
}


def lines_by_name(text):
    """Return the commands in a text that install the package by its name."""
    found = [match[0].strip() for match in BY_NAME.finditer(text)]
    more = [match[0] for match in WITH_EXTRA.finditer(text)]
    return found, [each for each in more if not any(each in line for line in found)]


def files():
    yield ROOT / "README.rst"
    yield ROOT / "Makefile"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            made = {"_build", "__pycache__"} & set(path.parts)
            if path.is_file() and path.suffix in KINDS and not made:
                yield path


def test_no_line_installs_the_package_by_its_name():
    seen, wrong = 0, {}
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(errors="replace")
        seen += 1
        commands, words = lines_by_name(text)
        if commands != ALLOWED.get(name, []) or words:
            wrong[name] = commands + words
    assert seen > 1000
    assert wrong == {}


@pytest.mark.parametrize(
    "text",
    [
        "``pip install pycuda[nvrtc]`` brings NVRTC",
        '      - run: pip install "pycuda[nvrtc]" pytest',
        '      - run: pip install pycuda "cuda-core[cu13]" pytest',
        "python3 -m pip install pycuda",
        '"install it: pip install "\n            "pycuda[nvcc]; or set X"',
        "install it: {python} -m pip install --force-reinstall pycuda",
        "the extra pycuda[fft]",
        "with ``pip install\npycuda[linalg]``",
    ],
)
def test_a_line_that_fetches_the_original_is_seen(text):
    assert any(lines_by_name(text))


@pytest.mark.parametrize(
    "text",
    [
        'python -m pip install ".[nvrtc]"',
        'python -m pip install "./pycuda-2026.1+c.1-...whl[nvrtc]"',
        'pip install "./wheels/pycuda-2026.1+c.1-cp312-cp312-x.whl[nvrtc]" pytest',
        "install the CUDA toolkit, or 'pip install nvidia-curand'",
        'pip install "cuda-toolkit[cufft]==13.*"',
    ],
)
def test_a_true_line_is_none(text):
    assert not any(lines_by_name(text))


# -- extras and groups -----------------------------------------------------------------

ROW = re.compile(
    r"^   \* - ``([\w-]+)``\n     - (.*(?:\n       .*)*)\n     - (.*(?:\n       .*)*)",
    re.M,
)


#: The extras that install NVIDIA's wheels.
OF_CUDA = ("nvrtc", "nvcc", "blas", "linalg", "fft", "curand", "nccl")


def section():
    """Return the section about extras of the page about installing."""
    page = (DOC / "install.rst").read_text()
    return page.partition(".. _extras:")[2].partition("\n\n\n")[0]


def test_the_table_has_all_extras():
    extras = project()["optional-dependencies"]
    rows = {
        name: re.findall(r"``(.+?)``", what) for name, what, _ in ROW.findall(section())
    }
    assert len(rows) >= 11
    assert rows == {name: extras[name] for name in rows}
    others = {f"{name}-{cuda}" for name in OF_CUDA for cuda in ("cu12", "cu13")}
    assert {*extras} == {*rows, *others}


def test_each_extra_of_cuda_exists_for_cuda_12_and_13():
    """A requirement of CUDA 12 names no part that the toolkit 12 lacks."""
    extras = project()["optional-dependencies"]
    for name in OF_CUDA:
        assert extras[f"{name}-cu13"] == extras[name]
        (new,), (old,) = extras[name], extras[f"{name}-cu12"]
        assert parts_of(old) == [x for x in parts_of(new) if x not in ("nvvm", "crt")]
        assert re.search(r"==12\.\*|<13$|-cu12>=", old), old
        assert re.search(r"==13\.\*|-cu13>=", new), new


def parts_of(requirement):
    """Return the parts of the toolkit that a requirement names."""
    listed = re.search(r"\[(.*)\]", requirement)
    return listed[1].split(",") if listed else []


def test_the_page_has_all_dependency_groups():
    page = (DOC / "install.rst").read_text()
    text = page.partition("the dependency groups of")[2].partition("``make``")[0]
    named = {*re.findall(r"``(\w+)``(?=,| \(| and)", text)}
    assert named == {*dependency_groups()}


def test_the_makefile_names_groups_that_exist():
    lines = re.findall(
        r"tools/requires\.py ([\w ]+) >", (ROOT / "Makefile").read_text()
    )
    assert len(lines) >= 6
    for line in lines:
        assert requirements(*line.split())
    with pytest.raises(subprocess.CalledProcessError):
        requirements("nothing")


def test_a_group_has_the_requirements_of_the_groups_that_it_includes():
    audit = requirements("audit")
    assert audit
    assert {*audit} < {*requirements("dist")} and {*audit} < {*requirements("wheels")}
    assert requirements("dist", "audit") == requirements("dist")


def requirements(*names):
    """Return what tools/requires.py prints."""
    command = [sys.executable, ROOT / "tools" / "requires.py", *names]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_the_pages_name_extras_that_exist():
    extras = project()["optional-dependencies"]
    named = {}
    for path in DOC.rglob("*.rst"):
        for name in re.findall(r"\bextra\s+``([\w-]+)``", path.read_text()):
            named.setdefault(name, path)
    assert {"nvrtc", "fft", "blas", "linalg", "curand", "nccl", "mpi"} <= {*named}
    assert {*named} <= {*extras}


# -- messages --------------------------------------------------------------------------


def test_the_messages_name_what_the_extras_install():
    extras = project()["optional-dependencies"]
    assert {name: [wheels] for name, wheels in _extras.WHEELS.items()} == {
        name: extras[name] for name in _extras.WHEELS
    }
    assert _extras.command("nvrtc", again=True) == (
        f'pip install --force-reinstall "{extras["nvrtc"][0]}"'
    )


@pytest.mark.parametrize(
    ("file", "extra"),
    [
        ("array/collective/library.c", "nccl"),
        ("array/fourier/cufft.c", "fft"),
        ("array/product/blas.c", "blas"),
    ],
)
def test_the_messages_in_c_name_what_the_extras_install(file, extra):
    text = (ROOT / "src" / "cpp_free_c" / "python" / file).read_text()
    literal = re.sub(r'"\s*\n\s*"', "", text)
    (wheels,) = project()["optional-dependencies"][extra]
    assert f'pip install \\"{wheels}\\"' in literal


# -- CI files --------------------------------------------------------------------------


def test_the_ci_files_install_a_wheel():
    tag = "manylinux_2_28_x86_64"
    found = sorted((ROOT / "examples" / "ci").glob("*.yml"))
    assert len(found) >= 6
    for path in found:
        text = path.read_text()
        python = "cp3" + re.search(r'python-version: "3\.(\d+)"', text)[1]
        name = f"pycuda-{__version__}-{python}-{python}-{tag}.whl"
        installs = re.findall(r"pip install (.*)", text)
        assert installs, path
        for line in installs:
            assert line.startswith(f'"./wheels/{name}'), path
    assert tag in (DOC / "install.rst").read_text()
