# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions that their axes don't divide: the padding of C++ Shardy, and the right numbers."""

import numpy as np
import pytest
from case_counts import cases
from programs import ProgramWriter, random_module, random_module_with_calls

from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.irtools.modules import copy_of
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PASS = "builtin.module(sdy-pad-for-divisibility)"
PASS_BEFORE_0_12 = "builtin.module(func.func(sdy-pad-for-divisibility))"

PRELUDE = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
#x = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
#tiles = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>
#rows = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
#columns = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>
#fine_rows = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>
"""


# --- The same text ------------------------------------------------------------------------------

AS_SHARDY = {
    "slice, compute, gather": """
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<7x5xf32>
  %1 = stablehlo.add %0, %0 {sdy.sharding = #rows} : tensor<7x5xf32>
  %r = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<7x5xf32>""",
    "two dimensions": """
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<7x5xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #tiles} : tensor<7x5xf32>
  %r = sdy.all_gather [{"x"}, {"y"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<7x5xf32>""",
    "nothing to pad": """
  %r = stablehlo.negate %a : tensor<7x5xf32>""",
}


@pytest.mark.parametrize("name", AS_SHARDY)
def test_text(context, shardy, name):
    text = (
        f"{PRELUDE}func.func @main(%a: tensor<7x5xf32>) -> tensor<7x5xf32> {{{AS_SHARDY[name]}\n"
        "  return %r : tensor<7x5xf32>\n}"
    )
    module = parse(text, context)
    run_pipeline(module, PASS)
    theirs = PASS if shardy.release >= (0, 12) else PASS_BEFORE_0_12
    assert asm(module) == asm(parse(shardy.run(text, theirs), context))


# --- The same numbers ---------------------------------------------------------------------------


def check(module, inputs) -> PartitionedProgram:
    program = partition(module)
    expected = run_unpartitioned(module, inputs)
    for output, found, wanted in zip(program.outputs, program.run(inputs), expected, strict=True):
        assert compare(found, wanted, output.spec).is_small, output.name
    return program


EXPONENTIAL = "%e = stablehlo.exponential %a {sdy.sharding = #tiles} : tensor<7x5xf32>"
"""Its padding is not zero, whatever that of its operand was."""

PROGRAMS = {
    "sum": f"""
  {EXPONENTIAL}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<f32>""",
    "maximum of what is below zero": """
  %s = stablehlo.abs %a {sdy.sharding = #tiles} : tensor<7x5xf32>
  %n = stablehlo.negate %s {sdy.sharding = #tiles} : tensor<7x5xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%n init: %low) applies stablehlo.maximum across dimensions = [0]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<5xf32>""",
    "minimum with an initial value that matters": """
  %s = stablehlo.abs %a {sdy.sharding = #tiles} : tensor<7x5xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %two) applies stablehlo.minimum across dimensions = [1]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<7xf32>""",
    "sum with an initial value": f"""
  {EXPONENTIAL}
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %two) applies stablehlo.add across dimensions = [0]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<5xf32>""",
    "product": f"""
  {EXPONENTIAL}
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %one) applies stablehlo.multiply across dimensions = [0]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<5xf32>""",
    "dot_general": f"""
  {EXPONENTIAL}
  %r = stablehlo.dot_general %e, %e, contracting_dims = [0] x [0]
      : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<5x5xf32>""",
    "division of integers": """
  %i = stablehlo.convert %a {sdy.sharding = #tiles} : (tensor<7x5xf32>) -> tensor<7x5xi32>
  %n = stablehlo.constant dense<7> : tensor<7x5xi32>
  %q = stablehlo.divide %n, %i {sdy.sharding = #tiles} : tensor<7x5xi32>
  %r = stablehlo.remainder %q, %i {sdy.sharding = #tiles} : tensor<7x5xi32>""",
    "sort along a padded dimension": """
  %s = stablehlo.negate %a {sdy.sharding = #tiles} : tensor<7x5xf32>
  %r = "stablehlo.sort"(%s) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<7x5xf32>) -> tensor<7x5xf32>""",
    "windows over a padded dimension": f"""
  {EXPONENTIAL}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%e, %zero) <{{window_dimensions = array<i64: 3, 1>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<7x5xf32>, tensor<f32>) -> tensor<5x5xf32>""",
    "pad": f"""
  {EXPONENTIAL}
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %r = stablehlo.pad %e, %three, low = [1, 0], high = [2, 0], interior = [0, 0]
      {{sdy.sharding = #tiles}} : (tensor<7x5xf32>, tensor<f32>) -> tensor<10x5xf32>""",
    "reshape that splits a padded dimension": """
  %t = stablehlo.slice %a [0:6, 0:5] {sdy.sharding = #rows} : (tensor<7x5xf32>) -> tensor<6x5xf32>
  %r = stablehlo.reshape %t : (tensor<6x5xf32>) -> tensor<2x3x5xf32>""",
    "reshape that merges a padded dimension": f"""
  {EXPONENTIAL}
  %r = stablehlo.reshape %e {{sdy.sharding = #x}} : (tensor<7x5xf32>) -> tensor<35xf32>""",
    "constants": """
  %c = stablehlo.constant {sdy.sharding = #tiles} dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
      : tensor<2x3xf32>
  %d = stablehlo.constant {sdy.sharding = #tiles} dense<2.0> : tensor<2x3xf32>
  %r = stablehlo.multiply %c, %d {sdy.sharding = #tiles} : tensor<2x3xf32>""",
    "iota": """
  %r = stablehlo.iota dim = 0 {sdy.sharding = #tiles} : tensor<7x5xf32>""",
    "axes that move to another dimension": """
  %p = stablehlo.negate %a {sdy.sharding = #rows} : tensor<7x5xf32>
  %q = sdy.reshard %p <@mesh, [{}, {"x"}]> : tensor<7x5xf32>
  %r = stablehlo.exponential %q {sdy.sharding = #columns} : tensor<7x5xf32>""",
    "more axes, and fewer, where shards begin elsewhere": """
  %t = stablehlo.slice %a [0:5, 0:5] {sdy.sharding = #rows} : (tensor<7x5xf32>) -> tensor<5x5xf32>
  %p = sdy.reshard %t <@mesh, [{"y"}, {}]> : tensor<5x5xf32>
  %q = sdy.reshard %p <@mesh, [{"y", "x"}, {}]> : tensor<5x5xf32>
  %r = sdy.reshard %q <@mesh, [{"y"}, {"x"}]> : tensor<5x5xf32>""",
    "while": """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %w:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<7x5xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {"y"}]>]>}
      cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.cosine %v : tensor<7x5xf32>
    stablehlo.return %next, %u : tensor<i32>, tensor<7x5xf32>
  }
  %r = stablehlo.reduce(%w#1 init: %none) applies stablehlo.add across dimensions = [0]
      : (tensor<7x5xf32>, tensor<f32>) -> tensor<5xf32>""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(context, name):
    body = PROGRAMS[name]
    result = body.rpartition("tensor")[2].strip()
    text = (
        f"{PRELUDE}func.func @main(%a: tensor<7x5xf32>) -> tensor{result} {{{body}\n"
        f"  return %r : tensor{result}\n}}"
    )
    module = parse(text, context)
    propagate(module)
    # No zeros, so that those of padding differ from what is really there.
    matrix = np.random.default_rng(0).choice([-3, -2, -1, 1, 2, 3], (7, 5)).astype(np.float32)
    check(module, [matrix])


class Uneven(ProgramWriter):
    """Writes operations that are exact on whole numbers, of sizes that hardly any axis divides."""

    sizes = (3, 5, 6, 7, 10)
    unary_operations = ("negate", "abs", "floor")
    binary_operations = ("add", "multiply", "maximum", "subtract")


MESHES = tuple(
    Mesh(tuple(map(MeshAxis, "abc", sizes)), device_ids)
    for sizes, device_ids in [
        ((2, 2), ()),
        ((4,), ()),
        ((3, 2, 2), ()),
        ((2, 3), (4, 2, 0, 5, 1, 3)),
    ]
)


@pytest.mark.parametrize("generate", [random_module, random_module_with_calls])
def test_random_programs(context, generate):
    num_padded = 0
    for seed in range(cases(25)):
        module = parse(generate(seed, meshes=MESHES, writer_class=Uneven), context)
        propagate(module)
        given = copy_of(module)
        program = partition(module)
        num_padded += "stablehlo.pad" in asm(program.module)
        generator = np.random.default_rng(seed)
        inputs = [
            generator.integers(-3, 4, port.spec.shape).astype(port.spec.dtype)
            for port in program.inputs
        ]
        check(given, inputs)
    assert num_padded >= cases(25) // 25
