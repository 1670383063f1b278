"""Where NVIDIA's random number library may be. Only the extension calls this."""

import os

from pycuda import _toolkit

_NAMES = ("libcurand.so.10", "libcurand.so")
_WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/curand/lib")


def paths() -> list[str]:
    """Return what to try to open, in order: names for the loader, then files."""
    machine = os.uname().machine
    folders = [
        os.path.join(home, part)
        for home in _toolkit.homes()
        for part in ("lib64", "lib", f"targets/{machine}-linux/lib")
    ]
    folders += _toolkit.in_wheels(_WHEEL_FOLDERS)
    files = [os.path.join(folder, name) for folder in folders for name in _NAMES]
    return [*_NAMES, *filter(os.path.isfile, files)]
