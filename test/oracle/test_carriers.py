# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation around what is no plain tensor on one mesh, against C++ Shardy."""

import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline

T = "tensor<8x8xf32>"
MESHES = """
sdy.mesh @m = <["a"=2, "b"=4]>
sdy.mesh @same = <["a"=2, "b"=4]>
sdy.mesh @other = <["a"=2, "c"=4]>
sdy.mesh @reordered = <["a"=2, "b"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @device = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
"""

PROGRAMS = {
    "tokens": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %t: !stablehlo.token) -> ({T}, !stablehlo.token) {{
          %0:2 = stablehlo.custom_call @sdy_testonly(%x, %t) {{sdy.sharding =
              #sdy.sharding_per_value<[<@m, [{{?}}, {{"b", ?}}]>, <@m, []>]>}}
              : ({T}, !stablehlo.token) -> ({T}, !stablehlo.token)
          %1 = stablehlo.after_all %t, %0#1 : !stablehlo.token
          %2 = stablehlo.add %0#0, %x : {T}
          %3:2 = stablehlo.optimization_barrier %2, %1 : {T}, !stablehlo.token
          return %3#0, %3#1 : {T}, !stablehlo.token
        }}""",
    "tokens through a loop": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %t: !stablehlo.token) -> {T} {{
          %0:2 = stablehlo.while(%p = %x, %q = %t) : {T}, !stablehlo.token
          cond {{
            %c = stablehlo.constant dense<true> : tensor<i1>
            stablehlo.return %c : tensor<i1>
          }} do {{
            %1 = stablehlo.negate %p : {T}
            stablehlo.return %1, %q : {T}, !stablehlo.token
          }}
          return %0#0 : {T}
        }}""",
    "equal meshes of two names": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %y: {T} {{sdy.sharding = #sdy.sharding<@same, [{{?}}, {{"b", ?}}]>}})
            -> {T} {{
          %0 = stablehlo.add %y, %x : {T}
          return %0 : {T}
        }}""",
    "two meshes": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %y: {T} {{sdy.sharding = #sdy.sharding<@other, [{{?}}, {{"c", ?}}]>}})
            -> {T} {{
          %0 = stablehlo.add %x, %y : {T}
          %1 = stablehlo.negate %y : {T}
          %2 = stablehlo.abs %x : {T}
          %3 = stablehlo.add %2, %0 : {T}
          return %3 : {T}
        }}""",
    "devices in another order": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %y: {T} {{sdy.sharding = #sdy.sharding<@reordered, [{{?}}, {{?}}]>}})
            -> {T} {{
          %0 = stablehlo.add %x, %y : {T}
          %1 = stablehlo.negate %x : {T}
          %2 = stablehlo.add %0, %1 : {T}
          return %2 : {T}
        }}""",
    "a maximal mesh": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}}) -> {T} {{
          %0 = stablehlo.custom_call @sdy_testonly(%x) {{sdy.sharding =
              #sdy.sharding_per_value<[<@device, []>]>}} : ({T}) -> {T}
          %1 = stablehlo.add %0, %x : {T}
          %2 = stablehlo.negate %x : {T}
          %3 = stablehlo.add %1, %2 : {T}
          return %3 : {T}
        }}""",
    "an empty mesh": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %y: {T} {{sdy.sharding = #sdy.sharding<@empty, [{{?}}, {{?}}]>}})
            -> {T} {{
          %0 = stablehlo.add %y, %x : {T}
          return %0 : {T}
        }}""",
    "uneven dimensions": """
        func.func @main(
            %x: tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"b", ?}, {"a", ?}]>},
                        %y: tensor<7x3xf32>) -> tensor<15xf32> {
          %0 = stablehlo.dot %x, %y : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
          %1 = stablehlo.reshape %0 : (tensor<5x3xf32>) -> tensor<15xf32>
          return %1 : tensor<15xf32>
        }""",
    "an argument of dynamic size": f"""
        func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}, {{?}}]>}},
                        %d: tensor<?xf32>) -> ({T}, tensor<?xf32>) {{
          %0 = stablehlo.negate %x : {T}
          return %0, %d : {T}, tensor<?xf32>
        }}""",
    "scalars": """
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", ?}]>},
                        %s: tensor<f32> {sdy.sharding = #sdy.sharding<@m, [], replicated={"b"}>})
            -> tensor<8xf32> {
          %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
          %1 = stablehlo.clamp %s, %x, %s
              : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8xf32>
          return %2 : tensor<8xf32>
        }""",
}

PIPELINES = (
    "sdy-add-data-flow-edges,sdy-basic-propagate",
    "sdy-add-data-flow-edges,sdy-user-priority-propagate",
    "sdy-propagation-pipeline",
)


# Newer versions of Shardy than that in jaxlib reshard around what runs on a single device.
NOT_IN_JAXLIB = {("a maximal mesh", "sdy-propagation-pipeline")}
CASES = [
    (name, pipeline)
    for name in PROGRAMS
    for pipeline in PIPELINES
    if (name, pipeline) not in NOT_IN_JAXLIB
]


@pytest.mark.parametrize(("name", "pipeline"), CASES)
def test_carriers(shardy, context, name, pipeline):
    module = parse(MESHES + PROGRAMS[name], context)
    expected = shardy.run(asm(module), f"builtin.module({pipeline})")
    # By default ours plans for dynamic sizes, and notes them.
    is_whole = pipeline == "sdy-propagation-pipeline"
    run_pipeline(module, f"{pipeline}{{dynamic=false}}" if is_whole else pipeline)
    assert asm(module) == asm(parse(expected, context))
