"""The stand-in for NCCL on the software device: ``nccl_stand_in.c``."""

from support.cc import compile_c, must
from support.emulator import LIBRARY, ROOT

SOURCE = ROOT / "test" / "support" / "nccl_stand_in.c"
FLAGS = ["-shared", "-fPIC", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-ldl"]


def build(compiler, folder):
    """Compile the stand-in. Return its path, and the variables that select it."""
    library = folder / "libnccl_stand_in.so"
    must(compile_c(compiler, [SOURCE], library, FLAGS))
    return library, {
        "PYCUDA_NCCL": str(library),
        "NCCL_STAND_IN_FOLDER": str(folder),
        "NCCL_STAND_IN_DRIVER": str(LIBRARY),
    }


def alive(environment):
    """Return how many communicators the stand-in has; 0 with NCCL itself."""
    return 0 if environment is None else environment.nccl_stand_in_alive()
