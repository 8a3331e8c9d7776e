# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conversion to the program of one device: what it refuses, its options, and details."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError
from pyshardy.passes.exporting import drop_sharding_and_mesh
from pyshardy.passes.partitioning.convert_global_to_local import convert_global_to_local

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
GATHER = (
    MESH
    + """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {"y"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""
)


def local(context, text: str, **options) -> str:
    module = parse(text, context)
    convert_global_to_local(module, **options)
    assert module.operation.verify()
    return asm(module)


def refusal(context, text: str, **options) -> PassError:
    """The error of a conversion that must leave the module as it was."""
    module = parse(text, context, "m.mlir")
    before = asm(module)
    with pytest.raises(PassError) as failure:
        convert_global_to_local(module, **options)
    assert asm(module) == before
    return failure.value


@pytest.mark.parametrize("what", ["argument", "result", "value", "block argument"])
def test_a_dimension_that_is_not_divisible(context, what):
    sharding = '<@mesh, [{}, {"y", "x"}]>'
    attribute = f"{{sdy.sharding = #sdy.sharding{sharding}}}"
    text = {
        "argument": f"""
func.func @main(%a: tensor<8x12xf32> {attribute}) {{
  return
}}""",
        "result": f"""
func.func @main(%a: tensor<8x12xf32>) -> (tensor<8x12xf32> {attribute}) {{
  return %a : tensor<8x12xf32>
}}""",
        "value": f"""
func.func @main(%a: tensor<8x12xf32>) {{
  %0 = stablehlo.add %a, %a {{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}
      : tensor<8x12xf32>
  return
}}""",
        "block argument": f"""
func.func @main(%a: tensor<8x12xf32>) {{
  %0 = sdy.named_computation<"n">(%a) in_shardings=[{sharding}]
      out_shardings=[<@mesh, [{{}}, {{}}]>] (%b: tensor<8x12xf32>) {{
    %1 = stablehlo.constant dense<1.0> : tensor<8x12xf32>
    sdy.return %1 : tensor<8x12xf32>
  }} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}}""",
    }[what]
    message = str(refusal(context, MESH + text))
    assert message.startswith(
        "m.mlir:3:" if what not in ("value", "block argument") else "m.mlir:4:"
    )
    assert (
        'dimension 1 of size 12 is not divisible by its axes "y", "x" of size 8: pad the dimension'
        in message
    )


def test_an_operation_without_a_local_form(context):
    text = (
        MESH
        + """
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
  return
}"""
    )
    message = str(refusal(context, text))
    assert message.startswith(
        "m.mlir:4:8: error: 'stablehlo.reverse' op can't be computed on shards: dimension 0 of "
        'operand 0 is sharded as {"x"} and needs data of other devices; run '
        "'sdy-insert-explicit-reshards{enable-full-version=true "
    )


def test_an_operation_on_whole_tensors_needs_no_local_form(context):
    text = MESH + "func.func @main(%a: tensor<8xf32>) {\n"
    text += "  %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>\n  return\n}\n"
    assert "stablehlo.reverse %arg0" in local(context, text)


def test_a_reshard_that_is_left(context):
    text = GATHER.replace('sdy.all_gather [{"x"}, {"y"}] %a out_sharding=', "sdy.reshard %a ")
    assert "'sdy.reshard' op is left: run 'sdy-reshard-to-collectives' first" in str(
        refusal(context, text)
    )


def test_replicas_and_partitions_at_once(context):
    failure = refusal(context, GATHER, replica_count=2, partition_count=4)
    assert "does not support both replica_count > 1 and partition_count > 1" in str(failure)


def test_partitions(context):
    text = local(context, GATHER, partition_count=8)
    assert text == local(context, GATHER)
    assert "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>" in text
    assert "use_global_device_ids" in text


def test_replicas(context):
    text = local(context, GATHER, replica_count=8)
    assert "channel_handle = #stablehlo.channel_handle<handle = -1, type = 1>" in text
    assert "use_global_device_ids" not in text
    sliced = (
        MESH
        + """
func.func @main(%a: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    )
    assert "stablehlo.replica_id" in local(context, sliced, replica_count=8)
    assert "stablehlo.partition_id" in local(context, sliced)


def test_gathering_at_once_or_by_dimension(context):
    assert local(context, GATHER).count("stablehlo.all_gather") == 1
    by_dimension = local(context, GATHER, per_dim_all_gather=True)
    assert by_dimension.count("stablehlo.all_gather") == 2
    assert "stablehlo.transpose" not in by_dimension
    assert by_dimension.index("all_gather_dim = 1") < by_dimension.index("all_gather_dim = 0")


def test_channels_follow_those_of_the_program(context):
    text = GATHER.replace(
        "  return",
        """  %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64, use_global_device_ids,
      replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>}
      : (tensor<8x8xf32>) -> tensor<64x8xf32>
  return""",
    )
    found = local(context, text)
    assert found.count("handle = 7,") == 1
    assert found.count("handle = 8,") == 1


def test_types_of_functions_and_calls(context):
    text = (
        MESH
        + """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @f(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
"""
    )
    found = local(context, text)
    assert "call @f(%arg0)" in found
    assert "(tensor<4x2xf32>) -> tensor<2x8xf32>" in found
    assert "func.func private @f(tensor<4x2xf32>" in found


def test_a_single_device_keeps_whole_tensors(context):
    text = """sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@one, []>}) -> tensor<7xf32> {
  return %a : tensor<7xf32>
}"""
    own = local(context, text)
    assert own.partition("\n")[2] == asm(parse(text, context)).partition("\n")[2]
    assert (
        "sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<[], device_ids=[3]>, []>]>"
        in own
    )


def test_dynamic_dimensions_stay(context):
    text = (
        MESH
        + """
func.func @main(%a: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  return
}"""
    )
    assert "%arg0: tensor<?x2xf32>" in local(context, text)


def test_dropping_shardings_and_meshes(context):
    text = """sdy.mesh @mesh = <["x"=2]>
sdy.mesh @one = <[], device_ids=[0]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, a.kept = 1 : i32},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, a.kept}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>, a.kept}
      : tensor<8xf32>
  return %0, %a : tensor<8xf32>, tensor<8xf32>
}
"""
    module = parse(text, context)
    drop_sharding_and_mesh(module)
    left = asm(module)
    assert "sdy" not in left
    assert left.count("a.kept") == 3
