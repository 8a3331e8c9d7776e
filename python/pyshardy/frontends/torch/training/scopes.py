# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source locations and scopes of the operations of a training step.

The scopes have the form of JAX, so that reports separate the passes (see `explain.page.scopes`):

| pass      | scope of the operations of `blocks.0.up` |
|-----------|------------------------------------------|
| forward   | `jvp(blocks.0/up)`                       |
| backward  | `transpose(jvp(blocks.0/up))`            |
| optimizer | `optimizer`                              |
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import traceback
from pathlib import Path

import torch
from torch.fx import Graph, Node

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.frontends.torch.frames import OWN_FOLDER, frames_outside, place_in


class Places:
    """The metadata of the operations of a training step.

    Args:
        caller: the frame of the user's call, for operations without a line of the model.
    """

    def __init__(self, caller: str) -> None:
        self._caller = caller
        self._nodes = Graph()
        self.optimizer = self._named("optimizer", caller, "optimizer")

    def name_forward(self, graph: Graph) -> None:
        """Mark the operations of an exported graph as those of the forward pass."""
        for node in graph.nodes:
            if node.op == "call_function":
                path = _path(node).removeprefix("model").removeprefix(".")
                _set(node, self._trace(node), f"jvp({path})")

    def backward(self, node: Node) -> Node:
        """Return a node with the metadata for the gradients of an operation."""
        return self._named("backward", self._trace(node), f"transpose({_path(node) or 'jvp()'})")

    def _named(self, name: str, trace: str, path: str) -> Node:
        node = self._nodes.placeholder(name)
        _set(node, trace, path)
        return node

    def _trace(self, node: Node) -> str:
        """Return the frames of a node in the user's files, or else that of the user's call."""
        trace = frames_outside(node.meta.get("stack_trace") or "", OWN_FOLDER)
        place = place_in(trace)
        return self._caller if place is None or place.filename.startswith(OWN_FOLDER) else trace


def _path(node: Node) -> str:
    stack = node.meta.get("nn_module_stack")
    return [*stack.values()][-1][0] if stack else ""


def _set(node: Node, trace: str, path: str) -> None:
    node.meta["stack_trace"] = trace
    node.meta["nn_module_stack"] = {path: (path, "")}


def caller() -> str:
    """Return the frame of the user's call of this package."""
    folders = OWN_FOLDER, contextlib.__file__  # the latter of decorators
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith(folders):
            return "".join(traceback.format_list([frame]))
    return ""


def source_of(node: Node) -> SourceLocation | None:
    """Return the location of an operation in the user's source, or None."""
    folders = str(Path(torch.__file__).parent), OWN_FOLDER
    trace = node.meta.get("stack_trace") or ""
    for folder in folders:
        trace = frames_outside(trace, folder)
    place = place_in(trace)
    return None if place is None or place.filename.startswith(folders) else place
