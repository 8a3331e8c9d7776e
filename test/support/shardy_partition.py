# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that C++ Shardy has propagated and partitioned, as `sdy.partition` gives its own."""

from shardy import Shardy

from mlir_sdy.assembly import parse
from mlir_sdy.attributes import value_of
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from pyshardy.irtools.functions import main_function
from pyshardy.local_program.communication import collectives_of
from pyshardy.local_program.values import spec_of
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, Port

_PIPELINE = (
    "builtin.module(sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,"
    "symbol-dce,sdy-apply-sharding-constraints,sdy-sharding-group-import,"
    "sdy-user-priority-propagate{{keep-sharding-rules=true}},"
    "sdy-export-pipeline{{partitioner-stage=convert-global-to-local partition-count={count} "
    "replica-count=1}})"
)


def partitioned_by_shardy(shardy: Shardy, text: str, context: Context) -> PartitionedProgram:
    """Let C++ Shardy of jaxlib 0.12 or newer partition a program.

    Args:
        shardy: the oracle.
        text: the annotated program, with a mesh and a function `@main`.
        context: where to parse what it makes.

    Raises:
        ShardyRefused, ShardyAborted: it can't.
    """
    module = parse(text, context)
    mesh = next(mesh for mesh in meshes_of(module).values() if mesh.axes)
    answer = shardy.run(text, _PIPELINE.format(count=mesh.total_size))
    local = parse(answer, context)
    # Calls are named computations there, and constants are there twice.
    run_pipeline(local, "sdy-export-named-computations,inline,symbol-dce,canonicalize,cse")
    return program_of(module, local)


def program_of(module: ir.Module, local: ir.Module) -> PartitionedProgram:
    """Return the program of one device as `sdy.partition` does.

    Args:
        module: the program before.
        local: what `sdy-convert-global-to-local` has made of it; it loses its attributes of sdy.
    """
    mesh = next(mesh for mesh in meshes_of(module).values() if mesh.axes)
    attributes = local.operation.attributes
    inputs = _ports(module, local, attributes["sdy.parameters_shardings"], mesh, "inputs")
    outputs = _ports(module, local, attributes["sdy.output_shardings"], mesh, "results")
    run_pipeline(local, "sdy-drop-sharding-and-mesh")
    return PartitionedProgram(local, mesh, inputs, outputs, collectives_of(local, mesh))


def _ports(
    module: ir.Module, local: ir.Module, shardings: ir.Attribute, mesh: Mesh, kind: str
) -> tuple[Port, ...]:
    types = [
        getattr(main_function(each).attributes["function_type"].value, kind)
        for each in (module, local)
    ]
    given: tuple[TensorSharding, ...] = value_of(shardings).shardings
    return tuple(
        Port(f"{kind} {index}", spec_of(whole), sharding, spec_of(shard), mesh)
        for index, (whole, shard, sharding) in enumerate(zip(*types, given, strict=True))
    )
