"""The C of device/sync_check: unit tests under sanitizers, with and without memory."""

import re

import pytest

from support import cc

pytestmark = pytest.mark.skipif(
    not cc.compilers(), reason="neither gcc nor clang is installed"
)

SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
WRAP = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free"
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1", "PATH": "/usr/bin:/bin"}
DEVICE = cc.SOURCE / "device"

#: The program of a test, and the units that it tests or needs.
UNITS = {
    "uses": ("sync_check/use_table.c", "sync_check/use_log.c", "sync_check/uses.c"),
    "stream_check": (
        *("sync_check/use_table.c", "sync_check/use_log.c", "sync_check/uses.c"),
        *("sync_check/host_guard.c", "sync_check/lane_clock.c"),
        *("sync_check/stream_check.c", "sync_check/stream_finding.c"),
        "sync_check/node_check.c",
        *("base/site.c", "base/checks.c"),
    ),
}

#: Programs of test_stream_check.c by their numbers there: a chain of events, waits of
#: the host, a stream that ends; the first wrong one.
RIGHT, WRONG = (2, 4, 5), 6


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The test programs by the names of their units."""
    folder = tmp_path_factory.mktemp("check")
    for unit, names in UNITS.items():
        sources = [cc.ROOT / "test" / "c" / f"test_{unit}.c"]
        sources += [DEVICE / name for name in names]
        flags = [*cc.STRICT, *SANITIZE, "-pthread", WRAP]
        cc.must(cc.compile_c(cc.compilers()[0], sources, folder / unit, flags))
    return folder


def checks(done):
    """Return how many checks a program that succeeded has made."""
    return int(re.fullmatch(r"(\d+) checks, 0 failed\n", cc.must(done).stdout)[1])


@pytest.mark.parametrize("unit, fewest", [("uses", 600), ("stream_check", 50)])
def test_unit(programs, unit, fewest):
    assert checks(cc.run([programs / unit], env=ENVIRONMENT)) > fewest


def run(programs, number, allocation):
    """Run one program of test_stream_check.c without this allocation."""
    command = [programs / "stream_check", str(number), str(allocation)]
    return cc.run(command, env=ENVIRONMENT)


@pytest.mark.parametrize("number", RIGHT)
def test_a_check_without_memory_makes_nothing_up(programs, number):
    done = run(programs, number, 0)
    assert checks(done) == 5
    count = int(done.stderr)
    assert count > 40
    for allocation in range(1, count + 1):
        assert checks(run(programs, number, allocation)) == 5, allocation


def test_the_sweep_finds_what_is_made_up(programs):
    done = run(programs, WRONG, 0)
    assert done.returncode == 1
    assert done.stdout == "5 checks, 2 failed\n"
