# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a partitioner gets wrong easily, each run on devices.

Exchanges between neighbours are in `test_halo.py`, gathers, scatters and dynamic slices in
`test_index_operations.py`.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from partition_cases import localised

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.backends import local_engine
from pyshardy.backends.arrays.sharded_arrays import gather, scatter
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.local_program.process_groups import Layout
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PRELUDE = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @shuffled = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
sdy.mesh @one = <[], device_ids=[1]>
#rows = #sdy.sharding<@mesh, [{"x"}, {}]>
#columns = #sdy.sharding<@mesh, [{}, {"x"}]>
#tiles = #sdy.sharding<@mesh, [{"x"}, {"y"}]>
"""
T = "tensor<8x8xf32>"


def given(*shardings: str) -> str:
    """The shardings of an operation's results."""
    return f"{{sdy.sharding = #sdy.sharding_per_value<[{', '.join(shardings)}]>}}"


def partitioned(context: Context, text: str) -> tuple[PartitionedProgram, ir.Module]:
    """The partitioned program, and the module that it was made from."""
    module = parse(PRELUDE + text, context)
    return partition(module), module


def whole_numbers(program: PartitionedProgram) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [
        generator.integers(-3, 4, port.spec.shape).astype(port.spec.dtype)
        for port in program.inputs
    ]


def check(context: Context, text: str) -> PartitionedProgram:
    """Compare all results with those of the unpartitioned program, exactly."""
    program, module = partitioned(context, text)
    inputs = whole_numbers(program)
    expected = run_unpartitioned(module, inputs)
    for found, wanted in zip(program.run(inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    return program


# --- Reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["0", "1", "-2"])
@pytest.mark.parametrize("kind", ["add", "maximum", "minimum", "multiply", "and", "or", "xor"])
def test_partial_results_combine_as_the_body_does(context, kind, init):
    """And the initial value counts once, not once per device."""
    check(
        context,
        f"""
func.func @main(%a: tensor<8x8xi32> {{sdy.sharding = #tiles}}) -> (tensor<8xi32>, tensor<i32>) {{
  %init = stablehlo.constant dense<{init}> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.{kind} across dimensions = [1]
      : (tensor<8x8xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = stablehlo.reduce(%a init: %init) applies stablehlo.{kind} across dimensions = [0, 1]
      : (tensor<8x8xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<8xi32>, tensor<i32>
}}""",
    )


@pytest.mark.parametrize("kind", ["add", "maximum", "minimum", "multiply"])
def test_padding_is_no_part_of_a_reduction(context, kind):
    """Zeros in the padding have become ones before it is reduced."""
    sharding = '<@mesh, [{"x", "y"}]>'
    check(
        context,
        f"""
func.func @main(%a: tensor<7xf32>) -> (tensor<f32>, tensor<7xf32>, tensor<f32>) {{
  %init = stablehlo.constant dense<2.0> : tensor<f32>
  %ones = stablehlo.constant {given(sharding)} dense<1.0> : tensor<7xf32>
  %0 = sdy.reshard %a {sharding} : tensor<7xf32>
  %1 = stablehlo.add %0, %ones {given(sharding)} : tensor<7xf32>
  %2 = stablehlo.reduce(%1 init: %init) applies stablehlo.{kind} across dimensions = [0]
      : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.sort"(%1) ({{ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) {given(sharding)} : (tensor<7xf32>) -> tensor<7xf32>
  %4 = stablehlo.dot_general %1, %1, contracting_dims = [0] x [0]
      : (tensor<7xf32>, tensor<7xf32>) -> tensor<f32>
  return %2, %3, %4 : tensor<f32>, tensor<7xf32>, tensor<f32>
}}""",
    )


@pytest.mark.parametrize("axes", ['{"y", "x"}', '{"x", "y"}'])
def test_contracted_axes_in_any_order(context, axes):
    """The all-reduce names them in the order of the mesh."""
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {axes}]>}},
                %b: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{axes}, {{}}]>}}) -> {T} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {given("<@mesh, [{}, {}]>")} : ({T}, {T}) -> {T}
  return %0 : {T}
}}""",
    )


def test_values_that_go_from_device_to_device(context):
    """Another device has zeros in place of what a single device has computed."""
    check(
        context,
        f"""
sdy.mesh @other = <[], device_ids=[2]>
func.func @main(%a: {T} {{sdy.sharding = #rows}}) -> ({T}, {T}) {{
  %0 = stablehlo.negate %a {given("<@one, []>")} : {T}
  %1 = stablehlo.abs %0 {given("<@one, []>")} : {T}
  %2 = stablehlo.subtract %0, %1 {given("<@other, []>")} : {T}
  %3 = stablehlo.negate %2 {given("<@one, []>")} : {T}
  return %2, %3 : {T}, {T}
}}""",
    )


@pytest.mark.parametrize("last", ['{"x", "y"}, {}', '{"x"}, {"y"}', '{"x"}, {}'])
def test_products_that_are_sliced_on_another_mesh(context, last):
    """Its "x" is another axis than that of the sum, so that no reduce-scatter does both."""
    check(
        context,
        f"""
sdy.mesh @turned = <["y"=2, "x"=2]>
func.func @main(%a: {T} {{sdy.sharding = #columns}}, %b: {T} {{sdy.sharding = #rows}})
    -> ({T} {{sdy.sharding = #sdy.sharding<@turned, [{last}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {given("<@mesh, [{}, {}]>")} : ({T}, {T}) -> {T}
  return %0 : {T}
}}""",
    )


@pytest.mark.parametrize("axes", ['<@turned, [{"x"}, {}]>', '<@turned, [{}, {"x"}]>'])
def test_scatters_into_values_replicated_on_another_mesh(context, axes):
    """Only the first device along "x" of the updates' mesh begins with the inputs."""
    check(
        context,
        f"""
sdy.mesh @turned = <["y"=2, "x"=2]>
func.func @main(%a: tensor<8x4xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
                %i: tensor<8x1xi32> {{sdy.sharding = #sdy.sharding<@turned, [{{"x"}}, {{}}]>}},
                %u: tensor<8x4xi32> {{sdy.sharding = #sdy.sharding{axes}}}) -> tensor<8x4xi32> {{
  %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}}> ({{ ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %r = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }}) : (tensor<8x4xi32>, tensor<8x1xi32>, tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}}""",
    )


@pytest.mark.parametrize(
    ("product", "last"),
    [
        # Scattered right after it is completed.
        ("<@mesh, [{}, {}]>", '<@mesh, [{"y"}, {}]>'),
        ("<@mesh, [{}, {}]>", '<@mesh, [{}, {"y"}]>'),
        # Left unreduced, also over two operations.
        ('<@mesh, [{}, {}], unreduced={"y"}>', "<@mesh, [{}, {}]>"),
        ('<@mesh, [{"x"}, {}], unreduced={"y"}>', '<@mesh, [{}, {"y"}]>'),
    ],
)
def test_products_that_no_all_reduce_follows(context, product, last):
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}},
                %b: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}})
    -> ({T} {{sdy.sharding = #sdy.sharding{last}}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {given(product)} : ({T}, {T}) -> {T}
  %1 = stablehlo.negate %0 {given(product)} : {T}
  %2 = sdy.reshard %{"1" if "unreduced" in product else "0"} {last} : {T}
  return %2 : {T}
}}""",
    )


def test_explicit_collectives_are_not_inserted_again(context):
    """A program whose partial results are completed already is completed once."""
    text = f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}},
                %b: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> {T} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %1 = sdy.all_reduce {{"y"}} %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  return %1 : {T}
}}"""
    program = check(context, text)
    assert sum(each.kind != "all_gather" for each in program.collectives) <= 1


@pytest.mark.parametrize("kind", ["max", "min"])
def test_the_kind_of_a_reduction_outlives_reshards(context, kind):
    name = f"{kind}imum"
    sharding = f'<@mesh, [{{"x"}}], unreduced={kind}{{"y"}}>'
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #tiles}}) -> tensor<8xf32> {{
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.{name} across dimensions = [1]
      {given(sharding)} : ({T}, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 {sharding.replace('[{"x"}]', "[{}]")} : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{{}}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}}""",
    )


def test_one_value_that_several_operations_need_completed(context):
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #columns}}, %b: {T} {{sdy.sharding = #rows}})
    -> ({T}, {T}, {T}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {given('<@mesh, [{}, {}], unreduced={"x"}>')} : ({T}, {T}) -> {T}
  %1 = stablehlo.abs %0 {given("<@mesh, [{}, {}]>")} : {T}
  %2 = stablehlo.abs %0 {given('<@mesh, [{"x"}, {}]>')} : {T}
  %3 = stablehlo.multiply %0, %0 {given("<@mesh, [{}, {}]>")} : {T}
  return %1, %2, %3 : {T}, {T}, {T}
}}""",
    )


# --- Meshes and axes ----------------------------------------------------------------------------


def test_a_permutation_stays_within_manual_coordinates(context):
    """Axes that neither sharding uses keep their positions, whatever their order in the mesh."""
    text = f"""
sdy.mesh @cube = <["z"=2, "m"=2, "y"=2]>
func.func @main(%a: {T}) -> {T} {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@cube, [{{"m"}}, {{"y"}}]>]
      out_shardings=[<@cube, [{{"m"}}, {{"z"}}]>] manual_axes={{"m"}} (%b: tensor<4x8xf32>) {{
    %1 = sdy.reshard %b <@cube, [{{}}, {{"z"}}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  }} : ({T}) -> {T}
  return %0 : {T}
}}"""
    program = partition(parse(text, context))
    (matrix,) = whole_numbers(program)
    np.testing.assert_array_equal(program.run([matrix])[0], matrix)
    for each in program.collectives:
        assert "m" not in (each.axes or ()) or each.kind == "all_gather"


def test_parts_that_cut_an_axis_in_two_ways(context):
    text = """
sdy.mesh @six = <["u"=6]>
func.func @main(%a: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@six, [{"u":(1)2}, {}]>})
    -> (tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@six, [{"u":(1)3}, {"u":(3)2}]>}) {
  %0 = sdy.reshard %a <@six, [{}, {"u":(2)3}]> : tensor<6x6xf32>
  %1 = sdy.reshard %0 <@six, [{"u":(1)3}, {"u":(3)2}]> : tensor<6x6xf32>
  return %1 : tensor<6x6xf32>
}"""
    program = partition(parse(text, context))
    (matrix,) = whole_numbers(program)
    np.testing.assert_array_equal(program.run([matrix])[0], matrix)


def test_a_whole_tensor_on_another_mesh_disturbs_nobody(context):
    """The operands still have to agree."""
    check(
        context,
        f"""
sdy.mesh @line = <["l"=4]>
func.func @main(%a: {T} {{sdy.sharding = #rows}},
                %b: {T} {{sdy.sharding = #sdy.sharding<@line, [{{}}, {{}}]>}})
    -> ({T} {{sdy.sharding = #columns}}) {{
  %0 = stablehlo.add %a, %b {given("#columns")} : {T}
  %1 = stablehlo.dot_general %b, %0, contracting_dims = [1] x [0]
      {given("#columns")} : ({T}, {T}) -> {T}
  return %1 : {T}
}}""",
    )


def test_manual_axes_of_which_only_a_part_is_used(context):
    """A dimension is local in the body along each part of a manual axis."""
    text = f"""
sdy.mesh @line = <["u"=4]>
func.func @main(%a: {T}) -> {T} {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@line, [{{"u":(1)2}}, {{"u":(2)2}}]>]
      out_shardings=[<@line, [{{"u":(1)2}}, {{"u":(2)2}}]>] manual_axes={{"u"}}
      (%b: tensor<4x4xf32>) {{
    %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  }} : ({T}) -> {T}
  return %0 : {T}
}}"""
    program = partition(parse(text, context))
    (matrix,) = whole_numbers(program)
    blocks = [[matrix[i : i + 4, j : j + 4].T for j in (0, 4)] for i in (0, 4)]
    np.testing.assert_array_equal(program.run([matrix])[0], np.block(blocks))


@pytest.mark.parametrize("mesh", ["mesh", "shuffled"])
def test_slices_count_from_the_shard_that_there_is(context, mesh):
    """Not from the start of the tensor: only the new axes say which part is taken."""
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@{mesh}, [{{"y"}}, {{}}]>}})
    -> ({T} {{sdy.sharding = #sdy.sharding<@{mesh}, [{{"y", "x"}}, {{}}]>}}) {{
  %0 = sdy.all_slice [{{"x"}}, {{}}] %a out_sharding=<@{mesh}, [{{"y", "x"}}, {{}}]> : {T}
  return %0 : {T}
}}""",
    )


@pytest.mark.parametrize("axes", ['[{"x"}, {"y"}]', '[{"y"}, {"x"}]', '[{"y", "x"}, {}]'])
@pytest.mark.parametrize("mesh", ["mesh", "shuffled"])
def test_gathering_several_dimensions_keeps_their_order(context, axes, mesh):
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@{mesh}, {axes}>}}) -> {T} {{
  %0 = sdy.all_gather {axes} %a out_sharding=<@{mesh}, [{{}}, {{}}]> : {T}
  return %0 : {T}
}}""",
    )


def test_fewer_devices_than_the_program_has(context):
    """Tables of offsets would be looked up beyond their end."""
    text = f"""
sdy.mesh @pair = <["p"=2]>
func.func @main(%a: {T} {{sdy.sharding = #rows}}) -> {T} {{
  %c = stablehlo.constant dense<1.0> : {T}
  %0 = sdy.all_slice [{{"p"}}, {{}}] %c out_sharding=<@pair, [{{"p"}}, {{}}]> : {T}
  %1 = sdy.all_gather [{{"p"}}, {{}}] %0 out_sharding=<@pair, [{{}}, {{}}]> : {T}
  %2 = stablehlo.add %a, %1 {given("#rows")} : {T}
  return %2 : {T}
}}"""
    with pytest.raises(SdyError, match="on 2 devices, but the mesh @mesh of its function has 4"):
        partitioned(context, text)


@pytest.mark.parametrize(("mesh", "name_axes"), [("mesh", True), ("shuffled", False)])
def test_groups_that_name_axes_outlive_the_mesh(context, mesh, name_axes):
    """XLA would not read the ids of devices, so groups on such meshes are listed."""
    sharding = f'<@{mesh}, [{{"x"}}, {{"y"}}]>'
    text = f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding{sharding}}}) -> {T} {{
  %0 = stablehlo.negate %a : {T}
  return %0 : {T}
}}"""
    program, module = partitioned(context, text)
    local = replace(program, module=localised(module, "enable-rgv3=true"))
    assert ("replica_group_mesh_axes" in asm(local.module)) == name_axes
    assert "replica_groups" in asm(local.module)
    assert f"@{mesh}" not in asm(local.module)
    (matrix,) = whole_numbers(program)
    np.testing.assert_array_equal(local.run([matrix])[0], -matrix)


def test_channels_of_replicas_are_negative(context):
    """With a positive channel, ids would be those of partitions."""
    text = f"""
func.func @main(%a: {T} {{sdy.sharding = #tiles}})
    -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{"x"}}]>}},
        {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y", "x"}}]>}}) {{
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{{"y"}}, {{"x"}}]> : {T}
  %1 = sdy.all_to_all [{{"x"}}: 0->1] %a out_sharding=<@mesh, [{{}}, {{"y", "x"}}]> : {T}
  return %0, %1 : {T}, {T}
}}"""
    program, module = partitioned(context, text)
    local = localised(module, "replica-count=4")
    channels = re.findall(r"channel_handle<handle = (-?\d+)", asm(local))
    assert sorted(channels) == ["-1", "-2"]
    (matrix,) = whole_numbers(program)
    (port,) = program.inputs
    parts = scatter(matrix, port.sharding, port.mesh, port.local_spec.shape)
    replicas = LockstepProgram(local, local_engine("interpreter"), Layout(4, 1))
    held = replicas.run([[part] for part in parts])
    for index, out in enumerate(program.outputs):
        of_devices = [row[index] for row in held]
        found = gather(of_devices, out.sharding, out.mesh, out.spec, out.name)
        np.testing.assert_array_equal(found, matrix)


# --- Control flow, and the edges of functions -----------------------------------------------------


def test_loops_and_calls_with_sharded_values(context):
    """In nested regions, too, where what is yielded is resharded before its users are looked at."""
    check(
        context,
        f"""
func.func private @twice(%x: {T} {{sdy.sharding = #rows}}) -> ({T} {{sdy.sharding = #columns}}) {{
  %0 = stablehlo.add %x, %x {given("#rows")} : {T}
  return %0 : {T}
}}
func.func @main(%a: {T} {{sdy.sharding = #rows}}, %n: tensor<i32>)
    -> ({T} {{sdy.sharding = #tiles}}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %p = %a) : tensor<i32>, {T}
    attributes {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, #columns]>}}
    cond {{
    %more = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %next = stablehlo.add %i, %one : tensor<i32>
    %even = stablehlo.remainder %i, %two : tensor<i32>
    %q = "stablehlo.case"(%even) ({{
      %t = func.call @twice(%p) {given("#tiles")} : ({T}) -> {T}
      stablehlo.return %t : {T}
    }}, {{
      %u = stablehlo.negate %p {given("#rows")} : {T}
      %v = stablehlo.transpose %u, dims = [1, 0] {given("#tiles")} : ({T}) -> {T}
      stablehlo.return %v : {T}
    }}) {given("#rows")} : (tensor<i32>) -> {T}
    stablehlo.return %next, %q : tensor<i32>, {T}
  }}
  return %r#1 : {T}
}}""",
    )


def test_named_computations(context):
    """Their bodies are sharded as they say, whatever goes in and is wanted of them."""
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #tiles}}) -> ({T} {{sdy.sharding = #rows}}, {T}) {{
  %0:2 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{{}}, {{"x"}}]>]
      out_shardings=[<@mesh, [{{"y"}}, {{}}]>, <@mesh, [{{"x", "y"}}, {{}}]>] (%b: {T}) {{
    %1 = stablehlo.add %b, %b {given("#rows")} : {T}
    %2 = sdy.named_computation<"g">(%1) in_shardings=[<@mesh, [{{"x"}}, {{}}]>]
        out_shardings=[<@mesh, [{{}}, {{"y"}}]>] (%c: {T}) {{
      %3 = stablehlo.transpose %c, dims = [1, 0] {given("#columns")} : ({T}) -> {T}
      sdy.return %3 : {T}
    }} : ({T}) -> {T}
    sdy.return %1, %2 : {T}, {T}
  }} : ({T}) -> ({T}, {T})
  %4 = stablehlo.negate %0#0 {given("#columns")} : {T}
  return %4, %0#1 : {T}, {T}
}}""",
    )


def test_uneven_arguments_and_results(context):
    """Each is laid out by what of its sharding divides it."""
    program = check(
        context,
        """
func.func @main(%a: tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.add %a, %a : tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}""",
    )
    assert str(program.in_shardings[0]) == '<@mesh, [{"x"}, {}]>'
    assert str(program.out_shardings[0]) == "<@mesh, [{}, {}]>"


def test_constants_that_are_sharded(context):
    """Also those of the frontend's dialect, of one value and of many."""
    numbers = [[8 * row + column for column in range(8)] for row in range(8)]
    check(
        context,
        f"""
func.func @main() -> (tensor<8x8xi32> {{sdy.sharding = #tiles}}, tensor<8x8xi32>) {{
  %0 = stablehlo.constant {given("#tiles")} dense<{numbers}> : tensor<8x8xi32>
  %1 = stablehlo.constant {given("#columns")} dense<3> : tensor<8x8xi32>
  %2 = stablehlo.add %0, %1 {given("#tiles")} : tensor<8x8xi32>
  return %0, %2 : tensor<8x8xi32>, tensor<8x8xi32>
}}""",
    )


def test_random_bits_are_those_of_one_sequence(context):
    """Shards of a generator would begin anew on each device."""
    text = """
func.func @main(%state: tensor<2xui64>)
    -> (tensor<2xui64>, tensor<8x8xui32> {sdy.sharding = #tiles}) {
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<8x8xui32>
}"""
    program, module = partitioned(context, text)
    state = np.array([3, 5], np.uint64)
    expected = run_unpartitioned(module, [state], backend="xla")
    for found, wanted in zip(program.run([state], backend="xla"), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


# --- Single devices -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.array([-0.0, 0.0, np.inf, -1.5], np.float32),
        np.array([0x7FC00123, 0xFFC00042, 0x7F800001, 0x80000000], np.uint32).view(np.float32),
        np.array([1 - 0j, complex(-0.0, 2)], np.complex64),
        np.array([True, False, True]),
        np.array([-(2**31), -1, 7], np.int32),
        np.array([2**64 - 1, 3], np.uint64),
        np.array([-0.0, 1.0], np.float16),
    ],
    ids=lambda array: str(array.dtype),
)
def test_a_single_device_hands_out_its_bits(context, array):
    """What it computes arrives everywhere as it is: a sum with zeros would lose signs of zeros."""
    names = {"c": "complex<f32>", "b": "i1", "u": f"ui{8 * array.itemsize}"}
    default = f"{'f' if array.dtype.kind == 'f' else 'i'}{8 * array.itemsize}"
    tensor = f"tensor<{len(array)}x{names.get(array.dtype.kind, default)}>"
    text = f"""
func.func @main(%a: {tensor}) -> {tensor} {{
  %0 = stablehlo.reverse %a, dims = [0] {given("<@one, []>")} : {tensor}
  %1 = stablehlo.reverse %0, dims = [0] {given("<@one, []>")} : {tensor}
  return %1 : {tensor}
}}"""
    program, _ = partitioned(context, text)
    (found,) = program.run([array])
    assert found.tobytes() == array.tobytes()
    assert asm(program.module).count('"stablehlo.if"') == 2
    assert len(program.collectives) == (2 if array.dtype.kind == "c" else 1)


def test_values_go_to_a_single_device_and_back(context):
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #tiles}}) -> ({T} {{sdy.sharding = #rows}}) {{
  %0 = stablehlo.transpose %a, dims = [1, 0] {given("<@one, []>")} : ({T}) -> {T}
  %1 = stablehlo.add %0, %a {given("#columns")} : {T}
  %2 = sdy.reshard %1 <@one, []> : {T}
  %3 = stablehlo.negate %2 {given("<@one, []>")} : {T}
  %4 = stablehlo.multiply %3, %2 {given("#tiles")} : {T}
  return %4 : {T}
}}""",
    )


# --- Choices --------------------------------------------------------------------------------------


def test_equal_claims_on_an_axis(context):
    """Of two factors of equal weight the later one wins; the numbers are right either way."""
    text = f"""
func.func @main(%a: {T} {{sdy.sharding = #rows}}, %b: {T} {{sdy.sharding = #columns}}) -> {T} {{
  %0 = stablehlo.add %a, %b : {T}
  return %0 : {T}
}}"""
    check(context, text)
    module = parse(PRELUDE + text, context)
    run_pipeline(module, "func.func(sdy-insert-explicit-reshards{enable-full-version=true})")
    computed = given('<@mesh, [{}, {"x"}]>')
    assert f"stablehlo.add %0, %arg1 {computed}" in asm(module)


def test_axes_that_others_take_in_part(context):
    """What is left of a claim that another one cuts is still one."""
    check(
        context,
        f"""
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x", "y"}}, {{}}]>}},
                %b: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}})
    -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {given('<@mesh, [{"x"}, {"y"}]>')} : ({T}, {T}) -> {T}
  return %0 : {T}
}}""",
    )
