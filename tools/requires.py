#!/usr/bin/env python3
"""Print what pyproject.toml requires, one requirement a line.

    python tools/requires.py build run test

`build` is what the build backend needs, `run` what the package needs, any other word an
extra. The Makefile installs these before it builds without isolation, so that nothing
is fetched twice and pyproject.toml stays the only list.
"""

import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10; pip, which every private environment has, brings one
    from pip._vendor import tomli as tomllib


def requirements(names):
    """Return the requirements that some names stand for."""
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    project = data["project"]
    known = {
        **project["optional-dependencies"],
        "build": data["build-system"]["requires"],
        "run": project["dependencies"],
    }
    return [line for name in names for line in known[name]]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
