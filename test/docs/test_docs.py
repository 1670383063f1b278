"""Sphinx builds the pages of doc/ without a warning. They describe every public name of
test/data/api.tsv, and of pycuda.gpuarray those that the table lacks."""

import importlib
import importlib.util
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda.driver as drv
from pycuda import cumath, fft, gpuarray
from support import api_table

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "doc"

#: The packages of the extra doc.
NEEDED = (
    *("sphinx", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design"),
    *("matplotlib", "myst_nb"),
)
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(
    bool(missing), reason=f"{', '.join(missing)}: not installed (extra doc)"
)

#: Rows about a module as a whole, which the page of the module describes.
OF_MODULE = re.compile(r"<\w+>")

#: Device code, which Sphinx lists with the names of C and C++.
CPP_KINDS = {"operators": "complex"}

#: Modules that another module imports under a short name.
SHORT = {"pycuda.gpuarray": {"drv", "elementwise", "np"}}


def build(source, target, *options):
    """Run Sphinx as `make doc` does. Return its status and output."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", *options]
    done = subprocess.run(
        [*command, "-b", "html", str(source), str(target)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The built pages, and the output of Sphinx."""
    target = tmp_path_factory.mktemp("html")
    status, said = build(DOC, target)
    return target, status, said


@pytest.fixture(scope="module")
def described(pages):
    """The names in the inventory: those of Python, and those of C and C++."""
    from sphinx.util.inventory import InventoryFile

    with (pages[0] / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, uri: uri)
    python, device = set(), set()
    for kind, entries in inventory.items():
        if kind.startswith("py:"):
            python.update(entries)
        elif kind.startswith(("cpp:", "c:")):
            device.update(name.rpartition("::")[2].split("(")[0] for name in entries)
    return python, device


def is_public(row):
    """Whether a row is for users."""
    parts = [*row.module.split("."), *row.qualname.split(".")]
    hidden = [p for p in parts if p.startswith("_") and not p.endswith("__")]
    return not hidden and row.qualname not in SHORT.get(row.module, ())


def is_there(row):
    """Whether the package has the module of a row."""
    path = Path(*row.module.split("."))
    package = importlib.util.find_spec("pycuda").submodule_search_locations[0]
    path = Path(package).parent / path
    return (
        row.module.startswith("<")
        or path.with_suffix(".py").exists()
        or (path / "__init__.py").exists()
    )


def all_rows():
    lines = api_table.PATH.read_text(encoding="utf-8").splitlines()[1:]
    modules = dict.fromkeys(line.partition("\t")[0] for line in lines)
    found = [row for row in api_table.read(*modules) if is_public(row)]
    assert len(found) > 1200
    return found + rows_of_arrays(found)


def rows_of_arrays(known):
    """Return rows of the public names of pycuda.gpuarray that known rows lack."""
    names = {row.qualname for row in known if row.module == "pycuda.gpuarray"}
    rows = [
        api_table.Row("pycuda.gpuarray", name, "function", "()")
        for name in dir(gpuarray)
        if name.isidentifier() and not name.startswith("_") and name not in names
    ]
    return [row for row in rows if is_public(row)]


def is_described(row, python, device):
    if row.module.startswith("<"):
        name = CPP_KINDS.get(row.qualname, re.split(r"[<(]", row.qualname)[0])
        last = row.qualname.rpartition("::")[2] if ">::" in row.qualname else name
        return OF_MODULE.fullmatch(row.qualname) or last.split("::")[-1] in device
    if OF_MODULE.fullmatch(row.qualname):
        return row.module in python
    if row.qualname.endswith(".__getattr__"):  # served as properties
        served = {"Device": "warp_size", "Function": "num_regs"}[row.qualname[:-12]]
        return f"{row.module}.{row.qualname[:-12]}.{served}" in python
    if f"{row.module}.{row.qualname}" in python:
        return True
    class_, _, member = row.qualname.partition(".")
    found = getattr(importlib.import_module(row.module), class_, None)
    same = getattr(drv, class_, None) is found
    # The pages describe an object with two names once, and refer to it otherwise.
    return (
        member
        and same
        and {f"{row.module}.{class_}", f"pycuda.driver.{row.qualname}"} <= python
    )


# -- building --------------------------------------------------------------------------


@needs_sphinx
def test_pages_build_without_a_warning(pages):
    target, status, said = pages
    assert (status, said) == (0, "")
    assert (target / "index.html").exists()


#: Errors in the copy: page -> (text added to it, a pattern of Sphinx's message).
WRONG = {
    "memory_pools.rst": ("\n\nSee :doc:`no_such_page`.\n", "no_such_page"),
    "compiling.rst": (
        "\n\n.. autofunction:: pycuda.driver.lost\n",
        "import (function )?'lost'",
    ),
    "lost.rst": ("Lost\n====\n", r"lost\.rst: WARNING: document isn't included"),
    "mpi.rst": ("\nSee :ref:`nowhere`.\n", "nowhere"),
}


def small_doc(folder, texts):
    """Make a folder of a few pages with the settings of doc/. Return its path."""
    for name in ("tools", "src"):
        (folder / name).symlink_to(ROOT / name)
    copy = folder / "doc"
    copy.mkdir()
    shutil.copy(DOC / "conf.py", copy)
    for name in ("static", "templates"):
        shutil.copytree(DOC / name, copy / name)
    for name, text in texts.items():
        (copy / name).write_text(text, encoding="utf-8")
    return copy


@needs_sphinx
def test_wrong_pages_fail_the_build(tmp_path):
    index = "Index\n=====\n\n.. toctree::\n\n   memory_pools\n   compiling\n   mpi\n"
    names = ("memory_pools.rst", "compiling.rst", "mpi.rst")
    texts = {name: (DOC / name).read_text(encoding="utf-8") for name in names}
    copy = small_doc(tmp_path, {"index.rst": index, **texts})
    for page in copy.glob("*.rst"):
        page.write_text(re.sub(r":(?:doc|ref):`(\S+)`", r"\1", page.read_text()))
    status, said = build(copy, tmp_path / "html")
    assert (status, said) == (0, "")
    for page, (text, _) in WRONG.items():
        with (copy / page).open("a") as file:
            file.write(text)
    status, said = build(copy, tmp_path / "html")
    assert status != 0
    complaints = [line for line in said.splitlines() if "WARNING" in line]
    assert len(complaints) == len(WRONG), said
    for _, complaint in WRONG.values():
        assert any(re.search(complaint, line) for line in complaints), said


# -- what the pages have ---------------------------------------------------------------


def text_of(pages, name):
    return (pages[0] / f"{name}.html").read_text(encoding="utf-8")


@needs_sphinx
def test_each_page_has_the_parts_of_the_theme(pages):
    """Search, dark colours, contents, neighbours, copy buttons and the version."""
    text = text_of(pages, "streams")
    for part in (
        *("search-button", "theme-switch-button", "On this page", "prev-next-info"),
        *("copybutton.js", 'title="What is new in this version">2026.1+c.1</a>'),
    ):
        assert part in text, part
    assert (pages[0] / "genindex.html").exists()
    assert (pages[0] / "searchindex.js").exists()


def configured(code, **environment):
    """Return what a line of code prints that uses `conf`, the settings of Sphinx."""
    start = "import runpy; conf = runpy.run_path('doc/conf.py');"
    done = subprocess.run(
        [sys.executable, "-c", start + code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


@needs_sphinx
def test_the_versions_become_a_menu():
    """Without the variable, the version is a link, as another test sees."""
    code = (
        "options = conf['html_theme_options'];"
        "print(options['navbar_end'][0], options['switcher']['json_url'])"
    )
    shown = configured(code, PYCUDA_DOC_VERSIONS="versions.json")
    assert shown == "version-switcher versions.json"


@needs_sphinx
def test_only_a_variable_lets_the_build_use_the_network():
    code = "print(*conf.get('intersphinx_mapping', ()))"
    assert configured(code, PYCUDA_DOC_INTERSPHINX="") == ""
    assert configured(code, PYCUDA_DOC_INTERSPHINX="1") == "python numpy"


#: Words that a reader searches: the page whose title or index has them.
WORDS = {
    "pinned": "memory",
    "pageable": "memory",
    "staging": "memory",
    "out of memory": "when_something_goes_wrong",
    "page-locked": "memory",
    "zero-copy": "memory",
    "unified": "memory",
    "stream-ordered allocation": "stream_memory",
    "metaprogramming": "metaprogramming",
    "occupancy": "driver/launches",
    "warp": "tutorial/grid",
    "license": "license",
    "profiling": "profiling",
}


@needs_sphinx
def test_the_usual_words_are_in_titles_and_in_the_index(pages):
    index = text_of(pages, "genindex")
    for word, page in WORDS.items():
        entry = rf'<a href="{page}.html#[^"]*">{word}\b|{word}\b[^<]*</a>'
        assert re.search(entry, index, re.IGNORECASE), word
        headings = re.findall(r"<h[123]>(.*?)</h[123]>", text_of(pages, page), re.S)
        if word != "zero-copy":
            assert any(word in heading.lower() for heading in headings), word


@needs_sphinx
def test_the_first_page_has_a_picture_and_four_doors(pages):
    text = text_of(pages, "index")
    assert text.count("door") == 4
    assert re.findall(r'src="(_images/\S+\.png)"', text) == ["_images/mandelbrot.png"]
    assert (pages[0] / "_images" / "mandelbrot.png").exists()


@needs_sphinx
def test_a_class_begins_with_tables(pages):
    """The members that most programs use come first; each is a link to its entry."""
    for class_, first in (
        ("gpuarray.GPUArray", ("get", "set", "shape")),  # methods have their own pages
        ("driver.Event", ("record", "synchronize", "time_till")),
    ):
        page = f"generated/pycuda.{class_}"
        table = re.search(
            r'Used most</p>.*?<table class="[^"]*summary.*?</table>',
            text_of(pages, page),
            re.S,
        )
        links = re.findall(r'href="([\w.]*)#([\w.]+)"', table[0])
        assert [name for _, name in links[:3]] == [
            f"pycuda.{class_}.{n}" for n in first
        ]
        for file, name in links:
            where = f"generated/{file}".removesuffix(".html") if file else page
            assert f'id="{name}"' in text_of(pages, where)
    text = text_of(pages, "generated/pycuda.gpuarray.GPUArray")
    assert "Copy the array to the host and return the NumPy array." in text


@needs_sphinx
def test_an_entry_lists_the_functions_of_the_driver(pages):
    """Without the address of the repository it has no link to the source."""
    text = text_of(pages, "generated/pycuda.driver.memcpy_htod")
    entry = text.partition('id="pycuda.driver.memcpy_htod"')[2].partition("</dl>")[0]
    assert "Driver: " in entry and "cuMemcpyHtoD" in entry
    assert "Source: " not in text and "[source]" not in text


@needs_sphinx
def test_a_section_begins_with_a_table(pages):
    text = text_of(pages, "driver/memory")
    section = text.partition('<section id="copies">')[2]
    first = re.search(r'<table class="autosummary|<dl class="py', section)
    assert first[0].startswith("<table")
    link = r'href="../generated/pycuda\.driver\.memcpy_htod\.html#'
    row = re.search(rf"<tr[^>]*><td><p><a [^>]*{link}.*?</tr>", section, re.S)
    assert "Copy" in row[0]


@needs_sphinx
def test_each_function_has_a_page(pages):
    """The table of its module leads to it, and nothing else describes it."""
    names = [
        f"{module.__name__}.{name}"
        for module in (gpuarray, cumath, fft)
        for name in module.__all__
        if inspect.isroutine(getattr(module, name))
    ]
    assert len(names) > 240
    names += ["pycuda.gpuarray.GPUArray.get"]
    for name in names:
        entry = f'<dt class="sig sig-object py" id="{name}">'
        assert entry in text_of(pages, f"generated/{name}")
    assert entry not in text_of(pages, "generated/pycuda.gpuarray.GPUArray")


def links_of_code(text):
    """Return the targets of the links whose text is code."""
    return re.findall(
        r'href="([^"]*)"[^>]*><code class="docutils literal notranslate">', text
    )


@needs_sphinx
def test_names_in_chapters_are_links(pages):
    found = links_of_code(text_of(pages, "arrays"))
    assert len(found) > 200
    assert "generated/pycuda.gpuarray.sum.html#pycuda.gpuarray.sum" in found
    assert "modules/kernels.html#pycuda.sort.SortKernel" in found
    found = links_of_code(text_of(pages, "from_numba"))
    assert "examples/exchange_numba.html" in found
    title = re.search("<h1>.*?</h1>", text_of(pages, "modules/interop"))
    assert links_of_code(title[0]) == []


def neighbours(text):
    """Return the targets of the links to the pages before and after."""
    return re.findall(r'class="(?:left|right)-(?:prev|next)"\s+href="([^"]*)"', text)


@needs_sphinx
def test_a_module_follows_a_module(pages):
    """Below it are the pages of its names, which follow one another."""
    assert neighbours(text_of(pages, "modules/vec")) == [
        "gpuarray.html",
        "array_api.html",
    ]
    found = neighbours(text_of(pages, "generated/pycuda.fft.rfft"))
    assert found == ["pycuda.fft.ifftn.html", "pycuda.fft.irfft.html"]
    text = text_of(pages, "modules/fft")
    assert 'prev-next-title">pycuda.<wbr>linalg</p>' in text


@needs_sphinx
def test_operators_have_sentences(pages):
    text = text_of(pages, "generated/pycuda.gpuarray.GPUArray")
    text = re.sub("<.*?>", "", text)
    assert "The operator self **= value." in text
    assert "The value of len(self)." in text
    assert "self**=" not in text


@needs_sphinx
def test_a_module_with_many_functions_begins_with_their_table(pages):
    text = text_of(pages, "modules/array_api")
    table, entry = text.index('<table class="summary'), text.index('<dl class="py')
    assert table < entry and 'href="#pycuda.array_api.vecdot"' in text[table:entry]


@needs_sphinx
def test_no_signature_has_a_private_name(pages):
    text = text_of(pages, "generated/pycuda.memory.Snapshot")
    entry = text.partition('id="pycuda.memory.Snapshot"')[2].partition("</dt>")[0]
    assert "missed" in entry and "_lines" not in entry


def examples_with_backslashes(text):
    """Return the code of a page that shows a backslash before * or _."""
    blocks = re.findall(r"<(?:pre|code)\b.*?>(.*?)</(?:pre|code)>", text, re.DOTALL)
    shown = [re.sub("<.*?>", "", each) for each in blocks]
    return [each for each in shown if re.search(r"\\[*_|]", each)]


@needs_sphinx
def test_examples_of_docstrings_can_be_pasted(pages):
    found = {
        page.name: examples_with_backslashes(page.read_text())
        for page in (pages[0] / "generated").glob("pycuda.driver.*.html")
    }
    assert len(found) > 100
    assert {name: blocks for name, blocks in found.items() if blocks} == {}


def test_an_example_with_backslashes_is_seen():
    wrong = r"<pre><span>__global</span>\_\_ void f()</pre>"
    assert examples_with_backslashes(wrong) == [r"__global\_\_ void f()"]
    assert examples_with_backslashes(wrong.replace("\\", "")) == []


@needs_sphinx
def test_errors_of_python_are_not_those_of_the_driver(pages):
    """RuntimeError is Python's and has no link here. MemoryError is the driver's."""
    text = text_of(pages, "generated/pycuda.compiler.DynamicModule")
    assert "RuntimeError" in text and "pycuda.driver.RuntimeError" not in text
    text = text_of(pages, "generated/pycuda.gpuarray.GPUArray")
    assert "#pycuda.driver.MemoryError" in text


@needs_sphinx
def test_pages_of_names_that_left_the_tables_are_removed(tmp_path):
    text = "Index\n=====\n\n.. currentmodule:: pycuda.fft\n\n.. autosummary::\n"
    text += "   :toctree: generated\n\n   fft\n   ifft\n"
    copy = small_doc(tmp_path, {"index.rst": text})
    made = copy / "generated"
    assert build(copy, tmp_path / "html") == (0, "")
    assert sorted(path.stem for path in made.iterdir()) == [
        *("pycuda.fft.fft", "pycuda.fft.ifft")
    ]
    (copy / "index.rst").write_text(text.replace("   ifft\n", ""))
    assert build(copy, tmp_path / "html") == (0, "")
    assert [path.stem for path in made.iterdir()] == ["pycuda.fft.fft"]


@needs_sphinx
def test_the_gallery_has_all_examples(pages):
    text = text_of(pages, "gallery")
    examples = sorted((DOC / "examples").glob("*.rst"))
    assert len(examples) > 35
    for path in examples:
        assert f'href="examples/{path.stem}.html"' in text, path
    assert text.count('class="gallery-output"') + text.count("sd-card-img-top") == len(
        examples
    )


@needs_sphinx
def test_the_charts_are_in_the_colours_of_the_theme(pages):
    text = text_of(pages, "performance")
    charts = re.findall(r'<figure class="chart">.*?</figure>', text, re.S)
    assert len(charts) >= 3
    for chart in charts:
        assert 'aria-label="' in chart
        assert "var(--pst-color-text-base)" in chart and "#010203" not in chart
        assert "NVIDIA H200" in chart or "x86-64" in chart
    ids = re.findall(r'\bid="([^"]+)"', "".join(charts))
    assert len(ids) == len(set(ids))


# -- texts -----------------------------------------------------------------------------

#: Paragraphs that describe nothing: where an entry is from, and what NamedTuple says.
NO_TEXT = re.compile(r"(Driver: .*)?Source: |Alias for field number \d+")


def is_text(node):
    from docutils import nodes

    kinds = (nodes.paragraph, nodes.field_list, nodes.literal_block, nodes.bullet_list)
    return isinstance(node, kinds) and not NO_TEXT.match(node.astext())


def read_pages(pages):
    """Return the documents that Sphinx made: {name: document}."""
    folder = pages[0] / ".doctrees"
    names = sorted(folder.rglob("*.doctree"))
    return {
        str(path.relative_to(folder).with_suffix("")): pickle.loads(path.read_bytes())
        for path in names
    }


def entries_of(document):
    """Yield the name of each entry for Python, and its content."""
    from sphinx import addnodes

    for entry in document.findall(addnodes.desc):
        if entry["domain"] == "py":
            signature = entry[0]
            yield signature.get("fullname") or signature.astext(), entry[-1]


def without_text(document):
    return [
        name
        for name, content in entries_of(document)
        if not any(is_text(node) for node in content.children)
    ]


@needs_sphinx
def test_every_entry_has_a_text(pages, capsys):
    documents = read_pages(pages)
    count = sum(len(list(entries_of(document))) for document in documents.values())
    missing = [
        f"{page}: {name}"
        for page, document in documents.items()
        for name in without_text(document)
    ]
    with capsys.disabled():
        print(f"\n{count - len(missing)} of {count} entries have a text")
    assert count > 2500
    assert missing == []


@needs_sphinx
@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("driver/devices", "Device.clock_rate"),
        ("driver/enums", "limit.STACK_SIZE"),
        ("generated/pycuda.profile.Span", "Span.begin"),
    ],
)
def test_an_entry_without_a_text_is_seen(pages, page, name):
    document = read_pages(pages)[page]
    content = dict(entries_of(document))[name]
    text = next(node for node in content.children if is_text(node))
    content.remove(text)
    assert without_text(document) == [name]
    text.clear()
    content.append(text)
    text += type(text)("", "Source: python/driver/device.c.")
    assert without_text(document) == [name]


@needs_sphinx
def test_the_pages_have_the_texts_of_help(pages):
    documents = read_pages(pages)
    pages_of_device = ("driver/devices", "generated/pycuda.driver.Device")
    shown = {}
    for page in pages_of_device:
        shown.update(entries_of(documents[page]))
    for name, attribute in vars(drv.Device).items():
        if inspect.isgetsetdescriptor(attribute) and name != "__dict__":
            content = shown[f"Device.{name}"]
            text = content.astext().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
            assert attribute.__doc__ in text, name
    shown = dict(entries_of(documents["driver/enums"]))
    member = drv.limit.STACK_SIZE
    assert member.__doc__ in shown["limit.STACK_SIZE"].astext()


LISTED = """
The first sentence.

Attributes
----------
first : int or None
    A number,
    in bytes.

second
    A *text*.

More.
""".strip().splitlines()


def test_lists_of_attributes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from pages import attributes

    rest, found = attributes.split(LISTED)
    assert rest == ["The first sentence.", "", "More."]
    assert {name: kind for name, (kind, _) in found.items()} == {
        "first": "int or None",
        "second": "",
    }
    markup = attributes.entries(found)
    assert markup[1:3] == [".. py:attribute:: first", "   :type: int or None"]
    assert "   in bytes." in markup and "   A *text*." in markup
    lines = [line for line in LISTED if line != "----------"]
    assert attributes.split(lines) == (lines, {})


def test_lists_of_base_classes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from pages import attributes

    class Base:
        __doc__ = "\n".join(LISTED)

    class Own(Base):
        """One more.

        Attributes
        ----------
        second : str
            Another text.
        """

    assert list(attributes.listed(Own, False)) == ["second"]
    both = attributes.listed(Own, True)
    assert both["second"] == ("str", ["Another text."]) and "first" in both


# -- names -----------------------------------------------------------------------------


@needs_sphinx
def test_every_public_name_is_described(described, capsys):
    rows = [row for row in all_rows() if is_there(row)]
    missing = [str(row) for row in rows if not is_described(row, *described)]
    with capsys.disabled():
        print(f"\n{len(rows) - len(missing)} of {len(rows)} public names described")
    assert not missing, " ".join(missing)


def docstring(row):
    """Return the docstring of a name, or None if it has none of its own."""
    if row.kind in ("attribute", "constant", "enum_value", "module_attr"):
        return None
    if row.qualname.endswith(".__getattr__") or "auto" in row.module:
        return None
    owner = found = importlib.import_module(row.module)
    for name in row.qualname.split("."):
        owner, found = found, getattr(found, name)
    if inspect.isclass(owner):
        found = inspect.getattr_static(owner, row.qualname.rpartition(".")[2])
    return getattr(found, "__doc__", None) or inspect.getdoc(found) or ""


def undocumented(rows):
    return [str(row) for row in rows if docstring(row) == ""]


def test_everything_has_a_docstring(capsys):
    rows = [row for row in all_rows() if is_there(row) and row.module[0] != "<"]
    missing = undocumented(rows)
    with capsys.disabled():
        count = sum(docstring(row) is not None for row in rows)
        print(f"\n{count - len(missing)} of {count} have docstrings")
    assert not missing


def test_a_missing_docstring_is_seen(monkeypatch):
    row = api_table.Row("pycuda.driver", "set_debugging", "function", "()")
    assert undocumented([row]) == []
    monkeypatch.setattr(drv.set_debugging, "__doc__", None)
    assert undocumented([row]) == ["pycuda.driver.set_debugging"]


@needs_sphinx
def test_a_new_array_function_is_seen(monkeypatch, described):
    """The table lacks the names that no program used before."""

    def cumulative_count(a):
        return a

    cumulative_count.__module__ = "pycuda.gpuarray"
    monkeypatch.setattr(gpuarray, "cumulative_count", cumulative_count, raising=False)
    rows = [row for row in all_rows() if row.module == "pycuda.gpuarray"]
    new = ["pycuda.gpuarray.cumulative_count"]
    assert undocumented(rows) == new
    missing = [str(row) for row in rows if not is_described(row, *described)]
    assert missing == new
    assert "pycuda.gpuarray.flatnonzero" in map(str, rows)


@needs_sphinx
def test_a_name_that_is_not_described_is_seen(described):
    python, device = described
    row = api_table.Row("pycuda.driver", "mem_alloc", "function", "()")
    assert is_described(row, python, device)
    assert not is_described(row, python - {"pycuda.driver.mem_alloc"}, device)
    row = api_table.Row("<header> pycuda-complex.hpp", "sinh", "function", "()")
    assert is_described(row, python, device)
    assert not is_described(row, python, device - {"sinh"})


def lost_anchors(pages, text):
    """Return the targets of a page's links that no page has."""
    found = set(re.findall(r'href="([^"#:]+)\.html#([^"]+)"', text))
    texts = {page: text_of(pages, page) for page, _ in found}
    return [
        f"{page}#{anchor}"
        for page, anchor in sorted(found)
        if f'id="{anchor}"' not in texts[page]
    ]


@needs_sphinx
@pytest.mark.parametrize("page", ["genindex", "py-modindex"])
def test_the_index_leads_to_anchors_that_exist(pages, page):
    text = text_of(pages, page)
    assert text.count(".html#module-pycuda.") > 40
    assert lost_anchors(pages, text) == []
    wrong = text.replace("#module-pycuda.doctor", "#module-pycuda.nurse")
    assert lost_anchors(pages, wrong) == ["modules/explain#module-pycuda.nurse"]


# -- the guide of arrays ---------------------------------------------------------------

#: Where reductions are published, and the pattern of their names.
REDUCTIONS = {
    "src/cpp_free_c/python/array/type/reduction_functions.c": r"FUNCTION_ROW\((\w+)\),",
    "pycuda/gpuarray.py": r'functions\.reductions": "([\w ]+)"',
}


def unnamed_reductions(guide):
    """Return the reductions that a text does not name."""
    found = []
    for file, pattern in REDUCTIONS.items():
        texts = re.findall(pattern, (ROOT / file).read_text())
        found += [name for text in texts for name in text.split()]
    assert {"sum", "nanstd", "ptp", "average"} <= set(found)
    return [name for name in found if f"``{name}``" not in guide]


def test_the_guide_names_every_reduction():
    guide = (DOC / "arrays.rst").read_text()
    assert unnamed_reductions(guide) == []
    assert unnamed_reductions(guide.replace("``nanstd``", "")) == ["nanstd"]
