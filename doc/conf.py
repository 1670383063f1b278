"""How Sphinx builds the pages of this folder: `make doc`.

The reference is made from the docstrings of the package, so the extension must have
been built; a driver is not needed. Docstrings of the extension are plain text: they are
made into markup here, with the driver's functions that each name calls.
"""

import builtins
import inspect
import os
import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.ext import napoleon
from sphinx.ext.autosummary.generate import find_autosummary_in_files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import cell_lexer  # noqa: E402  the path is set above
import doc_sources  # noqa: E402
from pages.plain import (  # noqa: E402
    docstring_to_markup,
    operator_to_markup,
    plain_to_markup,
)

import pycuda  # noqa: E402
from pages import attributes, source_links  # noqa: E402

project = "pycuda"
author = "the authors of pycuda"
copyright = author
version = release = pycuda.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "sphinx_design",
    "pages.attributes",
    "pages.changes",
    "pages.charts",
    "pages.gallery",
    "pages.links",
    "pages.summary",
]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = f"pycuda {version}"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["pycuda.css"]
html_favicon = "static/logo.svg"
html_theme_options = {
    "logo": {
        "text": "pycuda",
        "image_light": "static/logo.svg",
        "image_dark": "static/logo.svg",
        "alt_text": "pycuda: to the first page",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_depth": 2,
    "navbar_end": ["version.html", "theme-switcher"],
    "show_toc_level": 2,
    "show_nav_level": 1,
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
    "back_to_top_button": True,
}
#: The address of a file in the repository's web view, with {file} and {line}. If it is
#: empty, the reference has no links to the source.
SOURCE = os.environ.get("PYCUDA_DOC_SOURCE", "")
#: Links to the pages of Python and NumPy, if the build may use the network. Otherwise
#: their names are shown without links.
if os.environ.get("PYCUDA_DOC_INTERSPHINX"):
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
    }
#: The list of versions, a file that all versions share, where several are published.
VERSIONS = os.environ.get("PYCUDA_DOC_VERSIONS")
if VERSIONS:
    html_theme_options["switcher"] = {"json_url": VERSIONS, "version_match": version}
    html_theme_options["check_switcher"] = False
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher"]
#: These pages have no list of pages at their side. There is none below the first three;
#: for hundreds of pages of functions, the list takes more time than the pages.
html_sidebars = {"index": [], "install": [], "gallery": [], "generated/*": []}
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# Prompts and output are not copied with a command.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# The list of a page names its sections; tables in the page list the entries.
toc_object_entries = False

# Notebooks are pages, with the outputs that tools/notebooks.py has kept in them.
extensions.append("myst_nb")
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_error_lexer = "text"

autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
#: Operators that the pages of classes describe.
autosummary_context = {
    "operators": {
        "pycuda.compyte.array.ArrayFlags": "__repr__, __str__",
        "pycuda.driver.Context": "__eq__, __ne__, __hash__",
        "pycuda.driver.Device": "__eq__, __ne__, __hash__",
        "pycuda.driver.Stream": "__cuda_stream__",
        "pycuda.tools.Argument": "__eq__, __hash__, __repr__",
    }
}
# Signatures as they are written: a default is shown by its name, not by its value.
autodoc_preserve_defaults = True

#: The pages of the names in the tables of the reference. Each build writes them; they
#: are no part of the repository.
GENERATED = HERE / "generated"

ENTRIES = doc_sources.read(ROOT)

#: Operations of arrays would name the driver's copies at every turn.
UNTOLD = ("GPUArray",)

#: Types in the sections of docstrings are text, not links: a link from ``bytes`` would
#: lead to a member of this name.
SECTIONS = napoleon.Config(napoleon_use_param=False, napoleon_use_rtype=False)

DESCRIBED = ("class", "exception", "function", "method", "attribute", "property")
CALLABLE = ("class", "exception", "function", "method")


def entry_of(name):
    """Return what the C sources say of pycuda.driver.NAME or another public name."""
    parts = name.split(".")
    for count in (2, 1):
        entry = ENTRIES.get(".".join(parts[-count:]))
        if entry is not None and (count == 2 or parts[-2] in ("driver", "_driver")):
            return entry
    return None


def is_c(thing):
    """Say whether a docstring is of the extension."""
    from pycuda import _driver

    if inspect.isclass(thing):
        return getattr(_driver, thing.__name__, None) is thing
    return not inspect.isroutine(thing) or not hasattr(thing, "__globals__")


def on_docstring(app, what, name, thing, options, lines):
    """Make markup of the extension's docstrings, and list the driver's functions."""
    if what == "data" and "\n".join(lines).strip() == inspect.getdoc(type(thing)):
        lines.clear()  # it describes lists or numbers, not this one
    if what not in DESCRIBED or not is_c(thing):
        return
    told = operator_to_markup("\n".join(lines))
    lines[:] = [told] if told else docstring_to_markup(lines)
    entry = entry_of(name)
    if entry is None or any(f".{word}." in f"{name}." for word in UNTOLD):
        return
    if entry.calls:
        calls = ", ".join(f"``{call}``" for call in entry.calls)
        underlined = (k for k, line in enumerate(lines) if re.fullmatch("-{3,}", line))
        place = next(underlined, len(lines) + 1) - 1  # in front of the first section
        lines[place:place] = ["", f"Driver: {calls}.", ""]


def on_sections(app, what, name, thing, options, lines):
    """Make lists of fields of numpydoc's sections."""
    if what in CALLABLE:
        about = (app, what, name, thing, options)
        lines[:] = napoleon.NumpyDocstring(list(lines), SECTIONS, *about).lines()


def on_signature(app, what, name, thing, options, signature, result):
    """Leave out private parameters, which dataclasses have."""
    return signature and (re.sub(r", _\w+[^,)]*", "", signature), result)


def neighbour(relations, page, place):
    """Return the chapter or module before a page, place 1, or after it, place 2.

    Otherwise the page after a module is that of its first name.
    """
    found = relations.get(page, (None, None, None))[place]
    while found and found.startswith("generated/"):
        found = relations[found][place]
    return found


def on_context(app, page, template, context, doctree):
    """Let chapters and modules follow one another. Titles may break inside names."""
    for place, step in ((1, "prev"), (2, "next")):
        found = neighbour(app.builder.relations, page, place)
        if found and not page.startswith("generated/"):
            title = app.builder.render_partial(app.env.titles[found])["title"]
            link = app.builder.get_relative_uri(page, found)
            context[step] = {"link": link, "title": title}
        if context.get(step):
            title = context[step]["title"]
            context[step]["title"] = re.sub(r"(?<=\w)[._](?=\w)", r"\g<0><wbr>", title)


def on_raises(app, doctree):
    """Let the names of Python's exceptions in docstrings mean these.

    Otherwise RuntimeError leads to the class of that name in pycuda.driver. MemoryError
    does mean the driver's: the memory is the device's.
    """
    for link in doctree.findall(addnodes.pending_xref):
        name = link["reftarget"]
        if (
            link["reftype"] == "exc"
            and name != "MemoryError"
            and hasattr(builtins, name)
        ):
            link["py:module"] = link["py:class"] = None
            link.attributes.pop("refspecific", None)


def linkcode_resolve(domain, info):
    """Return the address of the source of a name, or None."""
    if not SOURCE or domain != "py" or not info["module"]:
        return None
    place = source_links.find(info["module"], info["fullname"], ENTRIES)
    return place and SOURCE.format(file=place[0], line=place[1])


def tables_of(pages):
    """Return the files that tables of pages name, and the tables of these files."""
    named = {
        Path(entry.path, f"{entry.name}.rst").resolve()
        for entry in find_autosummary_in_files(list(map(str, pages)))
        if entry.path
    }
    there = [path for path in named if path.exists()]
    return named | tables_of(there) if there else named


def remove_stale(app):
    """Remove generated pages of names that no table lists any more."""
    sources = (app.env.doc2path(name) for name in app.env.project.docnames)
    written = [path for path in sources if Path(path).parent != GENERATED]
    for path in set(GENERATED.glob("*.rst")) - tables_of(written):
        path.unlink()


def on_notebook(app, docname, source):
    """Color the cells of notebooks as CUDA C or as Python."""
    if docname.startswith("notebooks/"):
        source[0] = cell_lexer.with_lexer(source[0])


def parse(directive, text, source):
    """Return the nodes that lines of markup make."""
    node = nodes.container()
    lines = StringList(text, source=source)
    directive.state.nested_parse(lines, directive.content_offset, node)
    return node.children


class Enumerations(Directive):
    """The enumerations of pycuda.driver: each class, its members and their values."""

    option_spec = {"except": str.split}

    def run(self):
        from pycuda import driver

        left_out = self.options.get("except", ())
        text = [".. py:currentmodule:: pycuda.driver", ""]
        for name, class_ in sorted(vars(driver).items()):
            if not inspect.isclass(class_) or not name.islower() or name in left_out:
                continue
            lines, listed = attributes.split(class_.__doc__.splitlines())
            text += [f".. py:class:: {name}", "", f"   {lines[0]}"]
            members = {k: v for k, v in vars(class_).items() if k.isupper()}
            for member, value in sorted(members.items(), key=lambda pair: pair[1]):
                _, told = listed.get(member, ("int", [value.__doc__]))
                text += ["", f"   .. py:attribute:: {member}"]
                text += [f"      :value: {int(value)}", ""]
                text += [f"      {plain_to_markup(line)}" for line in told]
            text += [""]
        return parse(self, text, "pycuda.driver")


def is_attribute(name):
    """Say whether a property of Device or Function is an attribute of the driver's."""
    from pycuda import driver

    known = {**driver.device_attribute.names, **driver.function_attribute.names}
    return name.upper() in known


def on_member(app, what, name, thing, skip, options):
    """Leave to Attributes what it lists."""
    owner = getattr(thing, "__objclass__", None)
    told = owner is not None and owner.__name__ in ("Device", "Function")
    return True if told and is_attribute(name) and not callable(thing) else None


class Attributes(Directive):
    """The properties of a class that an enumeration lists."""

    required_arguments = 2

    def run(self):
        from pycuda import driver

        class_, enumeration = (getattr(driver, name) for name in self.arguments)
        text = [".. py:currentmodule:: pycuda.driver", ""]
        for member in sorted(enumeration.names):
            name = member.lower()
            if hasattr(class_, name) and not callable(getattr(class_, name)):
                text += [f".. py:attribute:: {class_.__name__}.{name}"]
                told = getattr(class_, name).__doc__
                text += ["", f"   {plain_to_markup(told)}", ""]
        return parse(self, [*text, ""], "pycuda.driver")


class Vectors(Directive):
    """The vector types of gpuarray.vec, and the functions that make them."""

    def run(self):
        from pycuda import gpuarray

        text = [".. py:currentmodule:: pycuda.gpuarray", ""]
        text += [".. py:class:: vec", ""]
        text += ["   The dtypes of CUDA's vector types, with fields x, y, z and w,"]
        text += ["   and functions that make a value: an array without axes.", ""]
        names = sorted(name for name in vars(gpuarray.vec) if name[0] != "_")
        for name in names:
            if name.startswith("make_"):
                text += [f"   .. py:function:: {name}(*elements)"]
                told = getattr(gpuarray.vec, name).__doc__.partition("\n")[0]
            else:
                text += [f"   .. py:attribute:: {name}"]
                dtype = getattr(gpuarray.vec, name)
                part = f"{len(dtype)} of {dtype[0].name}"
                told = f"The dtype of {name}: {part}, {dtype.itemsize} bytes."
            text += ["      :no-index-entry:", "", f"      {told}", ""]
        return parse(self, [*text, ""], "pycuda.gpuarray")


class Diagram(Directive):
    """A picture of doc/diagrams, with a caption. It is a part of the page's HTML."""

    required_arguments = 1
    has_content = True

    def run(self):
        path = HERE / "diagrams" / f"{self.arguments[0]}.svg"
        if not path.exists():
            raise self.error(f"there is no {path.name} in doc/diagrams")
        self.state.document.settings.env.note_dependency(str(path))
        svg = path.read_text(encoding="utf-8")
        markup = f'<div class="diagram" style="overflow-x:auto">{svg}</div>'
        figure = nodes.figure("", nodes.raw("", markup, format="html"))
        if self.content:
            caption = nodes.paragraph()
            self.state.nested_parse(self.content, self.content_offset, caption)
            text = [child for part in caption.children for child in part.children]
            figure += nodes.caption("", "", *text)
        return [figure]


def setup(app):
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    app.connect("autodoc-process-docstring", on_sections, priority=500)
    app.connect("builder-inited", remove_stale, priority=600)  # after autosummary
    app.connect("doctree-read", on_raises)
    app.connect("source-read", on_notebook)
    app.add_lexer(cell_lexer.NAME, cell_lexer.CellLexer)
    app.connect("autodoc-process-signature", on_signature)
    app.connect("autodoc-skip-member", on_member)
    app.connect("html-page-context", on_context)
    app.add_directive("attributes", Attributes)
    app.add_directive("diagram", Diagram)
    app.add_directive("enumerations", Enumerations)
    app.add_directive("vectors", Vectors)
    return {"parallel_read_safe": True}
