"""What a recorded function changes, returns and depends on besides its arrays."""

import collections
import functools
from types import SimpleNamespace

import numpy as np
import pytest

import pycuda.fuse
from pycuda import gpuarray
from pycuda.fuse import FuseError
from pycuda.gpuarray import GPUArray, to_gpu


class Model:
    k = 2

    def __init__(self, w=None):
        self.w = w
        self.parts = [w]

    def times(self, x):
        return x * self.k

    @functools.cached_property
    def size(self):
        return 3


@pytest.fixture
def x(ctx):
    return to_gpu(np.arange(1, 6, dtype="f4"))


# -- changes ---------------------------------------------------------------------------


def set_attribute(m, x):
    m.w = m.w + x
    return x


def set_item(m, x):
    m.parts[0] = x * 2
    return x


def append(m, x):
    m.parts.append(x + 1)
    return x


def count(m, x):
    m.k = 3
    m.k = m.k + 1
    return x * m.k


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (set_attribute, "a Model: the attribute 'w'"),
        (set_item, "a list"),
        (append, "a list"),
    ],
)
def test_changes_of_objects_are_refused(x, change, text):
    model = Model(x)
    for _ in range(2):
        with pytest.raises(FuseError, match=f"{change.__name__}|changes {text}"):
            pycuda.fuse.fuse(change)(model, x)
        assert model.w is x
        assert len(model.parts) == 1
        assert model.parts[0] is x
    change(model, x)
    same = [each is x for each in (model.w, *model.parts)]
    assert same != [True, True]


def test_a_changed_number_is_refused(x):
    model = Model(x)
    model.k = 2
    with pytest.raises(FuseError, match="the attribute 'k'"):
        pycuda.fuse.fuse(count)(model, x)
    assert model.k == 2


def test_a_new_value_without_arrays_is_kept(x):
    function = pycuda.fuse.fuse(lambda m, x: x * m.size)
    model = Model()
    assert function(model, x).get()[0] == 3
    assert vars(model)["size"] == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda d, x: d.update(w=d["w"] + x),
        lambda d, x: d.setdefault("new", 1),
        lambda d, x: d.pop("w"),
        lambda d, x: d["l"].append(1),
    ],
)
def test_changed_containers_are_refused(x, change):
    given = {"w": x, "l": []}
    with pytest.raises(FuseError, match="changes (the key|a list)"):
        pycuda.fuse.fuse(change)(given, x)
    assert given == {"w": given["w"], "l": []}
    assert given["w"] is x


outer = None


def test_names_outside_get_no_stand_in(x):
    kept = None

    def nonlocal_name(x):
        nonlocal kept
        kept = x + 1
        return x

    def global_name(x):
        global outer
        outer = x + 1
        return x

    with pytest.raises(FuseError, match="the name 'kept'"):
        pycuda.fuse.fuse(nonlocal_name)(x)
    with pytest.raises(FuseError, match="the name 'outer'"):
        pycuda.fuse.fuse(global_name)(x)
    assert kept is None
    assert outer is None


outer_list, outer_dict, outer_object = [], {}, Model()


def store_in_list(x):
    outer_list.append(x + 1)


def store_in_dict(x):
    outer_dict["a"] = x + 1


def store_in_object(x):
    outer_object.w = x + 1


def store_in_function(x):
    store_in_function.w = x + 1


def store_in_default(x, kept=[]):  # noqa: B006
    kept.append(x + 1)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (store_in_list, "changes a list"),
        (store_in_dict, "changes the key 'a'"),
        (store_in_object, "changes a Model: the attribute 'w'"),
        (store_in_function, "changes a function: the attribute 'w'"),
        (store_in_default, "changes a list"),
    ],
)
def test_places_outside_get_no_stand_in(x, function, text):
    with pytest.raises(FuseError, match=text):
        pycuda.fuse.fuse(function)(x)
    assert outer_list == store_in_default.__defaults__[0] == []
    assert outer_dict == {}
    assert outer_object.w is None
    assert not hasattr(store_in_function, "w")


def test_places_outside_may_have_other_new_values(x):
    notes = []
    function = pycuda.fuse.fuse(lambda x: notes.append(x.shape) or x + 1)
    function(x)
    function(x)
    assert notes == [(5,)]


def store_deep(m, x):
    m.parts[0].parts[0].parts[0].parts[0].w = x[1:]


def store_in_class(m, x):
    type(m.parts[0].parts[0].parts[0].parts[0]).new = x + 1


def store_by_another_function(m, x):
    store_in_dict(x)


def store_in_a_closure(m, x):
    def keep(y):
        return lambda: y

    m.parts[0].parts[0].parts[0].parts[0].w = keep(x)


def return_a_slice(m, x):
    return slice(x)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (store_deep, "'w'"),
        (store_in_class, "'new'"),
        (store_by_another_function, "the key 'a' of a dict"),
        (store_in_a_closure, "the closure of a function"),
        (return_a_slice, "a slice"),
    ],
)
def test_kept_arrays_are_refused(x, function, text):
    model = type("Inner", (Model,), {})()
    for _ in range(4):
        model = Model(model)
    name = function.__code__.co_firstlineno
    with pytest.raises(FuseError, match=f"{name}: the function keeps an array.*{text}"):
        pycuda.fuse.fuse(function)(model, x)
    outer_dict.clear()


def test_arrays_that_refer_to_each_other_are_not_kept(x):
    def function(x):
        def turn(n, y):
            return y if n == 0 else turn(n - 1, y + z)

        z = x * 2
        items = [z]
        items.append(items)
        return turn(2, x)

    assert pycuda.fuse.fuse(function)(x).get().tolist() == function(x).get().tolist()


def test_a_changed_shape_of_an_argument_is_refused(x):
    def flat(x):
        x.shape = (5,)
        return x + 1

    with pytest.raises(FuseError, match="changes the shape or dtype of an array"):
        pycuda.fuse.fuse(flat)(x.reshape(5, 1))
    assert pycuda.fuse.fuse(flat)(x).get().tolist() == [2, 3, 4, 5, 6]


def test_an_error_leaves_no_stand_in(x):
    def fail(m, x):
        m.w = x * 2
        raise KeyError("one")

    model = Model(x)
    with pytest.raises(KeyError):
        pycuda.fuse.fuse(fail)(model, x)
    assert model.w is x


def test_a_caught_refusal_counts(x):
    @pycuda.fuse.fuse
    def function(x):
        try:
            return float(x[0]) * x
        except TypeError:
            return x * 0

    with pytest.raises(FuseError, match="float"):
        function(x)


def test_a_caught_refusal_of_a_function_counts(x):
    def function(x):
        try:
            return gpuarray.cumsum(x)
        except Exception:
            return x * 0

    with pytest.raises(FuseError, match=r"gpuarray\.cumsum is not elementwise"):
        pycuda.fuse.fuse(function)(x)


def test_a_refusal_counts_more_than_a_later_error(x):
    def function(x):
        try:
            return float(x[0])
        except TypeError:
            raise ValueError("no number") from None

    with pytest.raises(FuseError, match="float"):
        pycuda.fuse.fuse(function)(x)


# -- results ---------------------------------------------------------------------------


def test_each_call_has_its_own_host_array(x):
    function = pycuda.fuse.fuse(lambda x: (np.zeros(2), x + 1))
    first, _ = function(x)
    first[0] = 7
    assert function(x)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda y: SimpleNamespace(w=y), "SimpleNamespace"),
        (lambda y: collections.deque([y]), "deque"),
        (lambda y: iter([y]), "list_iterator"),
        (lambda y: lambda: y, "function"),
        (lambda y: {y.shape}, "set"),
        (lambda y: (1, [Model(y)]), "Model"),
    ],
)
def test_other_results_are_refused(x, make, name):
    with pytest.raises(FuseError, match=f"line [0-9]+: the function returns a {name}"):
        pycuda.fuse.fuse(lambda x: make(x + 1))(x)


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "make",
    [
        lambda y: collections.OrderedDict(b=y, a=1),
        lambda y: collections.defaultdict(list, a=y),
        lambda y: Pair(y, "text"),
        lambda y: [y, None, (1.5, np.float32)],
    ],
)
def test_containers_keep_their_types(x, make):
    function = pycuda.fuse.fuse(lambda x: make(x + 1))
    want = make(x + 1)
    for _ in range(3):
        got = function(x)
        assert type(got) is type(want)
        assert len(got) == len(want)
        assert getattr(got, "default_factory", 0) == getattr(want, "default_factory", 0)
        for a, b in zip(_items(got), _items(want), strict=True):
            same = isinstance(a, GPUArray) and a.get().tolist() == b.get().tolist()
            assert same or a == b


def _items(tree):
    return tree.values() if isinstance(tree, dict) else tree


def test_an_object_of_the_arguments_may_be_returned(x):
    model = Model(x)
    function = pycuda.fuse.fuse(lambda m, x: (m, x + 1))
    assert function(model, x)[0] is model
    assert function(model, x)[0] is model


# -- what counts as an argument --------------------------------------------------------


def test_a_bound_method_has_the_state_of_its_object(x):
    model = Model()
    function = pycuda.fuse.fuse(lambda f, x: f(x))
    for k in (2, 4, 2, 5):
        model.k = k
        assert function(model.times, x).get()[0] == k


def test_a_closure_has_the_state_of_its_names(x):
    k = 2

    def times(x):
        return x * k

    function = pycuda.fuse.fuse(lambda f, x: f(x))
    for value in (2, 3, 2):
        k = value
        assert function(times, x).get()[0] == k


def test_a_partial_has_the_state_of_its_arguments(x):
    factors = [2]
    times = functools.partial(lambda factors, x: x * factors[0], factors)
    function = pycuda.fuse.fuse(lambda f, x: f(x))
    for value in (2, 3, 2):
        factors[0] = value
        assert function(times, x).get()[0] == value


def test_one_array_as_two_arguments(x):
    function = pycuda.fuse.fuse(lambda x, y: x + 1 if x is y else x * 10)
    other = x.copy()
    for _ in range(3):
        assert function(x, x).get()[0] == 2
        assert function(x, other).get()[0] == 10
        assert function(other, y=other).get()[0] == 2


def test_one_array_changes_under_two_names(x):
    def add(x, y):
        x += y
        y *= 2
        return x + y

    function = pycuda.fuse.fuse(add)
    for _ in range(3):
        a, b = x.copy(), x.copy()
        assert np.array_equal(function(a, a).get(), add(b, b).get())
        assert np.array_equal(a.get(), b.get())
        c, d = x.copy(), x.copy()
        e, f = x.copy(), x.copy()
        assert np.array_equal(function(c, d).get(), add(e, f).get())
        assert np.array_equal(c.get(), e.get())
        assert np.array_equal(d.get(), f.get())


def test_one_array_may_be_donated_once(x):
    function = pycuda.fuse.fuse(lambda x, y: (x + y, x - y), donate=("x",))
    a = gpuarray.to_gpu(np.arange(4.0))
    assert function(a, a)[0].get().tolist() == [0, 2, 4, 6]
