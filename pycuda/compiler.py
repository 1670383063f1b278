"""From CUDA C to a loaded module: ``compile``, ``SourceModule`` and their relatives.

These are the public names. The work is done in ``pycuda/_compile``: each function here
fills a ``CompileRequest`` and gives it to ``build.py``. That file needs the driver's
module and thereby NumPy, so it is imported by the first compilation, not before.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pycuda import _hide_imports
from pycuda._compile.request import (
    CompileRequest as _CompileRequest,
    list_of as _list_of,
)
from pycuda._warning import pass_on as _pass_on, warn as _warn

if TYPE_CHECKING:
    import hashlib

    from typing_extensions import Self

    from pycuda._compile.build import Compilation
    from pycuda._driver import (
        Context,
        Function,
        Linker,
        Module,
        SurfaceReference,
        TextureReference,
        jit_input_type,
        jit_option,
    )

__all__ = [
    "CudaModule",
    "DEFAULT_NVCC_FLAGS",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile_many",
    "compile_plain",
    "get_nvcc_version",
    "link",
    "preprocess_source",
]
_hide_imports(globals())

#: The options of calls that give none: the words of ``PYCUDA_DEFAULT_NVCC_FLAGS``.
DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

_TARGETS = ("cubin", "ptx", "fatbin")


class _Default(str):
    """A default value that differs from the same text passed by a caller."""

    __slots__ = ()


_DEFAULT_TARGET = _Default("cubin")

# Of jit_input_type.
_INPUT_PTX, _INPUT_LIBRARY = 1, 4


def _find_pycuda_include_path() -> str:
    """Return the directory of the headers for device code."""
    from pycuda._compile.store import HEADERS

    return HEADERS


def _search_on_path(filenames: Iterable[str]) -> str | None:
    """Return the first program on PATH that has one of these names, or None."""
    from pycuda._compile import toolkit

    return toolkit.on_path(filenames)


def _find_nvcc_on_path() -> str | None:
    return _search_on_path(["nvcc"])


def _new_md5() -> hashlib._Hash:
    import hashlib

    return hashlib.md5(usedforsecurity=False)


def _get_per_user_string() -> str:
    return f"uid{os.getuid()}"


def get_nvcc_version(nvcc: str) -> str:
    """Return the output of ``nvcc --version``. A binary runs once for it."""
    from pycuda._compile.nvcc import Tool
    from pycuda._compile.store import resolve_dir

    return Tool(nvcc).facts(resolve_dir(None)).version


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Return the source after nvcc's preprocessor."""
    from pycuda._compile.nvcc import find, preprocess

    return preprocess(find(nvcc), source, options)


def compile_plain(
    source: str,
    options: list[str],
    keep: bool,
    nvcc: str,
    cache_dir: str | None,
    target: str = "cubin",
    compiler: str | None = None,
) -> bytes:
    """Compile a text as it is, with exactly these options.

    A false ``cache_dir`` does without the cache. ``keep`` compiles even if the cache
    has the result, because its purpose is the files that the compiler leaves.
    """
    from pycuda._compile.build import Compilation, build

    compilation = Compilation(source, options, nvcc, compiler, cache_dir or None, keep)
    compilation.choose_tool()
    compilation.target = target
    image, _, messages = build(compilation)
    _pass_on(messages)
    return image


def _default_flags(options: Iterable[str] | None) -> Iterable[str]:
    return DEFAULT_NVCC_FLAGS if options is None else options


def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Iterable[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | Sequence[str] | None = None,
    code: str | None = None,
    cache_dir: str | Literal[False] | None = None,
    include_dirs: Iterable[str] | None = None,
    target: str = _DEFAULT_TARGET,
    compiler: str | None = None,
) -> bytes:
    """Compile CUDA C and return the image as bytes.

    ``options`` defaults to DEFAULT_NVCC_FLAGS, ``arch`` to the current context's device
    (there is no default without a context). A list of several architectures needs the
    target "fatbin". ``target`` is "cubin", "ptx" or "fatbin". Without it the image is
    one that the current device can load: "ptx" on the software device and for a GPU
    newer than the compiler, otherwise "cubin", or "fatbin" for several architectures.
    ``compiler`` is "nvcc" or "nvrtc", by default the value of PYCUDA_COMPILER, else
    nvcc. Raises CompileError.
    """
    from pycuda._compile.build import build_image

    _check_target(target)
    request = _CompileRequest(
        source,
        options=_default_flags(options),
        include_dirs=include_dirs,
        no_extern_c=no_extern_c,
        arch=arch,
        code=code,
        target=None if target is _DEFAULT_TARGET else target,
        linked=False,
        nvcc=nvcc,
        compiler=compiler,
        cache_dir=cache_dir,
        keep=keep,
    )
    return build_image(request)


def _check_target(target: str) -> None:
    if target not in _TARGETS:
        raise AssertionError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")


_ARGUMENTS = frozenset(compile.__annotations__) - {"return"}


def compile_many(
    requests: Iterable[object],
    *,
    workers: int | None = None,
    progress: bool = True,
    **common: Any,
) -> list[bytes]:
    """Compile several sources side by side; return their images, in order.

    A request is a source, or a dict of arguments of ``compile``; ``common`` are
    arguments for all of them. Without a ``target`` the images are those that
    SourceModule would load, so modules made of these sources afterwards come from the
    cache.

    ``workers`` is the number of threads, by default that of processors. On a terminal a
    line shows the progress, unless ``progress`` is false. All sources are compiled,
    even if some of them fail; then the first CompileError is raised.
    """
    from functools import partial

    from pycuda._compile import progress as _progress
    from pycuda._compile.build import build, prepare

    if isinstance(requests, (str, bytes, Mapping)):
        raise TypeError("compile_many takes a list of sources, not one")
    jobs = []
    for each in requests:
        own = {"source": each}
        if isinstance(each, Mapping):
            own = dict(each)
        request = _request_of({**common, **own})
        jobs.append(partial(build, prepare(request)))
    results = []
    if jobs:
        results = _progress.run_all(jobs, workers, progress)
    images: list[bytes] = []
    failed: list[Exception] = []
    for result in results:
        if isinstance(result, Exception):
            failed.append(result)
        else:
            image, _, messages = result
            images.append(image)
            _pass_on(messages)
    if failed:
        first = failed[0]
        if len(failed) > 1 and hasattr(first, "msg"):
            first.msg += f" (and {len(failed) - 1} more of {len(results)} sources)"
        raise first
    return images


def _request_of(arguments: dict[str, Any]) -> _CompileRequest:
    """Return the request for some of the arguments of ``compile``."""
    unknown = arguments.keys() - _ARGUMENTS
    if unknown:
        raise TypeError(f"compile takes no argument {min(unknown, key=str)!r}")
    if "source" not in arguments:
        raise TypeError("compile needs the argument 'source'")
    if arguments.get("target") is not None:
        _check_target(arguments["target"])
    options = _default_flags(arguments.get("options"))
    return _CompileRequest(**{**arguments, "options": options})


def link(
    pieces: Iterable[bytes | str | os.PathLike[str]],
    nvcc: str = "nvcc",
    options: Iterable[str] | None = None,
    keep: bool = False,
    arch: str | Sequence[str] | None = None,
    cache_dir: str | Literal[False] | None = None,
    target: Literal["cubin", "fatbin"] = "cubin",
) -> bytes:
    """Link relocatable device code and return the image as bytes.

    ``pieces`` are cubins, fatbins, PTX, objects or archives made with ``-rdc=true``, as
    bytes or as paths. ``options`` may name libraries (``-lcudadevrt``, ``-L``).
    ``arch`` is one architecture, by default that of the current context's device, or
    with the target "fatbin" several. The result is cached. Needs nvcc; a program
    without it links with DynamicModule, which is also how to link for the software
    device. Raises CompileError.
    """
    from pycuda._compile import nvcc_link

    if target not in ("cubin", "fatbin"):
        raise ValueError(f"the target of linking is cubin or fatbin, not {target!r}")
    request = _CompileRequest(
        None,
        options=() if options is None else options,
        arch=arch,
        target=target,
        nvcc=nvcc,
        compiler="nvcc",
        cache_dir=cache_dir,
        keep=keep,
    )
    return nvcc_link.link(pieces, request)


class CudaModule:
    """The base of classes with a loaded ``module``, whose functions they return.

    Attributes
    ----------
    module : pycuda.driver.Module
        The loaded module.
    get_global : callable
        ``module.get_global``: the address and the size of a variable, in bytes.
    get_texref : callable
        ``module.get_texref``: a texture reference, by its name.
    get_surfref : callable
        ``module.get_surfref``: a surface reference, by its name.
    """

    module: Module
    get_global: Callable[[str], tuple[int, int]]
    get_texref: Callable[[str], TextureReference]
    get_surfref: Callable[[str], SurfaceReference]

    def _check_arch(self, arch: str | Sequence[str] | None) -> None:
        """Warn if the architecture asked for is above the device's."""
        if arch is None or isinstance(arch, (list, tuple)):
            return
        from pycuda._compile import architecture

        device = architecture.current_device()
        if device is None:
            return
        digits = str(arch).partition("_")[2].rstrip("af")
        if not (digits.isascii() and digits.isdigit()):
            _warn(
                f"the architecture '{arch}' is not one like sm_75, so it was not "
                "compared with the device's"
            )
        elif divmod(int(digits), 10) > device.capability:
            has = ".".join(map(str, device.capability))
            _warn(
                f"the device has compute capability {has}, less than the architecture "
                f"'{arch}' asked for"
            )

    def _bind_module(self) -> None:
        """Make the module's other methods attributes of this object."""
        module = self.module
        for name in ("get_global", "get_texref", "get_surfref"):
            if hasattr(module, name):
                setattr(self, name, getattr(module, name))

    def get_function(self, name: str) -> Function:
        """Return the kernel of this name; LogicError if there is none."""
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """Compile CUDA C for the current context's device and load it there.

    ``name_expressions`` are C++ expressions for kernels made from templates, such as
    "scale<float>"; ``get_function`` takes them.
    """

    _compilation: Compilation | None = None
    _context: Context | None = None  # in which the module is, if we know it
    _instances: dict[str, tuple[Module, str]] = {}

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Iterable[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | Sequence[str] | None = None,
        code: str | None = None,
        cache_dir: str | Literal[False] | None = None,
        include_dirs: Iterable[str] | None = None,
        compiler: str | None = None,
        name_expressions: Iterable[str] | None = None,
    ) -> None:
        from pycuda._compile.build import build_module, prepare
        from pycuda._driver import _working_context

        if arch is not None:
            self._check_arch(arch)
        request = _CompileRequest(
            source,
            options=DEFAULT_NVCC_FLAGS if options is None else options,
            include_dirs=include_dirs,
            no_extern_c=no_extern_c,
            arch=arch,
            code=code,
            nvcc=nvcc,
            compiler=compiler,
            cache_dir=cache_dir,
            keep=keep,
        )
        self._compilation = prepare(request)
        names: list[str] = []
        if name_expressions is not None:
            names = _list_of(name_expressions, "name_expressions")
        self.module: Module
        self.module, lowered = build_module(self._compilation, names)
        self._context = _working_context()
        self._instances = {}
        for name, symbol in zip(names, lowered, strict=True):
            self._instances[name] = self.module, symbol
        self._bind_module()

    def get_function(self, name: str) -> Function:
        """Return the kernel of that name.

        A C++ name such as "scale<float>" or "space::kernel" makes the kernel if the
        program has not: it is compiled then, once, into a module of its own, with its
        own copy of the source's variables. ``name_expressions`` makes it share them.
        """
        is_expression = isinstance(name, str) and ("<" in name or "::" in name)
        if self._compilation is None or not is_expression:
            return self.module.get_function(name)
        if name not in self._instances:
            from pycuda._compile.build import build_module

            with self._context or contextlib.nullcontext():
                self._compilation.choose_tool_again()
                module, (symbol,) = build_module(self._compilation, [name])
            self._instances[name] = module, symbol
        module, symbol = self._instances[name]
        return module.get_function(symbol)


class DynamicModule(CudaModule):
    """Compile and gather pieces of code, link them, and load the result.

    The ``add_`` methods and ``link`` return the module, so that calls can be chained.
    ``link_options`` (pairs of jit_option and int), ``message_handler`` and
    ``log_verbose`` are the Linker's. ``cuda_libdir`` is where ``add_stdlib`` looks
    first. Needs a current context on a device of compute capability 3.5 or more, else
    raises RuntimeError.

    Attributes
    ----------
    linker : pycuda.driver.Linker or None
        The linker of the pieces; None after ``link``.
    libdir : str or None
        The folder of the toolkit's libraries; None if it was not found.
    libptn : str
        The pattern of the names of the toolkit's libraries: ``"lib%s.a"``.
    nvcc : str
        The argument of that name: the compiler's command.
    keep : bool
        The argument of that name: whether the compiler's files are kept.
    no_extern_c : bool
        The argument of that name: whether sources are not put into ``extern "C"``.
    arch : str or None
        The argument of that name: the architecture, such as ``"sm_90"``.
    code : str or None
        The argument of that name: the architecture of the binary code.
    cache_dir : str, False or None
        The argument of that name: the folder of the compile cache.
    include_dirs : iterable of str or None
        The argument of that name: more folders of headers.
    compiler : str or None
        The argument of that name: ``"nvcc"`` or ``"nvrtc"``.
    cuda_libdir : str or None
        The argument of that name: the folder of the toolkit's libraries.
    """

    module: Module
    linker: Linker | None
    libdir: str | None
    libptn: str

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
        from pycuda._compile import toolkit
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
        try:
            self.libdir, self.libptn = self._locate_cuda_libdir()
        except RuntimeError:
            # Only a program that adds a library of the toolkit needs the folder.
            self.libdir, self.libptn = None, toolkit.LIBRARY_PATTERN
        self.linker = linker
        self.module = None  # type: ignore[assignment]  # until link()

    def _locate_cuda_libdir(self) -> tuple[str, str]:
        """Return the folder of the toolkit's libraries and the pattern of their names.

        Raises RuntimeError if none of the usual places has the device runtime.
        """
        from pycuda import _extras
        from pycuda._compile import toolkit

        if self.cuda_libdir is not None:
            return os.fspath(self.cuda_libdir), toolkit.LIBRARY_PATTERN
        name = toolkit.LIBRARY_PATTERN % "cudadevrt"
        for folder in toolkit.device_library_folders(os.fspath(self.nvcc)):
            if os.path.isfile(os.path.join(folder, name)):
                return folder, toolkit.LIBRARY_PATTERN
        raise RuntimeError(
            f"{name} was not found: not in lib64 or lib of CUDA_ROOT, CUDA_HOME or "
            "CUDA_PATH, not on LD_LIBRARY_PATH, not beside nvcc, not in "
            "/usr/local/cuda and not in NVIDIA's wheels "
            f"({toolkit.LIBRARY_WHEELS[0]} in site-packages). Install the CUDA toolkit "
            f"or its wheels with '{_extras.command('nvrtc')}', or name its folder with "
            "cuda_libdir=."
        )

    def _open_linker(self) -> Linker:
        if self.linker is None:
            raise RuntimeError(
                f"this {type(self).__name__} was linked before; it can be linked once"
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
        from pycuda._compile import architecture

        linker = self._open_linker()
        path = self.libptn % libname
        device = architecture.current_device()
        if not (libname == "cudadevrt" and device and device.software):
            if self.libdir is None:
                self._locate_cuda_libdir()  # raises an error that names the places
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
        from pycuda._compile.architecture import RELOCATABLE

        flags = _list_of(_default_flags(options), "options")
        if not RELOCATABLE.intersection(flags):
            flags.append("-rdc=true")
        if "-lcudadevrt" not in flags:
            flags.append("-lcudadevrt")
        self.add_source(source, nvcc_options=flags)
        self.add_stdlib("cudadevrt")
        self.link()
