"""The pages of the examples: each program has one, and its recorded run is of today's
program. The directives make cards, tables and charts."""

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOC, EXAMPLES = ROOT / "doc", ROOT / "examples"
sys.path.insert(0, str(ROOT / "tools"))

needs_theme = pytest.mark.skipif(
    not all(
        importlib.util.find_spec(name)
        for name in ("sphinx", "pydata_sphinx_theme", "sphinx_design", "matplotlib")
    ),
    reason="the packages of the extra doc are not installed",
)


@pytest.fixture(scope="module")
def recorded():
    return json.loads((DOC / "runs" / "runs.json").read_text())["programs"]


def programs():
    return sorted(
        path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")
    )


# -- what is recorded ------------------------------------------------------------------


@pytest.mark.parametrize("program", programs())
def test_a_program_has_a_page(program):
    text = (DOC / "examples" / f"{Path(program).stem}.rst").read_text()
    assert f".. example:: {program}\n" in text


def old_records(recorded):
    """Return the programs that have changed since they were recorded."""
    return [
        name
        for name, run in recorded.items()
        if hashlib.sha256((EXAMPLES / name).read_bytes()).hexdigest() != run["sha256"]
    ]


def test_the_records_are_of_the_programs(recorded):
    """If this fails, run `make gallery` (or tools/record_examples.py PROGRAM)."""
    from record_examples import programs as recordable

    assert sorted(recorded) == sorted(recordable())
    assert old_records(recorded) == []


def test_an_old_record_is_seen(recorded):
    run = {**recorded["scan.py"], "sha256": "0" * 64}
    assert old_records({**recorded, "scan.py": run}) == ["scan.py"]


def test_programs_take_seconds(recorded):
    slow = {
        name: run["seconds"] for name, run in recorded.items() if run["seconds"] > 10
    }
    assert slow == {}


def test_programs_name_their_device(recorded):
    for name, run in recorded.items():
        assert "PyCUDA software device" in run["output"], name


def test_pictures(recorded):
    pictures = {run["picture"] for run in recorded.values()} - {None}
    kept = {path.name for path in (DOC / "runs").iterdir()} - {"runs.json"}
    assert kept == pictures
    assert len(pictures) >= 10
    sizes = {name: (DOC / "runs" / name).stat().st_size for name in pictures}
    assert all(size < 200_000 for size in sizes.values()), sizes


def test_the_records_name_no_folders(recorded):
    assert not re.search(r"/tmp/|/home/|/root/|/work/", json.dumps(recorded))


# -- parts -----------------------------------------------------------------------------


def test_topics():
    from pages.gallery import topics

    text = "Head\n====\n\nA text.\n\nFirst\n\n``a.py``\n    does a\n    and b\n"
    text += "``b.py``\n    c\n"
    assert topics(text) == {"First": {"a.py": "does a and b", "b.py": "c"}}
    listed = topics((EXAMPLES / "README.rst").read_text())
    headings = re.findall(
        r"^\.\. gallery:: (.*)$", (DOC / "gallery.rst").read_text(), re.M
    )
    assert sorted(headings) == sorted(listed)


def test_one_process_prints_the_options():
    from record_examples import command

    assert command("mpi/heat_equation.py")[0] == "mpiexec"
    assert command("mpi/heat_equation.py", "--help")[0] == sys.executable


def test_the_recorded_options_are_there_once(recorded):
    assert all(run["options"].count("usage:") < 2 for run in recorded.values())
    assert recorded["mpi/heat_equation.py"]["options"].count("usage:") == 1


def test_options_of_a_help_text():
    from record_examples import options_of

    alone = "usage: a.py [-h]\n\nA text.\n\noptions:\n  -h, --help  show\n"
    assert options_of(alone) == ""
    more = (
        "usage: a.py [-h] [--n N]\n\nA text.\n\noptions:\n  -h, --help  show\n  --n N\n"
    )
    assert options_of(more) == (
        "usage: a.py [-h] [--n N]\n\noptions:\n  -h, --help  show\n  --n N"
    )


def test_paragraphs_to_markup():
    from pages.plain import paragraphs_to_markup

    text = "Two **stars** and x_ end; --for-me.\n\n    python a.py --n\n\nLast."
    assert paragraphs_to_markup(text) == (
        r"Two \*\*stars\*\* and x\_ end; ``--for-me``."
        "\n\n::\n\n    python a.py --n\n\nLast."
    )


# -- directives ------------------------------------------------------------------------

CONF = """
import sys
sys.path.insert(0, {tools!r})
extensions = [{extensions}]
"""


def build(folder, text, *extensions):
    """Build one page; return the status, the messages and the HTML."""
    (folder / "index.rst").write_text(text)
    listed = ", ".join(map(repr, extensions))
    (folder / "conf.py").write_text(
        CONF.format(tools=str(ROOT / "tools"), extensions=listed)
    )
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"]
        + [str(folder), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    page = folder / "html" / "index.html"
    return done.returncode, done.stderr, page.read_text() if page.exists() else ""


CLASS = """
Title
=====

.. py:class:: pack.Thing

   A thing.

   .. py:method:: second()

      Do the second. It is not told.

   .. py:method:: __add__(other)

      Add ``other``. It is not told.

   .. py:method:: first()

      Do the *first*: it comes before the second.

   .. py:attribute:: size

      The number of things, e.g. 3. It is not told.

   .. py:attribute:: silent
"""


def cells(html):
    """Return the words of the rows of the tables of a page."""
    rows = re.findall(r"<tr.*?</tr>", html, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]


@needs_theme
def test_the_table_of_a_class(tmp_path):
    status, said, html = build(tmp_path, CLASS, "pages.summary")
    assert (status, said) == (0, "")
    assert cells(html) == [
        "second Do the second.",
        "first Do the first : it comes before the second.",
        "size The number of things, e.g. 3.",
        "__add__ Add other .",
    ]
    assert re.findall(r'rubric">(\w+)', html) == ["Methods", "Attributes", "Operators"]


@needs_theme
def test_attributes_of_one_sentence_have_no_table(tmp_path):
    text = CLASS.replace("e.g. 3. It is not told.", "e.g. 3.")
    _, _, html = build(tmp_path, text, "pages.summary")
    assert re.findall(r'rubric">(\w+)', html) == ["Methods", "Operators"]


@needs_theme
def test_few_entries_have_no_table(tmp_path):
    text = CLASS.replace(
        "   .. py:attribute:: size\n\n      The number", "   The number"
    )
    _, _, html = build(tmp_path, text, "pages.summary")
    assert cells(html) == []


@needs_theme
def test_a_name_that_is_not_there_is_reported(tmp_path):
    text = CLASS.replace("pack.Thing", "pycuda.driver.Event")
    status, said, _ = build(tmp_path, text, "pages.summary")
    assert status != 0
    assert "pycuda.driver.Event has no member record" in said


@needs_theme
def test_unknown_charts_topics_and_records(tmp_path):
    text = "Title\n=====\n\n.. chart:: nothing\n\n.. gallery:: Nowhere\n"
    status, said, _ = build(
        tmp_path, text, "sphinx_design", "pages.charts", "pages.gallery"
    )
    assert status != 0
    assert "there is no chart 'nothing'; there are all-operations" in said
    assert "examples/README.rst has no topic 'Nowhere'" in said


# -- the notes for the next version ----------------------------------------------------

NOTES = "Title\n=====\n\n.. changes::\n\nOlder\n-----\n\nText.\n"


@needs_theme
def test_notes_are_listed_by_kind(tmp_path):
    notes = tmp_path / "changes"
    notes.mkdir()
    (notes / "README.rst").write_text("How to write a note.\n")
    status, said, html = build(tmp_path, NOTES, "pages.changes")
    assert (status, said) == (0, "")
    assert "Next version" not in html and "How to write" not in html
    (notes / "sort.bugfix.rst").write_text("``sort`` is stable.\n")
    (notes / "roll.feature.rst").write_text("Arrays roll,\nalong any axis.\n")
    status, said, html = build(tmp_path, NOTES, "pages.changes")
    assert (status, said) == (0, "")
    text = " ".join(re.sub(r"<[^>]+>", " ", html.partition("<h1>")[2]).split())
    wanted = (
        "Next version ¶ Added Arrays roll, along any axis. Fixed sort is stable. Older"
    )
    assert wanted in text


@needs_theme
def test_a_note_of_an_unknown_kind_is_reported(tmp_path):
    notes = tmp_path / "changes"
    notes.mkdir()
    (notes / "roll.feautre.rst").write_text("Arrays roll.\n")
    status, said, html = build(tmp_path, NOTES, "pages.changes")
    assert status != 0
    assert "roll.feautre.rst: its kind is none of feature, compat, perf, bugfix" in said
    assert "Arrays roll" not in html
