# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as choices between strategies, and the tensors that flow between them.

| in the program                      | in the graph                                               |
|-------------------------------------|------------------------------------------------------------|
| an argument of `@main`              | a site: the shardings that it may have                     |
| an operation                        | a site: its strategies                                     |
| a chain of elementwise operations   | one site: intermediate results have no other use           |
| a value that a loop carries         | a site, which the initial value and the next one flow to   |
| the result of an `if` or a `case`   | a site, which the results of all branches flow to          |
| an argument of another function     | its operand if the call is inlined, else a site after it   |
| an annotated result of `@main`      | a site with the shardings that agree with the annotation   |
| one that replaces an argument       | a site, and a tie to that of the argument                  |
| a sharding group                    | a site, and ties to those of its members                   |
| a result, if shards may be uneven   | a site, since results must be even                         |
| the result of a barrier             | the site of its operand; it is resharded by itself         |
| a manual computation                | a site with the shardings that it declares                 |
| an operation on a single device     | a site with replicated operands and results                |
| one without results, as an outfeed  | the same, if it has operands                               |
| a constant, a broadcast of a scalar | nothing: each user computes its own shard                  |

An operation in a loop counts once for each iteration, and one in a function once for each call. A
value from outside of a loop is resharded once, since the partitioner hoists such reshards; one from
outside of a branch is resharded in each branch that uses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in, terminator_of
from mlir_sdy.uses import has_one_use
from mlir_sdy.values import COMPUTATIONS, get_sharding, result_shardings
from pyshardy.auto.graph.late_values import HEAVY, LateValues
from pyshardy.auto.graph.operation_forms import (
    Chains,
    InlinedCalls,
    OperationForm,
    OperationForms,
    TensorForm,
)
from pyshardy.auto.graph.partial_results import PartialValues, partials_left, with_partial_results
from pyshardy.auto.graph.replaced_arguments import replaced_arguments
from pyshardy.auto.graph.sites import Flow, Graph, LoopBody, Site
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.auto.strategies.computations import Computations
from pyshardy.cost.op_work import Work
from pyshardy.irtools.functions import entry_block, functions_of
from pyshardy.irtools.loops import Repetitions
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.irtools.stablehlo_views import (
    callee_of,
    symbol_name,
)
from pyshardy.irtools.tensor_types import shape_of, tensor_bytes
from pyshardy.partition.op_facts.fusion import FUSING_OPERATIONS, FusedValues
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.types.single_device import single_device_sharding
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_BARRIER = "stablehlo.optimization_barrier"
_BROADCAST = "stablehlo.broadcast_in_dim"
_CALL = "func.call"
_GROUP = "sdy.sharding_group"
_NAMED = "sdy.named_computation"
_WHILE = "stablehlo.while"
_BRANCHES = frozenset({"stablehlo.case", "stablehlo.if"})
_EFFECTS = frozenset({"stablehlo.custom_call", "stablehlo.outfeed", "stablehlo.send"})
_SAME_MEMORY = frozenset({"stablehlo.bitcast_convert", "stablehlo.reshape"})
_OF_CONSTANTS = ELEMENTWISE_OPERATIONS | {_BROADCAST, "stablehlo.reshape", "stablehlo.slice"}


def graph_of(
    module: ir.Module, alternatives: AlternativesOf, *, keep_given: bool = True, once: bool = True
) -> Graph:
    """Return the choices of a program.

    Args:
        module: the program, entered at `@main`, in which each function is called once.
        alternatives: finds strategies.
        keep_given: whether shardings in the program are fixed.
        once: whether only results that reuse the memory of donated arguments have their shardings,
            and not the others that replace arguments.
    """
    return _Builder(module, alternatives, keep_given, once).run()


_MOVING = frozenset(
    {
        *(f"stablehlo.{name}" for name in ("convert", "dynamic_slice", "reshape", "slice")),
        "stablehlo.transpose",
        "sdy.sharding_constraint",
    }
)
"""The operations whose results are known as early as their operands."""


class _Builder:
    """Reads a program once, in its order."""

    def __init__(
        self, module: ir.Module, alternatives: AlternativesOf, keep_given: bool, once: bool
    ):
        self.of = alternatives
        self.meshes = meshes_of(module)
        self.text = text_of(module)
        self.keep_given, self.once = keep_given, once
        self.functions = {symbol_name(each): each for each in functions_of(module)}
        self.inlined = InlinedCalls(self.functions)
        self.repetitions = Repetitions(module)
        self.graph = Graph()
        self.free: dict[ir.Value, Work] = {}
        self.fused_values = FusedValues(module, self.inlined.bodies_in(module))
        self.flow_of: dict[ir.Value, Flow] = {}
        self.flows: list[Flow] = []
        self.early: set[ir.Value] = set()
        self.late: set[ir.Value] = set()
        self.late_values = LateValues(self.functions)
        self.body = 0  # the number of the present body
        self.is_moving = False  # whether the present operation only moves an early value
        self.branches = [0]  # the numbers of the branches around the present operation
        self.num_branches = 0
        self.branch_of: dict[ir.Value, int] = {}
        self.in_branch: dict[tuple[int, int], Flow] = {}
        self.now = 0  # the time of the present operation
        self.forms = OperationForms(alternatives)
        self.chains = Chains()
        self.partial_values = PartialValues(module, lambda value: self._given(value) is None)
        self.with_partial: dict[tuple[object, ...], Alternatives] = {}
        self.computations = Computations(module, alternatives.choices.mesh)
        self.groups = defaultdict[int, list[ir.Value]](list)

    def run(self) -> Graph:
        main = self.functions.get("main") or next(iter(self.functions.values()))
        block = entry_block(main)
        assert block is not None, "checked by the caller"
        names = argument_names(main, self.text)
        self.early.update(block.arguments)
        for number, argument in enumerate(block.arguments):
            name = names[number] or f"arg{number}"
            site = self._value_site(argument, name, 1, is_even=True)
            self._define(argument, site, 0, 1)
        returned = terminator_of(block).operands
        self._block(block, [True] * len(returned), is_followed=False)
        self._results_of(main, block)
        for members in self.groups.values():
            found = self.of.of_value(shape_of(members[0].type), None, len(members))
            site = self._site(Site("the members of a sharding group", found, 1, _GROUP))
            self._tie({value: number for number, value in enumerate(members)}, site)
        self.graph.bodies[0].end = len(self.graph.times)
        self.graph.flows = self.flows
        for flow in reversed(self.flows):
            if flow.moved_from is not None:
                flow.moved_from.needed = min(flow.moved_from.needed, flow.needed)
        self.chains.merge(self.graph, self.of)
        return self.graph

    # --- Values -----------------------------------------------------------------------------

    def _given(self, value: ir.Value) -> TensorSharding | None:
        return get_sharding(value) if self.keep_given else None

    def _value_site(
        self,
        value: ir.Value,
        name: str,
        repetitions: int,
        operands: int = 0,
        *,
        is_even: bool = False,
    ) -> int:
        """Add a site for the sharding of a value."""
        shape = self.forms.tensor(value).shape
        found = self.of.of_value(shape, self._given(value), operands, is_even=is_even)
        return self._site(Site(name, found, repetitions, f"value of {operands}"))

    def _site(self, site: Site) -> int:
        site.body, site.time = self.body, self.now
        self.graph.sites.append(site)
        return len(self.graph.sites) - 1

    def _define(
        self,
        value: ir.Value,
        site: int,
        result: int,
        repetitions: int,
        memory_of: ir.Value | None = None,
        moved_from: ir.Value | None = None,
    ) -> None:
        """Note the site that defines a value.

        Args:
            value: the value.
            site: the site.
            result: the number of its result.
            repetitions: how often it is resharded.
            memory_of: the value whose memory it has.
            moved_from: the value that it is another form of.
        """
        self.graph.placed[value] = site, result
        tensor, now = self.forms.tensor(value), self.now
        flow = self.flow_of[value] = Flow(
            site, result, tensor.shape, tensor.nbytes, repetitions, start=now, uses=(now, now)
        )
        flow.memory_of = None if memory_of is None else self.flow_of.get(memory_of)
        flow.body, flow.can_wait = self.body, value in self.early or value in self.late
        if moved_from is not None and value in self.early:
            flow.moved_from = self.flow_of.get(moved_from)
        self.branch_of[value] = self.branches[-1]
        self.flows.append(flow)

    def _use(self, value: ir.Value, site: int, operand: int) -> None:
        flow = self.flow_of.get(value)
        if flow is None or not flow.shape:
            return
        if not self.is_moving:
            flow.needed = min(flow.needed, self.now)
        flow.add_use(self.now)
        if self.num_branches:
            flow = self._in_branch(value, flow)
        if (site, operand) not in flow.users:
            flow.users.append((site, operand))

    def _in_branch(self, value: ir.Value, flow: Flow) -> Flow:
        """Return the flow of a value in the present branch: each branch reshards what it uses."""
        made_in = self.branch_of[value]
        if made_in == self.branches[-1] or made_in not in self.branches:
            return flow
        key = id(flow), self.branches[-1]
        found = self.in_branch.get(key)
        if found is None:
            now = self.now
            found = self.in_branch[key] = Flow(
                flow.producer,
                flow.result,
                flow.shape,
                flow.nbytes,
                flow.repetitions,
                start=now,
                uses=(now, now),
                memory_of=flow,
                body=self.body,
            )
            self.flows.append(found)
        found.add_use(self.now)
        return found

    def _touch(self, value: ir.Value) -> None:
        """Note that a value is live at the present time."""
        flow = self.flow_of.get(value)
        if flow is not None:
            flow.add_use(self.now)

    def _tie(self, values: Mapping[ir.Value, int], site: int) -> None:
        """Tie the shardings of values to those of operands of a site, if all can be equal."""
        operands = self.graph.sites[site].alternatives.operands
        found = [(self.flow_of[value], at) for value, at in values.items() if value in self.flow_of]
        common = [
            {*operands[at]}.intersection(
                self.graph.sites[flow.producer].alternatives.results[flow.result]
            )
            for flow, at in found
        ]
        for flow, at in found if common and set.intersection(*common) else ():
            tie = Flow(flow.producer, flow.result, flow.shape, flow.nbytes, 1, [(site, at)])
            tie.is_tied = True
            self.flows.append(tie)

    # --- Operations -------------------------------------------------------------------------

    def _block(
        self, block: ir.Block, is_late: Sequence[bool] = (), *, is_followed: bool = True
    ) -> None:
        """Read the operations of a block.

        Args:
            block: the block.
            is_late: for each value that it returns whether it isn't needed soon; none is by
                default.
            is_followed: whether computation follows beside which late collectives can run.
        """
        self.late |= self.late_values.of(block, is_late, is_followed=is_followed)
        for view in block.operations:
            operation = view.operation
            name = operation.name
            time = self.now = len(self.graph.times)
            self.graph.times.append(name)
            self.is_moving = False
            if name == _CALL:
                self._call(operation)
            elif name == _BARRIER:
                repetitions = self.repetitions.of(operation) or 1
                for result, operand in zip(operation.results, operation.operands, strict=True):
                    self._touch(operand)
                    self._copy(result, operand, repetitions)
            elif name == _GROUP:
                group = view_as(sdy.ShardingGroupOp, operation).group_id.value
                self.groups[group].append(operation.operands[0])
            elif name == _NAMED and not _declares_shardings(operation):
                self._named_computation(operation)
            elif name == _WHILE:
                self._loop(operation)
            elif name in _BRANCHES:
                self._branches(operation)
            elif len(operation.results) or (name in _EFFECTS and len(operation.operands)):
                self._operation(operation, name)
            if name in HEAVY:
                body = self.graph.bodies[self.body]
                body.first = min(body.first, time)

    def _operation(self, operation: ir.Operation, name: str) -> None:
        operands, results = list(operation.operands), list(operation.results)
        taken = [self.forms.tensor(each) for each in operands]
        made = [self.forms.tensor(each) for each in results]
        self.is_moving = name in _MOVING and operands[0] in self.early
        if self.is_moving:
            self.early.update(results)
        accesses = self.fused_values.accesses(operation)
        is_fused = 0 in accesses[len(operands) :]
        form = self.forms.of(operation, name, taken, made, accesses)
        if self._is_free(name, operands, taken):
            work = self.of.work(operation, accesses) if form.work is None else form.work
            work = sum((self.free[each] for each in operands if each in self.free), work)
            self.free.update(dict.fromkeys(results, work))
            return
        if not any(each.shape for each in (*taken, *made)):
            return
        repetitions = self.repetitions.of(operation) or 1
        free = [self.free.get(operand) for operand in operands]
        given = [self._given(result) for result in results]
        options = self.partial_values.operands_of(operation)
        if form.is_elementwise and not options:
            found, works = self._elementwise(
                operation, name, form, made[0], given[0], free, accesses
            )
            site = self._site(Site(name, found, repetitions, name, operation.location))
            for operand in operands:
                self._use(operand, site, 0)
            if given[0] is None:
                self.chains.add(site, operation, made[0], works, self.graph.placed)
        else:
            if single_device_sharding(operation, self.meshes) is not None:
                found = self.of.of_single_device(operation, accesses)
            elif name in COMPUTATIONS:
                found = self.of.of_computation(operation, self.computations.of(operation))
            else:
                found = self.of.of_operation(operation, given, free, accesses)
            is_replicated = found.is_replicated
            if options or (len(results) == 1 and results[0] in self.partial_values):
                found = self._with_partial_results(operation, found, options, is_fused=is_fused)
            site = self._site(Site(name, found, repetitions, name, operation.location))
            self.graph.sites[site].is_late = all(each in self.late for each in results)
            if is_replicated:
                self.graph.replicated.append(self.graph.sites[site].name)
            for number, operand in enumerate(operands):
                self._use(operand, site, number)
        for number, result in enumerate(results):
            source = operands[0] if self.is_moving else None
            self._define(result, site, number, repetitions, moved_from=source)
            if is_fused:
                flow = self.flow_of[result]
                flow.is_fused = True
                # A value that enters or leaves an inlined function counts as memory: so the
                # predicted peak is closer to that of the partitioned program.
                users = (use.owner.operation for use in result.uses)
                if all(each.name in FUSING_OPERATIONS for each in users):
                    flow.has_memory = False
                    flow.sources = [self.flow_of[each] for each in operands if each in self.flow_of]

    def _elementwise(
        self,
        operation: ir.Operation,
        name: str,
        form: OperationForm,
        tensor: TensorForm,
        given: TensorSharding | None,
        free: Sequence[Work | None],
        accesses: Sequence[int],
    ) -> tuple[Alternatives, list[tuple[str, Work]]]:
        """Return the strategies of an elementwise operation, and its work.

        Args:
            operation: the operation.
            name: its name.
            form: its form.
            tensor: the type of its result.
            given: the sharding of its result by the user.
            free: for each operand that is computed on any shard the unsharded work of that.
            accesses: how often each operand is read, then how often the result is written.
        """
        works = [(name, self.of.work(operation, accesses) if form.work is None else form.work)]
        works += [(_BROADCAST, each) for each in free if each is not None]
        is_common = given is None and len(works) == 1 and form.work is not None
        if is_common and form.alternatives is not None:
            return form.alternatives, works
        found = self.of.of_value(tensor.shape, given, 1, works)
        if is_common:
            form.alternatives = found
        return found, works

    def _with_partial_results(
        self,
        operation: ir.Operation,
        found: Alternatives,
        options: Sequence[Sequence[int]],
        *,
        is_fused: bool,
    ) -> Alternatives:
        """Return the strategies of an operation, and those with partial operands or results."""
        sites, placed = self.graph.sites, self.graph.placed
        operands = [
            {
                at: partials_left(sites[placed[operation.operands[at]][0]].alternatives)
                for at in option
            }
            for option in options
        ]
        result = operation.results[0]
        leaves, shape = result in self.partial_values, shape_of(result.type)
        key = found, leaves, is_fused, tuple(tuple(each.items()) for each in operands)
        known = self.with_partial.get(key)
        if known is None:
            nbytes = tensor_bytes(result.type)
            known = self.with_partial[key] = with_partial_results(
                found, shape, nbytes, operands, self.of, leaves=leaves, is_fused=is_fused
            )
        return known

    def _is_free(
        self, name: str, operands: Sequence[ir.Value], tensors: Sequence[TensorForm]
    ) -> bool:
        """Whether each device can compute any shard of the results without tensors."""
        if name == _BROADCAST and not tensors[0].shape:
            return True
        is_simple = name in _OF_CONSTANTS or record_of(name).creates_any_shard
        return is_simple and all(
            not tensor.shape or operand in self.free
            for operand, tensor in zip(operands, tensors, strict=True)
        )

    # --- Operations with regions, and calls -------------------------------------------------

    def _call(self, call: ir.Operation) -> None:
        """Tie the operands of a call to the arguments of the function, and its results."""
        name = callee_of(call)
        function = self.functions.get(name)
        block = None if function is None else entry_block(function)
        if function is None or block is None:
            self._operation(call, _CALL)
            return
        repetitions = self._repetitions_in(block)
        is_inlined = self.inlined.replaces(call, function)
        for number, (argument, operand) in enumerate(
            zip(block.arguments, call.operands, strict=True)
        ):
            if operand in self.early:
                self.early.add(argument)
            if operand in self.free:
                self.free[argument] = self.free[operand]
                continue
            if is_inlined and self._given(argument) is None and operand in self.graph.placed:
                self._rename(argument, operand)
                continue
            site = self._value_site(argument, f"argument {number} of @{name}", repetitions, 1)
            self._define(argument, site, 0, repetitions, operand, operand)
            self.is_moving = argument in self.early
            self._use(operand, site, 0)
        self._block(block, [each in self.late for each in call.results])
        for result, value in zip(call.results, terminator_of(block).operands, strict=True):
            self._copy(result, value, self.repetitions.of(call) or 1)
            if is_inlined and result in self.flow_of and self.fused_values.is_fused(value):
                self.flow_of[result].is_fused = True

    def _named_computation(self, computation: ir.Operation) -> None:
        """Tie the values around a computation without shardings of its own to those inside."""
        block = computation.regions[0].blocks[0]
        repetitions = self.repetitions.of(computation) or 1
        place = f"{_NAMED} at {location_of(computation.location)}"
        for number, (argument, operand) in enumerate(
            zip(block.arguments, computation.operands, strict=True)
        ):
            if operand in self.free:
                self.free[argument] = self.free[operand]
                continue
            site = self._value_site(argument, f"argument {number} of {place}", repetitions, 1)
            self._define(argument, site, 0, repetitions, operand)
            self._use(operand, site, 0)
        self._block(block, [each in self.late for each in computation.results])
        returned = terminator_of(block).operands
        for number, (result, value) in enumerate(zip(computation.results, returned, strict=True)):
            if self._given(result) is None:
                self._copy(result, value, repetitions)
                continue
            site = self._value_site(result, f"result {number} of {place}", repetitions, 1)
            self._use(value, site, 0)
            self._define(result, site, 0, repetitions, value)

    def _rename(self, name: ir.Value, value: ir.Value) -> None:
        """Note that a value is another one, with which it shares reshards."""
        self.graph.placed[name] = self.graph.placed[value]
        self.flow_of[name] = self.flow_of[value]
        self.branch_of[name] = self.branch_of[value]

    def _copy(self, result: ir.Value, value: ir.Value, repetitions: int) -> None:
        """Note that a result has the sharding of a value, but is resharded by itself."""
        if value in self.early:
            self.early.add(result)
        if value in self.free:
            self.free[result] = self.free[value]
        elif value in self.graph.placed:
            self._define(result, *self.graph.placed[value], repetitions, value, value)

    def _loop(self, loop: ir.Operation) -> None:
        """Tie the initial, the carried and the next values of a loop."""
        outside = self.repetitions.of(loop) or 1
        blocks = [region.blocks[0] for region in loop.regions]
        inside = self._repetitions_in(blocks[1])
        sites: list[int] = []
        returned = terminator_of(blocks[1]).operands
        for number, (result, operand) in enumerate(zip(loop.results, loop.operands, strict=True)):
            is_kept = returned[number] == blocks[1].arguments[number]
            shares = is_kept or (isinstance(operand, ir.OpResult) and has_one_use(operand))
            if is_kept:
                self.early.update(block.arguments[number] for block in blocks)
                self.early.update([result] * (operand in self.early))
            title = f"value {number} of the loop at {location_of(loop.location)}"
            site = self._value_site(result, title, inside, 2)
            sites.append(site)
            self._use(operand, site, 0)
            self._define(result, site, 0, outside, operand if shares else None)
        around, self.body = self.body, len(self.graph.bodies)
        trips = inside // outside if inside % outside == 0 else 1
        body = LoopBody(trips, len(self.graph.times))
        self.graph.bodies.append(body)
        for number, (result, site) in enumerate(zip(loop.results, sites, strict=True)):
            for block in blocks:
                self._define(block.arguments[number], site, 0, inside, result)
        self._block(blocks[0])
        self._block(
            blocks[1], [self.late_values.is_only_written(each) for each in blocks[1].arguments]
        )
        self.body, body.end = around, len(self.graph.times)
        for site, value in zip(sites, returned, strict=True):
            self._use(value, site, 1)
        self._keep_alive(loop)

    def _branches(self, operation: ir.Operation) -> None:
        """Tie the results of an `if` or a `case` to those of its branches."""
        outside = self.repetitions.of(operation) or 1
        blocks = [region.blocks[0] for region in operation.regions]
        for block in blocks:
            self.num_branches += 1
            self.branches.append(self.num_branches)
            self._block(block)
            self.branches.pop()
        for number, result in enumerate(operation.results):
            title = f"result {number} of {operation.name} at {location_of(operation.location)}"
            site = self._value_site(result, title, outside, len(blocks))
            for index, block in enumerate(blocks):
                self._use(terminator_of(block).operands[number], site, index)
            self._define(result, site, 0, outside)
        self._keep_alive(operation)

    def _keep_alive(self, operation: ir.Operation) -> None:
        """Note that the values from outside of an operation's regions are live until its end."""
        for inner, _ in named_operations_in(operation, leaving_out=SCALAR_BODIES):
            for operand in inner.operands:
                self._touch(operand)

    def _repetitions_in(self, block: ir.Block) -> int:
        return self.repetitions.of(terminator_of(block)) or 1

    # --- Results ----------------------------------------------------------------------------

    def _results_of(self, main: ir.Operation, block: ir.Block) -> None:
        """Add sites for annotated results, and tie arguments to the results that replace them."""
        values = list(terminator_of(block).operands)
        given = result_shardings(main) if self.keep_given else [None] * len(values)
        names = result_names(main)
        replaced = replaced_arguments(main, by_name=not self.once)
        for number, value in enumerate(values):
            self._touch(value)
            if value not in self.flow_of or not shape_of(value.type):
                continue
            argument = replaced.get(number)
            if given[number] is None and argument is None and not self.of.choices.uneven:
                continue
            found = self.of.of_value(shape_of(value.type), given[number], 2, is_even=True)
            name = names[number] or f"result[{number}]"
            site = self._site(Site(name, found, 1, "result"))
            self._use(value, site, 0)
            self.graph.results[number] = site
            if argument is not None:
                self._tie({block.arguments[argument]: 1}, site)


def _declares_shardings(computation: ir.Operation) -> bool:
    return all(has_discardable(computation, each) for each in ("in_shardings", "out_shardings"))
