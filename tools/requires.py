#!/usr/bin/env python3
"""Print the requirements of pyproject.toml, one per line.

    python tools/requires.py build run test

`build` stands for the requirements of the build backend, `run` for those of the
package, any other word for a dependency group or an extra. The Makefile installs these
before it builds without isolation. So nothing is fetched twice, and pyproject.toml
stays the only list. The pip of a new environment may be older than 25.1, the first
that installs groups itself.
"""

import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10; pip has a copy in every environment
    from pip._vendor import tomli as tomllib


def requirements(names):
    """Return the requirements for these names, each once."""
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    project = data["project"]
    known = {
        **project["optional-dependencies"],
        **data["dependency-groups"],
        "build": data["build-system"]["requires"],
        "run": project["dependencies"],
    }

    def lines(name):
        for each in known[name]:
            if isinstance(each, str):
                yield each
            else:
                yield from lines(each["include-group"])

    return list(dict.fromkeys(line for name in names for line in lines(name)))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
