"""The README of test/data has an entry for each file there, and no other entries."""

import re

import pytest

from support.cc import ROOT

DATA = ROOT / "test" / "data"
ENTRY = re.compile(r"^``[^`\n]+``(?:, ``[^`\n]+``)*$", re.MULTILINE)


def complaints(folder):
    """Name the files without an entry and the entries without a file."""
    text = (folder / "README.rst").read_text()
    patterns = [
        p for line in ENTRY.findall(text) for p in re.findall("``(.+?)``", line)
    ]
    files = {path for path in folder.rglob("*") if path.is_file()}
    files.remove(folder / "README.rst")
    found = []
    for pattern in patterns:
        named = set(folder.glob(pattern))
        if not named & files:
            found.append(f"no file: {pattern}")
        files -= named
    return found + [f"no entry: {path.relative_to(folder)}" for path in sorted(files)]


def test_each_file_has_an_entry():
    assert complaints(DATA) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["a.txt", "b.txt", "c/1.ptx", "c/2.ptx"], []),
        (["a.txt", "b.txt", "c/1.ptx", "c/1.cu"], ["no entry: c/1.cu"]),
        (["a.txt", "b.txt", "c/1.ptx", "d/1.ptx"], ["no entry: d/1.ptx"]),
        (["a.txt", "c/1.ptx"], ["no file: b.txt"]),
        (["a.txt", "b.txt"], ["no file: c/*.ptx"]),
    ],
)
def test_a_missing_entry_or_file_is_found(files, found, tmp_path):
    readme = "``a.txt``, ``b.txt``\n    Two.\n\n``c/*.ptx``\n    Many of ``d``.\n"
    for name, text in [("README.rst", readme), *((name, "") for name in files)]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert complaints(tmp_path) == found


def has_libdevice(ptx):
    """Whether PTX calls or defines a function of NVIDIA's libdevice."""
    return re.search(r"\b__(?:nv|internal)_", ptx) is not None


def test_no_ptx_contains_code_of_libdevice():
    found = [path for path in DATA.rglob("*.ptx") if has_libdevice(path.read_text())]
    assert found == []


def test_code_of_libdevice_is_found():
    assert has_libdevice("\tcall.uni (retval0), __internal_accurate_pow, (param0);\n")
