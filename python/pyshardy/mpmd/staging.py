# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages of models that can't be wrapped: markers of values, between which a name is.

An equation of the function belongs to the last marker, in the order of the program, that it depends
on. Equations that depend on none, such as those on weights alone, have no name.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.mpmd.names import check_name, identity, named_computation
from pyshardy.packages import require

_MARKER = "mpmd.marker/"


def stage_marker(tensor: Any, name: str) -> Any:
    """Return an array, from which on computations have a name, in a function of `staged`.

        x = sdy.mpmd.stage_marker(x, "s1")

    Args:
        tensor: the array, or a tree of them.
        name: the name, as of `named_computation`.

    Raises:
        UsageError: JAX is missing, or the name is reserved.
    """
    check_name(name, "marker")
    return identity("marker", name, tensor)


def staged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give the computations between markers in a function their names.

        loss = sdy.mpmd.staged(loss)
        gradients = jax.grad(loss)(params, batch)

    It comes inside of `jax.grad` and `microbatched`, so that gradients have the names, too.

    Args:
        function: a function of arrays and trees of them, with calls of `stage_marker`.

    Raises:
        UsageError: JAX is missing; when called, a marker is inside of a loop, of `jax.checkpoint`
            or of a function of `jax.jit`.
    """
    require("jax", "sdy.mpmd.staged", extra="jax")
    import jax  # noqa: PLC0415

    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        leaves, tree = jax.tree.flatten((arguments, keywords))

        def flat(*leaves: Any) -> Any:
            given, named = jax.tree.unflatten(tree, leaves)
            return function(*given, **named)

        closed, shapes = jax.make_jaxpr(flat, return_shape=True)(*leaves)
        results = _run(jax, closed, leaves)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _run(jax: Any, closed: Any, arguments: Sequence[Any]) -> list[Any]:
    """Run the equations of a function; the equations of a stage are a named computation."""
    jaxpr = closed.jaxpr
    names: list[str] = []
    stage_of: dict[Any, int] = {}
    marked: dict[Any, Any] = {}  # what the result of a marker is
    groups: dict[int, list[Any]] = {-1: []}

    def value_of(atom: Any) -> Any:
        return marked.get(atom, atom) if _is_variable(atom) else atom

    for equation in jaxpr.eqns:
        found = _marked(equation)
        if found is not None:
            stage_of[equation.outvars[0]] = len(names)
            marked[equation.outvars[0]] = value_of(equation.invars[0])
            groups[len(names)] = []
            names.append(found)
            continue
        _check_without_markers(equation)
        inputs = (stage_of.get(each, -1) for each in equation.invars if _is_variable(each))
        stage = max(inputs, default=-1)
        groups[stage].append(equation.replace(invars=list(map(value_of, equation.invars))))
        stage_of.update(dict.fromkeys(equation.outvars, stage))
    values = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    values |= dict(zip(jaxpr.invars, arguments, strict=True))
    results = list(map(value_of, jaxpr.outvars))
    for stage, equations in groups.items():
        later = (one for other, group in groups.items() if other > stage for one in group)
        needed = set(filter(_is_variable, results)).union(*map(_inputs, later))
        made = dict.fromkeys(each for equation in equations for each in equation.outvars)
        outputs = [each for each in made if each in needed]
        taken = dict.fromkeys(each for one in equations for each in _inputs(one))
        inputs = [each for each in taken if each not in made]
        part = jaxpr.replace(
            constvars=[],
            invars=inputs,
            outvars=outputs,
            eqns=equations,
            debug_info=jaxpr.debug_info.with_unknown_names(),
        )
        body = functools.partial(jax.core.eval_jaxpr, part, [])
        if stage >= 0:
            body = named_computation(body, name=names[stage])
        found = body(*(values[each] for each in inputs)) if outputs else []
        values |= dict(zip(outputs, found, strict=True))
    return [values[each] if _is_variable(each) else each.val for each in results]


def _inputs(equation: Any) -> list[Any]:
    """Return the variables that an equation takes."""
    return list(filter(_is_variable, equation.invars))


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")  # which literals have


def _marked(equation: Any) -> str | None:
    """Return the name of a marker; None for another equation."""
    name = equation.params.get("name")
    if not isinstance(name, str) or not name.startswith(_MARKER):
        return None
    return name.removeprefix(_MARKER).rstrip("/")


def _check_without_markers(equation: Any) -> None:
    """Check that no marker is in the functions of an equation."""
    stack = [equation]
    while stack:
        one = stack.pop()
        name = _marked(one)
        if name is not None:
            message = (
                f"the marker '{name}' is inside of '{equation.primitive}': mark values in the "
                "function itself, outside of loops, 'jax.jit' and 'jax.checkpoint'"
            )
            raise UsageError(error(message))
        for value in one.params.values():
            for each in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(each, "jaxpr", each)
                stack += getattr(inner, "eqns", ())
