"""Check whether a machine can run this package: ``python -m pycuda.doctor``.

Each line is a finding: ``ok``; ``note``, about a thing that programs do not need; or
``missing``, about one that they need. Below a finding that is not ``ok`` come a
compiler's messages, if there are any, and the step that repairs it. The last line says
whether programs run: "ready", "ready, on the software device", or "not ready, because
of" the first finding that is missing. The exit status is 1 if anything is missing, else
0.
"""

from __future__ import annotations

import argparse
import glob
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pycuda import __version__, _command_line, _extras, _hide_imports

__all__ = ["Finding", "examine"]
_hide_imports(globals())

OK, NOTE, MISSING = "ok", "note", "missing"

_TRIAL = """
#include <cuda_fp16.h>

extern "C" __global__ void pycuda_doctor(int *values)
{
    values[threadIdx.x] = 3 * threadIdx.x + __half2int_rn(__float2half(1.0f));
}
"""


class Finding(NamedTuple):
    """One line of the report.

    Parameters
    ----------
    level : {"ok", "note", "missing"}
        Whether it is fine, a note about what programs do not need, or something that is
        missing and that they need.
    about : str
        What was looked at, such as "driver".
    text : str
        What was found.
    step : str, optional
        What repairs it.
    words : tuple of str, optional
        Lines that a compiler printed, if one line is not enough.
    """

    #: One of the three words.
    level: str
    #: What was looked at.
    about: str
    #: What was found.
    text: str
    #: What repairs it; may be empty.
    step: str = ""
    #: Lines of a compiler.
    words: tuple[str, ...] = ()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _complaint(error: BaseException) -> str:
    """Return the line with the reason of an error, if possible the compiler's own."""
    for line in _words_of(error):
        if "error" in line.lower() or "fatal" in line.lower():
            return line
    return _first_line(error)


def _words_of(error: BaseException) -> list[str]:
    """Return the lines that a compiler printed."""
    output = f"{getattr(error, 'stdout', '')}\n{getattr(error, 'stderr', '')}"
    return [line.strip() for line in output.splitlines() if line.strip()]


# -- the package -----------------------------------------------------------------------

#: Packages without which nothing runs, as pyproject.toml has them.
_REQUIRED = {"numpy": "numpy>=1.24", "platformdirs": "platformdirs>=2.2"}


def _look_at_requirements() -> Iterator[Finding]:
    """Look for the packages of Python that this one needs."""
    pip = f"{sys.executable} -m pip install"
    for name, version in _REQUIRED.items():
        try:
            importlib.import_module(name)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name == name:
                text, step = "not installed for this Python", f'{pip} "{version}"'
            else:
                text = f"it cannot be imported: {_first_line(error)}"
                step = f'{pip} --force-reinstall "{version}"'
            yield Finding(MISSING, name, text, step)


def _is_checkout(folder: str) -> bool:
    """Return whether the package is in a checkout, not among installed packages."""
    return os.path.isfile(os.path.join(os.path.dirname(folder), "setup.py"))


def _install_again(folder: str) -> str:
    """Return the command that installs the package from its checkout or its wheel."""
    pip = f"{sys.executable} -m pip install"
    if _is_checkout(folder):
        return f"{pip} -e {shlex.quote(os.path.dirname(folder))}"
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return (
        f"{pip} --force-reinstall ./pycuda-{__version__}-{python}-...whl (the path of "
        "the wheel)"
    )


def _rebuild(folder: str) -> str:
    return f"build it for this Python: {_install_again(folder)}"


def _why_no_extension(folder: str) -> str:
    """Return why there is no extension that this Python can load."""
    built = sorted(glob.glob(os.path.join(glob.escape(folder), "_driver.*.so")))
    if built:
        names = ", ".join(map(os.path.basename, built))
        return f"it was built for another Python: {folder} has {names}"
    if _is_checkout(folder):
        return f"this checkout is not built: {folder} has no C extension"
    return f"the installation is not complete: {folder} has no C extension"


def look_at_package() -> Iterator[Finding]:
    """Look at the extension of the package, what it needs, and its headers.

    Building the package also installs what it needs, so that comes second.
    """
    folder = os.path.dirname(os.path.abspath(__file__))
    if importlib.util.find_spec("pycuda._driver") is None:
        yield Finding(MISSING, "package", _why_no_extension(folder), _rebuild(folder))
        return
    lacking = list(_look_at_requirements())
    if lacking:
        yield from lacking
        return
    try:
        import pycuda._driver
        import pycuda._pvt_struct  # noqa: F401  the finding is that this works
    except ImportError as error:
        text = f"its C extension cannot be imported: {_first_line(error)}"
        yield Finding(MISSING, "package", text, _rebuild(folder))
        return
    yield Finding(OK, "package", folder)
    from pycuda import compiler

    headers = compiler._find_pycuda_include_path()
    found = os.listdir(headers) if os.path.isdir(headers) else []
    if found:
        yield Finding(OK, "headers", f"{headers}, {len(found)} files")
    else:
        yield Finding(
            MISSING,
            "headers",
            f"there are none in {headers}",
            f"install the package again: {_install_again(folder)}",
        )


# -- the driver and its devices --------------------------------------------------------


def _library_in_use() -> str:
    """Return the path of the driver library that this process has loaded."""
    from pycuda import _driver

    part = "libpycuda_emulator.so" if _driver._is_emulated() else "libcuda.so"
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")
                if part in path[2]:
                    return f"/{path[2]}"
    except OSError:
        pass  # then return the name without a folder
    return part


def _version_text(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


_DRIVER_STEP = (
    "install NVIDIA's driver for your GPU, or set PYCUDA_DRIVER=emulator to work on "
    "the software device"
)


#: In the driver's text, before its own advice.
_NO_SOFTWARE_DEVICE = "PYCUDA_EMULATOR_DEVICES is 0"


def _said_by(error: Exception) -> str:
    """Return the reason of a failed init(), without the driver's function."""
    text = _first_line(error).partition("failed: ")[2]
    if _NO_SOFTWARE_DEVICE in text:
        return f"{text.partition(' - ')[0]}: {_NO_SOFTWARE_DEVICE}"
    return text


def _step_for(error: Exception) -> str:
    """Return the step that repairs a failed init(), by the text of its error."""
    from pycuda import _driver

    text = str(error)
    wrong = re.search(r"\b(PYCUDA_\w+) is '.*'; set it to (.*)", text)
    if wrong is not None:
        return f"set {wrong[1]} to {wrong[2]}"
    choice = _driver._setting("PYCUDA_DRIVER")
    if _NO_SOFTWARE_DEVICE in text:
        return "set PYCUDA_EMULATOR_DEVICES to 1 or more, or unset it"
    if choice == "emulator" or _driver._is_emulated():
        return "set the PYCUDA_EMULATOR_ variables to correct values, or unset them"
    if "stub" in text:
        return "remove the folder with 'stubs' in its name from LD_LIBRARY_PATH"
    if "shows no GPU" in text:
        return (
            "check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES hides "
            "none, or set PYCUDA_DRIVER=emulator"
        )
    if "update NVIDIA's driver" in text:
        return "update NVIDIA's driver"
    return _DRIVER_STEP


def look_at_driver() -> Iterator[Finding]:
    """Look at the driver library and at each of its devices."""
    from pycuda import _driver, driver as drv

    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            drv.init()
    except drv.Error as error:
        yield Finding(MISSING, "driver", _said_by(error), _step_for(error))
        return
    version = _version_text(drv.get_driver_version())
    what = f"{_library_in_use()}, for CUDA {version}"
    if said:
        reason = getattr(said[0].message, "__cause__", None)
        yield Finding(
            NOTE,
            "driver",
            f"no NVIDIA driver was found ({reason}); programs run on the software "
            f"device, which replaces it ({what})",
            _DRIVER_STEP,
        )
    elif _driver._is_emulated():
        chosen = "the software device, as PYCUDA_DRIVER says"
        yield Finding(OK, "driver", f"{chosen} ({what})")
    else:
        yield Finding(OK, "driver", what)
    for number in range(drv.Device.count()):
        device = drv.Device(number)
        major, minor = device.compute_capability()
        gibibytes = device.total_memory() / 2**30
        yield Finding(
            OK,
            f"device {number}",
            f"{device.name()}, compute capability {major}.{minor}, {gibibytes:.1f} GiB,"
            f" PCI {device.pci_bus_id()}",
        )


def look_at_choice() -> Iterator[Finding]:
    """Look at the device that the user chose for autoinit, if there is one."""
    from pycuda import tools

    step = "write the number of a device into it, or remove it"
    if "CUDA_DEVICE" in os.environ:
        step = "set CUDA_DEVICE to the number of a device, or unset it"
    try:
        number, source = tools._chosen_device()
    except ValueError as error:
        yield Finding(MISSING, "autoinit", _first_line(error), step)
        return
    devices = _devices()
    if number is None or not devices:
        return
    if 0 <= number < len(devices):
        yield Finding(OK, "autoinit", f"takes device {number}, as {source} says")
    else:
        text = f"{source} asks for device {number}, which does not exist"
        yield Finding(MISSING, "autoinit", text, step)


# -- the compilers ---------------------------------------------------------------------


def _describe(facts: Any) -> str:
    text = f"release {facts.release}"
    if facts.archs:
        dotted = [f"{arch // 10}.{arch % 10}" for arch in facts.archs]
        text += f", for compute capability {dotted[0]} to {dotted[-1]}"
    return text


def _try_compiler(tool: Any, name: str, target: str) -> Finding | None:
    """Compile a kernel that includes a header of the toolkit."""
    from pycuda.driver import CompileError

    try:
        tool.run(_TRIAL, [], target, False)
    except CompileError as error:
        text = _complaint(error)
        words = tuple(_words_of(error)[:_MOST_WORDS])
        variable = _culprit(tool, target) if name == "nvcc" else None
        if variable is not None:
            text += f"; it works without {variable}={os.environ[variable]!r}"
            step = f"set {variable} to a correct value, or unset it"
        elif "cuda_fp16.h" in f"{error.stdout!s}\n{error.stderr!s}":
            step = f"install the toolkit's headers: {_extras.command('nvrtc')}"
        elif name != "nvcc":
            step = f"install NVRTC again: {_extras.command('nvrtc', again=True)}"
        elif _lacks_host_compiler(words):
            step = (
                "install a C++ compiler that nvcc accepts (g++; NVCC_CCBIN names it), "
                "or set PYCUDA_COMPILER=nvrtc"
            )
        else:
            step = (
                "repair nvcc as its messages say, or install its wheels: "
                f"{_extras.command('nvcc')}; or set PYCUDA_COMPILER=nvrtc"
            )
        text = f"{tool.path} compiles nothing: {text}"
        hidden = any(line not in text for line in words)
        return Finding(MISSING, name, text, step, words if hidden else ())
    except OSError as error:
        return Finding(
            MISSING,
            name,
            f"there is no folder to compile in: {_first_line(error)}",
            "set TMPDIR to a folder that can be written",
        )
    return None


_MOST_WORDS = 12  # lines of a compiler to repeat


def _lacks_host_compiler(words: Iterable[str]) -> bool:
    """Return whether nvcc fails because of the host's C++ compiler."""
    output = "\n".join(words)
    if re.search(r"host compiler|unsupported (GNU|clang) version|cc1plus", output):
        return True
    name = os.environ.get("NVCC_CCBIN") or "g++"
    if os.path.isdir(name):
        name = os.path.join(name, "g++")
    command = [name, "-x", "c++", "-fsyntax-only", os.devnull]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return True
    return done.returncode != 0


def _is_replaced(tool: Any) -> bool:
    """Return whether the other compiler, if it works, replaces this one.

    That is so if this one cannot compile an empty program. A compiler that lacks a
    header is not replaced.
    """
    from pycuda.driver import CompileError

    try:
        tool.run("\n", [], "ptx", False)
    except CompileError:
        return True
    except OSError:
        pass
    return False


def _culprit(tool: Any, target: str) -> str | None:
    """Return the variable without which nvcc does compile, None if there is none."""
    from pycuda._compile import inputs
    from pycuda.driver import CompileError

    for name in ("TMPDIR", *inputs.ENVIRONMENT):
        value = os.environ.pop(name, None)
        if value is None:
            continue
        try:
            tool.run(_TRIAL, [], target, False)
            return name
        except (CompileError, OSError):
            pass  # it fails for another reason
        finally:
            os.environ[name] = value
    return None


def _look_at_compiler(
    name: str, found: dict[str, Any], replaced: dict[str, Finding]
) -> Finding:
    """Return the finding about a compiler.

    Put a compiler that works into ``found``. Put one that fails into ``replaced`` if
    the other compiler, if that works, replaces it.
    """
    from pycuda._compile import nvcc, nvrtc
    from pycuda.driver import CompileError, CompilerNotFoundError

    extra = "nvcc" if name == "nvcc" else "nvrtc"
    try:
        tool = nvcc.Tool("nvcc") if name == "nvcc" else nvrtc.Tool()
    except CompilerNotFoundError:
        return Finding(NOTE, name, "not found", f"install it: {_extras.command(extra)}")
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            facts = tool.facts(None)
    except CompileError as error:
        broken = Finding(
            MISSING,
            name,
            _first_line(error),
            f"install it again: {_extras.command(extra, again=True)}",
        )
        replaced[name] = broken
        return broken
    refused = _try_compiler(tool, name, "cubin" if name == "nvcc" else "ptx")
    if refused is not None:
        if _is_replaced(tool):
            replaced[name] = refused
        return refused
    found[name] = facts
    return Finding(OK, name, f"{tool.path}, {_describe(facts)}")


def look_at_compilers() -> Iterator[Finding]:
    """Look at nvcc and NVRTC, one of which must work and know the devices."""
    found: dict[str, Any] = {}
    replaced: dict[str, Finding] = {}
    findings = [_look_at_compiler(name, found, replaced) for name in ("nvcc", "NVRTC")]
    for number, finding in enumerate(findings):
        if replaced.get(finding.about) is finding and found:
            text = f"{finding.text}; {', '.join(found)} compiles instead"
            findings[number] = finding._replace(level=NOTE, text=text)
    if all(finding.level == NOTE for finding in findings):
        findings[0] = findings[0]._replace(
            level=MISSING,
            text="not found, and neither is NVRTC: no kernel can be compiled",
            step=f"install the CUDA toolkit, or: {_extras.command('nvrtc')}",
        )
    elif "NVRTC" in found and findings[0].text == "not found":
        text = "not installed, and not needed: NVRTC compiles"
        findings[0] = Finding(OK, "nvcc", text)
    yield from findings
    yield from _look_at_fit(found)


def _devices() -> list[Any]:
    """Return the devices, none without a driver, which look_at_driver reports."""
    from pycuda import driver as drv

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drv.init()
        return [drv.Device(number) for number in range(drv.Device.count())]
    except drv.Error:
        return []


def _look_at_fit(found: dict[str, Any]) -> Iterator[Finding]:
    """Look whether compilers, devices and driver are of compatible versions."""
    from pycuda import _driver, driver
    from pycuda._compile import architecture

    for number, device in enumerate(_devices()):
        about = f"device {number}"
        target = architecture.TargetDevice(device)
        for name, facts in found.items():
            dotted = ".".join(map(str, target.capability))
            try:
                arch, kind = architecture.option_for(target, facts, None, "cubin")
            except driver.CompileError as error:
                advice = error.msg.partition(". ")[2] or "Use another CUDA toolkit."
                yield Finding(
                    MISSING,
                    about,
                    f"{name} makes no code for its compute capability {dotted}",
                    f"{advice[0].lower()}{advice[1:].rstrip('.')}",
                )
                continue
            if kind == "ptx":
                yield Finding(
                    NOTE,
                    about,
                    f"is newer than {name}, whose {arch} the driver finishes",
                    f"use a CUDA toolkit that knows compute capability {dotted}",
                )
    if _devices():
        version = driver.get_driver_version()
        yield from _look_at_releases(found, version, _driver._is_emulated())


def _look_at_releases(
    found: dict[str, Any], driver_version: int, is_emulated: bool = False
) -> Iterator[Finding]:
    """Look for a toolkit newer than the driver, which then cannot load its PTX.

    The software device can.
    """
    newest = (driver_version // 1000, driver_version % 1000 // 10)
    for name, facts in found.items():
        try:
            release = tuple(int(part) for part in facts.release.split(".")[:2])
        except ValueError:
            continue  # the release is unknown
        if release <= newest:
            continue
        dotted = f"{newest[0]}.{newest[1]}"
        if is_emulated:
            yield Finding(
                NOTE,
                name,
                f"release {facts.release} is newer than CUDA {dotted}, which the "
                "software device was given. It runs the PTX all the same; a GPU with "
                "such a driver would refuse it",
                f"to test for such a driver, use a toolkit of release {dotted} or "
                "before",
            )
            continue
        yield Finding(
            MISSING if release[0] > newest[0] else NOTE,
            name,
            f"release {facts.release} is newer than the driver's CUDA {dotted}, which "
            "does not load its PTX",
            f"update NVIDIA's driver, or use a toolkit of release {dotted} or before",
        )


def look_at_libraries() -> Iterator[Finding]:
    """Look at the library that only kernels which launch kernels need."""
    from pycuda._compile import toolkit

    name = toolkit.LIBRARY_PATTERN % "cudadevrt"
    for folder in toolkit.device_library_folders("nvcc"):
        if os.path.isfile(os.path.join(folder, name)):
            yield Finding(OK, "cudadevrt", os.path.join(folder, name))
            return
    yield Finding(
        NOTE,
        "cudadevrt",
        f"{name} was not found; kernels that launch kernels need it",
        f"install it: {_extras.command('nvrtc')}",
    )


# -- the cache, and one kernel on each device ------------------------------------------


def look_at_cache() -> Iterator[Finding]:
    """Look at the cache's folder, and whether it can be written."""
    from pycuda._compile import store, sweep

    folder = store.resolve_dir(None)
    if folder is None:
        yield Finding(
            NOTE,
            "cache",
            "PYCUDA_DISABLE_CACHE is set: every kernel is compiled each time",
            "unset PYCUDA_DISABLE_CACHE",
        )
        return
    wrong = sweep.complaint()
    if wrong is not None:
        step = f"set {sweep.VARIABLE} to such a number, or unset it"
        yield Finding(NOTE, "cache", wrong, step)
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor."):
            pass
        entries = [name for name in os.listdir(folder) if not name.startswith(".")]
    except OSError as error:
        yield Finding(
            NOTE,
            "cache",
            f"{folder} cannot be written, so every kernel is compiled each time: "
            f"{error.strerror or error}",
            "set PYCUDA_CACHE_DIR to a folder that can be written",
        )
        return
    yield Finding(OK, "cache", f"{folder}, {len(entries)} files")


def look_at_shared() -> Iterator[Finding]:
    """Look at the bundles and the shared caches that variables name."""
    from pycuda._compile import bundle, store

    named = os.environ.get(bundle.VARIABLE, "").split(os.pathsep)
    for path in filter(None, named):
        try:
            found = bundle.Bundle(path)
            found.verify()
        except (OSError, bundle.DamagedBundleError) as error:
            step = "make it again with python -m pycuda.precompile, or unset "
            yield Finding(NOTE, "bundle", str(error), step + bundle.VARIABLE)
            continue
        text = f"{path}, made by pycuda {', '.join(found.notes())}"
        yield Finding(OK, "bundle", text)
    for folder in store.shared_dirs():
        if os.path.isdir(folder):
            yield Finding(OK, "shared cache", folder)
        else:
            step = "correct PYCUDA_SHARED_CACHE, or unset it"
            yield Finding(NOTE, "shared cache", f"{folder} is not a folder", step)


def look_at_kernels() -> Iterator[Finding]:
    """Compile, load and run a kernel on each device."""
    from pycuda import driver as drv

    for number, device in enumerate(_devices()):
        about = f"device {number}"
        try:
            context = device.make_context()
        except drv.Error as error:
            yield Finding(
                MISSING,
                about,
                f"gives no context: {_first_line(error)}",
                "look with nvidia-smi which programs use it, and whether its compute "
                "mode allows another one",
            )
            continue
        try:
            wrong, step = _try_kernel(drv)
        finally:
            context.pop()
            context.detach()
        if wrong:
            yield Finding(MISSING, about, f"a kernel does not run: {wrong}", step)
        else:
            yield Finding(OK, about, "a kernel was compiled, loaded and run")


def _try_kernel(drv: Any) -> tuple[str, str]:
    """Return (what went wrong, the step that repairs it), empty if nothing did."""
    from pycuda import compiler

    wrong, step = _outcome(drv, None)
    if wrong and compiler.DEFAULT_NVCC_FLAGS and not _outcome(drv, [])[0]:
        flags = " ".join(compiler.DEFAULT_NVCC_FLAGS)
        wrong += f"; it does without PYCUDA_DEFAULT_NVCC_FLAGS={flags!r}"
        step = "set PYCUDA_DEFAULT_NVCC_FLAGS to correct options, or unset it"
    return wrong, step


def _outcome(drv: Any, options: list[str] | None) -> tuple[str, str]:
    try:
        wrong = _run_kernel(drv, options)
    except (drv.CompileError, ValueError, OSError) as error:
        return _complaint(
            error
        ), "repair what is missing above, or the cause named here"
    except drv.Error as error:
        wrong = _first_line(error)
    step = (
        "repair what is missing above; if nothing is, run nvidia-smi -q to see the "
        "device's own errors"
    )
    return wrong, step if wrong else ""


def _run_kernel(drv: Any, options: list[str] | None) -> str:
    """Return what went wrong, "" if the results are right."""
    import numpy as np

    from pycuda.compiler import SourceModule

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other findings say the same
        module = SourceModule(
            _TRIAL, options=options, no_extern_c=True, cache_dir=False
        )
    values = np.zeros(32, np.int32)
    module.get_function("pycuda_doctor")(drv.Out(values), block=(32, 1, 1))
    right = (values == 3 * np.arange(32) + 1).all()
    return "" if right else "its results are wrong"


# -- the report ------------------------------------------------------------------------

_LOOKS: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
    ("package", look_at_package),
    ("driver", look_at_driver),
    ("autoinit", look_at_choice),
    ("compilers", look_at_compilers),
    ("libraries", look_at_libraries),
    ("cache", look_at_cache),
    ("shared", look_at_shared),
    ("kernels", look_at_kernels),
)


def examine(*, raise_: bool = False) -> Iterator[Finding]:
    """Look at everything that programs need.

    Parameters
    ----------
    raise_ : bool, optional
        If true, raise the error of a check that breaks. Otherwise it is a finding.

    Yields
    ------
    Finding
        What was found, in the order of the report.

    Notes
    -----
    A kernel is compiled and run on each device, in a context of its own.

    Examples
    --------
    >>> from pycuda import doctor
    >>> next(doctor.examine()).about
    'package'
    """
    for about, look in _LOOKS:
        try:
            yield from look()
        except Exception as error:  # a check that breaks must not hide the others
            if raise_:
                raise
            yield Finding(
                MISSING,
                about,
                f"could not be checked: {type(error).__name__}: {_first_line(error)}",
                f"report it with: {sys.executable} -X dev -m pycuda.doctor --raise",
            )
        if about == "package" and "pycuda._driver" not in sys.modules:
            return  # all else needs the extension


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line."""
    parser.epilog = (
        "The last line says whether programs run. The exit status is 1 if anything is "
        "missing, else 0."
    )
    _command_line.add_json(parser)
    parser.add_argument(
        "--raise",
        action="store_true",
        dest="raise_",
        help="end with the traceback of a check that breaks",
    )


def _print_finding(finding: Finding) -> None:
    print(f"{finding.level:7} {finding.about:11} {finding.text}", flush=True)
    for line in finding.words:
        print(f"{'':20}| {line}", flush=True)
    if finding.level != OK:
        print(f"{'':20}-> {finding.step}", flush=True)


def run(given: argparse.Namespace) -> int:
    """Print the report. Return the exit status."""
    python = sys.version.split()[0]
    system = f"{os.uname().sysname} {os.uname().machine}"
    if not given.json:
        print(f"pycuda {__version__}, Python {python}, {system}")
    found = []
    for finding in examine(raise_=given.raise_):
        found.append(finding)
        if not given.json:
            _print_finding(finding)
    missing = [finding for finding in found if finding.level == MISSING]
    if given.json:
        document = {
            "version": __version__,
            "python": python,
            "system": system,
            "findings": found,
            "ready": not missing,
            "verdict": _verdict(missing),
        }
        _command_line.print_json(document)
    else:
        print(_verdict(missing))
    return 1 if missing else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line. Return the exit status."""
    return _command_line.main("doctor", add_arguments, run, arguments)


def _verdict(missing: list[Finding]) -> str:
    """Return the last line: whether programs run here, and on what."""
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        return f"not ready, because of {missing[0].about}: {missing[0].text}{more}"
    from pycuda import _driver

    return "ready, on the software device" if _driver._is_emulated() else "ready"


if __name__ == "__main__":
    sys.exit(main())
