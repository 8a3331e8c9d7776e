# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results that are unreduced, between programs."""

import random

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pyshardy as sdy
from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError
from pyshardy.program import run_unpartitioned

P = PartitionSpec
MESHES = (
    '<["x"=2, "y"=4]>',
    '<["x"=2, "y"=2, "z"=2]>',
    '<["x"=3, "y"=2]>',
    '<["x"=4, "y"=2], device_ids=[1, 0, 3, 2, 5, 4, 7, 6]>',
)


def random_program(seed: int, elements=("f32", "bf16", "i32", "complex<f32>", "f64")) -> str:
    """A product and a reshard, between interfaces that are sharded and unreduced at random."""
    chosen = random.Random(seed)
    mesh = chosen.choice(MESHES)
    names = [axis for axis in "xyz" if f'"{axis}"' in mesh]

    def sharding(may_be_unreduced: bool = True) -> str:
        axes = chosen.sample(names, len(names))
        dims = [f'{{"{axes.pop()}"}}' if axes and chosen.random() < 0.5 else "{}" for _ in "ab"]
        unreduced = ""
        if may_be_unreduced and axes and chosen.random() < 0.7:
            listed = ", ".join(f'"{axis}"' for axis in sorted(axes))
            unreduced = f", unreduced={{{listed}}}"
        return f"<@mesh, [{', '.join(dims)}]{unreduced}>"

    rows, inner, columns = (chosen.choice(sizes) for sizes in ((8, 12, 5), (8, 24), (8, 16)))
    element = chosen.choice(elements)
    left, right, result = (
        f"tensor<{shape}x{element}>"
        for shape in (f"{rows}x{inner}", f"{inner}x{columns}", f"{rows}x{columns}")
    )
    given = [sharding() for _ in range(5)]
    bare = [sharding(may_be_unreduced=False) for _ in range(3)]
    marked = [f"{{sdy.sharding = #sdy.sharding{each}}}" for each in given]
    last = chosen.choice(["multiply %c1, %c1", "add %1, %c1"])
    return f"""
sdy.mesh @mesh = {mesh}
func.func @main(%a: {left} {marked[0]}, %b: {right} {marked[1]}, %c: {result} {marked[2]})
    -> ({result} {marked[3]}, {result} {marked[4]}, {result} {marked[2]}) {{
  %a1 = sdy.reshard %a {bare[0]} : {left}
  %b1 = sdy.reshard %b {bare[1]} : {right}
  %c1 = sdy.reshard %c {bare[2]} : {result}
  %1 = stablehlo.dot_general %a1, %b1, contracting_dims = [1] x [0]
      : ({left}, {right}) -> {result}
  %2 = stablehlo.{last} : {result}
  %3 = sdy.reshard %2 {given[3]} : {result}
  %4 = sdy.reshard %c {given[4]} : {result}
  return %3, %4, %c : {result}, {result}, {result}
}}"""


def partitioned(text, context, seed):
    module = parse(text, context)
    sdy.propagate(module)
    program = sdy.partition(module)
    generator = np.random.default_rng(seed)
    inputs = [
        generator.integers(-3, 4, port.spec.shape).astype(port.spec.dtype)
        for port in program.inputs
    ]
    return program, inputs, run_unpartitioned(module, inputs)


@pytest.mark.parametrize("seed", range(cases(30)))
def test_arrays_in_and_out(context, seed):
    program, inputs, wanted = partitioned(random_program(seed), context, seed)
    for found, want in zip(program.run(inputs), wanted, strict=True):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("seed", range(cases(4)))
def test_arrays_of_jax(context, seed):
    text = random_program(seed, ("f32", "i32"))
    program, inputs, wanted = partitioned(text, context, seed)
    function = program.as_jax()
    results = function(*map(jnp.asarray, inputs))
    for found, want, port in zip(results, wanted, program.outputs, strict=True):
        axes = {axis.name for axis in port.sharding.unreduced_axes} if port.sharding else set()
        assert found.sharding.spec.unreduced == axes
        whole = NamedSharding(function.mesh, P())
        complete = jax.jit(lambda array, to=whole: jax.sharding.reshard(array, to))
        np.testing.assert_array_equal(complete(found) if axes else found, want)


KINDS = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
  return %a : tensor<4xf32>
}"""


def test_maxima(context):
    program, inputs, wanted = partitioned(KINDS, context, 0)
    np.testing.assert_array_equal(program.run(inputs)[0], wanted[0])
    with pytest.raises(UsageError, match="unreduced by max, but unreduced arrays of JAX are sums"):
        program.as_jax()


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_shards_go_from_program_to_program(context, backend):
    """A partial result stays as it is until a later program completes it."""
    product = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
    completion = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
    first, inputs, wanted = partitioned(product, context, 0)
    assert not first.collectives
    (partial,) = first.run_sharded(inputs, backend)
    second, _, _ = partitioned(completion, context, 0)
    np.testing.assert_array_equal(second.run([partial], backend)[0], wanted[0])
    np.testing.assert_array_equal(partial.gather(), wanted[0])


def test_training_steps_of_jax():
    """A jitted function accumulates and reduces the gradients of another."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    a = np.arange(64, dtype=np.float32).reshape(8, 8)

    def step(a, b):
        return jnp.einsum("ij,jk->ik", a, b, out_sharding=P(None, None, unreduced={"x"}))

    def accumulate(total, a, b):
        return total + step(a, b)

    def complete(total):
        return jax.sharding.reshard(total + total, P("x", None))

    def run(function, *arguments):
        module = sdy.jax.trace(function, *arguments, mesh=mesh)
        sdy.propagate(module)
        return sdy.partition(module).as_jax()(*arguments)

    with jax.set_mesh(mesh):
        arguments = [
            jax.device_put(a, NamedSharding(mesh, spec)) for spec in (P(None, "x"), P("x", None))
        ]
        partial = run(step, *arguments)
        assert partial.sharding.spec.unreduced == {"x"}
        both = run(accumulate, jax.jit(step)(*arguments), *arguments)
        np.testing.assert_array_equal(run(complete, both), 4 * (a @ a))
        np.testing.assert_array_equal(jax.jit(complete)(partial), 2 * (a @ a))


def test_complex_arrays_are_refused_by_jax(context):
    text = KINDS.replace("max{", "{").replace("f32", "complex<f32>")
    program, inputs, wanted = partitioned(text, context, 0)
    np.testing.assert_array_equal(program.run(inputs)[0], wanted[0])
    with pytest.raises(UsageError, match="makes no complex array unreduced"):
        program.as_jax()(*inputs)
