"""From CUDA C to a loaded module: ``compile`` and ``SourceModule``.

The compiler runs only if the cache has no answer. What decides about that is the
source, the options, the identity of the compiler, the variables it obeys and the
content of every file it read.
"""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from pycuda import _cache, _nvcc, _toolkit

if TYPE_CHECKING:
    from typing_extensions import Self

    from pycuda._driver import Function, Linker, Module, jit_input_type, jit_option

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

_TARGETS = ("cubin", "ptx", "fatbin")
_COMPILERS = ("nvcc", "nvrtc")
_SOFTWARE_DEVICE = "PyCUDA software device"
_ARCH_OPTIONS = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")
_FILE_OPTIONS = frozenset(
    ("-include", "--pre-include", "--include-path", "-isystem", "--system-include")
    + ("-optf", "--options-file", "-ccbin", "--compiler-bindir")
)
# The last toolkit for devices below a capability (times ten), newest first.
_LAST_TOOLKITS = ((75, "12.9"), (50, "11.8"), (35, "10.2"), (30, "8.0"))

# Of jit_input_type.
_INPUT_PTX, _INPUT_LIBRARY = 1, 4
_LIBRARY_PATTERN = "lib%s.a"
_LIBRARY_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_runtime/lib")
_RELOCATABLE = frozenset(("-rdc=true", "--relocatable-device-code=true"))

# Variables that CUDA 12 took out of the language; pycuda-textures.hpp has them.
_REFERENCE = re.compile(r"\b(texture|surface)\s*<")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

# Which compiler stands in for one that was not found, by what was looked for where.
_replaced = {}


def _find_pycuda_include_path():
    """Return the directory of the headers for device code."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda")


def _search_on_path(filenames):
    """Return the first program on PATH that has one of these names, or None."""
    return _nvcc.on_path(filenames)


def _find_nvcc_on_path():
    return _search_on_path(["nvcc"])


def _new_md5():
    import hashlib

    return hashlib.md5(usedforsecurity=False)


def _get_per_user_string():
    return f"uid{os.getuid()}"


def get_nvcc_version(nvcc: str) -> str:
    """Return what ``nvcc --version`` prints; asked once for each binary."""
    return _nvcc.Tool(nvcc).facts(_cache.resolve_dir(None)).version


def preprocess_source(source, options, nvcc):
    """Return the source after nvcc's preprocessor."""
    return _nvcc.preprocess(_nvcc.find(nvcc), source, options)


def compile_plain(
    source, options, keep, nvcc, cache_dir, target="cubin", compiler=None
):
    """Compile a text as it is, with exactly these options.

    A false ``cache_dir`` does without the cache. ``keep`` compiles even if the cache
    has the result, since its point is the files that the compiler leaves.
    """
    tool = _choose(nvcc, compiler)
    entry = None
    if cache_dir:
        facts = tool.facts(cache_dir)
        entry = os.path.join(
            cache_dir, f"{_key(source, options, target, facts)}.{target}"
        )
        image = None if keep else _cache.load(entry)
        if image is not None:
            return image

    image, read, started_ns, chatter = tool.run(source, options, target, keep)
    if entry and read is not None:
        manifest = _cache.make_manifest(
            source, read, _search_dirs(options), facts.toolkit_dirs, started_ns
        )
        if manifest is not None:
            _cache.store(entry, manifest, image)
    _tell(chatter)
    return image


def _choose(nvcc, compiler):
    """Return the tool to compile with.

    ``compiler`` is "nvcc" or "nvrtc", by default what PYCUDA_COMPILER says, else nvcc.
    If that one is missing the other is taken, which is said once, unless ``nvcc`` names
    a certain program.
    """
    asked = compiler or os.environ.get("PYCUDA_COMPILER") or "nvcc"
    if asked not in _COMPILERS:
        raise ValueError(
            f"the compiler is one of {', '.join(_COMPILERS)}, not {asked!r}"
        )
    if asked == "nvcc" and nvcc != "nvcc":
        return _nvcc.Tool(nvcc)
    place = (asked, os.environ.get("PATH"), os.environ.get("CUDA_HOME"))
    if place in _replaced:
        return _make_tool(_replaced[place], nvcc)

    from pycuda.driver import CompilerNotFoundError

    try:
        return _make_tool(asked, nvcc)
    except CompilerNotFoundError as missing:
        other = "nvrtc" if asked == "nvcc" else "nvcc"
        try:
            tool = _make_tool(other, nvcc)
        except CompilerNotFoundError as also_missing:
            missing.msg += f" Nor can {other} do its work: {also_missing.msg}"
            raise missing from None
    _replaced[place] = other
    warnings.warn(
        f"{asked} was not found, so {other} ({tool.path}) compiles instead",
        stacklevel=_cache.outside(),
    )
    return tool


def _make_tool(name, nvcc):
    if name == "nvcc":
        return _nvcc.Tool(nvcc)
    from pycuda import _nvrtc

    return _nvrtc.Tool()


def _key(source, options, target, facts):
    environ = os.environ
    return _cache.key_of(
        source,
        facts.version,
        target,
        os.uname().machine,
        os.getcwd() if _depends_on_cwd(options) else "",
        *(environ.get(name, "") for name in _nvcc.ENVIRONMENT),
        *options,
    )


def _depends_on_cwd(options):
    """Say whether an option may name a file relative to the current directory.

    Taking one for a file that is none costs a recompilation elsewhere; the reverse
    would give another directory's result.
    """
    for option in options:
        name, _, value = option.partition("=")
        if option.startswith("-I"):
            value = option[2:]
        elif not option.startswith("-"):
            value = option
        elif name not in _FILE_OPTIONS and "/" not in value and "-I" not in value:
            continue
        if value and not os.path.isabs(value):
            return True
    return False


def _search_dirs(options):
    """Return the directories that ``-I`` options name, in order."""
    names = ("-I", "--include-path")
    found = []
    for number, option in enumerate(options):
        if option in names:
            value = "".join(options[number + 1 : number + 2])
        elif option.startswith("--include-path="):
            value = option.partition("=")[2]
        elif option.startswith("-I"):
            value = option[2:].removeprefix("=")
        else:
            continue
        found += [os.path.abspath(part) for part in value.split(",") if part]
    return found


def _tell(chatter):
    """Pass on what a compiler said though it succeeded."""
    text = chatter.strip()
    if not text:
        return
    if "demoted" in text.lower() or "demoting" in text.lower():
        warnings.warn(
            "the compiler turned double into float; an architecture of 1.3 or more "
            "(arch=) has double",
            stacklevel=_cache.outside(),
        )
    warnings.warn(
        f"The CUDA compiler succeeded, but said the following:\n{text}",
        stacklevel=_cache.outside(),
    )


def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Iterable[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | Literal[False] | None = None,
    include_dirs: Iterable[str] | None = None,
    target: Literal["cubin", "ptx", "fatbin"] = "cubin",
    compiler: str | None = None,
) -> bytes:
    """Compile CUDA C and return the image as bytes.

    ``options`` defaults to DEFAULT_NVCC_FLAGS, ``arch`` to the current context's device
    (none is given without a context). ``target`` is "cubin", "ptx" or "fatbin".
    ``compiler`` is "nvcc" or "nvrtc", by default what PYCUDA_COMPILER says, else nvcc.
    Raises CompileError.
    """
    if target not in _TARGETS:
        raise AssertionError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")
    wanted = (arch, code, target)
    tools = (nvcc, compiler)
    return _compile(
        source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
    )


def _compile(
    source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
):
    """Do what ``compile`` does.

    ``tools`` is (nvcc, compiler). ``wanted`` is (arch, code, target); a target of None
    is whatever the device can load.
    """
    from pycuda import driver

    options = _list_of(options, "options", DEFAULT_NVCC_FLAGS)
    cache_dir = _cache.resolve_dir(cache_dir)
    if driver.CUDA_DEBUGGING:
        cache_dir, keep = None, True
        options += ["-g", "-G"]

    device = _current_device(driver)
    arch, code, exact = wanted
    target = exact or "cubin"
    if device and exact is None and device.software:
        target, code = "ptx", None
    if arch is None and device and not _names_arch(options):
        facts = _choose(*tools).facts(cache_dir)
        arch, target = _arch_for(device, facts, exact, target)
    if arch is not None:
        options.append(f"-arch={arch}")
    if code is not None:
        options.append(f"-code={code}")
    folders = _list_of(include_dirs, "include_dirs", ())
    options += [f"-I{os.path.abspath(folder)}" for folder in folders]
    options.append(f"-I{_find_pycuda_include_path()}")
    nvcc, compiler = tools
    return compile_plain(
        _wrapped(source, no_extern_c), options, keep, nvcc, cache_dir, target, compiler
    )


def _list_of(value, name, default):
    """Return a new list of strings from an argument that must not be one string."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, not one string")
    return [os.fspath(item) for item in (default if value is None else value)]


def _wrapped(source, no_extern_c):
    """Return the text to compile; its messages speak of the user's own lines."""
    text = source.decode() if isinstance(source, bytes) else str(source)
    lead = _reference_header(text)
    line = f'#line 1 "{_nvcc.SOURCE_NAME}"\n'
    if no_extern_c:
        return f"{lead}{line}{text}\n"
    return f'{lead}extern "C" {{\n{line}{text}\n}}\n'


def _reference_header(text):
    """Return the lines that give texture<> and surface<> to a source that has them.

    The header leaves a compiler alone that has its own. A word that the source does not
    use for a reference stays free for other uses.
    """
    if not _REFERENCE.search(text):
        return ""
    words = set(_REFERENCE.findall(_COMMENT.sub(" ", text)))
    if not words:
        return ""
    free = {"texture", "surface"} - words
    lines = [f"#define PYCUDA_TEXTURES_NO_{word.upper()}\n" for word in free]
    return "".join([*lines, "#include <pycuda-textures.hpp>\n"])


class _Target:
    """The device of the current context, as far as a compiler cares."""

    __slots__ = ("capability", "software")

    def __init__(self, device):
        self.capability = tuple(device.compute_capability())
        self.software = device.name() == _SOFTWARE_DEVICE


def _current_device(driver):
    """Return the current context's device, None without a context or a driver."""
    try:
        return _Target(driver.Context.get_device())
    except driver.Error:
        return None


def _names_arch(options):
    return any(option.partition("=")[0] in _ARCH_OPTIONS for option in options)


def _arch_for(device, facts, exact, target):
    """Return the architecture option for a device, and the target it allows.

    A device that the compiler does not know yet gets PTX of the newest architecture
    below it, which the driver finishes; one that it no longer knows is an error.
    """
    number = 10 * device.capability[0] + device.capability[1]
    if not facts.archs or number in facts.archs:
        virtual = device.software and target == "ptx"
        return f"{'compute' if virtual else 'sm'}_{number}", target
    if number > facts.archs[0] and exact != "cubin":
        below = max(arch for arch in facts.archs if arch < number)
        return f"compute_{below}", "ptx" if target == "cubin" else target
    raise _unsupported(number, facts)


def _unsupported(number, facts):
    from pycuda.driver import CompileError

    def dotted(arch):
        return f"{arch // 10}.{arch % 10}"

    oldest, newest = facts.archs[0], facts.archs[-1]
    if number > oldest:
        advice = (
            "Ask for target='ptx', which the driver finishes, or use a newer toolkit."
        )
    else:
        last = [toolkit for below, toolkit in _LAST_TOOLKITS if number < below]
        advice = f"Use a CUDA toolkit of version {last[-1]} or before." if last else ""
    return CompileError(
        f"this {facts.name} (release {facts.release}) makes code for compute "
        f"capability {dotted(oldest)} to {dotted(newest)}, but the device has "
        f"{dotted(number)}. {advice}",
        [],
    )


class CudaModule:
    """What has ``module``, a loaded module, and hands out its functions."""

    module: Module
    get_global: Callable[[str], tuple[int, int]]

    def _check_arch(self, arch):
        """Warn if the architecture asked for is above the device's."""
        if arch is None:
            return
        from pycuda import driver

        device = _current_device(driver)
        if device is None:
            return
        digits = str(arch).partition("_")[2].rstrip("af")
        if not (digits.isascii() and digits.isdigit()):
            warnings.warn(
                f"the architecture '{arch}' is not one like sm_75, so it was not "
                "compared with the device's",
                stacklevel=_cache.outside(),
            )
        elif divmod(int(digits), 10) > device.capability:
            has = ".".join(map(str, device.capability))
            warnings.warn(
                f"the device has compute capability {has}, less than the architecture "
                f"'{arch}' asked for",
                stacklevel=_cache.outside(),
            )

    def _bind_module(self):
        """Make the module's other methods ours."""
        for name in ("get_global", "get_texref", "get_surfref"):
            if hasattr(self.module, name):
                setattr(self, name, getattr(self.module, name))

    def get_function(self, name: str) -> Function:
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """Compile CUDA C for the current context's device and load it there."""

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Iterable[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | Literal[False] | None = None,
        include_dirs: Iterable[str] | None = None,
        compiler: str | None = None,
    ) -> None:
        from pycuda.driver import module_from_buffer

        self._check_arch(arch)
        wanted = (arch, code, None)
        tools = (nvcc, compiler)
        image = _compile(
            source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
        )
        self.module = module_from_buffer(image)
        self._bind_module()


# Linking


def _library_dirs(nvcc):
    """Return where the toolkit's libraries for device code may be, likely ones first.

    ``nvcc`` is the compiler whose own toolkit counts too.
    """
    environ = os.environ
    machine = os.uname().machine
    roots = [environ.get(name) for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")]
    folders = [
        os.path.join(root, part)
        for root in filter(None, roots)
        for part in ("lib64", "lib")
    ]
    folders += filter(None, environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    folders.append(f"/usr/lib/{machine}-linux-gnu")
    path = _nvcc.on_path([nvcc]) if not os.path.dirname(nvcc) else nvcc
    if path is not None:
        root = os.path.dirname(os.path.dirname(os.path.realpath(path)))
        parts = ("lib64", "lib", f"targets/{machine}-linux/lib")
        folders += [os.path.join(root, part) for part in parts]
    folders += [
        os.path.join(home, part)
        for home in _toolkit.homes()
        for part in ("lib64", "lib", f"targets/{machine}-linux/lib")
    ]
    folders += _toolkit.in_wheels(_LIBRARY_WHEELS)
    return list(dict.fromkeys(map(os.path.abspath, folders)))


class DynamicModule(CudaModule):
    """Compile and gather pieces of code, link them, and load the result.

    The ``add_`` methods and ``link`` return the module, so that calls can be chained.
    ``link_options`` (pairs of jit_option and int), ``message_handler`` and
    ``log_verbose`` are the Linker's. ``cuda_libdir`` is where ``add_stdlib`` looks
    first. Needs a current context on a device of compute capability 3.5 or more, else
    raises RuntimeError.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Iterable[tuple[jit_option, int]] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | Literal[False] | None = None,
        include_dirs: Iterable[str] | None = None,
        message_handler: Callable[[bool, str, str], object] | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
        compiler: str | None = None,
    ) -> None:
        from pycuda.driver import Context, Linker

        linker = Linker(message_handler, link_options, log_verbose)
        capability = Context.get_device().compute_capability()
        if capability < (3, 5):
            raise RuntimeError(
                "linking device code needs compute capability 3.5, and this device "
                f"has {capability[0]}.{capability[1]}"
            )
        self._check_arch(arch)
        self.nvcc = nvcc
        self.keep = keep
        self.no_extern_c = no_extern_c
        self.arch = arch
        self.code = code
        self.cache_dir = cache_dir
        self.include_dirs = include_dirs
        self.compiler = compiler
        self.cuda_libdir = cuda_libdir
        self.libdir: str | None
        try:
            self.libdir, self.libptn = self._locate_cuda_libdir()
        except RuntimeError:
            # Whoever needs no library of the toolkit need not have one.
            self.libdir, self.libptn = None, _LIBRARY_PATTERN
        self.linker: Linker | None = linker
        self.module = None  # type: ignore[assignment]  # until link()

    def _locate_cuda_libdir(self) -> tuple[str, str]:
        """Return the folder of the toolkit's libraries and the pattern of their names.

        Raises RuntimeError if none of the usual places has the device runtime.
        """
        if self.cuda_libdir is not None:
            return os.fspath(self.cuda_libdir), _LIBRARY_PATTERN
        name = _LIBRARY_PATTERN % "cudadevrt"
        for folder in _library_dirs(os.fspath(self.nvcc)):
            if os.path.isfile(os.path.join(folder, name)):
                return folder, _LIBRARY_PATTERN
        raise RuntimeError(
            f"{name} was not found: not in lib64 or lib of CUDA_ROOT, CUDA_HOME or "
            "CUDA_PATH, not on LD_LIBRARY_PATH, not beside nvcc, not in "
            f"/usr/local/cuda and not in NVIDIA's wheels ({_LIBRARY_WHEELS[0]} in "
            "site-packages). Install the CUDA toolkit or 'pip install pycuda[nvrtc]', "
            "or say where it is with cuda_libdir=."
        )

    def _open_linker(self) -> Linker:
        if self.linker is None:
            raise RuntimeError(
                f"this {type(self).__name__} was linked before; that is done once"
            )
        return self.linker

    def add_source(
        self,
        source: object,
        nvcc_options: Iterable[str] | None = None,
        name: str = "kernel.ptx",
    ) -> Self:
        """Compile CUDA C to PTX and add it; ``-rdc=true`` lets it use other pieces."""
        linker = self._open_linker()
        ptx = compile(
            source,
            nvcc=self.nvcc,
            options=nvcc_options,
            keep=self.keep,
            no_extern_c=self.no_extern_c,
            arch=self.arch,
            code=self.code,
            cache_dir=self.cache_dir,
            include_dirs=self.include_dirs,
            target="ptx",
            compiler=self.compiler,
        )
        linker.add_data(ptx, _INPUT_PTX, name)
        return self

    def add_data(
        self, data: bytes, input_type: jit_input_type, name: str = "unknown"
    ) -> Self:
        """Add code in memory."""
        self._open_linker().add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: jit_input_type) -> Self:
        """Add code from a file."""
        self._open_linker().add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> Self:
        """Add a library of the toolkit, such as ``cudadevrt``; OSError without it.

        The software device has the device runtime built in and needs no file for it.
        """
        from pycuda import driver

        linker = self._open_linker()
        path = self.libptn % libname
        device = _current_device(driver)
        if not (libname == "cudadevrt" and device and device.software):
            if self.libdir is None:
                self._locate_cuda_libdir()  # raises, and says where it looked
            path = os.path.join(self.libdir or "", path)
            if not os.path.isfile(path):
                raise FileNotFoundError(errno.ENOENT, "no such library", path)
        linker.add_file(path, _INPUT_LIBRARY)
        return self

    def link(self) -> Self:
        """Link what was added and load it; this can be done once."""
        linker, self.linker = self._open_linker(), None
        self.module = linker.link_module()
        self._bind_module()
        return self

    def get_function(self, name: str) -> Function:
        if self.module is None:
            raise RuntimeError(
                f"this {type(self).__name__} has no functions before link()"
            )
        return self.module.get_function(name)


class DynamicSourceModule(DynamicModule):
    """Compile CUDA C whose kernels launch kernels, link the device runtime, load it."""

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Iterable[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | Literal[False] | None = None,
        include_dirs: Iterable[str] | None = None,
        cuda_libdir: str | None = None,
        compiler: str | None = None,
    ) -> None:
        super().__init__(
            nvcc=nvcc,
            keep=keep,
            no_extern_c=no_extern_c,
            arch=arch,
            code=code,
            cache_dir=cache_dir,
            include_dirs=include_dirs,
            cuda_libdir=cuda_libdir,
            compiler=compiler,
        )
        flags = _list_of(options, "options", DEFAULT_NVCC_FLAGS)
        if not _RELOCATABLE.intersection(flags):
            flags.append("-rdc=true")
        if "-lcudadevrt" not in flags:
            flags.append("-lcudadevrt")
        self.add_source(source, nvcc_options=flags)
        self.add_stdlib("cudadevrt")
        self.link()
