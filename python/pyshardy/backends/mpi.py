# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend `mpi`: each process of an MPI job is one device.

    mpiexec -n 6 python my_program.py          # program.run(inputs, backend="mpi")

Every process takes all inputs and returns the gathered results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, load_loop_passes, location_of, passmanager
from mlir_sdy.uses import replace_by
from pyshardy.backends.arrays.sharded_arrays import Column, OwnPart
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines import Arrays
from pyshardy.backends.jit.compiler import (
    BODIES_TO_LLVM,
    TO_LOOPS,
    CompiledProgram,
    call_library,
    use_scf,
)
from pyshardy.backends.jit.engine import LACKED
from pyshardy.backends.jit.machine_code import UnresolvedError, machine_code
from pyshardy.backends.jit.small_floats import drop_signs, expand_small_floats
from pyshardy.backends.mpi_library import MpiGroup, mpi_library
from pyshardy.backends.registry import CompileOptions, SpmdProgram
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.irtools.stablehlo_views import ConstantView, function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.entry import from_plain, to_plain, with_plain_edges
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of, use_dense_constants
from pyshardy.pipeline import run_pipeline

_OPTIMIZATION = 2
_SIMPLIFY = (
    "func.func(chlo-legalize-to-stablehlo),func.func(stablehlo-legalize-composite-to-call),"
    "inline,symbol-dce"
)
_TO_MPI = ("convert-shard-to-mpi", "canonicalize", "cse")
_TO_LLVM = (
    "lower-affine",
    *BODIES_TO_LLVM,
    "convert-to-llvm",
    "reconcile-unrealized-casts",
)
_REFUSED = "the program can't be compiled for MPI"
_RANK = "dlti.map"
"""The attribute of a module by which upstream's `canonicalize` gets the rank of the process."""


class MpiBackend:
    """Compiles programs for the processes of an MPI job."""

    def compile(self, module: ir.Module, layout: Layout, options: CompileOptions) -> SpmdProgram:
        """See `Backend.compile`.

        Raises:
            UsageError: there is no MPI library, or the job has another number of processes.
        """
        group = mpi_library().groups[options.instance]
        if layout.size not in {1, group.size}:
            raise wrong_number_of_processes("program is for", layout.size, group.size)
        entry = ir.SymbolTable(module.operation)[ENTRY].operation
        function_type = function_type_of(entry)
        place = location_of(entry.location)
        inputs = [spec_of(each, place) for each in function_type.inputs]
        outputs = [spec_of(each, place) for each in function_type.results]
        level = _OPTIMIZATION if options.optimization is None else options.optimization
        compiled = _compile_for_mpi(module, inputs, outputs, layout.size, level, group)
        if options.instance:
            return GroupProgram(compiled, inputs, outputs, group)
        return MpiProgram(compiled, inputs, outputs, None if layout.size == 1 else group)


def wrong_number_of_processes(what: str, expected: int, size: int) -> UsageError:
    """Return the error for a job with another number of processes than there are devices."""
    message = f"the {what} {expected} devices, but {size} processes run it: start it by"
    return UsageError(error(f"{message} 'mpiexec -n {expected} python ...'"))


class MpiProgram:
    """A program that is compiled for this process, and in the same way for all others.

    Args:
        compiled: the machine code.
        inputs: the types of the arguments on each device.
        outputs: the types of the results on each device.
        group: the processes; None for a program of one device, which every process runs alone.
    """

    def __init__(
        self,
        compiled: CompiledProgram,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        group: MpiGroup | None,
    ):
        self._compiled = compiled
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._group = group

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """See `SpmdProgram.run`. All processes must call it, with the same inputs."""
        if self._group is None:
            return [self._run_own(inputs[0])]
        own = self._run_own(inputs[self._group.rank])
        columns = [self._group.all_gather(array) for array in own]
        return [list(row) for row in zip(*columns, strict=True)] or [[]] * self._group.size

    def _run_own(self, inputs: Arrays) -> list[Array]:
        return from_plain(self._compiled(to_plain(inputs, self._inputs)), self._outputs)


class GroupProgram(MpiProgram):
    """A program that a group of the processes of a job runs; a process has its own shards only."""

    def run_columns(self, columns: Sequence[Column]) -> list[Column]:
        """See `ColumnExecutable.run_columns`. All processes of the group must call it."""
        assert self._group is not None, "it has processes"
        rank, size = self._group.rank, self._group.size
        own = self._run_own([column[rank] for column in columns])
        return [OwnPart(size, rank, array) for array in own]


# --- Compilation ---------------------------------------------------------------------------------


def _compile_for_mpi(
    module: ir.Module,
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    devices: int,
    optimization: int,
    group: MpiGroup,
) -> CompiledProgram:
    """Compile a program for one of several processes.

    Up to the calls of MPI, the pipeline `stablehlo-to-mpi-pipeline` does the same for programs
    without loops and unsigned integers, whose conversions are not registered passes.

    Args:
        module: local StableHLO, entered at `@main`. It isn't changed.
        inputs: the types of the arguments.
        outputs: the types of the results.
        devices: the number of processes.
        optimization: the level from 0 (fast compilation) to 3 (fast code).
        group: the processes.

    Raises:
        PipelineError: a pass rejects the program.
        ExecutionError: the host can't compile the lowered program.
    """
    load_loop_passes()
    context = module.context
    text = module.operation.get_asm(assume_verified=True, enable_debug_info=True)
    plain = ir.Module.parse(with_plain_edges(text, inputs, outputs, context), context)
    use_dense_constants(plain)
    expand_ragged_dots(plain)
    run_pipeline(plain, _SIMPLIFY)
    local = copy_of(decomposed(plain, LACKED))
    with context, ir.Location.unknown():
        run_pipeline(local, f"stablehlo-to-shard{{devices={devices}}},shard-prepare-for-mpi")
        use_scf(local)
        try:
            _run(local, ("stablehlo-legalize-to-linalg",))
            drop_signs(local)
            set_discardable(local.operation, _RANK, _rank_attribute(group.rank))
            _run(local, _TO_MPI)
            _make_communicators(local, group)
            _run(local, TO_LOOPS)
            expand_small_floats(local, text)
            call_library(local)
            _run(local, _TO_LLVM)
        except ir.MLIRError as refusal:
            raise ExecutionError(error(f"{_REFUSED}: {refusal}")) from None
        for grid in operations_named({"shard.grid"}, local):
            grid.erase()
        entry = ir.SymbolTable(plain.operation)[ENTRY].operation
        results = [spec_of(each) for each in function_type_of(entry).results]
        try:
            address, code = machine_code(local, ENTRY, optimization)
        except UnresolvedError as unresolved:
            place, *_ = [*filter(None, unresolved.uses.values()), None]
            raise ExecutionError(error(f"{_REFUSED}: {unresolved}", place)) from None
        except RuntimeError as reason:
            raise ExecutionError(error(f"{_REFUSED}: {reason}")) from None
    return CompiledProgram(address, code, [(spec.shape, spec.dtype) for spec in results])


def _run(module: ir.Module, passes: Sequence[str]) -> None:
    pipeline = f"builtin.module({','.join(passes)})"
    passmanager.PassManager.parse(pipeline).run(module.operation)


def _rank_attribute(rank: int) -> ir.Attribute:
    """The value of the attribute `_RANK` for a process."""
    return ir.Attribute.parse(f'#dlti.map<"MPI:comm_world_rank" = {rank}>')


# --- Communicators -------------------------------------------------------------------------------


def _make_communicators(module: ir.Module, group: MpiGroup) -> None:
    """Create the communicators of a program, and replace the operations that would do so.

    Upstream creates one in each execution of a collective, but an MPI library supports only some
    thousands. Color and key are constants in the code of each process, so the communicator is
    created beforehand: one for all collectives with equal groups.

    All processes must call this for the same programs in the same order.

    Args:
        module: a program that calls MPI, specialized for this process by `_RANK`.
        group: the processes that run it.
    """
    if splits := operations_named({"mpi.comm_split"}, module):
        own = [[_constant(operand) for operand in split.operands[1:]] for split in splits]
        every = np.stack(group.all_gather(np.array(own, np.int64)), axis=1)
        for split, of_processes in zip(splits, every, strict=True):
            colors, keys = (tuple(column) for column in of_processes.T.tolist())
            _replace_by_communicator(split, group.communicator(colors, keys))
    for whole in operations_named({"mpi.comm_world"}, module):
        _replace_by_communicator(whole, group.handle)


def _replace_by_communicator(operation: ir.Operation, handle: int) -> None:
    with ir.InsertionPoint(operation), operation.location:
        integer = ir.IntegerType.get_signless(64)
        number = ir.Operation.create(
            "arith.constant",
            results=[integer],
            attributes={"value": ir.IntegerAttr.get(integer, handle)},
        )
        # The conversion of communicators of upstream's dialect to LLVM's.
        cast = ir.Operation.create(
            "builtin.unrealized_conversion_cast",
            results=[operation.results[0].type],
            operands=[number.result],
        )
    replace_by(operation, cast.result)


def _constant(value: ir.Value) -> int:
    """Return the constant that a value is, in code for one process."""
    return int(ConstantView(value.owner.operation).value.value)
