"""The options that say for which architecture to compile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pycuda import driver
from pycuda._compile.request import CompileRequest, list_of

if TYPE_CHECKING:
    from pycuda._compile.toolkit import Facts, Tool

_SOFTWARE_DEVICE = "PyCUDA software device"
_ARCH_OPTIONS = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")

#: Options that make relocatable code, which refers to code in other images.
RELOCATABLE = frozenset(("-rdc=true", "--relocatable-device-code=true"))

# The last toolkit for devices below a capability (times ten), newest first.
_LAST_TOOLKITS = ((75, "12.9"), (50, "11.8"), (35, "10.2"), (30, "8.0"))

# Codes of the driver's errors if there is no context: the driver is not initialised, or
# was shut down, or this thread has no context.
_NO_CONTEXT = (3, 4, 201)


class TargetDevice:
    """The properties of a device that decide how to compile for it."""

    __slots__ = ("capability", "software")

    def __init__(self, device: driver.Device) -> None:
        self.capability = tuple(device.compute_capability())
        self.software = device.name() == _SOFTWARE_DEVICE


def current_device() -> TargetDevice | None:
    """Return the current context's device, None without a context or a driver."""
    try:
        return TargetDevice(driver.Context.get_device())
    except driver.Error as error:
        if error.code not in _NO_CONTEXT:
            raise
        return None


def add_options(
    options: list[str],
    request: CompileRequest,
    device: TargetDevice | None,
    tool: Tool,
    facts: Facts | None,
) -> str:
    """Add the options that say for what to compile. Return the target.

    ``device`` is the current one, if there is a context. ``facts`` are those about
    ``tool`` if they are known already.
    """
    software = None
    if request.target is None and device is not None and device.software:
        software = device
    arch, code, target = request.arch, request.code, request.target or "cubin"
    if arch is not None and not isinstance(arch, str):
        archs = _list_of_archs(arch, request.target)
        if software is None:
            options += map(_gencode, archs)
            return "fatbin"
        arch = _best_of(archs, software)
    if software is not None:
        target, code = "ptx", None
    if arch is None and device is not None and not names_arch(options):
        facts = facts or tool.facts(None)
        arch, target = option_for(device, facts, request.target, target)
    if arch is not None:
        options.append(f"-arch={arch}")
    if code is not None:
        options.append(f"-code={code}")
    _add_linking(options, request, target)
    return target


def _list_of_archs(archs: Iterable[str], target: str | None) -> list[str]:
    """Return several architectures as a list. They need the target "fatbin" or None."""
    try:
        found = list_of(archs, "arch")
    except TypeError:
        raise TypeError(
            f"arch is one like 'sm_80', or a list of such, not {archs!r}"
        ) from None
    if target not in (None, "fatbin"):
        raise ValueError(
            "several architectures need target='fatbin', which holds code for each"
        )
    return found


def _gencode(arch: str) -> str:
    kind, _, number = arch.partition("_")
    if kind not in ("sm", "compute") or not number:
        raise ValueError(
            f"an architecture is one like sm_80 or compute_90, not {arch!r}"
        )
    return f"-gencode=arch=compute_{number},code={arch}"


def _best_of(archs: Sequence[str], device: TargetDevice) -> str:
    """Return the newest of several architectures that the device can run."""
    have = 10 * device.capability[0] + device.capability[1]

    def number(arch: str) -> int:
        return int("".join(filter(str.isdigit, arch)) or 0)

    below = [arch for arch in archs if number(arch) <= have]
    if below:
        return max(below, key=number)
    return min(archs, key=number)


def names_arch(options: Sequence[str]) -> bool:
    """Return whether options say for which architecture to compile."""
    if not options:
        return False
    return any(option.partition("=")[0] in _ARCH_OPTIONS for option in options)


def _add_linking(options: list[str], request: CompileRequest, target: str) -> None:
    """Add the option to link, if the code may refer to code in other images.

    An image with unresolved references cannot be loaded. PTX is not linked. A caller
    that names the target, or asks for code that is not ``linked``, links by itself.
    """
    if target != "cubin" or request.target is not None or not request.linked:
        return
    for option in options:
        is_library = option.startswith(("-l", "--library=")) and option != "-lineinfo"
        if is_library or option == "--library" or option in RELOCATABLE:
            options.append("-dlink")
            return


def option_for(
    device: TargetDevice, facts: Facts, exact: str | None, target: str
) -> tuple[str, str]:
    """Return the architecture option for a device, and the target it allows.

    A device that is too new for the compiler gets PTX of the newest architecture below
    it, which the driver compiles. For a device that is too old raise CompileError.
    ``exact`` is the target that the caller insists on.
    """
    number = 10 * device.capability[0] + device.capability[1]
    if not facts.archs or number in facts.archs:
        if device.software and target == "ptx":
            return f"compute_{number}", target
        return f"sm_{number}", target
    if number > facts.archs[0] and exact != "cubin":
        below = max(arch for arch in facts.archs if arch < number)
        if target == "cubin":
            target = "ptx"
        return f"compute_{below}", target
    raise _unsupported(number, facts)


def _unsupported(number: int, facts: Facts) -> driver.CompileError:
    def dotted(arch: int) -> str:
        return f"{arch // 10}.{arch % 10}"

    oldest, newest = facts.archs[0], facts.archs[-1]
    advice = ""
    if number > oldest:
        advice = (
            "Ask for target='ptx', which the driver finishes, or use a newer toolkit."
        )
    else:
        last = [toolkit for below, toolkit in _LAST_TOOLKITS if number < below]
        if last:
            advice = f"Use a CUDA toolkit of version {last[-1]} or before."
    return driver.CompileError(
        f"this {facts.name} (release {facts.release}) makes code for compute "
        f"capability {dotted(oldest)} to {dotted(newest)}, but the device has "
        f"{dotted(number)}. {advice}",
        [],
    )
