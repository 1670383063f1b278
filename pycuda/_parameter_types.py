"""The parameters of a kernel that are integers, found in its source.

The driver knows the sizes of parameters but not their types. A launch needs the types
when an integer has another size than its parameter: it converts the integer only if the
parameter is an integer too. In doubt a parameter is no integer.
"""

import re

#: Words that may precede or follow the words of a type.
QUALIFIERS = {"const", "volatile", "register", "__restrict__", "__restrict", "std"}
WORDS = {"unsigned", "signed", "int", "long", "short", "char"}
SIGNED = {"int8_t", "int16_t", "int32_t", "int64_t", "ptrdiff_t", "intptr_t"}
UNSIGNED = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "uintptr_t"} | {
    "uchar", "ushort", "uint", "ulong",
}  # fmt: skip
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
NAMES = re.compile(
    r"\btypedef\b(?P<old>[^;]*?)\b(?P<new>\w+)\s*;"
    r"|\busing\s+(?P<new2>\w+)\s*=(?P<old2>[^;]*);"
    r"|^[ \t]*#[ \t]*define[ \t]+(?P<new3>\w+)(?P<old3>[^\n]*)"
    r"|(?P<old4>\b(?:struct|class|union|enum|typename)\s|\})\s*(?P<new4>\w+)",
    re.MULTILINE,
)
#: Conditions of the preprocessor; options of the compiler may define their names.
CONDITIONS = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\w*([^\n]*)", re.MULTILINE)

NO_INTEGER, IS_SIGNED, IS_UNSIGNED = 0, 1, 2
KINDS = dict.fromkeys(SIGNED, IS_SIGNED) | dict.fromkeys(UNSIGNED, IS_UNSIGNED)


def _aliases(source: str) -> dict[str, set[str]]:
    """Return all types that the source gives to each name, anywhere in it.

    A name may have several definitions, and an option may define a name that a
    condition tests. An empty text represents the definition by an option.
    """
    aliases: dict[str, set[str]] = {}
    for match in NAMES.finditer(source):
        name = match["new"] or match["new2"] or match["new3"] or match["new4"]
        text = match["old"] or match["old2"] or match["old3"] or match["old4"] or ""
        aliases.setdefault(name, set()).add(text.strip())
    for match in CONDITIONS.finditer(source):
        for name in re.findall(r"\w+", match[1]):
            if name in aliases:
                aliases[name].add("")
    return aliases


def _kind(words: list[str], aliases: dict[str, set[str]], depth: int = 0) -> int:
    """Return the kind of integer that the words of a type mean."""
    words = [word for word in words if word not in QUALIFIERS]
    if not words or depth > 4:
        return NO_INTEGER
    if len(words) == 1 and words[0] in aliases:
        kinds = {_kind_of(text, aliases, depth + 1) for text in aliases[words[0]]}
        return kinds.pop() if len(kinds) == 1 else NO_INTEGER
    if aliases.keys() & set(words):
        return NO_INTEGER  # a word that the source defines may mean anything
    if set(words) <= WORDS:
        return IS_UNSIGNED if "unsigned" in words else IS_SIGNED
    return KINDS.get(" ".join(words), NO_INTEGER)


def _kind_of(text: str, aliases: dict[str, set[str]], depth: int) -> int:
    """Return the kind of integer that a type is."""
    if not re.fullmatch(r"[\w\s:]+", text):
        return NO_INTEGER  # a pointer, a reference, an array, a template, a structure
    return _kind(re.findall(r"\w+", text), aliases, depth)


def _parameter(text: str, aliases: dict[str, set[str]]) -> int:
    """Return the kind of integer that a declared parameter is."""
    if not re.fullmatch(r"[\w\s:]+", text):
        return NO_INTEGER  # a pointer, a reference, an array, a template
    words = re.findall(r"\w+", text)
    plain = [word for word in words if word not in QUALIFIERS]
    named = len(plain) > 1 and plain[-1] not in WORDS
    return _kind(plain[:-1] if named else plain, aliases)


def _split(text: str) -> list[str] | None:
    """Return the parameters in the text that follows an opening parenthesis."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>" and depth:
            depth -= 1
        elif (char == "," and not depth) or char == ")":
            parts.append(text[start:place].strip())
            start = place + 1
            if char == ")":
                return parts
    return None


def _plain_name(symbol: str) -> str:
    """Return the function's name in a symbol that is mangled as C++ does."""
    match = re.match(r"_Z(\d+)", symbol)
    return symbol[match.end() :][: int(match[1])] if match else symbol


def integers(source: str, symbol: str, count: int) -> bytes | None:
    """Return a byte for each of a kernel's parameters: 1 signed, 2 unsigned, 0 neither.

    Return None if the source does not declare the kernel with ``count`` parameters, or
    has two declarations that differ.
    """
    text = COMMENTS.sub(" ", source)
    aliases = _aliases(text)
    found = set()
    for match in re.finditer(rf"\b{re.escape(_plain_name(symbol))}\s*\(", text):
        head = re.split(r"[;{}]", text[: match.start()])[-1]
        if "__global__" in head:
            parts = _split(text[match.end() :])
            if parts is None or len(parts) != count:
                return None
            found.add(bytes(_parameter(part, aliases) for part in parts))
    return found.pop() if len(found) == 1 else None
