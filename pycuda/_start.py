"""What was true when the program imported the package."""

from __future__ import annotations

import os


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


#: The current folder. Relative names in variables of the environment begin there.
FOLDER = _folder()
#: The bundles that PYCUDA_BUNDLE named.
BUNDLES = frozenset(os.environ.get("PYCUDA_BUNDLE", "").split(os.pathsep))
