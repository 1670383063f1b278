"""Calls of dask, xarray, einops and opt_einsum with GPUArrays: see array_api_calls.py.

Each call takes an array of either kind and returns arrays of that kind.
"""

import numpy as np

from support.scipy_calls import words

GRID = np.arange(1.0, 65).reshape(8, 8)


def dask_calls():
    """Yield (name, function, arguments)."""
    import dask.array as da

    def chunks(a):
        return da.from_array(a, chunks=(4, 4))

    for name in words("sum mean std var min max prod any all argmax argmin"):
        function = getattr(da, name)
        yield name, lambda a, f=function: f(chunks(a)).compute(), (GRID,)
        yield (
            name + "(0)",
            lambda a, f=function: f(chunks(a), axis=0).compute(),
            (GRID,),
        )
    for name in words("cumsum cumprod median nanmean nanstd gradient diff flip"):
        function = getattr(da, name)
        yield name, lambda a, f=function: f(chunks(a), axis=0).compute(), (GRID,)
    for name, call in {
        "matmul": lambda d: d @ d,
        "tensordot": lambda d: da.tensordot(d, d, 1),
        "einsum": lambda d: da.einsum("ij,jk", d, d),
        "slices": lambda d: d[1:5, ::2],
        "indices": lambda d: d[[1, 5, 3]],
        "points": lambda d: d.vindex[[0, 1], [2, 3]],
        "mask": lambda d: d[d > 5],
        "where": lambda d: da.where(d > 3, d, 0),
        "concatenate": lambda d: da.concatenate([d, d]),
        "rechunk": lambda d: d.rechunk((8, 2)).sum(axis=0),
        "map_blocks": lambda d: d.map_blocks(lambda block: block + 1),
        "ones_like": lambda d: da.ones_like(d) + d,
        "cov": da.cov,
        "pad": lambda d: da.pad(d, 1),
        "norm": da.linalg.norm,
        "fft": lambda d: da.fft.fft(d.rechunk((8, 4)), axis=0),
        "bincount": lambda d: da.bincount(d.astype(int).ravel(), minlength=70),
        "searchsorted": lambda d: da.searchsorted(d.ravel(), d.ravel()),
        "percentile of integers": lambda d: da.percentile(d.astype(int).ravel(), 30),
        "percentile(0)": lambda d: da.percentile(d, [30, 60], axis=0),
        "quantile(0)": lambda d: da.quantile(d, [0.3, 0.6], axis=0),
        "nanquantile(0)": lambda d: da.nanquantile(d, 0.3, axis=0),
        "isin": lambda d: da.isin(d, [3.0, 70.0, 5.0]),
        "tril": da.tril,
        "triu(1)": lambda d: da.triu(d, 1),
        "diff of lists": lambda d: da.diff(d[0], prepend=[3], append=[1, 2]),
        "i0": lambda d: np.i0(d.ravel() / 10),
    }.items():
        yield name, lambda a, call=call: call(chunks(a)).compute(), (GRID,)
    for method in words("linear lower higher nearest midpoint"):
        yield (
            f"percentile, {method}",
            lambda a, method=method: da.percentile(
                chunks(a).ravel(), [10, 50, 90], method=method
            ).compute(),
            (GRID,),
        )
    for mode in ("reflect", "nearest", "periodic", "none", 0.0):
        yield (
            f"map_overlap, {mode}",
            lambda a, mode=mode: (
                chunks(a)
                .map_overlap(lambda b: b + np.roll(b, 1), depth=1, boundary=mode)
                .compute()
            ),
            (GRID,),
        )
    yield "an array + chunks", lambda a: (a + chunks(a)).compute(), (GRID,)
    yield "chunks + an array", lambda a: (chunks(a) + a).compute(), (GRID,)


def _assigned(d):
    d[:2] = 0.0
    return d


def xarray_calls():
    """Yield (name, function, arguments)."""
    import xarray as xr

    places = {"a": np.arange(8.0), "b": np.arange(8)}
    points = xr.DataArray([[5, 1], [0, 7]], dims=("c", "d"))

    for name, call in {
        "arithmetic": lambda d: np.sin(d) + d * 2 - d.mean("a"),
        "std": lambda d: d.std("a"),
        "median": lambda d: d.median("a"),
        "quantile": lambda d: d.quantile(0.3, "a"),
        "groupby": lambda d: d.groupby(d.b % 2).mean(),
        "groupby_bins": lambda d: d.groupby_bins("a", [0, 4, 8]).sum(),
        "coarsen": lambda d: d.coarsen(a=2).mean(),
        "where": lambda d: d.where(d > 5),
        "where, other": lambda d: d.where(d > 5, 0),
        "xr.where": lambda d: xr.where(d > 5, d, 0),
        "fillna": lambda d: d.where(d > 5).fillna(1.5),
        "isnull": lambda d: d.where(d > 5).isnull(),
        "dropna": lambda d: d.where(d > 9).dropna("a"),
        "rolling mean": lambda d: d.rolling(a=3).mean(),
        "rolling max": lambda d: d.rolling(a=3, center=True, min_periods=1).max(),
        "rolling count": lambda d: d.rolling(a=3).count(),
        "rolling windows": lambda d: d.rolling(a=3).construct("w"),
        "cumulative": lambda d: d.cumulative("a").sum(),
        "cumprod": lambda d: (d / 50).cumprod("a", skipna=False),
        "cumulative_integrate": lambda d: d.cumulative_integrate("a"),
        "differentiate": lambda d: d.differentiate("a"),
        "integrate": lambda d: d.integrate("a"),
        "shift": lambda d: d.shift(a=1),
        "roll": lambda d: d.roll(a=1),
        "pad": lambda d: d.pad(a=1, mode="edge"),
        "dot": lambda d: xr.dot(d, d, dim="a"),
        "corr": lambda d: xr.corr(d, d * d, "a"),
        "weighted": lambda d: d.weighted(d).mean("b"),
        "reindex": lambda d: d.reindex(a=np.arange(10.0)),
        "combine_first": lambda d: d.where(d > 4).combine_first(d),
        "idxmax": lambda d: d.idxmax("a"),
        "sel": lambda d: d.sel(a=slice(1, 4)),
        "nearest": lambda d: d.sel(a=1.2, method="nearest"),
        "places": lambda d: d.isel(a=[5, 1], b=np.array([2, 7, 0])),
        "places along a new axis": lambda d: d.isel(
            a=xr.DataArray([5, 1, 5], dims="c")
        ),
        "labels": lambda d: d.sel(a=[3.0, 1.0], b=[2, 2, 7]),
        "nearest labels": lambda d: d.sel(a=[3.2, 0.9], method="nearest"),
        "mask of an axis": lambda d: d.isel(a=places["a"] > 4),
        "points of chunks": lambda d: d.chunk().isel(a=points, b=-1 - points).compute(),
        "labels of points": lambda d: d.chunk().sel(a=points, b=points).compute(),
        "isin": lambda d: d.isin([3.0, 70.0, 5.0]),
        "concat": lambda d: xr.concat([d, d], "n"),
        "stack": lambda d: d.stack(z=("a", "b")).unstack(),
        "apply_ufunc": lambda d: xr.apply_ufunc(
            lambda z: z.mean(-1), d, input_core_dims=[["a"]]
        ),
        "dataset": lambda d: xr.Dataset({"u": d}).mean("a").u,
        "assignment": lambda d: _assigned(d.copy()),
    }.items():
        yield (
            name,
            lambda a, call=call: call(xr.DataArray(a, places, ("a", "b"))).data,
            (GRID,),
        )


def einsum_calls():
    """Yield (name, function, arguments): of einops and of opt_einsum."""
    import einops
    import opt_einsum

    cube = np.arange(24.0).reshape(2, 3, 4)
    for operation in words("sum mean max min prod any all"):
        yield (
            f"reduce, {operation}",
            lambda a, operation=operation: einops.reduce(a, "a b c -> b", operation),
            (cube,),
        )
    for name, call in {
        "rearrange": lambda a: einops.rearrange(a, "a b c -> c (b a)"),
        "transposed": lambda a: einops.rearrange(a.T, "c b a -> (c b) a"),
        "list": lambda a: einops.rearrange([a, a], "n a b c -> a b c n"),
        "repeat": lambda a: einops.repeat(a, "a b c -> a (b r) c", r=2),
        "einsum": lambda a: einops.einsum(a, a, "a b c, a d c -> b d"),
        "pack": lambda a: einops.pack([a, a], "* b c")[0],
        "unpack": lambda a: einops.unpack(a, [[1], [1]], "* b c"),
        "contract": lambda a: opt_einsum.contract("abc,adc,ebf->def", a, a, a),
    }.items():
        yield name, call, (cube,)
