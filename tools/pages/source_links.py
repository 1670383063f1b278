"""Where a name of the package is written, for links from the reference."""

import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find(module, name, entry=None):
    """Return the file and the line of a public name, or None.

    ``entry`` is what tools/doc_sources.py found about a name of the extension.
    """
    if entry is not None:
        text = (ROOT / entry.file).read_text(encoding="utf-8")
        # A function begins its line, or a macro's row makes it; a table has brackets.
        name = entry.function
        places = (rf"^{name}\(", rf"^.*\b{name}\[", rf"\b{name}\b")
        where = next(filter(None, (re.search(p, text, re.MULTILINE) for p in places)))
        return entry.file, text.count("\n", 0, where.start()) + 1
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        found = getattr(found, "fget", None) or inspect.unwrap(found)
        path = Path(inspect.getsourcefile(found)).resolve()
        _, line = inspect.getsourcelines(found)
    except (ImportError, AttributeError, TypeError, OSError):
        return None  # data, or a name of another language
    return (str(path.relative_to(ROOT)), line) if ROOT in path.parents else None
