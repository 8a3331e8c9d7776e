# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of axes that were merged are in no `sdy.sharding_origins` or `sdy.propagation_edges`."""

import pytest
from programs import random_module

from mlir_sdy.assembly import asm, parse
from mlir_sdy.attributes import value_of
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, EdgeNodeType
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import argument_shardings, get_sharding, result_shardings
from pyshardy.pipeline import run_pipeline
from pyshardy.propagation.debugging.debug_info import final_axes, is_merged_away

PASS = (
    "sdy-user-priority-propagate{{debug-sharding-origins=true "
    "debug-propagation-edge-sharding=true compatible={}}}"
)

GROWING = """
sdy.mesh @m = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{{first}, ?}}, {{?}}]>}},
                %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{{second}}}, {{?}}]>}})
    -> tensor<8x8xf32> {{
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = stablehlo.add %0, %b : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}}"""


@pytest.fixture(scope="module")
def context():
    return Context()


def propagated(context, text, *, compatible=False):
    module = parse(text, context)
    run_pipeline(module, PASS.format(str(compatible).lower()))
    return module


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [('"x":(1)2', '"x"', "x"), ('"y", "x":(1)2', '"y", "x"', "x")],
)
def test_part_that_has_become_a_whole_axis(context, first, second, whole):
    text = GROWING.format(first=first, second=second)
    printed = asm(propagated(context, text))
    assert '(1)2"' not in printed
    assert '"x":(1)2 =' not in printed
    assert f'{whole} = "input: 1"' in printed
    compatible = asm(propagated(context, text, compatible=True))
    assert '"x:(1)2" = "input: 0"' in compatible
    assert '"x":(1)2 = operand-0 -> [result-0]' in compatible


def test_part_that_stays_a_part(context):
    text = GROWING.format(first='"x":(1)2', second='"x":(1)2')
    assert '"x:(1)2" = "input: 0"' in asm(propagated(context, text))


def axis_of(name: str) -> AxisRef:
    """The axis of an entry: `x`, or `x:(1)2`."""
    axis, _, part = name.partition(":")
    return AxisRef.sub(axis, *map(int, part[1:].split(")"))) if part else AxisRef(axis)


def origins_and_shardings(module):
    """The names of axes in each dictionary of origins, and the sharding of that value."""
    for view in operations_in(module.operation):
        operation = view.operation
        attributes = operation.attributes
        if operation.name == "func.func":
            for entry, shardings in (
                ("arg_attrs", argument_shardings(operation)),
                ("res_attrs", result_shardings(operation)),
            ):
                for held, sharding in zip(attributes.get(entry) or (), shardings, strict=False):
                    if "sdy.sharding_origins" in held:
                        yield {each.name for each in held["sdy.sharding_origins"]}, sharding
        elif "sdy.sharding_origins" in attributes and len(operation.results) == 1:
            held = attributes["sdy.sharding_origins"].maybe_downcast()
            held = held[0] if isinstance(held, ir.ArrayAttr) else held
            yield {each.name for each in held}, get_sharding(operation.results[0])


def test_random_programs(context):
    """Each axis of a value that has origins has one, and no part of it has."""
    num_axes = num_merged = 0
    for seed in range(120):
        text = random_module(50_000 + seed)
        module = propagated(context, text)
        for names, sharding in origins_and_shardings(module):
            axes = final_axes(sharding)
            assert names >= {str(axis).replace('"', "") for axis in axes}, text
            assert not any(is_merged_away(axis_of(name), sharding) for name in names), text
            num_axes += len(axes)
        for view in operations_in(module.operation):
            operation = view.operation
            if operation.name == "func.func" or "sdy.propagation_edges" not in operation.attributes:
                continue
            for step in value_of(operation.attributes["sdy.propagation_edges"]).value:
                for moved in step.axis_entries:
                    for target in moved.targets:
                        is_operand = target.type is EdgeNodeType.OPERAND
                        ends = operation.operands if is_operand else operation.results
                        assert not is_merged_away(moved.axis_name, get_sharding(ends[target.index]))
        num_merged += asm(module) != asm(propagated(context, text, compatible=True))
    assert num_axes > 500
    assert num_merged > 2
