# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of Python that programs of JAX call, when they are partitioned."""

import functools

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import spread
from jax import numpy as jnp
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pyshardy as sdy
from pyshardy.local_program.errors import ExecutionError
from pyshardy.program import run_unpartitioned

P = PartitionSpec
X = jnp.arange(8.0) / 4
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
HOWS = ("interpreter", "jit", "xla", "as_jax")


@pytest.fixture
def mesh():
    return jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))


class Log(list):
    """What callbacks were called with: a name, the shape, and the sum of the array."""

    def sum(self, name):
        def note(array):
            self.append((name, array.shape, round(float(np.sum(array)), 3)))
            return np.float32(np.sum(array))

        return note


def ordered(log, x):
    return io_callback(log, SCALAR, x, ordered=True)


def pure(log, x):
    jax.debug.callback(log.sum("seen"), x * 2)
    return x + jax.pure_callback(log.sum("pure"), SCALAR, x)


def in_order(log, x):
    first = ordered(log.sum("first"), x)
    return ordered(log.sum("second"), x * 2) + first + x


def in_a_loop(log, x):
    return jax.lax.fori_loop(0, 3, lambda _, c: c + ordered(log.sum("loop"), c), x)


def in_a_branch(log, x):
    return jax.lax.cond(x.sum() > 1, lambda v: v + ordered(log.sum("branch"), v), jnp.sin, x)


def in_a_function(log, x):
    inner = jax.jit(lambda v: jax.pure_callback(log.sum("inner"), SCALAR, v))
    return inner(x) + inner(x * 2) + x


def returned(log, x):
    def double(array):
        log.append(array.dtype.name)
        return np.asarray(array) * 2

    narrow = x.astype(jnp.bfloat16)
    return jax.pure_callback(double, jax.ShapeDtypeStruct(x.shape, narrow.dtype), narrow)


def passed_around(log, x):
    """A loop whose state is what a callback gives."""
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def step(_, c):
        return io_callback(lambda a: (log.append(1), np.asarray(a) + 1)[1], spec, c, ordered=True)

    return jax.lax.fori_loop(0, 3, step, x)


FUNCTIONS = (pure, in_order, in_a_loop, in_a_branch, in_a_function, returned, passed_around)


def run(program, how, *arrays):
    if how == "as_jax":
        return jax.tree.leaves(program.as_jax()(*arrays))
    return program.run(arrays, how)


def partitioned(function, *arrays, mesh, in_shardings):
    module = sdy.jax.trace(function, *arrays, mesh=mesh, in_shardings=in_shardings)
    sdy.propagate(module)
    return sdy.partition(module)


@pytest.mark.parametrize(
    ("function", "how"),
    spread([(function, how) for function in FUNCTIONS for how in HOWS], 14),
    ids=lambda each: getattr(each, "__name__", each),
)
def test_callbacks_run_once_and_in_order(mesh, function, how):
    expected_log, log = Log(), Log()
    expected = jax.jit(functools.partial(function, expected_log))(
        jax.device_put(X, NamedSharding(mesh, P("x")))
    )
    jax.effects_barrier()
    program = partitioned(functools.partial(function, log), X, mesh=mesh, in_shardings=(P("x"),))
    for _ in range(2):  # what is compiled calls them again
        log.clear()
        (found,) = run(program, how, X)
        np.testing.assert_allclose(
            np.asarray(found, np.float32), np.asarray(expected, np.float32), rtol=1e-5
        )
        # The order of those without tokens is open.
        sort = list if function in (in_order, in_a_loop) else sorted
        assert sort(log) == sort(expected_log)


@pytest.mark.parametrize("how", HOWS)
def test_a_callback_in_a_manual_computation_runs_on_each_device(mesh, how):
    log = Log()

    def body(part):
        jax.debug.callback(log.sum("part"), part)
        return part * 2

    function = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    program = partitioned(function, X, mesh=mesh, in_shardings=(P("x"),))
    (found,) = run(program, how, X)
    np.testing.assert_allclose(found, X * 2)
    assert sorted(log) == [("part", (2,), s) for s in (0.25, 1.25, 2.25, 3.25)]


@pytest.mark.parametrize("how", HOWS)
def test_a_partitioned_callback_runs_on_each_shard(mesh, how):
    log = Log()

    def function(x):
        jax.debug.callback(log.sum("part"), x * 2, partitioned=True)
        jax.debug.callback(log.sum("sum"), x.sum(), partitioned=True)
        return x

    run(partitioned(function, X, mesh=mesh, in_shardings=(P("x"),)), how, X)
    parts = [("part", (2,), s) for s in (0.5, 2.5, 4.5, 6.5)]
    assert sorted(log) == [*parts, *[("sum", (), 7.0)] * 4]


@pytest.mark.parametrize("how", HOWS)
def test_a_program_traced_for_one_device_calls_once(how):
    log = Log()
    module = sdy.jax.trace(
        lambda x: jax.pure_callback(log.sum("once"), SCALAR, x) + x,
        X,
        mesh=sdy.Mesh.of({"x": 4}),
        in_shardings=(sdy.sharding('<@mesh, [{"x"}]>'),),
    )
    sdy.propagate(module)
    (found,) = run(sdy.partition(module), how, X)
    np.testing.assert_allclose(found, X + X.sum())
    assert log == [("once", (8,), 7.0)]


def test_our_shardings_stand_behind_tokens():
    log = Log()
    module = sdy.jax.trace(
        functools.partial(in_order, log),
        X,
        mesh=sdy.Mesh.of({"x": 4}),
        in_shardings=(sdy.sharding('<@mesh, [{"x"}]>'),),
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    assert [port.local_spec.shape for port in program.inputs] == [(2,)]
    (found,) = program.run([X])
    np.testing.assert_allclose(found, X + 3 * X.sum())
    # The unpartitioned program calls the same functions.
    np.testing.assert_allclose(run_unpartitioned(module, [X])[0], found)
    assert [name for name, *_ in log] == ["first", "second"] * 2


def check_sign(array):
    if (array < 0).any():
        raise ValueError("negative")
    return array


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("in_branch", [False, True])
def test_an_error_check_stops_the_run(mesh, how, in_branch):
    """The form of `equinox.error_if`."""
    spec = jax.ShapeDtypeStruct(X.shape, X.dtype)

    def checked(x):
        def check(v):
            return jax.pure_callback(check_sign, spec, v)

        x = jax.lax.cond((x < 0).any(), check, lambda v: v, x) if in_branch else check(x)
        return x * 2

    program = partitioned(checked, X, mesh=mesh, in_shardings=(P("x"),))
    np.testing.assert_allclose(run(program, how, X)[0], X * 2)
    kind = ValueError if how == "as_jax" else ExecutionError
    with pytest.raises(kind, match="negative"):
        run(program, how, X - 1)
    np.testing.assert_allclose(run(program, how, X)[0], X * 2)


def test_programs_with_callbacks_in_one_function(mesh):
    log = Log()
    first, second = (
        partitioned(
            lambda x, name=name: x + jax.pure_callback(log.sum(name), SCALAR, x),
            X,
            mesh=mesh,
            in_shardings=(P("x"),),
        ).as_jax()
        for name in ("one", "two")
    )
    found = jax.jit(lambda x: first(second(x)) + jax.pure_callback(log.sum("own"), SCALAR, x))(X)
    once = X + X.sum()
    np.testing.assert_allclose(found, once + once.sum() + X.sum(), rtol=1e-6)
    assert sorted(name for name, *_ in log) == ["one", "own", "two"]


def test_no_gradient(mesh):
    program = partitioned(lambda x: pure(Log(), x), X, mesh=mesh, in_shardings=(P("x"),)).as_jax()
    with pytest.raises(sdy.UsageError, match="cannot be differentiated"):
        jax.grad(lambda x: program(x).sum())(X)


@pytest.mark.parametrize("how", HOWS)
def test_a_callback_of_another_process_is_refused(mesh, how):
    module = sdy.jax.trace(lambda x: pure(Log(), x), X, mesh=mesh, in_shardings=(P("x"),))
    del module.operation.attributes["jax.callbacks"]
    sdy.propagate(module)
    program = sdy.partition(module)
    with pytest.raises(ExecutionError, match="known only to the process") as failure:
        run(program, how, X)
    assert failure.value.diagnostics[0].location.filename == __file__


# --- Partition functions ------------------------------------------------------------------------


@functools.partial(custom_partitioning, static_argnums=(2,))
def product(x, w, scale):
    return x @ w * scale


def partition_product(scale, mesh, arguments, result):
    del result
    rows, columns = (each.sharding.spec for each in arguments)
    inner = rows[1]

    def on_shards(x, w):
        partial_product = x @ w * scale
        return jax.lax.psum(partial_product, inner) if inner else partial_product

    out = NamedSharding(mesh, P(rows[0], columns[1]))
    return mesh, on_shards, out, (arguments[0].sharding, NamedSharding(mesh, P(inner, columns[1])))


product.def_partition(
    partition=partition_product,
    sharding_rule="i k, k j -> i j",
    infer_sharding_from_operands=lambda _s, _mesh, arguments, _result: arguments[0].sharding,
)
A, B = jnp.arange(32.0).reshape(4, 8) / 9, jnp.arange(32.0).reshape(8, 4) / 11


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    "specs", [(P("x"), P(None, "y")), (P("x", "y"), P("y")), (P(None, ("x", "y")), P()), (P(), P())]
)
def test_partition_functions_are_asked(specs, how):
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def function(a, b):
        return jnp.cos(product(a, b, 3.0)) + product(a * 2, b, 1.0)

    program = partitioned(function, A, B, mesh=mesh, in_shardings=specs)
    (found,) = run(program, how, A, B)
    np.testing.assert_allclose(found, np.cos(A @ B * 3) + 2 * A @ B, rtol=1e-4)


@pytest.mark.parametrize("how", HOWS)
def test_a_partition_function_of_another_process_is_refused(how):
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    module = sdy.jax.trace(
        lambda a, b: product(a, b, 3.0), A, B, mesh=mesh, in_shardings=(P("x"), P())
    )
    del module.operation.attributes["jax.custom_partitioning"]
    sdy.propagate(module)
    program = sdy.partition(module)
    with pytest.raises(ExecutionError, match="CustomSPMDPartitioning"):
        run(program, how, A, B)
