# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random loops over sharded values: they send no more than XLA's partition, with equal numbers."""

import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from mlir_sdy.assembly import asm
from pyshardy.backends.xla.hlo import collectives_of
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.local_program.process_groups import Layout

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec

MESHES = ({"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}, {"x": 8}, {"x": 4})
OF_A_COLLECTIVE = 256
"""The bytes that take as long as the latency of a collective, on the default hardware."""


def partitioned(function, arguments, mesh, shardings):
    """Return the annotated program and the partitioned one."""
    mesh = sdy.Mesh.of(mesh)
    module = sdy.jax.trace(function, *arguments, mesh=mesh, in_shardings=shardings)
    annotated = asm(module)
    sdy.propagate(module)
    return annotated, sdy.partition(module)


def sent(program):
    """Return the bytes that a device sends, and the number of collectives, as XLA counts them."""
    found = [each for each in program if each.sent_bytes]
    times = sum(each.times for each in found)
    return sum(each.sent_bytes * each.times for each in found), times


def bytes_of_both(annotated, program):
    count = program.mesh.total_size
    layout = Layout(1, count)
    ours = local_xla_program(program.module, layout)
    theirs = XlaProgram(annotated, (), (), layout, partitioned_by_xla=True)
    return (sent(collectives_of(each.hlo, count)) for each in (ours, theirs))


def sharding(rng, mesh, shape):
    dims = [None] * len(shape)
    for axis, size in mesh.items():
        dim = rng.randrange(len(shape))
        if rng.random() < 0.45 and shape[dim] % size == 0 and dims[dim] is None:
            dims[dim] = axis
    return P(*dims)


def loop(rng, mesh, stack, size):
    """A loop over stacked weights `w`, with a carried value `x` and a matrix `a`."""
    kind, is_constrained, has_rows = rng.randrange(8), rng.random() < 0.5, rng.random() < 0.5
    activate = rng.choice([jnp.tanh, lambda v: v, jax.nn.relu])
    prepare = rng.choice([lambda v: v, lambda v: v.T, lambda v: v * 2])
    scale = rng.choice([1.0, 0.25])
    axes = tuple(mesh.values()), tuple(mesh)
    place = jax.sharding.NamedSharding(
        jax.sharding.AbstractMesh(*axes), sharding(rng, mesh, (size, size))
    )

    def accumulated(w, a):
        def step(total, rows):
            total += scale * jax.grad(lambda a: (jnp.tanh(rows @ a) ** 2).sum())(a)
            return lax.with_sharding_constraint(total, place) if is_constrained else total, None

        return lax.scan(step, jnp.zeros_like(a), w)[0]

    def layers(w, x):
        return lax.scan(lambda c, v: (jnp.tanh(c @ v), None), x, w)[0]

    def run(w, x, a):
        if kind == 0:
            return lax.scan(lambda c, v: (activate(c @ prepare(v)), None), x, w)[0]
        if kind == 1:
            return lax.fori_loop(0, stack, lambda _, c: activate(c @ prepare(a)), x)
        if kind == 2:
            return lax.fori_loop(0, stack, lambda i, c: activate(c @ w[i]), x)
        if kind == 3:
            state = lax.while_loop(
                lambda s: s[0] < stack, lambda s: (s[0] + 1, activate(s[1] @ prepare(a))), (0, x)
            )
            return state[1]
        if kind == 4:
            return accumulated(w, a)
        if kind == 5:
            return lax.scan(lambda c, v: (activate(c @ v) @ a, c if has_rows else c.sum()), x, w)
        if kind == 6:
            return jax.grad(lambda w: (layers(w, x) ** 2).sum())(w)
        return lax.scan(lambda c, v: (activate((c @ a) @ v + c), None), x, w)[0]

    return run


@pytest.mark.parametrize("seed", range(cases(6)))
def test_random_loops(seed):
    rng = random.Random(seed)
    mesh, size, stack = rng.choice(MESHES), rng.choice([16, 32]), rng.choice([4, 8, 16])
    shapes = (stack, size, size), (rng.choice([8, 16, 32]), size), (size, size)
    generator = np.random.default_rng(seed)
    arguments = [generator.normal(size=shape).astype("f4") / 6 for shape in shapes]
    function = loop(rng, mesh, stack, size)
    shardings = tuple(sharding(rng, mesh, shape) for shape in shapes)
    annotated, program = partitioned(function, arguments, mesh, shardings)
    found = program.run(arguments, "xla")
    expected = jax.tree.leaves(jax.jit(unconstrained(function))(*arguments))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * max(1, np.abs(other).max()))
    (ours, number), (theirs, their_number) = bytes_of_both(annotated, program)
    is_faster = ours + OF_A_COLLECTIVE * number <= theirs + OF_A_COLLECTIVE * their_number
    assert ours <= 1.05 * theirs or is_faster


def unconstrained(function):
    """The function for one device."""

    def run(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lax, "with_sharding_constraint", lambda value, _: value)
            return function(*arguments)

    return run


@pytest.mark.parametrize(
    ("mesh", "axis"),
    [({"x": 2, "y": 4}, "y"), ({"x": 4, "y": 2}, "y"), ({"x": 2, "y": 2, "z": 2}, "z")],
)
@pytest.mark.parametrize("is_gradient", [False, True])
def test_layers_on_a_mesh_with_an_idle_axis(mesh, axis, is_gradient):
    def layers(w, x):
        return lax.scan(lambda c, v: (jnp.tanh(c @ v), None), x, w)[0].sum()

    types = jax.ShapeDtypeStruct((32, 32, 32), "f4"), jax.ShapeDtypeStruct((8, 32), "f4")
    function = jax.grad(layers) if is_gradient else layers
    _, program = partitioned(function, types, mesh, (P(axis), P()))
    devices = mesh[axis]
    gathers = [each for each in program.collectives if each.kind == "all_gather"]
    assert [each.repetitions for each in program.collectives] == [1] * len(gathers)
    assert sum(each.nbytes_sent for each in gathers) == 32**3 * 4 * (devices - 1) // devices


def test_a_matrix_of_all_iterations_is_gathered_once():
    types = jax.ShapeDtypeStruct((32, 32), "f4"), jax.ShapeDtypeStruct((16, 32), "f4")
    _, program = partitioned(
        lambda a, x: lax.fori_loop(0, 8, lambda _, c: jnp.tanh(c @ a), x),
        types,
        {"data": 4, "model": 2},
        (P("data", None), P("data")),
    )
    assert [(each.kind, each.nbytes_sent) for each in program.collectives] == [("all_gather", 3072)]


@pytest.mark.parametrize("spec", [P("x"), P(None, "x"), P("x", "y")])
def test_accumulated_gradients_are_scattered_once(spec):
    mesh = jax.sharding.AbstractMesh((4, 2), ("x", "y"))

    def accumulated(a, w):
        def step(total, rows):
            total += 0.5 * jax.grad(lambda a: (jnp.tanh(rows @ a) ** 2).sum())(a)
            place = jax.sharding.NamedSharding(mesh, spec)
            return lax.with_sharding_constraint(total, place), None

        return lax.scan(step, a, w)[0]

    generator = np.random.default_rng(0)
    arguments = [generator.normal(size=shape).astype("f4") for shape in ((16, 16), (4, 32, 16))]
    _, program = partitioned(accumulated, arguments, {"x": 4, "y": 2}, (P(), P(None, "x")))
    scattered = [each for each in program.collectives if each.kind == "reduce_scatter"]
    assert [each.repetitions for each in scattered] == [1]
    (found,) = program.run(arguments, "xla")
    expected = jax.jit(unconstrained(accumulated))(*arguments)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
