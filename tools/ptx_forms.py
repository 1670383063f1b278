"""Say which instruction forms of PTX the software device runs.

    python tools/ptx_forms.py              write doc/ptx_forms.inc
    python tools/ptx_forms.py --check      fail if that file is not up to date
    python tools/ptx_forms.py --assemble   ask ptxas again which forms exist
    python tools/ptx_forms.py --refused    print each form that the device refuses

tools/ptx_forms.txt has patterns of the forms of the PTX ISA manual. Some texts that the
patterns give are no PTX. NVIDIA's assembler decides: test/data/ptx_forms.txt has its
verdicts for sm_90a, + or -, a line for each pattern. A form that it accepts counts.
This tool loads each such form on the software device and writes a table of the counts.
"""

import argparse
import ctypes
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ROOT / "tools" / "ptx_forms.txt"
VERDICTS = ROOT / "test" / "data" / "ptx_forms.txt"
TABLE = ROOT / "doc" / "ptx_forms.inc"
LIBRARY = ROOT / "pycuda" / "libpycuda_emulator.so"

HEADER = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 variable[64];
.func (.reg .b32 result) function(.reg .b32 argument)
{ mov.b32 result, argument; ret; }
.func helper() { ret; }
"""

#: What each kernel declares, on the line before the instruction.
DECLARATIONS = (
    ".reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<17>; .reg .b64 %q<17>; "
    ".reg .b128 %x<9>; .reg .f32 %f<17>; .reg .f64 %d<17>; .reg .pred %p<9>; "
    ".shared .align 16 .b8 shared[256]; "
    "prototype: .callprototype (.reg .b32 _) _ (.reg .b32 _); "
    "targets: .branchtargets label, label; "
)

_SIZES = {"8": "h", "16": "h", "32": "r", "64": "q", "128": "x"}


# -- the forms ----------------------------------------------------------------------


def alternatives(text, optional):
    """Split a pattern into lists of alternatives."""
    pattern = r"\(([^()|]*\|[^()]*)\)" + (r"|\[([^\[\]]*)\]" if optional else "")
    found, at = [], 0
    for match in re.finditer(pattern, text):
        found.append([text[at : match.start()]])
        if match[1] is not None:
            found.append(match[1].split("|"))
        else:
            found.append(["", *match[2].split("|")])
        at = match.end()
    return [*found, [text[at:]]]


def expand(line):
    """Yield (opcode with words, operands) of each form of a pattern."""
    opcode, _, operands = line.partition(" ")
    opcode = re.sub(r"\(([\w:.]+)\)", r"\1", opcode)
    operands = operands.strip()
    for first in itertools.product(*alternatives(opcode, True)):
        for second in itertools.product(*alternatives(operands, False)):
            yield "".join(first), "".join(second)


def sections(text=None):
    """Return {heading: {pattern: forms}}. A form belongs to its first pattern."""
    found, seen, current = {}, set(), None
    for line in (text or PATTERNS.read_text()).splitlines():
        if line.startswith("## "):
            current = found.setdefault(line[3:], {})
        elif line and not line.startswith("#"):
            forms = [form for form in expand(line) if form not in seen]
            seen.update(forms)
            current[line] = forms
    return found


def kind_of(word):
    """Return the letter of the registers for a type, or None for another word."""
    if word in ("f32", "f64", "pred"):
        return {"f32": "f", "f64": "d", "pred": "p"}[word]
    if match := re.fullmatch(r"[usb](8|16|32|64|128)", word):
        return _SIZES[match[1]]
    if word in ("f16", "bf16") or re.fullmatch(r"(e\dm\d|ue8m0)x2", word):
        return "h"
    if word in ("f16x2", "bf16x2", "s16x2", "u16x2", "tf32", "e4m3x4", "e5m2x4"):
        return "r"
    return {"f32x2": "q"}.get(word)


def instruction(opcode, operands):
    """Return the text of an instruction with registers for its operands."""
    kinds = [k for k in map(kind_of, opcode.split(".")[1:]) if k]
    if kinds:
        second = kinds[1] if len(kinds) > 1 else kinds[0]
        for letter, kind in (("D", kinds[0]), ("S", second), ("T", kinds[-1])):
            operands = re.sub(rf"\b{letter}\b", kind, operands)

    def vector(match):
        names = [f"%{match[2]}{i}" for i in range(1, int(match[1]) + 1)]
        return "{" + ", ".join(names) + "}"

    operands = re.sub(r"\b(\d+)\*([hrqfd])\b", vector, operands)
    operands = operands.replace("[s]", "[%q9]")
    operands = re.sub(r"\[([rq])(?=[],])", r"[%\g<1>8", operands)
    operands = re.sub(r"\[([rq])2(?=[],])", r"[%\g<1>7", operands)
    operands = re.sub(r"(?<![%\w.])([bhrqxfdp])(\d?)(?![\w%:])", _register, operands)
    return f"{opcode} {operands.replace(',', ', ')};".replace(" ;", ";")


def _register(match):
    return f"%{match[1]}{match[2] or 1}"


def kernel(number, form):
    """Return a kernel of one line with this form."""
    body = f"{{ {DECLARATIONS}{instruction(*form)} label: ret; }}"
    return f".visible .entry k{number}(.param .b64 param) {body}\n"


def module(forms):
    """Return a module with a kernel for each form, and the line of the first one."""
    head = HEADER.count("\n") + 1
    return HEADER + "".join(kernel(i, f) for i, f in enumerate(forms)), head


# -- NVIDIA's assembler -------------------------------------------------------------


def assemble(forms, ptxas="ptxas"):
    """Return {form: whether the assembler accepts it}."""
    verdicts, left = dict.fromkeys(forms, True), list(forms)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "forms.ptx"
        while left:
            text, first = module(left)
            source.write_text(text)
            command = [ptxas, "-arch=sm_90a", "-O0", "-o", "/dev/null", str(source)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode == 0:
                break
            numbers = {int(n) - first for n in re.findall(r"line (\d+);", done.stderr)}
            bad = [left[i] for i in numbers if 0 <= i < len(left)]
            if not bad:  # an error without a line
                bad = _refused_alone(left, ptxas, folder)
            verdicts.update(dict.fromkeys(bad, False))
            left = [form for form in left if verdicts[form]]
    return verdicts


def _refused_alone(forms, ptxas, folder):
    """Return the forms that the assembler refuses, by halves."""
    source = Path(folder) / "half.ptx"
    source.write_text(module(forms)[0])
    command = [ptxas, "-arch=sm_90a", "-O0", "-o", "/dev/null", str(source)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    if len(forms) == 1:
        return forms
    middle = len(forms) // 2
    return [
        *_refused_alone(forms[:middle], ptxas, folder),
        *_refused_alone(forms[middle:], ptxas, folder),
    ]


def checksum(forms):
    return f"{zlib.crc32(repr(forms).encode()):08x}"


def record(found):
    """Ask the assembler, and write its verdicts."""
    lines = []
    for patterns in found.values():
        for line, forms in patterns.items():
            verdicts = assemble(forms)
            marks = "".join("+" if verdicts[form] else "-" for form in forms)
            lines.append(f"{checksum(forms)} {marks}")
            print(f"{marks.count('+')} of {len(forms)}: {line}")
    VERDICTS.write_text("\n".join(lines) + "\n")


def legal(found):
    """Return {heading: forms that exist}, by the recorded verdicts."""
    rows = iter(VERDICTS.read_text().splitlines())
    result = {}
    for heading, patterns in found.items():
        for line, forms in patterns.items():
            digest, _, marks = next(rows, " ").partition(" ")
            if digest != checksum(forms):
                raise SystemExit(
                    f"{VERDICTS.name} has no verdicts for the pattern {line!r}. "
                    "Run `python tools/ptx_forms.py --assemble`."
                )
            good = [f for f, mark in zip(forms, marks, strict=True) if mark == "+"]
            result.setdefault(heading, []).extend(good)
    return result


# -- the software device ------------------------------------------------------------

LOG, LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES


class Device:
    """The software device, as far as it is needed to load modules."""

    def __init__(self, library=LIBRARY):
        os.environ["PYCUDA_EMULATOR_CAPABILITY"] = "9.0"
        self.library = ctypes.CDLL(str(library))
        self.log = ctypes.create_string_buffer(1000)
        find = self.library.cuGetProcAddress
        self.calls = {}
        for name, version in (
            ("cuInit", 2000),
            ("cuCtxCreate", 3020),
            ("cuModuleLoadDataEx", 2010),
            ("cuModuleUnload", 2000),
        ):
            address = ctypes.c_void_p()
            find(name.encode(), ctypes.byref(address), version, ctypes.c_uint64(0))
            self.calls[name] = ctypes.cast(address, ctypes.CFUNCTYPE(ctypes.c_int))
        context = ctypes.c_void_p()
        if self.calls["cuInit"](0) or self.calls["cuCtxCreate"](
            ctypes.byref(context), ctypes.c_uint(0), ctypes.c_int(0)
        ):
            raise SystemExit(f"{library} makes no context")

    def refuses(self, form):
        """Load a form. Return the message of the device, or None if it is loaded."""
        text = module([form])[0].encode()
        handle = ctypes.c_void_p()
        options = (ctypes.c_int * 2)(LOG, LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(self.log), len(self.log))
        code = self.calls["cuModuleLoadDataEx"](
            ctypes.byref(handle), ctypes.c_char_p(text), ctypes.c_uint(2),
            options, values,
        )  # fmt: skip
        if code == 0:
            self.calls["cuModuleUnload"](handle)
            return None
        return self.log.value.decode(errors="replace").strip()


# -- the table ----------------------------------------------------------------------


def count(forms, device):
    """Return {opcode: [(form, message or None), ...]}."""
    found = {}
    for form in forms:
        opcode = form[0].partition(".")[0]
        found.setdefault(opcode, []).append((form, device.refuses(form)))
    return found


def refused_words(results):
    """Describe what the device refuses of an opcode, by the words that only it has."""
    refused = [form[0].split(".")[1:] for form, message in results if message]
    if not refused:
        return ""
    if len(refused) == len(results):
        return "all"
    runs = {w for form, m in results if not m for w in form[0].split(".")[1:]}
    words = sorted({w for form in refused for w in form if w not in runs})
    explained = [form for form in refused if any(w in words for w in form)]
    texts = [f"``.{w}``" for w in words]
    rest = [form for form in refused if form not in explained]
    texts += sorted({"``." + ".".join(form) + "``" for form in rest})[:4]
    return ", ".join(texts[:10]) + (", ..." if len(texts) > 10 else "")


def table(counts):
    """Return the text of the table: a row for each opcode."""
    rows, total, runs = [], 0, 0
    for heading, opcodes in counts.items():
        everything = [pair for pairs in opcodes.values() for pair in pairs]
        if not everything:  # all of another architecture
            continue
        good = sum(message is None for _, message in everything)
        total, runs = total + len(everything), runs + good
        rows.append((f"**{heading}**", f"{good} of {len(everything)}", ""))
        for opcode, pairs in opcodes.items():
            good = sum(message is None for _, message in pairs)
            rows.append(
                (f"``{opcode}``", f"{good} of {len(pairs)}", refused_words(pairs))
            )
    lines = [
        ".. tools/ptx_forms.py writes this file.",
        "",
        f"The software device runs **{runs} of {total}** forms.",
        "",
        ".. list-table::",
        "   :widths: 20 20 60",
        "   :header-rows: 1",
        "",
    ]
    for row in (("Opcode", "Runs", "Refused"), *rows):
        for number, text in enumerate(row):
            lines.append(f"   {'* -' if number == 0 else '  -'} {text}".rstrip())
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--assemble", action="store_true", help="ask ptxas again")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--refused", action="store_true", help="print refused forms")
    options = parser.parse_args()
    found = sections()
    if options.assemble:
        if not shutil.which("ptxas"):
            raise SystemExit("ptxas is not on the PATH")
        record(found)
    device = Device()
    counts = {h: count(forms, device) for h, forms in legal(found).items()}
    if options.refused:
        for opcodes in counts.values():
            for pairs in opcodes.values():
                for form, message in pairs:
                    if message:
                        print(f"{instruction(*form)}  # {message}")
    text = table(counts)
    if options.check:
        if TABLE.exists() and TABLE.read_text() == text:
            return 0
        print(f"{TABLE.name} is not up to date: run `python tools/ptx_forms.py`")
        return 1
    if not options.refused:
        TABLE.write_text(text)
        print(text.splitlines()[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
