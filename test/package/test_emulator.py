"""The software device for other programs: `python -m pycuda.emulator`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
from pycuda import emulator
from support import cc

PROGRAM = r"""
#include <cuda.h>
#include <stdio.h>

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry count(.param .u64 to)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [to];\n mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4;\n add.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r1;\n ret;\n}\n";

#define OK(call)                                       \
    do {                                               \
        CUresult code = call;                          \
        if (code != CUDA_SUCCESS) {                    \
            printf("%s gives %d\n", #call, (int)code); \
            return 1;                                  \
        }                                              \
    } while (0)

int
main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int count, version, major, minor, host[32];
    void *arguments[] = {&memory};

    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    OK(cuDeviceGetCount(&count));
    OK(cuDeviceGet(&device, count - 1));
    OK(cuDeviceComputeCapability(&major, &minor, device));
    OK(cuCtxCreate(&context, NULL, 0, device));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "count"));
    OK(cuMemAlloc(&memory, sizeof(host)));
    OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH(host, memory, sizeof(host)));
    OK(cuMemFree(memory));
    OK(cuCtxDestroy(context));
    printf("%d devices, capability %d.%d, version %d, last %d\n", count, major, minor,
           version, host[31]);
    return 0;
}
"""

#: The driver that other tests chose must not reach the programs.
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PYCUDA_EMULATOR", "PYCUDA_DRIVER"))
}


def command(*words, **variables):
    return subprocess.run(
        [sys.executable, "-m", "pycuda.emulator", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        env={**CLEAN, **variables},
        timeout=120,
    )


def run(*words, **variables):
    done = command("run", *words, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A C program, compiled against cuda.h and linked with the driver's name."""
    include = cc.cuda_include()
    if include is None or "gcc" not in cc.compilers():
        pytest.skip("no cuda.h, or no gcc")
    folder = tmp_path_factory.mktemp("program")
    source = folder / "count.c"
    source.write_text(PROGRAM)
    libraries = Path(emulator.library()).parent
    flags = ["-Wall", "-Werror", "-Wno-deprecated-declarations", "-isystem", include]
    files = [source, "-o", folder / "count", f"-L{libraries}", "-lcuda"]
    cc.must(cc.run(["gcc", *flags, *files]))
    return folder / "count"


@pytest.mark.parametrize("check", [[], ["--check"]])
def test_a_program_in_c_runs_unchanged(program, check):
    said = run("--devices", 3, *check, program)
    assert said == "3 devices, capability 9.0, version 13000, last 31"
    said = run("--capability", "8.6", "--driver-version", "13.2", program)
    assert said == "1 devices, capability 8.6, version 13020, last 31"


def test_variables_are_enough(program):
    printed = command("environment", "--devices", 2).stdout
    variables = dict(line.split("=", 1) for line in printed.splitlines())
    done = cc.must(cc.run([program], env={**CLEAN, **variables}))
    assert done.stdout.startswith("2 devices, capability 9.0")
    # The name alone decides the capability.
    only = {**CLEAN, "LD_LIBRARY_PATH": variables["LD_LIBRARY_PATH"]}
    done = cc.must(cc.run([program], env=only))
    assert done.stdout.startswith("1 devices, capability 9.0")


def test_the_log_of_calls(program, tmp_path):
    log = tmp_path / "calls"
    run("--log", log, program)
    lines = log.read_text().splitlines()
    assert lines[0] == "cuInit 0" and lines[-1] == "cuCtxDestroy 0"


def test_a_python_file_and_its_arguments(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import ctypes, sys\n"
        "ctypes.CDLL('libcuda.so.1').cuInit(0)\n"
        "import pycuda.driver as drv\n"
        "drv.init()\n"
        "print(sys.argv[1:], drv.Device.count(), drv.Device(0).compute_capability())\n"
    )
    said = run("--devices", 2, script, "--devices", "9")
    assert said == "['--devices', '9'] 2 (9, 0)"


def test_pycuda_recognises_the_device_under_the_driver_s_name():
    folder = os.path.dirname(emulator.library())
    done = cc.must(
        cc.run(
            [
                sys.executable,
                "-c",
                "import pycuda.driver as drv\n"
                "from pycuda import _driver\n"
                "drv.init(); print(_driver._is_emulated(), drv.Device(0).name())",
            ],
            env={**CLEAN, "LD_LIBRARY_PATH": folder},
        )
    )
    assert done.stdout.strip() == "True PyCUDA software device"
    assert done.stderr == ""  # no warning: there is a driver


def test_the_runtime_library_is_told_why_it_fails():
    asks = """if True:
    from ctypes import *
    cuda, table, key = CDLL("libcuda.so.1"), c_void_p(), (c_ubyte * 16)()
    for turn in range(2):
        assert cuda.cuGetExportTable(byref(table), key) == 801
    """
    done = command("run", sys.executable, "-c", asks)
    (line,) = done.stderr.splitlines()
    assert line.startswith("pycuda: The software device does not have cuGetExportTable")
    assert "CUDA's runtime library (cudaMalloc and so on)" in line


def test_nvml_counts_and_describes_devices():
    said = run(
        "--devices",
        3,
        sys.executable,
        "-c",
        """if True:
    from ctypes import *
    nvml, cuda = CDLL("libnvidia-ml.so.1"), CDLL("libcuda.so.1")
    count, handle, version = c_uint(), c_void_p(), c_int()
    assert nvml.nvmlDeviceGetCount_v2(byref(count)) == 1  # uninitialised
    assert nvml.nvmlInit_v2() == 0
    assert nvml.nvmlDeviceGetCount_v2(byref(count)) == 0
    assert nvml.nvmlDeviceGetHandleByIndex_v2(3, byref(handle)) == 2
    assert nvml.nvmlDeviceGetHandleByIndex_v2(2, byref(handle)) == 0
    name, uuid = create_string_buffer(96), create_string_buffer(80)
    assert nvml.nvmlDeviceGetName(handle, name, 96) == 0
    assert nvml.nvmlDeviceGetName(handle, name, 5) == 7  # too small
    assert nvml.nvmlDeviceGetUUID(handle, uuid, 80) == 0
    memory, number = (c_ulonglong * 3)(), c_uint()
    assert nvml.nvmlDeviceGetMemoryInfo(handle, memory) == 0
    assert memory[0] == memory[1] + memory[2] == 4 << 30 and memory[2] == 0
    again = c_void_p()
    assert nvml.nvmlDeviceGetHandleByUUID(uuid, byref(again)) == 0
    assert again.value == handle.value
    bus = create_string_buffer(68)  # nvmlPciInfo_t
    assert nvml.nvmlDeviceGetPciInfo_v3(handle, bus) == 0
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(bus.raw[:16], byref(again)) == 0
    assert again.value == handle.value
    for suffix, size in (("", 32), ("_v2", 36), ("_v3", 68)):
        older = create_string_buffer(b"?" * 80, 80)  # what is behind it stays
        get = getattr(nvml, "nvmlDeviceGetPciInfo" + suffix)
        assert get(handle, None) == 2 and get(handle, older) == 0
        assert older.raw == bus.raw[:size] + b"?" * (80 - size), suffix
    assert nvml.nvmlDeviceGetIndex(c_void_p(17), byref(number)) == 2
    for name_ in ("Temperature", "FanSpeed", "ClockInfo", "TemperatureThreshold",
                  "CurrPcieLinkGeneration", "CurrPcieLinkWidth", "UtilizationRates",
                  "CurrentClocksThrottleReasons", "Attributes", "Attributes_v2"):
        ask = getattr(nvml, "nvmlDeviceGet" + name_)  # what hashcat looks up
        assert ask(handle, 0, byref(number)) == 3, name_  # not supported
    assert nvml.nvmlSystemGetCudaDriverVersion_v2(byref(version)) == 0
    own = (c_ubyte * 16)()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetUuid_v2(own, 2) == 0
    assert uuid.value.decode().replace("-", "") == "GPU" + bytes(own).hex()
    context, block = c_void_p(), c_uint64()
    assert cuda.cuCtxCreate_v2(byref(context), 0, 2) == 0
    assert cuda.cuMemAlloc_v2(byref(block), c_size_t(1 << 20)) == 0
    assert nvml.nvmlDeviceGetMemoryInfo(handle, memory) == 0
    assert memory[2] == 1 << 20
    assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1
    assert nvml.nvmlDeviceGetFanSpeed(handle, byref(number)) == 1
    print(count.value, name.value.decode(), version.value)
""",
    )
    assert said == "3 PyCUDA software device 13000"


# -- the links -------------------------------------------------------------------------


def test_links_are_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    path = Path(emulator.library())
    assert path.name == "libcuda.so.1"
    own = Path(pycuda.__file__).with_name("libpycuda_emulator.so")
    for name in ("libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"):
        assert (path.parent / name).resolve() == own.resolve()
    path.unlink()
    (path.parent / "libcuda.so").unlink()
    (path.parent / "libcuda.so").symlink_to("/nowhere")
    assert emulator.library() == str(path)
    assert (path.parent / "libcuda.so").resolve() == own.resolve()


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="PYCUDA_CACHE_DIR"):
        emulator.library()
    done = command("library", PYCUDA_CACHE_DIR=str(tmp_path / "file"))
    assert done.returncode == 1 and "PYCUDA_CACHE_DIR" in done.stderr


def test_variables_add_to_those_that_there_are():
    folder = os.path.dirname(emulator.library())
    base = {
        "LD_LIBRARY_PATH": f"/one:{folder}:/two",
        "PYCUDA_EMULATOR_CAPABILITY": "8.0",
    }
    found = emulator.environment(base, devices=2, check="race", log="calls")
    assert found["LD_LIBRARY_PATH"] == f"{folder}:/one:/two"
    assert "PYCUDA_EMULATOR_CAPABILITY" not in found
    assert found["PYCUDA_EMULATOR_DEVICES"] == "2"
    assert found["PYCUDA_EMULATOR_CHECK"] == "race"
    assert found["PYCUDA_EMULATOR_LOG"] == os.path.abspath("calls")
    chosen = emulator.environment(base, capability="7.5", driver_version="12.4")
    assert chosen["PYCUDA_EMULATOR_CAPABILITY"] == "7.5"
    assert chosen["PYCUDA_EMULATOR_DRIVER_VERSION"] == "12.4"


def test_a_program_that_does_not_exist():
    done = command("run", "/no/such/program")
    assert done.returncode == 2
    assert done.stderr == (
        "pycuda.emulator: cannot run /no/such/program: No such file or directory\n"
    )
