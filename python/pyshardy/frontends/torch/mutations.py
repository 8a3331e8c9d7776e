# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that change tensors in place."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from mlir_sdy.stages import stage
from pyshardy.frontends.torch import in_place
from pyshardy.frontends.torch.fragments import is_mutation
from pyshardy.frontends.torch.registry import name_of
from pyshardy.frontends.torch.signature import graph_of_tensors
from pyshardy.frontends.torch.tensor_numbers import numbers_as_tensors


def without_mutations(program: ExportedProgram) -> tuple[ExportedProgram, GraphModule]:
    """Return a program in which changed buffers are outputs, and its graph without mutations.

    The inputs and outputs of the graph are those of the program that are tensors.
    """
    module = numbers_as_tensors(graph_of_tensors(program))
    found = [node for node in _nodes(module) if _mutates(node)]
    if not found:
        return program, module
    with stage("replacing operations in place"), warnings.catch_warnings():
        # PyTorch warns about its own use of deprecated functions.
        warnings.simplefilter("ignore", FutureWarning)
        if all(map(is_mutation, found)) and in_place.is_replaceable(module, found):
            return program, in_place.replaced(module)
        program = program.run_decompositions({})
        return program, numbers_as_tensors(graph_of_tensors(program))


def _nodes(module: GraphModule) -> Iterator[Node]:
    """Yield the operations of a graph and of the graphs in it."""
    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            yield from (node for node in each.graph.nodes if node.op == "call_function")


def _mutates(node: Node) -> bool:
    """Whether an operation changes or converts one of its arguments."""
    if is_mutation(node):
        return True
    if name_of(node.target) == "wrap_with_autocast" and node.args[2]:
        return True  # it converts arguments, which PyTorch makes explicit in the same way
    if name_of(node.target) == "_add_batch_dim":
        return True  # of torch.vmap, which PyTorch resolves in the same way
    updates = _UPDATES_STATISTICS.get(name_of(node.target))
    return updates is not None and bool(_argument(node, updates)) and _argument(node, 3) is not None


_UPDATES_STATISTICS = {"aten.batch_norm.default": 5, "aten.instance_norm.default": 5}
"""Operations that update the running mean, argument 3, if the argument of this index is true.

Their schemas don't declare it.
"""


def _argument(node: Node, index: int) -> Any:
    return node.args[index] if index < len(node.args) else None
