"""Fat binaries, object files and libraries, made byte by byte.

The compressed data are frames that say "these bytes follow as they are", so a test
needs no library that compresses. ``test/data/containers`` has files of nvcc.
"""

import struct

PTX, CODE, LTO = 1, 2, 8
LZ4, ZSTD = 0x2000, 0x8000
ARCHITECTURE, FAMILY = 0x100000, 0x200000


def zstd(data):
    """Return a frame of zstd with the data in it, for fewer than 128 KiB."""
    block = len(data) << 3 | 1  # the last block, not compressed
    head = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    return head + block.to_bytes(3, "little") + data


def lz4(data):
    """Return a block of LZ4 that has literals only, at least 15."""
    rest = len(data) - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


def entry(data, capability=75, kind=PTX, flags=0, full=None, header=80):
    """Return an entry of a fat binary. `full`: the size of compressed data before.

    The header is that of nvcc: 64 bytes, then the place and size of the options.
    """
    size = 0 if full is None else len(data)
    padded = data + bytes(-len(data) % 8)
    head = struct.pack("<HHIQ", kind, 0x101, header, len(padded))
    head += struct.pack("<IIHHI", size, 64, 0, 9, capability)
    head += struct.pack("<IIQQQ", 0, 0, flags | 0x11, 0, full or 0)
    head += struct.pack("<QQ", 72, 0)
    return head[:header] + padded


def compressed(data, method, **words):
    """Return an entry with compressed PTX."""
    flag = words.pop("flags", 0) | {zstd: ZSTD, lz4: LZ4}[method]
    return entry(method(data), flags=flag, full=len(data), **words)


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def object_file(sections, machine=62):
    """Return an ELF file of these sections, a list of pairs of name and data."""
    names = b"\0"
    rows = [bytes(64)]
    content = b""
    for name, data in [*sections, (".shstrtab", None)]:
        where = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        place = 64 + len(content)
        content += data + bytes(-len(data) % 8)
        row = struct.pack("<IIQQQQIIQQ", where, 1, 0, 0, place, len(data), 0, 0, 8, 0)
        rows.append(row)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQ", 1, machine, 1, 0, 0, 0)
    table = 64 + len(content)
    head = head[:40] + struct.pack("<QIHHHHHH", table, 0, 64, 0, 0, 64, len(rows), 0)
    head = head[:62] + struct.pack("<H", len(rows) - 1)
    return head + content + b"".join(rows)


def library(*members):
    """Return an archive of files."""
    out = b"!<arch>\n"
    for number, data in enumerate(members):
        head = f"{number}.o/".ljust(16) + "0".ljust(12) + "0".ljust(6) * 2
        head += "644".ljust(8) + str(len(data)).ljust(10) + "`\n"
        out += head.encode() + data + b"\n" * (len(data) % 2)
    return out
