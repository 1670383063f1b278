"""All forms of PTX instructions: which of them run, and what they compute.

tools/ptx_forms.txt has the patterns of the forms, test/data/ptx_forms.txt the verdicts
of NVIDIA's assembler, and test/data/ptx_answers.npz the answers of an H200.
"""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from device import batch
from device.forms import atomics, kernels
from device.random_ptx import program
from support import cc
from support.emulator import LIBRARY

#: Random programs of one run; device.record_kernels --compare runs all of them.
PROGRAMS = 2500


def different(suite, count, way="lockstep"):
    """Return the numbers of the first kernels that differ from the recorded answers."""
    found = batch.run(suite, LIBRARY, 0, count, 2, way)
    want = batch.recorded(suite)[:count]
    return np.nonzero(batch.checksums(found) != want)[0].tolist()


@pytest.mark.parametrize("way", batch.WAYS)
def test_each_form_computes_what_an_H200_computes(way):
    wrong = different(kernels, kernels.count(), way)
    assert not wrong, [kernels.name_of(kernels.forms()[n]) for n in wrong[:20]]
    assert kernels.count() > 4000


@pytest.mark.parametrize("way", batch.WAYS)
def test_each_atomic_form_does_what_an_H200_does(way):
    wrong = different(atomics, atomics.count(), way)
    assert not wrong, [kernels.name_of(atomics.forms()[n]) for n in wrong[:20]]


def test_random_programs_compute_what_an_H200_computes():
    wrong = different(program, PROGRAMS)
    assert not wrong, [f"program {n}" for n in wrong[:20]]
    assert program.count() >= 10000


@pytest.mark.parametrize("way", batch.WAYS)
def test_a_product_with_a_number_takes_its_nan_as_an_H200_does(way):
    """fma.f64 of a number and two NaNs. Of 10,000 later programs it alone differed."""
    found = batch.run(program, LIBRARY, 17672, 1, 1, way)
    assert batch.checksums(found).tolist() == [1191959001]


def test_the_table_is_up_to_date_and_a_refused_form_is_named_with_its_line():
    tool = cc.ROOT / "tools" / "ptx_forms.py"
    done = subprocess.run(
        [sys.executable, tool, "--check", "--refused"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    lines = done.stdout.splitlines()
    assert lines
    for line in lines:
        text, _, message = line.partition("  # ")
        assert re.search(r"line \d+", message), line
        assert text.partition(".")[0] in message, line


@pytest.mark.skipif(not shutil.which("ptxas"), reason="needs ptxas on PATH")
def test_the_verdicts_are_the_assembler_s():
    tool = kernels.tool()
    patterns = [p for group in tool.sections().values() for p in group.items()]
    good = {form for forms in tool.legal(tool.sections()).values() for form in forms}
    for _, forms in patterns[::29]:
        verdicts = tool.assemble(forms)
        assert {form for form in forms if verdicts[form]} == good & set(forms)


def test_an_answer_of_another_kernel_is_noticed(monkeypatch):
    monkeypatch.setattr(program, "GENERATION", 0)
    with pytest.raises(ValueError, match="record them on a GPU"):
        batch.recorded(program)
