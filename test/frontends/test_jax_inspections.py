# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of Python that JAX refers to by address are alive, and hear propagated shardings."""

import collections
import gc
import itertools

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases, spread
from inspected_programs import MOST_IN_TEXT, InspectedProgram
from jax import lax
from jax import numpy as jnp
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec
from shardy import INSTALLED, Shardy

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from pyshardy.frontends.jax import lowered
from pyshardy.program import run_unpartitioned
from pyshardy.testing.communication import measure_communication

P = PartitionSpec
BY_ROWS = P("x")
X = np.arange(128, dtype=np.float32).reshape(16, 8) / 64


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)


def per_shard(x, mesh, ask, names):
    spec = P(*names) if len(names) == 1 else P(names)
    return jax.shard_map(
        lambda shard: (ask(shard), shard)[1],
        mesh=mesh,
        in_specs=spec,
        out_specs=spec,
        axis_names={*names},
    )(x)


def asking_and_doubling(ask):
    return jax.jit(lambda value: (ask(value), value * 2)[1])


def twice(function, x):
    return function(function(x).T)


def constrained(x, mesh, ask):
    moved = lax.with_sharding_constraint(x * 1, NamedSharding(mesh, P(None, ("x", "y"))))
    return (ask(moved), moved * 2)[1]


FUNCTIONS = {
    "a value": lambda x, _, ask: (ask(x * 2), x + 1)[1],
    "several values": lambda x, _, ask: (ask(x @ x.T), ask(x.T), ask(x.sum()), x)[-1],
    "a manual computation": lambda x, mesh, ask: per_shard(x, mesh, ask, ("x", "y")),
    "a partly manual computation": lambda x, mesh, ask: per_shard(x, mesh, ask, ("x",)),
    "a loop": lambda x, _, ask: lax.scan(
        lambda c, _: ((ask(c), c * 2)[1], None), x, None, length=3
    )[0],
    "a loop with a condition": lambda x, _, ask: lax.while_loop(
        lambda c: c.sum() < 1e3, lambda c: (ask(c), c * 2 + 1)[1], x
    ),
    "a branch": lambda x, _, ask: lax.cond(
        x[0, 0] > 0, lambda c: (ask(c), c)[1], lambda c: c * 2, x
    ),
    "two calls": lambda x, _, ask: asking_and_doubling(ask)(asking_and_doubling(ask)(x)),
    "two calls of one": lambda x, _, ask: twice(asking_and_doubling(ask), x),
    "a gradient": lambda x, _, ask: jax.grad(lambda a: (ask(a), (a * a).sum())[1])(x),
    "a batch": lambda x, _, ask: jax.vmap(lambda a: (ask(a), a)[1])(x),
    "a checkpoint": lambda x, _, ask: jax.grad(
        lambda a: jax.checkpoint(lambda b: (ask(b), jnp.sin(b))[1])(a).sum()
    )(x),
    "a constraint": constrained,
    "a constant": lambda x, _, ask: (ask(jnp.ones((8, 4))), x)[1],
}


def partitioned(function, mesh, spec=BY_ROWS):
    """The program, with collections of garbage between all stages."""
    module = sdy.jax.trace(function, X, mesh=mesh, in_shardings=(spec,))
    del function
    gc.collect()
    sdy.propagate(module)
    gc.collect()
    program = sdy.partition(module)
    del module
    gc.collect()
    return program


SPECS = P("x"), P("y", "x"), P(("x", "y"))


@pytest.mark.parametrize(("name", "spec"), spread([*itertools.product(FUNCTIONS, SPECS)], 2))
def test_jax_hears_the_same(mesh, name, spec):
    heard = {"jit": [], "sdy": []}

    def asking(how):
        def ask(value):
            jax.debug.inspect_array_sharding(
                value, callback=lambda sharding: heard[how].append(str(sharding.spec))
            )

        return lambda x: FUNCTIONS[name](x, mesh, ask)

    wanted = jax.jit(asking("jit"))(jax.device_put(X, NamedSharding(mesh, spec)))
    program = partitioned(asking("sdy"), mesh, spec)
    assert heard["sdy"] == heard["jit"]
    np.testing.assert_allclose(program.as_jax()(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(program.run([X])[0], wanted, rtol=1e-6)


@pytest.fixture(scope="module")
def shardy():
    process = Shardy(INSTALLED)
    yield process
    process.close()


@pytest.mark.parametrize("seed", range(cases(4)))
def test_random_functions(mesh, monkeypatch, shardy, seed):
    """Nested loops, branches, gradients and shards hear what JAX's do, and compute the same.

    XLA inlines calls and folds constants before it propagates. Where it hears something else for
    that reason, C++ Shardy decides.
    """
    monkeypatch.setattr(lowered, "MOST_IN_TEXT", MOST_IN_TEXT)
    written = InspectedProgram(seed)
    heard = collections.defaultdict(collections.Counter)

    def asking(how):
        def ask(value, label):
            jax.debug.inspect_array_sharding(
                value, callback=lambda each: heard[how].update([(label, str(each.spec))])
            )

        return written.function(mesh, ask)

    given = jax.device_put(X, NamedSharding(mesh, written.spec))
    wanted = jax.jit(asking("jit"))(given)
    program = partitioned(asking("sdy"), mesh, written.spec)
    if heard["sdy"] != heard["jit"]:
        traced = sdy.jax.trace(asking("shardy"), X, mesh=mesh, in_shardings=(written.spec,))
        text = shardy.run(sdy.asm(traced), "builtin.module(sdy-propagation-pipeline)")
        sdy.partition(sdy.parse(text, sdy.Context()))
        assert heard["sdy"] == heard["shardy"]
    for found in (program.as_jax()(X), program.run([X])[0]):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


@custom_partitioning
def doubled(x):
    return x * 2


doubled.def_partition(
    partition=lambda mesh, arguments, _: (
        mesh,
        lambda shard: shard * 2,
        arguments[0].sharding,
        (arguments[0].sharding,),
    ),
    sharding_rule="i j -> i j",
    infer_sharding_from_operands=lambda _mesh, arguments, _result: arguments[0].sharding,
)

SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
KINDS = {
    "debug.print": lambda x, _: jax.debug.print("{}", x.sum()),
    "debug.callback": lambda x, log: jax.debug.callback(log.append, x),
    "io_callback": lambda x, log: io_callback(
        lambda array: (log.append(array), np.float32(1))[1], SCALAR, x, ordered=True
    ),
    "pure_callback": lambda x, log: jax.pure_callback(
        lambda array: (log.append(array), np.float32(1))[1], SCALAR, x
    ),
    "inspect_array_sharding": lambda x, log: jax.debug.inspect_array_sharding(
        x, callback=log.append
    ),
    "visualize_array_sharding": lambda x, _: jax.debug.visualize_array_sharding(x),
    "custom_partitioning": lambda x, _: doubled(x)[0, 0],
}


BACKENDS = "interpreter", "xla", "as_jax"


@pytest.mark.parametrize(("kind", "how"), spread([*itertools.product(KINDS, BACKENDS)], 2))
def test_functions_are_alive(mesh, kind, how, capfd):
    log = []

    def made():
        def function(x):
            added = KINDS[kind](x * 2, log)
            return x + (0 if added is None else added)

        return function

    program = partitioned(made(), mesh)
    others = [lambda number=number: number for number in range(100)]
    (found,) = (program.as_jax()(X),) if how == "as_jax" else program.run([X], backend=how)
    added = {"io_callback": 1, "pure_callback": 1, "custom_partitioning": 4 * X[0, 0]}
    np.testing.assert_allclose(found, X + added.get(kind, 0))
    if kind not in ("debug.print", "visualize_array_sharding", "custom_partitioning"):
        assert len(log) == 1
    assert len(others) == 100
    assert "Error" not in capfd.readouterr().err


def test_a_copy_of_the_text_asks(mesh):
    """The functions of a module are found from its text in the same process."""
    heard = []

    def function(x):
        jax.debug.inspect_array_sharding(x * 2, callback=lambda each: heard.append(each.spec))
        return x

    module = sdy.jax.trace(function, X, mesh=mesh, in_shardings=(P("x"),))
    text = sdy.asm(module)
    del module, function
    gc.collect()
    copy = sdy.parse(text, sdy.Context())
    sdy.propagate(copy)
    sdy.partition(copy)
    assert heard == [P("x")]


def test_nobody_to_ask(mesh):
    """Addresses of another process are never used."""

    def function(x):
        jax.debug.inspect_array_sharding(x * 2, callback=lambda _: pytest.fail("it isn't known"))
        return x + 1

    module = sdy.jax.trace(function, X, mesh=mesh, in_shardings=(P("x"),))
    module = sdy.parse(sdy.asm(module).replace("jax.inspections", "jax.other"), sdy.Context())
    np.testing.assert_array_equal(run_unpartitioned(module, [X])[0], X + 1)
    assert not measure_communication(module, backend="xla").collectives
    sdy.propagate(module)
    np.testing.assert_array_equal(sdy.partition(module).run([X], backend="xla")[0], X + 1)


def test_meshes_without_devices():
    """JAX lowers the question for devices only."""
    heard = []

    def function(x):
        jax.debug.inspect_array_sharding(x * 2, callback=lambda each: heard.append(each.spec))
        return x

    program = partitioned(function, sdy.Mesh.of({"x": 4}))
    assert heard == [P("x")]
    np.testing.assert_array_equal(program.run([X])[0], X)
    with pytest.raises(UsageError, match=r"for devices only.*pass a jax.sharding.Mesh of devices"):
        partitioned(function, AbstractMesh((4,), ("x",)))


def test_callbacks_within_partition_functions_are_refused(mesh):
    @custom_partitioning
    def noted(x):
        return x * 2

    def partition(mesh, arguments, _):
        def on_shards(shard):
            jax.debug.callback(lambda _: None, shard)
            return shard * 2

        return mesh, on_shards, arguments[0].sharding, (arguments[0].sharding,)

    noted.def_partition(partition=partition, sharding_rule="i j -> i j")
    with pytest.raises(UsageError, match=r"custom_partitioning returned .* with callbacks"):
        partitioned(noted, mesh)
