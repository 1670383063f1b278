"""Tables of the members of a class.

A class with several members gets tables in front of them: each name, and the first
sentence of its description, the most used ones first. Attributes have no table if their
entries have one sentence each and so say no more. The tables are made from the
finished page, so entries that Sphinx makes from docstrings and entries written by hand
look alike. autosummary makes the tables whose names have pages of their own. A section
that describes many functions itself gets a table of them.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

LOG = logging.getLogger(__name__)

#: A table is made from this number of entries.
LEAST = 4
LEAST_FUNCTIONS = 10

#: Members that most programs use, in the order in which to read about them.
MOST_USED = {
    "pycuda.driver.Function": (
        *("__call__", "prepare", "prepared_call", "prepared_async_call"),
        "set_cache_config",
    ),
    "pycuda.driver.Context": (
        *("synchronize", "push", "pop", "detach", "get_current", "get_device"),
    ),
    "pycuda.driver.Device": (
        *("count", "name", "make_context", "retain_primary_context"),
        *("compute_capability", "total_memory", "get_attribute", "can_access_peer"),
    ),
    "pycuda.driver.Stream": ("synchronize", "is_done", "wait_for_event"),
    "pycuda.driver.Event": (
        *("record", "synchronize", "time_till", "time_since", "query"),
    ),
    "pycuda.driver.Module": ("get_function", "get_global", "get_texref"),
    "pycuda.compiler.SourceModule": ("get_function", "get_global", "get_texref"),
}

#: Kinds of entries: object type -> heading of their table in a class.
KINDS = {
    "method": "Methods",
    "classmethod": "Methods",
    "staticmethod": "Methods",
    "attribute": "Attributes",
    "property": "Attributes",
}
CLASSES = ("class", "exception")
OPERATORS = re.compile(r"__\w+__")


# -- reading entries -------------------------------------------------------------------


def first_sentence(content):
    """Return copies of the nodes of the first sentence of a description."""
    paragraph = next(
        (node for node in content.children if isinstance(node, nodes.paragraph)), None
    )
    found = []
    for node in paragraph.children if paragraph is not None else ():
        if isinstance(node, nodes.Text):
            end = re.search(r"(?<![. ][A-Za-z])\.(?=\s|$)", node)
            if end:
                return [*found, nodes.Text(str(node)[: end.end()])]
        found.append(node.deepcopy())
    return found


def signature(entry):
    """Return the first signature of an entry, or None."""
    return next(iter(entry.findall(addnodes.desc_signature)), None)


def short_name(entry):
    """Return the name of an entry without its module and class."""
    fullname = signature(entry).get("fullname") or entry_text(entry)
    return fullname.rpartition(".")[2]


def entry_text(entry):
    names = signature(entry).findall(addnodes.desc_name)
    return "".join(name.astext() for name in names)


def entries_of(parent):
    """Return the entries directly below a node that have a signature and a target."""
    return [
        node
        for node in parent.children
        if isinstance(node, addnodes.desc)
        and signature(node) is not None
        and signature(node)["ids"]
    ]


# -- making tables ---------------------------------------------------------------------


def row(entry):
    target = signature(entry)["ids"][0]
    name = nodes.literal("", entry_text(entry))
    link = nodes.reference("", "", name, internal=True, refid=target)
    sentence = first_sentence(entry[-1])
    return nodes.row(
        "",
        nodes.entry("", nodes.paragraph("", "", link)),
        nodes.entry("", nodes.paragraph("", "", *sentence)),
    )


def table(entries):
    """Return a table of names and first sentences."""
    group = nodes.tgroup("", cols=2)
    group += [nodes.colspec(colwidth=25), nodes.colspec(colwidth=75)]
    group += nodes.tbody("", *map(row, entries))
    return nodes.table("", group, classes=["summary"])


def tells_something(entries):
    """Say whether enough of the entries have a description for a table to help."""
    told = sum(bool(first_sentence(entry[-1])) for entry in entries)
    return len(entries) >= LEAST and told >= max(LEAST, len(entries) // 2)


def is_short(entry):
    """Say whether a description is one sentence, which a table would repeat."""
    first = "".join(node.astext() for node in first_sentence(entry[-1]))
    return entry[-1].astext().strip() == first.strip()


def groups(class_name, entries):
    """Return (heading, entries) of the tables of a class."""
    by_name = {}
    for entry in entries:
        by_name.setdefault(short_name(entry), entry)
    used = MOST_USED.get(class_name, ())
    for name in used:
        if name not in by_name:
            LOG.warning(
                "%s has no member %s, which tools/pages/summary.py puts first",
                class_name,
                name,
            )
    first = [by_name[name] for name in used if name in by_name]
    parts = {"Used most": first, "Methods": [], "Attributes": [], "Operators": []}
    for name, entry in by_name.items():
        if entry in first:
            continue
        heading = KINDS.get(entry["objtype"])
        if heading and OPERATORS.fullmatch(name):
            heading = "Operators"
        if heading and first_sentence(entry[-1]):
            parts[heading].append(entry)
    kinds = {entry["objtype"] for entry in by_name.values()}
    if kinds == {"attribute"} or all(map(is_short, parts["Attributes"])):
        del parts["Attributes"]  # the entries below say the same
    if all(map(is_short, parts["Operators"])):
        del parts["Operators"]
    return [(heading, part) for heading, part in parts.items() if part]


def add_to_class(entry):
    """Put the tables of a class in front of its members."""
    content = entry[-1]
    members = entries_of(content)
    if not tells_something(members):
        return
    parts = [signature(entry).get(key) for key in ("module", "fullname")]
    name = ".".join(filter(None, parts))
    made = []
    for heading, part in groups(name, members):
        made += [nodes.rubric("", heading), table(part)]
    others = [node for node in content.children if node not in members]
    content[:] = [*others, *made, *members]


def add_to_section(section):
    """Put a table in front of the functions of a section, if it has many."""
    functions = [e for e in entries_of(section) if e["objtype"] == "function"]
    if len(functions) >= LEAST_FUNCTIONS:
        section.insert(section.index(functions[0]), table(functions))


def on_page(app, doctree):
    for section in doctree.findall(nodes.section):
        add_to_section(section)
    for entry in list(doctree.findall(addnodes.desc)):
        if entry["objtype"] in CLASSES and signature(entry) is not None:
            add_to_class(entry)


def setup(app):
    app.connect("doctree-read", on_page)
    return {"parallel_read_safe": True}
