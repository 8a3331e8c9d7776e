# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA compiles partitioned programs, and gets the numbers of the unpartitioned ones."""

from pathlib import Path

import numpy as np
import pytest
from partition_cases import CONTROL_FLOW, PRELUDE, localised
from programs import ProgramWriter, random_module_with_calls

from mlir_sdy.assembly import parse
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))


class Writer(ProgramWriter):
    """Writes operations that are exact on whole numbers."""

    sizes = (8, 16)
    unary_operations = ("negate", "abs", "floor")
    binary_operations = ("add", "multiply", "maximum", "subtract")


MESHES = (
    Mesh((MeshAxis("a", 2), MeshAxis("b", 4))),
    Mesh((MeshAxis("a", 2), MeshAxis("b", 2)), (2, 0, 3, 1)),
)
PROGRAMS = {
    **{path.stem: path.read_text() for path in EXAMPLES},
    **{
        f"random {seed}": random_module_with_calls(seed, meshes=MESHES, writer_class=Writer)
        for seed in (11, 13, 16, 18, 20, 21, 26)
    },
    **{name: PRELUDE + text for name, text in CONTROL_FLOW.items()},
}
AS_REPLICAS = (*(path.stem for path in EXAMPLES), "while", "reshards of users", "sub-axes")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_partitions(name, context):
    module, program, inputs = prepared(name, context)
    check(program, program.run(inputs, backend="xla"), run_unpartitioned(module, inputs))


@pytest.mark.parametrize("name", AS_REPLICAS)
def test_as_replicas(name, context):
    module, program, inputs = prepared(name, context)
    layout = Layout(program.mesh.total_size, 1)
    replicas = local_xla_program(localised(module, f"replica-count={layout.size}"), layout)
    found = program.gather(replicas.run(program.scatter(inputs)))
    check(program, found, run_unpartitioned(module, inputs))


def prepared(name: str, context) -> tuple[ir.Module, PartitionedProgram, list[np.ndarray]]:
    """A program with its shardings, the same partitioned, and inputs for it."""
    module = parse(PROGRAMS[name], context)
    propagate(module)
    program = partition(module)
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    if name.startswith("random"):
        inputs = [np.trunc(3 * array) for array in inputs]
    return module, program, inputs


def check(program: PartitionedProgram, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """The results are those of the interpreter, up to rounding."""
    for port, ours, wanted in zip(program.outputs, found, expected, strict=True):
        assert compare(ours, wanted, port.spec).is_small, port.name
