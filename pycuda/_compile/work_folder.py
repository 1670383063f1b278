"""A temporary folder to compile in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def work_folder(keep: bool) -> Iterator[str]:
    """Make a folder, and remove it at the end; with ``keep``, print where it is."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="pycuda-")
    try:
        yield folder
    finally:
        if keep:
            print(f"*** compiler output in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
