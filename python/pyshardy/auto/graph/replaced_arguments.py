# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of a step that replace its arguments in the next one: they get equal shardings.

1. A result that reuses the memory of a donated argument replaces that argument.
2. A tree of results replaces a tree of arguments with equal paths and types: of `params['w']` and
   `params['b']`, the results `result[1]['w']` and `result[1]['b']`. A result with the name of an
   argument and its type replaces it, too.
3. A tree of at least two results replaces arguments without names if exactly one run of these has
   its types, in order. JAX sorts the leaves of both trees alike.

A result that the program shards keeps its sharding.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.backends.donations import reused_results
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.irtools.stablehlo_views import function_type_of

_ROOT = re.compile(r"[A-Za-z_]\w*")
_TREES = re.compile(r"result(?:\[\d+\])?")
"""The trees of results: all of them, or an element of the tuple that a function returns."""

_Tree = Mapping[str, int]
"""The positions of the leaves of a tree by their paths."""


def replaced_arguments(function: ir.Operation, *, by_name: bool = True) -> dict[int, int]:
    """Return the arguments of a step that its results replace, by the positions of the results.

    Args:
        function: the entry.
        by_name: whether 2 and 3 count, or donations alone.

    Raises:
        UsageError: the attribute of a donated argument is malformed.
    """
    types = function_type_of(function)
    inputs, outputs = list(types.inputs), list(types.results)
    found = dict[int, int]()
    if by_name:
        names, results = argument_names(function, None), result_names(function)
        trees = _trees_of_results(results)
        found |= _by_types([name is None for name in names], inputs, outputs, trees)
        found |= _by_paths(_trees_of_arguments(names), inputs, outputs, trees)
        at = {name: index for index, name in enumerate(names) if name is not None}
        for number, name in enumerate(results):
            if name in at and inputs[at[name]] == outputs[number]:
                found[number] = at[name]
    reused = reused_results(function, inputs, outputs)
    return found | {result: argument for argument, result in reused.items()}


def _trees_of_arguments(names: Sequence[str | None]) -> Mapping[str, _Tree]:
    """Return the trees of arguments by the names of parameters; single arrays are none."""
    trees: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index, name in enumerate(names):
        root = _ROOT.match(name or "")
        if name is not None and root is not None and root.end() < len(name):
            trees[root[0]][name[root.end() :]] = index
    return trees


def _trees_of_results(names: Sequence[str | None]) -> list[_Tree]:
    """Return the trees of results: that of the whole result, and those of its elements."""
    trees: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index, name in enumerate(names):
        for root in _roots(name or ""):
            trees[root][(name or "")[len(root) :]] = index
    return list(trees.values())


def _roots(name: str) -> Iterator[str]:
    longest = _TREES.match(name)
    for root in {"result", longest[0]} if longest is not None else ():
        if len(root) < len(name):
            yield root


def _by_paths(
    arguments: Mapping[str, _Tree],
    inputs: Sequence[ir.Type],
    outputs: Sequence[ir.Type],
    trees: Sequence[_Tree],
) -> dict[int, int]:
    """Return the results of trees with the paths and types of arguments, with the arguments."""
    found: dict[int, int] = {}
    for tree in trees:
        for known in arguments.values():
            if tree.keys() == known.keys() and all(
                inputs[known[path]] == outputs[result] for path, result in tree.items()
            ):
                found.update((result, known[path]) for path, result in tree.items())
    return found


def _by_types(
    is_unnamed: Sequence[bool],
    inputs: Sequence[ir.Type],
    outputs: Sequence[ir.Type],
    trees: Sequence[_Tree],
) -> dict[int, int]:
    """Return the results of trees with the types of one run of unnamed arguments."""
    found: dict[int, int] = {}
    for tree in trees:
        results = sorted(tree.values())
        types = [outputs[each] for each in results]
        starts = [
            start
            for start in range(len(inputs) - len(types) + 1)
            if inputs[start : start + len(types)] == types
            and all(is_unnamed[start : start + len(types)])
        ]
        if len(types) > 1 and len(starts) == 1:
            found.update(zip(results, range(starts[0], starts[0] + len(types)), strict=True))
    return found
