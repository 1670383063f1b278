"""The environments of clients: one folder each, made from pinned requirements.

An environment is made once and kept in the user's cache, or in the folder that
PYCUDA_CLIENTS_DIR names. Its name has a hash of the requirements, so new requirements
make a new one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"

#: What pip prints when it reaches no package index.
_NO_NETWORK = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError")


class Unavailable(Exception):
    """An environment cannot be made here, for a reason that is no error."""


def folder():
    """Return the folder of all environments."""
    chosen = os.environ.get("PYCUDA_CLIENTS_DIR")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "pycuda-clients"


def _pip(*arguments):
    """Run pip; raise Unavailable if it reaches no index, and RuntimeError otherwise."""
    command = [sys.executable, "-m", "pip", *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return
    said = done.stdout + done.stderr
    if any(sign in said for sign in _NO_NETWORK):
        raise Unavailable("there is no network: pip reaches no package index")
    raise RuntimeError(f"{' '.join(command)} failed:\n{said[-3000:]}")


def _check_python(client):
    if sys.version_info < (3, 11) or sys.version_info >= (3, 14):
        raise Unavailable(
            f"the requirements of {client.name} are for Python 3.11 to 3.13, and this "
            f"is {sys.version_info[0]}.{sys.version_info[1]}"
        )
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise Unavailable(f"the requirements of {client.name} are for Linux, x86-64")


def _fetch_source(client, target):
    """Unpack the source archive of a client, which has its tests."""
    place = target / "source"
    _pip(
        *("download", "-q", "--disable-pip-version-check", "--no-deps"),
        *("--no-binary", ":all:", "--no-build-isolation", "--retries", "1"),
        *("-d", place, client.source),
    )
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")


def _fetch_debian(client, target):
    """Unpack packages of Debian, without installing them."""
    place = target / "debian"
    place.mkdir()
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise Unavailable(f"{client.name} comes as a package of Debian")
    done = subprocess.run(
        ["apt-get", "download", "-q", *client.debian],
        check=False,
        capture_output=True,
        text=True,
        cwd=place,
    )
    if done.returncode != 0:
        raise Unavailable(f"apt-get does not find {client.name}: {done.stderr[-300:]}")
    for package in sorted(place.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, place], check=True)


def _make(client, target):
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(target)], check=True
    )
    _pip(
        *("--python", target / "bin" / "python", "install", "-q", "--no-deps"),
        *("--disable-pip-version-check", "--no-compile", "--retries", "1"),
        *("--only-binary", ":all:", "-r", requirements(client)),
    )
    if client.source:
        _fetch_source(client, target)
    if client.debian:
        _fetch_debian(client, target)


def requirements(client):
    """Return the file with the requirements of a client."""
    return REQUIREMENTS / f"{client.name}.txt"


def environment(client):
    """Return the folder of a client's environment, which is made if it is missing.

    Raise Unavailable, with the reason, where it cannot be made.
    """
    _check_python(client)
    what = sys.version + sys.base_prefix + client.source + "".join(client.debian)
    what += requirements(client).read_text(encoding="utf-8")
    key = hashlib.sha256(what.encode()).hexdigest()[:12]
    target = folder() / f"{client.name}-{key}"
    done = target / "complete"
    if done.exists():
        return target
    folder().mkdir(parents=True, exist_ok=True)
    with open(folder() / f"{client.name}-{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _make(client, target)
            done.touch()
    return target
