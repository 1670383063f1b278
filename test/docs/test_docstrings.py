"""The docstrings of all public callables have numpydoc's sections and right examples.

    python test/docs/test_docstrings.py

prints how many public callables there are, and how many have an example.
"""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import Validator, validate

import pycuda
from pycuda.array_api._docs import complete
from support import public_names
from support.child import run_child
from support.compilers import needs_nvcc

ROOT = Path(__file__).resolve().parents[2]

#: Their import makes a context. They define nothing that can be called.
WITH_CONTEXT = {"pycuda.autoinit", "pycuda.autoprimaryctx", "pycuda.gl.autoinit"}

#: The other public modules.
MODULES = [name for name in public_names.modules(pycuda) if name not in WITH_CONTEXT]

#: Modules that publish what the extension defines.
OF_EXTENSION = ("pycuda.driver", "pycuda.gpuarray")

#: numpydoc's checks that are not made: a docstring begins in the line of its quotes
#: (GL01), and one in C has no quotes (GL02); an extended summary, a see-also section
#: and an example are not for each.
NOT_CHECKED = {"GL01", "GL02", "ES01", "SA01", "EX01"}

#: What examples of docstrings have imported, as doc/reference.rst says.
PREPARED = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
"""

RUN = """
import doctest, sys
names = {{}}
exec({prepared!r}, names)
runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
for name, text in {texts!r}:
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, name, 0)
    runner.run(test)
sys.exit(runner.summarize(verbose=False).failed != 0)
"""


def is_member(class_, name):
    """Say whether a class defines a public member itself or in a private base."""
    for base in class_.__mro__:
        if name in vars(base):
            is_own = base is class_ or base.__name__.startswith("_")
            return is_own and base.__module__.startswith("pycuda")
    return False


def members_of(class_):
    """Yield the names of the public methods that a class defines."""
    for name in dir(class_):
        is_call = name == "__call__" and inspect.isfunction(getattr(class_, name))
        if name.startswith("_") and not is_call:
            continue
        if is_member(class_, name) and callable(getattr(class_, name, None)):
            yield name


def callables_of(name):
    """Yield the full names of the public callables that a module publishes."""
    module = importlib.import_module(name)
    for key in dir(module):
        thing = getattr(module, key)
        if key.startswith("_") or not callable(thing):
            continue
        if key.startswith("pytest_"):
            continue  # pytest defines its hooks, and calls them
        home = getattr(thing, "__module__", None)
        if home != name and not (home == "pycuda._driver" and name in OF_EXTENSION):
            continue
        if inspect.isclass(thing) and thing.__name__ != key:
            continue  # another name of a class
        if getattr(thing, "_is_protocol", False):
            continue  # for annotations only
        yield f"{name}.{key}"
        if inspect.isclass(thing):
            for member in members_of(thing):
                yield f"{name}.{key}.{member}"


def thing_of(name):
    return Validator._load_obj(name)


class Docstring(Validator):
    """A docstring, also of what has no line in a source, as C and made classes."""

    source_file_def_line = None

    def __init__(self, obj_name):
        super().__init__(get_doc_object(thing_of(obj_name)))


def faults_of(name):
    """Return what numpydoc finds in a docstring, as pairs of a code and a sentence."""
    found = validate(name, validator_cls=Docstring)["errors"]
    return [(code, text) for code, text in found if code not in NOT_CHECKED]


def examples_of(names):
    """Return the examples of docstrings, as pairs of a name and a text."""
    texts = [(name, inspect.getdoc(thing_of(name)) or "") for name in names]
    return [(name, text[text.index(">>>") :]) for name, text in texts if ">>>" in text]


def run_examples(texts):
    """Run examples in a process of their own. Return the process."""
    return run_child(RUN.format(prepared=PREPARED, texts=texts), check=False)


@pytest.mark.parametrize("module", MODULES)
def test_a_docstring_has_its_sections(module):
    names = list(callables_of(module))
    found = {name: faults_of(name) for name in names}
    assert {name: faults for name, faults in found.items() if faults} == {}


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module):
    done = run_examples(examples_of(callables_of(module)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_shared_parameters_have_one_text():
    command = [sys.executable, ROOT / "tools/shared_parameters.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# -- wrong docstrings are found --------------------------------------------------------


def without_docstring(x):
    return x


def without_sections(x):
    """Return x."""
    return x


def with_another_parameter(x):
    """Return a number.

    Parameters
    ----------
    y : int
        The number.

    Returns
    -------
    int
        The number.
    """
    return x


@pytest.mark.parametrize(
    ("function", "codes"),
    [
        (without_docstring, {"GL08"}),
        (without_sections, {"PR01", "RT01"}),
        (with_another_parameter, {"PR01", "PR02"}),
    ],
)
def test_a_wrong_docstring_is_found(function, codes):
    found = faults_of(f"{__name__}.{function.__name__}")
    assert {code for code, _ in found} == codes


def test_public_callables_are_found_with_their_methods():
    names = set(callables_of("pycuda.compiler"))
    assert {
        "pycuda.compiler.compile",
        "pycuda.compiler.SourceModule.get_function",
    } <= names
    assert "pycuda.compiler.Callable" not in names


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize(("said", "status"), [("2", 0), ("3", 1)])
def test_a_wrong_example_is_found(said, status):
    done = run_examples([("example", f">>> 1 + 1\n{said}\n")])
    assert done.returncode == status, done.stdout + done.stderr


def test_another_text_for_a_shared_parameter_is_found(tmp_path):
    (tmp_path / "pycuda").mkdir()
    file = tmp_path / "pycuda" / "module.py"
    file.write_text('"""\nstream : Stream, optional\n    Another text.\n"""\n')
    command = [sys.executable, ROOT / "tools/shared_parameters.py"]
    check = [*command, "--check", tmp_path]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 1
    subprocess.run([*command, tmp_path], check=True)
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0
    assert "Stream in which" in file.read_text()


OF_THE_STANDARD = """
def mean(x, /, *, axis=None):
    'Return a number.\\n\\nRaises\\n------\\nValueError'
"""


def test_a_docstring_of_the_standard_follows_from_another():
    names = {"__name__": "pycuda.array_api._module", "__all__": []}
    exec(OF_THE_STANDARD, names)
    complete(names["mean"])
    found = NumpyDocString(names["mean"].__doc__)
    assert found["Summary"] == ["Return a number."]
    assert [each.name for each in found["Parameters"]] == ["x", "axis"]
    assert found["Parameters"][0].desc == ["Array of numbers."]
    assert found["Raises"] == [], "an error without a text is not raised"
    assert "``out``" in str(found["See Also"])
    assert ">>> xp.mean(x, axis=0)" in found["Examples"]


def test_the_standard_is_there_without_docstrings():
    program = "import pycuda.array_api as xp; print(xp.mean.__doc__, xp.linalg.__doc__)"
    assert run_child(program, PYTHONOPTIMIZE="2").stdout == "None None\n"


def test_a_docstring_in_c_that_repeats_a_macro_is_found(tmp_path):
    (tmp_path / "src").mkdir()
    file = tmp_path / "src/file.c"
    command = [sys.executable, ROOT / "tools/shared_parameters.py", "--check", tmp_path]
    file.write_text('DOC("\\nParameters\\n----------\\n" PCU_DOC_STREAM)')
    assert subprocess.run(command, check=False).returncode == 0
    file.write_text(file.read_text().replace("PCU_", '"stream : Stream, optional\\n"'))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "src/file.c: use PCU_DOC_STREAM\n")


def main():
    rows = {name: list(callables_of(name)) for name in MODULES}
    every = [name for names in rows.values() for name in names]
    print(f"public callables: {len(every)}")
    print(f"with an example: {len(examples_of(every))}")
    for module, names in rows.items():
        print(f"  {len(names):4d} {module}")


if __name__ == "__main__":
    main()
