"""The notebook of examples/ runs from its first cell to its last. Those of
doc/notebooks show what they have kept."""

import importlib.util
import re

import pytest

from test_examples import EXAMPLES

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def execute(notebook, tmp_path, monkeypatch):
    """Run the cells in their own kernel, with an empty compile cache."""
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYCUDA_PROGRESS", "0")  # a busy machine compiles for long
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={}
    )
    client.execute()


def read(name):
    return nbformat.read(EXAMPLES / name, as_version=4)


def printed(notebook):
    """Return what the cells wrote to stdout and to stderr."""
    said = {"stdout": "", "stderr": ""}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                said[output.name] += output.text
    return said["stdout"], said["stderr"]


def test_there_are_notebooks():
    assert NOTEBOOKS == ["tutorial.ipynb"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_outputs(name):
    """The outputs depend on the machine."""
    notebook = read(name)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.gpu
def test_the_tutorial(tmp_path, monkeypatch):
    notebook = read("tutorial.ipynb")
    execute(notebook, tmp_path, monkeypatch)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    said, complained = printed(notebook)
    assert complained == ""
    assert "compute capability" in said
    assert "GPUArray (400,) float32" in said
    assert "argument 0 of fahrenheit is a numpy.ndarray" in said


@pytest.mark.gpu
def test_a_wrong_notebook_fails(tmp_path, monkeypatch):
    notebook = read("tutorial.ipynb")
    (kernel,) = (cell for cell in notebook.cells if "1.8f * c[i]" in cell.source)
    kernel.source = kernel.source.replace("1.8f * c[i]", "1.7f * c[i]")
    notebook.cells = notebook.cells[: notebook.cells.index(kernel) + 2]
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        execute(notebook, tmp_path, monkeypatch)


# -- notebooks with outputs ------------------------------------------------------------

TOOL = EXAMPLES.parent / "tools" / "notebooks.py"
EXECUTED = sorted((EXAMPLES.parent / "doc" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def tool():
    """The tool that executes the notebooks of doc/."""
    pytest.importorskip("PIL", reason="Pillow is not installed")
    spec = importlib.util.spec_from_file_location("notebooks", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_executed_notebooks():
    assert len(EXECUTED) == 3


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_an_executed_notebook_is_whole(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        failed = any(each.output_type == "error" for each in cell.outputs)
        assert failed == ("raises-exception" in cell.metadata.get("tags", ()))
    folders = re.findall(r"/(?:home|root|tmp|opt|usr|work)/", path.read_text())
    assert folders == []


@pytest.mark.software(why="the outputs are those of the software device")
@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_an_executed_notebook_shows_what_it_has_kept(tool, path):
    kept = tool.read(path)
    assert list(tool.differences(kept, tool.execute(kept))) == []


def test_an_output_that_differs_is_found(tool):
    kept, found = tool.read(EXECUTED[0]), tool.read(EXECUTED[0])
    assert list(tool.differences(kept, found)) == []
    places = [n for n, cell in enumerate(found.cells) if tool.said(cell)]
    for place in places:
        (output, *_) = found.cells[place].outputs
        if output.output_type == "error":
            output.traceback[-1] += "."
        elif output.output_type == "stream":
            output.text += "."
        else:
            output.data["text/plain"] += "."
    assert [place for place, _ in tool.differences(kept, found)] == places
