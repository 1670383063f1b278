"""Build the C libraries: a C compiler, Python's headers and numpy; no CUDA toolkit."""

import os
import shlex
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

SOURCE = "src/cpp_free_c"
FLAGS = shlex.split(
    "-std=c11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla"
    # clang joins a product and a sum where the processor can. gcc in C11 does not.
    " -fvisibility=hidden -ffp-contract=off"
)
# Python may ask for all debug data, which doubles the libraries. Line numbers are
# enough, unless CFLAGS has -g, for a debugger.
if "-g" in (sysconfig.get_config_var("CFLAGS") or "").split():
    FLAGS += [] if "-g" in os.environ.get("CFLAGS", "").split() else ["-g1"]
EMULATOR = "pycuda._emulator"
PYTHON = f"{SOURCE}/python/"
# The headers of Python and NumPy take most of the time of a file in python/. This
# header includes them. It is compiled once, for all files there but these.
COMMON, OTHERS = "python/support/base.h", (f"{PYTHON}module.c", f"{PYTHON}structs/")


def files(*rooms, suffixes=(".c",)):
    """Return the files of some folders and of those below them."""
    found = [path for room in rooms for path in Path(SOURCE, room).rglob("*")]
    return sorted(str(path) for path in found if path.suffix in suffixes)


class BuildExt(build_ext):
    """Compiles on all processors, or on as many as --parallel says."""

    user_options = [
        *build_ext.user_options,
        ("separately", None, "compile each C file without the precompiled header"),
        ("progress", None, "print how many files are compiled"),
    ]
    boolean_options = [*build_ext.boolean_options, "separately", "progress"]
    separately = progress = False

    def get_ext_filename(self, fullname):
        """Return the file of an extension: the software device is no Python module."""
        name = super().get_ext_filename(fullname)
        if fullname.rpartition(".")[2] != EMULATOR.rpartition(".")[2]:
            return name
        return os.path.join(os.path.dirname(name), "libpycuda_emulator.so")

    def build_extension(self, ext):
        """Build an extension, or copy what is built in place if that is editable."""
        made = self.get_ext_fullpath(ext.name)
        inplace = self.get_ext_filename(self.get_ext_fullname(ext.name))
        if self.editable_mode and not newer_group(ext.sources + ext.depends, inplace):
            os.makedirs(os.path.dirname(made), exist_ok=True)
            self.copy_file(inplace, made)
        else:
            super().build_extension(ext)

    def build_extensions(self):
        """Compile the files of all extensions, the slowest first, then link."""
        compiler, calls, links = self.compiler, [], []
        compile_file, link = compiler._compile, compiler.link_shared_object
        # The base class calls these for one file and one library at a time.
        compiler._compile = lambda *call: calls.append(call)
        compiler.link_shared_object = lambda *a, **kw: links.append((a, kw))
        jobs, self.parallel = self.parallel or len(os.sched_getaffinity(0)), None
        super().build_extensions()
        calls.sort(key=lambda call: "/handler_" not in call[1])
        with ThreadPoolExecutor(int(jobs)) as pool:
            calls = calls if self.separately else self.precompile(compile_file, calls)
            done = pool.map(lambda call: compile_file(*call), calls)
            for number, _ in enumerate(done, 1):  # an error cancels the files that wait
                if self.progress:
                    print(f"compiled {number} of {len(calls)}", flush=True)
        for arguments, keywords in links:
            link(*arguments, **keywords)

    def precompile(self, compile_file, calls):
        """Compile the common header. Return the calls, with it as the first include."""
        header = os.path.join(self.build_temp, "common.h")
        room = [call for call in calls if call[1].startswith(PYTHON)]
        uses = [call for call in room if not call[1].startswith(OTHERS)]
        for call in uses[:1]:
            Path(header).write_text(f'#include "{COMMON}"\n')
            compile_file(f"{header}.gch", header, ".h", *call[3:])
        rest = [call for call in calls if call not in uses]
        return rest + [(*c[:4], ["-include", header, *c[4]], c[5]) for c in uses]


def extension(name, sources, flags=(), **options):
    """Return an extension, which is built anew if any header changes."""
    options["depends"] = files(".", suffixes=(".h", ".inc"))
    return Extension(name, sources, extra_compile_args=[*FLAGS, *flags], **options)


device = extension(
    EMULATOR,
    files("device"),
    flags=["-O3", "-pthread"],
    include_dirs=[SOURCE],
    # A driver that the program opened has functions of the same names.
    extra_link_args=["-pthread", "-Wl,-Bsymbolic"],
    libraries=["m", "dl"],
)
structs = files("python/structs")
driver = extension(
    "pycuda._driver",
    [path for path in files("driver", "python") if path not in structs],
    include_dirs=[SOURCE, numpy.get_include()],
    libraries=["dl"],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
)
structs = extension("pycuda._pvt_struct", structs, include_dirs=[SOURCE])
extensions = [driver, structs, device]

if __name__ == "__main__":
    setup(ext_modules=extensions, cmdclass={"build_ext": BuildExt})
