# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and modules of libraries on JAX (flax, equinox, haiku) as functions that JAX traces.

JAX traces functions of trees of arrays. Libraries differ from that in four ways:

1. A module that is called itself, of `flax.nnx` or equinox, is a tree of weights: it becomes the
   first argument, since its weights would be constants of the program otherwise.
2. Trees of equinox have leaves that aren't arrays, such as an activation function. They are kept
   out of the program, and `None` in results, as by `equinox.filter_jit`.
3. Functions of `flax.nnx` change their arguments, such as a model in a training step. The arguments
   that a function has changed are further results, as of `nnx.jit`.
4. A module of `flax.linen` and a pair of functions of haiku have their weights elsewhere: an error
   says which function to pass instead.

The libraries aren't imported: trees are JAX's, and classes are known by the names of their modules.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.programs import wrong_program

_NNX, _LINEN, _EQUINOX, _HAIKU = "flax.nnx", "flax.linen", "equinox", "haiku"


@dataclass(frozen=True)
class PlainFunction:
    """A function of trees of arrays, with its arguments.

    Attributes:
        function: the function.
        arguments: its arguments; leaves that aren't arrays are None.
        is_module: whether the first argument is a module that was called.
        donated: the positions of arguments that `equinox.filter_jit` donates.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    is_module: bool = False
    donated: tuple[int, ...] = ()

    def shardings(self, given: Any) -> Any:
        """Return shardings of `arguments`, in which those of the called module may be left out."""
        if self.is_module and isinstance(given, tuple) and len(given) == len(self.arguments) - 1:
            return (None, *given)
        return given

    def positions(self, given: int | Sequence[int]) -> tuple[int, ...]:
        """Return positions in `arguments` of positions before the called module was one of them."""
        shift = int(self.is_module)
        return tuple(each + shift for each in ((given,) if isinstance(given, int) else given))


def plain_function(
    function: Any,
    arguments: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    static: Sequence[int] = (),
) -> PlainFunction:
    """Return a function as one that JAX traces.

    Args:
        function: the function, or a module of a library.
        arguments: its arguments.
        kwargs: its keyword arguments.
        static: the positions of arguments that aren't arrays.

    Raises:
        WrongTypeError: it can't be called.
        UsageError: its weights are elsewhere; the error says what to pass.
    """
    jitted, function = function, _without_jit(function)
    _check(function)
    is_module = _is_from(function, _NNX, _EQUINOX) and _has_arrays(function)
    kept_whole = {each % len(arguments) for each in static} if arguments else set[int]()
    if is_module:
        arguments, kept_whole = (function, *arguments), {each + 1 for each in kept_whole}
    filters = _is_from(jitted, _EQUINOX)
    split = [
        (value, None) if at in kept_whole else _split(value, arrays_only=filters)
        for at, value in enumerate(arguments)
    ]
    kept = [each for _, each in split]
    is_split = any(each is not None for each in kept)
    if not (is_module or is_split or any(map(_holds_nnx, (*arguments, *kwargs.values())))):
        return PlainFunction(function, arguments)

    def call(*given: Any, **keywords: Any) -> Any:
        full = [_joined(*pair) for pair in zip(given, kept, strict=True)]
        changing = [each for each in (*full, *keywords.values()) if _holds_nnx(each)]
        before = [_leaves(each) for each in changing]
        result = full[0](*full[1:], **keywords) if is_module else function(*full, **keywords)
        if is_split or filters:
            result, _ = _split(result, arrays_only=filters)
        pairs = zip(changing, before, strict=True)
        changed = [each for each, leaves in pairs if not _are_same(_leaves(each), leaves)]
        return (result, *changed) if changed else result

    name = getattr(function, "__name__", type(function).__name__)
    call.__name__ = call.__qualname__ = name
    signature = _signature(function, with_module=is_module)
    if signature is not None:
        vars(call)["__signature__"] = signature
    vars(call)["__wrapped__"] = function
    donating = (getattr(jitted, "donate_first", False), getattr(jitted, "donate_rest", False))
    donated = tuple(at for at in range(len(split)) if filters and donating[at > 0])
    if is_split:
        arguments = tuple(each for each, _ in split)
    return PlainFunction(call, arguments, is_module, donated)


def _without_jit(function: Any) -> Any:
    """Return the function that `nnx.jit` was given, unless with shardings, or `filter_jit`.

    Called within `nnx.jit`, all leaves of a module change, so that it would be a result.
    """
    if type(function).__name__ == "_JitWrapper" and _is_from(function, _EQUINOX):
        return function.__wrapped__
    is_nnx = type(function).__name__ == "JitWrapped" and _is_from(function, _NNX)
    if is_nnx and function.in_shardings is None and function.out_shardings is None:
        return function.__wrapped__
    return function


def _check(function: Any) -> None:
    """Check that a function can be traced as it is, or with its module as the first argument."""
    name = type(function).__name__
    if _is_from(function, _HAIKU) and not callable(function):
        advice = "pass 'transformed.apply', and its parameters as the first argument"
        raise UsageError(error(f"a '{name}' of haiku is a pair of functions: {advice}"))
    if not callable(function):
        raise wrong_program("jax.trace", "a function", function)
    if _is_from(function, _LINEN):
        advice = "pass 'model.apply', and the variables of 'model.init' as its first argument"
        raise UsageError(error(f"the module '{name}' of flax.linen is no function: {advice}"))


_Kept = tuple[list[Any], Any]
"""The leaves of a tree that aren't traced, and None for those that are; and its structure."""


def _split(value: Any, *, arrays_only: bool) -> tuple[Any, _Kept | None]:
    """Return a tree with None for the leaves that JAX can't trace, and what is left out.

    Args:
        value: the tree.
        arrays_only: whether numbers of Python aren't traced, as in equinox.
    """
    import jax  # noqa: PLC0415

    leaves, structure = jax.tree.flatten(value, is_leaf=_is_none)
    arrays_only |= _holds(value, _EQUINOX)
    is_container = structure.num_nodes > 1
    if all(_is_traced(each, arrays_only=arrays_only) for each in leaves if each is not None):
        return value, None
    if not is_container and not arrays_only:
        return value, None  # JAX says best what is wrong with it
    traced = [each if _is_traced(each, arrays_only=arrays_only) else None for each in leaves]
    pairs = zip(leaves, traced, strict=True)
    kept = [each if one is None else None for each, one in pairs]
    return jax.tree.unflatten(structure, traced), (kept, structure)


def _joined(value: Any, kept: _Kept | None) -> Any:
    """Return a tree with the leaves that were left out."""
    import jax  # noqa: PLC0415

    if kept is None:
        return value
    leaves, structure = kept
    traced = jax.tree.leaves(value, is_leaf=_is_none)
    pairs = zip(leaves, traced, strict=True)
    return jax.tree.unflatten(structure, [one if own is None else own for own, one in pairs])


def _is_traced(leaf: Any, *, arrays_only: bool) -> bool:
    """Whether a leaf is an argument of the program."""
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return True
    return isinstance(leaf, bool | int | float | complex) and not arrays_only


def _is_none(leaf: Any) -> bool:
    return leaf is None


def _leaves(value: Any) -> list[Any]:
    import jax  # noqa: PLC0415

    return jax.tree.leaves(value)


def _are_same(leaves: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(leaves) == len(others) and all(map(operator.is_, leaves, others))


def _has_arrays(value: Any) -> bool:
    return any(leaf is not value and _is_traced(leaf, arrays_only=True) for leaf in _leaves(value))


def _holds_nnx(value: Any) -> bool:
    """Whether a tree has objects of `flax.nnx`, which a function can change."""
    return _holds(value, _NNX)


def _holds(value: Any, library: str) -> bool:
    import jax  # noqa: PLC0415

    def is_of_library(node: Any) -> bool:
        return _is_from(node, library)

    return any(map(is_of_library, jax.tree.leaves(value, is_leaf=is_of_library)))


def _is_from(value: Any, *libraries: str) -> bool:
    """Whether the class of a value is derived from one of a library."""
    homes = {each.__module__ for each in type(value).__mro__}
    return any(home == name or home.startswith(f"{name}.") for home in homes for name in libraries)


def _signature(function: Any, *, with_module: bool) -> inspect.Signature | None:
    """Return the parameters of a function, from which JAX names arguments; None if unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    if not with_module:
        return signature
    own = inspect.Parameter("model", inspect.Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[own, *signature.parameters.values()])
