"""From a request to an image, by way of the cache, and from an image to a module.

``prepare`` turns a ``CompileRequest`` into a ``Compilation``, in which everything is
settled: text, options, target, tool. ``build`` looks for its result in the cache. Only
if it is not there, a compiler runs. The key of a result has the text, the options, the
compiler's identity and the variables that it obeys. The entry's manifest has the
content of every file that the compiler read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from pycuda import _driver, driver
from pycuda._compile import architecture, inputs, progress, store, tools
from pycuda._compile.request import CompileRequest
from pycuda._compile.text import list_of, wrapped
from pycuda._compile.toolkit import HEADERS, Facts, Result, Tool
from pycuda._compile.warning import pass_on
from pycuda.driver import CompileError

_INCLUDE_HEADERS = f"-I{HEADERS}"

_ARCHITECTURE = r"\b(?:sm|compute)_\w+"
#: The options that record the source's lines in the image.
_LINE_OPTIONS = frozenset(
    ("-lineinfo", "--generate-line-info", "-G", "--device-debug", "-device-debug")
)
_KERNEL = r"__global__\b(?:[^(){};]|\(\s*\d[^()]*\))*?(\w+)\s*\((?!\s*\d)"


class Compilation:
    """A request in which everything is settled."""

    __slots__ = (
        "compiler",
        "facts",
        "folder",
        "keep",
        "nvcc",
        "options",
        "target",
        "text",
        "tool",
    )

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
        self.choose_tool()

    def choose_tool(self) -> None:
        """Choose the tool. Choose again if it proves to be broken."""
        self.tool: Tool = tools.choose(self.nvcc, self.compiler, self.folder)
        self.facts: Facts | None = None
        if self.folder:
            self.facts = self.tool.facts(self.folder)


# (image, lowered names, messages): the bytes, the names in the image of the kernels
# that expressions name, and the messages of a compiler that ran and succeeded.
Built = tuple[bytes, list[str], str]


def build_image(request: CompileRequest) -> bytes:
    """Return the image for a request. Warn of the compiler's messages."""
    image, _, messages = build(prepare(request))
    pass_on(messages)
    return image


def prepare(request: CompileRequest) -> Compilation:
    """Check a request, choose the tool, and settle options and target."""
    options = list_of(request.options, "options")
    text = wrapped(request.source, request.no_extern_c)
    folders: list[str] = []
    if request.include_dirs is not None:
        folders = list_of(request.include_dirs, "include_dirs")
    folder, keep = store.resolve_dir(request.cache_dir), request.keep
    if driver.CUDA_DEBUGGING:
        folder, keep = None, True
        options += ["-g", "-G"]
    elif os.environ.get("PYCUDA_CHECK") and not _LINE_OPTIONS.intersection(options):
        options.append("-lineinfo")  # a report of a check names the source's line
    compilation = Compilation(
        text, options, request.nvcc, request.compiler, folder, keep
    )
    compilation.target = architecture.add_options(
        options, request, compilation.tool, compilation.facts
    )
    for each in folders:
        options.append(f"-I{os.path.abspath(each)}")
    options.append(_INCLUDE_HEADERS)
    return compilation


def build(compilation: Compilation, names: Sequence[str] = ()) -> Built:
    """Return the result of a compilation, from the cache or from the compiler.

    ``names`` are C++ expressions for kernels, such as "f<float>". The image has a
    kernel for each of them. If the tool is broken, another one replaces it.
    """
    if "PYCUDA_CHECK_LOG" in os.environ:
        from pycuda._compile import source_log

        source_log.keep(compilation.text)
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
    key = key_of(
        compilation.text,
        compilation.options,
        compilation.target,
        compilation.facts,
        names,
    )
    entry = os.path.join(compilation.folder, f"{key}.{compilation.target}")
    if not compilation.keep:
        payload = store.load(entry)
        if payload is not None:
            if not names:
                return payload, [], ""
            image, lowered = _unpack(payload, names)
            return image, lowered, ""
    return _compile(compilation, names, entry)


def _compile(
    compilation: Compilation, names: Sequence[str], entry: str | None
) -> Built:
    """Run the compiler, and store its result at ``entry`` if that is not None."""
    messages: list[str] = []

    def make() -> tuple[bytes | None, bytes]:
        started = _driver._timeline_clock()
        result, text = _run(compilation, names)
        _note_span(compilation, names, started)
        messages.append(result.messages)
        manifest = None
        facts = compilation.facts
        if entry and facts is not None and result.read is not None:
            kernels = names or re.findall(_KERNEL, compilation.text)
            note = note_of(compilation.options, facts, kernels)
            manifest = manifest_of(result, text, compilation.options, facts, note)
        return manifest, _pack(result.image, result.lowered)

    with progress.shown(_described(compilation, names)):
        payload = make_once(entry, compilation.keep, make)
    image, lowered = _unpack(payload, names)
    return image, lowered, "".join(messages)


def _described(compilation: Compilation, names: Sequence[str]) -> str:
    """Return what is compiled, for the line on the terminal."""
    kernels = names or re.findall(_KERNEL, compilation.text)
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
    surface<> variables: then ``pycuda-textures.hpp`` comes before the source.
    """
    from pycuda._compile import references

    source, options, target = compilation.text, compilation.options, compilation.target
    tool, keep = compilation.tool, compilation.keep
    try:
        return tool.run(source, options, target, keep, names), source
    except CompileError as error:
        words = references.unknown_in(tools.output_of(error))
        if not words or _INCLUDE_HEADERS not in options:
            raise
        first = error
    text = references.defining(words | references.defined_in(source)) + source
    try:
        return tool.run(text, options, target, keep, names), text
    except CompileError as error:
        still_unknown = references.unknown_in(tools.output_of(error))
        if still_unknown or "is not a template" not in tools.output_of(first):
            raise first from None  # the word did not mean a reference
        error.source = source
        raise


# -- the cache -------------------------------------------------------------------------


def key_of(
    text: str,
    options: Sequence[str],
    target: str,
    facts: Facts,
    names: Sequence[str] = (),
) -> str:
    """Return the key of a result in the cache."""
    if facts.name == "nvcc":
        around = inputs.for_key(options)
    else:
        around = [os.getcwd() if inputs.depends_on_cwd(options) else ""]
    return store.key_of(
        text,
        facts.version,
        target,
        os.uname().machine,
        *around,
        "\n".join(names),
        *options,
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
    from pycuda._compile import manifest

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


def build_module(
    compilation: Compilation, names: Sequence[str] = ()
) -> tuple[driver.Module, list[str]]:
    """Return the loaded module, and the names in it of the kernels ``names``."""
    for name in names:
        if not name.strip() or "\n" in name:
            raise ValueError(f"{name!r} is not the name of a kernel")
    image, lowered, messages = build(compilation, names)
    pass_on(messages)
    return load(image, compilation), lowered


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
    vars(module)["_source"] = compilation.text  # for _parameter_types.py
    return module


def _explain(
    error: driver.Error, image: bytes, compilation: Compilation, info: str, log: str
) -> None:
    """Give an error of the driver the attributes of a CompileError."""
    options, target = compilation.options, compilation.target
    vars(error).update(
        source=compilation.text,
        msg=str(error),
        stdout=info,
        stderr=log,
        command_line=[compilation.tool.path, f"--{target}", *options],
    )
    if target == "ptx":
        from pycuda import _excerpt

        excerpt = _excerpt.of_ptx(image, log, compilation.text)
        if excerpt:
            error.args = (f"{str(error).rstrip()}\n{excerpt}", *error.args[1:])
