# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of operations for graphs, computed once for equal names and types, and chains.

The layers of a model have the same operations, and to ask the bindings for a shape takes a
microsecond.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.host import identity, ir
from mlir_sdy.model import Shape
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.uses import has_one_use
from pyshardy.auto.graph.sites import Flow, Graph, Site
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.cost.op_work import Work
from pyshardy.irtools.functions import (
    MOST_OPERATIONS,
    can_be_inlined,
    entry_block,
    must_stay,
    original_name,
)
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.tensor_types import element_bytes, shape_of, tensor_bytes
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.work import depends_on_sizes_only
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS


@dataclass(frozen=True, eq=False, slots=True)
class TensorForm:
    """The properties of a type. There is one object for each type.

    Attributes:
        shape: the shape; empty for scalars and other values.
        element_bytes: the bytes of an element.
        nbytes: the bytes of the tensor.
    """

    shape: Shape
    element_bytes: int
    nbytes: int


@dataclass(eq=False, slots=True)
class OperationForm:
    """The properties of operations with equal names and types, and with the same values fused.

    Attributes:
        is_elementwise: whether all operands that are no scalars are sharded like the only result.
        work: the unsharded work; None if it depends on more than the types.
        alternatives: the strategies of an elementwise operation whose operands must be computed,
            and whose result may be sharded in any way; None if they are unknown so far.
    """

    is_elementwise: bool
    work: Work | None
    alternatives: Alternatives | None = None


class OperationForms:
    """The properties of the types and operations of a program.

    Args:
        of: finds the work of operations.
    """

    def __init__(self, of: AlternativesOf) -> None:
        self._of = of
        self._tensors: dict[int, TensorForm] = {}
        self._forms: dict[tuple[object, ...], OperationForm] = {}

    def tensor(self, value: ir.Value) -> TensorForm:
        """Return the properties of the type of a value."""
        value_type = value.type
        known = self._tensors.get(identity(value_type))
        if known is None:
            shape, nbytes = shape_of(value_type), element_bytes(value_type)
            known = TensorForm(shape, nbytes, tensor_bytes(value_type))
            self._tensors[identity(value_type)] = known
        return known

    def of(
        self,
        operation: ir.Operation,
        name: str,
        operands: Sequence[TensorForm],
        results: Sequence[TensorForm],
        accesses: Sequence[int],
    ) -> OperationForm:
        """Return the properties of an operation.

        Args:
            operation: the operation.
            name: its name.
            operands: the types of its operands.
            results: the types of its results.
            accesses: how often each operand is read, then how often each result is written.
        """
        key = name, len(operands), *operands, *results, *accesses
        known = self._forms.get(key)
        if known is None:
            work = self._of.work(operation, accesses) if depends_on_sizes_only(name) else None
            known = OperationForm(_is_elementwise(name, operands, results), work)
            self._forms[key] = known
        return known


def _is_elementwise(
    name: str, operands: Sequence[TensorForm], results: Sequence[TensorForm]
) -> bool:
    if name not in ELEMENTWISE_OPERATIONS or len(results) != 1:
        return False
    is_known = record_of(name).local_form is not None or name.startswith("sdy.")
    return is_known and all(each.shape in ((), results[0].shape) for each in operands)


class Chains:
    """Elementwise operations that share one sharding.

    An operation joins those that define its operands, if these have no other use and elements of
    the same size: a reshard between them can as well be made before the first or after the last.
    """

    def __init__(self) -> None:
        self._works: dict[int, list[tuple[str, Work]]] = {}
        self._results: dict[int, tuple[ir.Value, TensorForm]] = {}
        self._parents: dict[int, int] = {}

    def add(
        self,
        site: int,
        operation: ir.Operation,
        tensor: TensorForm,
        works: list[tuple[str, Work]],
        placed: Mapping[ir.Value, tuple[int, int]],
    ) -> None:
        """Add an elementwise operation without a given sharding.

        Args:
            site: its site.
            operation: the operation.
            tensor: the type of its result.
            works: its name and its unsharded work, and those of what it needs.
            placed: the sites and numbers of values.
        """
        self._works[site] = works
        self._results[site] = operation.results[0], tensor
        for operand in operation.operands:
            made = placed.get(operand)
            known = None if made is None else self._results.get(made[0])
            if made is None or known is None or known[1].element_bytes != tensor.element_bytes:
                continue
            # A barrier shares the site of its operand, but not its value.
            if known[0] == operand and has_one_use(operand):
                self._parents[self._root(made[0])] = site

    def _root(self, site: int) -> int:
        while site in self._parents:
            site = self._parents[site]
        return site

    def merge(self, graph: Graph, of: AlternativesOf) -> None:
        """Merge the sites of a graph."""
        works: dict[int, list[tuple[str, Work]]] = {}
        for site, own in self._works.items():
            works.setdefault(self._root(site), []).extend(own)
        numbers: dict[int, int] = {}
        sites: list[Site] = []
        for old, site in enumerate(graph.sites):
            if old in self._parents:
                continue
            numbers[old] = len(sites)
            sites.append(site)
            if old in works:
                _, tensor = self._results[old]
                site.alternatives = of.of_value(tensor.shape, None, 1, works[old])
        new = [numbers[self._root(old)] for old in range(len(graph.sites))]
        flows: list[Flow] = []
        for flow in graph.flows:
            flow.producer = new[flow.producer]
            flow.users = list(dict.fromkeys((new[site], operand) for site, operand in flow.users))
            flow.users = [user for user in flow.users if user[0] != flow.producer]
            flows.append(flow)
        graph.sites, graph.flows = sites, flows
        graph.placed = {value: (new[at], number) for value, (at, number) in graph.placed.items()}
        graph.results = {number: new[site] for number, site in graph.results.items()}


_CALL = "func.call"


class InlinedCalls:
    """Finds the calls that are inlined.

    The program has a copy of a function for each call. Copies with equal shardings become one
    function again after propagation, so that only a function that is called once, or that has few
    operations, is inlined for certain.

    Args:
        functions: the functions of the program by their names, each of which is called once.
    """

    def __init__(self, functions: Mapping[str, ir.Operation]) -> None:
        self._functions = functions
        self._copies = Counter(map(original_name, functions.values()))

    def replaces(self, call: ir.Operation, function: ir.Operation) -> bool:
        """Whether the partitioner replaces a call by the body of its function."""
        if not can_be_inlined(function) or must_stay(call):
            return False
        return (
            self._copies[original_name(function)] == 1
            or self._count(function, MOST_OPERATIONS) <= MOST_OPERATIONS
        )

    def bodies_in(self, module: ir.Module) -> dict[ir.Operation, ir.Block]:
        """Return the bodies of all calls that are inlined."""
        found: dict[ir.Operation, ir.Block] = {}
        for call in operations_named({_CALL}, module.operation):
            function = self._functions.get(callee_of(call))
            block = None if function is None else entry_block(function)
            if function is not None and block is not None and self.replaces(call, function):
                found[call] = block
        return found

    def _count(self, function: ir.Operation, most: int) -> int:
        """Return the operations of a function and of those it calls, or a number above `most`."""
        count = -2  # without the function itself and its terminator
        for operation, name in named_operations_in(function):
            count += 1
            if count > most:
                break
            if name == "func.call":
                callee = self._functions.get(callee_of(operation))
                count += 0 if callee is None else self._count(callee, most - count)
        return count
