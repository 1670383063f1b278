"""The commands that install NVIDIA's libraries and compilers from their wheels.

On the Python Package Index the name ``pycuda`` belongs to another package. A command
with this name would fetch that package if this one runs from a checkout. So messages
name the wheels that an extra of ``pyproject.toml`` installs.
"""

from __future__ import annotations

#: What the extras install that messages name, as pyproject.toml has it. Those with cu12
#: are for a driver of CUDA 12, which loads no code of CUDA 13.
WHEELS = {
    "nvrtc": "cuda-toolkit[nvrtc,cudart,cccl]==13.*",
    "nvcc": "cuda-toolkit[nvcc,nvvm,crt,cudart,cccl]==13.*",
    "linalg": "cuda-toolkit[cublas,cusolver]==13.*",
    "curand": "cuda-toolkit[nvrtc,cudart,cccl,curand]==13.*",
    "nvrtc-cu12": "cuda-toolkit[nvrtc,cudart,cccl]==12.*",
    "nvcc-cu12": "cuda-toolkit[nvcc,cudart,cccl]==12.*",
    "linalg-cu12": "cuda-toolkit[cublas,cusolver]>=12.8,<13",
    "curand-cu12": "cuda-toolkit[nvrtc,cudart,cccl,curand]==12.*",
}


def _has_old_driver() -> bool:
    """Return whether the driver is of CUDA 12 or before. Without a driver it is not."""
    try:
        from pycuda._driver import Error, get_driver_version
    except ImportError:
        return False
    try:
        return get_driver_version() < 13000
    except Error:
        return False


def command(extra: str, *, again: bool = False) -> str:
    """Return the command that installs what an extra needs, for this driver.

    ``again``: also replace installed wheels. They may be damaged.
    """
    option = "--force-reinstall " if again else ""
    name = f"{extra}-cu12" if _has_old_driver() else extra
    return f'pip install {option}"{WHEELS[name]}"'
