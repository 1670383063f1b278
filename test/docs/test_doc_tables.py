"""The tables of names in "From CuPy" and "From Numba" name what exists."""

import importlib
import re

import pytest

from support.pages import DOC

SHORT = {"drv": "pycuda.driver", "np": "numpy"}
MODULES = (
    "array_api", "compiler", "curandom", "elementwise", "fft", "gpuarray", "linalg",
    "nccl", "profile", "reduction", "sparse", "tools",
)  # fmt: skip
SHORT |= {name: f"pycuda.{name}" for name in MODULES}
PAGES = {"from_cupy": 25, "from_numba": 15}
NAME = re.compile(rf"``(?:with )?((?:{'|'.join(SHORT)})(?:\.\w+)+)")


def names(text):
    """Return the names of this package and of NumPy in the right column of tables."""
    rows = re.findall(r"^     - (.*(?:\n       .*)*)", text, re.MULTILINE)
    return [name for row in rows for name in NAME.findall(row)]


def found(name):
    """Return what a name means. A module is imported."""
    first, *rest = name.split(".")
    here = importlib.import_module(SHORT[first])
    for part in rest:
        try:
            here = getattr(here, part)
        except AttributeError:
            here = importlib.import_module(f"{here.__name__}.{part}")
    return here


@pytest.mark.parametrize("page", PAGES)
def test_the_names_exist(page):
    listed = names((DOC / f"{page}.rst").read_text())
    assert len(listed) >= PAGES[page]
    for name in listed:
        assert found(name) is not None


def test_a_wrong_name_is_noticed():
    row = "   * - ``theirs``\n     - ``drv.no_such_name(x)``,\n       ``np.sin``\n"
    assert names(row) == ["drv.no_such_name", "np.sin"]
    with pytest.raises((AttributeError, ImportError)):
        found("drv.no_such_name")
