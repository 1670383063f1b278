"""The program of doc/kernel_costs.rst, its report, and the table of advice."""

import os
import re
import subprocess
import sys

from pycuda.profile import _advice
from support.compilers import needs_nvcc
from support.pages import DOC, captioned, sessions

PAGE = (DOC / "kernel_costs.rst").read_text()


def report(folder, program):
    """Return what the command of the page prints for a program."""
    (folder / "turn.py").write_text(program)
    (command, _) = sessions("kernel_costs")[0]
    done = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYCUDA_EMULATOR_CAPABILITY": "9.0",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def without_estimates(text):
    """Remove the numbers that depend on the compiler: instructions and registers."""
    text = re.sub(r"[\d,]+ warp instructions|\d+ registers", "N", text)
    return re.sub(r"(?m)^( +\d+) +[\d,.]+( +[\d.]+ )", r"\1 N\2", text)


@needs_nvcc
def test_the_report_of_the_page(tmp_path):
    program = captioned("kernel_costs")["turn.py"]
    printed = report(tmp_path, program)
    ((_, shown),) = sessions("kernel_costs")
    assert [row.rstrip() for row in without_estimates(printed).split("\n")] == [
        row.rstrip() for row in without_estimates(shown.rstrip("\n") + "\n").split("\n")
    ]
    assert (tmp_path / "turn.html").exists()


@needs_nvcc
def test_the_advice_of_the_page_helps(tmp_path):
    program = captioned("kernel_costs")["turn.py"].replace("[32][32]", "[32][33]")
    printed = report(tmp_path, program.replace('"direct", "tiled"', '["tiled"]'))
    assert "tiled: 1 launch" in printed and ">" not in printed


def test_the_table_has_all_kinds_of_advice():
    rows = re.findall(r"(?m)^   \* - (``.*``)$", PAGE)
    kinds = re.findall("``(.*?)``", " ".join(rows))
    assert kinds == [*_advice.OF_LINES, *_advice.OF_KERNELS]
