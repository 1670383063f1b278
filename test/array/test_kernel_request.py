"""The record in which C asks Python for a kernel.

``tables/kernel_request.h`` decides its fields and their values, in C and in Python.
"""

import re
import shutil
import sysconfig
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from pycuda import _driver, gpuarray
from pycuda._array import sources as sources_folder
from pycuda._array.kernels import compilation
from support.cc import SOURCE, compilers, must, run

SOURCES = sources_folder.__name__
TABLE = SOURCE / "tables" / "kernel_request.h"


def fields(text):
    """Return the names of the fields that a table has."""
    return tuple(re.findall(r"^ *(?:FIELD|LIST)\(\w+, (\w+),", text, re.MULTILINE))


def names(text, table):
    """Return the second column of a table of X(NAME, "name") rows."""
    body = re.search(rf"#define {table}\(X\)(.*?)\n\n", text + "\n\n", re.DOTALL)[1]
    return tuple(re.findall(r'X\(\w+, "(\w+)"\)', body))


def test_the_record_has_the_fields_of_the_table():
    text = TABLE.read_text()
    assert _driver._KernelRequest.__match_args__ == fields(text)
    other = text.replace("FIELD(uint8_t, ndim,", "FIELD(uint8_t, axes,")
    assert _driver._KernelRequest.__match_args__ != fields(other)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ("PCU_KERNEL_FAMILIES", _driver._kernel_families),
        ("PCU_OPERAND_PASSING", _driver._operand_passing),
        ("PCU_KERNEL_VARIANTS", _driver._kernel_variants),
    ],
)
def test_names_are_those_of_the_table(table, value):
    text = TABLE.read_text()
    assert value == names(text, table) != ()
    assert value != names(text.replace(f'"{value[0]}"', '"new"'), table)


def test_python_knows_every_name():
    """Every variant is in the writer of its family. One variant may be the rest."""
    assert set(compilation.WRITER_OF_FAMILY) == set(_driver._kernel_families)
    for module, function in compilation.WRITER_OF_FAMILY.values():
        assert callable(getattr(import_module(f"{SOURCES}.{module}"), function))
    sources = Path(sources_folder.__file__).parent.glob("*.py")
    text = "".join(path.read_text() for path in sources)
    for known in (
        _driver._operand_passing,
        set(_driver._kernel_variants) - {"by_block", "scan_columns_look_back"},
    ):
        assert [name for name in known if f'"{name}"' not in text] == []


@pytest.mark.skipif(not compilers(), reason="needs a C compiler")
@pytest.mark.parametrize("changed", [False, True])
def test_c_follows_a_changed_table(tmp_path, changed):
    """A new row becomes a field of the key, of the record, and of its documentation."""
    (tmp_path / "tables").mkdir()
    copy = shutil.copy(TABLE, tmp_path / "tables")
    if changed:
        old = "    FIELD(uint16_t, tile, "
        new = '    FIELD(uint64_t, hints, NUMBER, "more") \\\n' + old
        text = TABLE.read_text()
        assert text.count(old) == 1
        with open(copy, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
    folders = (tmp_path, SOURCE, sysconfig.get_path("include"), np.get_include())
    source = SOURCE / "python" / "array" / "ops" / "kernel_request.c"
    flags = [f"-I{folder}" for folder in folders]
    done = must(run([compilers()[0], "-E", "-P", "-std=c11", *flags, source]))
    text = re.sub(r"\s+", " ", done.stdout)
    assert ("uint64_t hints;" in text) == changed
    assert ('{"hints", "more"}' in text) == changed
    record = '{"hints", __builtin_offsetof (pcu_kernel_key, hints), sizeof(uint64_t)'
    assert (re.sub(r"\s", "", record) in re.sub(r"\s", "", text)) == changed


def test_what_c_asks_for(monkeypatch):
    asked = []
    kernel_images = compilation.kernel_images

    def noted(requests):
        asked.extend(requests)
        return kernel_images(requests)

    monkeypatch.setattr(compilation, "kernel_images", noted)
    context = _driver.Device(0).make_context()  # a context's kernels are its own
    try:
        x = gpuarray.to_gpu(np.ones((4, 6), np.int16))
        x[:, :5] + 2.5
        x.sum(axis=0)
        record = gpuarray.to_gpu(np.zeros(12, "i4,i8"))
        record[::2].copy()
        gpuarray.empty((96, 64), np.float32)[...] = gpuarray.empty(
            (64, 96), np.float32
        ).T
        del x, record
    finally:
        context.pop()
        context.detach()
    add, total, raw, transpose = asked
    assert (add.family, add.operation, add.inputs, add.outputs) == (
        "elementwise",
        "add",
        2,
        1,
    )
    assert add.types == ("int16", "float64", "float64")
    assert add.passing == ("array", "scalar", "packed")
    assert (add.compute, add.ndim, add.wide) == ("float64", 2, False)
    assert (total.family, total.operation) == ("reduction", "sum")
    assert (total.variant, total.kept_ndim, total.partial) == ("by_block", 1, False)
    assert (raw.types, raw.raw_bytes, raw.compute) == (("raw", "raw"), 12, "raw")
    assert (transpose.family, transpose.tile, transpose.vector) == ("transpose", 64, 1)


def test_a_family_without_a_writer_is_an_error():
    values = dict.fromkeys(_driver._KernelRequest.__match_args__)
    request = _driver._KernelRequest((values | {"family": "new"}).values())
    with pytest.raises(KeyError, match="new"):
        compilation.text_of(request)
