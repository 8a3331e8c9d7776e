# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Advice that was tried."""

import pytest

import pyshardy as sdy
from pyshardy.explain.checked_advice import candidates_of
from pyshardy.testing import assert_communication

# The table gives its columns' axis to the looked-up rows, before the batch does. Each product then
# contracts a sharded dimension.
PROGRAM = """
sdy.mesh @mesh = <["data"=4]>
func.func @main(
    %table: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %ids: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> tensor<64x64xf32> {
  %x = "stablehlo.gather"(%table, %ids) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 64>}> : (tensor<16x64xf32>, tensor<64x1xi32>) -> tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.add %x, %0 : tensor<64x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}"""
AGREED = """
sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}"""


def test_a_constraint_on_the_value_where_the_conflict_begins():
    what_if = sdy.whatif(PROGRAM)
    before = what_if.explained.cost.nbytes_sent
    found = what_if.advice()
    best = found[0]
    assert best.nbytes_saved > before // 4
    assert best.change.difference.second.nbytes_sent == before - best.nbytes_saved
    assert "result 0 of stablehlo.gather" in str(best)
    assert '[{"data", ?}, {?}]' in str(best)
    assert f"{before:,} -> {before - best.nbytes_saved:,} bytes sent" in str(best)
    # The same constraint, written by hand, has this effect.
    by_hand = what_if.shard("%x", '[{"data", ?}, {?}]')
    assert by_hand.difference.second.nbytes_sent <= before - best.nbytes_saved


def test_advice_on_a_value():
    what_if = sdy.whatif(PROGRAM)
    (found,) = what_if.advice_on("%x")
    assert str(found).startswith("constrain result 0 of stablehlo.gather")
    assert found.nbytes_saved == what_if.advice()[-1].nbytes_saved
    assert what_if.advice_on("%ids") == ()


def test_what_does_not_help_is_no_advice():
    for each in sdy.whatif(PROGRAM).advice():
        assert each.nbytes_saved > 0
    agreed = sdy.whatif(AGREED)
    assert candidates_of(agreed.explained.record) == []
    assert agreed.advice() == ()


def test_failed_contracts_have_checked_advice():
    with pytest.raises(sdy.ContractViolation) as violated:
        assert_communication(PROGRAM, max_bytes="1kB")
    assert any("result 0 of stablehlo.gather" in each for each in violated.value.advice)
    assert "sends less, but the contract is still violated: constrain" in str(violated.value)
    with pytest.raises(sdy.ContractViolation) as violated:
        assert_communication(AGREED, max_memory="1kB")
    assert violated.value.advice == ()


@pytest.mark.parametrize(
    ("limit", "effect"), [(20_000, "keeps the contract"), (10_000, "still violated")]
)
def test_violated_contracts_of_programs_have_checked_advice(limit, effect):
    contract = f"attributes {{sdy.contract = {{max_bytes = {limit}}}}}"
    program = PROGRAM.replace(
        "-> tensor<64x64xf32> {\n  %x", f"-> tensor<64x64xf32> {contract} {{\n  %x"
    )
    module = sdy.parse(program)
    sdy.propagate(module)
    for check in (lambda: sdy.explain(program), lambda: sdy.partition(module)):
        with pytest.raises(sdy.PipelineError) as failure:
            check()
        *collectives, last = failure.value.diagnostics[0].notes
        assert effect in last.message
        assert "result 0 of stablehlo.gather" in last.message
        assert last.location.line == 8
        assert any("is a reduction over a dimension" in each.message for each in collectives)
        assert not any("--advise" in each.message for each in collectives)
    assert sdy.whatif(program).advice(), "without a check of the contract"
    with pytest.raises(sdy.PipelineError, match="'sdy-explain --advise' tries constraints"):
        sdy.partition(sdy.parse(sdy.asm(module)))
