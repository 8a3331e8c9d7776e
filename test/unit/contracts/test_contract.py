# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The limits of contracts: their texts and values, and what they count."""

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.testing import ContractViolation

LOOP = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: tensor<i32>)
    -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %y = %a) : tensor<i32>, tensor<8x8xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c : tensor<i32>
      %z = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %j, %z : tensor<i32>, tensor<8x8xf32>
    }
  return %0#1 : tensor<8x8xf32>
}
"""


@pytest.fixture(scope="module")
def explained():
    return sdy.explain(LOOP)


@pytest.mark.parametrize("sizes", [("1B", "1GiB"), ("1GiB", "1B")])
def test_the_least_memory_counts(sizes, explained):
    with pytest.raises(ContractViolation, match="at most 1 byte of memory"):
        explained.check("; ".join(f"at most {each} of memory" for each in sizes))
    one, other = sizes
    assert sdy.Contract.of(max_memory=one, limits=[f"at most {other} of memory"]).max_memory == 1


def test_bytes_of_loops_of_unknown_length_are_told(explained):
    with collect() as told:
        explained.check("at most 192 bytes")
    (warning,) = told
    assert "'at most 192 bytes' counts the bytes of one iteration: 1 collective" in warning.message
    with collect() as told:
        explained.check("at most 1 all_gather")
    assert not told


@pytest.mark.parametrize("count", [-1, None, 1.5, True, "2"])
def test_numbers_of_collectives_are_whole(count):
    with pytest.raises(sdy.UsageError, match="whole numbers of collectives as 'at_most'"):
        sdy.Contract.of(at_most={"all_gather": count})


@pytest.mark.parametrize("nbytes", [-5, 1.5, True])
def test_numbers_of_bytes_are_whole(nbytes):
    with pytest.raises(sdy.UsageError, match="takes bytes such as"):
        sdy.Contract.of(max_bytes=nbytes)


def test_forms_of_one_limit():
    contract = sdy.Contract.parse("no all_gather along x")
    assert sdy.Contract.parse("no all-gather along x") == contract
    assert sdy.Contract.of(no_axes={"x": "all_gather"}) == contract
    assert sdy.Contract.of(limits="no all_gather along x") == contract
    assert sdy.Contract.of(at_most={"collectives": 0}) == sdy.Contract.parse("no collectives")


def test_an_axis_is_no_part_of_a_pattern():
    with pytest.raises(sdy.UsageError, match="expected a limit"):
        sdy.Contract.parse("no all_gather in mlp along x")
