#!/usr/bin/env python3
"""Check that the sources keep the project's rules of layout.

    python tools/check_layout.py [root]

Prints one line per problem, `file:line: rule: what is wrong`, and exits with 1 if there
is any. It reads text only: no compiler, no import of the package. The rules are the
keys of RULES; each function there says in its first sentence what it refuses.
"""

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import layers

SOURCE = layers.SOURCE
ROOMS = ("src", "pycuda", "test", "tools", "examples", "bench", "doc")
#: Folders that hold rows, not logic.
ROWS = ("abi/", "tables/")
TEXT = {".c", ".h", ".inc", ".py", ".pyi", ".hpp", ".rst", ".md", ".cu", ".toml", ".sh"}

MOST_FUNCTION_LINES = 80

#: Files that may hold process-wide data: the driver table, the context registry, the
#: deferred list, the signatures of functions.
DATA_FILES = {
    f"driver/{name}.{end}"
    for name in (
        "table",
        "context_record",
        "release",
        "capture",
        "stream_use",
        "vendor_libraries",
        "driver_log",
        "events",
        "host_threads",
        "memory_map",
        "staging",
        "virtual_range",
        "waits",
    )
    for end in "ch"
} | {
    "python/driver/timeline.c",  # the functions of the table that its wrappers call
    "python/support/args.c",  # the signatures, which it reads when the module starts
}

#: Process-wide data of the software device, a library of its own: file -> names.
DEVICE_DATA = {
    "device/api/entry/call_log.c": ["call_log"],
    "device/api/entry/injection.c": ["state", "injection_opened"],
    "device/api/entry/capture.c": ["captures", "last_number", "last_thread"],
    "device/api/context/context.c": ["last_id"],
    "device/api/entry/context_stack.c": ["stack_key", "stack_once"],
    "device/api/entry/queue.c": [
        "emu_queue_keeps_all",
        "queue_has_order",
        "queue_last_number",
        "queue_streams",
        "queue_threads",
    ],
    "device/api/entry/entry.c": ["opened"],
    "device/api/entry/user_object.c": ["dead"],
    "device/api/memory/graph_memory.c": ["accounts", "live_count"],
    "device/api/memory/ipc_memory.c": ["segments", "openings"],
    "device/api/entry/lock.c": ["api", "prepared"],
    "device/api/entry/message.c": ["last_message", "error_log", "messages_opened"],
    "device/api/texture/opengl.c": ["declared"],
    "device/api/memory/pool.c": ["current_pools", "builtin_count"],
    "device/api/entry/users.c": ["foreign"],
    "device/api/entry/turn.c": ["pending_first", "running"],
    "device/api/stream/stream.c": ["last_id", "last_thread"],
    "device/api/context/leak.c": ["leak"],
    "device/sync_check/host_guard.c": ["guard"],
    "device/sync_check/stream_check.c": ["check", "emu_stream_check_on"],
    "device/sync_check/stream_finding.c": ["finding"],
    "device/sync_check/uses.c": ["merging"],
    "device/base/device.c": ["emu_devices", "emu_device_count", "emu_seed"],
    "device/base/object.c": ["registry"],
    "device/base/site.c": ["registered", "is_wanted", "sites"],
    "device/base/counts.c": ["kept"],
    "device/base/warnings.c": ["queue"],
    "device/api/management/nvml.c": ["management"],
    "device/api/context/init_calls.c": ["is_said"],
    "device/machine/grid/execution.c": ["launches", "spare"],
    "device/machine/grid/workers.c": ["idle"],
    "device/machine/services/conditional.c": [
        "conditionals",
        "last_handle",
        "mutex",
    ],
    "device/machine/services/services.c": ["creation"],
    "device/machine/grid/threads.c": ["pool"],
    "device/machine/warp/race_visit.c": ["process"],
    "device/machine/warp/wait.c": ["host", "threads"],
    "device/memory/address_space.c": ["space", "emu_memory_tables"],
    "device/memory/shadow.c": ["emu_memory_shadow", "opening"],
    "device/memory/memory.c": ["registered", "state"],
    "device/memory/virtual.c": ["reservations", "mappings"],
    "device/memory/texture.c": ["slots", "used_slots", "free_slots", "owners"],
}

#: Tables that CPython's interface takes as non-const; nothing writes to them.
CPYTHON_TABLES = (
    "PyGetSetDef",
    "PyMemberDef",
    "PyMethodDef",
    "PyModuleDef",
    "PyModuleDef_Slot",
    "PyStructSequence_Desc",
    "PyStructSequence_Field",
    "PyType_Slot",
    "PyType_Spec",
)


@dataclass(frozen=True, order=True)
class Problem:
    """One broken rule at one place."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


# -- reading C -------------------------------------------------------------------------

STRING = r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
TOKENS = re.compile(rf"(?P<comment>/\*.*?\*/|//[^\n]*)|{STRING}", re.DOTALL)


def blank(text):
    """Return text with everything but its line ends turned into spaces."""
    return re.sub(r"[^\n]", " ", text)


#: A call of a macro, with parentheses inside, and others inside these, at most.
PARENTHESES = r"\((?:[^()]|\([^()]*\))*\)"
MACRO_ROW = rf"\b[A-Z_0-9]+\s*\((?:[^()]|{PARENTHESES})*\)"


def blank_comment(match):
    """Blank a token if it is a comment."""
    return blank(match[0]) if match["comment"] else match[0]


@dataclass
class Chunk:
    """One piece of a file's top level: a function definition, or what ends in `;`."""

    start: int
    end: int
    body: int | None  # where the brace of a function's body is


class Source:
    """A C file: its text, and the same text with comments and strings blanked."""

    def __init__(self, path, name, room):
        self.path = path
        self.name = name  # for messages, relative to the root
        self.room = room  # relative to SOURCE
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.comment_lines = set()
        self.directives = []  # (line, text with strings)
        #: The text without its comments: strings and directives are there.
        self.plain = TOKENS.sub(blank_comment, self.text)
        code = TOKENS.sub(self._blank_token, self.text)
        self.code = re.sub(
            r"^[ \t]*#(?:\\\n|[^\n])*", self._blank_directive, code, flags=re.MULTILINE
        )

    def _blank_token(self, match):
        if match.lastgroup == "comment":
            first = self.line(match.start())
            last = first + match.group().count("\n")
            self.comment_lines.update(range(first, last + 1))
            return blank(match.group())
        inside = match.group()
        return inside[0] + blank(inside[1:-1]) + inside[-1]

    def _blank_directive(self, match):
        self.directives.append(
            (self.line(match.start()), self.plain[match.start() : match.end()])
        )
        return blank(match.group())

    def line(self, place):
        """Return the number of the line at an offset."""
        return self.text.count("\n", 0, place) + 1

    @cached_property
    def chunks(self):
        """Split the top level into chunks."""
        found, start, depth, body, parens = [], 0, 0, None, 0
        for match in re.finditer(r"[{}();]", self.code):
            place, char = match.start(), match.group()
            parens += {"(": 1, ")": -1}.get(char, 0)
            if char == "{":
                if depth == 0 and is_function_head(self.code[start:place]):
                    body = place
                depth += 1
            elif char == "}":
                depth = max(depth - 1, 0)
            ends = char == "}" and body is not None or char == ";" and parens == 0
            if ends and depth == 0:
                found.append(Chunk(self.first_char(start), place + 1, body))
                start, body = place + 1, None
        return found

    def first_char(self, place):
        """Return the offset of the first character of code from an offset on.

        Rows of a table that are macro calls without a semicolon are passed over.
        """
        return (
            re.compile(rf"\s*(?:{MACRO_ROW}\s+(?=\w))*").match(self.code, place).end()
        )

    @cached_property
    def functions(self):
        """Map the name of every function defined here to its chunk."""
        found = {}
        for chunk in self.chunks:
            if chunk.body is not None:
                head = self.code[chunk.start : chunk.body]
                names = re.findall(r"(\w+)\s*\(", head)
                if names:
                    found[names[0]] = chunk
        return found


def is_function_head(text):
    """Say whether text before a brace opens a function."""
    text = text.strip()
    return "(" in text and "=" not in text and re.search(r"\)(\s*\w+)?$", text)


def load(root):
    """Read every C file below SOURCE."""
    base = root / SOURCE
    return [
        Source(path, str(path.relative_to(root)), str(path.relative_to(base)))
        for path in sorted(base.rglob("*"))
        if path.suffix in (".c", ".h", ".inc") and path.is_file()
    ]


# -- rules about files -----------------------------------------------------------------


def python_header(root, sources):
    """Refuse Python.h, or a header that includes it, outside python/."""
    by_room = {source.room: source for source in sources}

    def targets(source):
        for line, text in source.directives:
            found = re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", text)
            if found:
                yield line, found.group(1)

    def wants_python(name, seen=()):
        if name in ("Python.h", "structmember.h") or name.startswith("numpy/"):
            return True
        found = by_room.get(name)
        if found is None or found.room in seen:
            return False
        seen = (*seen, found.room)
        return any(wants_python(other, seen) for _, other in targets(found))

    for source in sources:
        if not source.room.startswith("python/"):
            for line, name in targets(source):
                if wants_python(name):
                    yield (
                        source.name,
                        line,
                        f"{name} brings Python.h in outside python/",
                    )


def cxx_source(root, sources):
    """Refuse C++ below src/."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"):
            yield str(path.relative_to(root)), 1, "the sources are C, not C++"


def function_length(root, sources):
    """Refuse functions over 80 lines, tables aside."""
    for source in sources:
        if source.room.startswith(ROWS):
            continue
        for name, chunk in source.functions.items():
            first, last = source.line(chunk.start), source.line(chunk.end)
            lines = last - first + 1
            if lines > MOST_FUNCTION_LINES:
                message = f"{name} has {lines} lines, {MOST_FUNCTION_LINES} at most"
                yield source.name, first, message


#: In halves, so that this file does not break its own rule.
MARKS = re.compile(rf"\b({'TO'}DO|{'FIX'}ME|{'X'}XX|{'HA'}CK)\b")


def unfinished(root, sources):
    """Refuse marks of unfinished work."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in TEXT or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                found = MARKS.search(line)
                if found:
                    yield str(path.relative_to(root)), number, f"{found[1]} is no end"


# -- rules about process-wide data -----------------------------------------------------


def without_braces(text):
    """Return code with the inside of its outermost braces left out."""
    kept, depth = [], 0
    for char in text:
        if char == "}":
            depth -= 1
        if depth == 0:
            kept.append(char)
        if char == "{":
            depth += 1
    return "".join(kept)


def mutable_name(declaration):
    """Return the name that a declaration makes a variable of, None if it makes none."""
    text = without_braces(declaration).strip().rstrip(";")
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Alignas\s*\([^()]*\)", " ", text)
    text = re.sub(r"\b(_Atomic|__typeof__)\s*\([^()]*\)", r"\1", text)
    text = text.split("=")[0]
    text = re.sub(r"\[[^\]]*\]", " ", text)
    if not text.strip() or re.search(r"\b(typedef|_Static_assert)\b", text):
        return None
    if re.search(rf"\b(_Thread_local|PCU_THREAD|{'|'.join(CPYTHON_TABLES)})\b", text):
        return None
    if re.fullmatch(r"\s*(struct|union|enum)\s*\w*\s*(\{\s*\})?\s*", text):
        return None
    # The first parenthesis tells a pointer to a function from a function.
    pointer = re.match(r"[^(]*\(\s*\*([^()]*)\)\s*\(", text)
    if "(" in text and not pointer:
        return None
    declarator = pointer.group(1) if pointer else text.rsplit("*", 1)[-1]
    names = re.findall(r"\w+", declarator)
    if not names or re.search(r"\bconst\b", declarator):
        return None
    return names[-1]


def variables(source):
    """Yield the offset, name and text of every variable that outlives a call."""
    for chunk in source.chunks:
        text = source.code[chunk.start : chunk.end]
        places = [(chunk.start, text)]
        if chunk.body is not None:
            places = [
                (chunk.start + match.start(), match.group())
                for match in re.finditer(r"\bstatic\b[^;]*;", text)
            ]
        for place, declaration in places:
            name = mutable_name(declaration)
            if name:
                yield place, name, declaration


def process_data(root, sources):
    """Refuse variables that outlive a call, outside the places made for them."""
    shared = {name for names in DEVICE_DATA.values() for name in names}
    for source in sources:
        if source.room in DATA_FILES or source.room.startswith(ROWS):
            continue
        allowed = set(DEVICE_DATA.get(source.room, ()))
        found = set()
        for place, name, declaration in variables(source):
            found.add(name)
            is_extern = re.match(r"\s*extern\b", declaration)
            if is_extern and source.room.startswith("device/") and name in shared:
                continue
            if name not in allowed:
                message = f"{name} is process-wide and not const"
                yield source.name, source.line(place), message
        for name in sorted(allowed - found):
            yield source.name, 1, f"{name} is allowed as process-wide but is not there"


# -- rules about Python objects --------------------------------------------------------


def visiting_functions(sources):
    """Return the functions that visit their object's type, or call one that does."""
    words = {}
    good = set()
    for source in sources:
        for name, chunk in source.functions.items():
            body = source.code[chunk.body : chunk.end]
            words.setdefault(name, set()).update(re.findall(r"\w+", body))
            if re.search(r"\bPy_VISIT\s*\(\s*Py_TYPE\s*\(", body):
                good.add(name)
    while True:
        more = {name for name, called in words.items() if called & good} - good
        if not more:
            return good
        good |= more


def gc_type(root, sources):
    """Refuse a type with cyclic collection whose traverse leaves its type out."""
    good = visiting_functions(sources)
    for source in sources:
        for match in re.finditer(r"\bPy_tp_traverse\s*,([^{}]*)\}", source.plain):
            name = re.findall(r"\w+", match.group(1))[-1]
            if name not in good:
                line = source.line(match.start())
                yield source.name, line, f"{name} does not Py_VISIT(Py_TYPE(self))"


@dataclass
class Macro:
    """A function-like macro that a row of a table may be written with."""

    parameters: list[str]
    body: str

    def expand(self, arguments):
        """Return the macro's text for some arguments."""
        values = dict(zip(self.parameters, arguments, strict=False))

        def replace(match):
            if match["string"]:
                return match[0]
            value = values.get(match["word"], match["word"])
            return f'"{value}"' if match["hash"] else value

        pattern = rf"{STRING}|(?P<hash>(?<!#)#(?!#)\s*)?\b(?P<word>\w+)\b"
        return re.sub(r"\s*##\s*", "", re.sub(pattern, replace, self.body))


def macros_of(sources):
    """Map the name of every function-like macro to what it stands for."""
    found = {}
    for source in sources:
        for _, text in source.directives:
            text = re.sub(r"\\\n", " ", text)
            match = re.match(r"\s*#\s*define\s+(\w+)\(([^)]*)\)(.*)", text, re.DOTALL)
            if match:
                parameters = [name.strip() for name in match[2].split(",")]
                found[match[1]] = Macro(parameters, match[3].strip())
    return found


def docstrings(source, macros):
    """Map the name of every docstring variable of a file to its value."""
    text = source.plain
    for match in re.finditer(rf"^{MACRO_ROW}", source.code, re.MULTILINE):
        row = source.plain[match.start() : match.end()]
        name, inside = row[:-1].split("(", 1)
        if name.strip() in macros:
            arguments = [cell for _, cell in split(inside)]
            text += macros[name.strip()].expand(arguments) + ";\n"
    pattern = (
        r"\bPyDoc_STRVAR\s*\(\s*(\w+)\s*,\s*([^;]*?)\)\s*(?:;|\Z)"
        r"|\bchar\s+(\w+)\[\]\s*=([^;]*);"
        r"|\bPCU_SIGNATURE(?:_OF_ONE)?\s*\(\s*(\w+)\s*,(?:\s*\"\d+\"\s*,)?\s*\w+\s*,"
        r"([^;()]*)\)"
    )
    # Strings are one character each meanwhile: they may hold what ends the pattern.
    strings = []

    def hide(match):
        strings.append(match[0])
        return f'"{len(strings) - 1}"'

    hidden = TOKENS.sub(hide, text)
    return {
        match[1] or match[3] or f"{match[5]}_doc": "".join(
            literal(strings[int(number)])
            for number in re.findall(r'"(\d+)"', match[2] or match[4] or match[6])
        )
        for match in re.finditer(pattern, hidden)
    }


def method_rows(source, macros):
    """Yield line, name, flags and docstring of every row of every PyMethodDef.

    A row that cannot be read has the name None.
    """
    docs = docstrings(source, macros)
    for chunk in source.chunks:
        code = source.code[chunk.start : chunk.end]
        if not re.search(r"\bPyMethodDef\s+\w+\s*\[", code) or "{" not in code:
            continue
        first = chunk.start + code.index("{") + 1
        text = source.plain[first : chunk.start + code.rindex("}")]
        for place, row in expanded(split(text), macros):
            line = source.line(first + place)
            if not row.startswith("{"):
                yield line, None, row, None
                continue
            cells = [cell for _, cell in split(row[1 : row.rindex("}")])]
            if cells[0] in ("NULL", "0"):
                continue
            doc = cells[3] if len(cells) > 3 else "NULL"
            doc = literal(doc) if '"' in doc else docs.get(doc)
            yield line, literal(cells[0]), cells[2], doc


def expanded(rows, macros):
    """Yield (offset, row) with what stands for a row that is a call of a macro."""
    for place, row in rows:
        call = re.fullmatch(r"(\w+)\s*\((.*)\)", row, re.DOTALL)
        if call and call[1] in macros:
            text = macros[call[1]].expand([cell for _, cell in split(call[2])])
            for _, part in expanded(split(text), macros):
                yield place, part
        else:
            yield place, row


def split(text):
    """Split C text at its outer commas into (offset, part); strings stay whole."""
    found, depth, first = [], 0, 0
    hidden = TOKENS.sub(lambda m: '"' * len(m[0]), text)
    for place, char in enumerate(hidden + ","):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            part = text[first:place]
            if part.strip():
                gap = len(part) - len(part.lstrip())
                found.append((first + gap, part.strip()))
            first = place + 1
    return found


def literal(text):
    """Return the value of adjacent C string literals."""
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    return "".join(parts).replace("\\n", "\n").replace('\\"', '"')


def text_signature(root, sources):
    """Refuse a method whose docstring does not begin with a text signature."""
    macros = macros_of(sources)
    for source in sources:
        # Files may define a name differently: the definition of the file itself counts.
        own = {**macros, **macros_of([source])}
        for line, name, flags, doc in method_rows(source, own):
            if name is None:
                yield source.name, line, f"the row {flags} cannot be read"
                continue
            first = "" if "METH_STATIC" in flags else r"\$(self|module|type|cls)\b"
            wanted = rf"{re.escape(name)}\({first}.*?\)\n--\n\n."
            if doc is None or not re.match(wanted, doc, re.DOTALL):
                message = f"the docstring of {name} has no text signature"
                yield source.name, line, message


# -- rules about statements ------------------------------------------------------------


def cuda_version(root, sources):
    """Refuse code that depends on the version of a CUDA header: there is none here."""
    for source in sources:
        for line, text in source.directives:
            if re.match(r"\s*#\s*(el)?if", text) and re.search(
                r"\b(CUDA_VERSION|CUDART_VERSION|__CUDACC_VER\w*|CUDA_API_\w+)", text
            ):
                yield source.name, line, "#if on a CUDA version"


def reason(root, sources):
    """Refuse PyErr_Clear and (void)drv. without a comment on that line or above it."""
    for source in sources:
        for match in re.finditer(
            r"\bPyErr_Clear\s*\(|\(void\)\s*drv\s*\.", source.code
        ):
            line = source.line(match.start())
            if not {line, line - 1} & source.comment_lines:
                yield source.name, line, f"{match.group()} without a reason"


#: A row of a function that the extension calls: its name, and when the call may wait.
FUNCTION_ROW = re.compile(
    r"X\((\w+), (?:\w+|\([^()]*\)), \d+, \w+, (?:REQUIRED|OPTIONAL)\((\w+)\),"
)


def driver_functions(root):
    """Map the driver's functions that the extension calls to their rule of the lock."""
    table = root / SOURCE / "abi" / "functions.h"
    text = table.read_text(encoding="utf-8") if table.exists() else ""
    return dict(FUNCTION_ROW.findall(" ".join(text.replace("\\\n", " ").split())))


def waiting_call(root, sources):
    """Refuse calls in python/ that keep the interpreter lock though they may wait.

    A comment on the line above that begins with "keeps the lock" gives the reason.
    """
    waiting = {name for name, lock in driver_functions(root).items() if lock != "GIL"}
    for source in sources:
        if source.room.startswith("python/"):
            for match in re.finditer(r"\bdrv\s*\.\s*(\w+)\s*\(", source.code):
                line = source.line(match.start())
                above = source.text.split("\n")[line - 2]
                if match[1] in waiting and "/* keeps the lock" not in above:
                    message = f"drv.{match[1]} may wait: call it by PCU_STATUS"
                    yield source.name, line, message


def process_end(root, sources):
    """Refuse to end the process from driver/ and python/."""
    pattern = r"\b(abort|exit|_exit|_Exit|quick_exit|Py_FatalError|Py_Exit)\s*\("
    for source in sources:
        if source.room.startswith(("driver/", "python/")):
            for match in re.finditer(pattern, source.code):
                message = f"{match.group(1)} ends the process"
                yield source.name, source.line(match.start()), message


RULES = {
    "python-header": python_header,
    "process-data": process_data,
    "gc-type": gc_type,
    "text-signature": text_signature,
    "cuda-version": cuda_version,
    "reason": reason,
    "waiting-call": waiting_call,
    "process-end": process_end,
    "cxx-source": cxx_source,
    "function-length": function_length,
    "unfinished": unfinished,
    **layers.RULES,
}


def check(root):
    """Return every problem below a root, in order."""
    root = Path(root)
    sources = load(root)
    return sorted(
        Problem(path, line, rule, message)
        for rule, find in RULES.items()
        for path, line, message in find(root, sources)
    )


def main(arguments):
    """Check the repository, or the root given; return the exit status."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
