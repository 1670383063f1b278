"""Build the C libraries: a C compiler, Python's headers and numpy; no CUDA toolkit."""

import os
import shlex
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

SOURCE = "src/cpp_free_c"
FLAGS = shlex.split(
    "-std=c11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla"
    # clang joins a product and a sum where the processor can. gcc in C11 does not.
    " -fvisibility=hidden -ffp-contract=off -D_GNU_SOURCE="
)
# Python may ask for all debug data, which doubles the libraries. Line numbers are
# enough, unless CFLAGS has -g, for a debugger.
if "-g" in (sysconfig.get_config_var("CFLAGS") or "").split():
    FLAGS += [] if "-g" in os.environ.get("CFLAGS", "").split() else ["-g1"]
EMULATOR = "pycuda._emulator"
STUB = Path("pycuda", "_driver.pyi")
#: The slowest files, which are compiled first, and alone.
SLOWEST = "handler_"


def files(*rooms, suffixes=(".c",)):
    """Return the files of some folders and of those below them."""
    found = [path for room in rooms for path in Path(SOURCE, room).rglob("*")]
    return sorted(str(path) for path in found if path.suffix in suffixes)


class BuildExt(build_ext):
    """Compiles on all processors, or on as many as --parallel says."""

    user_options = [
        *build_ext.user_options,
        ("separately", None, "compile each C file alone, with every warning"),
        ("progress", None, "print how many files are compiled"),
    ]
    boolean_options = [*build_ext.boolean_options, "separately", "progress"]
    separately = progress = False

    def run(self):
        """Build the extensions, and write their docstrings into the stub of a wheel."""
        super().run()
        folder = Path(self.build_lib, "pycuda")
        if not self.inplace and (folder / STUB.name).exists():
            self.document(folder)

    def document(self, folder):
        """Write the stub with docstrings into a folder.

        They are those of the extension that is built in place if this Python cannot
        import the other one, which is for another version or machine.
        """
        own = self.get_ext_filename("pycuda._driver").endswith(EXTENSION_SUFFIXES[0])
        root = folder.parent if own else Path.cwd()
        script = Path("tools", "stub_docstrings.py")
        try:
            subprocess.run([sys.executable, script, STUB, folder, root], check=True)
        except subprocess.CalledProcessError:
            if own:
                raise
            self.warn("the stub has no docstrings: no extension is built in place")

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
        ext.depends = [*ext.depends, *ext.sources]
        if self.editable_mode and not newer_group(ext.depends, inplace):
            os.makedirs(os.path.dirname(made), exist_ok=True)
            self.copy_file(inplace, made)
            return
        if not self.separately and (self.force or newer_group(ext.depends, made)):
            ext.sources = self.together(ext.sources)
            ext.extra_compile_args = [*ext.extra_compile_args, "-Wno-shadow"]
        super().build_extension(ext)

    def together(self, sources):
        """Write a file for each folder, which includes its sources. Return the files.

        Most of the time of a small file goes to the headers. And the compiler can put
        a function into its callers in other files of the folder.
        """
        texts = {}
        for path in map(Path, sources):
            alone = path.name.startswith(SLOWEST)
            room = path.with_suffix("") if alone else path.parent
            name = os.path.relpath(room, SOURCE).replace(os.sep, "_")
            made = Path(self.build_temp, f"{name}.c")
            texts[made] = f'{texts.get(made, "")}#include "{path.absolute()}"\n'
        for made, text in texts.items():
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text)
        return [str(made) for made in texts]

    def build_extensions(self):
        """Compile the files of all extensions, the slowest first, then link."""
        compiler, calls, links = self.compiler, [], []
        compile_file, link = compiler._compile, compiler.link_shared_object
        # The base class calls these for one file and one library at a time.
        compiler._compile = lambda *call: calls.append(call)
        compiler.link_shared_object = lambda *a, **kw: links.append((a, kw))
        jobs, self.parallel = self.parallel or len(os.sched_getaffinity(0)), None
        super().build_extensions()
        calls.sort(key=lambda call: SLOWEST not in call[1])
        with ThreadPoolExecutor(int(jobs)) as pool:
            done = pool.map(lambda call: compile_file(*call), calls)
            for number, _ in enumerate(done, 1):  # an error cancels the files that wait
                if self.progress:
                    print(f"compiled {number} of {len(calls)}", flush=True)
        for arguments, keywords in links:
            link(*arguments, **keywords)


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
    # The folder by name: an editable installation then is a path, which type checkers
    # read, and no hook of the import system.
    setup(
        package_dir={"": "."},
        ext_modules=extensions,
        cmdclass={"build_ext": BuildExt},
    )
