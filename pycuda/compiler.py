"""From CUDA C to a loaded module: ``compile`` and ``SourceModule``.

The compiler runs only if the cache has no answer. What decides about that is the
source, the options, the identity of the compiler, the variables it obeys and the
content of every file it read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pycuda._compile import inputs, nvcc as _nvcc, store, toolkit

if TYPE_CHECKING:
    import hashlib
    from types import ModuleType

    from typing_extensions import Self

    from pycuda._compile import nvrtc as _nvrtc
    from pycuda._compile.toolkit import Facts
    from pycuda._driver import (
        Context,
        Device,
        Error,
        Function,
        Linker,
        Module,
        SurfaceReference,
        TextureReference,
        jit_input_type,
        jit_option,
    )
    from pycuda.driver import CompileError

    _Tool = _nvcc.Tool | _nvrtc.Tool

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

_TARGETS = ("cubin", "ptx", "fatbin")
_COMPILERS = ("nvcc", "nvrtc")


class _Default(str):
    """A default value that can be told from the same text given by a caller."""

    __slots__ = ()


_DEFAULT_TARGET = _Default("cubin")
_SOFTWARE_DEVICE = "PyCUDA software device"
_ARCH_OPTIONS = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")
_RELOCATABLE = frozenset(("-rdc=true", "--relocatable-device-code=true"))

# The last toolkit for devices below a capability (times ten), newest first.
_LAST_TOOLKITS = ((75, "12.9"), (50, "11.8"), (35, "10.2"), (30, "8.0"))

# Of jit_input_type.
_INPUT_PTX, _INPUT_LIBRARY = 1, 4
_LIBRARY_PATTERN = "lib%s.a"
_LIBRARY_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_runtime/lib")

# Variables that CUDA 12 took out of the language; pycuda-textures.hpp has them. A word
# with a list of types behind it, and a name or what else follows a type, is one. What
# is less than something is no type.
_MAYBE_REFERENCE = re.compile(r"\b(?:texture|surface)\s*<")
_REFERENCE = re.compile(
    r"(?P<of>::|->|\.)?\s*\b(?P<word>texture|surface)\s*"
    r"<(?:[^;{}()&|?!]|\([^(){};]*\))*?>\s*(?:[\w&*>,)\\#]|\Z)"
)
_REFERENCE_WORDS = ("surface", "texture")
_REFERENCE_INCLUDE = "#include <pycuda-textures.hpp>\n"
_FREE_WORD = "PYCUDA_TEXTURES_NO_"
# Without such a list the word is a name of the source's own: a variable, a class.
_OWN_NAME = re.compile(r"\b(texture|surface)\b(?!\s*<)")
_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#[ \t]*(?:if|elif|undef|include|pragma|error|warning|line)[^\n]*",
    re.DOTALL | re.MULTILINE,
)

# What a compiler without references says of a declaration that the source's own text
# does not show: one in a header, or behind a macro.
_UNKNOWN_REFERENCE = re.compile(
    r"\berror\b.*(?:\b(texture|surface) is not a template"
    r"|identifier \"(texture|surface)\" is undefined)"
)

# What newer toolkits say of each kernel for a device that they will drop one day.
_OF_NO_USE = re.compile(
    r"^(?:nvrtc|nvcc) ?:? ?warning ?:.*\barchitectures prior to\b.*\n?",
    re.MULTILINE | re.IGNORECASE,
)
_HALF_CHARACTER = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_ARCH = re.compile(r"\b(?:sm|compute)_\w+")
_KERNEL = re.compile(r"__global__\b[^(){};]*?(\w+)\s*\((?!\s*\d)")

# What the driver says where there is no context: it is not initialised, or shut down,
# or has none in this thread.
_NO_CONTEXT = (3, 4, 201)

# Which compiler replaces one that was not found or does not work, by _place_of().
_replaced: dict[tuple[str | None, ...], str] = {}
_working: set[tuple[str | None, ...]] = set()  # compiled an empty program
_started: set[str] = set()  # paths of nvcc that can be run
_replacing = threading.Lock()

# (nvcc, compiler), and (arch, code, target): as the caller gave them.
Tools = tuple[str, "str | None"]
Wanted = tuple["str | Sequence[str] | None", "str | None", "str | None"]

# What _compiled takes: text, options, keep, tools, folder of the cache, target.
Request = tuple[str, list[str], bool, Tools, "str | None", str]


def _find_pycuda_include_path() -> str:
    """Return the directory of the headers for device code."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda")


def _search_on_path(filenames: Iterable[str]) -> str | None:
    """Return the first program on PATH that has one of these names, or None."""
    return _nvcc.on_path(filenames)


def _find_nvcc_on_path() -> str | None:
    return _search_on_path(["nvcc"])


def _new_md5() -> hashlib._Hash:
    import hashlib

    return hashlib.md5(usedforsecurity=False)


def _get_per_user_string() -> str:
    return f"uid{os.getuid()}"


def get_nvcc_version(nvcc: str) -> str:
    """Return what ``nvcc --version`` prints; asked once for each binary."""
    return _nvcc.Tool(nvcc).facts(store.resolve_dir(None)).version


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Return the source after nvcc's preprocessor."""
    return _nvcc.preprocess(_nvcc.find(nvcc), source, options)


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
    has the result, since its point is the files that the compiler leaves.
    """
    image, _, chatter = _compiled(
        source, options, keep, (nvcc, compiler), cache_dir, target
    )
    _tell(chatter)
    return image


def _compiled(
    source: str,
    options: list[str],
    keep: bool,
    tools: Tools,
    cache_dir: str | None,
    target: str,
    names: Sequence[str] = (),
) -> tuple[bytes, list[str], str]:
    """Return (image, lowered names, chatter), from the cache or from the compiler.

    ``names`` are C++ expressions for kernels, such as "f<float>", which come to be by
    being named; their lowered names are what the image calls them.
    """
    from pycuda.driver import CompileError

    request = (source, options, keep, tools, cache_dir, target)
    try:
        return _compiled_once(*request, names)
    except CompileError as error:
        if target == "fatbin" or not _replace_broken(tools, error, cache_dir):
            raise
    return _compiled_once(*request, names)


def _compiled_once(
    source: str,
    options: list[str],
    keep: bool,
    tools: Tools,
    cache_dir: str | None,
    target: str,
    names: Sequence[str],
) -> tuple[bytes, list[str], str]:
    """Do what ``_compiled`` does, with the tool that is the first choice now."""
    tool = _choose(*tools, cache_dir)
    entry = None
    if cache_dir:
        facts = tool.facts(cache_dir)
        key = _key(source, options, target, facts, names)
        entry = os.path.join(cache_dir, f"{key}.{target}")
        payload = None if keep else store.load(entry)
        if payload is not None:
            return *_unpack(payload, names), ""
    chatter: list[str] = []

    def make() -> tuple[bytes | None, bytes]:
        done, text = _run(tool, source, options, target, keep, names)
        chatter.append(done.chatter)
        manifest = None
        if entry and done.read is not None:
            given = inputs.Given(options)
            folders = done.search_dirs
            manifest = store.make_manifest(
                given.as_source() + text,
                done.read + given.files + given.libraries(),
                given.search_dirs() if folders is None else folders,
                facts.toolkit_dirs,
                done.started_ns,
                _note(source, options, facts, names),
            )
        return manifest, _pack(done.image, done.lowered)

    payload = _make_once(entry, keep, make)
    return *_unpack(payload, names), "".join(chatter)


def _run(
    tool: _Tool,
    source: str,
    options: list[str],
    target: str,
    keep: bool,
    names: Sequence[str],
) -> tuple[toolkit.Result, str]:
    """Run a compiler; return its result and the text that it compiled.

    The text differs from ``source`` if a header declares texture<> or surface<>
    variables: then ``pycuda-textures.hpp`` goes before the source.
    """
    from pycuda.driver import CompileError

    try:
        return tool.run(source, options, target, keep, names), source
    except CompileError as error:
        words = _unknown_references(error)
        if not words or f"-I{_find_pycuda_include_path()}" not in options:
            raise
        first = error
    text = _lead_for(words | _words_led(source)) + source
    try:
        return tool.run(text, options, target, keep, names), text
    except CompileError as error:
        if _unknown_references(error) or "is not a template" not in _said(first):
            raise first from None  # the word was not meant as ours
        error.source = source
        raise


def _unknown_references(error: CompileError) -> set[str]:
    """Return which of the words texture and surface a compiler did not know."""
    found = _UNKNOWN_REFERENCE.findall(_said(error))
    return {word for pair in found for word in pair if word}


def _said(error: CompileError) -> str:
    """Return all that a compiler said."""
    parts = (error.stdout or "", error.stderr or "")
    return "\n".join(
        part.decode(errors="replace") if isinstance(part, bytes) else part
        for part in parts
    )


def _make_once(
    entry: str | None, keep: bool, make: Callable[[], tuple[bytes | None, bytes]]
) -> bytes:
    """Return what ``make`` makes, or what somebody else is making right now."""
    if entry and not keep:
        from pycuda._compile import single_flight

        return single_flight.get(entry, make)
    manifest, payload = make()
    if entry and manifest is not None:
        store.save(entry, manifest, payload)
    return payload


def _pack(image: bytes, lowered: Iterable[str]) -> bytes:
    """Return what the cache keeps: the image, after the names if any were asked for."""
    head = b"".join(name.encode() + b"\n" for name in lowered)
    return head + image if head else image


def _unpack(payload: bytes, names: Sequence[str]) -> tuple[bytes, list[str]]:
    """Return (image, lowered names)."""
    if not names:
        return payload, []
    *lowered, image = payload.split(b"\n", len(names))
    return image, [name.decode() for name in lowered]


def _note(
    source: str, options: Sequence[str], facts: Facts, names: Iterable[str]
) -> str:
    """Say what a result is, for people who look at the cache."""
    archs = dict.fromkeys(_ARCH.findall(" ".join(options)))
    kernels = names or dict.fromkeys(_KERNEL.findall(source))
    return (
        f"{facts.name} {facts.release} {','.join(archs) or 'any'}: "
        f"{', '.join(kernels)[:200]}"
    )


def _choose(nvcc: str, compiler: str | None, cache_dir: str | None = None) -> _Tool:
    """Return the tool to compile with. ``cache_dir`` may know that it works.

    ``compiler`` is "nvcc" or "nvrtc", by default what PYCUDA_COMPILER says, else nvcc.
    If that one is missing, or ``_replace_broken`` found that it does not work, the
    other is taken, which is said once, unless ``nvcc`` names a certain program.
    """
    asked = _asked(compiler)
    if asked == "nvcc" and nvcc != "nvcc":
        return _nvcc.Tool(nvcc)
    if _replaced and _place_of(asked) in _replaced:
        return _make_tool(_replaced[_place_of(asked)], nvcc, cache_dir)

    from pycuda.driver import CompileError, CompilerNotFoundError

    try:
        return _make_tool(asked, nvcc, cache_dir)
    except CompileError as failure:
        other = _other(asked)
        try:
            tool = _make_tool(other, nvcc, cache_dir)
        except CompileError as second:
            failure.msg += f" Nor can {other} do its work: {second.msg}"
            raise failure from None
        what = failure.msg
        if isinstance(failure, CompilerNotFoundError):
            what = f"{asked} was not found"
    _replaced[_place_of(asked)] = other
    if asked == "nvrtc":
        from pycuda._compile import nvrtc as _nvrtc

        why = _nvrtc.complaint()
        what += f" ({why})" if why else ""
    warnings.warn(
        f"{what}, so {other} ({tool.path}) compiles instead",
        stacklevel=store.outside(),
    )
    return tool


def _asked(compiler: str | None) -> str:
    """Return the name of the compiler that is the first choice."""
    asked = compiler or os.environ.get("PYCUDA_COMPILER") or "nvcc"
    if asked not in _COMPILERS:
        raise ValueError(
            f"the compiler is one of {', '.join(_COMPILERS)}, not {asked!r}"
        )
    return asked


def _other(name: str) -> str:
    return "nvrtc" if name == "nvcc" else "nvcc"


def _place_of(asked: str) -> tuple[str | None, ...]:
    """Return what decides whether a compiler is found and works."""
    return (asked, *map(os.environ.get, ("PATH", "CUDA_HOME", "NVCC_CCBIN")))


def _replace_broken(tools: Tools, error: CompileError, cache_dir: str | None) -> bool:
    """After a failure, say whether another compiler has taken the broken one's place.

    A compiler is broken if it cannot compile an empty program: nvcc without a host
    compiler, or an installation with a part missing. The warning about it is given
    once. If there is no other compiler, the error says so.
    """
    nvcc, compiler = tools
    asked = _asked(compiler)
    if asked == "nvcc" and nvcc != "nvcc":
        return False
    said = _said(error)
    if f"{_nvcc.SOURCE_NAME}(" in said or f"{_nvcc.SOURCE_NAME}:" in said:
        return False  # it got as far as the user's own lines
    place = _place_of(asked)
    if place in _working or (asked == "nvrtc" and not said.strip()):
        return False
    with _replacing:
        if place in _replaced:  # another thread was faster
            return True
        words = _complaint_about_nothing(asked, nvcc, cache_dir)
        if words is None:
            _working.add(place)
            return False
        other = _other(asked)
        if _complaint_about_nothing(other, nvcc, cache_dir) is not None:
            error.msg += (
                f" ({asked} cannot compile an empty program either, and {other} cannot "
                "replace it; python -m pycuda.doctor says more)"
            )
            return False
        _replaced[place] = other
    warnings.warn(
        f"{asked} cannot compile even an empty program, so {other} compiles instead. "
        f"{asked} says: {words}",
        stacklevel=store.outside(),
    )
    return True


def _complaint_about_nothing(name: str, nvcc: str, cache_dir: str | None) -> str | None:
    """Return what a compiler says if it cannot compile an empty program, else None."""
    from pycuda.driver import CompileError

    try:
        _make_tool(name, nvcc, cache_dir).run("\n", [], "ptx", False)
    except CompileError as error:
        return " ".join((_said(error).strip() or error.msg).split())
    return None


def _make_tool(name: str, nvcc: str, cache_dir: str | None) -> _Tool:
    """Return a tool that can be started; CompileError if there is none."""
    if name == "nvcc":
        program = _nvcc.Tool(nvcc)
        if program.path not in _started:
            program.facts(cache_dir)  # which starts it, or did so before
            _started.add(program.path)
        return program
    from pycuda._compile import nvrtc as _nvrtc

    tool = _nvrtc.Tool()
    tool.facts(cache_dir)  # which finds out whether it can be loaded
    return tool


def _key(
    source: str,
    options: Sequence[str],
    target: str,
    facts: Facts,
    names: Sequence[str],
) -> str:
    if facts.name == "nvcc":
        around = inputs.for_key(options)
    else:
        around = [os.getcwd() if inputs.depends_on_cwd(options) else ""]
    return store.key_of(
        source,
        facts.version,
        target,
        os.uname().machine,
        *around,
        "\n".join(names),
        *options,
    )


def _tell(chatter: str) -> None:
    """Pass on what a compiler said though it succeeded."""
    text = _OF_NO_USE.sub("", chatter).strip()
    if not text:
        return
    if "demoted" in text.lower() or "demoting" in text.lower():
        warnings.warn(
            "the compiler turned double into float; an architecture of 1.3 or more "
            "(arch=) has double",
            stacklevel=store.outside(),
        )
    warnings.warn(
        f"The CUDA compiler succeeded, but said the following:\n{text}",
        stacklevel=store.outside(),
    )


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
    (none is given without a context); a list of several goes with the target "fatbin".
    ``target`` is "cubin", "ptx" or "fatbin". Without it the image is one that the
    current device can load: "ptx" on the software device and for a GPU newer than the
    compiler, otherwise "cubin", or "fatbin" for several architectures.
    ``compiler`` is "nvcc" or "nvrtc", by default what PYCUDA_COMPILER says, else nvcc.
    Raises CompileError.
    """
    _check_target(target)
    wanted = (arch, code, None if target is _DEFAULT_TARGET else target)
    tools = (nvcc, compiler)
    image, _, chatter = _compiled(
        *_request(
            source,
            tools,
            options,
            keep,
            no_extern_c,
            wanted,
            cache_dir,
            include_dirs,
            linked=False,
        )
    )
    _tell(chatter)
    return image


def _check_target(target: str) -> None:
    if target not in _TARGETS:
        raise AssertionError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")


def _compile(
    source: object,
    tools: Tools,
    options: Iterable[str] | None,
    keep: bool,
    no_extern_c: bool,
    wanted: Wanted,
    cache_dir: str | Literal[False] | None,
    include_dirs: Iterable[str] | None,
) -> bytes:
    """Do what ``compile`` does.

    ``tools`` is (nvcc, compiler). ``wanted`` is (arch, code, target); a target of None
    is whatever the device can load.
    """
    request = _request(
        source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
    )
    image, _, chatter = _compiled(*request)
    _tell(chatter)
    return image


def _request(
    source: object,
    tools: Tools,
    options: Iterable[str] | None,
    keep: bool,
    no_extern_c: bool,
    wanted: Wanted,
    cache_dir: str | Literal[False] | None,
    include_dirs: Iterable[str] | None,
    linked: bool = True,
) -> Request:
    """Return what ``_compiled`` takes, for the device of the current context.

    ``linked`` says that relocatable code is linked if no target is given.
    """
    from pycuda import driver

    flags = _list_of(options, "options", DEFAULT_NVCC_FLAGS)
    folder = store.resolve_dir(cache_dir)
    if driver.CUDA_DEBUGGING:
        folder, keep = None, True
        flags += ["-g", "-G"]

    device = _current_device(driver)
    target = _add_arch(flags, device, tools, folder, wanted, linked)
    headers = _list_of(include_dirs, "include_dirs", ())
    flags += [f"-I{os.path.abspath(each)}" for each in headers]
    flags.append(f"-I{_find_pycuda_include_path()}")
    return _wrapped(source, no_extern_c), flags, keep, tools, folder, target


def _add_arch(
    options: list[str],
    device: _Target | None,
    tools: Tools,
    cache_dir: str | None,
    wanted: Wanted,
    linked: bool = True,
) -> str:
    """Add the options that say for what to compile; return the target."""
    arch, code, exact = wanted
    target = exact or "cubin"
    if arch is not None and not isinstance(arch, str):
        arch = _list_of_archs(arch)
        if exact is None:
            target = "fatbin"
        if target != "fatbin":
            raise ValueError(
                "several architectures need target='fatbin', which holds code for each"
            )
        if not (device and exact is None and device.software):
            options += [_gencode(each) for each in arch]
            return target
        arch = _best_of(arch, device)
    if device and exact is None and device.software:
        target, code = "ptx", None
    if arch is None and device and not _names_arch(options):
        facts = _choose(*tools, cache_dir).facts(cache_dir)
        arch, target = _arch_for(device, facts, exact, target)
    if arch is not None:
        options.append(f"-arch={arch}")
    if code is not None:
        options.append(f"-code={code}")
    if linked and exact is None and target == "cubin" and _is_in_pieces(options):
        options.append("-dlink")  # what is left open cannot be loaded
    return target


def _list_of_archs(archs: Iterable[str]) -> list[str]:
    try:
        return _list_of(archs, "arch", ())
    except TypeError:
        raise TypeError(
            f"arch is one like 'sm_80', or a list of such, not {archs!r}"
        ) from None


def _gencode(arch: str) -> str:
    kind, _, number = arch.partition("_")
    if kind not in ("sm", "compute") or not number:
        raise ValueError(
            f"an architecture is one like sm_80 or compute_90, not {arch!r}"
        )
    return f"-gencode=arch=compute_{number},code={arch}"


def _best_of(archs: Sequence[str], device: _Target) -> str:
    """Return the newest of several architectures that the device can run."""
    have = 10 * device.capability[0] + device.capability[1]

    def number(arch: str) -> int:
        return int("".join(filter(str.isdigit, arch)) or 0)

    below = [arch for arch in archs if number(arch) <= have]
    return max(below, key=number) if below else min(archs, key=number)


def _is_in_pieces(options: Iterable[str]) -> bool:
    """Say whether the code may refer to other code, which must be linked to it."""
    return any(
        option in _RELOCATABLE
        or option in ("-l", "--library")
        or (option.startswith(("-l", "--library=")) and option != "-lineinfo")
        for option in options
    )


def _list_of(
    value: Iterable[str | os.PathLike[str]] | None, name: str, default: Iterable[str]
) -> list[str]:
    """Return a new list of strings from an argument that must not be one string."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, not one string")
    items: list[str] = []
    for item in default if value is None else value:
        text = os.fspath(item) if isinstance(item, (str, os.PathLike)) else None
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a list of strings, not one with {item!r}")
        _check_characters(text, f"a string of {name}")
        items.append(text)
    return items


def _text_of(source: object) -> str:
    """Return the text of a source: a str, UTF-8 bytes, or an object that renders one.

    Raises TypeError for objects without a text of their own, such as None, and
    ValueError for a text that no file can have.
    """
    if isinstance(source, (bytes, bytearray)):
        try:
            text = source.decode()
        except UnicodeDecodeError as error:
            line = source.count(b"\n", 0, error.start) + 1
            raise ValueError(
                f"the source is {type(source).__name__} that are not UTF-8: byte "
                f"{error.start}, in line {line}, is {source[error.start]:#04x}. Decode "
                "them with the encoding that they have"
            ) from None
    elif isinstance(source, os.PathLike):
        raise TypeError(
            f"the source must be a text, not the path {os.fspath(source)!r}. Pass what "
            "the file contains, such as path.read_text()"
        )
    elif isinstance(source, str) or _has_text(type(source)):
        text = str(source)
    else:
        raise TypeError(
            "the source must be a text, or an object that str() makes one of, not "
            f"{'None' if source is None else type(source).__name__}"
        )
    _check_characters(text, "the source")
    return text


def _has_text(kind: type) -> bool:
    """Say whether str() gives more than Python's own description of an object."""
    for base in kind.__mro__:
        if "__str__" in vars(base) or "__repr__" in vars(base):
            return base.__module__ != "builtins"
    return False


def _check_characters(text: str, what: str) -> None:
    """Raise ValueError if a text has half of a surrogate pair, which UTF-8 lacks.

    Bytes that were decoded with "surrogateescape" are written as they were.
    """
    if text.isascii():
        return
    found = _HALF_CHARACTER.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(
            f"{what} has the character U+{ord(found[0]):04X} in line {line}: one half "
            "of a surrogate pair, which no file can have. Check how it was decoded"
        )


def _wrapped(source: object, no_extern_c: bool) -> str:
    """Return the text to compile; its messages speak of the user's own lines."""
    text = _text_of(source)
    text = text.removeprefix("\ufeff")  # a mark of editors, which no compiler takes
    lead = _reference_header(text)
    line = f'#line 1 "{_nvcc.SOURCE_NAME}"\n'
    if no_extern_c:
        return f"{lead}{line}{text}\n"
    before = f'#line 1 "{_nvcc.BEFORE_SOURCE}"\nextern "C" {{\n'
    after = f'#line 1 "{_nvcc.AFTER_SOURCE}"\n}}\n'
    return f"{lead}{before}{line}{text}\n{after}"


def _reference_header(text: str) -> str:
    """Return the lines that give texture<> and surface<> to a source that has them.

    The header leaves a compiler alone that has its own. A word that the source does not
    use for a reference, or for something of its own, stays free for other uses.
    """
    if not _MAYBE_REFERENCE.search(text):
        return ""
    code = _NO_CODE.sub(" ", text)
    words = {m["word"] for m in _REFERENCE.finditer(code) if not m["of"]}
    words.difference_update(_OWN_NAME.findall(code))
    if not words:
        return ""
    return _lead_for(words)


def _lead_for(words: set[str]) -> str:
    """Return the lines that define these of the words texture and surface."""
    free = [word for word in _REFERENCE_WORDS if word not in words]
    lines = [f"#define {_FREE_WORD}{word.upper()}\n" for word in free]
    return "".join([*lines, _REFERENCE_INCLUDE])


def _words_led(source: str) -> set[str]:
    """Return the words that the lines before a source define."""
    lead = source.partition("#line")[0]
    if not lead.endswith(_REFERENCE_INCLUDE):
        return set()
    return {word for word in _REFERENCE_WORDS if _FREE_WORD + word.upper() not in lead}


def compile_many(
    requests: Iterable[object],
    *,
    workers: int | None = None,
    progress: bool = True,
    **common: Any,
) -> list[bytes]:
    """Compile several sources side by side; return their images, in order.

    A request is a source, or a dict of arguments of ``compile``; ``common`` are
    arguments for all of them. Without a ``target`` the images are what SourceModule
    would load, so modules made of these sources afterwards come from the cache.

    ``workers`` is the number of threads, by default that of processors. On a terminal a
    line tells how far it is, unless ``progress`` is false. All are compiled, whatever
    becomes of the others; then the first CompileError is raised.
    """
    from functools import partial

    from pycuda._compile import parallel

    if isinstance(requests, (str, bytes, Mapping)):
        raise TypeError("compile_many takes a list of sources, not one")
    jobs = []
    for each in requests:
        own = dict(each) if isinstance(each, Mapping) else {"source": each}
        given: dict[str, Any] = {**common, **own}
        unknown = given.keys() - _ARGUMENTS
        if unknown:
            raise TypeError(f"compile takes no argument {min(unknown, key=str)!r}")
        jobs.append(partial(_compiled, *_request_of(**given)))
    results = parallel.run(jobs, workers, progress) if jobs else []
    images, failed = [], []
    for result in results:
        if isinstance(result, Exception):
            failed.append(result)
        else:
            images.append(result[0])
            _tell(result[2])
    if failed:
        first = failed[0]
        if len(failed) > 1 and hasattr(first, "msg"):
            first.msg += f" (and {len(failed) - 1} more of {len(results)} sources)"
        raise first
    return images


def _request_of(
    source: object,
    nvcc: str = "nvcc",
    options: Iterable[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | Sequence[str] | None = None,
    code: str | None = None,
    cache_dir: str | Literal[False] | None = None,
    include_dirs: Iterable[str] | None = None,
    target: str | None = None,
    compiler: str | None = None,
) -> Request:
    """Return what ``_compiled`` takes, from the arguments of ``compile``."""
    if target is not None:
        _check_target(target)
    wanted = (arch, code, target)
    tools = (nvcc, compiler)
    return _request(
        source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
    )


_ARGUMENTS = frozenset(_request_of.__annotations__) - {"return"}


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
    ``arch`` is one architecture, by default the current context's device's, or with the
    target "fatbin" several. The result is cached. Needs nvcc; a program without it
    links with DynamicModule, which is also how to link for the software device.
    Raises CompileError.
    """
    from pycuda import driver
    from pycuda._compile import nvcc_link

    if target not in ("cubin", "fatbin"):
        raise ValueError(f"the target of linking is cubin or fatbin, not {target!r}")
    options = _list_of(options, "options", ())
    cache_dir = store.resolve_dir(cache_dir)
    found = nvcc_link.contents(pieces)
    if not found:
        raise ValueError("there are no pieces to link")
    tool = _nvcc.Tool(nvcc)
    facts = tool.facts(cache_dir)
    wanted = (arch, None, target)
    device = _current_device(driver)
    _add_arch(options, device, (nvcc, "nvcc"), cache_dir, wanted)
    parts = [nvcc_link.digest(suffix, data) for suffix, data in found]
    entry = None
    if cache_dir:
        key = _key("\n".join(parts), options, f"linked {target}", facts, ())
        entry = os.path.join(cache_dir, f"{key}.{target}")
        image = None if keep else store.load(entry)
        if image is not None:
            return image
    chatter = []

    def make() -> tuple[bytes | None, bytes]:
        done = nvcc_link.run(tool.path, found, options, target, keep)
        chatter.append(done.chatter)
        manifest = None
        if entry:
            given = inputs.Given(options)
            manifest = store.make_manifest(
                "",
                given.files + given.libraries(),
                [],
                facts.toolkit_dirs,
                done.started_ns,
                _note("", options, facts, ["linked code"]),
            )
        return manifest, done.image

    image = _make_once(entry, keep, make)
    _tell("".join(chatter))
    return image


class _Target:
    """The device of the current context, as far as a compiler cares."""

    __slots__ = ("capability", "software")

    def __init__(self, device: Device) -> None:
        self.capability = tuple(device.compute_capability())
        self.software = device.name() == _SOFTWARE_DEVICE


def _current_device(driver: ModuleType) -> _Target | None:
    """Return the current context's device, None without a context or a driver."""
    try:
        return _Target(driver.Context.get_device())
    except driver.Error as error:
        if error.code not in _NO_CONTEXT:
            raise
        return None


def _names_arch(options: Iterable[str]) -> bool:
    return any(option.partition("=")[0] in _ARCH_OPTIONS for option in options)


def _arch_for(
    device: _Target, facts: Facts, exact: str | None, target: str
) -> tuple[str, str]:
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


def _unsupported(number: int, facts: Facts) -> CompileError:
    from pycuda.driver import CompileError

    def dotted(arch: int) -> str:
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
    get_texref: Callable[[str], TextureReference]
    get_surfref: Callable[[str], SurfaceReference]

    def _check_arch(self, arch: str | Sequence[str] | None) -> None:
        """Warn if the architecture asked for is above the device's."""
        if arch is None or isinstance(arch, (list, tuple)):
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
                stacklevel=store.outside(),
            )
        elif divmod(int(digits), 10) > device.capability:
            has = ".".join(map(str, device.capability))
            warnings.warn(
                f"the device has compute capability {has}, less than the architecture "
                f"'{arch}' asked for",
                stacklevel=store.outside(),
            )

    def _bind_module(self) -> None:
        """Make the module's other methods ours."""
        for name in ("get_global", "get_texref", "get_surfref"):
            if hasattr(self.module, name):
                setattr(self, name, getattr(self.module, name))

    def get_function(self, name: str) -> Function:
        """Return the kernel of this name; LogicError if there is none."""
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """Compile CUDA C for the current context's device and load it there.

    ``name_expressions`` are C++ expressions for kernels made from templates, such as
    "scale<float>"; ``get_function`` takes them.
    """

    _request: Request | None = None
    _context: Context | None = None  # that the code was loaded into, if it is ours
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
        from pycuda._driver import _working_context

        self._check_arch(arch)
        wanted = (arch, code, None)
        tools = (nvcc, compiler)
        self._request = _request(
            source, tools, options, keep, no_extern_c, wanted, cache_dir, include_dirs
        )
        names = _list_of(name_expressions, "name_expressions", ())
        self.module: Module
        self.module, lowered = self._build(names)
        self._context = _working_context()
        self._instances = {
            name: (self.module, symbol)
            for name, symbol in zip(names, lowered, strict=True)
        }
        self._bind_module()

    def _build(self, names: list[str]) -> tuple[Module, list[str]]:
        """Return the loaded module and what it calls the kernels of these names."""
        assert self._request is not None
        for name in names:
            if not name.strip() or "\n" in name:
                raise ValueError(f"{name!r} is not the name of a kernel")
        image, lowered, chatter = _compiled(*self._request, tuple(names))
        _tell(chatter)
        return _load(image, self._request), lowered

    def get_function(self, name: str) -> Function:
        """Return the kernel of that name.

        A C++ name such as "scale<float>" or "space::kernel" makes the kernel if the
        program has not: it is compiled then, once, into a module of its own, with its
        own copy of the source's variables. ``name_expressions`` makes it share them.
        """
        named = isinstance(name, str) and ("<" in name or "::" in name)
        if self._request is None or not named:
            return self.module.get_function(name)
        if name not in self._instances:
            with self._context or contextlib.nullcontext():
                module, (symbol,) = self._build([name])
            self._instances[name] = module, symbol
        module, symbol = self._instances[name]
        return module.get_function(symbol)


def _load(image: bytes, request: Request) -> Module:
    """Load an image; an error carries what a CompileError does."""
    from pycuda import driver

    logs = [("", "")]
    try:
        module = driver.module_from_buffer(
            image, message_handler=lambda done, info, log: logs.append((info, log))
        )
        vars(module)["_source"] = request[0]  # for _parameter_types.py
        return module
    except driver.Error as error:
        _explain(error, image, request, *logs[-1])
        raise


def _explain(error: Error, image: bytes, request: Request, info: str, log: str) -> None:
    """Give an error of the driver what a CompileError has."""
    source, options, _, tools, _, target = request
    command = [_choose(*tools).path, f"--{target}", *options]
    vars(error).update(
        source=source, msg=str(error), stdout=info, stderr=log, command_line=command
    )
    if target == "ptx":
        from pycuda._compile import excerpt

        lines = excerpt.of_ptx(image, log, source)
        if lines:
            error.args = (f"{str(error).rstrip()}\n{lines}", *error.args[1:])


# Linking


def _library_dirs(nvcc: str) -> list[str]:
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
        for home in toolkit.homes()
        for part in ("lib64", "lib", f"targets/{machine}-linux/lib")
    ]
    folders += toolkit.in_wheels(_LIBRARY_WHEELS)
    return list(dict.fromkeys(map(os.path.abspath, folders)))


class DynamicModule(CudaModule):
    """Compile and gather pieces of code, link them, and load the result.

    The ``add_`` methods and ``link`` return the module, so that calls can be chained.
    ``link_options`` (pairs of jit_option and int), ``message_handler`` and
    ``log_verbose`` are the Linker's. ``cuda_libdir`` is where ``add_stdlib`` looks
    first. Needs a current context on a device of compute capability 3.5 or more, else
    raises RuntimeError.
    """

    module: Module

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
        self.libptn: str
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
