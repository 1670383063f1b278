"""Compare our declarations of the driver's interface with NVIDIA's headers.

No driver code runs. Each check is a C text of static assertions that must compile with
the real cuda.h. Each check has a counterpart with one wrong fact, which must not
compile.
"""

import re
from functools import cache

import pytest

from support import cc

INCLUDE = cc.cuda_include()
COMPILERS = cc.compilers()

pytestmark = [
    pytest.mark.skipif(
        INCLUDE is None,
        reason="no cuda.h: none below CUDA_HOME, CUDA_PATH, /usr/local/cuda or "
        "nvidia/cu13 of this Python",
    ),
    pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed"),
]

TABLES = cc.SOURCE / "abi"
ABI = TABLES / "cuda_abi.h"
GRAPH_ABI = TABLES / "graph_abi.h"
CLIENT_ABI = TABLES / "client_abi.h"

#: The newest toolkit for which the tables have all names.
COMPLETE_FOR = 13000

ENUM_PREFIX = {
    "address_mode": "CU_TR_ADDRESS_MODE_",
    "array_cubemap_face": "CU_CUBEMAP_FACE_",
    "array_format": "CU_AD_FORMAT_",
    "compute_mode": "CU_COMPUTEMODE_",
    "ctx_flags": "CU_CTX_",
    "event_flags": "CU_EVENT_",
    "event_record_flags": "CU_EVENT_RECORD_",
    "event_wait_flags": "CU_EVENT_WAIT_",
    "filter_mode": "CU_TR_FILTER_MODE_",
    "func_cache": "CU_FUNC_CACHE_",
    "graphics_map_flags": "CU_GRAPHICS_MAP_RESOURCE_FLAGS_",
    "graphics_register_flags": "CU_GRAPHICS_REGISTER_FLAGS_",
    "ipc_mem_flags": "CU_IPC_MEM_",
    "jit_fallback": "CU_",
    "jit_input_type": "CU_JIT_INPUT_",
    "jit_option": "CU_JIT_",
    "jit_target": "CU_TARGET_",
    "launch_attribute": "CU_LAUNCH_ATTRIBUTE_",
    "limit": "CU_LIMIT_",
    "mem_access_flags": "CU_MEM_ACCESS_FLAGS_PROT_",
    "mem_advice": "CU_MEM_ADVISE_",
    "mem_attach_flags": "CU_MEM_ATTACH_",
    "mem_pool_attribute": "CU_MEMPOOL_ATTR_",
    "mem_range_attribute": "CU_MEM_RANGE_ATTRIBUTE_",
    "memory_type": "CU_MEMORYTYPE_",
    "pointer_attribute": "CU_POINTER_ATTRIBUTE_",
    "profiler_output_mode": "CU_OUT_",
    "shared_config": "CU_SHARED_MEM_CONFIG_",
    "stream_flags": "CU_STREAM_",
    "stream_mem_op": "CU_STREAM_MEM_OP_",
    "stream_wait_value": "CU_STREAM_WAIT_VALUE_",
    "stream_write_value": "CU_STREAM_WRITE_VALUE_",
    "tensor_map_data_type": "CU_TENSOR_MAP_DATA_TYPE_",
    "tensor_map_interleave": "CU_TENSOR_MAP_",
    "tensor_map_l2_promotion": "CU_TENSOR_MAP_L2_PROMOTION_",
    "tensor_map_oob_fill": "CU_TENSOR_MAP_FLOAT_OOB_FILL_",
    "tensor_map_swizzle": "CU_TENSOR_MAP_",
}

#: direction_vector_set belongs to cuRAND, whose header has other names.
CURAND_NAMES = {
    "VECTOR_32": "CURAND_DIRECTION_VECTORS_32_JOEKUO6",
    "SCRAMBLED_VECTOR_32": "CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6",
    "VECTOR_64": "CURAND_DIRECTION_VECTORS_64_JOEKUO6",
    "SCRAMBLED_VECTOR_64": "CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6",
}

OLD_TARGET = "the architecture left the toolkit before CUDA 13"
#: Names that no current header has, with the reasons to keep them.
NO_COUNTERPART = {
    ("compute_mode", "EXCLUSIVE"): "removed in CUDA 8; old programs name it",
    **{
        ("jit_target", f"COMPUTE_{digits}"): OLD_TARGET
        for digits in (10, 11, 12, 13, 20, 21)
    },
}


# -- reading our side ------------------------------------------------------------------


def cuda_version():
    """Return CUDA_VERSION of the header found."""
    found = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", header_text("cuda.h"))
    return int(found.group(1))


@cache
def header_text(name):
    """Return the text of one of NVIDIA's headers."""
    return (INCLUDE / name).read_text(encoding="utf-8", errors="replace")


@cache
def names_in(headers):
    """Return all identifiers in some of NVIDIA's headers."""
    found = set()
    for name in headers:
        found.update(re.findall(r"\w+", header_text(name)))
    return found


def known_to(headers, name):
    """Whether the headers have a name. Only older headers may lack it."""
    if name in names_in(headers):
        return True
    assert cuda_version() < COMPLETE_FOR, f"{name} is not in the header"
    return False


def without_comments(text):
    """Return C text with its comments blanked."""
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def rows(table, macro, columns, folder, source=None):
    """Expand an X-macro table. Return its rows as lists of strings.

    The last column takes the rest of the row, commas and all.
    """
    path = source or TABLES / table
    names = [f"a{number}" for number in range(columns - 1)]
    marks = " @@ ".join([*names, "__VA_ARGS__"])
    text = (
        f'#include "{path}"\n'
        f"#define ROW({', '.join(names)}, ...) @ROW@ {marks} @END@\n"
        f"{macro}(ROW)\n"
    )
    expanded = cc.preprocess(COMPILERS[0], text, folder)
    found = re.findall(r"@ROW@(.*?)@END@", expanded, flags=re.S)
    return [[" ".join(part.split()) for part in row.split("@@")] for row in found]


def block_end(text, start):
    """Return the position after the brace that closes the one at start."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise AssertionError("unbalanced braces in cuda_abi.h")


def members(body, prefix=""):
    """List the paths of a struct's members, with dots for nested members."""
    found = []
    place = 0
    while True:
        match = re.compile(r"\s*([^;{}]*)([;{])").match(body, place)
        if not match:
            assert not body[place:].strip(), body[place:]
            return found
        place = match.end()
        if match.group(2) == ";":
            name = re.search(r"(\w+)\s*(\[.*\])?$", match.group(1).strip()).group(1)
            found.append(prefix + name)
            continue
        end = block_end(body, match.end() - 1)
        inner = body[match.end() : end - 1]
        name = re.compile(r"\s*(\w*)\s*;").match(body, end)
        if name.group(1):
            found.append(prefix + name.group(1))
            found += members(inner, prefix + name.group(1) + ".")
        else:  # an anonymous union: its members are those of the struct around it
            found += members(inner, prefix)
        place = name.end()


def structures(text):
    """Map every struct and union that a header of ours defines to its member paths."""
    found = {}
    for match in re.finditer(r"typedef (?:struct|union) \w+ (\{)", text):
        end = block_end(text, match.start(1))
        name = re.compile(r"\s*(\w+);").match(text, end).group(1)
        found[name] = members(text[match.end() : end - 1])
    return found


def constants(text):
    """List the constants of the anonymous enums of a header of ours."""
    bodies = re.findall(r"^enum \{(.*?)\};", text, flags=re.S | re.M)
    return [
        name
        for body in bodies
        for name in re.findall(r"(\w+)\s*=", without_comments(body))
    ]


def layout_program(abi):
    """Write the C program that prints what our header says, as static assertions."""
    text = without_comments(abi.read_text())
    found = structures(text)
    scalars = re.findall(r"^typedef (?:unsigned |long |int )+(\w+);", text, re.M)
    handles = re.findall(r"^typedef struct \w+ \*(\w+);", text, re.M)
    marks = re.findall(r"^#define (CU_(?:LAUNCH_PARAM|STREAM)_\w+)", text, re.M)
    assert len(found) == len(re.findall(r"^\} (?!CUresult)\w+;", text, re.M))
    lines = []

    def say(expression, value):
        lines.append(
            f'printf("_Static_assert({expression} == %lluu, \\"{expression}\\");\\n",'
            f" (unsigned long long)({value}));"
        )

    for name in [*scalars, *handles, *found, "CUresult"]:
        say(f"sizeof({name})", f"sizeof({name})")
    for name, paths in found.items():
        for path in paths:
            say(f"offsetof({name}, {path})", f"offsetof({name}, {path})")
            size = f"sizeof((({name} *)0)->{path})"
            say(size, size)
    for name in constants(text):
        say(f"(unsigned)({name})", name)
    for name in marks:
        # clang folds a cast of a pointer to an integer only in this form.
        number = f"(__builtin_constant_p(1) ? (size_t)({name}) : 0)"
        say(number, number)
    body = "\n    ".join(lines)
    return (
        f'#include <stdio.h>\n#include "{abi}"\n'
        f"int main(void)\n{{\n    {body}\n    return 0;\n}}\n"
    )


def callback_assertions(abi):
    """Redeclare our callback types under other names and compare them with cuda.h's."""
    text = without_comments(abi.read_text())
    lines = []
    for name in re.findall(r"^typedef \w+ \(\*(\w+)\)\(", text, re.M):
        (declared,) = re.findall(rf"^typedef \w+ \(\*{name}\)\([^;]*;", text, re.M)
        lines.append(declared.replace(f"(*{name})", f"(*ours_{name})"))
        lines.append(
            f"_Static_assert(__builtin_types_compatible_p({name}, ours_{name}),"
            f' "{name}");'
        )
    assert lines
    return lines


# -- asking NVIDIA's side --------------------------------------------------------------


def newer_than_header(line):
    """Whether an assertion uses a name that an older header lacks."""
    words = set(re.findall(r"\bCU\w+", line.split('"')[0]))
    return any(not known_to(LAYOUT_HEADERS, word) for word in words)


def against_cuda(compiler, lines, folder, headers=("cuda.h",), macros=""):
    """Compile assertions with NVIDIA's headers. Return the completed process."""
    includes = "".join(f"#include <{name}>\n" for name in headers)
    text = f"#include <stddef.h>\n{macros}{includes}" + "\n".join(lines) + "\n"
    flags = ["-std=gnu11", "-isystem", str(INCLUDE), "-I", str(folder)]
    if compiler == "clang":
        flags += ["-ferror-limit=0", "-Wno-gnu-folding-constant"]
    return cc.check_c(compiler, text, folder, flags)


#: The headers with the types and constants of cuda_abi.h and graph_abi.h.
LAYOUT_HEADERS = ("cuda.h", "cudaProfiler.h", "cudaGL.h")


def layout_lines(compiler, abi, folder):
    """Compile and run the program that prints what our header says."""
    source = folder / "layout.c"
    source.write_text(layout_program(abi))
    program = folder / f"layout-{compiler}"
    cc.must(cc.compile_c(compiler, [source], program, cc.STRICT))
    said = cc.must(cc.run([program])).stdout.splitlines()
    return [line for line in said if not newer_than_header(line)]


def refused(done, what):
    """Check that the compiler failed because of this assertion."""
    assert done.returncode != 0
    words = ("static assertion failed", "static_assert failed")
    failed = [
        line
        for line in done.stderr.splitlines()
        if any(word in line for word in words) and what in line
    ]
    assert failed, done.stderr


@pytest.fixture(params=COMPILERS or ["none"])
def compiler(request):
    """Every C compiler of this machine in turn."""
    return request.param


# -- sizes, offsets, constants, callbacks ----------------------------------------------


@pytest.mark.parametrize(
    "header, checks",
    [
        # Some 40 scalars and handles, 19 structures with 150 members, 30 constants.
        (ABI, 350),
        # 16 structures with 80 members, 80 constants.
        (GRAPH_ABI, 230),
        # 13 structures with 50 members, 10 constants.
        (CLIENT_ABI, 90),
    ],
)
def test_layout_is_cuda_h_s(header, checks, compiler, tmp_path):
    lines = layout_lines(compiler, header, tmp_path)
    assert len(lines) > checks
    if header == ABI:
        lines += callback_assertions(ABI)
    write_gl_stub(tmp_path)
    cc.must(against_cuda(compiler, lines, tmp_path, LAYOUT_HEADERS))


@pytest.mark.parametrize(
    "right, wrong, broken",
    [
        ("unsigned int NumChannels;", "size_t NumChannels;", "CUDA_ARRAY_DESCRIPTOR"),
        ("int reserved[12];", "int reserved[13];", "sizeof(CUDA_TEXTURE_DESC)"),
        (
            "size_t WidthInBytes;\n    size_t Height;",
            "size_t Height;\n    size_t WidthInBytes;",
            "offsetof(CUDA_MEMCPY2D, WidthInBytes)",
        ),
        (
            "CU_JIT_ERROR_LOG_BUFFER = 5",
            "CU_JIT_ERROR_LOG_BUFFER = 55",
            "CU_JIT_ERROR_LOG_BUFFER",
        ),
        ("typedef int CUdevice;", "typedef long long int CUdevice;", "CUdevice"),
        ("SIZE ((void *)2)", "SIZE ((void *)3)", "CU_LAUNCH_PARAM_BUFFER_SIZE"),
    ],
)
def test_layout_check_can_fail(right, wrong, broken, compiler, tmp_path):
    (tmp_path / "abi").mkdir()
    text = ABI.read_text()
    assert right in text
    changed = tmp_path / "abi" / "cuda_abi.h"
    changed.write_text(
        text.replace(right, wrong, 1).replace("../tables/", f"{TABLES}/")
    )
    lines = layout_lines(compiler, changed, tmp_path)
    write_gl_stub(tmp_path)
    refused(against_cuda(compiler, lines, tmp_path, LAYOUT_HEADERS), broken)


def test_callback_check_can_fail(compiler, tmp_path):
    lines = [
        line.replace("int blockSize", "long b") for line in callback_assertions(ABI)
    ]
    refused(against_cuda(compiler, lines, tmp_path), "CUoccupancyB2DSize")


# -- signatures ------------------------------------------------------------------------


def write_gl_stub(folder):
    """Write a stand-in for GL/gl.h, of which the headers need two type names."""
    (folder / "GL").mkdir(exist_ok=True)
    (folder / "GL" / "gl.h").write_text(
        "typedef unsigned int GLenum;\ntypedef unsigned int GLuint;\n"
    )


TYPEDEF_HEADERS = ("cudaTypedefs.h", "cudaProfilerTypedefs.h", "cudaGLTypedefs.h")


def function_rows(folder):
    """Return the rows of functions: name, version, caller, door, parameters in C."""
    text = (
        f'#include "{TABLES / "functions.h"}"\n'
        "#define ROW(name, export, version, thread, caller, door, traits, span, ...)"
        " @ROW@ name @@ version @@ caller @@ door"
        " @@ (PCU_PARAMETERS(__VA_ARGS__)) @END@\n"
        "PCU_FUNCTIONS(ROW)\n"
    )
    expanded = cc.preprocess(COMPILERS[0], text, folder)
    found = re.findall(r"@ROW@(.*?)@END@", expanded, flags=re.S)
    return [[" ".join(part.split()) for part in row.split("@@")] for row in found]


CALLER = r"(REQUIRED|OPTIONAL)\((GIL|BEHIND|QUEUE|COPY|SYNC|NOGIL|IDLE)\)|CLIENT"


def signature_assertions(folder, change=lambda row: row):
    """Assert for each driver function that its type is that of its ABI version."""
    for name in TYPEDEF_HEADERS:
        if not (INCLUDE / name).is_file():
            pytest.skip(f"{INCLUDE} has cuda.h but no {name}")
    lines = []
    for row in function_rows(folder):
        name, version, caller, door, params = change(row)
        assert re.fullmatch(CALLER, caller), name
        if door == "NOT_BUILT" and params == "(void)":
            continue
        pointer = f"PFN_cu{re.sub('_v[0-9]$', '', name)}_v{version}"
        if known_to(TYPEDEF_HEADERS, pointer):
            lines.append(
                f"_Static_assert(__builtin_types_compatible_p({pointer},"
                f' CUresult (CUDAAPI *) {params}), "cu{name}");'
            )
    write_gl_stub(folder)
    return lines


def check_signatures(compiler, lines, folder):
    # With the macro, the typedef headers also declare older ABIs of a function.
    macros = "#define __CUDA_API_VERSION_INTERNAL 1\n"
    return against_cuda(compiler, lines, folder, TYPEDEF_HEADERS, macros)


def test_functions_have_cuda_h_s_signatures(compiler, tmp_path):
    lines = signature_assertions(tmp_path)
    assert len(lines) > 300
    cc.must(check_signatures(compiler, lines, tmp_path))


@pytest.mark.parametrize(
    "symbol, right, wrong",
    [
        ("MemAlloc", "size_t bytesize", "unsigned int bytesize"),
        ("LaunchKernel", "void ** extra", "void * extra"),
        ("GLMapBufferObject", "size_t * size", "unsigned int * size"),
        ("GreenCtxGetId", "unsigned long long *", "unsigned int *"),
        ("ProfilerStart", "(void)", "(int now)"),
    ],
)
def test_signature_check_can_fail(symbol, right, wrong, compiler, tmp_path):
    def change(row):
        if row[0] == symbol:
            assert right in row[4]
            return [*row[:4], row[4].replace(right, wrong)]
        return row

    lines = signature_assertions(tmp_path, change)
    refused(check_signatures(compiler, lines, tmp_path), f"cu{symbol}")


def test_symbol_of_no_header_is_noticed(tmp_path):
    if cuda_version() < COMPLETE_FOR:
        pytest.skip("an older header may lack any symbol")
    with pytest.raises(AssertionError, match="PFN_cuInit_v9999"):
        signature_assertions(
            tmp_path,
            lambda row: ["Init", "9999", *row[2:]] if row[0] == "Init" else row,
        )


def test_symbols_are_named_once(tmp_path):
    names = [row[0] for row in function_rows(tmp_path)]
    assert len(names) == len(set(names))


# -- values ----------------------------------------------------------------------------


def equal(name, value):
    return f'_Static_assert((long long)({name}) == ({value}), "{name}");'


VALUE_HEADERS = ("cuda.h", "cudaProfiler.h")


def value_assertions(folder):
    """One assertion for each row of the tables of constants, by the table's name."""
    pairs = {"results": [], "device_attrs": [], "func_attrs": [], "enums": []}
    for row in rows("results.h", "PCU_RESULTS", 4, folder):
        pairs["results"].append(row[:2])
    for row in rows("device_attributes.h", "PCU_DEVICE_ATTRS", 4, folder):
        pairs["device_attrs"].append((f"CU_DEVICE_ATTRIBUTE_{row[0]}", row[1]))
    for row in rows("function_attributes.h", "PCU_FUNC_ATTRS", 3, folder):
        pairs["func_attrs"].append((f"CU_FUNC_ATTRIBUTE_{row[0]}", row[1]))
    for group, member, value, _ in rows("enums.h", "PCU_ENUMS", 4, folder):
        if group == "direction_vector_set":
            continue
        if (group, member) in NO_COUNTERPART:
            assert ENUM_PREFIX[group] + member not in names_in(VALUE_HEADERS)
            continue
        pairs["enums"].append((ENUM_PREFIX[group] + member, value))
    return {
        table: [equal(*pair) for pair in found if known_to(VALUE_HEADERS, pair[0])]
        for table, found in pairs.items()
    }


FEWEST = {"results": 90, "device_attrs": 140, "func_attrs": 15, "enums": 120}


@pytest.mark.parametrize("table", sorted(FEWEST))
def test_values_are_cuda_h_s(table, compiler, tmp_path):
    lines = value_assertions(tmp_path)[table]
    if cuda_version() >= COMPLETE_FOR:
        assert len(lines) >= FEWEST[table]
    cc.must(against_cuda(compiler, lines, tmp_path, VALUE_HEADERS))


@pytest.mark.parametrize("table", sorted(FEWEST))
def test_value_check_can_fail(table, compiler, tmp_path):
    lines = value_assertions(tmp_path)[table]
    name = re.search(r'"(\w+)"', lines[-2]).group(1)
    lines[-2] = re.sub(r"== \((\w+)\)", r"== (\1 + 1)", lines[-2])
    refused(against_cuda(compiler, lines, tmp_path, VALUE_HEADERS), name)


def test_direction_vector_sets_are_curand_h_s(compiler, tmp_path):
    if not (INCLUDE / "curand.h").is_file():
        pytest.skip(f"{INCLUDE} has no curand.h")
    lines = [
        equal(CURAND_NAMES[member], value)
        for group, member, value, _ in rows("enums.h", "PCU_ENUMS", 4, tmp_path)
        if group == "direction_vector_set"
    ]
    assert len(lines) == len(CURAND_NAMES)
    cc.must(against_cuda(compiler, lines, tmp_path, ("curand.h",)))
    lines[0] = lines[0].replace("(101)", "(100)")
    refused(against_cuda(compiler, lines, tmp_path, ("curand.h",)), "VECTORS_32")


# -- completeness ----------------------------------------------------------------------

#: Names that only mark limits in the header, not attributes or results.
NOT_ROWS = {
    "CU_DEVICE_ATTRIBUTE_MAX",
    # The same number as VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, which programs use.
    "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED",
}


@pytest.mark.parametrize(
    "table, macro, columns, prefix, pattern",
    [
        ("results.h", "PCU_RESULTS", 4, "", r"\b(CUDA_(?:ERROR_\w+|SUCCESS))\s*="),
        (
            "device_attributes.h",
            "PCU_DEVICE_ATTRS",
            4,
            "CU_DEVICE_ATTRIBUTE_",
            r"\b(CU_DEVICE_ATTRIBUTE_\w+)\s*=",
        ),
        (
            "function_attributes.h",
            "PCU_FUNC_ATTRS",
            3,
            "CU_FUNC_ATTRIBUTE_",
            r"\b(CU_FUNC_ATTRIBUTE_\w+)\s*=",
        ),
    ],
)
def test_no_name_is_left_out(table, macro, columns, prefix, pattern, tmp_path):
    if cuda_version() > COMPLETE_FOR:
        pytest.skip(f"the tables are complete for CUDA {COMPLETE_FOR}, this is newer")
    ours = {prefix + row[0] for row in rows(table, macro, columns, tmp_path)}
    theirs = set(re.findall(pattern, without_comments(header_text("cuda.h"))))
    assert len(theirs) > 10
    assert theirs - ours - NOT_ROWS == set()
