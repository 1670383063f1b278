"""Links from names in code to the reference, to chapters and to examples.

Chapters and docstrings write ``GPUArray.get`` or ``drv.Stream()``. Where such a name
means one documented object, it becomes a link. So do the paths of chapters and of
programs of ``examples``.
"""

import builtins
import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

DRIVER = "pycuda.driver"
ARRAYS = "pycuda.gpuarray"

#: Where an object is documented that several modules export.
FIRST = (DRIVER, ARRAYS, "pycuda.tools", "pycuda.compiler")

#: Modules whose functions a chapter names without a module.
CHAPTERS = {
    "arrays": ARRAYS,
    "driver/errors": DRIVER,
    "fft": "pycuda.fft",
    "linalg": "pycuda.linalg",
    "random": "pycuda.curandom",
}

#: Objects that examples bind to these names.
VARIABLES = {
    "context": f"{DRIVER}.Context",
    "device": f"{DRIVER}.Device",
    "event": f"{DRIVER}.Event",
    "executable": f"{DRIVER}.GraphExec",
    "graph": f"{DRIVER}.Graph",
    "module": f"{DRIVER}.Module",
    "node": f"{DRIVER}.GraphNode",
    "stream": f"{DRIVER}.Stream",
    "x": f"{ARRAYS}.GPUArray",
}

#: Chapters in which the names of other packages are often the same.
OTHERS = ("from_cupy", "from_numba", "other_libraries", "interop")

#: Parameters with the names of functions.
PARAMETERS = ("where",)

#: Its functions are named with it, apart from those of the same names.
STANDARD = "pycuda.array_api."

NAME = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)(\(.*\))?", re.DOTALL)
FILE = re.compile(r"(?:doc/)?((?:[\w-]+/)*[\w-]+)\.(?:rst|py)")
KINDS = ("class", "exception", "function")


class Names:
    """The documented objects, by each end of their full names.

    ``objects`` is {full name: kind}.
    """

    def __init__(self, objects):
        self.objects = objects
        self.ends = {}
        for name in objects:
            parts = name.split(".")
            for place in range(len(parts)):
                self.ends.setdefault(".".join(parts[place:]), []).append(name)

    def only(self, end, kinds=None):
        """Return the one object with an end of a name, or None."""
        found = self.ends.get(end, [])
        if kinds is not None:
            found = [name for name in found if self.objects[name] in kinds]
        if len(found) > 1 and all(self.objects[name] in KINDS for name in found):
            found = [
                f"{module}.{end}" for module in FIRST if f"{module}.{end}" in found
            ]
            found = found[:1]
        return found[0] if len(found) == 1 else None

    def find(self, text, page):
        """Return the full name of what a text in code means, or None."""
        match = NAME.fullmatch(text)
        if match is None:
            return None
        name, call = match.groups()
        first, _, rest = name.partition(".")
        if not rest:
            return self.bare(name, call, page)
        if first == "drv":
            name = f"{DRIVER}.{rest}"
        if first in VARIABLES and page not in OTHERS:
            name = f"{VARIABLES[first]}.{rest}"
        if name.startswith("pycuda."):
            return name if name in self.objects else None
        return self.only(name)

    def bare(self, name, call, page):
        """Return the object of a name without dots, or None."""
        module = CHAPTERS.get(page)
        own = f"{module}.{name}"
        if self.objects.get(own) in KINDS and name not in PARAMETERS:
            return own
        if hasattr(builtins, name):
            return None
        is_class = bool(re.match(r"[A-Z]\w*[a-z]", name))
        is_a_name = is_class or "_" in name.strip("_") or call
        if not is_a_name or (page in OTHERS and not is_class):
            return None
        found = self.only(name, (*KINDS, "method") if call else KINDS)
        return None if (found or "").startswith(STANDARD) else found


def page_of(path, pages):
    """Return the page of a chapter or of a program, or None."""
    match = FILE.fullmatch(path)
    if match is None:
        return None
    name = match[1]
    if name.startswith("examples/"):
        name = f"examples/{name.rpartition('/')[2]}"
    return name if name in pages else None


class Links(SphinxPostTransform):
    """Makes links of literals."""

    default_priority = 100
    formats = ("html",)

    def run(self, **options):
        page = self.env.docname
        domain = self.env.domains["py"]
        names = names_of(domain)
        for literal in list(self.document.findall(nodes.literal)):
            if not may_be_link(literal):
                continue
            text = literal.astext()
            target = names.find(text, page)
            if target is not None:
                entry = domain.objects[target]
                place = entry.docname, entry.node_id
            else:
                place = page_of(text, self.env.found_docs), ""
            is_own = place[0] == page and page.startswith("generated/")
            if place[0] is not None and not is_own and place != (page, ""):
                shown = literal.deepcopy()
                if text.endswith(
                    ".rst"
                ):  # on a page, the title says more than the path
                    shown = nodes.inline("", "", *self.title_of(place[0]))
                link = make_refnode(self.app.builder, page, *place, shown)
                literal.replace_self(link)

    def title_of(self, page):
        return [node.deepcopy() for node in self.env.titles[page].children]


def names_of(domain):
    """Return the names of the domain, which is whole when pages are written."""
    if not hasattr(domain, "names_in_code"):
        objects = {
            name: entry.objtype
            for name, entry in domain.objects.items()
            if not entry.aliased
        }
        domain.names_in_code = Names(objects)
    return domain.names_in_code


def may_be_link(literal):
    """Say whether a literal stands in text: not in a title, a link or a signature."""
    above = literal.parent
    while above is not None:
        if isinstance(above, nodes.title | nodes.reference | nodes.rubric):
            return False
        above = above.parent
    return True


def setup(app):
    app.add_post_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
