# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What needs no look at its rule: elementwise operations whose tensors are sharded alike."""

import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline

RESHARDS = (
    "func.func(sdy-insert-explicit-reshards{enable-full-version=true compatibility=cheapest})"
)


@pytest.mark.parametrize(
    ("operation", "other", "num_reshards"),
    [
        ("stablehlo.add", "8x8", 0),
        ("chlo.broadcast_add", "8x8", 0),
        # One row for all is not a row for each: a shard of it is padding on all devices but one.
        ("chlo.broadcast_add", "1x8", 1),
    ],
)
def test_like_shardings(context, operation, other, num_reshards):
    rows = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    types = f"(tensor<8x8xf32>, tensor<{other}xf32>) -> tensor<8x8xf32>"
    if operation.startswith("stablehlo"):
        types = "tensor<8x8xf32>"
    module = parse(
        f"""
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8x8xf32> {rows}, %b: tensor<{other}xf32> {rows})
            -> (tensor<8x8xf32> {rows}) {{
          %0 = {operation} %a, %b {{sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{{"x"}}, {{}}]>]>}} : {types}
          return %0 : tensor<8x8xf32>
        }}""",
        context,
    )
    run_pipeline(module, RESHARDS)
    assert asm(module).count("sdy.reshard") == num_reshards
