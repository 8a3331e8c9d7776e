# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that are donated in JAX give their memory to results of partitioned programs."""

import functools

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from jax import numpy as jnp
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pyshardy as sdy
from mlir_sdy.diagnostics import collect

P = PartitionSpec
STATE, X = np.ones(8, np.float32), np.arange(8, dtype=np.float32)


@pytest.fixture
def mesh():
    return jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))


def partitioned(module):
    with collect() as warnings:
        sdy.propagate(module)
        program = sdy.partition(module)
    return program, [each.message for each in warnings]


def step(state, x):
    return (state * x).sum(), state + x.sum()


def traced(function, mesh, in_shardings, out_shardings=None):
    return sdy.jax.trace(
        function, STATE, X, mesh=mesh, in_shardings=in_shardings, out_shardings=out_shardings
    )


def check(program, mesh, donated_to):
    assert [port.donated_to for port in program.inputs] == donated_to
    state = jax.device_put(STATE * 1, NamedSharding(mesh, P("x")))

    for found in (
        program.as_jax()(state, X),
        program.run([STATE, X], "xla"),
        program.run([STATE, X], "jit"),
    ):
        np.testing.assert_allclose(found[1], STATE + X.sum())
    assert state.is_deleted() == (donated_to[0] is not None)


@pytest.mark.parametrize("x_spec", [P("x"), P()])
def test_a_traced_jit(mesh, x_spec):
    """The first result has another type; the second one is sharded as the argument."""
    function = jax.jit(step, donate_argnums=0)
    module = traced(function, mesh, (P("x"), x_spec), (None, P("x")))
    program, warnings = partitioned(module)
    assert not warnings
    check(program, mesh, [1, None])


def test_what_jax_has_lowered(mesh):
    by_x = NamedSharding(mesh, P("x"))
    lowered = jax.jit(step, donate_argnums=0, in_shardings=by_x).lower(STATE, X)
    program, _ = partitioned(sdy.jax.from_lowered(lowered))
    donated = program.inputs[0].donated_to
    # The result is sharded as propagation has it.
    assert (donated is None) == (program.outputs[1].local_spec.shape != (2,))


def test_another_sharding_gives_a_warning(mesh):
    function = jax.jit(step, donate_argnums=0)
    program, warnings = partitioned(traced(function, mesh, (P("x"), P("x")), (None, P())))
    (warning,) = warnings
    assert warning.startswith("state is donated, but no remaining result has its type and")
    check(program, mesh, [None, None])


def test_each_result_is_taken_once(mesh):
    function = jax.jit(lambda s, x: (x * 2, s + x), donate_argnums=(0, 1))
    program, warnings = partitioned(traced(function, mesh, (P("x"), P("x")), (P("x"), P("x"))))
    assert not warnings
    assert sorted(port.donated_to for port in program.inputs) == [0, 1]
    function = jax.jit(lambda s, x: s + x, donate_argnums=(0, 1))
    with pytest.warns(UserWarning, match="donated buffers were not usable"):  # JAX says so itself
        module = traced(function, mesh, (P("x"), P("x")), P("x"))
    program, _ = partitioned(module)
    assert [port.donated_to for port in program.inputs] == [0, None]


def test_behind_tokens(mesh):
    """The attributes of JAX count tokens among the results."""

    def function(state, x):
        io_callback(lambda _: None, None, x, ordered=True)
        return (state * x).sum(), state + x.sum()

    function = jax.jit(function, donate_argnums=0)
    program, _ = partitioned(traced(function, mesh, (P("x"), P("x")), (None, P("x"))))
    check(program, mesh, [1, None])


def test_static_arguments_are_not_counted(mesh):
    function = functools.partial(jax.jit, static_argnums=0, donate_argnums=1)(lambda n, s: s * n)
    module = sdy.jax.trace(
        function,
        3,
        STATE,
        mesh=mesh,
        in_shardings=(P("x"),),
        out_shardings=P("x"),
        static_argnums=0,
    )
    program, _ = partitioned(module)
    assert [port.donated_to for port in program.inputs] == [0]


def test_what_a_run_has_left_is_gone_when_donated(mesh):
    function = jax.jit(lambda s, x: s + x, donate_argnums=0)
    program, _ = partitioned(traced(function, mesh, (P("x"), P("x")), P("x")))
    (first,) = program.run_sharded([STATE, X], "xla")
    (second,) = program.run_sharded([first, X], "xla")
    np.testing.assert_allclose(second, STATE + 2 * X)
    with pytest.raises(sdy.UsageError, match="donated to a run"):
        first.gather()
    with pytest.raises(sdy.UsageError, match="donated to a run"):
        program.run_sharded([first, X], "xla")
    np.testing.assert_allclose(jnp.asarray(second), STATE + 2 * X)
