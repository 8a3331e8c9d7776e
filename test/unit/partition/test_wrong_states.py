# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes of the partitioner on programs that they aren't meant for yet say what is missing."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.cli import opt
from pyshardy.pipeline import run_pipeline

PRELUDE = """sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @small = <["z"=2]>
sdy.mesh @one = <[], device_ids=[1]>
sdy.mesh @far = <[], device_ids=[7]>
#rows = #sdy.sharding<@mesh, [{"x"}, {}]>
func.func private @callee(%x: tensor<8x8xf32> {sdy.sharding = #rows}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""
T = "tensor<8x8xf32>"
ROWS = "{sdy.sharding = #rows}"
FULL = "'sdy-insert-explicit-reshards{enable-full-version=true}'"
SMALL = '<@small, [{"z"}, {}]>'
CONVERT = "sdy-convert-global-to-local"
RESHARDS = "sdy-insert-explicit-reshards{enable-full-version=true}"


def values(*shardings: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding_per_value<[{', '.join(shardings)}]>}}"


def loop(argument: str) -> str:
    """A loop around `%a` that does nothing; its operation is in the first line."""
    return f"""%w:2 = stablehlo.while(%i = %n, %p = {argument}) : tensor<i32>, {T} cond {{
    %more = stablehlo.compare GT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    stablehlo.return %i, %p : tensor<i32>, {T}
  }}"""


EDGE = f'sdy.data_flow_edge %w#1 sharding=<@mesh, [{{"x"}}, {{}}]> : {T}'

CASES = {
    # What other passes should have replaced, at the line that has it.
    "a reshard before conversion": (
        CONVERT,
        f'%0 = sdy.reshard %a <@mesh, [{{}}, {{"x"}}]> : {T}',
        "'sdy.reshard' op is left: run 'sdy-reshard-to-collectives' first",
    ),
    "a reshard to a single device before conversion": (
        CONVERT,
        f"%0 = sdy.reshard %b <@one, []> : {T}",
        "'sdy.reshard' op is left: run 'sdy-resolve-single-device-sharding' first",
    ),
    "a constraint before conversion": (
        CONVERT,
        f'%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{"x"}}]> : {T}',
        "'sdy.sharding_constraint' op is left: run 'sdy-sharding-constraint-to-reshard' first",
    ),
    "an edge before conversion": (
        CONVERT,
        f"{loop('%b')}\n  %0 = {EDGE}",
        "'sdy.data_flow_edge' op is left: run 'sdy-sink-data-flow-edges' first",
    ),
    "an edge before explicit reshards": (
        RESHARDS,
        f"{loop('%b')}\n  %0 = {EDGE}",
        "'sdy.data_flow_edge' op is left: run 'sdy-sink-data-flow-edges' first",
    ),
    # Incompatible shardings.
    "incompatible operands": (
        CONVERT,
        f"%0 = stablehlo.add %a, %b {values('#rows')} : {T}",
        "'stablehlo.add' op has operands and results with incompatible shardings, sharded as "
        f'<@mesh, [{{"x"}}, {{}}]> and replicated: run {FULL} first',
    ),
    "an incompatible result": (
        CONVERT,
        f"%0 = stablehlo.negate %a : {T}",
        "'stablehlo.negate' op has operands and results with incompatible shardings, "
        f'sharded as <@mesh, [{{"x"}}, {{}}]> and replicated: run {FULL} first',
    ),
    "what flows into a loop": (
        CONVERT,
        loop("%a"),
        "'stablehlo.while' op operand 1 is sharded as "
        f'<@mesh, [{{"x"}}, {{}}]>, but the value that it flows to is replicated: run {FULL} first',
    ),
    "what flows into a function": (
        CONVERT,
        f"%0 = func.call @callee(%b) : ({T}) -> {T}",
        "'func.call' op operand 0 is replicated, but the value that it flows to is sharded as "
        f'<@mesh, [{{"x"}}, {{}}]>: run {FULL} first',
    ),
    "what comes out of a function": (
        CONVERT,
        f"%0 = func.call @callee(%a) {values('#rows')} : ({T}) -> {T}",
        "'func.call' op result 0 is sharded as "
        '<@mesh, [{"x"}, {}]>, but that of the callee is replicated: '
        "run 'sdy-insert-func-call-reshards' first",
    ),
    "partial results that are returned": (
        CONVERT,
        f'%0 = sdy.replicated_to_unreduced {{"y"}} %a '
        f'out_sharding=<@mesh, [{{"x"}}, {{}}], unreduced={{"y"}}> : {T}\n  return %0 : {T}',
        "'func.return' op operand 0 is sharded as "
        f'<@mesh, [{{"x"}}, {{}}], unreduced={{"y"}}>, but the value that it flows to is '
        f"replicated: run {FULL}",
    ),
    # Sizes and devices.
    "a dimension that is uneven": (
        CONVERT,
        "%0 = stablehlo.constant dense<1.0> : tensor<7xf32>\n"
        '  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>',
        "'sdy.all_slice' op dimension 0 of size 7 is not divisible by its axes \"x\" of size 2",
    ),
    "a size that is not known": (
        CONVERT,
        "%d = stablehlo.custom_call @f() : () -> tensor<?xf32>\n"
        '  %0 = sdy.all_slice [{"x"}] %d out_sharding=<@mesh, [{"x"}]> : tensor<?xf32>',
        "'sdy.all_slice' op can't be computed on tensor<?xf32>: its shape must be static",
    ),
    "a mesh of fewer devices": (
        CONVERT,
        f'%0 = sdy.all_slice [{{"z"}}, {{}}] %b out_sharding=<@small, [{{"z"}}, {{}}]> : {T}',
        "on 2 devices, but the mesh @mesh of its function has 4",
    ),
    "a reshard to fewer devices": (
        "sdy-partition-pipeline",
        f'%1 = sdy.reshard %a <@small, [{{"z"}}, {{}}]> : {T}\n'
        f"  %0 = stablehlo.negate %1 {values(SMALL)} : {T}\n  return %0 : {T}",
        "on 2 devices, but the mesh @mesh of its function has 4",
    ),
    # Operations.
    "an operation that needs other shards": (
        CONVERT,
        f"%0 = stablehlo.reverse %a, dims = [0] {values('#rows')} : {T}",
        "'stablehlo.reverse' op can't be computed on shards: dimension 0 of operand 0",
    ),
    "an operation that nobody knows": (
        CONVERT,
        f"%0 = stablehlo.custom_call @f(%a) {values('#rows')} : ({T}) -> {T}",
        "'stablehlo.custom_call' op has no sharding rule: run 'sdy-insert-explicit-reshards{",
    ),
    # Single devices.
    "a sharded operand on a single device": (
        "sdy-resolve-single-device-sharding",
        f"%0 = stablehlo.negate %a {values('<@one, []>')} : {T}",
        "'stablehlo.negate' op runs on a single device, but its operand 0 is sharded as "
        f"<@mesh, [{{\"x\"}}, {{}}]>: run {FULL} and 'sdy-reshard-to-collectives' first",
    ),
    "a device that the mesh hasn't": (
        "sdy-resolve-single-device-sharding",
        f"%0 = stablehlo.negate %b {values('<@far, []>')} : {T}",
        "'stablehlo.negate' op is on device 7, but the mesh @mesh has the devices 0 to 3",
    ),
    "two devices at once": (
        RESHARDS,
        f"%0:2 = stablehlo.optimization_barrier %b, %b : {T}, {T}\n"
        f"  %1:2 = stablehlo.custom_call @f(%b) {values('<@one, []>', '<@far, []>')} : "
        f"({T}) -> ({T}, {T})",
        "'stablehlo.custom_call' op has results on different single devices: ",
    ),
    "a loop on a single device": (
        "sdy-partition-pipeline",
        f"%0 = stablehlo.while(%c = %b) : {T} attributes {values('<@one, []>')} cond {{\n"
        "    %p = stablehlo.constant dense<false> : tensor<i1>\n"
        "    stablehlo.return %p : tensor<i1>\n  } do {\n"
        f"    %1 = stablehlo.negate %c {values('<@one, []>')} : {T}\n"
        f"    stablehlo.return %1 : {T}\n  }}\n  return %0 : {T}",
        "'stablehlo.while' op has a result on the single device <@one, []>, but all devices run",
    ),
    "a branch of one device that holds others": (
        "sdy-partition-pipeline",
        f'%0 = "stablehlo.case"(%n) ({{\n    %1 = stablehlo.negate %a {values("#rows")} : {T}\n'
        f"    stablehlo.return %1 : {T}\n  }}) {values('<@one, []>')} : (tensor<i32>) -> {T}\n"
        f"  return %0 : {T}",
        "give this sharding to operations in there, or to one on its result",
    ),
    "a call on a single device": (
        "sdy-resolve-single-device-sharding",
        f"%0 = func.call @callee(%b) {values('<@one, []>')} : ({T}) -> {T}",
        "'func.call' op has a result on the single device <@one, []>, but all devices run its body",
    ),
    # Padding.
    "an uneven result": (
        "sdy-pad-for-divisibility",
        "%0 = stablehlo.constant dense<1.0> : tensor<7xf32>\n"
        '  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>\n'
        f"  %2 = func.call @uneven(%1) : (tensor<7xf32>) -> {T}",
        "'func.call' op operand #0 has a non-divisible sharding",
    ),
    # One by one.
    "tensors on several meshes": (
        "sdy-per-instruction-partitioning",
        f"%0 = stablehlo.negate %a {values(SMALL)} : {T}",
        "'stablehlo.negate' op has operands and results on different meshes: mesh and small",
    ),
    "an operation that can't be partitioned by itself": (
        "sdy-per-instruction-partitioning",
        "%0 = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
        f"  %1 = sdy.reshard %a <@one, []> : {T}",
        "'sdy.reshard' op has operands and results on different meshes: mesh and one",
    ),
}


def program(body: str) -> str:
    text = f"""{PRELUDE}func.func @main(%a: {T} {ROWS}, %b: {T}, %n: tensor<i32>) -> {T} {{
  {body}
"""
    return text + ("}\n" if "return %0" in body else f"  return %b : {T}\n}}\n")


@pytest.mark.parametrize("what", CASES)
def test_wrong_state(context, what, tmp_path, capsys):
    pipeline, body, message = CASES[what]
    text = program(body)
    if "@uneven" in body:
        text += f"func.func private @uneven(tensor<7xf32>) -> {T}\n"
    module = parse(text, context, "m.mlir")
    before = asm(module)
    with pytest.raises(SdyError) as failure:
        run_pipeline(module, pipeline)
    told = "\n".join(map(str, failure.value.diagnostics))
    assert message in told
    assert "internal error" not in told
    assert told.startswith("m.mlir:")
    if message.startswith("'"):
        name = message.split("'")[1].removeprefix("func.")
        line = text.splitlines()[int(told.split(":")[1]) - 1]
        assert name in line
    assert asm(module) == before
    file = tmp_path / "m.mlir"
    file.write_text(text)
    assert opt.main([str(file), f"--pass-pipeline=builtin.module({pipeline})"]) == 1
    assert message in capsys.readouterr().err
