"""What was true when the program imported the package."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


#: The current folder. Relative names in variables of the environment begin there.
FOLDER = _folder()
#: The bundles that PYCUDA_BUNDLE named.
BUNDLES = frozenset(os.environ.get("PYCUDA_BUNDLE", "").split(os.pathsep))


# -- two packages in one folder --------------------------------------------------------


def _refuse_mixed_files(folder: str) -> None:
    """Raise ImportError if files of the original PyCUDA are among those of the package.

    Every import of the package runs this. So it takes names from the lists that the
    import system has just made, and reads the start of two files only.
    """
    around = _names(os.path.dirname(folder))
    if "setup.py" in around:  # a checkout, where nothing was installed
        return
    why = _sign_of_mixed_files(folder, around)
    if why:
        raise ImportError(
            f"{folder} has files of two installations of pycuda, such as this package "
            f"and the original PyCUDA ({why}): run 'pip uninstall pycuda' until pip "
            "finds none, delete this folder, and install one of the two again"
        )


def _sign_of_mixed_files(folder: str, around: Collection[str]) -> str:
    """Return what shows that a folder has files of two packages, or ""."""
    if "\n".join(("", *around)).count("\npycuda-") > 1:
        ends = (".dist-info", ".egg-info")
        both = [x for x in around if x.startswith("pycuda-") and x.endswith(ends)]
        if len(both) > 1:
            return f"{' and '.join(sorted(both))} are beside it"
    inside = _names(folder)
    built = [x for x in inside if x.startswith("_driver.") and x.endswith(".so")]
    for name, mark in (
        *((x, b"\0pycuda-c\0") for x in built),
        ("driver.py", b"pycuda._public"),
    ):
        if not _holds(os.path.join(folder, name), mark):
            return f"{name} in it is not of this package"
    return ""


def _names(folder: str) -> Collection[str]:
    """Return the names in a folder of modules, as the import system knows them."""
    found: Collection[str] = getattr(
        sys.path_importer_cache.get(folder), "_path_cache", ()
    )
    return found


def _holds(path: str, mark: bytes) -> bool:
    """Return whether the start of a file has a mark, or the file cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        return mark in os.read(file, 4096)
    finally:
        os.close(file)


_refuse_mixed_files(os.path.dirname(__file__))
