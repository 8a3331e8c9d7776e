# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of programs with dynamic sizes, and of sizes that don't fit them."""

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import ParseError, UsageError, WrongTypeError, collect
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.pipeline import run_pipeline

ADD = """%0 = stablehlo.add %x, %y : tensor<?xf32>
    return %0 : tensor<?xf32>"""
RETURN = "return %x : tensor<?xf32>"
VECTOR = '%x: tensor<?xf32> {sdy.sizes = ["batch"]}'
TWO = f"{VECTOR}, {VECTOR.replace('%x', '%y')}"


def program(arguments=TWO, body=ADD, symbols=""):
    return sdy.parse(f"""module attributes {{sdy.symbols = {{{symbols}}}}} {{
  sdy.mesh @mesh = <["a"=2]>
  func.func @main({arguments}) -> tensor<?xf32> {{
    {body}
  }}
}}""")


def run(module, *sizes, hints=None, **keywords):
    sdy.propagate(module, hints=hints)
    made = sdy.partition(module, **keywords)
    return made.run([np.ones(size, "float32") for size in sizes])


def refused(match, *args, kind=UsageError, **keywords):
    with pytest.raises(kind, match=match):
        run(*args, **keywords)


def test_types():
    refused(
        r"^-:3:19: error: argument %x has the type tensor<\*xf32>; give it a rank, with '\?' for",
        program("%x: tensor<*xf32>, %y: tensor<?xf32>", "return %y : tensor<?xf32>"),
    )
    with pytest.raises(ParseError, match="-:4:29: error: elements literal type must have static"):
        program(VECTOR, "%0 = stablehlo.constant dense<1.0> : tensor<?xf32>\n    " + RETURN)
    with pytest.raises(ParseError, match=r"-:4:10: error: .* operand #1 must be statically shaped"):
        program(
            "%x: tensor<?xf32>, %s: tensor<?xi32>",
            "%0 = stablehlo.dynamic_reshape %x, %s\n"
            "        : (tensor<?xf32>, tensor<?xi32>) -> tensor<?xf32>\n"
            "    return %0 : tensor<?xf32>",
        )
    refused(
        r"^-:4:10: error: the type tensor<\?xf32> of a result of 'stablehlo.custom_call' doesn't "
        "follow from the sizes batch = 128; name the operand with its shape by 'indices_of_shape_"
        "operands', or register a sharding rule, whose factors have the sizes of operands",
        program(
            VECTOR,
            "%0 = stablehlo.custom_call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>\n    return %0 : "
            "tensor<?xf32>",
        ),
    )


BOUNDED = """
sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<?x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}},
    %n: tensor<i32>{more}) -> (tensor<?x8xf32>, tensor<4xf32>) {{
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 0
      : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %2 = stablehlo.set_dimension_size %1, %c, dim = 0
      : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<i32>) -> tensor<4xf32>
  return %x, %2 : tensor<?x8xf32>, tensor<4xf32>
}}"""


def test_types_with_bounds():
    module = program(f"{VECTOR}, %k: tensor<?xf32, #stablehlo.bounds<8>>", RETURN)
    assert run(module, 4, 5)[0].shape == (4,)
    refused("%k has size 9: k0 = 9 is above 8; use k0 = 8", module, 4, 9)
    bounded = sdy.parse(BOUNDED.format(more=""))
    with collect():
        sdy.propagate(bounded)
        made = sdy.partition(bounded)
        with pytest.raises(ExecutionError, match="dynamic result types are not supported"):
            made.run([np.ones((6, 8), "float32"), np.int32(4)])
    assert run(program(), 4, 4)[0].shape == (4,)  # the interpreter's process has been restarted


ASSERTION = """%c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.custom_call @shape_assertion(%c) {error_message = "never", has_side_effect = true}
        : (tensor<i1>) -> ()
    """


def test_assertions():
    refused("the program doesn't fit the sizes batch = 128: never", program(body=ASSERTION + ADD))
    static = sdy.parse(sdy.asm(program(body=ASSERTION + ADD)).replace("?", "4"))
    with collect():
        sdy.propagate(static)
        made = sdy.partition(static)
    with pytest.raises(ExecutionError, match="'@shape_assertion' with a side effect"):
        made.run([np.ones(4, "float32")] * 2)


def test_assertions_that_other_tools_check():
    module = program(TWO.replace("}", ', sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}'))
    sdy.propagate(module)
    run_pipeline(module, "builtin.module(sdy-collect-guards{uneven=guard assertions=true})")
    for sizes, told in (
        ((4, 4), None),
        ((5, 5), "2 divides batch"),
        ((4, 6), "the same shape"),
    ):
        copy = copy_of(module)
        types = ",".join(f"tensor<{size}xf32>" for size in sizes)
        refined = f"stablehlo-refine-arguments{{types={types}}},stablehlo-refine-shapes"
        checked = f"builtin.module({refined},stablehlo-check-shape-assertions)"
        if told is None:
            run_pipeline(copy, checked)
            assert "shape_assertion" not in sdy.asm(copy)
        else:
            with pytest.raises(sdy.PipelineError, match=told):
                run_pipeline(copy, checked)


def test_calls_with_a_sharding_rule():
    @sdy.sharding_rule("stablehlo.custom_call", target="test_of_sizes", reads=())
    def rule_of_call(_):
        return "i -> i"

    call = "%0 = stablehlo.custom_call @test_of_sizes(%x) : (tensor<?xf32>) -> tensor<?xf32>"
    module = program(VECTOR, f"{call}\n    return %0 : tensor<?xf32>")
    sdy.propagate(module)
    made = sdy.partition(module)
    assert made.outputs[0].type == "f32[batch]"
    assert made.at(batch=6).outputs[0].spec.shape == (6,)


def test_conversions_that_change_the_rank():
    def converted(name, before, after, inner):
        text = f"stablehlo.bitcast_convert %{name} : (tensor<{before}>) -> tensor<{after}>"
        return f"%{inner} = {text}\n    "

    body = converted("x", "?xf32", "?x2xi16", 1) + converted("1", "?x2xi16", "?xf32", 0)
    (found,) = run(program(VECTOR, f"{body}return %0 : tensor<?xf32>"), 3)
    np.testing.assert_array_equal(found, np.ones(3, "float32"))


def test_attributes():
    refused(
        r"^-:3:19: error: the attribute 'sdy.sizes' of argument 0 is \[.*\]; expected 1 text",
        program('%x: tensor<?xf32> {sdy.sizes = ["b", ""]}', RETURN),
    )
    refused(
        r"^-:3:19: error: 'b \+' is no size: .*; expected an expression such as '4\*b'",
        program('%x: tensor<?xf32> {sdy.sizes = ["b +"]}', RETURN),
    )
    refused(
        "^-:3:38: error: the attribute 'sdy.sizes' of argument 1 gives 'b' for dimension 0, which",
        program('%x: tensor<?xf32>, %y: tensor<4xf32> {sdy.sizes = ["b"]}', RETURN),
    )
    refused("the program takes 2 arrays, but got 0: %x, %y", program())
    refused(
        "^-:1:1: error: the attribute 'sdy.symbols': the program has no size 'bach'; did you mean",
        program(symbols="bach = {min = 2}"),
    )


def test_invalid_programs():
    refused(
        r"^-:3:19: error: the attribute 'jax.global_constant' of argument 0 is unit; expected the",
        program("%n: tensor<i32> {jax.global_constant}, %x: tensor<?xf32>", RETURN),
    )
    nested = sdy.parse("""module { module {
      func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
        return %0 : tensor<?xf32>
      }
    } }""")
    refused("error: 'builtin.module' op is nested in a module", nested, kind=sdy.PassError)


def test_types_that_are_too_small():
    """Arguments and results of sizes that their types don't have."""
    scalar = '%n: tensor<i4> {jax.global_constant = "batch"}'
    refused("an argument of type tensor<i4> can't be batch", program(f"{scalar}, {VECTOR}", RETURN))
    negative = """%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %c = stablehlo.constant dense<200> : tensor<i32>
    %m = stablehlo.subtract %n, %c : tensor<i32>
    %v = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %0 = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>"""
    refused(r"would have the shape \(-72,\)", program(VECTOR, negative))
    call = """%c = stablehlo.constant dense<3> : tensor<1xi32>
    %0 = stablehlo.custom_call @f(%x, %c) {indices_of_shape_operands = dense<[9]> : tensor<1xi64>}
        : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>"""
    refused("doesn't follow from the sizes batch = 128", program(VECTOR, call))


def test_symbols_that_are_not_found():
    product = program('%x: tensor<?xf32> {sdy.sizes = ["b*s"]}', RETURN)
    refused(
        r"the size b can't be found from the shapes of the arguments; add an argument with it, or "
        r"give its value: program.at\(b=...\)",
        product,
        6,
    )
    assert sdy.partition(product).at(b=2, s=3).inputs[0].spec.shape == (6,)


def test_sizes():
    refused(
        r"^-:3:\d+: error: dimension 0 of %y has size 4, expected 3 as batch with batch = 3 \(dim",
        program(),
        3,
        4,
    )
    limits = program(symbols="batch = {min = 2, max = 9}")
    refused("^-:3:19: error: .* %x has size 1: batch = 1 is below 2; use batch = 2", limits, 1, 1)
    refused("%x has size 10: batch = 10 is above 9; use batch = 9", limits, 10, 10)
    refused("%x has size 0: batch = 0 is below 1; use batch = 1", program(), 0, 0)
    made = sdy.partition(program())
    with pytest.raises(UsageError, match="batch = -1 is below 1; use batch = 1"):
        made.at(batch=-1)
    with pytest.raises(WrongTypeError, match=r"DynamicProgram\.run' takes the arrays in a list"):
        made.run(None)
    with pytest.raises(WrongTypeError, match=r"sizes.*an integer as 'batch'"):
        made.at(batch="3")
    with pytest.raises(UsageError, match="sizes: the program has no size 'bath'; did you mean"):
        made.at(bath=3)


@pytest.mark.parametrize("keywords", [{}, {"buckets": "pow2"}, {"uneven": "guard"}])
def test_a_size_of_zero_that_the_range_includes(keywords):
    sharded = TWO.replace("}", ', sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}')
    module = program(sharded, symbols="batch = {min = 0}")
    assert run(module, 0, 0, **keywords)[0].shape == (0,)


@pytest.mark.parametrize(("size", "number"), [("batch - 200", "-72"), ("batch^16", "519229685853")])
def test_sizes_of_no_tensor(size, number):
    unlike = VECTOR.replace('"batch"', f'"{size}"')
    refused(rf"%x can't have the size .* = {number}", program(unlike, RETURN))


def test_hints():
    refused(
        "the hint of batch is no value of it: batch = 10 is above 9",
        program(symbols="batch = {max = 9}"),
        hints={"batch": 10},
    )
    refused(
        "the hint of batch is no value of it: batch = 10 is no multiple of 4",
        program(symbols="batch = {multiple_of = 4}"),
        hints={"batch": 10},
    )
    near = "the program has no size 'bach'; did you mean 'batch'"
    refused(f"hint: {near}", program(), hints={"bach": 10})
    refused(f"buckets: {near}", program(), buckets={"bach": [10]})


def test_buckets():
    least = program(symbols="batch = {min = 4}")
    assert run(least, 5, 5, buckets={"batch": [2, 8]})[0].shape == (5,)
    refused(r"batch = 9 is above its largest bucket, 8; use", least, 9, 9, buckets={"batch": [8]})
    assert run(program(), 9, 9, buckets={"batch": [2, 8, ...]})[0].shape == (9,)
