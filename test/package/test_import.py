"""The import of a public module loads few modules; names are loaded at first use."""

import builtins
import importlib
import inspect
import pickle
import pydoc

import pytest

import pycuda
from support.child import run_child

#: How many modules of the package the import of one may load in a new process, with
#: itself. For arrays the program has made a context before.
MOST = {
    "pycuda.driver": 5,
    "pycuda.autoinit": 8,
    "pycuda.compiler": 6,
    "pycuda.gpuarray": 9,
    "pycuda.cumath": 4,
    "pycuda.curandom": 5,
}
#: The public modules with names that are loaded at first use.
DEFERRING = ("driver", "tools", "gpuarray", "curandom")

#: Sets up the extension in a module that has a name before.
SECOND = """
import importlib.util
import pycuda._driver as first

spec = importlib.util.spec_from_file_location(first.__name__, first.__file__)
second = importlib.util.module_from_spec(spec)
second.NAME = None
spec.loader.exec_module(second)
"""

LOADED = """
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "pycuda"))
"""


def too_many(module, use=""):
    """Return what a program has loaded that imports a module, if it is too much.

    The program then runs ``use``.
    """
    before = "import pycuda.autoinit" if module == "pycuda.gpuarray" else ""
    program = f"import sys\n{before}\nimport {module}\n{use}\n{LOADED}"
    loaded = run_child(program).stdout.split()
    assert module in loaded
    return loaded if len(loaded) > MOST[module] else []


@pytest.mark.gpu
@pytest.mark.parametrize("module", MOST)
def test_bare_imports_load_few_modules(module):
    assert too_many(module) == []


@pytest.mark.gpu
@pytest.mark.parametrize(
    "module, use",
    [
        ("pycuda.driver", "import pycuda.interop"),
        ("pycuda.autoinit", "import pycuda.compiler"),
        ("pycuda.compiler", "import pycuda.driver"),
        ("pycuda.gpuarray", "pycuda.gpuarray.where"),
        ("pycuda.cumath", "import pycuda.gpuarray"),
        ("pycuda.curandom", "pycuda.curandom.rand"),
    ],
)
def test_more_modules_are_found(module, use):
    assert len(too_many(module, use)) > MOST[module]


@pytest.fixture(params=DEFERRING)
def module(request):
    return importlib.import_module(f"pycuda.{request.param}")


def test_all_names_are_there(module):
    names = dir(module)
    assert names == sorted(set(names))
    for name in names:
        assert getattr(module, name) is vars(module)[name]
    stars = {}
    exec(f"from {module.__name__} import *", stars)
    shown = {name for name in names if name[0] != "_" and not hasattr(builtins, name)}
    assert shown == set(stars) - {"__builtins__"}


def test_functions_and_classes_have_public_names(module):
    """Pickles then name the module that programs import."""
    found = 0
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or not hasattr(value, "__qualname__"):
            continue
        assert "._" not in value.__module__.replace("pycuda._driver", ""), name
        if value.__module__ == module.__name__:
            found += 1
            assert pickle.loads(pickle.dumps(value)) is value
            if inspect.isfunction(value):
                assert inspect.getsource(value).lstrip().startswith(("def ", "@"))
    assert found > 5


def test_names_of_modules_do_not_depend_on_which_is_imported_first():
    program = """
        import importlib, inspect
        for name in "gpuarray", "linalg":
            module = importlib.import_module(f"pycuda.{name}")
            for function in dir(module):
                getattr(module, function)
        from pycuda import gpuarray, linalg
        for module in gpuarray, linalg:
            for name in dir(module):
                value = getattr(module, name)
                if inspect.isfunction(value):
                    print(module.__name__, name, value.__module__)
    """
    other = program.replace('"gpuarray", "linalg"', '"linalg", "gpuarray"')
    assert run_child(program).stdout == run_child(other).stdout != ""


def test_help_shows_names_that_were_not_used():
    program = (
        "import pydoc, pycuda.gpuarray; print(pydoc.render_doc('pycuda.gpuarray'))"
    )
    shown = pydoc.plain(run_child(program).stdout)
    assert "where(criterion, then_, else_" in shown
    assert "class GrowableArray" in shown


def test_help_of_the_package_names_its_version_and_its_modules():
    shown = pydoc.plain(pydoc.render_doc("pycuda"))
    assert f"VERSION\n    {pycuda.__version__}\n" in shown
    assert "pycuda.gpuarray" in shown.partition("PACKAGE CONTENTS")[0]
    assert "show(*arrays" in shown
    assert "_hide_imports" not in shown and "__dir__" not in shown


def test_unknown_names(module):
    text = f"module '{module.__name__}' has no attribute 'nothing'"
    with pytest.raises(AttributeError, match=text):
        _ = module.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec(f"from {module.__name__} import nothing")


def test_a_replaced_name_stays():
    """A program may replace a function before the package has loaded it."""
    program = """
    import pycuda.gpuarray
    pycuda.gpuarray.where = "mine"
    assert pycuda.gpuarray.logical_and.__module__ == "pycuda.gpuarray"
    print(pycuda.gpuarray.where)
    """
    assert run_child(program).stdout == "mine\n"


def test_threads_may_use_a_name_first():
    program = """
    import threading
    import pycuda.gpuarray

    found, start = [], threading.Barrier(8)

    def use():
        start.wait()
        found.append((pycuda.gpuarray.where, pycuda.gpuarray.pad))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(found), len(set(found)))
    """
    assert run_child(program).stdout == "8 1\n"


@pytest.mark.gpu
def test_results_that_numpy_asks_for_have_public_names():
    """Nothing has used the public name of their class."""
    program = """
    import pickle
    import numpy as np
    import pycuda.autoinit
    from pycuda._driver import to_gpu

    a = to_gpu(np.eye(3))
    for result in (np.unique_counts(a), np.linalg.slogdet(a)):
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result)
        print(type(result).__module__, *(part.shape for part in again))
    """
    shown = run_child(program).stdout.splitlines()
    assert shown == [
        "pycuda.gpuarray (2,) (2,)",
        "pycuda.linalg () ()",
    ]


@pytest.mark.parametrize("name", ["_sum", "_square"])
def test_a_function_does_not_replace_another(name):
    """pycuda.gpuarray and pycuda.array_api share the names in the extension."""
    done = run_child(SECOND.replace("NAME", name), check=False)
    assert done.returncode == 1
    assert f"SystemError: {name} is there twice" in done.stderr
