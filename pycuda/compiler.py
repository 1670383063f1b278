"""From CUDA C to a loaded module: ``compile`` and ``SourceModule``.

The compiler runs only if the cache has no answer. What decides about that is the
source, the options, the identity of the compiler, the variables it obeys and the
content of every file it read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from pycuda import _cache, _nvcc

if TYPE_CHECKING:
    from pycuda._driver import Function, Module

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

# What the driver says where there is no context: it is not initialised, or shut down,
# or has none in this thread.
_NO_CONTEXT = (3, 4, 201)

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
    line = f'#line 1 "{_nvcc.SOURCE_NAME}"\n'
    if no_extern_c:
        return f"{line}{text}\n"
    return f'extern "C" {{\n{line}{text}\n}}\n'


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
    except driver.Error as error:
        if error.code not in _NO_CONTEXT:
            raise
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
