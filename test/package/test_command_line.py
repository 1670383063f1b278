"""python -m pycuda and its commands: what they list, JSON, and completion in shells."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
from pycuda import _command_line, cache
from pycuda._command_line import COMMANDS
from support.pages import sessions

PACKAGE = Path(pycuda.__file__).parent
#: Commands whose result is the program that they run.
WITHOUT_JSON = {"debug"}


def run(*words, check=True, **variables):
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **variables},
    )
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


def document(*words, **variables):
    """Return the JSON document that a command writes. Nothing may be beside it."""
    return json.loads(run(*words, **variables).stdout)


# -- the list --------------------------------------------------------------------------


def test_it_lists_the_commands():
    listed = run().stdout
    for name, summary in COMMANDS.items():
        assert re.search(rf"^ +{name}\b", listed, re.MULTILINE), name
        assert summary in " ".join(listed.split())
    (listing,) = sessions("command_line")
    assert listing == ("python -m pycuda", listed + "\n")
    found = document("--json")
    assert found["version"] == pycuda.VERSION_TEXT
    assert {row["name"]: row["summary"] for row in found["commands"]} == COMMANDS


def programs(folder):
    """Return the modules of a package that can be started with python -m."""
    found = set()
    for path in folder.rglob("*.py"):
        if path.parent == folder and path.stem == "__main__":
            continue
        if '\nif __name__ == "__main__":' in path.read_text():
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[0].startswith("_"):
                continue
            found.add(".".join(part for part in parts if part != "__main__"))
    return found


def test_every_program_of_the_package_is_a_command(tmp_path):
    assert programs(PACKAGE) == set(COMMANDS)
    (tmp_path / "lost.py").write_text('\nif __name__ == "__main__":\n    pass\n')
    assert programs(tmp_path) == {"lost"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_the_same_under_both_names(name):
    own = subprocess.run(
        [sys.executable, "-m", f"pycuda.{name}", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    both = own.stdout, run(name, "--help").stdout
    plain = [" ".join(text.split()) for text in both]
    plain[0] = plain[0].replace(f"python -m pycuda.{name}", f"python -m pycuda {name}")
    assert plain[0] == plain[1]
    assert COMMANDS[name] in plain[0]
    assert ("--json" in plain[0]) == (name not in {*WITHOUT_JSON, "emulator"})


def test_an_unknown_command_is_refused():
    done = run("docter", check=False)
    assert done.returncode == 2
    assert "'docter'" in done.stderr and "doctor" in done.stderr


def test_the_status_is_that_of_the_command():
    assert run("explain", "/no/such/file.py", check=False).returncode == 2
    assert run("emulator", "run", "/no/such/program", check=False).returncode == 127


# -- JSON ------------------------------------------------------------------------------


@pytest.mark.gpu
def test_the_doctor_as_json(tmp_path):
    found = document("doctor", "--json", PYCUDA_CACHE_DIR=str(tmp_path))
    assert found["ready"] is True and found["verdict"].startswith("ready")
    assert {row["about"] for row in found["findings"]} >= {"package", "driver", "cache"}
    assert {*found["findings"][0]} == {"level", "about", "text", "step", "words"}


def test_the_doctor_of_a_machine_that_lacks_something(tmp_path):
    done = run(
        "doctor", "--json", check=False, PYCUDA_DRIVER="x", PYCUDA_CACHE_DIR=tmp_path
    )
    found = json.loads(done.stdout)
    assert (done.returncode, found["ready"]) == (1, False)
    (driver,) = [row for row in found["findings"] if row["about"] == "driver"]
    assert driver["level"] == "missing" and driver["step"] == "unset PYCUDA_DRIVER"


def test_the_cache_as_json(tmp_path):
    name = "0" * 40 + ".ptx"
    (tmp_path / name).write_bytes(b"damaged")
    where = ("--dir", tmp_path)
    (entry,) = document("cache", "--json", *where, "list")["entries"]
    assert (entry["size"], entry["target"]) == (7, "ptx")
    assert entry["contents"] == "damaged or gone"
    assert entry == document("cache", *where, "list", "--json")["entries"][0]
    assert document("cache", *where, "size", "--json")["size"] == 7
    found = document("cache", "--json", *where, PYCUDA_CACHE_SIZE="2M")
    assert (found["entries"], found["size"], found["bound"]) == (1, 7, 2 << 20)
    assert document("cache", *where, "clear", "--json")["removed"] == 1
    assert cache.entries(tmp_path) == []


def test_the_software_device_as_json():
    path = document("emulator", "library", "--json")["library"]
    assert Path(path).name == "libcuda.so.1"
    found = document("emulator", "environment", "--devices", 3, "--json")["environment"]
    assert found["PYCUDA_EMULATOR_DEVICES"] == "3"
    assert found["LD_LIBRARY_PATH"].startswith(str(Path(path).parent))


NOISY = """
import os
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

print("text of Python")
os.system("echo text of a child")
module = SourceModule('''
#include <stdio.h>
__global__ void speak(float *x) { printf("text of a kernel\\\\n"); x[threadIdx.x] = 1; }
''')
x = gpuarray.zeros(4, np.float32)
module.get_function("speak")(x, block=(BLOCK, 1, 1))
pycuda.autoinit.context.synchronize()
"""


def noisy(tmp_path, threads):
    script = tmp_path / "noisy.py"
    script.write_text(NOISY.replace("BLOCK", str(threads)))
    return script


def check_noise(done):
    """The texts of the program are in stderr, and the document is alone in stdout."""
    for source in ("Python", "a child", "a kernel"):
        assert f"text of {source}" in done.stderr
    return json.loads(done.stdout)


@pytest.mark.software(why="explain runs programs on the software device")
def test_an_explanation_as_json(tmp_path):
    script = noisy(tmp_path, 5)
    done = run("explain", "--json", "--checks", "memory", script, check=False)
    found = check_noise(done)
    assert done.returncode == 1 and found["status"] != 0
    assert found["command"][-1] == str(script)
    (error,) = found["errors"]
    assert (error["kind"], error["kernel"]) == ("memory", "speak")
    assert {place["role"] for place in error["places"]} >= {"access", "launch"}
    assert "element 4" in error["explanation"]


@pytest.mark.gpu
def test_a_profile_as_json(tmp_path):
    table = tmp_path / "table.txt"
    words = ("-o", table, noisy(tmp_path, 4))
    found = check_noise(run("profile", "--json", *words))
    assert found["files"] == [str(table)] and table.exists()
    assert found["duration"] >= found["busy"] > 0
    (kernel,) = [row for row in found["kernels"] if row["kernel"]["name"] == "speak"]
    assert kernel["launches"] == 1 and kernel["line"]["file"].endswith("noisy.py")
    assert found["lines"] and "device_time" in found["lines"][0]


@pytest.mark.gpu
def test_the_comparison_with_the_standard_as_json():
    found = document("array_api", "--json", "--cases", 1, "add")
    assert found["missing"] == [] and found["names"] > 100
    assert found["comparison"] is None or found["comparison"]["differences"] == []


def test_the_output_of_a_program_would_spoil_the_document(tmp_path):
    """Without --json, the texts of the program are in stdout."""
    script = tmp_path / "script.py"
    script.write_text("print('text')")
    assert run("profile", "-q", "-o", tmp_path / "t.txt", script).stdout == "text\n"


def test_a_closed_pipe_is_no_error():
    def close():
        raise BrokenPipeError

    code = (
        "from pycuda import _command_line as c\n"
        "def close(): raise BrokenPipeError\n"
        "print(c.until_pipe_closes(close))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    with pytest.raises(ValueError):
        _command_line.until_pipe_closes(lambda: int("no number"))


# -- completion ------------------------------------------------------------------------

#: What is typed, some words that a shell then offers, and one that it must not.
TYPED = [
    ("pycuda ", ("doctor", "cache", "completion"), "list"),
    ("pycuda do", ("doctor",), "cache"),
    ("pycuda cache ", ("list", "size", "clear"), "doctor"),
    ("pycuda cache --", ("--json", "--dir"), "--raise"),
    ("pycuda doctor --", ("--json", "--raise"), "--dir"),
    ("pycuda completion ", ("bash", "zsh", "fish"), "doctor"),
]


@pytest.fixture
def environment(tmp_path):
    """Variables with which a shell finds a command pycuda."""
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    command = tmp_path / "pycuda"
    command.write_text(
        f"#!{sys.executable}\n# PYTHON_ARGCOMPLETE_OK\n"
        "import sys\nfrom pycuda.__main__ import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    folders = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PATH": path, "PYTHONPATH": folders, "HOME": str(tmp_path)}


def shell(name, script, environment):
    """Run a script in a shell. Return the words that it prints."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [program, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def check_completions(offered, wanted, other):
    assert {*wanted} <= {*offered}, offered
    assert other not in offered


@pytest.mark.parametrize(("typed", "wanted", "other"), TYPED)
def test_bash_completes(typed, wanted, other, environment):
    words = typed.split(" ")
    script = f"""
    eval "$(pycuda completion bash)"
    COMP_LINE={typed!r} COMP_POINT={len(typed)} COMP_TYPE=9
    COMP_WORDS=({" ".join(words)} "") COMP_CWORD={len(words) - 1}
    $(complete -p pycuda | sed 's/.*-F \\([^ ]*\\).*/\\1/') pycuda
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    check_completions(shell("bash", script, environment), wanted, other)


@pytest.mark.parametrize(("typed", "wanted", "other"), TYPED)
def test_fish_completes(typed, wanted, other, environment):
    script = f"pycuda completion fish | source; complete --do-complete {typed!r}"
    check_completions(shell("fish", script, environment), wanted, other)


def test_zsh_takes_the_code(environment):
    script = "autoload -U compinit; compinit -u -D; source <(pycuda completion zsh); "
    (function,) = shell("zsh", script + "print $_comps[pycuda]", environment)
    assert "argcomplete" in function


def test_without_argcomplete():
    code = (
        "import sys; sys.modules['argcomplete'] = None\n"
        "from pycuda.__main__ import main\n"
        "sys.exit(main(['completion', 'bash']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install argcomplete" in done.stderr


# -- programs that do not exist --------------------------------------------------------

#: Words behind a command, and what its one line says.
NOT_RUNNABLE = [
    (["nowhere.py"], "there is no file 'nowhere.py'"),
    (["folder"], "'folder' is a folder without a file __main__.py"),
    (["-m", "no_such_module"], "there is no module 'no_such_module'"),
    (["-m", "package.nothing"], "there is no module 'package.nothing'"),
    (["-m", "package.inside.x"], "there is no module 'package.inside.x'"),
    (["-m", "package"], "'package' is a package without a module __main__"),
    (["-m", "a..b"], "there is no module 'a..b'"),
    (["-m", "tool.py"], "there is no module 'tool.py'. It is a file: leave out -m"),
]


@pytest.fixture
def programs_folder(tmp_path):
    """Programs that print their name; the package must not be imported."""
    (tmp_path / "tool.py").write_text("import sys; print('tool', *sys.argv[1:])")
    (tmp_path / "folder").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("print('imported')")
    (tmp_path / "package" / "inside.py").write_text("print('inside')")
    (tmp_path / "runnable").mkdir()
    (tmp_path / "runnable" / "__main__.py").write_text("print('runnable')")
    return tmp_path


def run_program(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )


@pytest.mark.parametrize("command", ["pycuda.explain", "pycuda.profile"])
@pytest.mark.parametrize(("words", "said"), NOT_RUNNABLE)
def test_a_program_that_does_not_exist_is_a_usage_error(
    programs_folder, command, words, said
):
    done = run_program(programs_folder, command, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{command}: {said}\n"
    assert not (programs_folder / "pycuda_profile.html").exists()


@pytest.mark.parametrize("command", ["pycuda.explain", "pycuda.profile"])
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["tool.py", "-m"], "tool -m\n"),
        (["-m", "tool", "x"], "tool x\n"),
        (["-m", "package.inside"], "imported\ninside\n"),
        (["-m", "runnable"], "runnable\n"),
        (["runnable"], "runnable\n"),
    ],
)
def test_a_program_that_exists_runs(programs_folder, command, words, printed):
    done = run_program(programs_folder, command, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["profile", "-o", "x.pdf", "tool.py"], "has no ending that names a format"),
        (["profile", "-o", "none/x.html", "tool.py"], "there is no folder"),
        (["explain", "--checks", "all,nope", "tool.py"], "names of checks with commas"),
        (["explain", "--capability", "9.9", "tool.py"], "such as 7.5"),
        (["explain", "--devices", "-1", "tool.py"], "PYCUDA_EMULATOR_DEVICES"),
        (["explain", "--devices", "many", "tool.py"], "invalid int value: 'many'"),
        (["profile"], "the following arguments are required"),
        (["explain", "--nope", "tool.py"], "unrecognized arguments: --nope"),
    ],
)
def test_a_wrong_option_is_a_usage_error(programs_folder, words, said):
    """The program does not run."""
    done = run_program(programs_folder, "pycuda", *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_right_options_are_none(programs_folder):
    words = ["--checks", "init,race", "--devices", "2", "--capability", "8.6"]
    done = run_program(programs_folder, "pycuda.explain", *words, "tool.py")
    assert done.returncode == 0 and done.stdout.startswith("tool\n")
