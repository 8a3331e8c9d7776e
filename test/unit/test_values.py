# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the shardings of values live."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, DimensionSharding, TensorSharding
from mlir_sdy.values import get_sharding, map_shardings, set_sharding, shardable_value

PROGRAM = """
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8xf32>,
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %x <@m, [{"a", ?}]> : tensor<8xf32>
  %1:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<8xf32>
  %2 = sdy.data_flow_edge %1#0 sharding=<@m, [{"b", ?}]> : tensor<8xf32>
  %3 = sdy.manual_computation(%y) in_shardings=[<@m, [{"a", "b"}]>] out_shardings=[<@m, [{"a", ?}]>]
      manual_axes={"a"} (%arg: tensor<4xf32>) {
    sdy.return %arg : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = "stablehlo.reduce"(%x, %init) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %5 = "stablehlo.async_start"(%y) ({
  ^bb0(%part: tensor<8xf32>):
    %whole = "stablehlo.all_gather"(%part) {all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<16xf32>
    stablehlo.return %whole : tensor<16xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<16xf32>>
  return %2 : tensor<8xf32>
}
"""


@pytest.fixture
def module():
    return parse(PROGRAM, Context())


@pytest.fixture
def values(module):
    """The values of the program by name."""
    block = module.body.operations[1].operation.regions[0].blocks[0]
    constraint, barrier, edge, manual, _init, reduce, start, _return = (
        view.operation for view in block.operations
    )
    return {
        "x": block.arguments[0],
        "y": block.arguments[1],
        "constraint": constraint.results[0],
        "barrier0": barrier.results[0],
        "barrier1": barrier.results[1],
        "edge": edge.results[0],
        "body": manual.regions[0].blocks[0].arguments[0],
        "manual": manual.results[0],
        "reducer": reduce.regions[0].blocks[0].arguments[0],
        "start": start.regions[0].blocks[0].arguments[0],
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", None),
        ("y", '<@m, [{"a"}]>'),
        ("constraint", '<@m, [{"a", ?}]>'),
        ("barrier0", '<@m, [{"b", ?}]>'),
        ("barrier1", None),
        ("edge", '<@m, [{"b", ?}]>'),
        ("body", '<@m, [{"b"}]>'),
        ("manual", '<@m, [{"a", ?}]>'),
        ("reducer", None),
        ("start", '<@m, [{"a"}]>'),
    ],
)
def test_get(values, name, expected):
    found = get_sharding(values[name])
    assert (found and str(found)) == expected


NEW = TensorSharding("m", (DimensionSharding((AxisRef("b"),)),))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", '%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b", ?}]>}'),
        ("constraint", 'sdy.sharding_constraint %arg0 <@m, [{"b", ?}]>'),
        ("barrier0", 'sharding=<@m, [{"b", ?}]>'),
        ("barrier1", '#sdy.sharding_per_value<[<@m, [{?}]>, <@m, [{"b", ?}]>]>'),
        ("body", 'in_shardings=[<@m, [{"a", "b", ?}]>]'),
        ("manual", 'out_shardings=[<@m, [{"b", ?}]>]'),
        ("start", '%arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b", ?}]>}'),
    ],
)
def test_set(module, values, name, expected):
    set_sharding(values[name], NEW)
    assert expected in asm(module)
    assert get_sharding(values[name]) == NEW


def test_no_place(module, values):
    before = asm(module)
    set_sharding(values["reducer"], NEW)
    assert asm(module) == before
    assert shardable_value(values["reducer"]) is None
    assert isinstance(shardable_value(values["barrier0"]), ir.OpResult)


def test_map(module):
    map_shardings(module, TensorSharding.closed_like)
    assert "?" not in asm(module)
