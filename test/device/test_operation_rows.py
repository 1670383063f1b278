"""tables/operations.inc: a row without a column does not compile; no fact is elsewhere.

The recipe "A load of the software device" of doc/contributing.rst adds an operation by
its row (test/docs/test_recipes.py).
"""

import re

import pytest

from support import cc

pytestmark = pytest.mark.skipif(
    not cc.compilers(), reason="neither gcc nor clang is installed"
)

TABLE = cc.SOURCE / "tables" / "operations.inc"
DEVICE = cc.SOURCE / "device"

#: A row of each kind, with the columns that a programmer may forget.
ROWS = (
    "OP_VALUE(more, COMPUTE, ONCE, UNARY, u32, u32, x + 1)",
    "OP_VALUE(more, COPY, EACH, TERNARY, u64, u32, u32, u64, x + y + z)",
    "OP_VALUE(more, COMPUTE, EACH, COMPARE, u16, u32, x < y)",
    "OP_LOAD(more, EACH, u16, u32)",
    "OP_STORE(more, u16, u32)",
    "OP_VECTOR(more, (0, 0, ANY, 0, 0), EMU_NUMBER_E, READ, IN_E, COMPUTE, EACH)",
    "OP_OWN(more, (4, 0, ANY, 0, 0), EMU_NO_FIELDS, each, READ, 4, COMPUTE, EACH)",
)


def columns(row):
    """Return the kind of a row and its columns; (...) is one column."""
    kind, inside = re.fullmatch(r"(OP_\w+)\((.*)\)", row).groups()
    return kind, re.split(r", (?![^(]*\))", inside)


def without(row, index):
    kind, found = columns(row)
    return f"{kind}({', '.join(found[:index] + found[index + 1 :])})"


def narrower(row):
    """Return the row without the last of the operands' widths."""
    return re.sub(r", \w+\),", "),", row)


FORGOTTEN = [without(row, at) for row in ROWS for at in range(len(columns(row)[1]))]
FORGOTTEN += [narrower(row) for row in ROWS if ", 0)," in row]


def compile_table(folder, row, compiler=None):
    """Compile the facts of all operations and of one more."""
    (folder / "tables").mkdir(exist_ok=True)
    text, mark = TABLE.read_text(), "OP_OWN(bfind_32,"
    assert text.count(mark) == 1
    (folder / "tables" / TABLE.name).write_text(text.replace(mark, f"{row}\n{mark}"))
    flags = ("-std=c11", f"-I{folder}", f"-I{cc.SOURCE}")
    source = DEVICE / "compile" / "operations.c"
    command = [compiler or cc.compilers()[0], "-fsyntax-only", *flags, source]
    return cc.run(command)


@pytest.mark.parametrize("compiler", cc.compilers())
@pytest.mark.parametrize("row", ROWS)
def test_a_row_with_all_columns_compiles(tmp_path, row, compiler):
    cc.must(compile_table(tmp_path, row, compiler))


@pytest.mark.parametrize("row", FORGOTTEN)
def test_a_forgotten_column_does_not_compile(tmp_path, row):
    done = compile_table(tmp_path, row)
    assert done.returncode != 0
    assert "error" in done.stderr


@pytest.mark.parametrize(
    "effect, bytes, compiles",
    [
        ("READ", 4, True),
        ("UPDATE", 4, True),
        ("TEST_OBJECT", 8, True),
        ("PLAIN", 0, True),
        ("ACT", 0, True),
        ("READ", 0, False),
        ("WRITE", 0, False),
        ("NEW_OBJECT", 0, False),
        ("PLAIN", 4, False),
        ("SPIN", 4, False),
    ],
)
def test_an_access_has_bytes_and_nothing_else_has(tmp_path, effect, bytes, compiles):
    row = ROWS[-1].replace("READ, 4", f"{effect}, {bytes}")
    assert (compile_table(tmp_path, row).returncode == 0) == compiles


def lists_of_facts(texts):
    """Return the files that have a table by EMU_OP_ numbers."""
    return sorted(
        name for name, text in texts.items() if re.search(r"\[EMU_OP_(?!COUNT)", text)
    )


def test_no_other_table_has_facts_of_operations():
    texts = {
        path.relative_to(DEVICE).as_posix(): path.read_text()
        for path in DEVICE.rglob("*.[chi]*")
    }
    tables = ["compile/operations.c", "machine/ops/handler_table.inc"]
    assert lists_of_facts(texts) == tables
    texts["machine/warp/new.c"] = "static const uint8_t kinds[] = {[EMU_OP_tex] = 1};"
    assert lists_of_facts(texts) == [*tables, "machine/warp/new.c"]


def named_operations(texts):
    """Return the operations that files of the machine name, with the files."""
    return sorted(
        (name, operation)
        for name, text in texts.items()
        for operation in re.findall(r"\bEMU_OP_([a-z]\w*)", text)
    )


def test_the_checks_read_the_columns_and_name_no_operation():
    texts = {
        path.relative_to(DEVICE).as_posix(): path.read_text()
        for path in (DEVICE / "machine").rglob("*.[chi]*")
    }
    assert len(texts) > 30
    assert named_operations(texts) == []
    texts["machine/warp/new.c"] = "if (insn->op == EMU_OP_fence) {"
    assert named_operations(texts) == [("machine/warp/new.c", "fence")]


#: A file that decides by a column, without a case for one of its words.
DECISION = """
#include "device/compile/operations.h"
int decide(unsigned op);
int decide(unsigned op)
{{
    switch (emu_op_runs(op)) {{
        case EMU_RUNS_EACH:
        case EMU_RUNS_ONCE:
        {more}
            return 1;
    }}
    return 0;
}}
"""


@pytest.mark.parametrize("compiler", cc.compilers())
def test_a_forgotten_word_of_a_column_does_not_compile(tmp_path, compiler):
    flags = ("-Wall", "-Werror", f"-I{cc.SOURCE}")
    rest = "case EMU_RUNS_PARAMETER: case EMU_RUNS_SPECIAL:"
    cc.must(cc.check_c(compiler, DECISION.format(more=rest), tmp_path, flags))
    done = cc.check_c(compiler, DECISION.format(more=""), tmp_path, flags)
    assert done.returncode != 0
    assert "EMU_RUNS_PARAMETER" in done.stderr


def test_no_decision_by_a_column_has_a_default():
    decisions = 0
    for path in DEVICE.rglob("*.c"):
        switches = re.split(
            r"\bswitch \(emu_op_\w+\(|\bswitch \(effect\)", path.read_text()
        )
        for text in switches[1:]:
            decisions += 1
            inside = text[: re.search(r"\n    }\n", text).start()]
            assert "default:" not in inside, path
    assert decisions >= 6
