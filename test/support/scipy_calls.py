"""Calls of SciPy's functions with arrays, each a name, a function and its arguments.

They are the functions that need only the array API standard and its extensions.
``is_for`` says of which versions of SciPy this is true.
"""

import numpy as np

from support.samples import COLUMN, OTHER, POSITIVE, SHARE, SIGNAL, X, Y

# Functions that are not named here need only the standard since SciPy 1.15. Before
# they do, they use NumPy's arrays, or special functions that they find for some
# libraries only.
SINCE_1_16 = {
    "integrate.": "tanhsinh",
    "optimize.": "elementwise.find_minimum",
    "signal.": "envelope fftconvolve gauss_spline hilbert oaconvolve",
    "special.": "betainc entr erf erfc expit gammainc gammaincc gammaln i0 i0e i1 i1e "
    "log_ndtr log_softmax logit ndtr ndtri softmax stdtrit",
    "stats.": "brunnermunzel entropy gstd kurtosistest normaltest quantile rankdata "
    "skewtest ttest_ind",
}
SINCE_1_17 = {
    "special.": "polygamma zeta",
    "integrate.": "cumulative_simpson cumulative_trapezoid romb",
    "": "linalg.block_diag linalg.orthogonal_procrustes",
    "signal.": "savgol_coeffs",
    "spatial.transform.Rotation.": "apply as_euler as_matrix as_mrp as_quat as_rotvec "
    "from_euler from_mrp from_rotvec inv magnitude mean pow",
    "stats.": "alexandergovern bootstrap chatterjeexi epps_singleton_2samp "
    "false_discovery_control fligner friedmanchisquare iqr kruskal levene "
    "mannwhitneyu median_abs_deviation mode mood sigmaclip trim_mean "
    "yeojohnson_llf",
}
# This function calls NumPy's functions until 1.17, which take GPUArrays too. Since 1.18
# it computes a probability in host memory.
UNTIL_1_17 = {"stats.": "ks_2samp"}

QUATERNIONS = X[:, :4].copy()
VECTORS = X[:, :3].copy()
SQUARES = POSITIVE[:, 0].copy()


def words(text):
    """Return the words of a text."""
    return text.split()


def namespace(array):
    """Return the module of the standard for an array."""
    return array.__array_namespace__()


def _statistics():
    from scipy import stats

    for name in words(
        "circmean circstd circvar describe differential_entropy entropy gmean gstd "
        "gzscore hmean iqr kstat kstatvar kurtosis median_abs_deviation mode moment "
        "rankdata sem skew tmax tmean tmin tsem tstd tvar variation zscore"
    ):
        yield name, getattr(stats, name), (POSITIVE,)
    for name in words(
        "alexandergovern bartlett brunnermunzel chatterjeexi epps_singleton_2samp "
        "f_oneway fligner kruskal ks_2samp levene mannwhitneyu mood pearsonr ttest_ind "
        "ttest_rel zmap"
    ):
        yield name, getattr(stats, name, None), (COLUMN, OTHER)
    for name in words("jarque_bera kurtosistest normaltest skewtest"):
        yield name, getattr(stats, name), (COLUMN,)
    yield "ttest_1samp", lambda a: stats.ttest_1samp(a, 0.1), (X,)
    yield "chisquare", stats.chisquare, (SQUARES,)
    yield "power_divergence", stats.power_divergence, (SQUARES,)
    yield "combine_pvalues", stats.combine_pvalues, (SHARE,)
    yield "false_discovery_control", stats.false_discovery_control, (SHARE,)
    yield "quantile", lambda a: stats.quantile(a, 0.3), (COLUMN,)
    yield "boxcox_llf", lambda a: stats.boxcox_llf(0.5, a), (POSITIVE,)
    yield "yeojohnson_llf", lambda a: stats.yeojohnson_llf(0.5, a), (POSITIVE,)
    yield (
        "directional_stats",
        lambda a: stats.directional_stats(a).mean_direction,
        (X,),
    )
    yield "pmean", lambda a: stats.pmean(a, 2.0), (POSITIVE,)
    yield "sigmaclip", lambda a: stats.sigmaclip(a).clipped, (COLUMN,)
    yield "trim_mean", lambda a: stats.trim_mean(a, 0.1), (X,)
    yield (
        "friedmanchisquare",
        stats.friedmanchisquare,
        (COLUMN, OTHER, COLUMN * OTHER),
    )
    yield from _resampling()


def _mean(array, axis):
    return namespace(array).mean(array, axis=axis)


def _normal(array):
    """Return a function that draws samples, as arrays of the kind of one."""

    def draw(size):
        return namespace(array).asarray(np.random.default_rng(1).normal(size=size))

    return draw


def _resampling():
    from scipy import stats

    yield (
        "bootstrap",
        lambda a: (
            stats.bootstrap(
                (a,), _mean, n_resamples=50, rng=np.random.default_rng(1)
            ).confidence_interval
        ),
        (COLUMN,),
    )
    yield (
        "monte_carlo_test",
        lambda a: stats.monte_carlo_test(a, _normal(a), _mean, n_resamples=50),
        (COLUMN,),
    )
    yield (
        "permutation_test",
        lambda a, b: stats.permutation_test(
            (a, b),
            lambda t, u, axis: _mean(t, axis) - _mean(u, axis),
            n_resamples=50,
            vectorized=True,
            rng=np.random.default_rng(1),
        ),
        (COLUMN, OTHER),
    )


def _special():
    from scipy import special

    counts = {
        1: "digamma entr erf erfc erfcx erfinv expit gamma gammaln i0 i0e i1 i1e "
        "log_ndtr log_softmax logit logsumexp ndtr ndtri psi sinc softmax",
        2: "betaln chdtr chdtrc rel_entr stdtr stdtrit xlogy",
        3: "betainc betaincc fdtr fdtrc",
    }
    for count, names in counts.items():
        for name in words(names):
            yield name, getattr(special, name), (SHARE,) * count
    for name in words("gammainc gammaincc xlog1py zeta"):
        yield name, getattr(special, name), (SHARE + 1.5, SHARE + 1)
    orders = np.arange(SHARE.size).reshape(SHARE.shape) % 4
    yield "polygamma", special.polygamma, (orders, SHARE)


def _transforms():
    from scipy import fft

    for name in words("fft fftn hfft ifft ifftn irfft"):
        yield name, getattr(fft, name), (SIGNAL,)
    for name in words("ihfft rfft"):
        yield name, getattr(fft, name), (COLUMN,)
    for name in words("fft2 hfft2 hfftn ifft2 irfft2 irfftn"):
        yield name, getattr(fft, name), (X + 1j * Y,)
    for name in words("fftshift ifftshift ihfft2 ihfftn rfft2 rfftn"):
        yield name, getattr(fft, name), (X,)
    for name in words("fftfreq rfftfreq"):
        frequencies = getattr(fft, name)
        yield name, lambda a, f=frequencies: f(8, 0.1, xp=namespace(a)), (X,)
    for name in words("fht ifht"):
        transform = getattr(fft, name)
        yield name, lambda a, transform=transform: transform(a, 0.1, 0.2), (SQUARES,)


def _integrals():
    from scipy import integrate

    for name in ["trapezoid", "cumulative_trapezoid"]:
        yield name, getattr(integrate, name), (X,)
    yield "cumulative_simpson", lambda a: integrate.cumulative_simpson(a, dx=0.1), (X,)
    yield "romb", integrate.romb, (POSITIVE[:33, 0].copy(),)
    yield (
        "cubature",
        lambda a: (
            integrate.cubature(
                lambda t: t[:, 0] ** 2 + t[:, 1], a[:2] * 0, a[:2]
            ).estimate
        ),
        (POSITIVE[0].copy(),),
    )
    yield (
        "tanhsinh",
        lambda a: integrate.tanhsinh(lambda t: t**2, a * 0, a).integral,
        (SQUARES,),
    )
    yield (
        "nsum",
        lambda a: integrate.nsum(lambda t: 1 / t**2, a * 0 + 1.0, a * 0 + 20.0).sum,
        (SQUARES[:4].copy(),),
    )


def _signals():
    from scipy import signal

    for name in ["fftconvolve", "oaconvolve"]:
        yield name, getattr(signal, name), (COLUMN, OTHER[:7].copy())
    yield "hilbert", signal.hilbert, (COLUMN,)
    yield "envelope", getattr(signal, "envelope", None), (COLUMN,)
    yield "gauss_spline", lambda a: signal.gauss_spline(a, 3), (COLUMN,)
    yield (
        "savgol_coeffs",
        lambda a: signal.savgol_coeffs(5, 2, xp=namespace(a)),
        (COLUMN,),
    )
    settings = dict.fromkeys(
        words(
            "barthann blackman blackmanharris bohman boxcar cosine flattop hamming "
            "hann lanczos nuttall parzen triang"
        ),
        (),
    )
    settings |= {
        "chebwin": (60.0,),
        "gaussian": (2.0,),
        "general_gaussian": (1.5, 2.0),
        "general_hamming": (0.6,),
        "kaiser": (3.0,),
        "taylor": (4,),
        "tukey": (0.4,),
    }
    for name, values in settings.items():
        window = getattr(signal.windows, name)
        yield (
            f"windows.{name}",
            lambda a, f=window, values=values: f(9, *values, xp=namespace(a)),
            (COLUMN,),
        )


def _optimization():
    import scipy.optimize.elementwise as elementwise
    from scipy import optimize

    for name in words("rosen rosen_der rosen_hess"):
        yield name, getattr(optimize, name), (COLUMN[:5].copy(),)
    yield (
        "elementwise.find_root",
        lambda a: (
            elementwise.find_root(lambda t, c: t**3 - c, (a * 0, a + 1.0), args=(a,)).x
        ),
        (SQUARES,),
    )
    yield (
        "elementwise.find_minimum",
        lambda a: (
            elementwise.find_minimum(
                lambda t, c: (t - c) ** 2, (a - 1.0, a + 0.1, a + 2.0), args=(a,)
            ).x
        ),
        (SQUARES,),
    )
    yield (
        "elementwise.bracket_root",
        lambda a: (
            elementwise.bracket_root(
                lambda t, c: t - c, a - 0.5, a + 1.0, args=(a,)
            ).bracket
        ),
        (SQUARES,),
    )


def _rotations():
    from scipy.spatial.transform import Rotation

    def rotation(array):
        return Rotation.from_quat(array)

    for name in words("as_matrix as_mrp as_quat as_rotvec magnitude"):
        yield name, lambda a, name=name: getattr(rotation(a), name)(), (QUATERNIONS,)
    yield "as_euler", lambda a: rotation(a).as_euler("xyz"), (QUATERNIONS,)
    yield "apply", lambda a, b: rotation(a).apply(b), (QUATERNIONS, VECTORS)
    yield "inv", lambda a: rotation(a).inv().as_quat(), (QUATERNIONS,)
    yield "mean", lambda a: rotation(a).mean().as_matrix(), (QUATERNIONS,)
    yield "pow", lambda a: (rotation(a) ** 2.5).as_quat(), (QUATERNIONS,)
    for name in words("from_mrp from_rotvec"):
        make = getattr(Rotation, name)
        yield name, lambda a, make=make: make(a).as_quat(), (VECTORS,)
    yield "from_euler", lambda a: Rotation.from_euler("zyx", a).as_quat(), (VECTORS,)


def _others():
    from scipy import constants, differentiate, linalg
    from scipy.cluster.vq import whiten

    yield "cluster.vq.whiten", whiten, (X,)
    yield "constants.lambda2nu", constants.lambda2nu, (POSITIVE,)
    yield (
        "constants.convert_temperature",
        lambda a: constants.convert_temperature(a, "C", "K"),
        (X,),
    )
    yield (
        "differentiate.derivative",
        lambda a: differentiate.derivative(lambda t: t**3, a).df,
        (SQUARES,),
    )
    yield (
        "differentiate.jacobian",
        lambda a: differentiate.jacobian(lambda t: t**3, a).df,
        (COLUMN[:3].copy(),),
    )
    yield "linalg.block_diag", linalg.block_diag, (X[:5], Y[:3])
    yield "linalg.fiedler", linalg.fiedler, (COLUMN,)
    yield "linalg.orthogonal_procrustes", linalg.orthogonal_procrustes, (X, Y)


_TOPICS = {
    "stats.": _statistics,
    "special.": _special,
    "fft.": _transforms,
    "integrate.": _integrals,
    "signal.": _signals,
    "optimize.": _optimization,
    "spatial.transform.Rotation.": _rotations,
    "": _others,
}


def _number(version):
    """Return a version as a pair of numbers."""
    return tuple(int(part) for part in version.split(".")[:2])


def _has(table, name):
    """Return whether a table, names by their prefix, has a name."""
    return any(
        name.startswith(prefix) and name.removeprefix(prefix) in words(names)
        for prefix, names in table.items()
    )


def is_for(name, version):
    """Return whether a function of a version of SciPy needs only the standard."""
    if version < (1, 17) and _has(SINCE_1_17, name):
        return False
    if version < (1, 16) and (_has(SINCE_1_16, name) or ".windows." in name):
        return False
    return version < (1, 18) or not _has(UNTIL_1_17, name)


def calls(every=False):
    """Yield (name, function, arguments) of the functions that this SciPy lets through.

    With ``every`` the others are called too.
    """
    import scipy

    version = _number(scipy.__version__)
    for prefix, topic in _TOPICS.items():
        for name, function, arguments in topic():
            if function is not None and (every or is_for(prefix + name, version)):
                yield prefix + name, function, arguments
