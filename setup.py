"""Build the C extension: a C compiler, Python's headers and numpy; no CUDA toolkit.

Everything else is said in pyproject.toml.
"""

import copy
import os
import re
import sysconfig
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError
from setuptools.modified import newer_group

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
    # clang joins a product and a sum where the processor can. gcc in C11 does not.
    "-ffp-contract=off",
]
EMULATOR = "pycuda._emulator"
#: How the names of the files begin that take longest. They are compiled first.
SLOWEST = "handler_"
#: Files are compiled together up to this many bytes.
TOGETHER = 100_000
#: The first include of files that are compiled together, by extension and first folder.
#: Python.h must precede the headers of the system.
FIRST = {("pycuda._driver", "python"): "python/support/base.h"}


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


def processors():
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class BuildExt(build_ext):
    """Builds as many files at a time as there are processors, or as --parallel says.

    Several C files are compiled as one, which takes less than half of the time: most of
    the time of a small file goes to the headers. If that fails, or with --separately,
    each file is compiled alone. Names the software device's library plainly: it is no
    Python module.
    """

    user_options = [
        *build_ext.user_options,
        ("separately", None, "compile each C file alone, with every warning"),
        ("progress", None, "print how many files are compiled"),
    ]
    boolean_options = [*build_ext.boolean_options, "separately", "progress"]

    def initialize_options(self):
        super().initialize_options()
        self.separately = False
        self.progress = False

    def get_ext_filename(self, fullname):
        package, _, name = fullname.rpartition(".")
        if name == EMULATOR.rpartition(".")[2]:
            return os.path.join(*package.split("."), "libpycuda_emulator.so")
        return super().get_ext_filename(fullname)

    def run(self):
        compiler, jobs = self.compiler, self.parallel
        try:
            super().run()
        except CompileError:
            if self.separately:
                raise
            print("the files do not compile together: compiling each file alone")
            self.separately = True
            self.compiler, self.parallel = compiler, jobs
            super().run()

    def build_extension(self, ext):
        """Build an extension from files that include its sources."""
        files, made = [*ext.sources, *ext.depends], self.get_ext_fullpath(ext.name)
        inplace = self.get_ext_filename(self.get_ext_fullname(ext.name))
        if self.editable_mode and not newer_group(files, inplace):
            # An editable installation builds in a new folder. Reuse the library that
            # `build_ext --inplace` has made.
            os.makedirs(os.path.dirname(made), exist_ok=True)
            self.copy_file(inplace, made)
            return
        if not self.separately:
            # The base class would compare with the files that merge() writes.
            if not self.force and not newer_group(files, made):
                return
            sources, ext = ext.sources, copy.copy(ext)
            ext.sources = self.merge(ext.name, sources)
            ext.depends = [*ext.depends, *sources]
            ext.extra_compile_args = [*ext.extra_compile_args, "-Wno-shadow"]
        super().build_extension(ext)

    def merge(self, name, sources):
        """Write files that include the sources of an extension. Return their names."""
        folder = Path(self.build_temp, "together")
        folder.mkdir(parents=True, exist_ok=True)
        merged = []
        for number, group in enumerate(groups(sources)):
            path = folder / f"{name}_{number:02}.c"
            if os.path.basename(group[0]).startswith(SLOWEST):
                path = folder / f"{SLOWEST}{number:02}.c"
            group = [Path(source).relative_to(SOURCE).as_posix() for source in group]
            first = FIRST.get((name, group[0].partition("/")[0]))
            includes = [*([first] if first and len(group) > 1 else []), *group]
            text = "".join(f'#include "{each}"\n' for each in includes)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            merged.append(str(path))
        return merged

    def build_extensions(self):
        """Compile the files of all extensions, the slowest first, then link."""
        compile_file = self.compiler._compile
        link = self.compiler.link_shared_object
        files, links = [], []
        jobs, self.parallel = int(self.parallel or processors()), None
        # The base class calls these for one file and one library at a time.
        self.compiler._compile = lambda *call: files.append(call)
        self.compiler.link_shared_object = lambda *a, **kw: links.append((a, kw))
        try:
            super().build_extensions()
        finally:
            self.compiler._compile = compile_file
            self.compiler.link_shared_object = link
        files.sort(key=lambda call: not os.path.basename(call[1]).startswith(SLOWEST))
        with ThreadPoolExecutor(jobs) as pool:
            running = [pool.submit(compile_file, *call) for call in files]
            try:
                for number, done in enumerate(as_completed(running), 1):
                    done.result()
                    if self.progress:
                        print(f"compiled {number} of {len(running)}", flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        for arguments, keywords in links:
            link(*arguments, **keywords)


#: What gives a name to something of a file: a function, data, a type, a macro.
DECLARATIONS = (
    r"^([a-z]\w*)\(",
    r"^(?:static|const)\b[^=({;]*\b(\w+) ?(?:\[[^\]]*\] ?)*[=;({]",
    r"^\} ?(\w+)(?:\[[^\]]*\])?(?: =|;)",
    r"^(?:typedef|struct|union|enum)\b[^{;]*\b(\w+)(?:;|\n?\{)",
    r"^#\s*define\s+(\w+)",
)
ENUMERATION = r"^(?:typedef )?enum\b[^{;]*\{([^}]*)\}"


def declared(text):
    """Return the names that a C file gives. It may return a few more words."""
    found = {name for each in DECLARATIONS for name in re.findall(each, text, re.M)}
    for inside in re.findall(ENUMERATION, text, re.M):
        found.update(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", inside))
    return found - {"struct", "union", "enum"}


@dataclass
class Group:
    """Sources that are compiled together."""

    kind: tuple
    sources: list
    size: int
    names: set

    def takes(self, kind, size, names):
        """Return whether another source may join."""
        fits = self.size + size <= TOGETHER and self.names.isdisjoint(names)
        return self.kind == kind and fits


def groups(sources):
    """Return lists of sources that are compiled together.

    The sources of a list have the same first folder, choose the same functions of the C
    library, and give different names. A source is alone if it is slow, or if it chooses
    what a header of all others declares.
    """
    found = []
    for source in sorted(sources):
        text = re.sub(r"/\*.*?\*/", "", Path(source).read_text("utf-8"), flags=re.S)
        folder = Path(source).relative_to(SOURCE).parts[0]
        libc = re.findall(r"^#\s*define (_[A-Z_]+_SOURCE\b.*)$", text, re.M)
        kind, names = (folder, *libc), declared(text)
        if os.path.basename(source).startswith(SLOWEST) or "_IMPORT_NUMPY" in text:
            kind = (source,)
        names -= {line.split()[0] for line in libc}
        for group in found:
            if group.takes(kind, len(text), names):
                group.sources.append(source)
                group.size += len(text)
                group.names |= names
                break
        else:
            found.append(Group(kind, [source], len(text), names))
    return [group.sources for group in found]


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

if __name__ == "__main__":
    setup(ext_modules=extensions, cmdclass={"build_ext": BuildExt})
