"""A cuSOLVER for tests on the software device, whose addresses the processor can read.

SciPy's LAPACK computes. The arguments are those of cuSOLVER's functions.
"""

import ctypes

import numpy as np
from scipy.linalg import lapack, solve_triangular

import pycuda.driver as drv
from pycuda import _driver, _libraries
from pycuda._array.linalg import cusolver

DTYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
OPTIMAL = 7  # the elements of every work space: an odd number


def address(pointer):
    """Return the address that a pointer of ctypes holds."""
    return getattr(pointer, "value", pointer) or 0


def matrix(pointer, rows, columns, leading, dtype):
    """Return the matrix at an address, stored by column, as a NumPy array."""
    if leading < max(rows, 1):
        raise AssertionError(f"leading dimension {leading} of {rows} rows")
    size = leading * columns * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * size).from_address(address(pointer))
    whole = np.frombuffer(memory, dtype).reshape(columns, leading)
    return whole.T[:rows]


def vector(pointer, length, dtype):
    """Return the vector at an address as a NumPy array."""
    return matrix(pointer, length, 1, length, dtype)[:, 0]


def install(setattr=setattr):
    """Let the package open a library of the tests as cuSOLVER and cuBLAS. Return it.

    ``setattr`` may be that of pytest's monkeypatch, which undoes the changes.
    """
    found = Cusolver()
    for library in (_libraries.CUBLAS, _libraries.CUSOLVER):
        setattr(library, "open", lambda: found)
    setattr(cusolver, "_driver", Hardware)
    return found


class Hardware:
    """The functions of the driver that the handles use, as on a machine with a GPU."""

    _note_library_call = _driver._note_library_call
    _refuse_recording = _driver._refuse_recording

    @staticmethod
    def _is_emulated():
        return False


class Cusolver:
    """The library: handles that are alive, and calls by name."""

    def __init__(self):
        self.alive = 0
        self.failing = {}  # the status that a function returns
        self.calls = []

    def cusolverDnCreate(self, handle):
        if "Create" in self.failing:
            return self.failing["Create"]
        handle._obj.value = 77
        self.alive += 1
        return 0

    def cusolverDnDestroy(self, handle):
        assert handle.value == 77
        self.alive -= 1
        return 0

    def cusolverDnSetStream(self, handle, stream):
        return 0

    def cusolverDnCreateParams(self, parameters):
        parameters._obj.value = 99
        self.alive += 1
        return 0

    def cusolverDnDestroyParams(self, parameters):
        assert parameters.value == 99
        self.alive -= 1
        return 0

    cublasCreate_v2 = cusolverDnCreate
    cublasDestroy_v2 = cusolverDnDestroy
    cublasSetStream_v2 = cusolverDnSetStream

    def cusolverDnCreateGesvdjInfo(self, parameters):
        parameters._obj.value = 88
        self.alive += 1
        return 0

    def cusolverDnDestroyGesvdjInfo(self, parameters):
        assert parameters.value == 88
        self.alive -= 1
        return 0

    def _each(self, letter, pointers, count):
        """Return the addresses of the matrices of a batch."""
        drv.Context.synchronize()
        return vector(pointers, count, np.uint64).tolist()

    def _batched_getrf(self, letter, n, a, lda, pivots, made, count):
        infos = vector(made, count, np.int32)
        swaps = vector(pivots, count * n, np.int32).reshape(count, n)
        for i, each in enumerate(self._each(letter, a, count)):
            place = swaps[i].ctypes.data
            infos[i] = self._getrf(DTYPES[letter], letter, n, n, each, lda, 0, place)

    def _batched_getrs(
        self, letter, trans, n, nrhs, a, lda, pivots, b, ldb, wrong, count
    ):
        matrices, rights = self._each(letter, a, count), self._each(letter, b, count)
        swaps = vector(pivots, count * n, np.int32).reshape(count, n)
        for i, (each, right) in enumerate(zip(matrices, rights, strict=True)):
            place = swaps[i].ctypes.data
            sizes = (trans, n, nrhs, each, lda, place, right, ldb)
            self._getrs(DTYPES[letter], letter, *sizes)
        wrong._obj.value = 0

    def _batched_potrf(self, letter, uplo, n, a, lda, made, count):
        infos = vector(made, count, np.int32)
        for i, each in enumerate(self._each(letter, a, count)):
            sizes = (uplo, n, each, lda, 0, OPTIMAL)
            infos[i] = self._potrf(DTYPES[letter], letter, *sizes)
        return 0

    def _batched(self, name):
        letter, routine = name[6], name[7:].removesuffix("Batched")

        def call(handle, *arguments):
            assert handle.value == 77
            if f"{routine}Batched" in self.failing:
                return self.failing[f"{routine}Batched"]
            self.calls.append(f"{routine}Batched")
            getattr(self, f"_batched_{routine}")(letter, *arguments)
            return 0

        return call

    def _triangle(self, letter):
        """Return ``trsm``: solve for a triangle in place of the right sides."""
        dtype = DTYPES[letter]

        def call(handle, side, fill, trans, unit, m, n, alpha, a, lda, b, ldb):
            assert (handle.value, side, trans) == (77, 0, 0)
            if "trsm" in self.failing:
                return self.failing["trsm"]
            drv.Context.synchronize()
            self.calls.append("trsm")
            right = matrix(b, m, n, ldb, dtype)
            right[...] = solve_triangular(
                np.array(matrix(a, m, m, lda, dtype)),
                np.array(right) * vector(alpha, 1, dtype)[0],
                lower=fill == 0,
                unit_diagonal=bool(unit),
            )
            return 0

        return call

    def _exchange(self, letter):
        """Return ``laswp``, which has no status."""
        dtype = DTYPES[letter]

        def call(handle, n, a, lda, first, last, pivots, step):
            assert (handle.value, first, step) == (77, 1, 1)
            drv.Context.synchronize()
            given = matrix(a, last, n, lda, dtype)
            for i, pivot in enumerate(vector(pivots, last, np.int32) - 1):
                given[[i, pivot]] = given[[pivot, i]]
            return 0

        return call

    def __getattr__(self, name):
        if name.startswith("cublas") and name.endswith("trsm_v2"):
            return self._triangle(name[6])
        if name.startswith("cublas"):
            return self._batched(name)
        if name.endswith("laswp"):
            return self._exchange(name[10])
        if not name.startswith("cusolverDn"):
            raise AttributeError(name)
        letter, routine = name[10], name[11:]

        def call(handle, *arguments):
            assert handle.value == 77
            if routine in self.failing:
                return self.failing[routine]
            if routine.startswith("gesvdj"):  # the parameters are the last argument
                assert arguments[-1].value == 88
                arguments = arguments[:-1]
            if routine.endswith("_bufferSize"):
                arguments[-1]._obj.value = OPTIMAL
                if letter == "X":  # of the device before that of the host
                    arguments[-2]._obj.value = OPTIMAL
                return 0
            drv.Context.synchronize()
            self.calls.append(routine)
            if routine == "potrfBatched":
                return self._batched_potrf(letter, *arguments)
            *arguments, info = arguments
            dtype = DTYPES.get(letter)
            done = getattr(self, f"_{routine}")(dtype, letter, *arguments)
            vector(info, 1, np.int32)[0] = done
            return 0

        return call

    def _routine(self, letter, name):
        return getattr(lapack, letter.lower() + name)

    def _getrf(self, dtype, letter, m, n, a, lda, work, pivots):
        given = matrix(a, m, n, lda, dtype)
        factors, swaps, info = self._routine(letter, "getrf")(given)
        given[...] = factors
        vector(pivots, min(m, n), np.int32)[...] = swaps + 1
        return info

    def _getrs(self, dtype, letter, trans, n, nrhs, a, lda, pivots, b, ldb):
        right = matrix(b, n, nrhs, ldb, dtype)
        swaps = vector(pivots, n, np.int32) - 1
        x, info = self._routine(letter, "getrs")(
            matrix(a, n, n, lda, dtype), swaps, right, trans=trans
        )
        right[...] = x
        return info

    def _potrf(self, dtype, letter, uplo, n, a, lda, work, length):
        assert length == OPTIMAL
        given = matrix(a, n, n, lda, dtype)
        factor, info = self._routine(letter, "potrf")(
            given, lower=uplo == 0, clean=False
        )
        given[...] = factor
        return info

    def _geqrf(self, dtype, letter, m, n, a, lda, tau, work, length):
        given = matrix(a, m, n, lda, dtype)
        factors, scales, _, info = self._routine(letter, "geqrf")(given)
        given[...] = factors
        vector(tau, min(m, n), dtype)[...] = scales
        return info

    def _orgqr(self, dtype, letter, m, n, k, a, lda, tau, work, length):
        assert m >= n >= k
        given = matrix(a, m, n, lda, dtype)
        name = "ungqr" if letter in "CZ" else "orgqr"
        q, _, info = self._routine(letter, name)(
            np.array(given, order="F"), vector(tau, k, dtype)
        )
        given[...] = q
        return info

    _ungqr = _orgqr

    def _gesvd(self, dtype, letter, left, right, m, n, a, lda, s, u, ldu, vt, ldvt, *_):
        assert m >= n, "cuSOLVER's gesvd takes no wide matrices"
        job = chr(left.value)
        assert right.value == left.value
        given = np.array(matrix(a, m, n, lda, dtype))
        if job == "N":
            values = np.linalg.svd(given, compute_uv=False)
        else:
            u_found, values, v_found = np.linalg.svd(given, full_matrices=job == "A")
            columns = m if job == "A" else n
            matrix(u, m, columns, ldu, dtype)[...] = u_found
            matrix(vt, n, n, ldvt, dtype)[...] = v_found
        vector(s, n, values.dtype)[...] = values
        return 0

    def _gesvdj(
        self, dtype, letter, job, economic, m, n, a, lda, s, u, ldu, v, ldv, *_
    ):
        assert job == 0 and m >= n
        for side, rows, leading in ((u, m, ldu), (v, n, ldv)):  # used, though not asked
            matrix(side, rows, n, leading, dtype)[...] = np.nan
        values = np.linalg.svd(np.array(matrix(a, m, n, lda, dtype)), compute_uv=False)
        vector(s, n, values.dtype)[...] = values
        return 0

    def _gebrd(self, dtype, letter, m, n, a, lda, d, e, left, right, work, length):
        assert m >= n, "cuSOLVER's gebrd takes no wide matrices"
        assert length == OPTIMAL
        given = matrix(a, m, n, lda, dtype)
        upper = np.linalg.qr(np.array(given), "r")
        for k in range(n - 1):  # reflect the columns behind column k, then the rows
            row = upper[k, k + 1 :].conj()[:, None]
            upper[:, k + 1 :] = upper[:, k + 1 :] @ np.linalg.qr(row, "complete")[0]
            upper[k + 1 :, k + 1 :] = np.linalg.qr(upper[k + 1 :, k + 1 :], "r")
        real = np.abs(upper).dtype
        vector(d, n, real)[...] = np.abs(np.diag(upper))
        vector(e, n, real)[: n - 1] = np.abs(np.diag(upper, 1))
        given[...] = 0
        return 0

    def _sytrd(self, dtype, letter, uplo, n, a, lda, d, e, tau, work, length):
        assert length == OPTIMAL
        given = matrix(a, n, n, lda, dtype)
        name = "hetrd" if letter in "CZ" else "sytrd"
        _, main, beside, scales, info = self._routine(letter, name)(
            np.array(given), lower=uplo == 0
        )
        vector(d, n, main.dtype)[...] = main
        vector(e, n, main.dtype)[: n - 1] = beside
        vector(tau, n, dtype)[: n - 1] = scales
        given[...] = 0
        return info

    _hetrd = _sytrd

    def _syevd(self, dtype, letter, job, uplo, n, a, lda, w, work, length):
        given = matrix(a, n, n, lda, dtype)
        values, vectors = np.linalg.eigh(np.array(given), "LU"[uplo])
        vector(w, n, values.dtype)[...] = values
        given[...] = vectors if job else 0
        return 0

    _heevd = _syevd

    def _geev(self, dtype, letter, parameters, left, right, n, kind, a, lda, *rest):
        kind_w, w, _, vl, ldvl, kind_v, v, ldv, computed, space, size, host, length = (
            rest
        )
        assert {kind, kind_w, kind_v, computed} == {kind} and kind in (4, 5)
        assert (left, vl, size.value, length.value) == (0, None, OPTIMAL, OPTIMAL)
        dtype = {4: np.complex64, 5: np.complex128}[kind]
        n = n.value
        values, vectors = np.linalg.eig(np.array(matrix(a, n, n, lda.value, dtype)))
        vector(w, n, dtype)[...] = values
        if right:
            matrix(v, n, n, ldv.value, dtype)[...] = vectors
        return 0
