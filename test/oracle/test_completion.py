# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial results that nothing completes, in `sdy-convert-global-to-local` by itself.

The pass completes them, as C++ Shardy does: numbers are those of the unpartitioned program.
"""

import itertools

import numpy as np
import pytest
from case_counts import cases
from corpus_programs import PROGRAMS
from difference import PRELUDE
from shardy_partition import program_of

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.comparison import random_inputs
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import pipeline_of, run_pipeline
from pyshardy.pipelines.partition import partition_pipeline
from pyshardy.program import run_unpartitioned

LOCAL = "sdy-convert-global-to-local"
PRODUCT = "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] SHARDING: (!t, !t) -> !t"


def product(body: str, sharding: str = "#by_whole", results: str = "!t") -> str:
    """Return a program that multiplies matrices that are sharded along what is contracted."""
    return f"""{PRELUDE}
    #by_x = #sdy.sharding_per_value<[<@m, [{{}}, {{}}], unreduced={{"x"}}>]>
    #both = #sdy.sharding<@m, [{{}}, {{"x", "y"}}]>
    #turned = #sdy.sharding<@m, [{{"x", "y"}}, {{}}]>
    func.func @main(%a: !t {{sdy.sharding = #both}}, %b: !t {{sdy.sharding = #turned}})
        -> ({results}) {{
      {PRODUCT.replace("SHARDING", f"{{sdy.sharding = {sharding}}} " if sharding else "")}
      {body}
    }}"""


def reduction(kind: str, element: str, initial: str) -> str:
    """Return a program that reduces a sharded dimension."""
    return f"""{PRELUDE}
    func.func @main(%a: tensor<8x8x{element}> {{sdy.sharding = #columns}}) -> tensor<8x{element}> {{
      %c = stablehlo.constant dense<{initial}> : tensor<{element}>
      %0 = stablehlo.reduce(%a init: %c) applies stablehlo.{kind} across dimensions = [1]
          : (tensor<8x8x{element}>, tensor<{element}>) -> tensor<8x{element}>
      return %0 : tensor<8x{element}>
    }}"""


ALL = '%1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@m, [{}, {}]> : !t'
AS_SHARDY = {
    "product": product("return %0 : !t"),
    "without a sharding": product("return %0 : !t", sharding=""),
    "used twice": product(
        "%1 = stablehlo.add %0, %0 {sdy.sharding = #by_whole} : !t return %1 : !t"
    ),
    "completed": product(f"{ALL} return %1 : !t"),
    "scattered": product(
        '%1 = sdy.reduce_scatter [{"x", "y"}, {}] %0 out_sharding=<@m, [{"x", "y"}, {}]> : !t'
        " return %1 : !t",
        results="!t {sdy.sharding = #turned}",
    ),
    "sum": reduction("add", "f32", "3.0"),
    "maximum": reduction("maximum", "f32", "0xFF800000"),
    "minimum": reduction("minimum", "i32", "100"),
    "product of elements": reduction("multiply", "f32", "1.0"),
    "any": reduction("or", "i1", "false"),
    "all": reduction("and", "i1", "true"),
    "convolution": f"""{PRELUDE}
    func.func @main(
        %x: tensor<1x16x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}, {{"x"}}]>}},
        %k: tensor<3x4x1xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"x"}}, {{}}]>}})
        -> tensor<1x16x1xf32> {{
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
          window = {{pad = [[1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<1x16x4xf32>, tensor<3x4x1xf32>) -> tensor<1x16x1xf32>
      return %0 : tensor<1x16x1xf32>
    }}""",
    "gather": f"""{PRELUDE}
    func.func @main(%a: !t {{sdy.sharding = #rows}}, %i: tensor<4x1xi32>) -> tensor<4x8xf32> {{
      %0 = "stablehlo.gather"(%a, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 8>}} : (!t, tensor<4x1xi32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }}""",
    "scatter": f"""{PRELUDE}
    func.func @main(%a: !t, %i: tensor<4x1xi32> {{sdy.sharding = #rows}},
        %u: tensor<4x8xf32> {{sdy.sharding = #rows}}) -> !t {{
      %0 = "stablehlo.scatter"(%a, %i, %u) ({{ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %r = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
          : (!t, tensor<4x1xi32>, tensor<4x8xf32>) -> !t
      return %0 : !t
    }}""",
    "in a loop": f"""{PRELUDE}
    #of_loop = #sdy.sharding_per_value<[<@m, []>, <@m, [{{}}, {{}}]>]>
    func.func @main(%x: !t {{sdy.sharding = #columns}}, %y: !t {{sdy.sharding = #rows}}) -> !t {{
      %c = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %z = stablehlo.constant {{sdy.sharding = #by_whole}} dense<0.0> : !t
      %0:2 = stablehlo.while(%i = %c, %p = %z) : tensor<i32>, !t
          attributes {{sdy.sharding = #of_loop}} cond {{
        %more = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %1 = stablehlo.dot %x, %y : (!t, !t) -> !t
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %1 : tensor<i32>, !t
      }}
      return %0#1 : !t
    }}""",
}
"""Programs that C++ Shardy completes as well, by the same collectives."""

BEYOND_SHARDY = {
    "unreduced along one of two axes": product(
        '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}, {}]> : !t return %1 : !t', "#by_x"
    ),
    "completed for one of two users": product(
        f"{ALL} %2 = stablehlo.add %0, %1 {{sdy.sharding = #by_whole}} : !t return %2 : !t"
    ),
    "completed along one of two axes": product(
        '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}, {}]> : !t return %1 : !t'
    ),
    "completed in two steps": product(
        '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}, {}]> : !t'
        ' %2 = sdy.all_reduce {"y"} %1 out_sharding=<@m, [{}, {}]> : !t return %2 : !t'
    ),
    "completed by another reduction": product(
        '%1 = sdy.all_reduce max {"x", "y"} %0 out_sharding=<@m, [{}, {}]> : !t return %1 : !t'
    ),
    "custom call": f"""{PRELUDE}
    func.func @main(%a: !t {{sdy.sharding = #columns}}) -> tensor<8xf32> {{
      %0 = stablehlo.custom_call @Sum(%a) {{sdy.sharding_rule = #sdy.op_sharding_rule<
          ([i, j])->([i]) {{i=8, j=8}} reduction={{j}}, custom>}} : (!t) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }}""",
}
"""Programs of which C++ Shardy leaves something partial, or on which it aborts the process."""

OPTIONS = CompileOptions(custom_calls={"Sum": lambda x: x.sum(axis=1)})


def check_numbers(module, program):
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    found = program.run(inputs, "xla", OPTIONS)
    expected = run_unpartitioned(module, inputs, "xla", OPTIONS)
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", AS_SHARDY | BEYOND_SHARDY)
def test_numbers(context, name):
    module = parse((AS_SHARDY | BEYOND_SHARDY)[name], context)
    local = copy_of(module)
    run_pipeline(local, LOCAL)
    check_numbers(module, program_of(module, local))


@pytest.mark.parametrize("name", AS_SHARDY)
@pytest.mark.shardy_since(0, 12)
def test_as_shardy(shardy, context, name):
    """Both complete the same values over the same axes."""
    module = parse(AS_SHARDY[name], context)
    theirs = parse(shardy.run(asm(module), f"builtin.module({LOCAL})"), context)
    ours = copy_of(module)
    run_pipeline(ours, LOCAL)
    found, expected = (
        [(each.kind, each.axes) for each in program_of(module, local).collectives]
        for local in (ours, theirs)
    )
    assert found == expected


COMPLETED = (
    "chlo.top_k",
    "stablehlo.convolution",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_slice",
    "stablehlo.gather",
    "stablehlo.reduce",
    "stablehlo.scatter",
)


def test_corpus_without_its_all_reduces(context):
    """What `sdy-insert-explicit-reshards` completes by an all-reduce is completed without it."""
    steps = itertools.takewhile(
        lambda step: not str(step).startswith(LOCAL), partition_pipeline().elements
    )
    before = pipeline_of(*steps)
    num_removed = 0
    programs = PROGRAMS[:: max(1, 3 // cases(1))]
    for path in programs:
        module = parse(path.read_text(), context)
        propagate(module)
        run_pipeline(module, before)
        expected = copy_of(module)
        run_pipeline(expected, LOCAL)
        for collective in operations_named({"sdy.all_reduce"}, module):
            value = collective.operands[0]
            sharding = get_sharding(value)
            if sharding is not None and sharding.unreduced_axes:
                continue  # It completes what an operation before has added up.
            if not isinstance(value, ir.BlockArgument) and value.owner.name in COMPLETED:
                collective.results[0].replace_all_uses_with(value)
                collective.erase()
                num_removed += 1
        run_pipeline(module, LOCAL)
        assert asm(module) == asm(expected), path.stem
    assert num_removed > 0.7 * len(programs)
