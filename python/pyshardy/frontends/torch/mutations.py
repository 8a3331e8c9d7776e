# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacement of operations that change tensors in place, one at a time.

`ExportedProgram.run_decompositions` replaces them by tracing the whole program again. Here an
operation is traced alone, with the views between a tensor and the part that it changes:

| graph                         | becomes                                   |
|-------------------------------|-------------------------------------------|
| `y = x[1]; y += z; x * w`     | `x' = select_scatter(x, x[1] + z, 1)`,    |
|                               | `y' = x'[1]`, `x' * w`                    |

Exported graphs record which values share memory: their types share a storage.
"""

from __future__ import annotations

import copy
import functools
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Graph, GraphModule, Node, map_arg
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.stages import stage
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.fragments import (
    Call,
    distinct,
    fake_mode_of,
    form_of,
    is_mutation,
    module_of,
    splice,
    tensor_nodes,
    trace_fragment,
)
from pyshardy.frontends.torch.registry import name_of
from pyshardy.frontends.torch.signature import (
    check_memory,
    graph_of_tensors,
    merge_tied,
    signature_of,
)
from pyshardy.frontends.torch.tensor_numbers import numbers_as_tensors


def without_mutations(program: ExportedProgram) -> tuple[ExportedProgram, GraphModule]:
    """Return a program in which changed buffers are outputs, and its graph without mutations.

    The inputs and outputs of the graph are those of the program that are tensors.
    """
    module = numbers_as_tensors(graph_of_tensors(program))
    changes = [node for node in _nodes(module) if _mutates(node)]
    if not changes:
        return program, module
    with stage("replacing operations in place"), warnings.catch_warnings():
        # PyTorch warns about its own use of deprecated functions.
        warnings.simplefilter("ignore", FutureWarning)
        if all(map(is_mutation, changes)) and is_replaceable(module, changes):
            return program, replaced(module)
        program = _copied(program)
        _check_changed(program, changes)
        _convert_in_autocast(program)
        program = program.run_decompositions({})
        return program, numbers_as_tensors(graph_of_tensors(program))


def _copied(program: ExportedProgram) -> ExportedProgram:
    """Return a program that can be changed, since the given one may be that of the user."""
    copied = copy.copy(program)
    copied._graph_module = copy.deepcopy(program.graph_module)
    copied._graph_signature = copy.deepcopy(program.graph_signature)
    return copied


def _check_changed(program: ExportedProgram, changes: Sequence[Node]) -> None:
    """Merge the names of a changed tensor, and check that changed tensors can be results.

    Raises:
        UsageError: a changed tensor is no parameter, buffer or input, or shares memory.
    """
    written = {_storage_of(each) for change in changes for each in _all_written(change)} - {None}
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    of_inputs: dict[Any, str] = {}
    for spec, node in zip(program.graph_signature.input_specs, placeholders.values(), strict=True):
        if spec.target is None and _storage_of(node) in written:
            other = of_inputs.setdefault(_storage_of(node), spec.arg.name)
            if other != spec.arg.name:
                message = f"the inputs '{other}' and '{spec.arg.name}' share memory, which changes"
                raise UsageError(error(f"{message}; give copies of them"))
    merge_tied(
        program, [name for name, node in placeholders.items() if _storage_of(node) in written]
    )
    changed = [
        spec
        for spec in program.graph_signature.input_specs
        if spec.target is not None and _storage_of(placeholders[spec.arg.name]) in written
    ]
    check_memory(signature_of(program).state, [str(spec.target) for spec in changed])
    for spec in changed:
        users = placeholders[spec.arg.name].users
        is_made_by_call = all("lift_fresh" in name_of(user.target) for user in users)
        if spec.kind is InputKind.CONSTANT_TENSOR and not is_made_by_call:
            message = f"the module changes the tensor '{spec.target}', which is no buffer, in place"
            raise UsageError(error(f"{message}; register it by 'register_buffer'"))


def _convert_in_autocast(program: ExportedProgram) -> None:
    """Replace operations composed of others in blocks of `torch.autocast`, if these are converted.

    PyTorch decomposes them below `torch.autocast`, and so `torch.einsum` without conversions.
    """
    module = program.graph_module
    for node in [*_nodes(module)]:
        if name_of(node.target) != "wrap_with_autocast" or not node.args[2]:
            continue
        owner: Any = node.graph.owning_module
        device, dtype, _, _, inner, *_ = cast("Any", node.args)
        body = owner.get_submodule(inner.target)
        block = functools.partial(torch.autocast, device, dtype, cache_enabled=False)
        for each in [*body.graph.nodes]:
            if each.op == "call_function" and _is_converted_inside(each.target):
                _convert_inside(each, block, fake_mode_of(module))
        body.recompile()


def _is_converted_inside(target: Any) -> bool:
    """Whether `torch.autocast` may convert numbers inside of an operation, and not before it."""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return (
        isinstance(target, torch._ops.OpOverload)
        and has_kernel(target.name(), "CompositeImplicitAutograd")
        and not has_kernel(target.name(), "AutocastCPU")
    )


def _convert_inside(node: Node, block: Callable[..., Any], mode: Any) -> None:
    call = Call(cast("Any", node.target), node.args, node.kwargs)

    def traced(*, enabled: bool) -> Graph:
        with mode, torch.no_grad(), block(enabled=enabled):
            return make_fx(lambda *tensors: call(tensors))(*distinct(call.inputs)).graph

    try:
        converted = traced(enabled=True)
    except DataDependentOutputException:  # it checks numbers, as 'istft' does
        return
    try:
        with failures.without_logs():
            plain = [each.target for each in traced(enabled=False).nodes]
    except RuntimeError:  # its arguments have different types
        plain = []
    if [each.target for each in converted.nodes] != plain:
        inputs = tensor_nodes(node.args, node.kwargs)
        with node.graph.inserting_before(node):
            node.replace_all_uses_with(splice(converted, node.graph, inputs, node))
        node.graph.erase_node(node)


def _all_written(node: Node) -> list[Node]:
    """Return the tensors that an operation changes."""
    target: Any = node.target
    if name_of(target) == "aten.batch_norm.default":
        return [each for each in node.args[3:5] if isinstance(each, Node)]
    if not is_mutation(node) or _is_view_in_place(node):
        return []
    parameters = target._schema.arguments
    given = {each.name: value for each, value in zip(parameters, node.args, strict=False)}
    given |= node.kwargs
    is_written = {each.name: each.alias_info and each.alias_info.is_write for each in parameters}
    return [
        each
        for name, value in given.items()
        if is_written[name]
        for each in tensor_nodes([value], {})
    ]


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
    if name_of(node.target) != "aten.batch_norm.default":
        return False
    *_, running_mean, _, is_training, _, _, _ = node.args
    return bool(is_training) and running_mean is not None  # which its schema doesn't declare


Storage = int
"""The identity of the memory of a tensor."""


def is_replaceable(module: GraphModule, mutations: Sequence[Node]) -> bool:
    """Whether operations in place can be replaced one at a time.

    They change one tensor each, the first argument, whose memory was allocated by the graph, and
    aren't in the graph of another operation.
    """
    memory = _Memory.of(module.graph)
    return all(each.graph is module.graph and memory.is_local(each) for each in mutations)


def replaced(module: GraphModule) -> GraphModule:
    """Return a graph with functions instead of operations in place; the given one stays.

    Args:
        module: a graph for which `is_replaceable` is true.
    """
    if not any(map(is_mutation, module.graph.nodes)):
        return module
    graph = Graph()
    copied: dict[Node, Node] = {}
    for node in module.graph.nodes:
        copied[node] = graph.node_copy(node, copied.__getitem__)
    _Replacement(module, graph, _Memory.of(graph)).run()
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    return module_of(graph, module)


@dataclass
class _Memory:
    """The nodes of a graph by the memory of their values, in order."""

    nodes: dict[Storage, list[Node]] = field(default_factory=dict)
    storages: dict[Node, Storage] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph) -> _Memory:
        memory = cls()
        for node in graph.nodes:
            storage = _storage_of(node)
            if storage is not None:
                memory.add(node, storage)
        return memory

    def add(self, node: Node, storage: Storage) -> None:
        """Add a node whose value has a memory."""
        self.storages[node] = storage
        self.nodes.setdefault(storage, []).append(node)

    def viewed(self, node: Node) -> list[Node]:
        """Return the arguments of a node that share its memory."""
        storage = self.storages[node]
        return [one for one in node.all_input_nodes if self.storages.get(one) == storage]

    def path(self, node: Node) -> list[Node]:
        """Return the nodes from the allocation of a node's memory to the node, in order."""
        needed, remaining = {node}, [node]
        while remaining:
            for one in self.viewed(remaining.pop()):
                if one not in needed:
                    needed.add(one)
                    remaining.append(one)
        return [one for one in self.nodes[self.storages[node]] if one in needed]

    def is_local(self, mutation: Node) -> bool:
        """Whether an operation in place changes only memory that the graph allocated."""
        if _is_view_in_place(mutation):
            return _as_view(mutation) is not None
        written = _written(mutation)
        if written not in self.storages:
            return False
        first, *views = self.nodes[self.storages[written]]
        return (
            first.op == "call_function"
            and isinstance(first.meta["val"], torch.Tensor)
            and all(map(_is_operation, views))
        )


@dataclass
class _Replacement:
    """Replaces the operations in place of a graph."""

    module: GraphModule
    graph: Graph
    memory: _Memory
    positions: dict[Node, int] = field(default_factory=dict)
    traced: dict[Any, Graph] = field(default_factory=dict)

    def run(self) -> None:
        """Replace all of them, in order."""
        nodes = [*self.graph.nodes]
        self.positions = {node: index for index, node in enumerate(nodes)}
        for node in nodes:
            if is_mutation(node):
                if _is_view_in_place(node):
                    node.target = _as_view(node)
                else:
                    self._replace(node)

    def _replace(self, mutation: Node) -> None:
        written = _written(mutation)
        assert written is not None
        storage = self.memory.storages[written]
        before = [
            node
            for node in self.memory.nodes[storage]
            if self.positions.get(node, -1) < self.positions[mutation]
        ]
        after = self.memory.nodes[storage][len(before) :]
        allocated = before[0]
        with self.graph.inserting_before(mutation):
            changed = self._changed(self.memory.path(written), mutation)
            new = {allocated: changed}
            renewed = [
                node for node in before[1:] if node is written or self._is_used(node, mutation)
            ]
            for node in [each for each in before[1:] if self._leads_to(each, renewed)]:
                new[node] = self.graph.node_copy(node, lambda one: new.get(one, one))
        new[mutation] = new[written]
        for node in [*before, mutation]:
            if node in new:
                self._replace_later_uses(node, new[node], mutation)
        self.memory.nodes[storage] = [*dict.fromkeys(new.values()), *after]
        for node in new.values():
            self.memory.storages[node] = storage

    def _changed(self, path: Sequence[Node], mutation: Node) -> Node:
        """Add a function that computes changed memory, and return its node.

        Args:
            path: the nodes from the allocation of the memory to the part that is changed.
            mutation: the operation that changes it.
        """
        allocated, *views = path
        operations = [*views, mutation]
        inputs = [allocated]
        for node in operations:
            inputs += [one for one in tensor_nodes(node.args, node.kwargs) if one not in path]
        inputs = [*dict.fromkeys(inputs)]

        def function(*values: Any) -> Any:
            known = dict(zip(inputs, values, strict=True))
            known[allocated] = known[allocated].clone()
            for node in operations:
                args, kwargs = map_arg((node.args, node.kwargs), known.__getitem__)
                target = cast("Callable[..., Any]", node.target)
                known[node] = target(*args, **kwargs)
            return known[allocated]

        places = {node: index for index, node in enumerate([*inputs, *views])}
        arguments = [
            places[one] for each in operations for one in tensor_nodes(each.args, each.kwargs)
        ]
        forms = [form_of(each.target, each.args, each.kwargs) for each in operations]
        key = form_of(None, (allocated,), {}), *arguments, *forms
        if key not in self.traced:
            with fake_mode_of(self.module):
                try:
                    module = trace_fragment(Call(function, inputs, changes_tensors=True))
                except RuntimeError as failure:  # of an operation that PyTorch can't replace
                    reason = failures.reason_of(failure)
                    raise PassError(failures.of_operation(mutation, reason)) from failure
            self.traced[key] = module.graph
        return splice(self.traced[key], self.graph, inputs, mutation)

    def _is_used(self, node: Node, mutation: Node) -> bool:
        """Whether a node is used after an operation."""
        end = self.positions[mutation]
        return any(self.positions.get(user, -1) > end for user in node.users)

    def _leads_to(self, node: Node, others: Sequence[Node]) -> bool:
        """Whether a node is on the path to any of the given nodes."""
        return any(node in self.memory.path(other) for other in others)

    def _replace_later_uses(self, node: Node, new: Node, mutation: Node) -> None:
        end = self.positions[mutation]
        node.replace_all_uses_with(new, lambda user: self.positions.get(user, -1) > end)


def _is_view_in_place(node: Node) -> bool:
    """Whether an operation in place changes no element: graphs use its result from then on."""
    target: Any = node.target
    return torch.Tag.inplace_view in target.tags


def _as_view(node: Node) -> Callable[..., Any] | None:
    """Return the view for a view in place: `aten.unsqueeze` for `aten.unsqueeze_`."""
    target: Any = node.target
    packet = getattr(torch.ops.aten, name_of(target).split(".")[1].removesuffix("_"), None)
    types = [str(each.type) for each in target._schema.arguments]
    for overload in packet.overloads() if packet is not None else ():
        view = getattr(packet, overload)
        if [str(each.type) for each in view._schema.arguments] == types:
            return view
    return None


def _written(mutation: Node) -> Node | None:
    """Return the tensor that an operation in place changes, if it is the first argument only."""
    target: Any = mutation.target
    first, *others = target._schema.arguments
    is_first = first.alias_info is not None and first.alias_info.is_write
    if not is_first or any(each.alias_info and each.alias_info.is_write for each in others):
        return None
    return mutation.args[0] if mutation.args and isinstance(mutation.args[0], Node) else None


def _is_operation(node: Node) -> bool:
    return node.target is operator.getitem or isinstance(node.target, torch._ops.OpOverload)


def _storage_of(node: Node) -> Storage | None:
    """Return the memory of a node's tensor, or the one that a sequence of tensors shares."""
    values = pytree.tree_leaves(node.meta.get("val"))
    if not values or not all(isinstance(value, torch.Tensor) for value in values):
        return None
    storages = {value.untyped_storage()._cdata for value in values}
    return storages.pop() if len(storages) == 1 else None
