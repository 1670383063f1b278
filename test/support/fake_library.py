"""Libraries of the tests that replace NVIDIA's on the software device."""

import ctypes
import shutil
from pathlib import Path

import pytest

from pycuda import _driver
from support import cc

C_FOLDER = Path(__file__).parents[1] / "c"
EMULATOR = "libpycuda_emulator.so"


def build(folder, name, standard):
    """Compile ``test/c/fake_<name>.c`` to ``lib<name>.so`` in a folder."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    path = folder / f"lib{name}.so"
    flags = [f"-std={standard}", "-shared", "-fPIC", "-lm"]
    cc.must(cc.compile_c("cc", [C_FOLDER / f"fake_{name}.c"], path, flags))
    return path


class FakeLibrary:
    """A library of the tests. Its attributes are the numbers that it counts."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        driver = ctypes.CDLL(str(Path(_driver.__file__).parent / EMULATOR))
        wait, found = ctypes.c_void_p(), ctypes.c_int()
        driver.cuGetProcAddress_v2(
            b"cuStreamSynchronize",
            ctypes.byref(wait),
            12000,
            ctypes.c_ulonglong(0),
            ctypes.byref(found),
        )
        self.variable("synchronize", ctypes.c_void_p).value = wait.value

    def variable(self, name, kind=ctypes.c_int):
        """Return the variable ``fake_<name>``."""
        return kind.in_dll(self.library, f"fake_{name}")

    def __getattr__(self, name):
        return self.variable(name).value
