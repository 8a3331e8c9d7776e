# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Padding: shapes, what is refused and where, and what stays as it is."""

import numpy as np
import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.tensor_types import padded_shape
from pyshardy.passes.partitioning.pad_for_divisibility import pad_for_divisibility
from pyshardy.program import partition, run_unpartitioned

MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'


def of_result(sharding: str) -> str:
    return f"sdy.sharding = #sdy.sharding_per_value<[<@mesh, {sharding}>]>"


def padded(context, text: str) -> str:
    module = parse(MESH + text, context, "m.mlir")
    pad_for_divisibility(module)
    assert module.operation.verify()
    return asm(module)


def refusal(context, text: str) -> str:
    """The message of a refusal, which must leave the module as it was."""
    module = parse(MESH + text, context, "m.mlir")
    before = asm(module)
    with pytest.raises(PassError) as failure:
        pad_for_divisibility(module)
    assert asm(module) == before
    diagnostic = failure.value.diagnostics[0]
    assert diagnostic.location is not None
    return diagnostic.message


@pytest.mark.parametrize(
    ("shape", "axes", "expected"),
    [
        ((7, 3), (("x",), ()), (8, 3)),
        ((7, 3), (("x",), ("y",)), (8, 4)),
        ((7, 3), (("x", "y"), ()), (8, 3)),
        ((8, 2), (("x",), ("y",)), (8, 2)),
        ((1, 9), (("x",), ("y",)), (4, 10)),
        ((-1, 9), (("x",), ("y",)), (-1, 10)),
        ((7, 3), ((), ()), (7, 3)),
    ],
)
def test_padded_shape(shape, axes, expected):
    mesh = Mesh((MeshAxis("x", 4), MeshAxis("y", 2)))
    refs = tuple(tuple(map(AxisRef, names)) for names in axes)
    sharding = TensorSharding.from_axes("mesh", refs)
    assert padded_shape(shape, sharding, {"mesh": mesh}) == expected


def test_nothing_without_a_sharding_or_on_one_device():
    assert padded_shape((7,), None, {}) == (7,)
    device = Mesh((), (3,))
    assert padded_shape((7,), TensorSharding("device", ()), {"device": device}) == (7,)


def test_what_divides_stays(context):
    text = f"""func.func @main(%a: tensor<8xf32>
    {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
  %1 = stablehlo.negate %a {{{of_result('[{"x"}]')}}} : tensor<8xf32>
  return
}}"""
    assert padded(context, text) == asm(parse(MESH + text, context))


@pytest.mark.parametrize(
    ("element_type", "zero"),
    [
        ("f8E4M3FN", "0.000000e+00"),
        ("bf16", "0.000000e+00"),
        ("i1", "false"),
        ("ui4", "0"),
        ("complex<f32>", "(0.000000e+00,0.000000e+00)"),
    ],
)
def test_zeros_of_all_types(context, element_type, zero):
    text = padded(
        context,
        f"""func.func @main(%a: tensor<7x{element_type}>) {{
  %0 = sdy.all_slice [{{"x"}}] %a out_sharding=<@mesh, [{{"x"}}]> : tensor<7x{element_type}>
  return
}}""",
    )
    assert f"stablehlo.constant dense<{zero}> : tensor<{element_type}>" in text
    assert f"tensor<8x{element_type}>" in text


def test_a_barrier_that_only_stopped_propagation(context):
    text = padded(
        context,
        f"""func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {{
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {{{of_result('[{"x"}]')}}} : tensor<7xf32>
  return %0 : tensor<7xf32>
}}""",
    )
    assert "barrier" not in text
    assert "return %arg0 : tensor<7xf32>" in text


def test_a_reduce_scatter_where_shards_begin_elsewhere(context):
    """It becomes an all-reduce, the whole dimension, and its parts."""
    text = padded(
        context,
        """func.func @main(%a: tensor<5xf32>) {
  %0 = sdy.all_slice [{"y"}] %a out_sharding=<@mesh, [{"y"}]> : tensor<5xf32>
  %1 = sdy.reduce_scatter [{"x"}] %0 out_sharding=<@mesh, [{"y", "x"}]> : tensor<5xf32>
  return
}""",
    )
    steps = [line.split(" = ")[1].split()[0] for line in text.splitlines() if " = sdy." in line]
    assert steps == ["sdy.all_slice", "sdy.all_reduce", "sdy.all_gather", "sdy.all_slice"]


# No reduction of devices completes it.
DIFFERENCE = """reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %r = stablehlo.subtract %p, %q : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }"""


@pytest.mark.parametrize(("axes", "rest"), [('{"x"}', None), ('{"x", "y"}', 'all_reduce {"y"}')])
def test_a_reduction_of_a_whole_dimension_is_complete(context, axes, rest):
    text = padded(
        context,
        f"""func.func @main(%a: tensor<7xf32>, %b: tensor<f32>) -> tensor<f32> {{
  %0 = sdy.all_slice [{{"x"}}] %a out_sharding=<@mesh, [{{"x"}}]> : tensor<7xf32>
  %1 = stablehlo.reduce(%0 init: %b) across dimensions = [0]
      : (tensor<7xf32>, tensor<f32>) -> tensor<f32> {DIFFERENCE}
  %2 = sdy.all_reduce {axes} %1 out_sharding=<@mesh, []> : tensor<f32>
  return %2 : tensor<f32>
}}""",
    )
    assert "all_gather" in text
    assert ("all_reduce" in text) == (rest is not None)
    assert rest is None or rest in text


def test_a_scatter_of_what_is_complete_slices(context):
    text = padded(
        context,
        f"""func.func @main(%a: tensor<7x8xf32>, %b: tensor<f32>) {{
  %0 = sdy.all_slice [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<7x8xf32>
  %1 = stablehlo.reduce(%0 init: %b) across dimensions = [0]
      : (tensor<7x8xf32>, tensor<f32>) -> tensor<8xf32> {DIFFERENCE}
  %2 = sdy.reduce_scatter [{{"y", "x"}}] %1 out_sharding=<@mesh, [{{"y", "x"}}]> : tensor<8xf32>
  return
}}""",
    )
    reduced, sliced = (line.strip() for line in text.splitlines()[-5:-3])
    assert 'sdy.all_reduce {"y"} ' in reduced
    assert 'sdy.all_slice [{"y", "x"}] ' in sliced


# --- Refusals -----------------------------------------------------------------------------------

SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
SLICED = 'sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>'

REFUSED = {
    "argument": (
        f"func.func @main(%a: tensor<7xf32> {SHARDED}) {{ return }}",
        "'func.func' op argument #0 has a non-divisible sharding",
    ),
    "result": (
        f"func.func private @main(tensor<7xf32>) -> (tensor<7xf32> {SHARDED})",
        "'func.func' op result #0 has a non-divisible sharding",
    ),
    "returned value": (
        f"""func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {{
  %0 = {SLICED}
  return %0 : tensor<7xf32>
}}""",
        "'func.return' op operand #0 has a non-divisible sharding",
    ),
    "manual computation": (
        """func.func @main(%a: tensor<6xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}]>]
      out_shardings=[<@mesh, [{"y"}]>] manual_axes={"y"} (%b: tensor<3xf32>) {
    sdy.return %b : tensor<3xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}""",
        "'sdy.manual_computation' op argument #0 has a non-divisible sharding",
    ),
    "tensors that don't agree": (
        f"""func.func @main(%a: tensor<7xf32>) {{
  %0 = {SLICED}
  %1 = stablehlo.add %0, %a {{{of_result('[{"x"}]')}}} : tensor<7xf32>
  return
}}""",
        "'stablehlo.add' op has incompatible shardings: dimensions of one factor would be "
        "padded to 7 and 8: run",
    ),
    "a difference": (
        f"""func.func @main(%a: tensor<7xf32>, %b: tensor<f32>) {{
  %0 = {SLICED}
  %1 = stablehlo.reduce(%0 init: %b) across dimensions = [0]
      {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={{"x"}}>]>}}
      : (tensor<7xf32>, tensor<f32>) -> tensor<f32> {DIFFERENCE}
  %2 = stablehlo.negate %1 : tensor<f32>
  return
}}""",
        "'stablehlo.reduce' op reduces a dimension that its axes don't divide, has no neutral "
        "element for the padding",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(context, name):
    text, message = REFUSED[name]
    assert message in refusal(context, text)


@pytest.mark.parametrize(
    ("given", "wanted", "reduced"),
    [
        ('{"x"}, {}', '{"x"}, {"y"}', 0),  # sliced again
        ('{"x"}, {"y"}', '{"x"}, {}', 0),  # gathered along another dimension
        ('{"x"}, {}', '{"y"}, {}', 0),  # sent to other devices
        ('{"x"}, {"y"}', '{"y"}, {"x"}', 1),  # both
    ],
)
def test_zeros_are_known_after_collectives(context, given, wanted, reduced):
    product = "5x5" if reduced == 0 else "7x7"
    module = parse(
        f"""
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        func.func @main(%a: tensor<7x5xf32>, %b: tensor<7x5xf32>)
            -> (tensor<{product}xf32>, tensor<f32>) {{
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = sdy.reshard %a <@mesh, [{given}]> : tensor<7x5xf32>
          %1 = sdy.reshard %0 <@mesh, [{wanted}]> : tensor<7x5xf32>
          %2 = sdy.reshard %b <@mesh, [{wanted}]> : tensor<7x5xf32>
          %3 = stablehlo.dot_general %1, %2, contracting_dims = [{reduced}] x [{reduced}]
            : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<{product}xf32>
          %5 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0, 1]
            : (tensor<7x5xf32>, tensor<f32>) -> tensor<f32>
          return %3, %5 : tensor<{product}xf32>, tensor<f32>
        }}""",
        context,
    )
    program = partition(module)
    masks = [
        each for each in operations_in(program.module.operation) if each.name == "stablehlo.select"
    ]
    generator = np.random.default_rng(0)
    inputs = [generator.standard_normal((7, 5)).astype(np.float32) for _ in range(2)]
    expected = run_unpartitioned(module, inputs, "interpreter")
    for found, right in zip(program.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    assert not masks
