"""The tables of the pages have the rows that their source shows.

In a simple table each line is a row: a line that continues the one above becomes a row
with an empty cell. Such a table is written as a list-table.
"""

import re
import textwrap

import pytest

from support.pages import DOC

publish_doctree = pytest.importorskip("docutils.core").publish_doctree
nodes = pytest.importorskip("docutils.nodes")

ROOT = DOC.parent
BORDER = re.compile(r" *=+(?: +=+)+ *")
TABLE = re.compile(
    r"^(?P<border> *=+(?: +=+)+)\n(?:.*\n)*?(?P=border)\n(?=\n|\Z)"
    r"|^(?P<indent> *)\.\. list-table::.*\n(?:(?P=indent) .*\n|\n)*",
    re.MULTILINE,
)


def blocks(text):
    """Return the tables of a page: pairs of the line number and the lines."""
    return [
        (text.count("\n", 0, table.start()) + 1, table[0].splitlines())
        for table in TABLE.finditer(text)
    ]


def written(lines):
    """Return the number of rows that the lines of a table show."""
    if BORDER.fullmatch(lines[0]):
        return sum(not BORDER.fullmatch(line) for line in lines)
    return sum(bool(re.match(r" *\* - ?", line)) for line in lines)


def cells(lines):
    """Return the rows that docutils makes of a table, none if it refuses the table."""
    quiet = {"report_level": 5, "halt_level": 6, "file_insertion_enabled": False}
    text = textwrap.dedent("\n".join(lines))
    rows = publish_doctree(text, settings_overrides=quiet).findall(nodes.row)
    return [
        [entry.astext().strip() for entry in row.findall(nodes.entry)] for row in rows
    ]


def faults(text):
    """Return what is wrong with the tables of a page, as sentences."""
    found = []
    for line, lines in blocks(text):
        rows = cells(lines)
        if len(rows) != written(lines):
            found.append(f"line {line}: {written(lines)} rows, docutils: {len(rows)}")
        for row in rows:
            if not row[0] or not any(row[1:]):
                found.append(f"line {line}: a row continues another one: {row}")
    return found


def sources():
    yield from (ROOT / "README.rst", ROOT / "examples" / "README.rst")
    yield from sorted([*DOC.rglob("*.rst"), *DOC.rglob("*.inc")])


def test_the_tables_of_all_pages():
    texts = {path: path.read_text(encoding="utf-8") for path in sources()}
    assert sum(len(blocks(text)) for text in texts.values()) > 50
    found = {str(path.relative_to(ROOT)): faults(text) for path, text in texts.items()}
    assert {name: told for name, told in found.items() if told} == {}


SIMPLE = """\
==========  =======
this        that
==========  =======
one         ``1``
two         2
==========  =======
"""
LISTED = """\
    .. list-table::
       :header-rows: 1

       * - this
         - that
       * - one and
           a half
         - * 1
           * 1/2
"""


@pytest.mark.parametrize("text", [SIMPLE, LISTED])
def test_a_good_table(text):
    assert len(blocks(f"Words.\n\n{text}\nWords.\n")) == 1
    assert faults(text) == []


@pytest.mark.parametrize(
    ("good", "broken", "told"),
    [
        ("two         2", "two\n", "continues another one: ['two', '']"),
        ("two         2", "            2", "3 rows, docutils: 2"),
    ],
)
def test_a_line_that_continues_another_is_noticed(good, broken, told):
    (fault,) = faults(SIMPLE.replace(good, broken.rstrip("\n")))
    assert told in fault


def test_a_lost_row_is_noticed():
    (fault,) = faults(LISTED.replace("       * - one", "           * - one"))
    assert fault == "line 1: 2 rows, docutils: 0"
