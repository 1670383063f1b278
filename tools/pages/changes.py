"""The directive ``changes``: the notes for the next version.

A note is a file ``changes/topic.kind.rst``. The names and the kinds are those that
towncrier reads. Without notes there is nothing on the page.
"""

from pathlib import Path

from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOG = logging.getLogger(__name__)

#: Kinds of notes, in the order of the page, with their headings.
KINDS = {
    "feature": "Added",
    "compat": "Differences from PyCUDA",
    "perf": "Faster",
    "bugfix": "Fixed",
}


class Changes(SphinxDirective):
    """The notes in the folder ``changes``, by kind, below "Next version"."""

    def run(self):
        folder = Path(self.env.srcdir) / "changes"
        self.env.note_reread()  # a new note is not a dependency as yet
        notes = {kind: [] for kind in KINDS}
        for path in sorted(set(folder.glob("*.rst")) - {folder / "README.rst"}):
            kind = "".join(path.suffixes[:-1]).removeprefix(".")
            if kind not in KINDS:
                LOG.warning("%s: its kind is none of %s", path, ", ".join(KINDS))
                continue
            lines = path.read_text(encoding="utf-8").strip().splitlines()
            notes[kind] += ["* " + lines[0], *("  " + line for line in lines[1:]), ""]
        text = []
        for kind, lines in notes.items():
            if lines:
                text += [f".. rubric:: {KINDS[kind]}", "", *lines]
        if text:
            text = ["Next version", "------------", "", *text]
        return self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)


def on_config(app, config):
    """Make no pages of the notes."""
    config.exclude_patterns.append("changes/*")


def setup(app):
    app.connect("config-inited", on_config)
    app.add_directive("changes", Changes)
    return {"parallel_read_safe": True}
