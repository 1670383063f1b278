"""Build the C extension: a C compiler, Python's headers and numpy; no CUDA toolkit.

Everything else is said in pyproject.toml.
"""

import os
import sysconfig
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = "src/cpp_free_c"
FLAGS = [
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wvla",
    "-fvisibility=hidden",
]
EMULATOR = "pycuda._emulator"


def debug_flags():
    """Return the option for line numbers alone, where Python asks for all debug data.

    With the types of all variables, the libraries are more than twice as large. CFLAGS
    with -g brings them back, for a debugger.
    """
    asked = (sysconfig.get_config_var("CFLAGS") or "").split()
    if "-g" in asked and "-g" not in os.environ.get("CFLAGS", "").split():
        return ["-g1"]
    return []


FLAGS += debug_flags()


class BuildExt(build_ext):
    """Names the software device's library plainly: it is no Python module."""

    def get_ext_filename(self, fullname):
        package, _, name = fullname.rpartition(".")
        if name == EMULATOR.rpartition(".")[2]:
            return os.path.join(*package.split("."), "libpycuda_emulator.so")
        return super().get_ext_filename(fullname)


def files(*rooms, suffixes=(".c",)):
    """Return the files of some folders and of those below them, in order."""
    found = [
        str(path)
        for room in rooms
        for path in Path(SOURCE, room).rglob("*")
        if path.suffix in suffixes
    ]
    return sorted(found)


headers = files(".", suffixes=(".h", ".inc"))


extensions = [
    Extension(
        "pycuda._driver",
        [path for path in files("driver", "python") if "/structs/" not in path],
        include_dirs=[SOURCE, numpy.get_include()],
        depends=headers,
        extra_compile_args=FLAGS,
        libraries=["dl"],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    ),
    Extension(
        "pycuda._pvt_struct",
        files("python/structs"),
        include_dirs=[SOURCE],
        depends=headers,
        extra_compile_args=FLAGS,
    ),
    Extension(
        EMULATOR,
        files("device"),
        include_dirs=[SOURCE],
        depends=headers,
        extra_compile_args=FLAGS + ["-O3", "-pthread"],
        # A driver that the program opened has functions of the same names.
        extra_link_args=["-pthread", "-Wl,-Bsymbolic"],
        libraries=["m", "dl"],
    ),
]

setup(ext_modules=extensions, cmdclass={"build_ext": BuildExt})
