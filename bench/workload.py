# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the benchmarks: by default a 24-layer training step."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MAKE_PROGRAMS = Path(__file__).parents[1] / "examples" / "make_programs.py"


def program_text(program: Path | None, layers: int = 24) -> str:
    """Return the text of `program`, or of a new training step.

    Args:
        program: an MLIR file.
        layers: the number of layers of the training step; 24 layers have 6,300 operations.
    """
    if program is not None:
        return program.read_text()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "train.mlir"
        command = [sys.executable, MAKE_PROGRAMS, "--large", made, "--layers", str(layers)]
        subprocess.run(command, check=True)
        return made.read_text()


def chain(num_operations: int, weights: str = '{}, {"model"}') -> str:
    """Return a program of layers of a product, a bias and a function.

    Args:
        num_operations: their number.
        weights: the sharding of the dimensions of the weights.
    """
    lines = [
        'sdy.mesh @mesh = <["data"=4, "model"=2]>',
        'func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>'
        "}, %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [" + weights + "]>}, "
        "%b: tensor<64x64xf32>) -> tensor<64x64xf32> {",
    ]
    at = "%x"
    for layer in range(num_operations // 4):
        for result, operation in (
            (f"%p{layer}", f"stablehlo.dot_general {at}, %w, contracting_dims = [1] x [0]"),
            (f"%s{layer}", f"stablehlo.add %p{layer}, %b"),
            (f"%t{layer}", f"stablehlo.tanh %s{layer}"),
            (f"%m{layer}", f"stablehlo.multiply %t{layer}, %s{layer}"),
        ):
            tensor = "tensor<64x64xf32>"
            is_product = "dot_general" in operation
            written = f"({tensor}, {tensor}) -> {tensor}" if is_product else tensor
            lines.append(f"  {result} = {operation} : {written}")
        at = f"%m{layer}"
    return "\n".join([*lines, f"  return {at} : tensor<64x64xf32>", "}"])
