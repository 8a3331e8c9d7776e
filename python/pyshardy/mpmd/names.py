# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names in JAX programs: computations, tensors, calls of microbatches, sums over them.

A name is a function made by `jax.jit` whose own name is `mpmd.KIND/NAME/`. So names run anywhere as
the function itself, and derivatives, `jax.vmap` and `jax.export` keep them: JAX splits a call into
calls of the same name, and marks transposed ones by the path of their locations.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, SupportsIndex, cast

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.packages import require

Combine = Literal["mean", "sum", "stack"]

_RESERVED = "names 'main' and such that begin with 'mpmd.' are reserved"
_SEPARATORS = "names are texts without '@' and ',', which separate names in assignments"


def named_computation(
    function: Callable[..., Any] | None = None, *, name: str, remat: bool = False
) -> Any:
    """Give a function a name, by which it is assigned to a mesh; also a decorator.

        layer = sdy.mpmd.named_computation(layer, name="layer0")

    Args:
        function: a function of arrays and trees of them.
        name: the name. The computation of a gradient has it, too.
        remat: whether the backward computation recomputes what the forward one computed, as
            `jax.checkpoint` does, which must not be around a name.

    Raises:
        UsageError: JAX is missing, or the name is reserved.
    """
    if function is None:
        return functools.partial(named_computation, name=name, remat=remat)
    check_name(name, "computation")
    jax = _jax("named_computation")
    return _marked("name", name, jax.checkpoint(function) if remat else function)


def named_tensor(tensor: Any, name: str) -> Any:
    """Return an array, or a tree of them, whose name is assigned to a mesh.

    Raises:
        UsageError: JAX is missing, or the name is reserved.
    """
    check_name(name, "tensor")
    return identity("tensor", name, tensor)


def broadcast(tensor: Any) -> Any:
    """Return an array, or a tree of them, which several meshes use."""
    return identity("broadcast", "", tensor)


def reduce(tensor: Any) -> Any:
    """Return an array: operations on values of several meshes that compute it are a reduction."""
    return identity("reduce", "", tensor)


def check_name(name: Any, of: str) -> None:
    """Check that a text can be the name of a computation or a tensor, or of a marker.

    Raises:
        UsageError: it is reserved, or can't occur in an assignment.
    """
    if not isinstance(name, str) or "@" in name or "," in name:
        raise UsageError(error(f"{name!r} is no name of a {of}: {_SEPARATORS}"))
    if not name or name == "main" or name.startswith("mpmd."):
        raise UsageError(error(f"'{name}' is no name of a {of}: {_RESERVED}"))


def call(function: Callable[..., Any], *, counter: int) -> Callable[..., Any]:
    """Return the function as called for a microbatch.

    Args:
        function: the function, which is in the program once for all counters.
        counter: the number of the microbatch. The calls of a program have numbers without gaps.

    Raises:
        UsageError: JAX is missing, or the counter isn't a number of at least 0.
    """
    if not isinstance(cast("object", counter), SupportsIndex) or counter < 0:
        raise UsageError(error(f"'counter' must be a number of at least 0, got: {counter!r}"))
    jax = _jax("call")
    return _marked("call", str(counter), jax.jit(function))


def microbatched(
    function: Callable[..., Any],
    num: int,
    combine: Combine | Any = "mean",
    *,
    accumulate: Literal["carry", "after"] = "carry",
) -> Callable[..., Any]:
    """Return a function that calls `function` for the parts of a batch, and combines the results.

        gradients = sdy.mpmd.microbatched(jax.value_and_grad(loss), 4)(params, batch)

    The first argument is the same for all calls. All others are split at their first dimension.
    Sums are in the order of the parts, bit by bit. Sums and means of booleans count what is true.

    Args:
        function: a function of parameters and batches.
        num: the number of parts.
        combine: `mean`, `sum`, or `stack` for all results; or a tree of these, a prefix of the
            results.
        accumulate: `carry` adds results in the call of each part to the sum so far; `after` adds
            them after all calls, which keeps all of them in memory.

    Raises:
        UsageError: `num` is below 1; `combine` or `accumulate` is none of these; when called, the
            first dimension of an array isn't a multiple of `num`, there is nothing to split, or
            `combine` is no prefix of the results.
    """
    jax = _jax("microbatched")
    wrong = [each for each in jax.tree.leaves(combine) if each not in ("mean", "sum", "stack")]
    if (
        not isinstance(cast("object", num), SupportsIndex)
        or num < 1
        or wrong
        or accumulate not in ("carry", "after")
    ):
        message = (
            f"'microbatched' takes a number of at least 1, combine 'mean', 'sum' or 'stack', "
            f"accumulate 'carry' or 'after', got {num!r}, {combine!r}, {accumulate!r}"
        )
        raise UsageError(error(message))

    @functools.wraps(function)
    def counting(parameters: Any, *batches: Any) -> Any:
        results = function(parameters, *batches)
        listed, tree = jax.tree.flatten(results)
        numbers = [
            jax.numpy.asarray(each, jax.numpy.int32)
            if kind != "stack" and jax.numpy.issubdtype(jax.numpy.result_type(each), bool)
            else each
            for kind, each in zip(_combinations(combine, results), listed, strict=True)
        ]
        return jax.tree.unflatten(tree, numbers)

    def added(results: Any, before: Any) -> Any:
        listed, tree = jax.tree.flatten(results)
        sums = (
            each if kind == "stack" else old + each
            for kind, old, each in zip(_combinations(combine, results), before, listed, strict=True)
        )
        return jax.tree.unflatten(tree, sums)

    def accumulated(before: Any, parameters: Any, *batches: Any) -> Any:
        return added(counting(parameters, *batches), before)

    def run(parameters: Any, *batches: Any) -> Any:
        single = jax.jit(counting), jax.jit(accumulated)
        if num > 1 and not jax.tree.leaves(batches):
            message = (
                f"there is no batch to split into {num} microbatches: the first argument is the "
                "same for all of them, and batches are the arguments behind it"
            )
            raise UsageError(error(message))
        found: list[list[Any]] = []
        tree: Any = None
        which: list[Combine] = []
        for index in range(num):
            batch = jax.tree.map(functools.partial(_part, jax, num, index), batches)
            if index and accumulate == "carry":
                given = [
                    None if kind == "stack" else each
                    for kind, each in zip(which, found[-1], strict=True)
                ]
                results = call(single[1], counter=index)(given, parameters, *batch)
            else:
                results = call(single[0], counter=index)(parameters, *batch)
            which = _combinations(combine, results)
            listed, tree = jax.tree.flatten(results)
            found.append(listed)
        if accumulate == "after":
            for index in range(1, num):
                found[index] = jax.tree.leaves(
                    added(jax.tree.unflatten(tree, found[index]), found[index - 1])
                )
        combined = [
            jax.numpy.stack([part[position] for part in found])
            if kind == "stack"
            else found[-1][position] / num
            if kind == "mean"
            else found[-1][position]
            for position, kind in enumerate(which)
        ]
        return jax.tree.unflatten(tree, combined)

    return run


def _combinations(combine: Any, results: Any) -> list[Combine]:
    """Return how each leaf of the results is combined."""
    try:
        return spread(combine, results)
    except ValueError as refusal:
        message = f"'combine' doesn't match the results of the function: {refusal}"
        raise UsageError(error(message)) from None


def spread(prefix: Any, tree: Any) -> list[Any]:
    """Return for each leaf of a tree the leaf of a prefix of it; None is a leaf of the prefix.

    Raises:
        ValueError: it is no prefix of the tree.
    """
    import jax  # noqa: PLC0415

    found: list[Any] = []

    def visit(value: Any, part: Any) -> None:
        found.extend([value] * len(jax.tree.leaves(part)))

    def is_none(value: Any) -> bool:
        return value is None

    jax.tree.map(visit, prefix, tree, is_leaf=is_none)
    return found


def _part(jax: Any, num: int, index: int, array: Any) -> Any:
    shape = jax.numpy.shape(array)
    size = shape[0] if shape else 0
    if not size or size % num:
        message = (
            f"a batch of shape {tuple(shape)} has no {num} equal microbatches: its first "
            f"dimension must be a multiple of {num}"
        )
        raise UsageError(error(message))
    step = size // num
    return jax.lax.slice_in_dim(array, index * step, (index + 1) * step)


def identity(kind: str, name: str, tensor: Any) -> Any:
    """Return an array, or a tree of them, through calls that stand for a kind of name."""
    jax = _jax(kind)
    # A barrier stays, where JAX would forward the argument.
    return jax.tree.map(_marked(kind, name, jax.lax.optimization_barrier), tensor)


def _marked(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose calls JAX keeps as calls of a function with a name."""
    jax = _jax(kind)

    def marked(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    marked.__name__ = marked.__qualname__ = f"mpmd.{kind}/{name}/"
    return functools.wraps(function, assigned=("__doc__",), updated=())(jax.jit(marked))


def _jax(feature: str) -> Any:
    require("jax", f"sdy.mpmd.{feature}", extra="jax")
    import jax  # noqa: PLC0415
    import jax.numpy  # noqa: PLC0415

    return jax
