"""hashcat finds numbers of four digits by their hashes, on the CUDA backend.

The program is that of Debian's package. HASHCAT names its folder, and the package of
NVRTC in this environment has the compiler for its kernels.
"""

import hashlib
import importlib.util
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(os.environ["HASHCAT"])
(NVIDIA,) = importlib.util.find_spec("nvidia").submodule_search_locations
(NVRTC,) = Path(NVIDIA).glob("cu13/lib/libnvrtc.so.13")

WORD = b"7391"
MODES = {"md5": 0, "sha1": 100, "sha256": 1400}


def attack(mode, digest):
    """Return the status of a run, and what it prints."""
    # Beside its data, the program takes them from there and not from /usr.
    program = FOLDER / "hashcat.bin"
    if not program.exists():
        program.hardlink_to(FOLDER.parents[1] / "bin" / "hashcat")
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "libnvrtc.so").symlink_to(NVRTC)
        own = FOLDER.parents[1] / "lib" / "x86_64-linux-gnu"
        paths = [os.environ["LD_LIBRARY_PATH"], place, str(NVRTC.parent), str(own)]
        done = subprocess.run(
            [program, "-m", str(mode), "-a", "3", digest, "?d?d?d?d"]
            + ["--backend-ignore-opencl", "--force", "--potfile-disable"],
            check=False,
            capture_output=True,
            text=True,
            cwd=place,
            env={**os.environ, "LD_LIBRARY_PATH": ":".join(paths), "HOME": place},
        )
    return done.returncode, done.stdout + done.stderr


class Attacks(unittest.TestCase):
    def check(self, name):
        digest = hashlib.new(name, WORD).hexdigest()
        code, said = attack(MODES[name], digest)
        self.assertEqual(code, 0, said)
        self.assertIn(f"{digest}:{WORD.decode()}", said)
        self.assertIn("PyCUDA software device", said)

    def test_md5(self):
        self.check("md5")

    def test_sha1(self):
        self.check("sha1")

    def test_sha256(self):
        self.check("sha256")

    def test_a_word_that_the_mask_lacks(self):
        code, said = attack(0, hashlib.md5(b"739").hexdigest())
        self.assertEqual(code, 1, said)
        self.assertIn("Exhausted", said)
