# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the corpus, ready to run, and what they should compute.

XLA runs each on one device. Programs with manual computations have no form for one device: they
are compared with what XLA's own partitioner makes of them.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.comparison import Difference, compare, random_inputs, tolerance_within
from pyshardy.backends.xla.program import XlaProgram
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PROGRAMS = sorted((Path(__file__).parents[1] / "corpus" / "mlir").glob("*.mlir"))

OPTIONS = CompileOptions(
    optimization=0,
    custom_calls={"CustomSPMDPartitioning": lambda x, w: x * w},  # in `custom_partitioning_rule`
)
"""How to run them: compiled fast, and with the function that one of them calls back."""

TAKES_ROOTS = {"transformer_train_adam_fsdp"}
"""Second moments are among its inputs."""

ROUNDING = 1e-4
"""The relative difference that sums in another order explain, after the loops of the corpus."""


class CorpusProgram:
    """A program, partitioned.

    Args:
        path: where it is.
        context: a context with the dialect.

    Attributes:
        program: the partitioned program.
        inputs: made-up inputs.
    """

    def __init__(self, path: Path, context: ir.Context):
        module = parse(path.read_text(), context)
        self._original = copy_of(module)
        propagate(module)
        self.program = partition(module)
        self.inputs = inputs_of(self.program, path.stem)

    def expected(self) -> list[Array]:
        """What it should compute."""
        if "sdy.manual_computation" in asm(self._original):
            return by_xla_partitioner(self._original, self.program, self.inputs)
        return run_unpartitioned(self._original, self.inputs, "xla", OPTIONS)

    def differences(self, found: Sequence[Array], expected: Sequence[Array]) -> list[Difference]:
        """How far each result is from what it should be."""
        tolerance = max(tolerance_within(self._original), ROUNDING)
        return [
            compare(ours, theirs, port.spec, tolerance)
            for port, ours, theirs in zip(self.program.outputs, found, expected, strict=True)
        ]


def inputs_of(program: PartitionedProgram, name: str) -> list[Array]:
    """Made-up inputs; none is negative where a program takes roots of them."""
    arrays = random_inputs([port.spec for port in program.inputs], seed=0)
    return list(map(np.abs, arrays)) if name in TAKES_ROOTS else arrays


def by_xla_partitioner(
    module: ir.Module, program: PartitionedProgram, inputs: list[Array]
) -> list[Array]:
    """The results of a program that XLA propagates and partitions itself.

    It lays arguments and results out as propagated, as ours are.
    """
    specs = [[port.local_spec for port in ports] for ports in (program.inputs, program.outputs)]
    layout = Layout(1, program.mesh.total_size)
    theirs = XlaProgram(asm(module), *specs, layout, partitioned_by_xla=True)
    return program.gather(theirs.run(program.scatter(inputs)))
