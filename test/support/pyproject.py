"""What pyproject.toml says about the package."""

from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10, where pytest needs this package
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def _table(name):
    return tomllib.loads((ROOT / "pyproject.toml").read_text())[name]


def project():
    """Return the table ``project`` of pyproject.toml."""
    return _table("project")


def dependency_groups():
    """Return the table ``dependency-groups`` of pyproject.toml."""
    return _table("dependency-groups")
