# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of a partitioned program to machine code that calls MPI."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import error
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, load_loop_passes, passmanager
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.jit.compiler import BODIES_TO_LLVM, TO_LOOPS, CompiledProgram
from pyshardy.backends.jit.control_flow import use_scf
from pyshardy.backends.jit.engine import LACKED
from pyshardy.backends.jit.library import call_library
from pyshardy.backends.jit.machine_code import UnresolvedError, machine_code
from pyshardy.backends.jit.signs import drop_signs
from pyshardy.backends.jit.small_floats import expand_small_floats
from pyshardy.backends.mpi.communicators import RANK, make_communicators, rank_attribute
from pyshardy.backends.mpi.library import mpi_library
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.entry import with_plain_edges
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.resources import use_dense_constants
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.local_program.values import spec_of
from pyshardy.pipeline import run_pipeline

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


def compile_for_mpi(
    module: ir.Module,
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    devices: int,
    optimization: int,
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
            library = mpi_library()
            set_discardable(local.operation, RANK, rank_attribute(library.rank))
            _run(local, _TO_MPI)
            make_communicators(local, library)
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
