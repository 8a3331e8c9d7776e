# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program through files that other versions, JAX and XLA can read."""

import tempfile
from pathlib import Path

import pyshardy as sdy

EXAMPLES = Path(__file__).parent


def producer(path: Path) -> str:
    """Who has written an artifact, as its first bytes say."""
    return path.read_bytes()[5:].partition(b"\0")[0].decode()


context = sdy.Context()
module = sdy.parse(EXAMPLES / "mlp.mlir", context)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mlp.mlirbc"

    # Shardings and meshes go along, spelled as XLA spells them.
    sdy.write(module, path, "portable", version="1.15.0")
    print(producer(path), "holds the program with its shardings:")
    again = sdy.parse(path, context)
    print(sdy.asm(again).splitlines()[1].strip())

    # What has been partitioned is plain StableHLO.
    sdy.propagate(again)
    program = sdy.partition(again)
    sdy.write(program.module, path, "portable", version="minimum")
    local = sdy.parse(path, context)
    print(producer(path), "holds the program of each device:")
    print(*(f"{port.name}: {port.local_spec}" for port in program.inputs[:2]), sep="\n")

text = sdy.asm(local)
print(f"{text.count('stablehlo.all_reduce')} all-reduces before,", end=" ")
print(f"{sdy.asm(program.module).count('stablehlo.all_reduce')} after")
