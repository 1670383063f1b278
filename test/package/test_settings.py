"""The variables of the environment that choose one of several words, and numbers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
from pycuda import _driver

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "src/cpp_free_c/tables/settings.h"
ROW = re.compile(r'^ +X\((\w+), +"(PYCUDA_\w+)", +(?:"([^"]*)"|PCU_SWITCH_WORDS), (\d)')


def rows():
    """Yield (variable, words, the usual word) for each row; no words for a switch."""
    for line in TABLE.read_text().splitlines():
        found = ROW.match(line)
        if found:
            words = (found[3] or "").split()
            usual = words[int(found[4])] if words else found[4] == "1"
            yield found[2], words, usual


ROWS = list(rows())
SWITCHES = [row for row in ROWS if not row[1]]
CHOICES = [row for row in ROWS if row[1]]


def test_the_table_is_read():
    assert {"PYCUDA_STRICT", "PYCUDA_LAUNCH_BLOCKING"} < {row[0] for row in SWITCHES}
    assert {"PYCUDA_DRIVER", "PYCUDA_FFT"} < {row[0] for row in CHOICES}
    assert len(ROWS) == TABLE.read_text().count("    X(")


@pytest.mark.parametrize(("name", "words", "usual"), ROWS)
def test_a_variable_that_is_not_set_or_empty(name, words, usual, monkeypatch):
    monkeypatch.delenv(name, raising=False)
    assert _driver._setting(name) == usual
    monkeypatch.setenv(name, "")
    assert _driver._setting(name) == usual


@pytest.mark.parametrize("name", [row[0] for row in SWITCHES])
@pytest.mark.parametrize(
    ("word", "is_on"),
    [
        *((word, True) for word in ("1", "on", "true", "yes", "True", "YES", "On")),
        *((word, False) for word in ("0", "off", "false", "no", "False", "NO", "Off")),
    ],
)
def test_a_switch_accepts_the_usual_words(name, word, is_on, monkeypatch):
    monkeypatch.setenv(name, word)
    assert _driver._setting(name) is is_on


@pytest.mark.parametrize(("name", "words", "usual"), CHOICES)
def test_a_choice_accepts_its_words(name, words, usual, monkeypatch):
    for word in words:
        monkeypatch.setenv(name, word)
        assert _driver._setting(name) == word
        monkeypatch.setenv(name, word.upper())
        assert _driver._setting(name) == word


@pytest.mark.parametrize(("name", "words", "usual"), ROWS)
@pytest.mark.parametrize("value", ["maybe", "2", "tru", "au", " "])
def test_other_words_are_refused(name, words, usual, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=f"^{name} is '{value}'; set it to ") as caught:
        _driver._setting(name)
    for word in words or ("1", "0", "true", "false"):
        assert word in str(caught.value)


def test_a_variable_without_a_row():
    with pytest.raises(KeyError):
        _driver._setting("PYCUDA_CACHE_DIR")


def init(**variables):
    """Return what init() says in a process with these variables, "" for nothing."""
    code = (
        "import pycuda.driver as drv\n"
        "try:\n    drv.init()\n"
        "except drv.Error as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", [row[0] for row in ROWS])
def test_init_refuses_a_wrong_value(name):
    assert f" - {name} is 'maybe'; set it to " in init(**{name: "maybe"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIMEOUT", "soon"),
        ("TIMEOUT", "-1"),
        ("TIMEOUT", "1s"),
        ("TIMEOUT", "nan"),
        ("THREADS", "0"),
        ("THREADS", "-2"),
        ("THREADS", "two"),
        ("THREADS", "2.5"),
        ("SIMD", "999"),
        ("SIMD", "avx2"),
        ("DUMP", "plx"),
    ],
)
def test_init_refuses_a_wrong_number_of_the_software_device(name, value):
    said = init(PYCUDA_DRIVER="emulator", **{f"PYCUDA_EMULATOR_{name}": value})
    assert f' - PYCUDA_EMULATOR_{name} is "{value}"; it must be ' in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIMEOUT", "2.5"),
        ("TIMEOUT", "0"),
        ("TIMEOUT", ""),
        ("THREADS", "1"),
        ("THREADS", "1000"),
        ("SIMD", "best"),
        ("SIMD", "256"),
        ("DUMP", ""),
    ],
)
def test_init_takes_a_right_number_of_the_software_device(name, value):
    assert not init(PYCUDA_DRIVER="emulator", **{f"PYCUDA_EMULATOR_{name}": value})


# -- one place -------------------------------------------------------------------------

#: Files that look at a variable of the table in another way, with the reason.
ELSEWHERE = {
    # It asks the GPU that a plain run uses, and does not load the driver.
    "_command_line.py": {"PYCUDA_DRIVER"},
    # It passes the words on to child processes, and compares with what was asked.
    "pytest_plugin.py": {"PYCUDA_DRIVER"},
    # A cell takes NVRTC unless the variable is set.
    "notebook/_session.py": {"PYCUDA_COMPILER"},
}


def readers(text):
    """Return the variables that a source reads from the environment by itself."""
    return set(re.findall(r'(?:environ\.get\(|environ\[|getenv\()"(PYCUDA_\w+)"', text))


def test_no_other_code_reads_these_variables():
    names = {row[0] for row in ROWS}
    package = Path(pycuda.__file__).parent
    found = {}
    files = [*package.rglob("*.py"), *(ROOT / "src").rglob("*.[ch]")]
    for path in files:
        read = readers(path.read_text()) & names
        if read:
            found[path.relative_to(package).as_posix()] = read
    assert found == ELSEWHERE
    assert readers('x = os.environ.get("PYCUDA_STRICT", "0")') == {"PYCUDA_STRICT"}
    assert readers('x = getenv("PYCUDA_FFT");') == {"PYCUDA_FFT"}


def test_a_switch_that_is_off_in_words_is_off():
    code = """
import numpy as np, pycuda.autoinit, warnings
from pycuda.compiler import SourceModule
f = SourceModule("__global__ void f(float x) {}").get_function("f")
try:
    with warnings.catch_warnings(record=True) as caught:
        f(np.int32(1), block=(1, 1, 1))
    print("warned", len(caught))
except TypeError:
    print("refused")
"""

    def run(word):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYCUDA_STRICT": word},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()[0]

    assert run("false") == run("off") == "warned"
    assert run("true") == "refused"


# -- the page of the variables ---------------------------------------------------------


def described(page):
    """Return the variables that a page lists, each at the beginning of its line."""
    text = (ROOT / "doc" / page).read_text()
    return set(re.findall(r"^``(PYCUDA_[A-Z_]+)``", text, re.MULTILINE))


def named(*folders):
    """Return the variables that the sources in these folders name."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.[pch]*")]
    text = "\n".join(p.read_text() for p in paths if p.suffix in (".py", ".c", ".h"))
    return set(re.findall(r'"(PYCUDA_[A-Z_]*[A-Z])"', text))


def test_the_pages_list_every_variable():
    device = {name for name in named("src") if name.startswith("PYCUDA_EMULATOR_")}
    assert len(device) > 10
    assert device <= described("software_device.rst") | {"PYCUDA_EMULATOR_CHECK"}
    others = named("src", "pycuda") - device
    assert len(others) > 20
    assert others == described("settings.rst")


def test_a_variable_that_a_page_lacks_is_noticed(tmp_path):
    (tmp_path / "new.c").write_text('getenv("PYCUDA_NEW");')
    assert named(tmp_path) - described("settings.rst") == {"PYCUDA_NEW"}
