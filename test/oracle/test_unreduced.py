# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explicit reshards around unreduced values, against C++ Shardy, and their numbers."""

import itertools
import random
import re

import numpy as np
import pytest
from case_counts import cases
from partition_programs import (
    OTHER_SIZES,
    POWERS_OF_TWO,
    random_axes,
    random_mesh,
    random_operation,
)
from programs import Shape, tensor
from shardy import ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.model import AxisRef, TensorSharding
from mlir_sdy.verify import verify
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition, run_unpartitioned

MESH = 'sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>\n'
T = "tensor<16x16xf32>"

CASES = cases(12)
"""Many abort C++ Shardy, which then starts anew."""

SHARDINGS = (
    "[{}, {}]",
    '[{"a"}, {}]',
    '[{"a", "b"}, {}]',
    '[{"c"}, {"a"}]',
    '[{}, {}], unreduced={"a"}',
    '[{"b"}, {}], unreduced={"a"}',
    '[{"b"}, {"c"}], unreduced={"a"}',
    '[{"b"}, {}], unreduced={"a", "c"}',
    '[{"c":(1)2}, {}], unreduced={"c":(2)2}',
    '[{}, {}], unreduced=max{"a"}',
)


def argument(name, sharding):
    return f"%{name}: {T} {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}"


def per_value(*shardings):
    listed = ", ".join(f"<@m, {sharding}>" for sharding in shardings)
    return f"{{sdy.sharding = #sdy.sharding_per_value<[{listed}]>}}"


def reshard(given, wanted, result):
    return f"""{MESH}
    func.func @main({argument("x", given)})
        -> ({T} {{sdy.sharding = #sdy.sharding<@m, {result}>}}) {{
      %0 = sdy.reshard %x <@m, {wanted}> : {T}
      return %0 : {T}
    }}"""


def add(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)})
        -> ({T} {{sdy.sharding = #sdy.sharding<@m, {result}>}}) {{
      %0 = stablehlo.add %x, %y {per_value(result)} : {T}
      %1 = stablehlo.negate %0 {per_value(left)} : {T}
      return %1 : {T}
    }}"""


def dot(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)}) -> {T} {{
      %0 = stablehlo.dot %x, %y {per_value(result)} : ({T}, {T}) -> {T}
      return %0 : {T}
    }}"""


def barrier(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)}) -> {T} {{
      %0:2 = stablehlo.optimization_barrier {per_value(result, right)} %x, %y : {T}, {T}
      return %0#0 : {T}
    }}"""


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("write", [reshard, add, dot, barrier], ids=lambda write: write.__name__)
def test_unreduced(shardy, context, write, full):
    """What Shardy makes of a program we make, too; what it refuses is an error, or valid."""
    option = str(full).lower()
    pipeline = f"func.func(sdy-insert-explicit-reshards{{enable-full-version={option}}})"
    cases = list(itertools.product(SHARDINGS, repeat=3))
    random.Random(write.__name__).shuffle(cases)
    num_compared = 0
    for case in cases[:CASES]:
        text = write(*case)
        try:
            module = parse(text, context)
        except SdyError:
            continue
        printed = asm(module)
        try:
            run_pipeline(module, pipeline)
            verify(module)
            own = asm(module)
        except SdyError as failure:
            own = str(failure)
        assert "internal error" not in own, text
        try:
            expected = shardy.run(printed, f"builtin.module({pipeline})")
        except (ShardyAborted, ShardyRefused):
            continue
        assert own == asm(parse(expected, context)), text
        num_compared += 1
    assert num_compared > CASES // 6


BARRIERED = (None, *SHARDINGS[:2], *SHARDINGS[4:6])
BARRIER = "sdy.propagation_barrier %{} allowed_direction=NONE {} : " + T
USES = {
    "negate": "stablehlo.negate %0 {sharding} : " + T,
    "reshard": "sdy.reshard %0 <@m, {dims}> : " + T,
    "data flow": "stablehlo.optimization_barrier {sharding} %0 : " + T,
    "another barrier": BARRIER.format(0, "{sharding}"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.shardy_since(0, 12)
def test_unreduced_at_barriers(shardy, context, use):
    """A barrier counts for what it declares itself, whatever is before it."""
    num_compared = 0
    for given, declared, wanted in itertools.product(BARRIERED, repeat=3):
        held = "" if given is None else f" {{sdy.sharding = #sdy.sharding<@m, {given}>}}"
        first, second = ("" if each is None else per_value(each) for each in (declared, wanted))
        line = USES[use].replace("{sharding}", second).replace("{dims}", wanted or "[{}, {}]")
        text = f"""{MESH}
        func.func @main(%x: {T}{held}) -> {T} {{
          %0 = {BARRIER.format("x", first)}
          %1 = {line}
          %2 = sdy.reshard %1 <@m, [{{}}, {{}}]> : {T}
          return %2 : {T}
        }}"""
        module = parse(text, context)
        printed = asm(module)
        try:
            expected = shardy.run(printed, "builtin.module(sdy-propagation-pipeline)")
        except (ShardyAborted, ShardyRefused):
            continue
        run_pipeline(module, "sdy-propagation-pipeline")
        assert asm(module) == asm(parse(expected, context)), text
        num_compared += 1
    assert num_compared > 40


# --- Numbers ------------------------------------------------------------------------------------


def unreduced_program(rng: random.Random) -> str:
    """An operation, reshards and negations; each result may be unreduced along unused axes."""
    mesh = random_mesh(rng, rng.choice([POWERS_OF_TWO, OTHER_SIZES]))
    operation = random_operation(rng)

    def sharding(shape: Shape, *, unreduced: bool) -> TensorSharding:
        axes = random_axes(rng, mesh, len(shape), unused=0.5)
        used = {axis.name for of_dim in axes for axis in of_dim}
        rest = [name for name in mesh.axis_names if name not in used and rng.random() < 0.7]
        kept = tuple(map(AxisRef, rest)) if unreduced else ()
        return TensorSharding.from_axes("mesh", axes, kept)

    def given(sharding: TensorSharding) -> str:
        return f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"

    arguments = ", ".join(
        f"%arg{index}: {tensor(shape)} "
        f"{{sdy.sharding = #sdy.sharding{sharding(shape, unreduced=False)}}}"
        for index, shape in enumerate(operation.operand_shapes)
    )
    shape = operation.result_shape
    current = sharding(shape, unreduced=True)
    lines = [operation.text.replace("{sharding}", given(current))]
    for number in range(rng.randint(0, 3)):
        if rng.random() < 0.5:
            current = sharding(shape, unreduced=rng.random() < 0.5)
            lines.append(f"sdy.reshard %{number} {current} : {tensor(shape)}")
        else:
            if not current.unreduced_axes:
                current = sharding(shape, unreduced=False)
            lines.append(f"stablehlo.negate %{number} {given(current)} : {tensor(shape)}")
    result = sharding(shape, unreduced=False)
    lines.append(f"sdy.reshard %{len(lines) - 1} {result} : {tensor(shape)}")
    body = "\n  ".join(f"%{number} = {line}" for number, line in enumerate(lines))
    return f"""sdy.mesh @mesh = {mesh}
func.func @main({arguments}) -> ({tensor(shape)} {{sdy.sharding = #sdy.sharding{result}}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  {body}
  return %{len(lines) - 1} : {tensor(shape)}
}}
"""


def test_numbers_of_unreduced_values(context):
    for seed in range(cases(15)):
        module = parse(unreduced_program(random.Random(seed)), context)
        program = partition(module)
        generator = np.random.default_rng(seed)
        inputs = [generator.integers(-3, 4, port.spec.shape) for port in program.inputs]
        for found, expected in zip(
            program.run(inputs), run_unpartitioned(module, inputs), strict=True
        ):
            np.testing.assert_array_equal(found, expected, str(seed))


def test_zeros_keep_their_sign(context):
    """What devices contribute that hold nothing must not make 0.0 of -0.0."""
    text = f"""{MESH}
    func.func @main({argument("x", '[{"b"}, {}]')}) -> {T} {{
      %0 = sdy.replicated_to_unreduced {{"a"}} %x
          out_sharding=<@m, [{{"b"}}, {{}}], unreduced={{"a"}}> : {T}
      %1 = sdy.sharded_to_unreduced [{{"b"}}, {{}}] %0
          out_sharding=<@m, [{{}}, {{}}], unreduced={{"a", "b"}}> : {T}
      %2 = stablehlo.convert %1 {per_value('[{}, {}], unreduced={"a", "b"}')} : {T}
      %3 = sdy.all_reduce {{"a", "b"}} %2 out_sharding=<@m, [{{}}, {{}}]> : {T}
      return %3 : {T}
    }}"""
    program = partition(parse(text, context))
    matrix = np.full((16, 16), -0.0, np.float32)
    assert np.signbit(program.run([matrix])[0]).all()


OTHER_MESHES = """
sdy.mesh @grid = <["x"=2, "y"=2]>
sdy.mesh @line = <["p"=4]>
sdy.mesh @shuffled = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
func.func @main(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {"x"}]>},
    %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding =
    #sdy.sharding_per_value<[<@grid, [{"y"}, {}], unreduced={"x"}>]>}
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // Partial on one mesh, and then on another one along other axes.
  %1 = sdy.reshard %0 <@line, [{}, {}], unreduced={"p"}> : tensor<8x8xf32>
  %2 = stablehlo.add %1, %1 {sdy.sharding =
    #sdy.sharding_per_value<[<@line, [{}, {}], unreduced={"p"}>]>} : tensor<8x8xf32>
  %3 = sdy.reshard %0 <@shuffled, [{"y"}, {}], unreduced={"x"}> : tensor<8x8xf32>
  %4 = stablehlo.add %3, %3 {sdy.sharding =
    #sdy.sharding_per_value<[<@shuffled, [{"y"}, {}], unreduced={"x"}>]>} : tensor<8x8xf32>
  // Partial on one mesh only.
  %5 = sdy.reshard %4 <@line, [{}, {"p"}]> : tensor<8x8xf32>
  %6 = stablehlo.add %0, %0 {sdy.sharding =
    #sdy.sharding_per_value<[<@shuffled, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %2, %5, %6 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
"""


def test_other_meshes(context):
    """Partial results don't go from mesh to mesh: they are completed, and made partial again."""
    program = partition(parse(OTHER_MESHES, context))
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, 8, 4)).astype(np.float32)
    for result in program.run([a, b.T.copy()]):
        assert np.abs(result - 2 * a @ b.T).max() < 1e-5
    assert "all_reduce" in {collective.kind for collective in program.collectives}


KINDS = (
    "",
    '{"a"}',
    'max{"a"}',
    'min{"b"}',
    '{"a", "b"}',
    'max{"a", "b"}',
    'max{"c":(1)2}',
    '{"c"}',
)
"""Unreduced axes of all kinds; parts of axes are among them."""


def transitions(operand, result, other):
    """The operations that may turn an operand into a result, and a second one into another."""
    for line in (
        f"sdy.reshard %x <@m, {result}> : {T}",
        f"sdy.sharding_constraint %x <@m, {result}> : {T}",
        f"stablehlo.negate %x {per_value(result)} : {T}",
        f"stablehlo.dot %x, %y {per_value(result)} : ({T}, {T}) -> {T}",
    ):
        yield f"%0 = {line}"
    yield f"%0:2 = stablehlo.optimization_barrier {per_value(result, other)} %x, %y : {T}, {T}"
    yield f"%0 = stablehlo.negate %x {per_value(operand)} : {T}\nreturn %0 : {T}"


def fault(run):
    """The first error about unreduced axes, without its place; None if there is none."""
    try:
        run()
    except (ShardyRefused, SdyError) as refused:
        found = re.search(r"op (\w[^\n]*)", str(refused))
        return found and found[1]
    return None


@pytest.mark.shardy_since(0, 12)
def test_verified_transitions(shardy, context):
    """Each pair of operand and result is verified as by C++ Shardy, with the same message."""
    pipeline = "func.func(sdy-verify-unreduced-axes)"
    triples = list(itertools.product(KINDS, repeat=3))
    random.Random(0).shuffle(triples)
    num_refused = 0
    for triple in triples[:CASES]:
        given, result, other = (
            f"[{{}}, {{}}], unreduced={kind}" if kind else "[{}, {}]" for kind in triple
        )
        for line in transitions(given, result, other):
            returned = "" if line.endswith(f"return %0 : {T}") else "return"
            results = "" if returned else f" -> ({T} {{sdy.sharding = #sdy.sharding<@m, {other}>}})"
            text = f"""{MESH}
            func.func @main({argument("x", given)}, {argument("y", other)}){results} {{
              {line}
              {returned}
            }}"""
            theirs = fault(lambda text=text: shardy.run(text, f"builtin.module({pipeline})"))
            ours = fault(lambda text=text: run_pipeline(parse(text, context), pipeline))
            if "%0 = sdy." in line:  # the words of the verifier of reshards differ
                theirs, ours = bool(theirs), bool(ours)
            assert theirs == ours, text
            num_refused += bool(ours)
    assert num_refused > CASES
