"""What tools/wheels.py does without compiling: versions, headers, its command line.

`make wheels` makes the wheels, and tools/try_wheel.py runs tests with them.
"""

import re
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import wheels  # noqa: E402

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def make_headers(folder, version):
    folder.mkdir(parents=True)
    (folder / "Python.h").write_text("")
    (folder / "patchlevel.h").write_text(f'#define PY_VERSION      "{version}.1+"\n')
    return folder


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No interpreters but those that a test makes."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_versions_are_those_of_the_project():
    assert wheels.versions()[0] == "3.10"
    assert OWN in wheels.versions()


def test_headers_of_this_interpreter():
    folder = Path(sysconfig.get_paths()["include"])
    assert wheels.version_of(folder) == OWN
    assert wheels.headers(OWN, {OWN: str(folder)}) == folder


def test_headers_of_pyenv(nowhere):
    made = make_headers(nowhere / ".pyenv/versions/3.12.9/include/python3.12", "3.12")
    assert wheels.headers("3.12", {}) == made


@pytest.mark.parametrize("version", ["3.99", "3.13"])
def test_missing_headers_and_headers_of_another_version(nowhere, version):
    folder = make_headers(nowhere / "include", "3.14")
    with pytest.raises(wheels.Failure, match=rf"--headers {version}=FOLDER"):
        wheels.headers(version, {})
    with pytest.raises(wheels.Failure, match=rf"CPython {version} .* not in .*include"):
        wheels.headers(version, {version: str(folder)})
    assert wheels.headers("3.14", {"3.14": str(folder)}) == folder


def test_the_two_folders_of_debian(tmp_path):
    """The folder of the C library's headers is not among them."""
    folder = make_headers(tmp_path / "usr/include/python3.14", "3.14")
    assert wheels.of_debian(folder, "aarch64", tmp_path / "links") is None
    other = tmp_path / "usr/include/x86_64-linux-gnu/python3.14"
    other.mkdir(parents=True)
    (other / "pyconfig.h").write_text("of x86")
    (tmp_path / "usr/include/stdio.h").write_text("")
    for machine in wheels.MACHINES * 2:
        place = wheels.of_debian(folder, machine, tmp_path / "links")
        assert place == tmp_path / "links"
        part = place / f"{machine}-linux-gnu" / "python3.14" / "pyconfig.h"
        assert part.read_text() == "of x86"
    assert {path.name for path in place.iterdir()} == {
        "aarch64-linux-gnu",
        "x86_64-linux-gnu",
    }


#: The macros that differ between the pyconfig.h of x86-64 and of aarch64, in Debian's
#: builds of CPython 3.11, 3.13 and 3.14. In 3.10 pyport.h has a macro for files of the
#: interpreter itself, which depends on HAVE_GCC_ASM_FOR_X87. No extension uses it.
DIFFERENT = (
    "HAVE_GCC_ASM_FOR_X64",
    *(["HAVE_GCC_ASM_FOR_X87"] if sys.version_info >= (3, 11) else []),
    "PY_SUPPORT_TIER",
    "_Py_HACL_CAN_COMPILE_VEC128",
    "_Py_HACL_CAN_COMPILE_VEC256",
)


def test_headers_of_one_machine_serve_for_the_other():
    """No public header asks for a macro that differs. That of macOS is not included."""
    folder = Path(sysconfig.get_paths()["include"])
    texts = [
        path.read_text(encoding="utf-8")
        for path in [*folder.glob("*.h"), *folder.glob("cpython/*.h")]
        if path.name not in ("pyconfig.h", "pymacconfig.h")
    ]
    assert len(texts) > 80
    used = set(re.findall(r"\w+", " ".join(texts)))
    assert not used.intersection(DIFFERENT)
    assert "SIZEOF_WCHAR_T" in used or "Py_DEBUG" in used


def test_the_compiler_is_asked_for_the_machine_and_the_c_library(tmp_path):
    found = wheels.environment("aarch64", "3.12", [tmp_path], "/place/link")
    assert "-target aarch64-linux-gnu.2.28" in found["CC"]
    assert found["LDSHARED"] == "/place/link -shared"
    assert found["CFLAGS"].startswith(f"-I{tmp_path}")
    assert found["SETUPTOOLS_EXT_SUFFIX"] == ".cpython-312-aarch64-linux-gnu.so"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--python", "3.9"], "does not name CPython 3.9"),
        (["--machine", "ppc64le"], "ppc64le"),
        (["--headers", "folder"], "takes 3.N=FOLDER"),
    ],
)
def test_wrong_command_lines(words, text, capsys):
    with pytest.raises(SystemExit) as caught:
        wheels.main(words)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err


def test_a_wheel_that_fails_is_named_and_counted(nowhere, tmp_path, capsys):
    words = ["--python", "3.13", "--machine", "aarch64", "--out", str(tmp_path / "out")]
    words += ["--headers", "3.13=/nonexistent"]
    assert wheels.main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("CPython 3.13, aarch64: the headers of CPython 3.13")


def test_the_errors_of_a_compiler_are_shown_without_its_command():
    lines = ["compiling", "a.c:3: error: no x", "more", f"error: {'a.o ' * 500}"]
    assert wheels.complaint_in("\n".join(lines)) == "a.c:3: error: no x"
    assert wheels.complaint_in("\n".join(map(str, range(50)))).startswith("30\n31")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pycuda-1-cp311-cp311-manylinux_2_27_aarch64.whl", None),
        ("pycuda-1-cp311-cp311-manylinux_2_28_aarch64.whl", None),
        ("pycuda-1-cp311-cp311-manylinux_2_34_aarch64.whl", "needs glibc 2.34, later"),
        ("pycuda-1-cp311-cp311-manylinux_2_27_x86_64.whl", "no C library"),
        ("pycuda-1-cp311-cp311-linux_aarch64.whl", "no C library"),
    ],
)
def test_the_tag_that_auditwheel_finds(name, text):
    if text is None:
        wheels.check_tag(name, "aarch64")
        return
    with pytest.raises(wheels.Failure, match=text):
        wheels.check_tag(name, "aarch64")


def test_without_a_linker_for_the_machine(nowhere, tmp_path):
    with pytest.raises(wheels.Failure, match="package gcc-aarch64-linux-gnu has it"):
        wheels.linker("aarch64", tmp_path)
