"""The gallery of examples, and a page for each of them.

``examples/README.rst`` lists the programs by topic. ``tools/record_examples.py`` runs
them and writes their output and pictures into ``doc/runs``. The directive ``gallery``
shows the programs of a topic as cards, ``example`` makes the page of a program.
"""

import ast
import html
import json
import re
from pathlib import Path

from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from pages.plain import paragraphs_to_markup, plain_to_markup

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LOG = logging.getLogger(__name__)

#: Lines of output on a card without a picture.
CARD_LINES = 7
CARD_COLUMNS = 46


def topics(text):
    """Return {topic: {program: description}} of the list in examples/README.rst."""
    found, topic, program = {}, None, None
    for line in text.splitlines():
        quoted = re.fullmatch(r"``(\S+)``", line)
        if quoted:
            program = quoted[1]
            found.setdefault(topic, {})[program] = ""
        elif line.startswith("    ") and program:
            words = [found[topic][program], line.strip()]
            found[topic][program] = " ".join(filter(None, words))
        elif line.strip():
            topic, program = line.strip(), None
    return found


def page_of(program):
    """Return the name of the page of a program."""
    return "examples/" + Path(program).stem


def read_runs(folder):
    """Return what record_examples.py has recorded: {program: its run}."""
    path = Path(folder) / "runs" / "runs.json"
    if not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))["programs"]


def indent(text, by="   "):
    return "\n".join(by + line if line else "" for line in text.splitlines())


class Gallery(SphinxDirective):
    """The programs of a topic of examples/README.rst, as cards."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        readme = EXAMPLES / "README.rst"
        self.env.note_dependency(str(readme))
        self.env.note_dependency(str(Path(self.env.srcdir) / "runs" / "runs.json"))
        found = topics(readme.read_text(encoding="utf-8"))
        topic = self.arguments[0]
        if topic not in found:
            raise self.error(f"examples/README.rst has no topic {topic!r}")
        runs = read_runs(self.env.srcdir)
        # Notebooks are pages of their own.
        programs = [name for name in found[topic] if name.endswith(".py")]
        lines = [".. grid:: 1 2 2 3", "   :gutter: 3", ""]
        lines += [indent(self.card(name, runs.get(name, {}))) for name in programs]
        lines += ["", ".. toctree::", "   :hidden:", f"   :caption: {topic}", ""]
        lines += [f"   /{page_of(name)}" for name in programs]
        return self.parse_text_to_nodes("\n".join(lines) + "\n")

    def title(self, program):
        """Return the title of the page of a program."""
        self.env.note_dependency(str(EXAMPLES / program))
        path = Path(self.env.srcdir) / f"{page_of(program)}.rst"
        self.env.note_dependency(str(path))
        if not path.exists():
            LOG.warning(
                "%s has no page %s", program, path, location=self.get_location()
            )
            return program
        return path.read_text(encoding="utf-8").splitlines()[0]

    def card(self, program, run):
        """Return the card of a program: picture or output, title, first words."""
        lines = [f".. grid-item-card:: {self.title(program)}"]
        lines += [f"   :link: /{page_of(program)}", "   :link-type: doc"]
        lines += ["   :class-card: gallery-card"]
        if run.get("picture"):
            lines += [f"   :img-top: /runs/{run['picture']}"]
            lines += [f"   :img-alt: what {program} draws"]
        lines += [""]
        if not run.get("picture"):
            text = html.escape(shortened(run["output"]) if run else "needs a GPU")
            lines += ["   .. raw:: html", ""]
            lines += [indent(f'<pre class="gallery-output">{text}</pre>', " " * 6)]
            lines += [""]
        lines += [f"   {plain_to_markup(first_words(program))}", ""]
        return "\n".join(lines) + "\n"


def docstring(program):
    text = (EXAMPLES / program).read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text))


def first_words(program):
    """Return the first sentence of a program's docstring."""
    paragraph = " ".join(docstring(program).split("\n\n")[0].split())
    return re.match(r".*?\.(?=\s|$)", paragraph)[0]


def shortened(output):
    """Return the first lines of an output, as a card has room for them."""
    lines = [line for line in output.splitlines() if not line.startswith("device: ")]
    lines = [
        line if len(line) <= CARD_COLUMNS else line[: CARD_COLUMNS - 1] + "…"
        for line in lines
    ]
    return "\n".join(lines[:CARD_LINES])


class Example(SphinxDirective):
    """The page of a program: text, picture, output, options, source."""

    required_arguments = 1

    def run(self):
        program = self.arguments[0]
        path = EXAMPLES / program
        self.env.note_dependency(str(path))
        run = read_runs(self.env.srcdir).get(program)
        parts = [paragraphs_to_markup(docstring(program))]
        if run:
            parts += self.shown(program, run)
        relative = f"/../examples/{program}"
        parts += [heading("Program"), f":download:`{path.name} <{relative}>`"]
        parts += [f".. literalinclude:: {relative}\n   :language: python"]
        return self.parse_text_to_nodes(
            "\n\n".join(parts) + "\n", allow_section_headings=True
        )

    def shown(self, program, run):
        """Return the picture, the output and the options of a program, as markup."""
        parts = []
        if run.get("picture"):
            parts += [
                ".. container:: example-frame\n\n"
                f"   .. image:: /runs/{run['picture']}\n"
                f"      :alt: what {program} draws\n"
                "      :class: example-picture"
            ]
        parts += [heading("Output")]
        start = "mpiexec -n 2 python" if program.startswith("mpi/") else "python"
        command = f"$ {start} examples/{program}"
        parts += [".. code-block:: console\n\n" + indent(f"{command}\n{run['output']}")]
        parts += [
            f"This run used {run['seconds']:.1f} s of processor time on an x86-64 "
            "server, with an empty compile cache."
        ]
        if run["options"]:
            parts += [heading("Options")]
            parts += [".. code-block:: text\n\n" + indent(run["options"])]
        return parts


def heading(text):
    return f"{text}\n{'-' * len(text)}"


def setup(app):
    app.add_directive("gallery", Gallery)
    app.add_directive("example", Example)
    return {"parallel_read_safe": True}
