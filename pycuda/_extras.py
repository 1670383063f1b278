"""The commands that install NVIDIA's libraries and compilers from their wheels.

On the Python Package Index the name ``pycuda`` belongs to another package. A command
with this name would fetch that package if this one runs from a checkout. So messages
name the wheels that an extra of ``pyproject.toml`` installs.
"""

from __future__ import annotations

#: What the extras install that messages name, as pyproject.toml has it.
WHEELS = {
    "nvrtc": "cuda-toolkit[nvrtc,cudart,cccl]==13.*",
    "nvcc": "cuda-toolkit[nvcc,nvvm,crt,cudart,cccl]==13.*",
    "linalg": "cuda-toolkit[cublas,cusolver]==13.*",
    "curand": "cuda-toolkit[nvrtc,cudart,cccl,curand]==13.*",
}


def command(extra: str, *, again: bool = False) -> str:
    """Return the command that installs what an extra needs.

    ``again``: also replace installed wheels. They may be damaged.
    """
    option = "--force-reinstall " if again else ""
    return f'pip install {option}"{WHEELS[extra]}"'
