"""From a request to an image, by way of the cache, and from an image to a module.

``prepare`` turns a ``CompileRequest`` into a ``Compilation``. ``settle`` decides the
rest: the tool, the options for the device, the target. ``build`` looks for the result
in the cache. Only if it is not there, a compiler runs. If bundles are in use, ``build``
looks in them first, and ``settle`` runs only if they do not have the result. A program
with a bundle needs neither the tools nor the cache, so functions import those.

The key of a result has the text, the options, the compiler's identity and the variables
that it obeys. The entry's manifest has the content of every file that the compiler
read.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pycuda import _driver, driver
from pycuda._compile import architecture, bundle, source_text, store
from pycuda._compile.architecture import TargetDevice
from pycuda._compile.request import CompileRequest, list_of
from pycuda._compile.store import HEADERS
from pycuda._warning import NOTE_END, pass_on
from pycuda.driver import CompileError, CompilerNotFoundError

if TYPE_CHECKING:
    from pycuda._compile.toolkit import Facts, Result, Tool

_INCLUDE_HEADERS = f"-I{HEADERS}"
_OUR_HEADERS = "-Ipycuda/cuda"

_ARCHITECTURE = r"\b(?:sm|compute)_\w+"
#: The options that record the source's lines in the image.
LINE_OPTIONS = frozenset(
    ("-lineinfo", "--generate-line-info", "-G", "--device-debug", "-device-debug")
)
_KERNEL = r"__global__\b(?:[^(){};]|\(\s*\d[^()]*\))*?(\w+)\s*\((?!\s*\d)"


#: The option by which NVRTC leaves out slow optimizations, and the release that has it
#: first.
_QUICK_OPTION = "-Ofc=min"
_QUICK_SINCE = (12, 9)


#: What was compiled last to PTX: a fault of the software device needs it.
of_software_device: deque[tuple[CompileRequest, tuple[str, ...]]] = deque(maxlen=256)


class Compilation:
    """A checked request, and what was decided about it."""

    __slots__ = (
        "bundle",
        "compiler",
        "device",
        "facts",
        "folder",
        "include_dirs",
        "keep",
        "nvcc",
        "offer",
        "options",
        "request",
        "settled",
        "target",
        "text",
        "tool",
        "types",
        "watched",
    )

    tool: Tool  # once it is chosen

    def __init__(
        self,
        text: str,
        options: list[str],
        nvcc: str,
        compiler: str | None,
        folder: str | None,
        keep: bool,
    ) -> None:
        self.text = text
        self.options = options
        self.nvcc = nvcc
        self.compiler = compiler
        self.folder = folder  # of the cache, None to do without it
        self.keep = keep
        self.target = "cubin"
        self.facts: Facts | None = None
        self.settled = False  # the tool is chosen, and its options are complete
        # The rest is for requests.
        self.request: CompileRequest | None = None
        self.include_dirs: list[str] = []
        self.device: TargetDevice | None = None  # of the context that was current
        self.offer: bundle.Offer | None = None  # of the bundles in use
        self.bundle = ""  # the path of the one that had the image
        self.types: dict[str, str] = {}  # of the kernels' parameters, from there
        self.watched: list[store.Stamp] | None = None  # to be filled, for recall.py

    def choose_tool(self) -> None:
        """Choose the tool. Choose again if it proves to be broken."""
        from pycuda._compile import tools

        self.tool = tools.choose(self.nvcc, self.compiler, self.folder)
        self.settled = True
        self.facts = None
        if self.folder:
            self.facts = self.tool.facts(self.folder)

    def choose_tool_again(self) -> None:
        """Choose the tool for a later compilation, unless a bundle made it needless."""
        if self.settled:
            self.choose_tool()


# (image, lowered names, messages): the bytes, the names in the image of the kernels
# that expressions name, and the messages of a compiler that ran and succeeded.
Built = tuple[bytes, list[str], str]


def build_image(request: CompileRequest) -> bytes:
    """Return the image for a request. Warn of the compiler's messages."""
    _, (image, _, messages) = built_of(request)
    pass_on(messages)
    return image


def built_of(
    request: CompileRequest, names: Sequence[str] = ()
) -> tuple[Compilation, Built]:
    """Return a request's compilation and result, from this process if it has them."""
    if bundle.are_used():  # quick without, and it needs few imports
        compilation = prepare(request)
        return compilation, build(compilation, names)
    from pycuda._compile import recall

    call = recall.Call(request, names)
    found: tuple[Compilation, Built] | None = call.find()
    if found is not None:
        _note_ptx(found[0], names)
        return found
    call.begin()
    compilation = prepare(request)
    compilation.watched = call.watched
    built = build(compilation, names)
    compilation.watched = None
    image, lowered, _ = built
    size = len(image) + 2 * len(compilation.text)
    call.keep((compilation, (image, lowered, "")), size)
    return compilation, built


def prepare(request: CompileRequest) -> Compilation:
    """Check a request. Settle it at once, unless a bundle may have its image."""
    options = list_of(request.options, "options")
    source = source_text.text_of(request.source)
    text = source_text.wrapped(source, request.no_extern_c)
    folders: list[str] = []
    if request.include_dirs is not None:
        folders = list_of(request.include_dirs, "include_dirs")
    arch = request.arch
    if arch is not None and not isinstance(arch, str) and isinstance(arch, Iterable):
        arch = tuple(arch)
    request = request.with_fields(source=source, options=tuple(options), arch=arch)
    folder, keep = store.resolve_dir(request.cache_dir), request.keep
    if driver.CUDA_DEBUGGING:
        folder, keep = None, True
        options += ["-g", "-G"]
    elif wants_lines() and not LINE_OPTIONS.intersection(options):
        options.append("-lineinfo")
    compilation = Compilation(
        text, options, request.nvcc, request.compiler, folder, keep
    )
    compilation.include_dirs = [os.path.abspath(each) for each in folders]
    compilation.request = request.with_fields(include_dirs=compilation.include_dirs)
    bundles = [] if keep else bundle.in_use()
    if bundles:
        compilation.device = architecture.current_device()
        compilation.offer = bundle.Offer(
            bundles, compilation.request, compilation.device
        )
    else:
        settle(compilation)
    return compilation


def wants_lines() -> bool:
    """Return whether reports of checks or of counts name the lines of sources."""
    environ = os.environ
    return bool(environ.get("PYCUDA_CHECK") or environ.get("PYCUDA_EMULATOR_COUNT"))


def settle(compilation: Compilation) -> None:
    """Choose the tool, and add the options for the device and for headers."""
    request, options = compilation.request, compilation.options
    if compilation.settled or request is None:
        return
    try:
        compilation.choose_tool()
    except CompilerNotFoundError as error:
        if compilation.offer is not None:
            reason = compilation.offer.complaint()
            error.msg = f"{reason} Otherwise install a compiler: {error.msg}"
        raise
    device = compilation.device
    if compilation.offer is None:
        device = compilation.device = architecture.current_device()
    tool, facts = compilation.tool, compilation.facts
    compilation.target = architecture.add_options(options, request, device, tool, facts)
    options += [f"-I{each}" for each in compilation.include_dirs]
    options.append(_INCLUDE_HEADERS)
    if request.quick:
        _add_quick_option(options, facts or tool.facts(None))


def _add_quick_option(options: list[str], facts: Facts) -> None:
    release = facts.release.split(".")
    is_known = facts.name == "NVRTC" and all(map(str.isdecimal, release))
    if is_known and tuple(map(int, release)) >= _QUICK_SINCE:
        options.append(_QUICK_OPTION)


def build(compilation: Compilation, names: Sequence[str] = ()) -> Built:
    """Return the result of a compilation, from the cache or from the compiler.

    ``names`` are C++ expressions for kernels, such as "f<float>". The image has a
    kernel for each of them. If the tool is broken, another one replaces it.
    """
    try:
        return _build(compilation, names)
    except CompileError as error:
        # The frames between this one and the compiler would hide the kernel's lines.
        raise error.with_traceback(None)  # noqa: B904  the same error


def _build(compilation: Compilation, names: Sequence[str]) -> Built:
    environ = os.environ
    if "PYCUDA_CHECK_LOG" in environ:
        from pycuda._compile import recording

        recording.keep_text(compilation.text)
    compilation.bundle, compilation.types = "", {}
    built = _from_bundle(compilation, names)
    if built is None:
        settle(compilation)
        built = _build_with_working_tool(compilation, names)
    _note_ptx(compilation, names)
    if "PYCUDA_EMULATOR_COUNT_LOG" in environ and compilation.target == "ptx":
        from pycuda._compile import recording

        recording.keep_source(compilation.text, built[0])
    if "PYCUDA_RECORD" in environ and compilation.request is not None:
        from pycuda._compile import recording

        recording.keep(compilation.request, names, compilation.device)
    return built


def _note_ptx(compilation: Compilation, names: Sequence[str]) -> None:
    if compilation.target == "ptx" and compilation.request is not None:
        of_software_device.append((compilation.request, tuple(names)))


def is_kept(compilation: Compilation) -> bool:
    """Say whether a bundle or the cache has the result, so that no compiler runs."""
    if _from_bundle(compilation, ()) is not None:
        return True
    settle(compilation)
    folder, facts = compilation.folder, compilation.facts
    if folder is None or facts is None or compilation.keep:
        return False
    entry = entry_of(compilation, folder, facts, ())
    return any(os.path.exists(path) for path, _ in _places_of(entry))


def _from_bundle(compilation: Compilation, names: Sequence[str]) -> Built | None:
    """Return the result that a bundle has, None if none has it."""
    if compilation.offer is None:
        return None
    found = compilation.offer.image(names)
    if found is None:
        return None
    data, image, source, compilation.bundle = found
    compilation.target, compilation.types = image.target, source.types
    return data, image.lowered, ""


def _build_with_working_tool(compilation: Compilation, names: Sequence[str]) -> Built:
    """Return the result from the cache or a tool. Replace a broken tool."""
    from pycuda._compile import tools

    try:
        return _build_with_tool(compilation, names)
    except CompileError as error:
        if compilation.target == "fatbin" or not tools.replace_broken(
            compilation.nvcc, compilation.compiler, error, compilation.folder
        ):
            raise
    compilation.choose_tool()
    return _build_with_tool(compilation, names)


def _build_with_tool(compilation: Compilation, names: Sequence[str]) -> Built:
    if compilation.folder is None or compilation.facts is None:
        return _compile(compilation, names, None)
    entry = entry_of(compilation, compilation.folder, compilation.facts, names)
    compilers = _stamps_of_compilers(compilation)
    if not compilation.keep:
        for path, shared in _places_of(entry):
            payload = store.load(path, shared, compilation.watched)
            if payload is not None:
                _add_to_watched(compilation, compilers)
                image, lowered = _unpack(payload, names)
                return image, lowered, ""
    built = _compile(compilation, names, entry)
    _add_to_watched(compilation, compilers)
    return built


def _stamps_of_compilers(compilation: Compilation) -> list[store.Stamp]:
    """Return the compilers' files, if it is to be known what a result depends on."""
    if compilation.watched is None:
        return []
    paths = [compilation.tool.path]
    if compilation.tool.name == "nvcc":
        from pycuda._compile import inputs

        paths += filter(None, [inputs.host_compiler(compilation.options)])
    return store.stamps_of(paths)


def _add_to_watched(compilation: Compilation, compilers: list[store.Stamp]) -> None:
    """Add the compilers, or forget all if there is nothing about the entry or them."""
    watched = compilation.watched
    if watched and compilers:
        watched += compilers
    elif watched:
        watched.clear()


def _places_of(entry: str) -> Iterator[tuple[str, bool]]:
    """Give the paths that a result may have, and whether the cache is a shared one."""
    yield entry, False
    for folder in store.shared_dirs():
        yield os.path.join(folder, os.path.basename(entry)), True


def _compile(
    compilation: Compilation, names: Sequence[str], entry: str | None
) -> Built:
    """Run the compiler, and store its result at ``entry`` if that is not None."""
    messages: list[str] = []
    manifest: bytes | None = None

    def make() -> tuple[bytes | None, bytes]:
        nonlocal manifest
        started = _driver._timeline_clock()
        result, text = _run(compilation, names)
        _note_span(compilation, names, started)
        messages.append(result.messages)
        facts = compilation.facts
        if entry and facts is not None and result.read is not None:
            kernels = names or kernels_in(compilation.text)
            note = note_of(compilation.options, facts, kernels)
            manifest = manifest_of(result, text, compilation.options, facts, note)
        return manifest, _pack(result.image, result.lowered)

    from pycuda._compile import progress

    with progress.shown(_described(compilation, names)):
        payload = make_once(entry, compilation.keep, make)
    if entry and manifest and compilation.watched is not None:
        store.watch(entry, manifest, compilation.watched)
    image, lowered = _unpack(payload, names)
    return image, lowered, "".join(messages)


def kernels_in(text: str) -> list[str]:
    """Return the names of the kernels that a source defines."""
    return re.findall(_KERNEL, text)


def _described(compilation: Compilation, names: Sequence[str]) -> str:
    """Return what is compiled, for the line on the terminal."""
    kernels = names or kernels_in(compilation.text)
    found = ", ".join(dict.fromkeys(kernels)) or "code without kernels"
    return f"{found} with {compilation.tool.name}"


def _note_span(compilation: Compilation, names: Sequence[str], started: int) -> None:
    """Add the run of a compiler to the timeline, if one records."""
    if started:
        name = _described(compilation, names)
        _driver._timeline_note("compile", name, started, _driver._timeline_clock())


def _run(compilation: Compilation, names: Sequence[str]) -> tuple[Result, str]:
    """Run a compiler. Return its result and the text that it compiled.

    The text differs from the request's if a header of the user declares texture<> or
    surface<> variables: then ``pycuda-textures.hpp`` comes before the source. It also
    differs if a header has C++ that cannot be inside ``extern "C"``.
    """
    from pycuda._compile import tools

    source, options, target = compilation.text, compilation.options, compilation.target
    tool, keep = compilation.tool, compilation.keep
    try:
        return tool.run(source, options, target, keep, names), source
    except CompileError as error:
        if source_text.is_linkage_complaint(source, tools.output_of(error)):
            return _run_outside(compilation, names, error)
        words = source_text.unknown_references(tools.output_of(error))
        if not words or _INCLUDE_HEADERS not in options:
            raise
        first = error
    words |= source_text.defined_references(source)
    text = source_text.defining_references(words) + source
    try:
        return tool.run(text, options, target, keep, names), text
    except CompileError as error:
        still_unknown = source_text.unknown_references(tools.output_of(error))
        if still_unknown or "is not a template" not in tools.output_of(first):
            raise first from None  # the word did not mean a reference
        error.source = source
        raise


def _run_outside(
    compilation: Compilation, names: Sequence[str], first: CompileError
) -> tuple[Result, str]:
    """Run a compiler again, with the headers outside of ``extern "C"``.

    ``first`` is its error about the source as it was.
    """
    from pycuda._compile import tools

    source, options, target = compilation.text, compilation.options, compilation.target
    text, headers = source_text.with_headers_outside(source)
    if not headers:
        first.msg = f"{first.msg.rstrip('.')}. {source_text.LINKAGE_ADVICE}"
        raise first
    try:
        result = compilation.tool.run(text, options, target, compilation.keep, names)
    except CompileError as error:
        if source_text.is_linkage_complaint(source, tools.output_of(error)):
            error.msg = f"{error.msg.rstrip('.')}. {source_text.LINKAGE_ADVICE}"
        error.source = source
        raise
    result.messages = f"{source_text.linkage_note(headers)}{NOTE_END}{result.messages}"
    return result, text


# -- the cache -------------------------------------------------------------------------


def entry_of(
    compilation: Compilation, folder: str, facts: Facts, names: Sequence[str]
) -> str:
    """Return the path of a result in the cache."""
    key = key_of(
        compilation.text, compilation.options, compilation.target, facts, names
    )
    return os.path.join(folder, f"{key}.{compilation.target}")


def key_of(
    text: str,
    options: Sequence[str],
    target: str,
    facts: Facts,
    names: Sequence[str] = (),
) -> str:
    """Return the key of a result in the cache."""
    from pycuda._compile import inputs

    if facts.name == "nvcc":
        around = inputs.for_key(options)
    else:
        around = [os.getcwd() if inputs.depends_on_cwd(options) else ""]
    # The folder of our headers differs among environments. Their content counts.
    plain = [_OUR_HEADERS if each == _INCLUDE_HEADERS else each for each in options]
    return store.key_of(
        text,
        facts.version,
        target,
        os.uname().machine,
        *around,
        "\n".join(names),
        *plain,
    )


def note_of(options: Sequence[str], facts: Facts, kernels: Iterable[str]) -> str:
    """Describe a result for people who look at the cache."""
    found = dict.fromkeys(re.findall(_ARCHITECTURE, " ".join(options)))
    return (
        f"{facts.name} {facts.release} {','.join(found) or 'any'}: "
        f"{', '.join(dict.fromkeys(kernels))[:200]}"
    )


def manifest_of(
    result: Result, text: str, options: Sequence[str], facts: Facts, note: str
) -> bytes | None:
    """Describe what a compilation of ``text`` read. None if it must not be kept."""
    from pycuda._compile import inputs, manifest

    given = inputs.Given(options)
    folders = result.search_dirs
    if folders is None:
        folders = given.search_dirs()
    return manifest.make(
        given.as_source() + text,
        (result.read or []) + given.files + given.libraries(),
        folders,
        facts.toolkit_dirs,
        result.started_ns,
        note,
    )


def make_once(
    entry: str | None, keep: bool, make: Callable[[], tuple[bytes | None, bytes]]
) -> bytes:
    """Return the payload of ``make``, or that of a caller that makes it right now.

    ``make`` returns (manifest, payload). They are stored at ``entry`` unless that or
    the manifest is None.
    """
    if entry and not keep:
        from pycuda._compile import single_flight

        return single_flight.get(entry, make)
    manifest, payload = make()
    if entry and manifest is not None:
        store.save(entry, manifest, payload)
    return payload


def _pack(image: bytes, lowered: Iterable[str]) -> bytes:
    """Return a payload of the cache: the lowered names, one a line, and the image."""
    return b"".join([*(name.encode() + b"\n" for name in lowered), image])


def _unpack(payload: bytes, names: Sequence[str]) -> tuple[bytes, list[str]]:
    """Return (image, lowered names)."""
    if not names:
        return payload, []
    *lowered, image = payload.split(b"\n", len(names))
    return image, [name.decode() for name in lowered]


# -- loading ---------------------------------------------------------------------------


def module_of(
    request: CompileRequest, names: Sequence[str]
) -> tuple[Compilation, driver.Module, list[str]]:
    """Return a request's compilation and module, and the names of ``names`` in it."""
    _check_names(names)
    compilation, (image, lowered, messages) = built_of(request, names)
    pass_on(messages)
    return compilation, load(image, compilation), lowered


def module_with(compilation: Compilation, name: str) -> tuple[driver.Module, str]:
    """Return a module with another kernel of a compilation, and its name there."""
    _check_names([name])
    image, (lowered,), messages = build(compilation, [name])
    pass_on(messages)
    return load(image, compilation), lowered


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not name.strip() or "\n" in name:
            raise ValueError(f"{name!r} is not the name of a kernel")


def load(image: bytes, compilation: Compilation) -> driver.Module:
    """Load an image. An error gets the attributes of a CompileError."""
    logs = [("", "")]

    def keep_log(done: bool, info: str, log: str) -> None:
        logs.append((info, log))

    try:
        module = driver.module_from_buffer(image, message_handler=keep_log)
    except driver.Error as error:
        _explain(error, image, compilation, *logs[-1])
        raise
    vars(module)["_source"] = compilation.text  # for _argument_types.py
    if compilation.types:
        vars(module)["_characters"] = compilation.types
    return module


def _explain(
    error: driver.Error, image: bytes, compilation: Compilation, info: str, log: str
) -> None:
    """Give an error of the driver the attributes of a CompileError."""
    options, target = compilation.options, compilation.target
    maker = compilation.bundle or compilation.tool.path
    vars(error).update(
        source=compilation.text,
        msg=str(error),
        stdout=info,
        stderr=log,
        command_line=[maker, f"--{target}", *options],
    )
    if target == "ptx":
        from pycuda import _excerpt

        excerpt = _excerpt.of_ptx(image, log, compilation.text)
        if excerpt:
            error.args = (f"{str(error).rstrip()}\n{excerpt}", *error.args[1:])
