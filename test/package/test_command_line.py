"""python -m pycuda and its commands: what they list, JSON, and completion in shells."""

import json
import os
import re
import shutil
import signal
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
    (listing,) = [each for each in sessions("command_line") if each[1].strip()]
    assert listing == ("python -m pycuda", listed + "\n")
    found = document("--json")
    assert found["version"] == pycuda.__version__
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


@pytest.mark.parametrize(
    "words, meant",
    [
        (["docter"], "doctor"),
        (["expalin", "script.py"], "explain"),
        (["cache", "lst"], "list"),
        (["completion", "bsh"], "bash"),
    ],
)
def test_a_wrong_command_gets_a_suggestion(words, meant):
    done = run(*words, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith(f". Did you mean '{meant}'?\n"), done.stderr


def test_a_word_that_is_like_no_command_gets_no_suggestion():
    done = run("xylophone", check=False)
    assert done.returncode == 2
    assert "'xylophone'" in done.stderr and "mean" not in done.stderr


@pytest.mark.parametrize(
    "words, needed",
    [
        (["debug"], "SCRIPT"),
        (["explain"], "SCRIPT"),
        (["profile"], "SCRIPT"),
        (["emulator", "run"], "PROGRAM"),
    ],
)
def test_a_command_without_its_program_names_what_is_missing(words, needed):
    done = run(*words, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith(f"arguments are required: {needed}\n"), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["debug", "/no/such/file.py"],
        ["explain", "/no/such/file.py"],
        ["profile", "/no/such/file.py"],
        ["precompile", "-o", "/tmp/x", "/no/such/file.py"],
        ["precompile", "-o", "/tmp/x", "--arch", "75", "--read", "/no/such/file.py"],
        ["precompile", "--list", "/no/such/file.py"],
        ["emulator", "run", "/no/such/file.py"],
        ["emulator", "run", "/no/such/program"],
    ],
)
def test_a_missing_file_has_the_same_status_everywhere(words):
    done = run(*words, check=False)
    assert done.returncode == 2, done.stderr
    assert words[-1] in done.stderr and "Traceback" not in done.stderr


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
    step = "set PYCUDA_DRIVER to auto, cuda or emulator, or unset it"
    assert (driver["level"], driver["step"]) == ("missing", step)


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
        "print(c.finish('pycuda', close))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    with pytest.raises(ValueError):
        _command_line.finish("pycuda", lambda: int("no number"))


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
    assert done.stderr.endswith(f": {said}\n") and "Traceback" not in done.stderr
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


def test_right_options_are_none(programs_folder):
    words = ["--checks", "init,race", "--devices", "2", "--capability", "8.6"]
    done = run_program(programs_folder, "pycuda.explain", *words, "tool.py")
    assert done.returncode == 0 and done.stdout.startswith("tool\n")


# -- errors ----------------------------------------------------------------------------


def typed(text, folder, **variables):
    """Run a line of the shell, in which ``pycuda`` is this package."""
    return subprocess.run(
        ["sh", "-c", text.replace("pycuda ", f"'{sys.executable}' -m pycuda ", 1)],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **variables},
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("emulator environment --devices -1", "'-1' must be a number of devices"),
        ("emulator environment --devices 65", "'65' must be a number of devices"),
        ("emulator run --capability 9.1 x", "'9.1' must be a compute capability"),
        ("emulator run --driver-version 9.1 x", "'9.1' must be a version of CUDA"),
        ("emulator run ''", "PROGRAM is the name of a program"),
        ("explain --checks memory,,race x.py", "'memory,,race' must be names of"),
        ("explain --checks '' x.py", "'' must be names of checks"),
        ("explain --devices x x.py", "'x' must be a number of devices"),
        ("cache --dir ''", "--dir is the name of a folder"),
        ("cache clear --older-than nan", "invalid number of days: 'nan'"),
        ("profile nothing.py", "there is no file 'nothing.py'"),
        ("profile -m nothing", "there is no module 'nothing'"),
        ("profile -o no/x.html x.py", "for the file 'no/x.html'"),
        ("profile -o x.png x.py", "'x.png' has no ending that names a format"),
        ("doctor --nothing", "pycuda doctor: error: unrecognized arguments: --nothing"),
        ("cache list --nothing", "pycuda cache list: error: unrecognized"),
    ],
)
def test_command_lines_that_make_no_sense(words, named, tmp_path):
    (tmp_path / "x.py").write_text("print('it ran')")
    done = typed(f"pycuda {words}", tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert named in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.py"]


def test_the_capabilities_are_those_of_the_software_device():
    known = _command_line._CAPABILITIES
    assert [_command_line.capability(each) for each in known] == list(known)
    folder = PACKAGE.parent / "src" / "cpp_free_c" / "device" / "api" / "context"
    if folder.exists():
        text = (folder / "device_setup.c").read_text()
        rows = text.partition("known[] = {")[2].partition("}")[0]
        assert tuple(re.findall(r'"([\d.]+)"', rows)) == known


@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        ("cache --dir x.py", 1, "the cache cannot be read: 'x.py': Not a directory"),
        ("explain --json nothing.py", 2, "there is no file 'nothing.py'"),
        ("precompile --list nothing", 2, "'nothing'"),
        ("precompile --list x.py", 1, "'x.py' is not a bundle"),
        ("emulator library", 1, "cannot make links to the software device in"),
    ],
)
def test_errors_as_json(words, status, error, tmp_path):
    (tmp_path / "x.py").write_text("")
    more = "" if "--json" in words else " --json"
    done = typed(f"pycuda {words}{more}", tmp_path, PYCUDA_CACHE_DIR="x.py")
    assert done.returncode == status, done.stderr
    (text,) = json.loads(done.stdout).values()
    assert error in text and text in done.stderr
    plain = typed(f"pycuda {words}".replace(" --json", ""), tmp_path)
    assert error in plain.stderr or "library" in words
    assert "Traceback" not in plain.stderr + done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["", "--json", "completion bash", "cache size"])
def test_stdout_that_takes_nothing(words, unbuffered, tmp_path):
    variables = {"PYTHONUNBUFFERED": unbuffered, "PYCUDA_CACHE_DIR": str(tmp_path)}
    done = typed(f"pycuda {words} >/dev/full", tmp_path, **variables)
    said = "pycuda: stdout cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)
    for end in (">&-", "| head -0", "| head -1"):
        done = typed(f"pycuda {words} {end}", tmp_path, **variables)
        assert (done.returncode, done.stderr) == (0, ""), end


@pytest.mark.gpu
def test_names_of_files_in_the_locale_c(tmp_path):
    folder = tmp_path / "ä"
    folder.mkdir()
    (folder / "hé.py").write_text(
        "import pycuda.autoinit\nfrom pycuda import gpuarray\n"
        "gpuarray.zeros(9, 'f').get()\n"
    )
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = "profile --json -o ä/o.html ä/hé.py"
    found = json.loads(typed(f"pycuda {words}", tmp_path, **variables).stdout)
    assert found["files"] == ["ä/o.html"]
    assert {row["line"]["file"] for row in found["lines"]} >= {str(folder / "hé.py")}
    assert "hé.py" in (folder / "o.html").read_text(encoding="utf-8")


def test_a_name_that_is_no_text(tmp_path):
    name = os.fsencode(tmp_path / "c") + b"\xff"
    variables = {"PYCUDA_CACHE_DIR": os.fsdecode(name), "PYTHONUTF8": "1"}
    done = typed("pycuda cache", tmp_path, PYTHONIOENCODING="utf-8:strict", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.fsencode(done.stdout.split("\n")[0]).endswith(b"/c\xff")


def test_the_path_of_the_software_device_is_absolute(tmp_path):
    done = typed("pycuda emulator library", tmp_path, PYCUDA_CACHE_DIR="here")
    assert done.stdout.startswith(f"{tmp_path / 'here'}/driver-")


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("raise BrokenPipeError('of a socket')", 1, "BrokenPipeError: of a socket\n"),
        ("raise OSError(28, 'its own')", 1, "OSError: [Errno 28] its own\n"),
        ("import os\nos._exit(4)", 4, ""),
        ("import os\nif os.fork() == 0: os._exit(5)\nos.wait()", 0, ""),
        ("import sys\nsys.stdout.close()", 0, ""),
        ("import os\nos.makedirs('sub')\nos.chdir('sub')", 0, ""),
        ("def f(:", 1, "SyntaxError: invalid syntax\n"),
    ],
)
def test_the_program_of_a_profile_ends_as_it_likes(text, status, said, tmp_path):
    (tmp_path / "x.py").write_text(text)
    done = typed("pycuda profile -q x.py", tmp_path)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.endswith(said) and bool(said) == bool(done.stderr)
    assert str(PACKAGE) not in done.stderr and "runpy" not in done.stderr
    page = (tmp_path / "pycuda_profile.html").read_text(encoding="utf-8")
    assert page.endswith("</html>\n")


@pytest.mark.gpu
def test_a_profile_has_the_work_of_threads_that_outlive_the_program(tmp_path):
    (tmp_path / "x.py").write_text(
        "import threading, time\nimport pycuda.autoprimaryctx\n"
        "from pycuda import gpuarray, driver\n"
        "context = driver.Context.get_current()\n"
        "def work():\n    time.sleep(0.3)\n    context.push()\n"
        "    gpuarray.zeros(77, 'f')\n    context.pop()\n"
        "threading.Thread(target=work).start()\n"
    )
    done = typed("pycuda profile x.py", tmp_path)
    assert done.returncode == 0 and "in work" in done.stderr, done.stderr


def test_a_profile_that_cannot_be_written(tmp_path):
    (tmp_path / "x.py").write_text("print('it ran')")
    (tmp_path / "full.txt").symlink_to("/dev/full")
    done = typed("pycuda profile -q -o full.txt -o x.html x.py", tmp_path)
    assert (done.returncode, done.stdout) == (1, "it ran\n")
    assert "cannot write" in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "x.html").exists()


@pytest.fixture
def without_root(tmp_path):
    """Run a line of the shell for a user who is bound by the bits of files."""
    if os.geteuid() != 0:
        return lambda text, **variables: typed(text, tmp_path, **variables)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv is not installed")
    drop = "-dac_override,-dac_read_search,-fowner"

    def run(text, **variables):
        command = f"{setpriv} --bounding-set={drop} --inh-caps={drop} pycuda "
        return typed(text.replace("pycuda ", command, 1), tmp_path, **variables)

    return run


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("cache --dir shut", 1, "the cache cannot be read: 'shut': Permission denied"),
        ("cache --dir closed clear", 1, "'closed' cannot be written, so no entry was"),
        ("precompile x.py -o closed/b", 2, "closed' cannot be written"),
        ("precompile --list secret.py", 2, "'secret.py': Permission denied"),
        ("profile secret.py", 2, "the file 'secret.py' cannot be read"),
        ("profile -o closed/x.html x.py", 2, "'closed/x.html' cannot be written"),
        ("explain secret.py", 2, "the file 'secret.py' cannot be read"),
        ("debug secret.py", 2, "the file 'secret.py' cannot be read"),
        ("emulator library", 1, "shut"),
    ],
)
def test_what_may_not_be_read_or_written(words, status, said, tmp_path, without_root):
    (tmp_path / "x.py").write_text("print('it ran')")
    (tmp_path / "secret.py").write_text("print('it ran')")
    (tmp_path / "secret.py").chmod(0)
    for name, bits in (("shut", 0), ("closed", 0o555)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{'0' * 40}.ptx").write_bytes(b"entry")
        (tmp_path / name).chmod(bits)
    try:
        done = without_root(f"pycuda {words}", PYCUDA_CACHE_DIR="shut")
    finally:
        (tmp_path / "shut").chmod(0o755)
        (tmp_path / "closed").chmod(0o755)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "closed" / f"{'0' * 40}.ptx").exists()


@pytest.mark.parametrize("command", ["precompile -o b", "explain", "profile -q"])
def test_an_interrupt_has_no_lines_of_this_package(command, tmp_path):
    (tmp_path / "x.py").write_text(
        "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"
    )
    name, *options = command.split()
    process = subprocess.Popen(
        [sys.executable, "-m", "pycuda", name, *options, "x.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        start_new_session=True,
        # a shell may have ignored it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert str(PACKAGE) not in error and "KeyboardInterrupt" in error
    assert "x.py" in error
