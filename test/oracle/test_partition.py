# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explicit reshards and their collectives against C++ Shardy: the same text.

Where results differ on purpose, `test_numbers.py` shows that ours are right:

| where                                      | Shardy                   | here                  |
|--------------------------------------------|--------------------------|-----------------------|
| refs that cut an axis in different ways    | fails, or drops them     | gathers and slices    |
| a reduction that is not a sum              | all-reduces by a sum     | by the same, or whole |
| from a copy on each device to another mesh | slices, then permutes    | slices                |
| a value behind a propagation barrier       | takes it for a whole one | looks behind it       |
| from one mesh to another with other axes   | leaves it alone          | gathers and slices    |
| an operation without a rule                | leaves it alone          | computes it whole     |
"""

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest
from case_counts import cases
from partition_programs import (
    OTHER_SIZES,
    POWERS_OF_TWO,
    one_operation_program,
    random_reshard,
)
from programs import MESHES, ProgramWriter, random_module, random_module_with_calls
from rule_programs import random_rule_module
from shardy import Shardy, ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from mlir_sdy.verify import verify
from pyshardy.api import propagate
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import run_pipeline

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
CASES_PER_TEST = 100

TO_COLLECTIVES = "func.func(sdy-reshard-to-collectives)"
EXPLICIT_RESHARDS = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"


def answers(
    shardy: Shardy, context: Context, text: str, pipeline: str
) -> tuple[str, str, str | None]:
    """The program, what our pass makes of it and what Shardy's does; None if that fails."""
    module = parse(text, context)
    printed = asm(module)
    run_pipeline(module, pipeline)
    verify(module)
    try:
        expected = shardy.run(printed, f"builtin.module({pipeline})")
        return printed, asm(module), asm(parse(expected, context))
    except (ShardyAborted, ShardyRefused, SdyError):
        return printed, asm(module), None


def check_same(shardy: Shardy, context: Context, text: str, pipeline: str) -> None:
    printed, own, expected = answers(shardy, context, text, pipeline)
    assert own == expected, printed


def seeds(block: int) -> range:
    return range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST)


@pytest.mark.parametrize("block", range(4))
@pytest.mark.shardy_since(0, 12)
def test_reshards(shardy, context, block):
    for seed in seeds(block):
        program = random_reshard(random.Random(seed), POWERS_OF_TWO)
        check_same(shardy, context, program.text, TO_COLLECTIVES)


def is_padded(text: str, context: Context) -> bool:
    """Whether a dimension of the reshard isn't divisible, before or after it."""
    module = parse(text, context)
    meshes = meshes_of(module)
    (reshard,) = operations_named({"sdy.reshard"}, module)
    shape = ir.RankedTensorType(reshard.results[0].type).shape
    return any(
        size % meshes["mesh"].axes_size(axes)
        for value in (reshard.operands[0], reshard.results[0])
        for size, axes in zip(shape, get_sharding(value).dim_axes, strict=True)
    )


@pytest.mark.parametrize("block", range(3))
@pytest.mark.shardy_since(0, 12)
def test_reshards_on_other_meshes(shardy, context, block):
    """Shardy refuses some of its own results; wherever refs coexist, the others are ours.

    But where the padding of a dimension would change: Shardy may find a way that keeps it whole,
    and here it is gathered.
    """
    found = Counter()
    for seed in seeds(block):
        program = random_reshard(random.Random(seed), OTHER_SIZES)
        printed, own, expected = answers(shardy, context, program.text, TO_COLLECTIVES)
        assert "sdy.reshard" not in own, printed
        if program.refs_coexist and expected is not None and not is_padded(printed, context):
            assert own == expected, printed
        found[own == expected] += 1
    assert found[True] > 0.9 * CASES_PER_TEST


@pytest.mark.parametrize(
    "program",
    [
        # To a replicated tensor, and to another order of devices.
        ('<["a"=2, "b"=2]>', '<["a"=2, "b"=2]>', '[{"a"}, {"b"}]', "[{}, {}]"),
        (
            '<["a"=2, "b"=2]>',
            '<["a"=2, "b"=2], device_ids=[2, 0, 3, 1]>',
            '[{"a"}, {}]',
            "[{}, {}]",
        ),
        (
            '<["a"=2, "b"=2]>',
            '<["a"=2, "b"=2], device_ids=[2, 0, 3, 1]>',
            '[{"a"}, {"b"}]',
            '[{"a"}, {"b"}]',
        ),
        (
            '<["a"=2, "b"=2]>',
            '<["a"=2, "b"=2], device_ids=[2, 0, 3, 1]>',
            '[{"a"}, {"b"}]',
            '[{}, {"a"}]',
        ),
    ],
)
@pytest.mark.parametrize("options", ["", "{keep-redundant-reshards=true}"])
def test_reshards_between_meshes(shardy, context, program, options):
    first, second, source, target = program
    text = f"""sdy.mesh @first = {first}
sdy.mesh @second = {second}
func.func @main(%arg0: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@first, {source}>}})
    -> tensor<8x8xf32> {{
  %0 = sdy.reshard %arg0 <@first, {source}> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@second, {target}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}}
"""
    check_same(shardy, context, text, f"func.func(sdy-reshard-to-collectives{options})")


@pytest.mark.parametrize("block", range(5))
@pytest.mark.shardy_since(0, 12)
def test_one_operation(shardy, context, block):
    for seed in seeds(block):
        program = one_operation_program(random.Random(seed), POWERS_OF_TWO)
        printed, own, expected = answers(shardy, context, program.text, EXPLICIT_RESHARDS)
        assert own == expected, printed


@pytest.mark.parametrize("block", range(3))
@pytest.mark.shardy_since(0, 12)
def test_one_operation_on_other_meshes(shardy, context, block):
    found = Counter()
    for seed in seeds(block):
        program = one_operation_program(random.Random(seed), OTHER_SIZES)
        printed, own, expected = answers(shardy, context, program.text, EXPLICIT_RESHARDS)
        if program.refs_coexist and expected is not None:
            assert own == expected, printed
        found[own == expected] += 1
    assert found[True] > 0.9 * CASES_PER_TEST


PLACES = ("[{}, {}]", '[{"a"}, {}]', '[{"b"}, {"a"}]', '[{"c", ?}, {?}]', None)


@pytest.mark.parametrize("full", ["false", "true"])
def test_constraints(shardy, context, full):
    """Constraints that have not become reshards: operations whose operand must fit the result."""
    pipeline = f"func.func(sdy-insert-explicit-reshards{{enable-full-version={full}}})"
    for source, target, constraint in itertools.product(PLACES, PLACES, PLACES[:-1]):
        before, after = (
            "" if place is None else f"{{sdy.sharding = #sdy.sharding<@m, {place}>}}"
            for place in (source, target)
        )
        text = f"""sdy.mesh @m = {MESHES[0]}
        func.func @main(%a: tensor<8x8xf32> {before}) -> (tensor<8x8xf32> {after}) {{
          %0 = sdy.sharding_constraint %a <@m, {constraint}> : tensor<8x8xf32>
          %1 = stablehlo.tanh %0 : tensor<8x8xf32>
          return %1 : tensor<8x8xf32>
        }}"""
        check_same(shardy, context, text, pipeline)


@pytest.mark.parametrize("full", ["false", "true"])
@pytest.mark.shardy_since(0, 12)
def test_reshards_to_a_single_device(shardy, context, full):
    """The value comes back from the device, whatever uses it."""
    pipeline = f"func.func(sdy-insert-explicit-reshards{{enable-full-version={full}}})"
    for source, target in itertools.permutations((*PLACES[:3], None), 2):
        before, after = (
            "" if place is None else f"{{sdy.sharding = #sdy.sharding<@m, {place}>}}"
            for place in (source, target)
        )
        text = f"""sdy.mesh @m = {MESHES[0]}
        sdy.mesh @one = <[], device_ids=[1]>
        func.func @main(%a: tensor<8x8xf32> {before})
            -> (tensor<8x8xf32> {after}, tensor<8x8xf32>) {{
          %0 = sdy.reshard %a <@one, []> : tensor<8x8xf32>
          %1 = stablehlo.tanh %0 : tensor<8x8xf32>
          return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
        }}"""
        check_same(shardy, context, text, pipeline)


PLACES_ON_MESHES = (
    None,
    '<@m, [{"a"}, {}]>',
    "<@m, [{}, {}]>",
    "<@z, [{}, {}]>",
    '<@z, [{"z"}, {}]>',
)


@pytest.mark.parametrize("full", ["false", "true"])
@pytest.mark.parametrize("name", ["add", "concatenate"])
@pytest.mark.shardy_since(0, 12)
def test_several_meshes(shardy, context, name, full):
    """An operation is left as it is, also if a tensor is only replicated on another mesh."""
    pipeline = f"func.func(sdy-insert-explicit-reshards{{enable-full-version={full}}})"
    for places in itertools.product(PLACES_ON_MESHES, repeat=3):
        left, right, result = ("" if each is None else each for each in places)
        arguments = ", ".join(
            f"%{value}: tensor<4x4xf32>"
            + (f" {{sdy.sharding = #sdy.sharding{place}}}" * bool(place))
            for value, place in (("a", left), ("b", right))
        )
        given = f"{{sdy.sharding = #sdy.sharding_per_value<[{result}]>}}" if result else ""
        operation, shape = {
            "add": (f"add %a, %b {given} : tensor<4x4xf32>", "4x4"),
            "concatenate": (
                f"concatenate %a, %b, dim = 1 {given} "
                ": (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>",
                "4x8",
            ),
        }[name]
        text = f"""sdy.mesh @m = <["a"=2, "b"=2]>
        sdy.mesh @z = <["z"=4]>
        func.func @main({arguments}) -> tensor<{shape}xf32> {{
          %0 = stablehlo.{operation}
          return %0 : tensor<{shape}xf32>
        }}"""
        check_same(shardy, context, text, pipeline)


@pytest.mark.parametrize("marks", ["false", "true"])
@pytest.mark.shardy_since(0, 12)
def test_rules_in_the_program(shardy, context, marks):
    """Also the order of what follows an operation with several results."""
    options = f"enable-full-version=true mark-partial-result-with-unreduced-axes={marks}"
    pipeline = f"func.func(sdy-insert-explicit-reshards{{{options}}})"
    num_compared = 0
    for seed in seeds(0):
        printed, own, expected = answers(shardy, context, random_rule_module(seed), pipeline)
        if expected is not None:
            assert own == expected, printed
            num_compared += 1
    assert num_compared > 0.8 * CASES_PER_TEST


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_propagated_examples(shardy, context, path):
    module = parse(path.read_text(), context)
    propagate(module)
    run_pipeline(module, "sdy-sharding-constraint-to-reshard,sdy-close-shardings")
    pipeline = f"{EXPLICIT_RESHARDS},{TO_COLLECTIVES}"
    check_same(shardy, context, asm(module), pipeline)


class Writer(ProgramWriter):
    """Keeps to what is the same on purpose: no barriers, and axes that split all factors."""

    sizes = (1, 2, 4, 8, 16)
    barrier = ProgramWriter.constraint


@pytest.mark.parametrize("generate", [random_module, random_module_with_calls])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.shardy_since(0, 12)
def test_propagated_random_programs(shardy, context, generate, full):
    pipeline = EXPLICIT_RESHARDS if full else "func.func(sdy-insert-explicit-reshards)"
    for seed in range(cases(20)):
        module = parse(generate(seed, meshes=MESHES[:1], writer_class=Writer), context)
        propagate(module)
        run_pipeline(module, "sdy-sharding-constraint-to-reshard,sdy-close-shardings")
        check_same(shardy, context, asm(module), pipeline)
