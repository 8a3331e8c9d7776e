# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attribute `sdy.contract`, which the partitioner checks."""

import pytest

import pyshardy as sdy

CALLED_TWICE = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> MAIN {
  %0 = call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> CALLEE {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""


def partitioned(main="", callee="", program=CALLED_TWICE):
    def attribute(text):
        return f"attributes {{sdy.contract = {text}}}" if text else ""

    text = program.replace("MAIN", attribute(main)).replace("CALLEE", attribute(callee))
    module = sdy.parse(text)
    sdy.propagate(module)
    return sdy.partition(module)


def test_contracts_that_hold_leave_no_trace():
    limits = '{at_most = {all_gather = 1}, no_axes = {x = ["all_reduce"]}, max_bytes = 400}'
    with_contracts = partitioned("{at_most = {all_gather = 2}}", limits)
    assert sdy.asm(with_contracts.module) == sdy.asm(partitioned().module)


@pytest.mark.parametrize(
    ("main", "callee", "message"),
    [
        ("{at_most = {all_gather = 1}}", "", "at most 1 all_gather' is violated: found 2"),
        ("", '{limits = ["no collectives along x"]}', "along x' is violated: found 1 collective"),
        ("", "{max_bytes = 100}", "at most 100 bytes' is violated: found 1 collective, 192 bytes"),
        ("", "{at_most = {all_gathr = 1}}", "did you mean 'all_gather'"),
        ("", "{max_memory = 100}", "cannot limit memory"),
        ("", "{limit = 1}", "no key 'limit'; did you mean 'limits'"),
        ("", '"no all_gather"', "'sdy.contract' is a dictionary such as"),
        ('{no_axes = {y = ["all_gather"]}}', "", "the mesh has no axis 'y'"),
    ],
)
def test_violations(main, callee, message):
    """A small function is inlined before its collectives are inserted."""
    with pytest.raises(sdy.PipelineError, match=message) as failure:
        partitioned(main, callee)
    assert failure.value.diagnostics[0].location is not None


def test_an_operation_without_regions():
    negated = "%2 = stablehlo.negate %1 {sdy.contract = {max_bytes = 1}} : tensor<8x8xf32>"
    program = CALLED_TWICE.replace("return %1", f"{negated}\n  return %2")
    with pytest.raises(sdy.VerificationError, match=r"negate' op 'sdy\.contract' is for"):
        partitioned(program=program)


@pytest.mark.parametrize("count", [0, 1])
def test_collectives_of_the_program(count):
    """They count for the function that they are in, wherever their results are used."""
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<8x8xf32> {
      %0 = call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    func.func private @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<8x8xf32> CALLEE {
      %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    limits = f"{{at_most = {{all_gather = {count}}}}}"
    if count:
        assert len(partitioned(callee=limits, program=program).collectives) == 1
        return
    with pytest.raises(sdy.PipelineError, match="'no all_gather' is violated: found 1"):
        partitioned(callee=limits, program=program)
