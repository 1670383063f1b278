"""All cases by family: a name and a function that runs the case on a device."""

from functools import partial

from . import forms, moves, run, wgmma

#: How many warps run a form. Sums of floating-point numbers need more inputs.
WARPS_OF_FLOATS, WARPS = 64, 16
GROUPS_OF_FLOATS, GROUPS = 32, 8
GROUPS_OF_LAYOUTS = 2


def _is_rounded(form):
    return form.types[1] in ("f16", "bf16", "tf32", "e4m3", "e5m2")


def _multiplications(found, seed):
    for form in found:
        warps = WARPS_OF_FLOATS if _is_rounded(form) else WARPS
        yield form.name, partial(run.multiplication, form, warps, seed)


def _groups(found, seed, groups):
    def answer(form):
        count = groups
        if groups is None:
            count = GROUPS_OF_FLOATS if _is_rounded(form) else GROUPS
        return run.group_multiplication(form, wgmma.operands(form, count, seed))

    for form in found:
        yield form.name, partial(answer, form)


def _probes():
    for form in wgmma.odd_forms():
        arrays = partial(wgmma.probe, form)
        yield (
            f"probe {form.name}",
            lambda form=form, arrays=arrays: run.group_multiplication(form, arrays()),
        )


def _moves():
    for move in moves.moves():
        yield move.name, partial(run.movement, move)
    yield "movmatrix", run.transposition


def families(seed=""):
    """Return the cases of each family. A seed changes the numbers of the matrices."""
    mma = forms.multiplications()
    rounded = [f for f in mma if _is_rounded(f)]
    exact = [f for f in mma if not _is_rounded(f)]
    return {
        "mma of floats": dict(
            _multiplications([f for f in rounded if not f.sparse], seed)
        ),
        "mma of other types": dict(
            _multiplications([f for f in exact if not f.sparse], seed)
        ),
        "mma.sp": dict(_multiplications([f for f in mma if f.sparse], seed)),
        "wmma.mma": dict(_multiplications(forms.wmma_multiplications(), seed)),
        "moves": dict(_moves()),
        "wgmma": dict(_groups(wgmma.numeric_forms(), seed, None)),
        "wgmma.sp": dict(_groups(wgmma.sparse_forms(), seed, GROUPS)),
        "wgmma layouts": dict(_groups(wgmma.layout_forms(), seed, GROUPS_OF_LAYOUTS)),
        "wgmma descriptors": dict(_probes()),
    }
