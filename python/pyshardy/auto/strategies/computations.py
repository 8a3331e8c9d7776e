# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work and communication of manual and named computations, which the search keeps as they are.

The shardings around a computation are those that it declares. The computation is put into a program
of its own, which is propagated and partitioned: the collectives that the user wrote count, and
those along the axes that the computation leaves to the partitioner.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import func, ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import set_argument_shardings, set_result_shardings
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.cost.op_work import TensorSizes, Work
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.loops import Repetitions
from pyshardy.irtools.stablehlo_views import COLLECTIVES, callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.partition.op_facts.fusion import FusedValues
from pyshardy.partition.op_facts.work import work_of
from pyshardy.pipeline import PipelineError, run_pipeline

_PIPELINE = "symbol-dce, sdy-propagation-pipeline, sdy-partition-pipeline"


@dataclass(frozen=True, slots=True)
class MeasuredComputation:
    """The work and communication of one execution of a computation on a device.

    Attributes:
        works: the name, the work and the number of executions of its operations.
        collectives: its collectives with their numbers of executions.
    """

    works: tuple[tuple[str, Work, int], ...] = ()
    collectives: tuple[tuple[PlannedCollective, int], ...] = ()


class Computations:
    """Measures the computations of a program, equal ones once.

    Args:
        module: the program.
        mesh: its devices.
    """

    def __init__(self, module: ir.Module, mesh: Mesh):
        self._module = module
        self._mesh = mesh
        self._known: dict[str, MeasuredComputation] = {}

    def of(self, operation: ir.Operation) -> MeasuredComputation:
        """Return the work and communication of a computation.

        A computation that can't be partitioned counts as nothing, with a warning.
        """
        program = self._alone(operation)
        key = str(program)
        known = self._known.get(key)
        if known is None:
            try:
                run_pipeline(program, _PIPELINE)
            except PipelineError as reason:
                message = f"the cost of this {operation.name} isn't known, and counts as nothing: "
                emit(warning(f"{message}{reason}", location_of(operation.location)))
                known = MeasuredComputation()
            else:
                known = _measured(program, self._mesh)
            self._known[key] = known
        return known

    def _alone(self, operation: ir.Operation) -> ir.Module:
        """Return a program that consists of a computation, with the functions that it calls."""
        program = ir.Module.create(operation.location)
        functions = {symbol_name(each): each for each in functions_of(self._module)}
        for view in self._module.body.operations:
            if view.operation.name != "func.func":
                program.body.append(view.operation.clone(ip=False))
        called, pending = set[str](), [operation]
        while pending:
            for call in operations_named({"func.call"}, pending.pop()):
                name = callee_of(call)
                if name in functions and name not in called:
                    called.add(name)
                    program.body.append(functions[name].clone(ip=False))
                    pending.append(functions[name])
        types = [operand.type for operand in operation.operands]
        results = [result.type for result in operation.results]
        with ir.InsertionPoint(program.body), operation.location:
            main = func.FuncOp("main", (types, results), visibility="public")
            block = main.add_entry_block()
        with ir.InsertionPoint(block), operation.location:
            inner = operation.clone().operation
            for number, argument in enumerate(block.arguments):
                inner.operands[number] = argument
            func.ReturnOp(list(inner.results))
        cache = AttributeCache(operation.context)
        ends = ("in_shardings", set_argument_shardings), ("out_shardings", set_result_shardings)
        for attribute, write in ends:
            given = value_of(get_discardable(operation, attribute)).shardings
            write(main.operation, {at: each.closed_like() for at, each in enumerate(given)}, cache)
        return program


def _measured(program: ir.Module, mesh: Mesh) -> MeasuredComputation:
    """Return the work and communication of a local program."""
    sizes, repetitions, none = TensorSizes(), Repetitions(program), Work()
    fused = FusedValues(program)
    works: list[tuple[str, Work, int]] = []
    for operation, name in named_operations_in(program, leaving_out=SCALAR_BODIES):
        if name not in COLLECTIVES:
            work = work_of(name, sizes.of_operation(operation, fused.accesses(operation)))
            if work != none:
                works.append((name, work, repetitions.of(operation) or 1))
    collectives = tuple(
        (each.planned, each.assumed_repetitions) for each in collectives_of(program, mesh)
    )
    return MeasuredComputation(tuple(works), collectives)
