# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local programs with collectives, written in few words, and their timelines."""

from mlir_sdy.assembly import parse
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.cost.hardware import Hardware, Link
from pyshardy.local_program.communication import collectives_of
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.run import run_timeline

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 4)))
"""8 devices."""

GROUPS = {
    "x": "dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>",
    "y": "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>",
    "x, y": "dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>",
}

HARDWARE = Hardware("test", 1e6, 1e15, 1e9, Link(1e15, 1e-6, "axis"))
"""A flop takes a microsecond, as does a step of a collective; each axis has a lane."""

ONE_LANE = Hardware("test", 1e6, 1e15, 1e9, Link(1e15, 1e-6))


def tanh(result: str, operand: str, size: int = 4) -> str:
    return f"%{result} = stablehlo.tanh %{operand} : tensor<{size}xf32>\n"


def reduce(result: str, operand: str, axes: str = "x", size: int = 4) -> str:
    """Text of an all-reduce: 2 (n - 1) us in groups of n devices, on `HARDWARE`."""
    kind = f"tensor<{size}xf32>"
    return f"""%{result} = "stablehlo.all_reduce"(%{operand}) <{{
        replica_groups = {GROUPS[axes]}, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}> ({{
      ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
        %sum = stablehlo.add %lhs, %rhs : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }}) : ({kind}) -> {kind}\n"""


def started(result: str, operand: str, axes: str = "x", size: int = 4) -> str:
    """Text of the start of an all-reduce."""
    kind = f"tensor<{size}xf32>"
    inner = reduce("r", "inner", axes, size)
    return f"""%{result} = "stablehlo.async_start"(%{operand}) ({{
      ^bb0(%inner: {kind}):
        {inner}
        stablehlo.return %r : {kind}
      }}) : ({kind}) -> !stablehlo.future<{kind}>\n"""


def awaited(result: str, future: str, size: int = 4) -> str:
    kind = f"tensor<{size}xf32>"
    types = f"(!stablehlo.future<{kind}>) -> {kind}"
    return f'%{result} = "stablehlo.async_done"(%{future}) : {types}\n'


def function(body: str, returned: str, arguments: str = "a, b", size: int = 4) -> str:
    kind = f"tensor<{size}xf32>"
    names = ", ".join(f"%{name}: {kind}" for name in arguments.split(", "))
    results = ", ".join(f"%{name}" for name in returned.split(", "))
    kinds = ", ".join(kind for _ in returned.split(", "))
    return f"func.func @main({names}) -> ({kinds}) {{\n{body}return {results} : {kinds}\n}}\n"


def timeline(context, text: str, hardware: Hardware = HARDWARE, order="scheduled"):
    module = parse(text, context)
    use = resource_use_of(module)
    return run_timeline(use, collectives_of(module, MESH), hardware, order)
