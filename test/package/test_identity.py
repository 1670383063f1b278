"""The version of the package, and folders with files of the original PyCUDA."""

import re
import shutil
import statistics
import sys
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import pycuda
from pycuda import _start
from support.child import run_child
from support.pyproject import ROOT

PACKAGE = Path(pycuda.__file__).parent
DRIVER = f"_driver{EXTENSION_SUFFIXES[0]}"
OURS = f"pycuda-{pycuda.__version__}.dist-info"

#: The most that the look for files of the original may take in an import.
MOST_MICROSECONDS = 50


# -- the version -----------------------------------------------------------------------


def test_the_version_is_a_local_one_of_the_release():
    assert re.fullmatch(r"\d+\.\d+\+c\.\d+", pycuda.__version__)
    assert pycuda.VERSION == (2026, 1)
    assert pycuda.VERSION_TEXT == "2026.1"
    assert pycuda.__version__.startswith(f"{pycuda.VERSION_TEXT}+")


def test_the_build_takes_the_version_from_the_package():
    """It reads the file: the package cannot be imported before it is built."""
    code = f"""
        from setuptools.config.pyprojecttoml import read_configuration
        import sys
        found = read_configuration({str(ROOT / "pyproject.toml")!r})
        print(found["project"]["version"], "pycuda" in sys.modules)
    """
    said = run_child(code, PYTHONWARNINGS="ignore").stdout.split()
    assert said == [pycuda.__version__, "False"]


def test_no_other_file_of_the_build_states_the_version():
    names = ("pyproject.toml", "setup.py", "Makefile", "doc/conf.py", "CITATION.cff")
    stating = {
        name
        for name in ("pycuda/__init__.py", *names)
        if re.search(r"\b2026\.1\b", (ROOT / name).read_text(encoding="utf-8"))
    }
    assert stating == {"pycuda/__init__.py"}


# -- files of two packages -------------------------------------------------------------


@pytest.fixture
def site(tmp_path):
    """A folder with the files that an import reads, as pip installs them."""
    made = tmp_path / "pycuda"
    made.mkdir()
    for name in ("__init__.py", "_start.py", "driver.py", DRIVER):
        shutil.copy(PACKAGE / name, made)
    (tmp_path / OURS).mkdir()
    return tmp_path


def import_from(site):
    """Import the package from a folder. Return the last line of what Python says."""
    code = """
        import sys
        sys.path[:] = [path for path in sys.path if path]  # not the current folder
        import pycuda
        print(pycuda.__file__, "importlib.metadata" in sys.modules)
    """
    done = run_child(code, check=False, PYTHONPATH=str(site))
    if done.returncode == 0:
        assert done.stdout.split()[0] == str(site / "pycuda" / "__init__.py")
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def refused(site):
    """Return why the package is refused, "" if it is not."""
    said = import_from(site)
    match = re.fullmatch(
        rf"ImportError: {re.escape(str(site / 'pycuda'))} has files of two "
        r"installations of pycuda, .* \((.*)\): run 'pip uninstall pycuda' until pip "
        "finds none, delete this folder, and install one of the two again",
        said,
    )
    return match[1] if match else ""


def test_an_installation_is_imported(site):
    (site / "pycuda_tools-1.0.dist-info").mkdir()
    (site / "pycuda-notes.txt").touch()
    (site / "pycuda" / "_driver.cpython-39-x86_64-linux-gnu.so").symlink_to(
        site / "pycuda" / DRIVER
    )
    assert import_from(site).endswith("__init__.py False")


@pytest.mark.parametrize("other", ["pycuda-2024.1.dist-info", "pycuda-2022.1.egg-info"])
def test_the_data_of_two_distributions(other, site):
    (site / other).mkdir()
    first, last = sorted((OURS, other))
    assert refused(site) == f"{first} and {last} are beside it"


def test_the_driver_module_of_another_package(site):
    (site / "pycuda" / "driver.py").write_text("from pycuda._driver import *\n")
    assert refused(site) == "driver.py in it is not of this package"


@pytest.mark.parametrize("name", [DRIVER, "_driver.so"])
def test_the_extension_of_another_package(name, site):
    (other,) = PACKAGE.glob(f"_pvt_struct{EXTENSION_SUFFIXES[0]}")
    shutil.copy(other, site / "pycuda" / name)
    assert refused(site) == f"{name} in it is not of this package"


def test_a_checkout_is_not_looked_at(site):
    """Its extension may be of an older commit, and nothing was installed there."""
    (site / "setup.py").touch()
    (site / "pycuda-2024.1.dist-info").mkdir()
    (site / "pycuda" / "driver.py").write_text("")
    assert import_from(site).endswith("__init__.py False")


def test_looking_costs_next_to_nothing(site, monkeypatch):
    """In an environment with 400 packages. The unit is the median of many runs."""
    names = [f"package_{number}-1.0.dist-info" for number in range(400)]
    folders = {
        site: [*names, OURS],
        site / "pycuda": [x.name for x in PACKAGE.iterdir()],
    }
    for folder, inside in folders.items():
        finder = type("Finder", (), {"_path_cache": {*inside}})
        monkeypatch.setitem(sys.path_importer_cache, str(folder), finder)
    assert OURS in _start._names(str(site))
    taken = []
    for _ in range(500):
        begin = time.perf_counter_ns()
        _start._refuse_mixed_files(str(site / "pycuda"))
        taken.append(time.perf_counter_ns() - begin)
    assert statistics.median(taken) / 1e3 < MOST_MICROSECONDS
