# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls of known targets with any operands and results, which no verifier checks."""

import itertools

import pytest
from case_counts import cases

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from mlir_sdy.verify import verify
from pyshardy.partition.records.custom_calls import CHECKED_TARGETS
from pyshardy.pipeline import run_pipeline
from pyshardy.propagation.op_priority import PASS_THROUGH_CUSTOM_CALLS
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.registry import CUSTOM_CALL, registered_rule, registered_targets

TARGETS = sorted({*registered_targets(), *PASS_THROUGH_CUSTOM_CALLS, *CHECKED_TARGETS})
WITH_RULES = {
    target
    for target in TARGETS
    if (registered := registered_rule(CUSTOM_CALL, target)) and registered.function
}
SHAPES = ((), (4,), (4, 4))
SHORTER = ((), (2,), (4, 2))
"""The shapes of results: of each rank another one than that of operands."""


@pytest.fixture(scope="module")
def context():
    return Context()


def tensor(shape) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def combinations(shapes, most=3):
    """Return all lists of some of the shapes, up to a number."""
    return [each for count in range(most + 1) for each in itertools.product(shapes, repeat=count)]


def call(target: str, number: int, operands, results) -> str:
    names = ", ".join(f"%{'abc'[index]}{len(shape)}" for index, shape in enumerate(operands))
    types = [", ".join(map(tensor, shapes)) for shapes in (operands, results)]
    made = "" if not results else f"%r{number}:{len(results)} = "
    attributes = f'<{{call_target_name = "{target}", has_side_effect = true}}>'
    return f'{made}"stablehlo.custom_call"({names}) {attributes} : ({types[0]}) -> ({types[1]})'


def program(target: str, given) -> str:
    """Return a program of one custom call for each pair of operand and result shapes."""
    sharded = ", [{}, {}]", ', [{"x"}]', ', [{"x"}, {"y"}]'
    arguments = ", ".join(
        f"%{name}{rank}: {tensor(SHAPES[rank])}"
        + (f" {{sdy.sharding = #sdy.sharding<@m{sharded[rank]}>}}" if rank else "")
        for name in "abc"
        for rank in range(3)
    )
    calls = "\n".join(call(target, number, *shapes) for number, shapes in enumerate(given))
    return f'sdy.mesh @m = <["x"=2, "y"=2]>\nfunc.func @main({arguments}) {{\n{calls}\nreturn\n}}'


@pytest.mark.parametrize("target", TARGETS)
def test_a_rule_or_none(context, target):
    """A rule that fits, or none; who has none is told, but for those that never have one."""
    most_results = min(3, cases(2))
    given = [
        (operands, results)
        for shapes in (SHAPES, SHORTER)
        for operands in combinations(SHAPES)
        for results in combinations(shapes, most_results)
    ]
    module = parse(program(target, given), context, "t.mlir")
    lookup = ShardingRuleLookup()
    block = module.body.operations[1].operation.regions[0].blocks[0]
    with collect() as warnings:
        rules = [lookup.rule(view.operation) for view in block.operations]
        run_pipeline(module, "func.func(sdy-populate-op-sharding-rules)")
    verify(module)
    num_rules = sum(rule is not None for rule in rules)
    assert (num_rules > 0) == (target in WITH_RULES)
    assert all(
        f"@{target}" in str(warning) and "no sharding rule" in str(warning) for warning in warnings
    )


@pytest.mark.parametrize("target", TARGETS)
def test_partitioned(context, target):
    """The passes that propagate and partition take all of them."""
    given = [
        ((operand,) * num_operands, (result,) * num_results)
        for operand in SHAPES
        for result in (*SHAPES, *SHORTER[1:])
        for num_operands in range(4)
        for num_results in range(4)
    ]
    module = parse(program(target, given), context, "t.mlir")
    with collect():
        run_pipeline(module, "sdy-propagation-pipeline,sdy-partition-pipeline")
    assert target in asm(module)


def test_the_warning(context):
    """It names the target, and what doesn't fit."""
    module = parse(program("Eigh", [(SHAPES[2:], ())]), context, "t.mlir")
    with collect() as warnings:
        run_pipeline(module, "func.func(sdy-populate-op-sharding-rules)")
    (warning,) = warnings
    assert "t.mlir:3:1: warning: no sharding rule for this custom call @Eigh" in str(warning)
