# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a program with dynamic sizes at several sizes."""

import re

import pytest

import pyshardy as sdy
import pyshardy.testing
from mlir_sdy.diagnostics import UsageError
from pyshardy.contracts.contract import Contract, ContractViolation
from pyshardy.sizes.symbols import several_in, values_in
from pyshardy.testing import assert_communication

# Both operands of the product want the axis; the larger one gets it, at the hint.
PROGRAM = """
module attributes {sdy.symbols = {b = {multiple_of = 8, hint = %d}}} {
  sdy.mesh @mesh = <["x"=8]>
  func.func @main(
      %%x: tensor<?x4096xf32> {sdy.sizes = ["b", ""],
          sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %%w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
      -> tensor<?x4096xf32> {
    %%0 = stablehlo.dot_general %%x, %%w, contracting_dims = [1] x [0]
        : (tensor<?x4096xf32>, tensor<4096x4096xf32>) -> tensor<?x4096xf32>
    %%1 = stablehlo.tanh %%0 : tensor<?x4096xf32>
    return %%1 : tensor<?x4096xf32>
  }
}"""


def program(hint=64):
    return sdy.parse(PROGRAM % hint)


def test_columns_and_expressions():
    compared = sdy.explain(program(), sizes={"b": [8, 1 << 16]}).sizes
    sizes, guards, costs, advice = compared.tables()
    assert sizes.rows == [("b >= 1, a multiple of 8 (hint 64)",)]
    assert guards.rows[0][0].startswith("8 divides b: proven")
    assert costs.headings == ("", "as expression", "b = 64 (hint)", "b = 8", "b = 65536")
    rows = {row[0]: row[1:] for row in costs.rows}
    assert rows["all_gather along x"] == (
        "14336*b",
        "917,504",
        "114,688",
        "58,720,256",
    )
    assert rows["all_to_all along x"] == ("", "-", "-", "117,440,512 *")
    ((text,),) = advice.rows
    assert re.fullmatch(
        r"from b = 65536 on, a plan found there takes \d\d% less time: "
        r"sdy.propagate\(module, hints=\{'b': 65536\}\)",
        text,
    )


def test_the_plan_is_that_of_the_hint():
    module = program()
    sdy.propagate(module, hints={"b": 1 << 16})
    compared = sdy.explain(module, sizes={"b": [8, 1024]}).sizes
    assert compared.hint.values == {"b": 1 << 16}
    (advice,) = compared.advice
    assert advice.startswith("up to b = 1024, a plan found there takes ")
    pinned = sdy.explain(program(), sizes={"b": 128})
    assert pinned.value("%x").value.type.shape == [128, 4096]
    assert [each.title for each in pinned.sizes.tables()] == ["Sizes", "Guards"]
    assert pinned.sizes.hint.values == {"b": 128}


def test_contracts_at_several_sizes():
    sizes = {"b": [8, 1024]}
    measured = assert_communication(program(), max_bytes="14336*b", sizes=sizes)
    assert [each.sizes for each in measured.others] == [{"b": 8}, {"b": 1024}]
    with pytest.raises(ContractViolation, match="bytes sent at b = 1024") as failure:
        assert_communication(program(), max_bytes="64*b + 914000", sizes=sizes)
    assert len(failure.value.violations) == 1
    assert failure.value.violations[0].limit == "at most 64*b + 914000 bytes"
    contract = Contract.parse(
        "at most 8*b bytes of all_gather along x; at most 4*b bytes of memory"
    )
    assert Contract.parse(str(contract)) == contract
    with pytest.raises(UsageError, match=r"the limit '2.c': the program has no size 'c'; it has b"):
        assert_communication(program(), max_bytes="2*c")
    with pytest.raises(UsageError, match="the program has no size 'b'; it has none"):
        Contract.of(max_bytes="2*b").check(sdy.testing.MeasuredProgram(("x",), (), 0))
    with pytest.raises(UsageError, match=r"'2.b.' is no size"):
        Contract.of(max_bytes="2*b(")


def test_wrong_sizes():
    with pytest.raises(UsageError, match="sizes: the program has no size 'c'; it has b"):
        sdy.explain(program(), sizes={"c": [8, 16]})
    with pytest.raises(UsageError, match="b = 12 is no multiple of 8; use b = 8 or 16"):
        sdy.explain(program(), sizes={"b": [8, 12]})
    with pytest.raises(UsageError, match="sizes: b is 'x'; expected a number, or a list"):
        sdy.explain(program(), sizes={"b": "x"})
    with pytest.raises(TypeError, match=r"takes 'sizes' as values by names .* got .3"):
        sdy.explain(program(), sizes=[3])
    with pytest.raises(sdy.UsageError, match="the program has no size '3'"):
        sdy.explain(program(), sizes={3: 4})
    assert several_in(["b=3,8,s=128", "t:4"], "--size") == {"b": [3, 8], "s": [128], "t": [4]}
    with pytest.raises(UsageError, match="--size: '8' is no size: expected NAME=N, such as b=128"):
        several_in(["8"], "--size")
    with pytest.raises(UsageError, match="--size: b has several values"):
        values_in(["b=3,8"], "--size")
