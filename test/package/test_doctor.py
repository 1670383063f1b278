"""python -m pycuda.doctor: its report about machines that lack something."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

import pycuda
from pycuda import _extras, compiler, doctor
from pycuda._compile import toolkit
from support.compilers import REAL_NVCC, make_toy, needs_nvcc
from support.pyproject import project

HOOK = """
import sys
from pycuda import doctor
{hook}
sys.exit(doctor.main({arguments!r}))
"""

#: Run before the report, to hide CUDA's compilers and libraries.
NO_TOOLKIT = """
import os, warnings
from pycuda import _driver
from pycuda._compile import nvrtc, toolkit
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _driver.init()  # while LD_LIBRARY_PATH still says where the driver is
for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "LD_LIBRARY_PATH"):
    os.environ.pop(name, None)
toolkit.homes = lambda: []
toolkit.in_wheels = lambda parts: []
nvrtc._search = lambda: None
"""


class Report:
    """The findings that a run printed: (level, about, text, step).

    ``words`` has the messages of compilers, by the subject of the finding.
    """

    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout
        assert done.stderr == "", done.stderr
        first, *lines, self.last = done.stdout.splitlines()
        assert first.startswith(f"pycuda {pycuda.__version__}, Python ")
        self.findings = []
        self.words = {}
        for line in lines:
            step = re.fullmatch(r" +-> (\S.*)", line)
            quoted = re.fullmatch(r" +\| (\S.*)", line)
            if quoted:
                about = self.findings[-1][1]
                self.words[about] = [*self.words.get(about, ()), quoted[1]]
            elif step:
                assert self.findings[-1][3] == ""
                self.findings[-1][3] = step[1]
            else:
                level, about, text = re.fullmatch(
                    r"(ok|note|missing) +(\S+(?: \d)?) +(\S.*)", line
                ).groups()
                self.findings.append([level, about, text, ""])
        for level, _, _, step in self.findings:
            assert bool(step) == (level != "ok")
        missing = [finding for finding in self.findings if finding[0] == "missing"]
        assert self.status == int(bool(missing))
        if missing:
            _, about, text, _ = missing[0]
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            assert self.last == f"not ready, because of {about}: {text}{more}"
        else:
            shown = [f for f in self.findings if "PyCUDA software device" in f[2]]
            where = ", on the software device" if shown else ""
            assert self.last == f"ready{where}"

    def about(self, name):
        return [finding for finding in self.findings if finding[1] == name]

    def one(self, name):
        (finding,) = self.about(name)
        return finding


@pytest.fixture
def examine(tmp_path):
    """Run the doctor in a child process. hook is Python code that runs before."""

    def run(*arguments, hook="", **env):
        (tmp_path / "cache").mkdir(exist_ok=True)
        environment = {**os.environ, "PYCUDA_CACHE_DIR": str(tmp_path / "cache"), **env}
        command = ["-m", "pycuda.doctor", *arguments]
        if hook:
            command = ["-c", HOOK.format(hook=hook, arguments=list(arguments))]
        return subprocess.run(
            [sys.executable, *command],
            env={k: v for k, v in environment.items() if v is not None},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=300,
        )

    return run


# -- whole reports ---------------------------------------------------------------------


def test_this_machine(examine):
    report = Report(examine())
    assert {"package", "headers", "driver", "nvcc", "NVRTC", "cache"} <= {
        finding[1] for finding in report.findings
    }
    assert report.one("package")[0] == "ok"


@needs_nvcc
def test_a_machine_where_all_is_well(examine, tmp_path):
    folder = tmp_path / "headers"
    folder.mkdir()
    for name in ("some.hpp", "other.hpp"):
        (folder / name).write_text("")
    hook = (
        "from pycuda import compiler\n"
        f"compiler._find_pycuda_include_path = lambda: {str(folder)!r}\n"
    )
    report = Report(
        examine(hook=hook, PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_DEVICES="2")
    )
    assert report.status == 0, report.text
    assert report.one("headers")[2] == f"{folder}, 2 files"
    for number in (0, 1):
        shown, run = report.about(f"device {number}")
        assert shown[2].startswith("PyCUDA software device, compute capability 7.5, ")
        assert run[2] == "a kernel was compiled, loaded and run"
    level, _, text, _ = report.one("driver")
    assert level == "ok" and text.startswith("the software device, as PYCUDA_DRIVER")
    assert "libpycuda_emulator.so, for CUDA 13.0" in text
    assert REAL_NVCC in report.one("nvcc")[2]


@pytest.mark.gpu
def test_no_toolkit_at_all(examine, tmp_path):
    report = Report(examine(hook=NO_TOOLKIT, PATH=str(tmp_path)))
    level, _, text, step = report.one("nvcc")
    assert (level, "neither is NVRTC" in text) == ("missing", True)
    assert step == f"install the CUDA toolkit, or: {_extras.command('nvrtc')}"
    assert report.one("NVRTC")[0] == "note"
    assert report.one("cudadevrt")[0] == "note"
    assert [finding[0] for finding in report.about("device 0")] == ["ok", "missing"]


NO_NVCC = """
from pycuda._compile import nvcc
from pycuda.driver import CompilerNotFoundError
def search(name):
    raise CompilerNotFoundError("not here", [name], name)
nvcc._search = search
"""


def test_nvrtc_is_enough(examine):
    report = Report(examine(hook=NO_NVCC, PYCUDA_DRIVER="emulator"))
    level, _, text, _ = report.one("nvcc")
    if report.one("NVRTC")[0] == "ok":
        assert (level, text) == ("ok", "not installed, and not needed: NVRTC compiles")
        assert report.last == "ready, on the software device"
    else:
        assert level == "missing"


BROKEN_EXTENSION = """
import importlib.abc, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "pycuda._driver":
            return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec):
        raise ImportError("libc.so.6: version `GLIBC_2.99' not found")
    def exec_module(self, module):
        pass
sys.meta_path.insert(0, Finder())
"""


def test_an_extension_that_cannot_be_loaded(examine):
    report = Report(examine(hook=BROKEN_EXTENSION))
    ((level, about, text, step),) = report.findings
    assert (level, about) == ("missing", "package")
    assert "GLIBC_2.99" in text and "-m pip install" in step


@pytest.fixture
def tree(tmp_path):
    """A checkout that is not built: the modules of the package, and setup.py."""
    ignore = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(
        os.path.dirname(pycuda.__file__), tmp_path / "pycuda", ignore=ignore
    )
    (tmp_path / "setup.py").write_text("")
    return tmp_path


def run_in(tree, words, packages=True):
    """Run Python on the package of a tree, with or without the installed packages.

    Without ``site``, no finder of an editable installation adds the extension of
    another checkout.
    """
    paths = [str(tree), *([sysconfig.get_paths()["platlib"]] if packages else [])]
    return subprocess.run(
        [sys.executable, "-S", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
    )


@pytest.mark.parametrize("packages", [True, False], ids=["venv", "bare"])
@pytest.mark.parametrize("command", [["pycuda.doctor"], ["pycuda", "doctor"]])
def test_a_checkout_that_is_not_built(tree, command, packages):
    """The command installs what the package needs too, so it is the only step."""
    done = run_in(tree, ["-m", *command], packages)
    ((level, about, text, step),) = Report(done).findings
    assert (level, about) == ("missing", "package")
    assert text.startswith("this checkout is not built: ")
    assert step.endswith(f"{sys.executable} -m pip install -e {tree}")
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-c", "import pycuda.driver"], 1),
        (["-c", "import pycuda.autoinit"], 1),
        (["-m", "pycuda", "profile", "x.py"], 1),
        (["-m", "pycuda"], 0),
    ],
)
def test_other_programs_without_the_extension_name_the_doctor(tree, words, status):
    (tree / "x.py").write_text("import pycuda.driver")
    done = run_in(tree, words)
    assert done.returncode == status
    last = (done.stderr.splitlines() or [""])[-1]
    assert ("'python -m pycuda.doctor' names the step" in last) == (status == 1)
    if words[0] == "-m":
        assert "Traceback" not in done.stderr


def test_a_checkout_that_is_built_for_another_python(tree):
    name = "_driver.cpython-399-x86_64-linux-gnu.so"
    (tree / "pycuda" / name).write_bytes(b"")
    assert name in doctor._why_no_extension(str(tree / "pycuda"))
    assert "another Python" in doctor._why_no_extension(str(tree / "pycuda"))


def test_an_installed_package_without_its_extension(tree):
    """The index has another package of this name, so the step names the wheel."""
    (tree / "setup.py").unlink()
    folder = str(tree / "pycuda")
    assert "the installation is not complete" in doctor._why_no_extension(folder)
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"./pycuda-{pycuda.__version__}-{python}-" in doctor._rebuild(folder)


@pytest.mark.parametrize("name", ["numpy", "platformdirs"])
def test_a_package_is_not_installed(examine, name):
    """Nothing is written to stderr: ``Report`` looks at that."""
    report = Report(examine(hook=f"sys.modules[{name!r}] = None"))
    ((level, about, text, step),) = report.findings
    assert (level, about) == ("missing", name)
    assert text == "not installed for this Python"
    assert re.search(rf'-m pip install "{name}>=[\d.]+"$', step)


def test_numpy_is_damaged(examine, tmp_path):
    (tmp_path / "numpy.py").write_text("raise AttributeError('half a file')")
    report = Report(examine(hook=f"sys.path.insert(0, {str(tmp_path)!r})"))
    ((level, about, text, step),) = report.findings
    assert (level, about) == ("missing", "numpy") and "half a file" in text
    assert "--force-reinstall" in step


def test_the_requirements_are_those_of_the_package():
    stated = {re.match(r"\w+", each)[0]: each for each in project()["dependencies"]}
    assert stated == doctor._REQUIRED


# -- drivers ---------------------------------------------------------------------------


def test_no_driver(examine, tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    env = {"LD_LIBRARY_PATH": str(tmp_path), "PYCUDA_DRIVER": "cuda"}
    report = Report(examine(**env))
    level, _, text, step = report.one("driver")
    assert level == "missing" and "no driver library could be opened" in text
    assert step.startswith("install NVIDIA's driver")
    assert report.about("device 0") == []


def test_the_software_device_stands_in(examine, tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    """Programs run there, so the report says that they do."""
    report = Report(examine(LD_LIBRARY_PATH=str(tmp_path), PYCUDA_DRIVER=None))
    level, _, text, step = report.one("driver")
    assert level == "note" and "programs run on the software device" in text
    assert "PYCUDA_DRIVER=emulator" in step
    shown, run = report.about("device 0")
    assert shown[2].startswith("PyCUDA software device")
    if run[0] == "ok":
        assert (report.status, report.last) == (0, "ready, on the software device")


@pytest.mark.parametrize(
    ("env", "said", "step"),
    [
        (
            {"PYCUDA_DRIVER": "both"},
            "'both'",
            "set PYCUDA_DRIVER to auto, cuda or emulator, or unset it",
        ),
        (
            {"PYCUDA_DRIVER": "emulator", "PYCUDA_EMULATOR_DEVICES": "0"},
            "no CUDA-capable device is detected: PYCUDA_EMULATOR_DEVICES is 0",
            "set PYCUDA_EMULATOR_DEVICES to 1 or more",
        ),
        (
            {"PYCUDA_DRIVER": "emulator", "PYCUDA_EMULATOR_MEMORY": "much"},
            "PYCUDA_EMULATOR_MEMORY",
            "set the PYCUDA_EMULATOR_ variables",
        ),
    ],
)
def test_wrong_settings(examine, env, said, step):
    level, _, text, advice = Report(examine(**env)).one("driver")
    assert level == "missing" and said in text and advice.startswith(step)
    assert "PYCUDA_DRIVER=emulator" not in text + advice


@pytest.fixture
def choice(monkeypatch, tmp_path):
    """Return the report about a choice of device, on a machine with two devices."""

    def choice(variable=None, file=None, devices=2):
        monkeypatch.setattr(doctor, "_devices", lambda: [None] * devices)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("CUDA_DEVICE", raising=False)
        if variable is not None:
            monkeypatch.setenv("CUDA_DEVICE", variable)
        if file is not None:
            (tmp_path / ".cuda-device").write_text(file)
        return list(doctor.look_at_choice())

    return choice


def test_no_device_is_chosen(choice):
    assert choice() == []
    assert choice("1", devices=0) == []  # the report already says so


def test_a_device_is_chosen(choice):
    (found,) = choice("1")
    assert found.level == "ok" and "takes device 1" in found.text
    (found,) = choice(file="0\n")
    assert found.level == "ok" and ".cuda-device" in found.text


@pytest.mark.parametrize("number", ["2", "7", "-1", "abc", ""])
def test_the_chosen_device_is_not_there(choice, number):
    (found,) = choice(number)
    assert found[:2] == ("missing", "autoinit") and number in found.text
    assert found.step == "set CUDA_DEVICE to the number of a device, or unset it"
    (found,) = choice(file=number)
    assert found.level == "missing" and ".cuda-device" in found.text
    assert found.step == "write the number of a device into it, or remove it"


@pytest.mark.parametrize("number", ["7", "abc"])
def test_the_doctor_agrees_with_autoinit(examine, number):
    report = Report(examine(PYCUDA_DRIVER="emulator", CUDA_DEVICE=number))
    assert report.status == 1 and report.one("autoinit")[0] == "missing"
    hook = "import pycuda.autoinit"
    done = examine(hook=hook, PYCUDA_DRIVER="emulator", CUDA_DEVICE=number)
    assert "Error" in done.stderr and "CUDA_DEVICE" in done.stderr


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("libcuda.so.1 is the toolkit's stub for linking", "remove the folder with"),
        ("the driver is there but shows no GPU", "check that nvidia-smi lists"),
        ("it lacks cuInit; update NVIDIA's driver to", "update NVIDIA's driver"),
        ("something else", "install NVIDIA's driver"),
    ],
)
def test_steps_for_drivers(monkeypatch, message, step):
    monkeypatch.delenv("PYCUDA_DRIVER", raising=False)
    monkeypatch.setattr("pycuda._driver._is_emulated", lambda: False)
    assert doctor._step_for(RuntimeError(message)).startswith(step)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("cuCtxCreate:1:2", "gives no context: cuCtxCreate failed: out of memory"),
        ("cuModuleLoadDataEx:1:200", "a kernel does not run: cuModuleLoadDataEx"),
    ],
)
@needs_nvcc
def test_a_device_that_fails(examine, fault, said):
    report = Report(examine(PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_FAULT=fault))
    level, _, text, step = report.about("device 0")[-1]
    assert level == "missing" and text.startswith(said) and "nvidia-smi" in step


# -- compilers -------------------------------------------------------------------------


def test_a_compiler_without_headers(examine, tmp_path):
    toy = make_toy(tmp_path, "nvcc")
    report = Report(examine(PATH=os.path.dirname(toy.path), PYCUDA_DRIVER="emulator"))
    level, _, text, step = report.one("nvcc")
    assert level == "missing" and toy.path in text and "cuda_fp16.h" in text
    assert "headers" in step


BROKEN = {
    "gcc: No such file or directory\nnvcc fatal : Failed to preprocess host compiler": (
        "g++"
    ),
    "nvcc fatal: error: no host compiler": "g++",
    "error: -- unsupported GNU version! gcc versions later than 14 are not": "g++",
    "sh: 1: cicc: not found": "repair nvcc as its messages say",
    "license expired\nask your vendor": "repair nvcc as its messages say",
}


@pytest.mark.parametrize("nvrtc", [True, False])
@pytest.mark.parametrize("words", BROKEN)
def test_a_compiler_that_cannot_run(examine, tmp_path, words, nvrtc):
    """The report shows the message of the compiler. Programs run with NVRTC."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1")
    nvcc.chmod(0o755)
    hook = ""
    if not nvrtc:
        hook = "from pycuda._compile import nvrtc\nnvrtc._search = lambda: None"
    path = f"{tmp_path}:{os.environ['PATH']}:/bin"
    report = Report(
        examine(hook=hook, PATH=path, PYCUDA_DRIVER="emulator", NVCC_CCBIN=None)
    )
    level, _, text, step = report.one("nvcc")
    shown = report.words.get("nvcc", [text])
    assert all(any(line in each for each in shown) for line in words.split("\n"))
    assert BROKEN[words] in step
    assert ("g++" in step) == (BROKEN[words] == "g++")
    run = report.about("device 0")[-1]
    if report.one("NVRTC")[0] == "ok":
        assert level == "note" and text.endswith("; NVRTC compiles instead")
        assert (run[0], report.last) == ("ok", "ready, on the software device")
    else:
        assert level == run[0] == "missing"
        assert report.last.startswith("not ready, because of nvcc: ")


@needs_nvcc
@pytest.mark.parametrize(
    ("name", "value", "about", "said"),
    [
        ("TMPDIR", "/nonexistent", "nvcc", "it works without TMPDIR='/nonexistent'"),
        ("NVCC_APPEND_FLAGS", "--nonsense", "nvcc", "Unknown option '--nonsense'"),
        ("PYCUDA_CACHE_SIZE", "abc", "cache", "'abc'"),
        ("PYCUDA_COMPILER", "foo", "driver", "'foo'"),
        (
            "PYCUDA_DEFAULT_NVCC_FLAGS",
            "--nonsense",
            "device 0",
            "Unknown option '--nonsense'",
        ),
    ],
)
def test_a_variable_that_stops_the_compiler(examine, name, value, about, said):
    """Programs run with NVRTC in place of nvcc, and without a limit of the cache."""
    env = {"PYCUDA_DRIVER": "emulator", "PYCUDA_EMULATOR_DEVICES": "1"}
    report = Report(examine(**env, **{name: value}))
    without = about == "cache" or (about == "nvcc" and report.one("NVRTC")[0] == "ok")
    assert report.status == (0 if without else 1)
    (found,) = [found for found in report.findings if name in found[3]]
    level, where, text, step = found
    expected = "note" if without else "missing"
    assert (level, where) == (expected, about) and said in text
    assert step.startswith(f"set {name} ") and step.endswith(", or unset it")
    assert "nvidia-smi" not in report.text and "C++ compiler" not in report.text


@needs_nvcc
def test_a_variable_that_does_no_harm(examine, tmp_path):
    harmless = {
        "TMPDIR": str(tmp_path),
        "NVCC_APPEND_FLAGS": "-lineinfo",
        "PYCUDA_COMPILER": "nvcc",
        "PYCUDA_DEFAULT_NVCC_FLAGS": "-lineinfo",
        "PYCUDA_CACHE_SIZE": "1G",
        "CUDA_DEVICE": "0",
    }
    report = Report(
        examine(PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_DEVICES="1", **harmless)
    )
    assert report.status == 0, report.text


@needs_nvcc
def test_no_folder_to_compile_in(examine):
    hook = "import tempfile; tempfile.tempdir = '/nonexistent'"
    report = Report(examine(hook=hook, PYCUDA_DRIVER="emulator"))
    level, _, text, step = report.one("nvcc")
    assert level == "missing" and "/nonexistent" in text
    assert step == "set TMPDIR to a folder that can be written"
    assert report.about("device 0")[-1][0] == "missing"


@pytest.fixture
def fits(monkeypatch):
    """Return the report about a compiler for these architectures on an old device."""

    class Device:
        def compute_capability(self):
            return (7, 5)

        def name(self):
            return "a GPU"

    def fits(archs):
        facts = toolkit.Facts("nvcc", "/nowhere/nvcc", "x, release 13.0, V13", archs)
        return list(doctor._look_at_fit({"nvcc": facts}))

    monkeypatch.setattr(doctor, "_devices", lambda: [Device()])
    monkeypatch.setattr("pycuda._driver._is_emulated", lambda: True)
    monkeypatch.setattr("pycuda.driver.get_driver_version", lambda: 13000)
    return fits


def test_the_architecture_fits(fits):
    assert fits("compute_75 compute_90") == []
    assert fits("") == []  # the version is unknown


def test_the_device_is_newer_than_the_compiler(fits):
    (found,) = fits("compute_50 compute_70")
    assert (found.level, found.about) == ("note", "device 0")
    assert "compute_70" in found.text and "7.5" in found.step


def test_the_device_is_older_than_the_compiler(fits):
    (found,) = fits("compute_80 compute_90")
    assert found.level == "missing" and "capability 7.5" in found.text
    assert found.step


@pytest.mark.parametrize(
    ("release", "level"),
    [
        ("12.3", None),
        ("12.4", None),
        ("12.6", "note"),
        ("13.0", "missing"),
        ("?", None),
    ],
)
def test_a_toolkit_newer_than_the_driver(release, level):
    facts = toolkit.Facts("nvcc", "/nowhere", f"x, release {release}, V", "")
    found = list(doctor._look_at_releases({"nvcc": facts}, 12040))
    assert [finding.level for finding in found] == ([level] if level else [])
    assert all("12.4" in finding.step for finding in found)


def test_a_toolkit_newer_than_that_of_the_software_device():
    facts = toolkit.Facts("nvcc", "/nowhere", "x, release 13.0, V", "")
    (found,) = doctor._look_at_releases({"nvcc": facts}, 12040, True)
    assert found.level == "note" and "a GPU with such a driver" in found.text
    assert list(doctor._look_at_releases({"nvcc": facts}, 13000, True)) == []


@pytest.mark.parametrize(
    ("version", "wheels"), [("12.4", "==12.*"), ("13.0", "==13.*")]
)
def test_the_steps_are_for_the_driver(examine, tmp_path, version, wheels):
    report = Report(
        examine(
            hook=NO_TOOLKIT,
            PATH=str(tmp_path),
            PYCUDA_DRIVER="emulator",
            PYCUDA_EMULATOR_DRIVER_VERSION=version,
        )
    )
    assert wheels in report.one("nvcc")[3]


# -- the cache, and the report itself --------------------------------------------------


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "file" / "below"))
    (found,) = doctor.look_at_cache()
    assert found.level == "note" and "PYCUDA_CACHE_DIR" in found.step
    assert "compiled each time" in found.text  # programs run
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "folder"))
    (found,) = doctor.look_at_cache()
    assert found.level == "ok" and found.text == f"{tmp_path}/folder, 0 files"
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "much")
    size, found = doctor.look_at_cache()
    assert size.level == "note" and "'much'" in size.text
    assert size.step.startswith("set PYCUDA_CACHE_SIZE") and found.level == "ok"
    monkeypatch.setenv("PYCUDA_DISABLE_CACHE", "")
    (found,) = doctor.look_at_cache()
    assert found.level == "note" and found.step == "unset PYCUDA_DISABLE_CACHE"


def test_headers_of_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "_find_pycuda_include_path", lambda: str(tmp_path))
    assert [found.level for found in doctor.look_at_package()] == ["ok", "missing"]
    (tmp_path / "a.hpp").write_text("")
    assert [found.level for found in doctor.look_at_package()] == ["ok", "ok"]


def test_a_check_that_breaks_hides_no_other(monkeypatch, capsys):
    def broken():
        yield doctor.Finding("ok", "first", "before")
        raise ZeroDivisionError("by accident")

    def whole():
        yield doctor.Finding("ok", "second", "after")

    looks = (("broken", broken), ("whole", whole))
    monkeypatch.setattr(doctor, "_LOOKS", looks)
    assert doctor.main([]) == 1
    printed = capsys.readouterr().out
    assert "ZeroDivisionError: by accident" in printed and "after" in printed
    with pytest.raises(ZeroDivisionError):
        doctor.main(["--raise"])
    monkeypatch.setattr(doctor, "_LOOKS", looks[1:])
    assert doctor.main([]) == 0


def test_the_command_line(examine):
    assert examine("--help").returncode == 0
    assert examine("unknown").returncode == 2
