"""Calls of libraries with GPUArrays, compared with the calls with NumPy's arrays.

``python array_api_calls.py scipy`` prints a line for each call: "same", or how the
results differ. Others are ``sklearn``, ``dask``, ``xarray`` and ``einops``. ``every``
also calls the functions of SciPy that need more than the standard. SciPy reads
SCIPY_ARRAY_API when it is imported, so the tests run this in a process of its own.
"""

import sys
import warnings

import numpy as np

import pycuda.array_api as xp
import pycuda.autoinit  # noqa: F401
from pycuda.gpuarray import GPUArray, to_gpu
from support import duck_array_calls, scipy_calls
from support.samples import GUESSES, LABELS, POSITIVE, TARGET, X
from support.scipy_calls import words


def sklearn_calls():
    """Yield (name, function, arguments)."""
    from sklearn import metrics, preprocessing
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.mixture import GaussianMixture
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB

    for name in words("Binarizer MaxAbsScaler MinMaxScaler Normalizer StandardScaler"):
        scaler = getattr(preprocessing, name)
        yield name, lambda a, scaler=scaler: scaler().fit(a).transform(a), (X,)
    yield (
        "PolynomialFeatures",
        lambda a: preprocessing.PolynomialFeatures(2).fit_transform(a),
        (X,),
    )
    for name in ["LabelBinarizer", "LabelEncoder"]:
        coder = getattr(preprocessing, name)
        yield name, lambda a, coder=coder: coder().fit_transform(a), (LABELS,)
    yield "PCA", lambda a: PCA(3, svd_solver="full").fit_transform(a), (X,)
    yield "Ridge", lambda a, b: Ridge(solver="svd").fit(a, b).predict(a), (X, TARGET)
    for name, kind in (
        ("GaussianNB", GaussianNB),
        ("LinearDiscriminantAnalysis", LinearDiscriminantAnalysis),
        ("RidgeClassifier", lambda: RidgeClassifier(solver="svd")),
    ):
        yield name, lambda a, b, kind=kind: kind().fit(a, b).predict(a), (X, LABELS)
    yield (
        "GaussianMixture",
        lambda a: (
            GaussianMixture(2, init_params="random_from_data", random_state=0)
            .fit(a)
            .predict_proba(a)
        ),
        (X,),
    )
    yield (
        "train_test_split",
        lambda a, b: train_test_split(a, b, random_state=0),
        (X, LABELS),
    )
    for name in words(
        "accuracy_score balanced_accuracy_score cohen_kappa_score confusion_matrix "
        "f1_score hamming_loss jaccard_score precision_score recall_score "
        "roc_auc_score roc_curve zero_one_loss"
    ):
        yield name, getattr(metrics, name), (LABELS, GUESSES)
    for name in words(
        "explained_variance_score max_error mean_absolute_error mean_squared_error "
        "median_absolute_error r2_score root_mean_squared_error"
    ):
        yield name, getattr(metrics, name), (TARGET, TARGET + 0.5)
    for name in words(
        "additive_chi2_kernel chi2_kernel cosine_similarity euclidean_distances "
        "laplacian_kernel linear_kernel manhattan_distances polynomial_kernel "
        "rbf_kernel sigmoid_kernel"
    ):
        function = getattr(metrics.pairwise, name)
        yield name, function, (POSITIVE, POSITIVE)


def plain(value):
    """Return a result with NumPy's arrays, and how many GPUArrays it has."""
    if isinstance(value, GPUArray):
        return [value.get()]
    if hasattr(value, "statistic") and not isinstance(value, tuple):
        value = (value.statistic, value.pvalue)
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in plain(part)]
    return [np.asarray(value)]


def differs(wanted, found):
    """Return how two results differ, or None."""
    if len(wanted) != len(found):
        return f"{len(found)} results, not {len(wanted)}"
    for one, other in zip(wanted, found, strict=True):
        if one.shape != other.shape:
            return f"shape {other.shape}, not {one.shape}"
        if not np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True):
            return f"{other}, not {one}"
    return None


def compare(function, args):
    """Call a function with arrays of both kinds. Return how the results differ."""
    try:
        wanted = plain(function(*args))
    except (AttributeError, TypeError) as error:
        return f"not in this version: {error}"
    try:
        found = plain(function(*map(to_gpu, args)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return differs(wanted, found) or on_host(function(*map(to_gpu, args)))


def on_host(value):
    """Return what is wrong if a result has an array in host memory, or None."""
    parts = value if isinstance(value, (tuple, list)) else [value]
    if any(isinstance(part, np.ndarray) and part.ndim for part in parts):
        return "an array in host memory"
    return None


def main(library):
    warnings.simplefilter("ignore")
    if library == "sklearn":
        from sklearn import set_config

        set_config(array_api_dispatch=True)
    calls = {
        "scipy": scipy_calls.calls,
        "every": lambda: scipy_calls.calls(every=True),
        "sklearn": sklearn_calls,
        "dask": duck_array_calls.dask_calls,
        "xarray": duck_array_calls.xarray_calls,
        "einops": duck_array_calls.einsum_calls,
    }[library]
    assert to_gpu(X).__array_namespace__() is xp
    for name, function, args in calls():
        print(f"{name}: {compare(function, args) or 'same'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
