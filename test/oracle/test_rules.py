# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules against those that C++ Shardy has for the same operations."""

import random
import subprocess
import sys

import pytest
from case_counts import cases
from programs import ProgramWriter
from rule_cases import (
    FAMILIES,
    combinations,
    example_case,
    examples_of,
    module_of,
    registrations,
    scatters_of_two,
)
from shardy import Shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.pipeline import run_pipeline
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup
from pyshardy.rules.families.pointwise import POINTWISE_CUSTOM_CALLS

POPULATE = "sdy-populate-op-sharding-rules"


def operations_of(module: ir.Module) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def collect_operation(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect_operation, ir.WalkOrder.PRE_ORDER)
    return found


def attached_rule(operation: ir.Operation) -> OpShardingRule | None:
    attribute = operation.attributes.get(SHARDING_RULE)
    return None if attribute is None else value_of(attribute)


def populated(shardy: Shardy, module: ir.Module, *, conservative: bool = False) -> ir.Module:
    """A copy of a module with the rules that C++ Shardy gives its operations."""
    options = "{conservative-propagation=true}" if conservative else ""
    # The short form of reductions leaves out what is attached to their bodies.
    answer = shardy.run(
        asm(module, generic=True), f"builtin.module(func.func({POPULATE}{options}))", generic=True
    )
    return parse(answer, module.context)


CHANGED_IN_0_12 = frozenset(
    f"stablehlo.{name}" for name in ("convolution", "dynamic_update_slice", "pad", "reshape")
)
"""The operations whose rules are others since jaxlib 0.12."""


def is_otherwise(shardy: Shardy, operation: ir.Operation) -> bool:
    return shardy.release < (0, 12) and operation.name in CHANGED_IN_0_12


def compare(shardy: Shardy, context: Context, text: str, *, conservative: bool = False) -> int:
    """Compare the rule of each operation in `text`; how many have one."""
    module = parse(text, context)
    expected = populated(shardy, module, conservative=conservative)
    lookup = ShardingRuleLookup(conservative=conservative, quiet=True, compatible=True)
    count = 0
    for own, theirs in zip(operations_of(module), operations_of(expected), strict=True):
        assert own.name == theirs.name
        rule = lookup.rule(own)
        if not is_otherwise(shardy, own):
            assert str(rule) == str(attached_rule(theirs)), str(own)
        count += rule is not None
    return count


CONSERVATIVE = pytest.mark.parametrize("conservative", [False, True])


@CONSERVATIVE
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.strip("_"))
def test_random_operations_of_a_family(shardy, context, family, conservative):
    rng = random.Random(family.__name__)
    drawn = [family(rng) for _ in range(40)]
    assert compare(shardy, context, module_of(drawn), conservative=conservative) >= 36


@CONSERVATIVE
@pytest.mark.parametrize("results", ["8x2", "4x8", "4x2", "8x8"])
@pytest.mark.shardy_since(0, 12)
def test_top_k_of_xla(shardy, context, results, conservative):
    text = f"""func.func @main(%a: tensor<8x8xf32>) {{
      %0:2 = stablehlo.custom_call @TopK(%a)
          : (tensor<8x8xf32>) -> (tensor<{results}xf32>, tensor<{results}xi32>)
      return
    }}"""
    assert compare(shardy, context, text, conservative=conservative) == 1


@CONSERVATIVE
def test_chosen_operations(shardy, context, conservative):
    chosen = [*combinations(), *scatters_of_two()]
    compare(shardy, context, module_of(chosen), conservative=conservative)


@CONSERVATIVE
def test_examples(shardy, context, conservative):
    """What the docstrings of rules show; rules beyond Shardy's are none there."""
    examples = [
        (operation, entry.beyond_shardy)
        for entry in registrations()
        for operation, _ in examples_of(entry.function.__doc__)
        if "!quant" not in operation  # the dialect is not in the oracle
    ]
    shared = [example_case(operation) for operation, beyond in examples if not beyond]
    compare(shardy, context, module_of(shared), conservative=conservative)
    beyond = [example_case(operation) for operation, beyond in examples if beyond]
    assert compare(shardy, context, module_of(beyond), conservative=conservative) == 0


def test_the_pass_writes_the_same(shardy, context):
    rng = random.Random(0)
    module = parse(module_of(family(rng) for family in FAMILIES), context)
    expected = populated(shardy, module)
    with collect():
        run_pipeline(module, POPULATE)
    for own, theirs in zip(operations_of(module), operations_of(expected), strict=True):
        if not is_otherwise(shardy, own):
            assert str(attached_rule(own)) == str(attached_rule(theirs)), str(own)


@pytest.mark.parametrize("seed", range(cases(8)))
def test_random_programs(shardy, context, seed):
    writer = ProgramWriter(random.Random(seed), None)
    compare(shardy, context, writer.function("main", 60))


# The peer of the test below: what C++ Shardy warns about, once per process.
WARNINGS = f"""
import sys
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager
with jax_mlir.make_ir_context() as context, ir.Location.unknown():
    context.enable_multithreading(False)
    module = ir.Module.parse(sys.stdin.read())
    def show(diagnostic):
        print(str(diagnostic.severity).rpartition(".")[2].lower(), diagnostic.message)
        return True
    with context.attach_diagnostic_handler(show):
        PassManager.parse("builtin.module(func.func({POPULATE}))").run(module.operation)
"""

UNKNOWN = """
func.func @f(%a: tensor<4xf32>) {
  %0 = stablehlo.custom_call @unheard_of(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>
  %2 = stablehlo.custom_call @unknown(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = chlo.lgamma %a : tensor<4xf32> -> tensor<4xf32>
  return
}
"""


def test_warnings(context):
    result = subprocess.run(
        [sys.executable, "-c", WARNINGS], input=UNKNOWN, capture_output=True, text=True, check=True
    )
    lookup = ShardingRuleLookup(compatible=True)
    module = parse(UNKNOWN, context)
    with collect() as diagnostics:
        for operation in operations_of(module):
            lookup.rule(operation)
    own = [f"{diagnostic.severity.value} {diagnostic.message}" for diagnostic in diagnostics]
    theirs = result.stdout.splitlines()
    assert [line.partition(": ")[0] for line in own] == theirs  # ours go on with advice


FLOAT_UNARY = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
FLOAT_BINARY = [
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "subtract",
]
INTEGER_BINARY = ["and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"]


def test_pointwise_operations(shardy, context):
    types = {"f": "tensor<4x6xf32>", "i": "tensor<4x6xi32>", "c": "tensor<4x6xcomplex<f32>>"}
    lines = [
        f"func.func @f(%f: {types['f']}, %i: {types['i']}, %c: {types['c']},"
        " %s: tensor<f32>, %p: tensor<i1>, %e: tensor<0x3xf32>, %v: tensor<6xf32>) {",
        *(f"  %{name} = stablehlo.{name} %f : {types['f']}" for name in FLOAT_UNARY),
        *(f"  %{name} = stablehlo.{name} %f, %f : {types['f']}" for name in FLOAT_BINARY),
        *(f"  %{name} = stablehlo.{name} %i, %i : {types['i']}" for name in INTEGER_BINARY),
        f"  %not = stablehlo.not %i : {types['i']}",
        f"  %popcnt = stablehlo.popcnt %i : {types['i']}",
        f"  %clz = stablehlo.count_leading_zeros %i : {types['i']}",
        f"  %convert = stablehlo.convert %i : ({types['i']}) -> {types['f']}",
        f"  %real = stablehlo.real %c : ({types['c']}) -> {types['f']}",
        f"  %imag = stablehlo.imag %c : ({types['c']}) -> {types['f']}",
        f"  %complex = stablehlo.complex %f, %f : {types['c']}",
        f"  %finite = stablehlo.is_finite %f : ({types['f']}) -> tensor<4x6xi1>",
        f"  %compare = stablehlo.compare LT, %f, %f : ({types['f']}, {types['f']})"
        " -> tensor<4x6xi1>",
        f"  %precision = stablehlo.reduce_precision %f, format = e5m10 : {types['f']}",
        f"  %clamp = stablehlo.clamp %s, %f, %s : (tensor<f32>, {types['f']}, tensor<f32>)"
        f" -> {types['f']}",
        f"  %select = stablehlo.select %p, %f, %f : tensor<i1>, {types['f']}",
        "  %scalar = stablehlo.add %s, %s : tensor<f32>",
        "  %empty = stablehlo.reshape %e : (tensor<0x3xf32>) -> tensor<3x0xf32>",
        "  %iota = stablehlo.iota dim = 0 : tensor<4xf32>",
        "  %token = stablehlo.create_token : !stablehlo.token",
        "  %all = stablehlo.after_all %token : !stablehlo.token",
        "  %vm = stablehlo.dot %v, %m : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>",
        "  return",
        "}",
    ]
    text = "\n".join(lines).replace("%v: tensor<6xf32>)", "%v: tensor<6xf32>, %m: tensor<6x4xf32>)")
    compare(shardy, context, text)


DOTS = (("6", "6", ""), ("6", "6x4", "4"), ("4x6", "6", "4"), ("4x6", "6x8", "4x8"))


@pytest.mark.parametrize(("lhs", "rhs", "result"), DOTS)
def test_dot(shardy, context, lhs, rhs, result):
    types = [f"tensor<{shape}{'x' if shape else ''}f32>" for shape in (lhs, rhs, result)]
    compare(
        shardy,
        context,
        f"func.func @f(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{\n"
        f"  %0 = stablehlo.dot %a, %b : ({types[0]}, {types[1]}) -> {types[2]}\n"
        f"  return %0 : {types[2]}\n}}",
    )


def test_reduce_of_several_inputs(shardy, context):
    compare(
        shardy,
        context,
        """
        func.func @f(%a: tensor<4x6x8xf32>, %b: tensor<4x6x8xi32>, %x: tensor<f32>, %y: tensor<i32>)
            -> (tensor<4x8xf32>, tensor<4x8xi32>) {
          %0:2 = stablehlo.reduce(%a init: %x), (%b init: %y) across dimensions = [1]
              : (tensor<4x6x8xf32>, tensor<4x6x8xi32>, tensor<f32>, tensor<i32>)
              -> (tensor<4x8xf32>, tensor<4x8xi32>)
              reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
            %1 = stablehlo.add %p, %q : tensor<f32>
            %2 = stablehlo.add %r, %s : tensor<i32>
            stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
          }
          return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xi32>
        }
        """,
    )


def test_custom_calls(shardy, context):
    targets = (*POINTWISE_CUSTOM_CALLS, "sdy_testonly", "tpu_custom_call", "unheard_of")
    lines = [
        f'  %{index} = stablehlo.custom_call @"{target}"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>'
        for index, target in enumerate(targets)
    ]
    text = "\n".join(["func.func @f(%a: tensor<4x6xf32>) {", *lines, "  return", "}"])
    compare(shardy, context, text)
