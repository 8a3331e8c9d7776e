# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The effect of other shardings."""

import pytest
import rich

import pyshardy as sdy

PROGRAM = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> (tensor<8x32xf32> {jax.result_info = "y"}) {
  %hidden = stablehlo.tanh %x : tensor<8x16xf32>
  %y = stablehlo.dot_general %hidden, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}"""


@pytest.fixture(scope="module")
def program():
    return sdy.whatif(PROGRAM)


def test_an_argument(program):
    assert repr(program).startswith('WhatIf(ProgramExplanation(mesh <["data"=2, "model"=4]>')
    change = program.shard("%w", ("model", None))
    assert change.difference.first.nbytes_sent == 0
    assert change.difference.second.nbytes_sent > 0
    assert {each.collective.kind for each in change.added} == {"all_reduce"}
    assert "reduction over a dimension sharded along model" in str(change.added[0])
    assert repr(change).startswith("Change(%w: 0 -> ")
    assert [port.name for port in change.difference.ports] == ["%w", "y"]


@pytest.mark.parametrize("sharding", [(None, "data"), '[{}, {"data"}]', '<@mesh, [{}, {"data"}]>'])
def test_forms_of_shardings(program, sharding):
    (port, *_) = program.shard("%w", sharding).difference.ports
    assert str(port.second) == '<@mesh, [{}, {"data"}]>'


@pytest.mark.parametrize("form", ["text", "jax"])
def test_dimensions_that_a_partition_spec_leaves_out(program, form):
    sharding = "P('data')"
    if form == "jax":
        sharding = pytest.importorskip("jax").P("data")
    (port, *_) = program.shard("%w", sharding).difference.ports
    assert str(port.second) == '<@mesh, [{"data"}, {}]>'


def test_results_and_values(program):
    assert program.shard("y", (None, None)).difference.second.nbytes_sent > 0
    inside = program.shard("%hidden", (None, "model")).explained
    assert "given in the program" in str(inside.value("%hidden"))


def test_changes_are_kept(program):
    change = program.shard("%w", ("model", None))
    again = change.keep().shard("%w", (None, "model"))
    assert again.difference.second == change.difference.first
    back = program.shard("%w", None).difference
    assert back.second.argument_bytes > back.first.argument_bytes
    together = program.shard_all({"%w": None, "%x": None})
    assert together.explained.cost.nbytes_sent == 0


def test_mistakes(program):
    with pytest.raises(sdy.UsageError, match="no value '%v'"):
        program.shard("%v", (None, None))
    with pytest.raises(sdy.UsageError, match="'%hidden' has no annotation that could be removed"):
        program.shard("%hidden", None)
    with pytest.raises(sdy.UsageError, match="'%w' has 2 dimensions, but its sharding has 1"):
        program.shard("%w", ("data",))
    with pytest.raises(sdy.VerificationError, match=r"of '%w': .* did you mean .model"):
        program.shard("%w", ("modl", None))
    assert program.explained.cost.nbytes_sent == 0, "the program is as it was"


def test_tables(program, capsys):
    rich.print(program.shard("%w", ("model", None)))
    shown = capsys.readouterr().out
    for text in ("peak memory", "Different collectives", "all_reduce", "0 -> 1"):
        assert text in shown


def test_dynamic_sizes_have_their_hints():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<?x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<?x4xf32> {
      %0 = stablehlo.tanh %a : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }"""
    change = sdy.whatif(text).shard("%a", (None, None))
    assert change.difference.first.argument_bytes == 64 * 4 * 4
    assert change.difference.second.argument_bytes == 128 * 4 * 4
