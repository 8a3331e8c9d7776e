# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Canonicalization by itself, and what C++ Shardy in jaxlib can't be asked about."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.fold import PATTERNS, canonicalize
from pyshardy.pipeline import PipelineError, register_pass, run_pipeline, unregister

MESHES = """
sdy.mesh @m = <["u"=4, "v"=2]>
sdy.mesh @one = <["a"=1, "b"=2]>
"""
T = "tensor<16x16xf32>"


@pytest.fixture(scope="module")
def context():
    return Context()


def body(module):
    """What stands between the head of the last function and its return."""
    lines = asm(module).splitlines()
    start = max(index for index, line in enumerate(lines) if "func.func" in line)
    end = max(index for index, line in enumerate(lines) if line.startswith("    return"))
    return [line.strip() for line in lines[start + 1 : end + 1]]


def simplified(text, context, **options):
    module = parse(MESHES + text, context)
    changed = canonicalize(module, **options)
    module.operation.verify()
    return changed, body(module)


CHAIN = f"""
func.func @f(%a: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"u"}}, {{}}]>}}) -> {T} {{
  %0 = sdy.all_gather [{{}}, {{}}] %a out_sharding=<@m, [{{"u"}}, {{}}]> : {T}
  %1 = sdy.reshard %0 <@m, [{{}}, {{"u"}}]> : {T}
  %2 = sdy.reshard %1 <@m, [{{"v"}}, {{}}]> : {T}
  func.return %2 : {T}
}}"""


def test_all_patterns(context):
    changed, lines = simplified(CHAIN, context)
    assert changed
    assert lines == [f'%0 = sdy.reshard %arg0 <@m, [{{"v"}}, {{}}]> : {T}', f"return %0 : {T}"]
    module = parse(MESHES + CHAIN, context)
    assert canonicalize(module)
    assert not canonicalize(module), "nothing is left to do"


@pytest.mark.parametrize(
    ("labels", "reshards", "gathers"),
    [({"sdy-reshard"}, 1, 1), ({"sdy-collective"}, 2, 0), (set(), 2, 1)],
)
def test_labels(labels, reshards, gathers, context):
    changed, lines = simplified(CHAIN, context, labels=labels)
    assert changed == bool(labels)
    assert sum("sdy.reshard" in line for line in lines) == reshards
    assert sum("sdy.all_gather" in line for line in lines) == gathers


def test_names_of_patterns(context):
    assert all(pattern.rewrite.__doc__ for pattern in PATTERNS)
    module = parse(MESHES + CHAIN, context)
    run_pipeline(module, "canonicalize{disable-patterns=merge-reshards}")
    assert sum("sdy.reshard" in line for line in body(module)) == 2


def test_with_patterns_of_the_host(context):
    """Each makes work for the other: a constant branch is chosen, then reshards are merged."""
    text = f"""
    func.func @f(%a: {T}) -> {T} {{
      %c = arith.constant true
      %0 = sdy.reshard %a <@m, [{{"u"}}, {{}}]> : {T}
      %1 = scf.if %c -> ({T}) {{ scf.yield %0 : {T} }} else {{ scf.yield %a : {T} }}
      %2 = sdy.reshard %1 <@m, [{{"v"}}, {{}}]> : {T}
      func.return %2 : {T}
    }}"""
    module = parse(MESHES + text, context)
    run_pipeline(module, "func.func(canonicalize{max-iterations=5})")
    assert body(module) == [
        f'%0 = sdy.reshard %arg0 <@m, [{{"v"}}, {{}}]> : {T}',
        f"return %0 : {T}",
    ]


def test_a_pass_of_a_user_comes_first(context):
    @register_pass("canonicalize")
    def nothing(module):
        """Does nothing."""

    try:
        module = parse(MESHES + CHAIN, context)
        run_pipeline(module, "canonicalize")
    finally:
        unregister("canonicalize")
    assert sum("sdy.reshard" in line for line in body(module)) == 2


def test_options_are_those_of_the_host(context):
    module = parse(MESHES + CHAIN, context)
    with pytest.raises(Exception, match="no option 'nonsense'") as failure:
        run_pipeline(module, "canonicalize{nonsense=1}")
    assert not isinstance(failure.value, PipelineError)


# --- What the release in jaxlib does not do ------------------------------------------------------


def test_reshards_of_other_unreduced_axes_are_kept(context):
    text = f"""
    func.func @f(%a: {T}) -> ({T}, {T}, {T}, {T}) {{
      %0 = sdy.reshard %a <@m, [{{}}, {{}}], unreduced={{"u"}}> : {T}
      %1 = sdy.reshard %a <@m, [{{}}, {{}}]> : {T}
      %2 = sdy.reshard %a <@m, [{{}}, {{}}], unreduced={{"v"}}> : {T}
      %3 = sdy.reshard %a <@m, [{{?}}, {{}}], unreduced={{"u"}}> : {T}
      func.return %0, %1, %2, %3 : {T}, {T}, {T}, {T}
    }}"""
    _, lines = simplified(text, context)
    assert len(lines) == 4
    assert lines[-1].startswith("return %0, %1, %2, %0 :")


def test_reshards_beyond_a_transpose_and_a_reshape_are_kept(context):
    """In the row-major order of the reshape, the data of the first reshard is not in one place."""
    text = """
    func.func @f(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
      %0 = sdy.reshard %a <@m, [{"v"}, {}]> : tensor<4x8xf32>
      %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %2 = stablehlo.reshape %1 : (tensor<8x4xf32>) -> tensor<32xf32>
      %3 = sdy.reshard %2 <@m, [{"v"}]> : tensor<32xf32>
      func.return %0, %3 : tensor<4x8xf32>, tensor<32xf32>
    }"""
    _, lines = simplified(text, context)
    assert sum("sdy.reshard" in line for line in lines) == 2


def test_a_permutation_that_changes_unreduced_axes_is_kept(context):
    text = f"""
    func.func @f(%a: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"u"}}, {{}}]>}}) -> {T} {{
      %0 = sdy.collective_permute %a out_sharding=<@m, [{{"u"}}, {{}}], unreduced={{"v"}}> : {T}
      func.return %0 : {T}
    }}"""
    changed, _ = simplified(text, context)
    assert not changed


@pytest.mark.parametrize("axes", ["", '"a"'])
def test_a_computation_on_one_device_keeps_its_shardings(axes, context):
    text = f"""
    func.func @f(%a: {T}) -> {T} {{
      %0 = sdy.manual_computation(%a) in_shardings=[<@one, [{{}}, {{"b"}}]>]
          out_shardings=[<@one, [{{}}, {{}}]>] manual_axes={{{axes}}} (%c: {T}) {{
        %1 = stablehlo.negate %c : {T}
        sdy.return %1 : {T}
      }} : ({T}) -> {T}
      func.return %0 : {T}
    }}"""
    _, lines = simplified(text, context)
    assert 'in_shardings=[<@one, [{}, {"b"}]>]' in lines[0]


def test_a_computation_without_values_is_inlined(context):
    text = """
    func.func @f() {
      sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"u"} () {
        stablehlo.custom_call @side() {has_side_effect = true} : () -> ()
        sdy.return
      } : () -> ()
      func.return
    }"""
    _, lines = simplified(text, context)
    assert lines[0].startswith("stablehlo.custom_call @side()")
    assert len(lines) == 2


def test_the_kind_of_a_reduction_is_kept(context):
    text = f"""
    func.func @f(%a: {T} {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}], unreduced=max{{"u"}}>}})
        -> {T} {{
      %0 = sdy.all_reduce max {{"u"}} %a out_sharding=<@m, [{{}}, {{}}]> : {T}
      %1 = sdy.all_slice [{{"u", "v"}}, {{}}] %0 out_sharding=<@m, [{{"u", "v"}}, {{}}]> : {T}
      func.return %1 : {T}
    }}"""
    _, lines = simplified(text, context)
    assert lines == [
        f'%0 = sdy.reduce_scatter max [{{"u"}}, {{}}] %arg0 '
        f'out_sharding=<@m, [{{"u"}}, {{}}]> : {T}',
        f'%1 = sdy.all_slice [{{"v"}}, {{}}] %0 out_sharding=<@m, [{{"u", "v"}}, {{}}]> : {T}',
        f"return %1 : {T}",
    ]
