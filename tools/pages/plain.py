"""Plain text, as docstrings of C and of programs are, as markup that shows the same."""

import re

#: An option of a command, with a value if it has one. As plain text it would get a dash
#: instead of two hyphens.
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*(?:=[\w./-]*\w)?")


def plain_to_markup(line):
    """Return a line or a paragraph of plain text as markup that shows the same."""
    quoted = re.split(r"(`+[^`]+`+)", line)
    for place, part in enumerate(quoted):
        if place % 2:
            quoted[place] = f"``{part.strip('`')}``"
        else:
            part = re.sub(r"([*|\\]|(?<=\w)_(?!\w))", r"\\\1", part)
            quoted[place] = OPTION.sub(r"``\g<0>``", part)
    return "".join(quoted)


#: What Python says of operators in C, and how it reads as a sentence.
OPERATORS = (
    (r"Return (self|value)([^\w\s.(\[]+)(self|value)\.", r"The operator ``\1 \2 \3``."),
    (r"Return pow\((\w+), (\w+), mod\)\.", r"The operator ``\1 ** \2``."),
    (r"Return (\w+\(self\)|self\[key\])\.", r"The value of ``\1``."),
    (r"Set self\[key\] to value\.", "Assign to ``self[key]``."),
    (r"Return self converted to an integer, .*", "The value of ``int(self)``."),
    (r"True if self else False", "The value of ``bool(self)``."),
    (r"Call self as a function\.", "Call the object, as described above."),
)


def operator_to_markup(text):
    """Return markup of the docstring of an operator in C, or None if it has its own."""
    for pattern, sentence in OPERATORS:
        match = re.fullmatch(pattern, text.strip())
        if match:
            return match.expand(sentence)
    return None


def docstring_to_markup(lines):
    """Return the lines of a docstring as markup. Examples stay as they are."""
    found, text = [], []
    in_example = False  # from a prompt to the next empty line
    for line in [*lines, ""]:
        in_example = bool(line.strip()) and (in_example or line.strip()[:3] == ">>>")
        if not in_example:
            text.append(line)  # code in a paragraph can go on in the next line
        if in_example or not line.strip():
            found += plain_to_markup("\n".join(text)).split("\n") if text else []
            text = []
        if in_example:
            found.append(line)
    return found[:-1]


def paragraphs_to_markup(text):
    """Return plain paragraphs as markup; indented ones become literal blocks."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith(" "):
            found.append("::\n\n" + paragraph)
        else:
            found.append(plain_to_markup(paragraph))
    return "\n\n".join(found)
