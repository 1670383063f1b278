"""What pyproject.toml says about the package."""

from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10, where pytest needs this package
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def project():
    """Return the table ``project`` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
