"""Where the lines of counted sources are: in literals, files and generated texts."""

import json
import re

import pytest

from pycuda import _counted_source, _counts
from pycuda._compile import recording, source_text

HELPER = '''
"""A module with lines /*t1*/ that are no part of a source."""
TWICE = r"""
__device__ int twice(int a) /*t1*/
{
    return a * 2; /*t2*/
}
"""
# __device__ int twice(int a) /*t1*/
'''

#: Programs that make a source. Each line with a tag is at the line with this tag.
FORMS = {
    "a literal": '''
OTHER = """
__global__ void other(int *x)
{
    int i = threadIdx.x;
    x[i] = 3;
}
"""
def make():
    return """
        __global__ void k(int *x) /*t3*/
        {
            int i = threadIdx.x; /*t4*/
            x[i] = 3; /*t5*/
        } /*t6*/
    """
''',
    "lines with newlines": """
def make():
    return ("__global__ void k(int *x) /*t3*/\\n"
            "{\\n  int i = threadIdx.x; /*t4*/\\n"
            f"  x[i] = {3 + 4}; /*t5*/\\n" "}")
""",
    "joined lines": """
def make():
    return "\\n".join(["__global__ void k(int *x) /*t3*/", "{",
        "    x[threadIdx.x] = 7; /*t4*/",
        "}"])
""",
    "two modules": '''
from helper import TWICE
def make():
    return TWICE + """
__global__ void k(int *x) /*t3*/
{
    x[threadIdx.x] = twice(3); /*t4*/
}
"""
''',
    "an f-string": '''
def make(N=4):
    return f"""
__global__ void k(int *x) /*t3*/
{{
    for (int i = 0; i < {N}; i++) /*t4*/
        {{ x[i] = {N}; }} /*t5*/
}} /*t6*/
"""
''',
    "percent, and a value of several lines": '''
BODY = """if (i > 4) { /*t3*/
    x[i] = 5; /*t4*/
}"""
def make():
    return """
__global__ void k(int *x) /*t5*/
{
    int i = threadIdx.x; /*t6*/
    %(body)s
    x[i] = %(value)d; /*t7*/
}
""" % {"body": BODY, "value": 9}
''',
    "format": '''
def make():
    return """
__global__ void k({T} *x) /*t3*/
{{
    {T} value = threadIdx.x; /*t4*/
    x[0] = ({T})value; /*t5*/
}}
""".format(T="double")
''',
    "Template": '''
from string import Template
def make():
    return Template("""
__global__ void k($T *x) /*t3*/
{
    ${T} value = threadIdx.x; /*t4*/
}
""").substitute(T="double")
''',
    "replace": '''
def make():
    return """
__global__ void NAME(TYPE *x) /*t3*/
{
    TYPE d = threadIdx.x; /*t4*/
    if (d > 5) /*t5*/
        x[0] = (TYPE)d + 7; /*t6*/
}
""".replace("TYPE", "int").replace("NAME", "k")
''',
    "a file": """
def make():
    with open(__file__.replace("program.py", "cuda/kernels.cu")) as file:
        return "#define N 4\\n" + file.read()
""",
}
KERNELS = """
__global__ void k(int *x) /*t3*/
{
    x[threadIdx.x] = N; /*t4*/
}
"""


def tagged(text):
    """Return the numbers of the lines with tags."""
    rows = enumerate(text.split("\n"), 1)
    found = [(re.search(r"/\*(t\d)\*/", row), number) for number, row in rows]
    return {match[1]: number for match, number in found if match}


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the files of a program and returns its source."""

    def write(text):
        (tmp_path / "cuda").mkdir()
        (tmp_path / "cuda" / "kernels.cu").write_text(KERNELS)
        (tmp_path / "helper.py").write_text(HELPER)
        program = tmp_path / "program.py"
        program.write_text(text)
        values = {"__file__": str(program)}
        helper = {}
        exec(HELPER, helper)
        code = text.replace("from helper import TWICE", f"TWICE = {helper['TWICE']!r}")
        exec(code, values)
        files = (str(program), str(tmp_path / "helper.py"))
        wrapped = source_text.wrapped(values["make"](), False)
        return recording.Source(wrapped, f"{program}:9", files, 1), values["make"]()

    return write


def program_of(source):
    return _counts.Program(1, [], [], source)


@pytest.mark.parametrize("form", FORMS)
def test_a_line_is_where_it_was_written(write, form):
    source, text = write(FORMS[form])
    sources = _counted_source.Sources()
    checked = 0
    for tag, number in tagged(text).items():
        place = sources.place(program_of(source), "/old/folder/kernel.cu", number)
        row = sources.lines(place.file)[place.line - 1]
        assert f"/*{tag}*/" in row, (tag, place)
        assert not row.startswith("#")
        checked += 1
    assert checked >= 2


def test_a_line_that_is_in_no_file_has_a_name(write):
    hidden = b"__global__ void secret(int *x)\n{\n    x[0] = 12345;\n}\n".hex()
    source, _ = write(f"def make():\n    return bytes.fromhex({hidden!r}).decode()")
    sources = _counted_source.Sources()
    place = sources.place(program_of(source), "kernel.cu", 3)
    assert place == ("kernel secret of program.py:9", 3)
    assert sources.lines(place.file)[2] == "    x[0] = 12345;"
    assert sources.is_generated(place.file)
    assert not sources.is_generated(source.files[0])


def test_an_expression_of_a_generated_kernel_is_where_it_was_written(write):
    source, _ = write("""
def make(expression="a > b ? a : b"):
    begin = bytes([40]).decode()
    return "\\n".join(["", "assign" + begin + "x, " + begin + expression + "));"])
""")
    sources = _counted_source.Sources()
    place = sources.place(program_of(source), "kernel.cu", 2)
    assert place == (source.files[0], 2)


def test_headers_of_the_program_only_have_a_place(tmp_path):
    own = tmp_path / "own.h"
    own.write_text("int a;\n")
    sources = _counted_source.Sources()
    program = program_of(None)
    assert sources.place(program, str(own), 1) == (str(own), 1)
    installed = tmp_path / "site-packages" / "other.h"
    installed.parent.mkdir()
    installed.write_text("int a;\n")
    assert sources.place(program, str(installed), 1) is None
    other = tmp_path / "main" / "pycuda" / "cuda"  # a kernel that was cached there
    other.mkdir(parents=True)
    for name in ("pycuda-index.hpp", "own.hpp"):
        (other / name).write_text("int a;\n")
    assert sources.place(program, str(other / "pycuda-index.hpp"), 1) is None
    assert sources.place(program, str(other / "own.hpp"), 1) is not None
    assert sources.place(program, str(tmp_path / "gone.h"), 1) is None
    assert sources.place(program, str(own), 0) is None


def test_a_cell_of_a_notebook_has_lines(tmp_path):
    cell = 'TEXT = """\n__global__ void k(int *x)\n{\n    x[0] = 3;\n}\n"""'
    path = tmp_path / "book.ipynb"
    cells = [{"cell_type": "code", "source": text} for text in ("import os", cell)]
    path.write_text(json.dumps({"cells": cells}))
    text = source_text.wrapped(cell.split('"""')[1], False)
    name = f"{path}[2]"
    source = recording.Source(text, f"{name}:1", (name,), 1)
    place = _counted_source.Sources().place(program_of(source), "kernel.cu", 4)
    assert place == (name, 4)
