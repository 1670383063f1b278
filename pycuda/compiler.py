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
    """Return the output of ``nvcc --version``.

    Parameters
    ----------
    nvcc : str
        Name or path of nvcc.

    Returns
    -------
    str
        What the command prints.

    Raises
    ------
    CompileError
        If there is no such program, or if it fails.

    Notes
    -----
    A binary runs once. Its output is kept in the compile cache.
    """
    from pycuda._compile.nvcc import Tool
    from pycuda._compile.store import resolve_dir

    return Tool(nvcc).facts(resolve_dir(None)).version


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Return the source after nvcc's preprocessor.

    Parameters
    ----------
    source : str
        CUDA C.
    options : sequence of str
        Options of nvcc.
    nvcc : str
        Name or path of nvcc.

    Returns
    -------
    str
        The source with its headers and macros expanded.

    Raises
    ------
    CompileError
        If there is no such program, or if it fails.
    """
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

    Parameters
    ----------
    source : str
        CUDA C. It is not put into ``extern "C" { }``.
    options : list of str
        Options of the compiler, the architecture among them.
    keep : bool
        If true, compile even if the cache has the result, because the purpose is the
        files that the compiler leaves.
    nvcc : str
        Name or path of nvcc.
    cache_dir : str or None
        Folder of the compile cache. A false value compiles without a cache.
    target : {"cubin", "ptx", "fatbin"}, optional
        What to make.
    compiler : str, optional
        Compiler to use, "nvcc" or "nvrtc". The default is the value of PYCUDA_COMPILER,
        else nvcc.

    Returns
    -------
    bytes
        The image.

    Raises
    ------
    CompileError
        If the compiler is missing or refuses the source.

    See Also
    --------
    compile : Choose architecture, headers and target from the device.
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

    Parameters
    ----------
    source : str
        CUDA C. An object is converted with ``str``.
    nvcc : str, optional
        Name or path of nvcc.
    options : iterable of str, optional
        Options of the compiler. The default is DEFAULT_NVCC_FLAGS.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    no_extern_c : bool, optional
        If true, do not put the source into ``extern "C" { }``.
    arch : str or sequence of str, optional
        Architecture to compile for, such as "sm_90". The default is that of the current
        context's device, or the compiler's own without a context. Several architectures
        need the target "fatbin".
    code : str, optional
        Value of nvcc's option ``-code``.
    cache_dir : str or False, optional
        Folder of the compile cache. False compiles without a cache. The default is the
        folder of the user.
    include_dirs : iterable of str, optional
        Folders to search for headers.
    target : {"cubin", "ptx", "fatbin"}, optional
        What to make. The default is an image that the current device can load: "ptx" on
        the software device and for a GPU newer than the compiler, otherwise "cubin", or
        "fatbin" for several architectures.
    compiler : str, optional
        Compiler to use, "nvcc" or "nvrtc". The default is the value of PYCUDA_COMPILER,
        else nvcc.

    Returns
    -------
    bytes
        The image. ``pycuda.driver.module_from_buffer`` loads it.

    Raises
    ------
    CompileError
        If the compiler is missing or refuses the source.
    AssertionError
        If there is no such target.

    See Also
    --------
    SourceModule : Compile and load.
    compile_many : Compile several sources at the same time.

    Notes
    -----
    The call waits for the compiler. It needs no context and no device. The result is
    kept in the compile cache: the same source, options and headers are compiled once.

    Examples
    --------
    >>> from pycuda.compiler import compile
    >>> ptx = compile("__global__ void f() {}", target="ptx", arch="sm_75")
    >>> b".visible .entry f" in ptx
    True
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
    """Compile several sources at the same time and return their images.

    Parameters
    ----------
    requests : iterable of str or dict
        Sources, or dicts of arguments of ``compile``.
    workers : int, optional
        Number of threads. The default is the number of processors.
    progress : bool, optional
        If true, show a line with the progress if standard error is a terminal.
    **common
        Arguments of ``compile`` for all requests. A dict of a request has precedence.

    Returns
    -------
    list of bytes
        The images, in the order of the requests. Without ``target`` they are those that
        ``SourceModule`` would load, so modules made of these sources afterwards come
        from the cache.

    Raises
    ------
    CompileError
        The first error, after all other sources have been compiled.
    TypeError
        If ``requests`` is one source, or if an argument is unknown.

    See Also
    --------
    compile : Compile one source.

    Examples
    --------
    >>> from pycuda.compiler import compile_many
    >>> sources = [f"__global__ void f{k}() {{}}" for k in range(3)]
    >>> len(compile_many(sources, progress=False))
    3
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

    Parameters
    ----------
    pieces : iterable of bytes, str or path
        Cubins, fatbins, PTX, objects or archives made with ``-rdc=true``, as bytes or
        as paths.
    nvcc : str, optional
        Name or path of nvcc.
    options : iterable of str or None, optional
        Options such as ``-lcudadevrt`` and ``-L``. The default is none.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    arch : str or sequence of str, optional
        One architecture, or several with the target "fatbin". The default is that of
        the current context's device.
    cache_dir : str or False, optional
        Folder of the compile cache. False compiles without a cache. The default is the
        folder of the user.
    target : {"cubin", "fatbin"}, optional
        What to make.

    Returns
    -------
    bytes
        The image.

    Raises
    ------
    CompileError
        If nvcc is missing or refuses a piece.
    ValueError
        If there is no such target.

    See Also
    --------
    DynamicModule : Link with the driver, without nvcc.

    Notes
    -----
    The call waits for nvcc. The result is kept in the compile cache. The software
    device loads no cubin: link with ``DynamicModule`` there.
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
        """Return the kernel of this name.

        Parameters
        ----------
        name : str
            Name of a ``__global__`` function.

        Returns
        -------
        Function
            The kernel.

        Raises
        ------
        LogicError
            If the module has no such kernel.
        """
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """Compile CUDA C for the current context's device and load it there.

    Parameters
    ----------
    source : str
        CUDA C. An object is converted with ``str``.
    nvcc : str, optional
        Name or path of nvcc.
    options : iterable of str, optional
        Options of the compiler. The default is DEFAULT_NVCC_FLAGS.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    no_extern_c : bool, optional
        If true, do not put the source into ``extern "C" { }``.
    arch : str, optional
        Architecture to compile for, such as "sm_90". The default is that of the current
        context's device.
    code : str, optional
        Value of nvcc's option ``-code``.
    cache_dir : str or False, optional
        Folder of the compile cache. False compiles without a cache. The default is the
        folder of the user.
    include_dirs : iterable of str, optional
        Folders to search for headers.
    compiler : str, optional
        Compiler to use, "nvcc" or "nvrtc". The default is the value of PYCUDA_COMPILER,
        else nvcc.
    name_expressions : iterable of str, optional
        C++ expressions for kernels made from templates, such as "scale<float>".
        ``get_function`` takes them.

    Attributes
    ----------
    module : Module
        The loaded module of the driver.
    get_global : callable
        Return address and size of a variable, as ``Module.get_global`` does.
    get_texref : callable
        Return a texture reference, as ``Module.get_texref`` does.
    get_surfref : callable
        Return a surface reference, as ``Module.get_surfref`` does.

    Raises
    ------
    CompileError
        If the compiler is missing or refuses the source.
    LogicError
        If there is no current context.

    See Also
    --------
    compile : Compile without a device.
    DynamicModule : Link several sources.

    Notes
    -----
    The constructor waits for the compiler. The result is kept in the compile cache, so
    the next process loads it at once. The module stays loaded as long as this object, a
    kernel or a variable of it is in use.

    Examples
    --------
    >>> from pycuda.compiler import SourceModule
    >>> module = SourceModule('''
    ... __global__ void twice(float *x) { x[threadIdx.x] *= 2; }
    ... ''')
    >>> twice = module.get_function("twice")
    >>> x = np.arange(4, dtype=np.float32)
    >>> twice(drv.InOut(x), block=(4, 1, 1))
    >>> x
    array([0., 2., 4., 6.], dtype=float32)
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
        from pycuda._compile.build import module_of
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
        names: list[str] = []
        if name_expressions is not None:
            names = _list_of(name_expressions, "name_expressions")
        self.module: Module
        self._compilation, self.module, lowered = module_of(request, names)
        self._context = _working_context()
        self._instances = {}
        for name, symbol in zip(names, lowered, strict=True):
            self._instances[name] = self.module, symbol
        self._bind_module()

    def get_function(self, name: str) -> Function:
        """Return the kernel of this name.

        Parameters
        ----------
        name : str
            Name of a ``__global__`` function, or a C++ expression such as
            "scale<float>" or "space::kernel".

        Returns
        -------
        Function
            The kernel.

        Raises
        ------
        LogicError
            If the module has no such kernel.
        CompileError
            If the compiler refuses the expression.

        Notes
        -----
        An expression makes the kernel if the program has not: it is compiled then,
        once, into a module of its own, with its own copy of the source's variables. A
        kernel of ``name_expressions`` shares the variables of the module.

        Examples
        --------
        >>> from pycuda.compiler import SourceModule
        >>> source = "template <class T> __global__ void set(T *x) { *x = 3; }"
        >>> module = SourceModule(source, no_extern_c=True)
        >>> x = np.zeros(1)
        >>> module.get_function("set<double>")(drv.Out(x), block=(1, 1, 1))
        >>> x
        array([3.])
        """
        is_expression = isinstance(name, str) and ("<" in name or "::" in name)
        if self._compilation is None or not is_expression:
            return self.module.get_function(name)
        if name not in self._instances:
            from pycuda._compile.build import module_with

            with self._context or contextlib.nullcontext():
                self._compilation.choose_tool_again()
                self._instances[name] = module_with(self._compilation, name)
        module, symbol = self._instances[name]
        return module.get_function(symbol)


class DynamicModule(CudaModule):
    """Compile and gather pieces of code, link them, and load the result.

    The ``add_`` methods and ``link`` return the module, so that calls can be chained.

    Parameters
    ----------
    nvcc : str, optional
        Name or path of nvcc.
    link_options : iterable of (jit_option, int), optional
        Options of the driver's linker.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    no_extern_c : bool, optional
        If true, do not put the source into ``extern "C" { }``.
    arch : str, optional
        Architecture to compile for, such as "sm_90". The default is that of the current
        context's device.
    code : str, optional
        Value of nvcc's option ``-code``.
    cache_dir : str or False, optional
        Folder of the compile cache. False compiles without a cache. The default is the
        folder of the user.
    include_dirs : iterable of str, optional
        Folders to search for headers.
    message_handler : callable, optional
        Function that the ``Linker`` calls with its messages.
    log_verbose : bool, optional
        If true, ask the linker for more messages.
    cuda_libdir : str, optional
        Folder where ``add_stdlib`` looks first.
    compiler : str, optional
        Compiler to use, "nvcc" or "nvrtc". The default is the value of PYCUDA_COMPILER,
        else nvcc.

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

    Raises
    ------
    RuntimeError
        If the device has a compute capability below 3.5.
    LogicError
        If there is no current context.

    See Also
    --------
    SourceModule : Compile one source.
    link : Link with nvcc.

    Examples
    --------
    >>> from pycuda.compiler import DynamicModule
    >>> module = DynamicModule()
    >>> helper = 'extern "C" __device__ int add(int a, int b) { return a + b; }'
    >>> kernel = '''
    ... extern "C" __device__ int add(int a, int b);
    ... __global__ void f(int *x) { *x = add(*x, 2); }
    ... '''
    >>> for source in helper, kernel:
    ...     _ = module.add_source(source, nvcc_options=["-rdc=true"])
    >>> x = np.array([40], np.int32)
    >>> module.link().get_function("f")(drv.InOut(x), block=(1, 1, 1))
    >>> x
    array([42], dtype=int32)
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
        """Compile CUDA C to PTX and add it.

        Parameters
        ----------
        source : str
            CUDA C.
        nvcc_options : iterable of str, optional
            Options of the compiler. ``-rdc=true`` lets the source use other pieces. The
            default is DEFAULT_NVCC_FLAGS.
        name : str, optional
            Name of the piece in messages.

        Returns
        -------
        DynamicModule
            This object.

        Raises
        ------
        CompileError
            If the compiler is missing or refuses the source.
        RuntimeError
            If ``link`` was called before.
        """
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
        """Add code in memory.

        Parameters
        ----------
        data : bytes
            The code.
        input_type : jit_input_type
            Kind of the code.
        name : str, optional
            Name of the piece in messages.

        Returns
        -------
        DynamicModule
            This object.

        Raises
        ------
        RuntimeError
            If ``link`` was called before.
        """
        self._open_linker().add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: jit_input_type) -> Self:
        """Add code from a file.

        Parameters
        ----------
        filename : str
            Path of the file.
        input_type : jit_input_type
            Kind of the code.

        Returns
        -------
        DynamicModule
            This object.

        Raises
        ------
        RuntimeError
            If ``link`` was called before.
        """
        self._open_linker().add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> Self:
        """Add a library of the toolkit.

        Parameters
        ----------
        libname : str
            Name of the library, such as "cudadevrt".

        Returns
        -------
        DynamicModule
            This object.

        Raises
        ------
        FileNotFoundError
            If there is no such file in the folder of libraries.
        RuntimeError
            If no folder of libraries was found, or if ``link`` was called before.

        Notes
        -----
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
        """Link what was added and load it.

        Returns
        -------
        DynamicModule
            This object.

        Raises
        ------
        RuntimeError
            If ``link`` was called before: a module can be linked once.
        LogicError
            If a name is undefined or defined twice.
        """
        linker, self.linker = self._open_linker(), None
        self.module = linker.link_module()
        self._bind_module()
        return self

    def get_function(self, name: str) -> Function:
        """Return the kernel of this name.

        Parameters
        ----------
        name : str
            Name of a ``__global__`` function.

        Returns
        -------
        Function
            The kernel.

        Raises
        ------
        RuntimeError
            If ``link`` was not called before.
        LogicError
            If the module has no such kernel.
        """
        if self.module is None:
            raise RuntimeError(
                f"this {type(self).__name__} has no functions before link()"
            )
        return self.module.get_function(name)


class DynamicSourceModule(DynamicModule):
    """Compile CUDA C whose kernels launch kernels, link the device runtime, load it.

    Parameters
    ----------
    source : str
        CUDA C.
    nvcc : str, optional
        Name or path of nvcc.
    options : iterable of str, optional
        Options of the compiler. The default is DEFAULT_NVCC_FLAGS.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    no_extern_c : bool, optional
        If true, do not put the source into ``extern "C" { }``.
    arch : str, optional
        Architecture to compile for, such as "sm_90". The default is that of the current
        context's device.
    code : str, optional
        Value of nvcc's option ``-code``.
    cache_dir : str or False, optional
        Folder of the compile cache. False compiles without a cache. The default is the
        folder of the user.
    include_dirs : iterable of str, optional
        Folders to search for headers.
    cuda_libdir : str, optional
        Folder where to look for the device runtime first.
    compiler : str, optional
        Compiler to use, "nvcc" or "nvrtc". The default is the value of PYCUDA_COMPILER,
        else nvcc.

    Raises
    ------
    CompileError
        If the compiler is missing or refuses the source.
    RuntimeError
        If the device runtime was not found, or if the device has a compute capability
        below 3.5.

    See Also
    --------
    SourceModule : Compile kernels that launch no kernels.

    Notes
    -----
    The options ``-rdc=true`` and ``-lcudadevrt`` are added if they are missing.

    Examples
    --------
    >>> from pycuda.compiler import DynamicSourceModule
    >>> module = DynamicSourceModule('''
    ... __global__ void child(int *x) { x[threadIdx.x] = threadIdx.x; }
    ... __global__ void parent(int *x) { child<<<1, 3>>>(x); }
    ... ''')
    >>> x = np.zeros(3, np.int32)
    >>> module.get_function("parent")(drv.Out(x), block=(1, 1, 1))
    >>> x
    array([0, 1, 2], dtype=int32)
    """

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
