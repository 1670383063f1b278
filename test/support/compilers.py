"""Compilers for tests: the real nvcc, one that counts its runs, and a toy.

The toy accepts the options of nvcc that the package uses. Its "image" is the source
with its headers pasted in, so a stale result is visible. It needs no toolkit, so the
package's handling of compilers is tested on every machine.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from pycuda._compile import nvcc, nvrtc
from pycuda.driver import CompileError

try:
    REAL_NVCC = nvcc.find("nvcc")
except CompileError:
    REAL_NVCC = None

needs_nvcc = pytest.mark.skipif(
    REAL_NVCC is None, reason="needs nvcc, which is neither on PATH nor in CUDA_HOME"
)

#: Parameters: both compilers that the package uses.
COMPILERS = [
    pytest.param(
        "nvcc",
        marks=pytest.mark.skipif(REAL_NVCC is None, reason="nvcc was not found"),
    ),
    pytest.param(
        "nvrtc",
        marks=pytest.mark.skipif(nvrtc.find() is None, reason="NVRTC was not found"),
    ),
]

_TOY = """#!{python}
import json, os, re, shlex, sys, time

def environ(name, default=""):
    return os.environ.get("TOY_" + name, default)

with open({log!r}, "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print(environ("VERSION", "toy compiler, release 13.0, V13.0.1"))
    sys.exit(0)
if arguments == ["--list-gpu-arch"]:
    print(*environ("ARCHS", "compute_75 compute_80 compute_90").split(), sep="\\n")
    sys.exit(0)

def value(option):
    return arguments[arguments.index(option) + 1] if option in arguments else None

def meet(folder, count):  # wait until that many compilations run at one time
    open(os.path.join(folder, str(os.getpid())), "w").close()
    for _ in range(6000):
        if len(os.listdir(folder)) >= count:
            return
        time.sleep(0.01)
    sys.exit("the others never came")

if environ("PIPES"):  # say that it began, and wait to be told to go on
    with open(os.path.join(environ("PIPES"), "began"), "w") as pipe:
        pipe.write("began")
    with open(os.path.join(environ("PIPES"), "go on")) as pipe:
        pipe.read()
if environ("MEET"):
    meet(environ("MEET"), int(environ("MEET_COUNT")))
arguments[:0] = shlex.split(os.environ.get("NVCC_PREPEND_FLAGS", ""))
for name in ("-optf=", "--options-file="):
    for option in [a for a in arguments if a.startswith(name)]:
        arguments[:0] = open(option[len(name):]).read().split()
folders = [a[2:] for a in arguments if a.startswith("-I")]
folders += [f or "." for f in re.findall("[^:]+", os.environ.get("CPATH", ""))]
folders += [b for a, b in zip(arguments, arguments[1:]) if a == "-isystem"]
folders += re.findall("[^:]+", os.environ.get("CPLUS_INCLUDE_PATH", ""))
source = arguments[-1]
read = []

def paste(path):
    read.append(path)
    for line in open(path).read().splitlines():
        match = re.match(r'#include ["<](.*?)[">]', line)
        if not match:
            yield line
            continue
        for folder in [os.path.dirname(path), *folders]:
            if os.path.isfile(os.path.join(folder, match[1])):
                yield from paste(os.path.join(folder, match[1]))
                break
        else:
            sys.exit(f"kernel.cu: error: no file {{match[1]}}")

text = "\\n".join(paste(source))
if environ("TOUCH"):
    open(environ("TOUCH"), "w").write(environ("TOUCH_TEXT"))
if "--preprocess" in arguments:
    print(text)
    sys.exit(0)
print(environ("SAY"), end="", file=sys.stderr)
if "#error" in text:
    print("kernel.cu: error", file=sys.stderr)
    sys.exit(1)
runtime = "/usr/include/linux/cuda_runtime.h"  # the first header in nvcc's lists
names = [path.replace(" ", "\\\\ ") for path in [*read, runtime]]
rule = "image: " + " \\\\\\n    ".join(names) + "\\n"
if "-M" in arguments:
    print(rule, end="")
    sys.exit(0)
listed = os.environ.get("SUNPRO_DEPENDENCIES", "").partition(" ")[0]
if listed:
    with open(listed, "a") as file:
        file.write(rule)
if not environ("SILENT"):
    with open(value("-o"), "w") as file:
        file.write(arguments[0] + "\\n" + text)
"""

_COUNTING = """#!/bin/sh
echo '[]' >> '{log}'
exec '{real}' "$@"
"""


class Pipes:
    """Stop one toy at a time in the middle of a compilation."""

    def __init__(self, folder):
        self.folder = Path(folder, "pipes")
        self.folder.mkdir()
        for name in ("began", "go on"):
            os.mkfifo(self.folder / name)

    def wait_until_it_began(self):
        assert (self.folder / "began").read_text() == "began"

    def let_it_go_on(self):
        (self.folder / "go on").write_text("")


class Compiler:
    """A program for ``nvcc=`` that logs its arguments."""

    def __init__(self, folder, text, name="toy-nvcc"):
        self.log = Path(folder, f"{name}.log")
        self.path = str(Path(folder, name))
        Path(self.path).write_text(text.replace("{log}", str(self.log)))
        os.chmod(self.path, 0o755)

    @property
    def calls(self):
        """The argument lists of all runs until now."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    @property
    def compilations(self):
        questions = (["--version"], ["--list-gpu-arch"])
        return [call for call in self.calls if call not in questions]


def make_toy(folder, name="toy-nvcc"):
    text = _TOY.replace("{python}", sys.executable).replace("{log!r}", "'{log}'")
    return Compiler(folder, text.replace("{{", "{").replace("}}", "}"), name)


def make_counting(folder):
    return Compiler(
        folder, _COUNTING.replace("{real}", str(REAL_NVCC)), "counting-nvcc"
    )
