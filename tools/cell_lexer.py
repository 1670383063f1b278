"""Colors for the cells of notebooks: Python, or CUDA C after ``%%cuda``.

doc/conf.py makes this known to Sphinx.
"""

import json

from pygments.lexer import Lexer
from pygments.lexers import CudaLexer, PythonLexer
from pygments.token import Comment

NAME = "notebook_cell"


class CellLexer(Lexer):
    """The lexer of a cell."""

    name = NAME
    aliases = (NAME,)

    def get_tokens_unprocessed(self, text):
        first, _, _ = text.partition("\n")
        if not first.startswith("%%cuda"):
            yield from PythonLexer(**self.options).get_tokens_unprocessed(text)
            return
        yield 0, Comment.Preproc, first
        start = len(first)
        rest = CudaLexer(**self.options).get_tokens_unprocessed(text[start:])
        for place, kind, part in rest:
            yield start + place, kind, part


def with_lexer(text):
    """Return the text of a notebook that names this lexer for its cells."""
    notebook = json.loads(text)
    notebook["metadata"]["language_info"]["pygments_lexer"] = NAME
    return json.dumps(notebook)
