"""``ElementwiseKernel``: a program's operation on the elements of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycuda._array.kernels.argument_names import check_names, names_of
from pycuda._array.kernels.c_types import VectorArg
from pycuda._array.kernels.compilation import CompileError
from pycuda._array.kernels.copy_back import copy_back
from pycuda._array.kernels.elementwise_module import BOUNDS, get_elwise_kernel_and_types
from pycuda._array.kernels.kernel_arguments import Arguments, count_of
from pycuda._array.kernels.launch_shape import splay
from pycuda._array.kernels.used_elements import elementwise_names
from pycuda._driver import _KernelCall, _plain_array, _working_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pycuda._array.kernels.c_types import _Arguments
    from pycuda._array.kernels.elementwise_module import _Made
    from pycuda._driver import TextureReference


#: What the constructor takes beside the names in its signature.
_TEXTS = ("preamble", "loop_prep", "after_loop")


class ElementwiseKernel(_KernelCall):
    """A kernel made of an operation on the elements ``i`` of its arguments.

    ``arguments`` is a C parameter list such as ``"float a, float *x"``, or a list of
    ScalarArg and VectorArg. The operation is one or more statements. In it, ``i`` is
    the index and ``n`` the number of elements. ``preamble`` precedes the kernel,
    ``loop_prep`` and ``after_loop`` surround its loop. An argument may have any name
    but ``i``. If an argument is called ``n`` or ``tid``, the operation sees the
    argument under that name.

    A call takes the arguments in order, and the keywords ``stream`` and ``range`` (an
    object with start, stop and step) or ``slice``, which select the indices. The first
    array gives the number of elements. It and the arrays of its shape may have any
    strides. Raises TypeError for an array of another dtype than the kernel declares,
    and ValueError for an array with fewer elements than the operation uses.
    """

    def __init__(
        self,
        arguments: _Arguments,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(arguments, str):
            arguments = list(arguments)
        check_names(arguments)
        self.gen_kwargs: dict[str, Any] = dict(
            kwargs,
            arguments=arguments,
            operation=operation,
            name=name,
            keep=keep,
            options=options,
        )
        self._made = {}

    def generate_stride_kernel_and_types(self, use_range: bool) -> _Made:
        """Return (module, prepared function, arguments) in the current context."""
        return self._variant(use_range)[:3]

    def _variant(self, use_range, arguments=None, converted=()):
        """Return (module, function, arguments, their checks, context).

        ``arguments`` are those of the kernel, with the ones at ``converted`` declared
        const.
        """
        context = _working_context()
        key = (id(context), use_range, *converted)
        made = self._made.get(key)
        if made is None:
            kwargs = dict(self.gen_kwargs)
            self._check_keywords(kwargs)
            if arguments is not None:
                kwargs["arguments"] = arguments
            module, function, full = get_elwise_kernel_and_types(
                use_range=use_range, **kwargs
            )
            own = full[: -len(BOUNDS[use_range])]
            if not any(isinstance(argument, VectorArg) for argument in own):
                raise RuntimeError(
                    "an ElementwiseKernel needs an array among its arguments"
                )
            used = elementwise_names(
                names_of(own),
                self.gen_kwargs["operation"],
                self.gen_kwargs.get("preamble", ""),
            )
            # The context is kept alive, so that no other context gets its id.
            made = module, function, full, Arguments(own, used), context
            self._made[key] = made
        return made

    @staticmethod
    def _check_keywords(kwargs):
        """Refuse unknown keywords of the constructor, at the first call as PyCUDA."""
        known = ("arguments", "operation", "name", "keep", "options", *_TEXTS)
        unknown = sorted(kwargs.keys() - known)
        if unknown:
            raise TypeError(
                "this ElementwiseKernel was made with unknown keywords: "
                f"{', '.join(unknown)}; it takes {', '.join(known)}"
            )

    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """Return a texture reference of the kernel's module."""
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> None: ...

    def _run(self, *args, **kwargs):
        """Run a call that C does not handle: see ``_KernelCall``."""
        range_ = slice_ = stream = None
        if kwargs:
            range_ = kwargs.pop("range", None)
            slice_ = kwargs.pop("slice", None)
            stream = kwargs.pop("stream", None)
            if kwargs:
                raise TypeError(f"unknown keywords: {', '.join(sorted(kwargs))}")
            if range_ is not None and slice_ is not None:
                raise TypeError("range and slice cannot be given together")
        use_range = range_ is not None or slice_ is not None
        _, function, _, arguments, context = self._variant(use_range)
        if len(args) != len(arguments):
            raise TypeError(
                f"the kernel takes {len(arguments)} arguments, {len(args)} were given"
            )
        if use_range:
            self._call_range(context, function, arguments, args, range_, slice_, stream)
            return
        values, first, back = arguments.gather(args), args[arguments.first], ()
        if values is None:
            function, values, first, back = self._arranged(
                False, function, arguments, args, stream
            )
            count = count_of(args[arguments.first])
        else:
            count = first.mem_size
            self._remember(
                "elementwise",
                context,
                (function,),
                arguments.dtypes,
                arguments.uses,
                arguments.first,
            )
        values.append(count)
        if count:
            function.prepared_async_call(first._grid, first._block, stream, *values)
        if back:
            copy_back(back, stream)

    def _call_range(self, context, function, arguments, args, range_, slice_, stream):
        """Run the kernel for the indices of a range or a slice."""
        if slice_ is not None:
            first = _plain_array(args[arguments.first])
            bounds = slice_.indices(getattr(first, "size", 0))
        else:
            bounds = (range_.start, range_.stop, range_.step)
            if None in bounds:
                raise TypeError("range needs start, stop and step")
        indices = range(*bounds)
        extent = least = 0
        if indices:
            extent = max(indices[0], indices[-1]) + 1
            least = min(indices[0], indices[-1])
        first, back = args[arguments.first], ()
        values = arguments.gather(args, extent) if least >= 0 else None
        if values is None:
            function, values, first, back = self._arranged(
                True, function, arguments, args, stream, extent, least
            )
        else:
            self._remember(
                "range",
                context,
                (function,),
                arguments.dtypes,
                arguments.uses,
                arguments.first,
            )
        grid, block = splay(max(len(indices), 1))
        if first.mem_size:
            function.prepared_async_call(grid, block, stream, *values, *bounds)
        if back:
            copy_back(back, stream)

    def _arranged(
        self, use_range, function, arguments, args, stream, extent=-1, least=0
    ):
        """Return (function, values, first array, triples for copy_back())."""
        values, first, back, converted = arguments.arrange(args, stream, extent, least)
        if converted:
            try:
                function = self._variant(
                    use_range, arguments.read_only(converted), converted
                )[1]
            except CompileError:
                raise arguments.writes(args, converted) from None
        if back:
            back = arguments.copies_before(args, back, stream)
        return function, values, first, back
