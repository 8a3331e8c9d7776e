# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creation of communicators at compile time.

Upstream creates one in each execution of a collective, but an MPI library supports only some
thousands. Color and key are constants in the code of each process, so the communicator is created
beforehand: one for all collectives with equal groups.
"""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.mpi.library import MpiLibrary
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named

RANK = "dlti.map"
"""The attribute of a module by which upstream's `canonicalize` gets the rank of the process."""


def rank_attribute(rank: int) -> ir.Attribute:
    """The value of the attribute `RANK` for a process."""
    return ir.Attribute.parse(f'#dlti.map<"MPI:comm_world_rank" = {rank}>')


def make_communicators(module: ir.Module, library: MpiLibrary) -> None:
    """Create the communicators of a program, and replace the operations that would do so.

    All processes must call this for the same programs in the same order.

    Args:
        module: a program that calls MPI, specialized for this process by `RANK`.
        library: the MPI library.
    """
    splits = operations_named({"mpi.comm_split"}, module)
    if not splits:
        return
    own = [[_constant(operand) for operand in split.operands[1:]] for split in splits]
    every = np.stack(library.all_gather(np.array(own, np.int64)), axis=1)
    for split, of_processes in zip(splits, every, strict=True):
        colors, keys = (tuple(column) for column in of_processes.T.tolist())
        handle = library.communicator(colors, keys)
        with ir.InsertionPoint(split), split.location:
            integer = ir.IntegerType.get_signless(64)
            number = ir.Operation.create(
                "arith.constant",
                results=[integer],
                attributes={"value": ir.IntegerAttr.get(integer, handle)},
            )
            # The conversion of communicators of upstream's dialect to LLVM's.
            cast = ir.Operation.create(
                "builtin.unrealized_conversion_cast",
                results=[split.results[0].type],
                operands=[number.result],
            )
        split.results[0].replace_all_uses_with(cast.result)
        split.erase()


def _constant(value: ir.Value) -> int:
    """Return the constant that a value is, in code for one process."""
    return int(ConstantView(value.owner.operation).value.value)
