"""Which parameters of a kernel are integers, as far as its source tells.

The driver knows the sizes of parameters, not their types. A launch asks here when an
integer has another size than its parameter: it may only be converted if the parameter
is an integer too. What is not certain counts as no integer.
"""

import re

#: What may stand around a type's own words.
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
#: What decides which text is compiled; options may define the names in it.
CONDITIONS = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\w*([^\n]*)", re.MULTILINE)

NO_INTEGER, IS_SIGNED, IS_UNSIGNED = 0, 1, 2


def _aliases(source: str) -> dict[str, set[str]]:
    """Return the types that the source gives each name, wherever it does.

    Which of several definitions holds for a kernel is not looked at, nor is whether a
    name in a condition was defined by an option: an empty text stands for that.
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
    """Say which integer the words of a type are."""
    words = [word for word in words if word not in QUALIFIERS]
    if not words or depth > 4:
        return NO_INTEGER
    if len(words) == 1 and words[0] in aliases:
        kinds = {_kind_of(text, aliases, depth + 1) for text in aliases[words[0]]}
        return kinds.pop() if len(kinds) == 1 else NO_INTEGER
    if any(word in aliases for word in words):
        return NO_INTEGER  # of a word that means something else
    if set(words) <= WORDS:
        return IS_UNSIGNED if "unsigned" in words else IS_SIGNED
    if len(words) > 1:
        return NO_INTEGER
    if words[0] in SIGNED:
        return IS_SIGNED
    return IS_UNSIGNED if words[0] in UNSIGNED else NO_INTEGER


def _kind_of(text: str, aliases: dict[str, set[str]], depth: int) -> int:
    """Say which integer a type is."""
    if not re.fullmatch(r"[\w\s:]+", text):
        return NO_INTEGER  # a pointer, a reference, an array, a template, a structure
    return _kind(re.findall(r"\w+", text), aliases, depth)


def _parameter(text: str, aliases: dict[str, set[str]]) -> int:
    """Say which integer a declared parameter is."""
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
    """Return the name in a symbol that the C++ ABI made of a function's name."""
    match = re.match(r"_Z(\d+)", symbol)
    return symbol[match.end() :][: int(match[1])] if match else symbol


def integers(source: str, symbol: str, count: int) -> bytes | None:
    """Return a byte for each of a kernel's parameters: 1 signed, 2 unsigned, 0 neither.

    None if the source does not declare the kernel with so many parameters, or declares
    it twice in different ways.
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
