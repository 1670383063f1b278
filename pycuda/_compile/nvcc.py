"""nvcc as a subprocess: where it is, what it is, and one run of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pycuda import _extras
from pycuda._compile import toolkit
from pycuda._excerpt import SOURCE_NAME
from pycuda._warning import warn
from pycuda.driver import CompileError, CompilerNotFoundError

if TYPE_CHECKING:
    from subprocess import CompletedProcess

_WHEEL_FOLDERS = ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin")

# The variable that makes gcc list the headers that it reads. nvcc's own option for it,
# -MD, preprocesses the source once more: a fifth of the time of a small kernel.
_LIST_VARIABLE = "SUNPRO_DEPENDENCIES"
_FIRST_HEADER = b"cuda_runtime.h"  # nvcc includes it always: a whole list has it
_TEMPORARY = "tmpxft_"  # nvcc's own files, which the host compiler reads
_LINK_OPTIONS = ("-dlink", "--device-link")

_LINE_DIRECTIVE = r'(?m)^[ \t]*#[ \t]*(?:line[ \t]+)?\d+[ \t]+"([^"\n]+)"'

_found: dict[tuple[object, ...], str] = {}


def find(nvcc: str | os.PathLike[str]) -> str:
    """Return the path of the program ``nvcc``. Raise CompilerNotFoundError.

    A name is looked for on PATH, then in the folders of toolkits and of NVIDIA's
    wheels. A path is taken as it is.
    """
    nvcc = os.fspath(nvcc)
    environ = os.environ
    key = (
        nvcc,
        environ.get("PATH"),
        environ.get("CUDA_HOME"),
        environ.get("CUDA_PATH"),
    )
    path = _found.get(key)
    if path is None:
        path = _found[key] = _search(nvcc)
    return path


def _search(nvcc: str) -> str:
    path = os.path.expanduser(nvcc)
    if os.path.dirname(path):
        if toolkit.is_program(path):
            return os.path.abspath(path)
        raise CompilerNotFoundError(f"there is no compiler at '{nvcc}'", [nvcc], nvcc)
    found = toolkit.on_path([nvcc])
    if found is not None:
        return os.path.abspath(found)
    folders = [os.path.join(home, "bin") for home in toolkit.homes()]
    for folder in folders + toolkit.in_wheels(_WHEEL_FOLDERS):
        path = os.path.join(folder, nvcc)
        if toolkit.is_program(path):
            return os.path.abspath(path)
    raise CompilerNotFoundError(
        f"the CUDA compiler '{nvcc}' was not found. Install it: "
        f"{_extras.command('nvcc')}. Or set CUDA_HOME or the argument nvcc=\n"
        f"These places have no {nvcc}:\n"
        "  PATH\n"
        f"  {toolkit.described_homes()}, /usr/local/cuda\n"
        f"  NVIDIA's wheels ({' or '.join(_WHEEL_FOLDERS)} in site-packages)",
        [nvcc],
        nvcc,
    )


class Tool(toolkit.Tool):
    """One nvcc binary."""

    __slots__ = ("path",)

    name = "nvcc"

    def __init__(self, nvcc: str | os.PathLike[str]) -> None:
        self.path: str = find(nvcc)

    def facts(self, folder: str | None) -> toolkit.Facts:
        try:
            return toolkit.facts_of("nvcc", self.path, folder, self._introduce)
        except FileNotFoundError:
            _found.clear()
            raise _vanished(self.path) from None

    def _introduce(self) -> tuple[str, str]:
        version = _ask(self.path, "--version")
        if not version.strip():
            warn(
                f"'{self.path} --version' printed nothing, so cached code may come "
                "from another version of it"
            )
        return version, _ask(self.path, "--list-gpu-arch")

    def run(
        self,
        source: str,
        options: Sequence[str],
        target: str,
        keep: bool,
        names: Sequence[str] = (),
    ) -> toolkit.Result:
        from pycuda._compile.toolkit import work_folder

        with work_folder(keep) as folder:
            if not names:
                return _run_in(folder, self.path, source, options, target, keep)
            lowered = _lower(folder, self.path, source, options, names)
            mentioned = source + _mention(names, _ON_THE_HOST)
            result = _run_in(folder, self.path, mentioned, options, target, keep)
            result.lowered = lowered
            return result


def _vanished(path: str) -> CompilerNotFoundError:
    return CompilerNotFoundError(f"the compiler '{path}' is gone", [path], path)


def _start(
    command: list[str], env: dict[str, str] | None = None
) -> CompletedProcess[bytes]:
    """Run a command to its end. The GIL is released meanwhile."""
    import subprocess

    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=env,
        )
    except FileNotFoundError:
        _found.clear()
        raise _vanished(command[0]) from None
    except OSError as error:
        raise CompileError(f"'{command[0]}' cannot be run: {error}", command) from error


def _ask(path: str, question: str) -> str:
    """Return what nvcc prints for an option, "" if it does not know the option."""
    done = _start([path, question])
    if done.returncode != 0:
        return ""
    return done.stdout.decode("utf-8", "replace")


def _run_in(
    folder: str,
    path: str,
    source: str,
    options: Sequence[str],
    target: str,
    keep: bool,
) -> toolkit.Result:
    source_path = os.path.join(folder, SOURCE_NAME)
    image_path = os.path.join(folder, f"kernel.{target}")
    deps_path = os.path.join(folder, "deps")
    with open(source_path, "wb") as file:
        file.write(source.encode("utf-8", "surrogateescape"))
    command = [path, f"--{target}", *options]
    if keep:
        command += ["--keep", "--keep-dir", folder]
    command += ["-o", image_path, source_path]
    env = dict(os.environ)
    if " " not in deps_path:
        # gcc adds a rule to this file each time that it preprocesses. A space would end
        # the path.
        env[_LIST_VARIABLE] = f"{deps_path} image"

    started_ns = time.time_ns()
    what = f"compilation of {SOURCE_NAME}"
    image, messages = _made(command, image_path, folder, keep, what, source, env)
    listed = _read(deps_path)
    if _FIRST_HEADER not in listed:
        # The host compiler is not gcc, or an option tells it where to put a list.
        plain = [option for option in options if option not in _LINK_OPTIONS]
        done = _start([path, "-M", *plain, source_path])
        listed = done.stdout if done.returncode == 0 else b""
    read = _dependencies(listed, source_path, source)
    return toolkit.Result(image, read, started_ns, messages)


def link_in(
    folder: str,
    path: str,
    names: Sequence[str],
    options: Sequence[str],
    target: str,
    keep: bool,
) -> toolkit.Result:
    """Link files of a folder. The Result has read no other files."""
    image_path = os.path.join(folder, f"linked.{target}")
    command = [path, "-dlink", f"--{target}", *options, "-o", image_path, *names]
    started_ns = time.time_ns()
    image, messages = _made(command, image_path, folder, keep, "linking", None)
    return toolkit.Result(image, [], started_ns, messages)


def _made(
    command: list[str],
    image_path: str,
    folder: str,
    keep: bool,
    what: str,
    source: str | None,
    env: dict[str, str] | None = None,
) -> tuple[bytes, str]:
    """Run a command that makes a file. Return (its content, the messages)."""
    done = _start(command, env)
    stdout = done.stdout.decode("utf-8", "replace")
    stderr = done.stderr.decode("utf-8", "replace")
    if not keep:
        # The folder is removed before the reader sees its name.
        stdout = stdout.replace(folder + os.sep, "")
        stderr = stderr.replace(folder + os.sep, "")
    if done.returncode == 0:
        image = _read(image_path)
        if image:
            return image, f"{stdout}\n{stderr}"
        msg = f"nvcc {what} reported success but made no file"
    else:
        msg = f"nvcc {what} failed"
    if keep:
        msg += f" (its files are in {folder})"
    raise CompileError(msg, command, stdout, stderr, source)


# nvcc instantiates a template where the program mentions it. A mention on the host
# leaves nothing in the image. A mention in a variable of the device shows in PTX which
# name the kernel has there.
_ON_THE_HOST = (
    "namespace {{ __attribute__((used)) void *{name}() {{ return {kernel}; }} }}"
)
_ON_THE_DEVICE = 'extern "C" __device__ void *{name} = {kernel};'
_MENTION = "__pycuda_name_{number}"


def _mention(names: Sequence[str], form: str) -> str:
    """Return lines that mention each kernel."""
    lines = []
    for number, kernel in enumerate(names):
        name = _MENTION.format(number=number)
        lines.append('#line 1 "name expression"')
        lines.append(form.format(name=name, kernel=f"(void *)({kernel})"))
    return "\n".join(lines) + "\n"


def _lower(
    folder: str, path: str, source: str, options: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Return the names that the kernels have in PTX of the source."""
    mentioned = source + _mention(names, _ON_THE_DEVICE)
    plain = _with_one_arch(options)
    ptx = _run_in(folder, path, mentioned, plain, "ptx", False).image.decode()
    lowered = []
    for number, kernel in enumerate(names):
        variable = _MENTION.format(number=number)
        found = re.search(rf"\b{variable} = (?:generic\()?([\w$]+)", ptx)
        if found is None:
            msg = f"nvcc's PTX does not show the name of the kernel '{kernel}'"
            raise CompileError(msg, [path, *plain], None, None, source)
        lowered.append(found[1])
    return lowered


def _with_one_arch(options: Sequence[str]) -> list[str]:
    """Return the options with only the first architecture, because PTX is for one."""
    kept: list[str] = []
    archs: list[str] = []
    rest = iter(options)
    for option in rest:
        name, equals, value = option.partition("=")
        if name in ("-arch", "--gpu-architecture"):
            archs.append(value if equals else next(rest, ""))
        elif name in ("-gencode", "--generate-code"):
            archs += re.findall(r"arch=(\w+)", value if equals else next(rest, ""))
        elif name in ("-code", "--gpu-code"):
            if not equals:
                next(rest, "")
        else:
            kept.append(option)
    return [*kept, *(f"-arch={arch}" for arch in archs[:1])]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _dependencies(text: bytes, source_path: str, source: str) -> list[str] | None:
    """Return the headers that nvcc read, None if it did not list them."""
    if not text:
        return None
    paths = parse_dependencies(os.fsdecode(text))
    # The list has the names in #line directives too, which need not be files.
    named = {
        name for name in re.findall(_LINE_DIRECTIVE, source) if not os.path.exists(name)
    }
    named |= {source_path, SOURCE_NAME}
    return [
        path
        for path in paths
        if path not in named and not os.path.basename(path).startswith(_TEMPORARY)
    ]


def parse_dependencies(text: str) -> list[str]:
    """Return the paths in a make rule as compilers write it."""
    paths: list[str] = []
    for rule in re.sub(r"\\\r?\n", " ", text).splitlines():
        _, colon, names = rule.partition(": ")
        if colon:
            for name in re.findall(r"(?:\\.|[^\s\\])+", names):
                paths.append(re.sub(r"\\([ #\\])", r"\1", name).replace("$$", "$"))
    return list(dict.fromkeys(paths))


def preprocess(path: str, source: str, options: Sequence[str]) -> str:
    """Return a text after nvcc's preprocessor."""
    from pycuda._compile.toolkit import work_folder

    with work_folder(keep=False) as folder:
        source_path = os.path.join(folder, SOURCE_NAME)
        with open(source_path, "wb") as file:
            file.write(source.encode("utf-8", "surrogateescape"))
        command = [path, "--preprocess", *options, source_path]
        done = _start(command)
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0 or len(text) < len(source) // 2:
        msg = f"nvcc preprocessing of {SOURCE_NAME} failed"
        stderr = done.stderr.decode("utf-8", "replace")
        raise CompileError(msg, command, text, stderr, source)
    return text
