"""The array modules have all public names of the table, as it describes them."""

import csv
import importlib
import inspect
from pathlib import Path

import pytest

MODULES = ("gpuarray", "cumath", "elementwise", "reduction", "scan")
TABLE = Path(__file__).parents[1] / "data" / "api.tsv"


def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            ours = row["module"].removeprefix("pycuda.") in MODULES
            if ours and "ABSENT" not in (row["notes"] or ""):
                yield row


ROWS = list(rows())


def found(row):
    """Return the object of a row."""
    thing = importlib.import_module(row["module"])
    for part in row["qualname"].split("."):
        thing = getattr(thing, part)
    return thing


# Names that only exist in instances.
OF_INSTANCES = {
    "ElementwiseKernel.gen_kwargs",
    "ReductionKernel.dtype_out",
    "ReductionKernel.block_size",
    "ReductionKernel.stage1_func",
    "ReductionKernel.stage2_func",
    "ReductionKernel.stage1_arg_types",
    "ReductionKernel.stage2_arg_types",
    "_ScanKernelBase.dtype",
    "_ScanKernelBase.neutral",
    "_ScanKernelBase.scan_intervals_knl",
    "_ScanKernelBase.final_update_knl",
}


def test_the_table_is_there():
    assert len(ROWS) > 270


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['module']}.{r['qualname']}")
def test_name(row):
    if row["qualname"] in OF_INSTANCES:
        return
    thing = found(row)
    if row["kind"] in ("function", "method", "staticmethod"):
        assert callable(thing)
    if row["kind"] == "class":
        assert inspect.isclass(thing)


# Parameters that a program may give by keyword, in the order of the table.
def parameters_of(signature):
    inside = signature.partition(")")[0].lstrip("(")
    for part in inside.split(","):
        name = part.partition("=")[0].strip()
        if name.isidentifier():
            yield name


@pytest.mark.parametrize(
    "row",
    [
        r
        for r in ROWS
        if r["kind"] in ("function", "method") and "vec." not in r["qualname"]
    ],
    ids=lambda r: f"{r['module']}.{r['qualname']}",
)
def test_keywords(row):
    signature = row["signature"] or ""
    if not signature.startswith("(") or row["qualname"] in OF_INSTANCES:
        return
    ours = inspect.signature(found(row)).parameters
    if any(p.kind is p.VAR_KEYWORD for p in ours.values()):
        return
    missing = [name for name in parameters_of(signature) if name not in ours]
    assert not [name for name in missing if name not in ("args", "kwargs")]
