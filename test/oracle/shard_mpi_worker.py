# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of an MPI job that checks collectives; started by `test_shard_mpi.py`.

It prints a line for each program that gives what it must, and ends with the first that doesn't.
"""

import sys

from shard_programs import every_collective, halo_program, orders_of_axes

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.backends import CompileOptions, spmd_program
from pyshardy.backends.groups import Layout

HALOS = (
    ((4,), ((0,),), ((1, 2),), (3, 2)),
    ((2, 2), ((0,), (1,)), ((1, 2), (2, 1)), (3, 4)),
    ((2, 2), ((1, 0),), ((1, 1),), (2, 2)),
)
FAST_TO_COMPILE = CompileOptions(optimization=0)


def programs():
    for shape in ((4,), (2, 2)):
        for axes in orders_of_axes(len(shape)):
            yield f"{shape} {axes}", every_collective(shape, axes)
    for arguments in HALOS:
        yield f"halo {arguments}", halo_program(*arguments)


def main(wanted):
    context = Context()
    for name, program in programs():
        if wanted and wanted not in name:
            continue
        module = parse(program.text(), context)
        compiled = spmd_program("mpi", module, Layout(1, 4), FAST_TO_COMPILE)
        program.check(compiled.run(program.scattered()))
        print("right:", name)


if __name__ == "__main__":
    main("".join(sys.argv[1:]))
