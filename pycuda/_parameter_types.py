"""The types of a kernel's parameters, found in its source.

The driver knows the sizes of parameters but not their types. A launch needs the types
for two decisions. It compares the type of each argument with that of its parameter. And
it converts an integer of another size only if the parameter is an integer too. In doubt
the type of a parameter is unknown.

A type is two characters. The first is ``v`` for a value and ``p`` for a pointer. The
second is the type of the value, or of the elements to which the pointer points; the
rows of ``launch/parameter_types.c`` have these characters:

``?`` bool, ``c`` char, ``b h i l`` signed and ``B H I L`` unsigned integers of 1, 2, 4
and 8 bytes, ``e E f d`` half, bfloat16, float and double, ``F D`` pairs of floats and
of doubles, ``a`` an address or a handle, ``u`` unknown.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

#: Words that may precede or follow the words of a type.
QUALIFIERS = {
    "const", "volatile", "register", "__restrict__", "__restrict", "restrict", "std",
    "__grid_constant__", "typename",
}  # fmt: skip
WORDS = {"unsigned", "signed", "int", "long", "short", "char"}
SIGNED = {"int8_t", "int16_t", "int32_t", "int64_t", "ptrdiff_t", "intptr_t"}
UNSIGNED = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "uintptr_t"} | {
    "uchar", "ushort", "uint", "ulong",
}  # fmt: skip
#: The characters of types whose names are one word.
TYPES = {
    "bool": "?", "_Bool": "?", "byte": "c",
    "int8_t": "b", "int16_t": "h", "int32_t": "i", "int64_t": "l", "ptrdiff_t": "l",
    "uint8_t": "B", "uint16_t": "H", "uint32_t": "I", "uint64_t": "L", "size_t": "L",
    "uchar": "B", "ushort": "H", "uint": "I", "ulong": "L",
    "half": "e", "__half": "e", "__nv_bfloat16": "E", "nv_bfloat16": "E",
    "float": "f", "double": "d",
    "float2": "F", "cuComplex": "F", "cuFloatComplex": "F",
    "double2": "D", "cuDoubleComplex": "D",
    "intptr_t": "a", "uintptr_t": "a", "CUdeviceptr": "a",
    "cudaTextureObject_t": "a", "cudaSurfaceObject_t": "a",
    "CUtexObject": "a", "CUsurfObject": "a",
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

#: Marks in front of a parameter that say nothing of its type.
MARKS = re.compile(r"\[\[.*?\]\]|\b(?:__attribute__|alignas|__align__)\s*\(+[^)]*\)+")
#: What a kernel may have between its type and its name, such as __launch_bounds__.
ATTRIBUTES = re.compile(r"\b__\w+__\s*\((?:[^()]|\([^()]*\))*\)")
STRINGS = re.compile(r'"(?:\\.|[^"\\\n])*"')
BRACES = re.compile(r"\bnamespace\s+(?P<name>[\w:]+)\s*\{|\{|\}")
KERNEL = re.compile(r"__global__\b[^(){};]*?(\w+)\s*\(")
TOKENS = re.compile(r"(?:\w*::)*\w+|\*|\[[^\]]*\]|\S")

NO_INTEGER, IS_SIGNED, IS_UNSIGNED = 0, 1, 2
KINDS = dict.fromkeys(SIGNED, IS_SIGNED) | dict.fromkeys(UNSIGNED, IS_UNSIGNED)

UNKNOWN = "vu"


class Parameter(NamedTuple):
    """A parameter of a kernel: its two characters, its name and its type as written.

    The name and the text are "" where the source does not tell them.
    """

    type: str
    name: str = ""
    text: str = ""


Aliases = dict[str, set[str]]


def _aliases(source: str) -> Aliases:
    """Return all types that the source gives to each name, anywhere in it.

    A name may have several definitions, and an option may define a name that a
    condition tests. An empty text represents the definition by an option.
    """
    aliases: Aliases = {}
    for match in NAMES.finditer(source):
        name = match["new"] or match["new2"] or match["new3"] or match["new4"]
        text = match["old"] or match["old2"] or match["old3"] or match["old4"] or ""
        aliases.setdefault(name, set()).add(text.strip())
    for match in CONDITIONS.finditer(source):
        for name in re.findall(r"\w+", match[1]):
            if name in aliases:
                aliases[name].add("")
    return aliases


# -- integers --------------------------------------------------------------------------


def _kind(words: list[str], aliases: Aliases, depth: int = 0) -> int:
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


def _kind_of(text: str, aliases: Aliases, depth: int) -> int:
    """Return the kind of integer that a type is."""
    if not re.fullmatch(r"[\w\s:]+", text):
        return NO_INTEGER  # a pointer, a reference, an array, a template, a structure
    return _kind(re.findall(r"\w+", text), aliases, depth)


def _integer(text: str, aliases: Aliases) -> int:
    """Return the kind of integer that a declared parameter is."""
    if not re.fullmatch(r"[\w\s:]+", text):
        return NO_INTEGER  # a pointer, a reference, an array, a template
    words = re.findall(r"\w+", text)
    plain = [word for word in words if word not in QUALIFIERS]
    named = len(plain) > 1 and plain[-1] not in WORDS
    return _kind(plain[:-1] if named else plain, aliases)


# -- types -----------------------------------------------------------------------------


def _integer_character(words: list[str]) -> str:
    """Return the character of an integer type of several words, such as long int."""
    if "char" in words:
        character = "b"
        if "signed" not in words and "unsigned" not in words:
            return "c"
    elif "short" in words:
        character = "h"
    else:
        character = "l" if "long" in words else "i"
    return character.upper() if "unsigned" in words else character


def _pointed(levels: int, found: str) -> str:
    """Return the type of a pointer with so many levels to a type."""
    if levels == 0:
        return found
    if levels == 1 and found[0] == "v":
        return "p" + found[1]
    return "pa"  # the elements are addresses


def _meaning(words: list[str], aliases: Aliases, depth: int) -> str:
    """Return the type that words without qualifiers mean."""
    if not words or depth > 4:
        return UNKNOWN
    if len(words) == 1 and words[0] in aliases:
        texts = aliases[words[0]]
        found = {_declared(text, aliases, depth + 1, named=False)[0] for text in texts}
        return found.pop() if len(found) == 1 else UNKNOWN
    if aliases.keys() & set(words):
        return UNKNOWN  # a word that the source defines may mean anything
    if set(words) <= WORDS:
        return "v" + _integer_character(words)
    return "v" + TYPES.get(" ".join(words), "u")


def _without_std(word: str) -> str:
    """Return a name without the namespaces that mean the same type."""
    return re.sub(r"^(?:::)?(?:cuda::)?(?:std::)?", "", word)


def _declared(
    text: str, aliases: Aliases, depth: int = 0, named: bool = True
) -> tuple[str, str]:
    """Return the type and the name of a declared parameter, or of a type alone."""
    text = MARKS.sub(" ", text.partition("=")[0])
    inner, template, outer = text.rpartition(">")
    tokens = [_without_std(token) for token in TOKENS.findall(outer)]
    words = [token for token in tokens if token not in QUALIFIERS]
    brackets = [word for word in words if word.startswith("[")]
    words = [word for word in words if not word.startswith("[")]
    stars = words.count("*")
    name = ""
    if named and words and words[-1].isidentifier() and words[-1] not in WORDS:
        first = len(words) == 1 and not template
        if not first:
            name = words.pop()
    base = [word for word in words if word != "*"]
    if words != base + ["*"] * stars or (template and base):
        return UNKNOWN, ""  # a reference, a function, a type that is not known here
    if not all(re.fullmatch(r"\w+(::\w+)*", word) for word in base):
        return UNKNOWN, ""
    found = UNKNOWN if template else _meaning(base, aliases, depth)
    if "(" in inner:
        return UNKNOWN, ""
    return _pointed(stars + len(brackets), found), name


def _type_text(text: str, name: str) -> str:
    """Return the type in a declaration, without its name and default."""
    text = MARKS.sub(" ", text.partition("=")[0])
    if name:
        text = re.sub(rf"\b{name}\b(?=[^\w]*$|\s*\[)", "", text)
    return re.sub(r"\s*\*", " *", " ".join(text.split())).replace("* *", "**").strip()


def _parameter(text: str, aliases: Aliases) -> Parameter:
    """Return a declared parameter."""
    found, name = _declared(text, aliases)
    return Parameter(found, name, _type_text(text, name))


# -- declarations ----------------------------------------------------------------------


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


def plain_name(symbol: str) -> str:
    """Return the function's name in a symbol that is mangled as C++ does."""
    match = re.match(r"_Z(\d+)", symbol)
    return symbol[match.end() :][: int(match[1])] if match else symbol


def _without_comments(source: str) -> tuple[str, Aliases]:
    """Return the source without comments, and its names of types."""
    text = COMMENTS.sub(" ", source)
    return text, _aliases(text)


_read = lru_cache(maxsize=4)(_without_comments)


def number_declared(source: str, name: str) -> int | None:
    """Return how many parameters the first declaration of a kernel has, or None."""
    text, _ = _read(source)
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        if "__global__" in re.split(r"[;{}]", text[: match.start()])[-1]:
            parts = _split(text[match.end() :])
            if parts is None:
                return None
            return 0 if parts in ([""], ["void"]) else len(parts)
    return None


def _declarations(
    text: str, symbol: str, count: int | None = None
) -> list[list[str]] | None:
    """Return the parameters of each declaration of a kernel.

    Return None if one of them has not ``count`` parameters.
    """
    found = []
    for match in re.finditer(rf"\b{re.escape(plain_name(symbol))}\s*\(", text):
        head = re.split(r"[;{}]", text[: match.start()])[-1]
        if "__global__" in head:
            parts = _split(text[match.end() :])
            if parts == [""] or parts == ["void"]:
                parts = []
            if parts is None or count not in (None, len(parts)):
                return None
            found.append(parts)
    return found


def integers(source: str, symbol: str, count: int) -> bytes | None:
    """Return a byte for each of a kernel's parameters: 1 signed, 2 unsigned, 0 neither.

    Return None if the source does not declare the kernel with ``count`` parameters, or
    has two declarations that differ.
    """
    text, aliases = _read(source)
    declarations = _declarations(text, symbol, count) or []
    found = {bytes(_integer(part, aliases) for part in parts) for parts in declarations}
    return found.pop() if len(found) == 1 else None


def declared(source: str, symbol: str, count: int) -> list[Parameter] | None:
    """Return a kernel's parameters as its source declares them.

    Return None if the source does not declare the kernel with ``count`` parameters, or
    has two declarations with other types.
    """
    text, aliases = _read(source)
    declarations = _declarations(text, symbol, count) or []
    found = [[_parameter(part, aliases) for part in parts] for parts in declarations]
    types = {tuple(parameter.type for parameter in parts) for parts in found}
    return found[-1] if len(types) == 1 else None


class Kernel(NamedTuple):
    """A kernel of a source: its name, with its namespaces too, and its kind."""

    name: str
    qualified: str
    #: The names of the template's parameters, None if it is no template.
    template: tuple[str, ...] | None

    @property
    def is_template(self) -> bool:
        """Whether it is a template."""
        return self.template is not None


def kernels(source: str) -> list[Kernel]:
    """Return the kernels that a source declares, each once."""
    text = ATTRIBUTES.sub(" ", STRINGS.sub('""', COMMENTS.sub(" ", source)))
    found: dict[str, Kernel] = {}
    for match in KERNEL.finditer(text):
        head = re.split(r"[;{}]", text[: match.start()])[-1]
        name = "::".join(["", *_namespaces(text[: match.start()]), match[1]])
        found[name] = Kernel(match[1], name, _template(head))
    return list(found.values())


def _template(head: str) -> tuple[str, ...] | None:
    """Return the names of a template's parameters, None if there is no template."""
    match = re.search(r"\btemplate\s*<(.*)>", head, re.DOTALL)
    if match is None:
        return None
    parts = _split(match[1] + ")") or []
    names = [re.findall(r"\w+", part.partition("=")[0]) for part in parts]
    return tuple(words[-1] if words else "" for words in names)


def _namespaces(text: str) -> list[str]:
    """Return the namespaces that a text opens and does not close."""
    opened: list[str] = []
    for match in BRACES.finditer(text):
        if match[0] != "}":
            opened.append(match["name"] or "")
        elif opened:
            opened.pop()
    return [name for name in opened if name]


def of_kernel(
    source: str, symbol: str, types: Mapping[str, str] | None = None
) -> list[Parameter] | None:
    """Return a kernel's parameters as the source declares them.

    ``types`` are the types that the parameters of its template mean. Return None if the
    source does not declare the kernel. Of several declarations, the last counts.
    """
    text, aliases = _read(source)
    declarations = _declarations(text, symbol)
    if not declarations:
        return None
    if types:
        aliases = {**aliases, **{name: {text} for name, text in types.items()}}
    return [_parameter(part, aliases) for part in declarations[-1]]
