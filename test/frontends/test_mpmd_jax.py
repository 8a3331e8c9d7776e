# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names in JAX programs, and the errors of programs for several meshes."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from mpmd_models import products

import pyshardy as sdy
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, origin_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import run_pipeline

TOPOLOGY = {"m0": {"data": 2}, "m1": {"data": 2}}
X = np.ones((4, 4), np.float32)
PLACES = {"layer0": "m0", "layer1": "m1"}


def layer(weights, x):
    return jnp.tanh(x @ weights)


def named(index, function=layer, **options):
    return sdy.mpmd.named_computation(function, name=f"layer{index}", **options)


def two(weights, x):
    return named(1)(weights, named(0)(weights, x))


def trace(function, *arguments, **options):
    given = {"topology": TOPOLOGY, "assignment": PLACES, **options}
    return sdy.mpmd.trace(function, *(arguments or (X, X)), **given)


def origins(function, *arguments):
    """The names of a program with their counts, in the order of the program."""
    module = trace(function, *arguments)
    run_pipeline(module, "mpmd-import-names")
    found = [origin_of(each) for each in operations_named({NAMED_COMPUTATION}, module)]
    return [(each.name, each.transpose_count) for each in found]


def loss(function):
    return lambda *arguments: (function(*arguments) ** 2).sum()


FORWARD, BACKWARD = [("layer0", 0), ("layer1", 0)], [("layer1", 1), ("layer0", 1)]


def test_names_of_derivatives():
    assert origins(two) == FORWARD
    assert origins(jax.grad(loss(two))) == FORWARD + BACKWARD
    assert origins(jax.vmap(two, (None, 0)), X, np.stack([X, X])) == FORWARD
    # The count of a function that is transposed is that of the names in it.
    assert origins(jax.grad(loss(jax.jit(two)))) == FORWARD + BACKWARD
    second = origins(jax.grad(lambda w, x: jax.grad(loss(two))(w, x).sum()))
    assert {count for _, count in second} == {0, 1, 2}


def test_recomputation_is_backward():
    inside = [named(index, remat=True) for index in range(2)]
    found = origins(jax.grad(lambda w, x: (inside[1](w, inside[0](w, x)) ** 2).sum()))
    assert set(found) == {*FORWARD, *BACKWARD}
    assert found[-1] == ("layer0", 1)


def test_names_do_nothing_outside():
    np.testing.assert_allclose(two(X, X), layer(X, layer(X, X)), rtol=1e-6)
    np.testing.assert_array_equal(sdy.mpmd.named_tensor(X, "t"), X)
    np.testing.assert_array_equal(sdy.mpmd.broadcast(sdy.mpmd.reduce(X)), X)


def test_exported_names():
    from jax import export  # noqa: PLC0415

    module = sdy.jax.from_exported(export.export(jax.jit(jax.grad(loss(two))))(X, X))
    program = sdy.mpmd.partition(module, topology=TOPOLOGY, assignment=PLACES)
    (found,) = program.run([X, X], "jit")
    np.testing.assert_allclose(found, jax.grad(loss(two))(X, X), rtol=1e-3)


@pytest.mark.parametrize("accumulate", ["carry", "after"])
def test_microbatches_are_a_loop(accumulate):
    def results(weights, x):
        return two(weights, x).sum(), two(weights, x), jax.grad(loss(two))(weights, x)

    x = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
    combine = ("sum", "stack", "mean")
    split = sdy.mpmd.microbatched(results, 4, combine, accumulate=accumulate)
    found = jax.jit(split)(X, x)
    parts = [jax.jit(results)(X, x[start : start + 2]) for start in range(0, 8, 2)]
    total, _, mean = parts[0]
    for each in parts[1:]:
        total, mean = total + each[0], mean + each[2]
    np.testing.assert_allclose(found[0], total, rtol=1e-6)
    np.testing.assert_array_equal(found[1], np.stack([each[1] for each in parts]))
    np.testing.assert_allclose(found[2], mean / 4, rtol=1e-6)


@pytest.mark.parametrize("accumulate", ["carry", "after"])
def test_booleans_are_counted(accumulate):
    def results(_, x):
        return (x > 0).all(), x[0] > 0, (x > 0).any(), x > 0

    x = np.array([[1, 1], [1, -1], [2, -2], [3, 3]], np.float32)
    combine = ("mean", "mean", "sum", "stack")
    split = sdy.mpmd.microbatched(results, 4, combine, accumulate=accumulate)
    whole, columns, some, each = jax.jit(split)(X, x)
    assert (whole, some.dtype, some) == (0.5, np.int32, 4)
    np.testing.assert_array_equal(columns, (x > 0).mean(0))
    np.testing.assert_array_equal(each[:, 0], x > 0)


def test_nothing_to_combine():
    for batch, combine, message in (
        ((), "mean", "there is no batch to split into 2 microbatches"),
        ((None,), "mean", "there is no batch to split"),
        ((2.0,), "mean", r"a batch of shape \(\) has no 2 equal microbatches"),
        ((X,), ("mean", "sum"), "'combine' doesn't match the results of the function"),
    ):
        with pytest.raises(sdy.UsageError, match=message):
            sdy.mpmd.microbatched(lambda w, *_: w, 2, combine)(X, *batch)
    for number in 0, 2.5, "2":
        with pytest.raises(sdy.UsageError, match=f"a number of at least 1, .* got {number!r}"):
            sdy.mpmd.microbatched(two, number)
    with pytest.raises(sdy.UsageError, match="must be a number of at least 0, got: -1"):
        sdy.mpmd.call(two, counter=-1)


def test_function_of_microbatches_is_there_once():
    def calls(count):
        module = products(2, count).trace([(2, 1)] * 2, layers=2)
        run_pipeline(module, "mpmd-import-names")
        return len(operations_named({"func.func"}, module))

    assert calls(4) == calls(8)


def test_sums_of_shared_weights_stay_on_a_mesh():
    """A sum that went from mesh to mesh would let each microbatch wait for the one before."""
    gradients = sdy.mpmd.microbatched(jax.grad(loss(two)), 4)
    module = trace(lambda weights, x: weights - gradients(weights, x), X, np.ones((8, 4), "f"))
    program = sdy.mpmd.partition(module, schedule="gpipe")
    ports = program.plan.ports
    whole = [each for each in program.transfers if ports[each.operand].spec.shape == (4, 4)]
    assert sorted(each.target for each in whole) == ["m0"] * 4 + ["m1"]


def test_gradients_make_no_detours():
    """The gradient of the sum goes to each stage directly, not to a later one through the first."""

    def stage(weights, x, total):
        x = layer(weights, x)
        return x, total + (x * x).mean()

    def total(weights, x):
        found = jnp.zeros(())
        for index in range(3):
            x, found = named(index, stage)(weights[index], x, found)
        return jnp.exp(found)

    places = {f"layer{index}": f"m{index}" for index in range(3)}
    topology = {mesh: {"data": 1} for mesh in places.values()}
    weights = [X / 4, X / 4, X / 4]
    module = trace(jax.grad(total), weights, X, topology=topology, assignment=places)
    program = sdy.mpmd.partition(module)
    scalars = [
        each for each in program.transfers if not program.plan.ports[each.operand].spec.shape
    ]
    pairs = sorted((each.source, each.target) for each in scalars)
    assert pairs == [("m0", "m1"), ("m1", "m2"), ("m2", "m0"), ("m2", "m1")]
    found = program.run([*weights, X])
    for one, other in zip(found, jax.grad(total)(weights, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def marked_loss(weights, x):
    x = jnp.tanh(sdy.mpmd.stage_marker(x, "layer0") @ weights)
    x = jnp.tanh(sdy.mpmd.stage_marker(x, "layer1") @ (2 * weights))
    return (jax.nn.gelu(x) ** 2).sum()


def test_markers_are_names():
    staged = sdy.mpmd.staged(marked_loss)
    assert origins(staged) == FORWARD
    assert origins(jax.grad(staged)) == FORWARD + BACKWARD
    gradients = sdy.mpmd.microbatched(jax.grad(staged), 2)
    program = sdy.mpmd.partition(trace(gradients), schedule="1f1b")
    assert program.orders == {"m0": "F0 F1 B0 B1", "m1": "F0 B0 F1 B1"}
    assert program.plan.calls[0].location.filename == __file__
    weights = X / 8
    (found,) = program.run([weights, X], "interpreter")
    np.testing.assert_allclose(found, jax.grad(marked_loss)(weights, X) / 2, rtol=1e-4)
    with pytest.raises(sdy.UsageError, match=r"the marker 'layer.' is inside of 'jit'"):
        sdy.mpmd.staged(jax.jit(marked_loss))(X, X)


def sum_of_meshes(weights, x):
    return named(0)(weights, x) + named(1)(weights, x)


def loop(weights, x):
    return jax.lax.while_loop(lambda c: c.sum() < 3, lambda c: named(0)(weights, c), x)


def nested_loop(weights, x):
    def inner(_, x):
        return named(0)(weights, x)

    return jax.lax.fori_loop(0, 2, lambda _, x: jax.lax.fori_loop(0, 2, inner, x), x)


def long_loop(weights, x):
    return jax.lax.fori_loop(0, 300, lambda _, x: named(0)(weights, x), x)


def branch(weights, x):
    return jax.lax.cond(x.sum() > 0, lambda x: named(0)(weights, x), lambda x: x, x)


def gap(weights, x):
    calls = (sdy.mpmd.call(named(0), counter=counter) for counter in (0, 2))
    return [call(weights, x) for call in calls]


def around(weights, x):
    return jax.grad(loss(jax.checkpoint(named(0))))(weights, x)


def nested(weights, x):
    return named(0, named(1))(weights, x)


def ordered(weights, x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return io_callback(np.asarray, shape, two(weights, x), ordered=True)


def split_by(count):
    return sdy.mpmd.microbatched(two, count)


def stages(*numbers):
    return {
        name: (place, stage) for (name, place), stage in zip(PLACES.items(), numbers, strict=True)
    }


NOT_INFERRED = {"infer_transfers": False, "infer_reductions": False}
ERRORS = {
    "unknown mesh": (two, {"assignment": {**PLACES, "layer1": "m11"}}, {}, "did you mean 'm1'?"),
    "name without mesh": (two, {"assignment": {"layer0": "m0"}}, {}, "'layer1' is not assigned"),
    "batch": (split_by(3), {}, {}, "(4, 4) has no 3 equal microbatches"),
    "gap": (gap, {}, {}, "have the counters 0, 2"),
    "without stages": (split_by(2), {}, {"schedule": "circular"}, "needs the stages"),
    "stages": (
        split_by(2),
        {"assignment": stages(0, 0)},
        {"schedule": "circular"},
        "mesh m1 has the stages 0",
    ),
    "interleaved": (
        split_by(1),
        {"assignment": stages(0, 1)},
        {"schedule": "interleaved-1f1b"},
        "needs a multiple of 2 microbatches",
    ),
    "unknown schedule": (two, {}, {"schedule": "1fb1"}, "did you mean '1f1b'?"),
    "missing unit": (split_by(2), {}, {"schedule": "m0: F0 F1; m1: F0"}, "'m1' of the schedule la"),
    "forward only": (split_by(2), {}, {"schedule": "zb-h1"}, "the program has none"),
    "sum": (sum_of_meshes, {}, NOT_INFERRED, "Mesh assignment is not possible"),
    "axis": (
        lambda w, x: two(w, jax.lax.with_sharding_constraint(x, jax.P("data"))),
        {"topology": {"m0": {"model": 2, "data": 1}, "m1": {"model": 2}}, "assignment": "m1"},
        {},
        "which has no axis 'data'",
    ),
    "checkpoint": (around, {}, {}, "'jax.checkpoint' is around 'layer0'"),
    "loop": (loop, {}, {}, "needs a constant number of iterations"),
    "nested loop": (nested_loop, {}, {}, "must not be inside of another loop"),
    "long loop": (long_loop, {}, {}, "300 iterations, more than 256"),
    "branch": (branch, {}, {}, "must not be inside of a 'stablehlo.case'"),
    "twice": (split_by(2), {}, {"schedule": "m0: F0 F0; m1: F0 F1"}, "'m0' of the schedule runs F"),
    "deadlock": (
        sdy.mpmd.microbatched(jax.grad(lambda w, x: two(w, x).sum()), 2),
        {},
        {"schedule": "m0: F0 B0 F1 B1; m1: F0 F1 B0 B1"},
        "mesh m0 waits at B0/0 for B0/1 of m1",
    ),
    "markers": (marked_loss, {}, {}, "the marker 'layer0' has no effect here: use 'sdy.mpmd.st"),
    "remedies": (sum_of_meshes, {}, NOT_INFERRED, "set 'infer_reductions=True' of sdy.mpmd.pa"),
    "effects": (ordered, {}, {}, "has effects, which no mesh of several can order"),
    "no name of mesh": (two, {"topology": {"": {"x": 2}}}, {}, "an empty name"),
    "host in name": (two, {"topology": {"a#device": {"x": 2}}}, {}, 'must not contain "#device"'),
    "nested": (nested, {}, {}, "different mesh or stage"),
    "no mesh": (two, {"topology": {}}, {}, "at least one mesh"),
    "name of mesh": (two, {"topology": {"a@b": {"x": 2}}}, {}, 'must not contain "@"'),
    "prefix": (two, {"in_meshes": ["m0"]}, {}, "'in_meshes' doesn't match"),
    "kind": (two, {"in_meshes": ("m0#disk", None)}, {}, "the memory kind 'disk' is not"),
    "keep": (two, {"keep": ((0, 3),)}, {}, "out of range"),
    "keep of negative": (two, {"keep": ((-1, 0),)}, {}, "out of range"),
    "keep of numbers": (two, {"keep": (0, 0)}, {}, "0 instead of a pair"),
    "keep of shapes": (loss(two), {"keep": ((0, 0),)}, {}, "tensor<4x4xf32> where result 0 has"),
    "keep of a number": (two, {"keep": 1}, {}, "1 instead of a pair"),
    "list of meshes": (two, {"topology": [{"x": 2}]}, {}, "by their names, got: [{'x': 2}]; pass"),
    "number of a mesh": (two, {"topology": {0: {"x": 2}}}, {}, "by their names, got: {0: {'x': "),
    "number of a name": (two, {"assignment": {1: "m0"}}, {}, "the names as texts, got: 1"),
    "no axes": (two, {"topology": {"m0": {}}}, {}, 'name an axis of size 1, as in {"x": 1}'),
    "comma": (two, {"topology": {"m,0": {"x": 2}}}, {}, "must not contain ',' or '/': 'm,0'"),
    "place": (two, {"assignment": {"layer0": 0}}, {}, "the place of 'layer0' must be a mesh"),
    "text of stage": (two, {"assignment": stages("0", "1")}, {}, "got: ('m0', '0')"),
    "list of places": (two, {"assignment": [*PLACES]}, {}, "is the meshes of names, got: list"),
    "kind of schedule": (two, {}, {"schedule": {"m0": "F0"}}, "of the order of each mesh, got: d"),
    "meshes of schedule": (
        split_by(2),
        {},
        {"schedule": "m0: F0 F1; m2: F0 F1"},
        "orders mesh 'm2', which the program doesn't have",
    ),
    "split twice": (
        sdy.mpmd.microbatched(split_by(2), 2),
        {},
        {},
        "a microbatch is split into microbatches",
    ),
    "steps in a loop": (
        lambda _, x: jax.lax.fori_loop(
            0, 2, lambda _, x: sdy.mpmd.microbatched(two, 2, "sum")(x, jnp.tile(x, (2, 1))), x
        ),
        {},
        {},
        "'sdy.mpmd.microbatched' must not be inside of another one, of a name, or of 'lax.scan'",
    ),
    "split in a name": (
        named(0, split_by(2)),
        {},
        {},
        "'layer0' is split into microbatches",
    ),
    "to and fro": (
        sdy.mpmd.microbatched(lambda w, x: jax.grad(lambda w: named(0)(w, two(w, x)).sum())(w), 2),
        {},
        {"schedule": "1f1b"},
        "it needs values that go to later meshes, and gradients to earlier ones; use 'none'",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    function, options, partitioning, message = ERRORS[case]
    if isinstance(options.get("assignment"), str):
        options = {**options, "assignment": dict.fromkeys(PLACES, options["assignment"])}
    with pytest.raises(sdy.SdyError) as caught:
        sdy.mpmd.partition(trace(function, **options), **partitioning)
    assert message in str(caught.value), caught.value


def test_usual_fragments_are_not_warned_of(capsys):
    model = products(2)
    sdy.mpmd.partition(model.trace([(2, 1)] * 2, layers=2))
    # Results that are arguments are copied; a step of decoding returns to the first mesh.
    sdy.mpmd.partition(trace(lambda w, x: (two(w, two(w, x)), w, w)))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("is_outside", [False, True])
def test_scans_over_microbatches(is_outside):
    def square(weights, x):
        return loss(two)(weights, x)

    def step(weights, x):
        if is_outside:
            return jax.grad(
                lambda weights: jax.lax.map(lambda part: square(weights, part), x).sum()
            )(weights)

        def body(total, part):
            value, gradient = jax.value_and_grad(square)(weights, part)
            return total + gradient, value

        return jax.lax.scan(body, jnp.zeros_like(weights), x)

    x = np.random.default_rng(0).normal(size=(4, 2, 4)).astype(np.float32)
    weights = X / 4
    program = sdy.mpmd.partition(trace(step, weights, x), schedule="1f1b")
    backward = [f"B{index}" for index in range(4)]
    assert [each for each in program.orders["m0"].split() if each[0] == "B"] == backward
    found = program.run([weights, x], "interpreter")
    for one, other in zip(found, jax.tree.leaves(jax.jit(step)(weights, x)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_unused_names_are_warned_of(capsys):
    trace(two, assignment={**PLACES, "layr1": "m0"})
    assert (
        "the assignment has 'layr1', which the program doesn't; did you" in capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["", "main", "mpmd.x", "a@b", "a,b", 0])
def test_reserved_names(name):
    with pytest.raises(sdy.UsageError, match="no name of a computation"):
        sdy.mpmd.named_computation(layer, name=name)
    with pytest.raises(sdy.UsageError, match="no name of a tensor"):
        sdy.mpmd.named_tensor(X, name)
    with pytest.raises(sdy.UsageError, match="no name of a marker"):
        sdy.mpmd.stage_marker(X, name)


def test_trees_of_named_tensors():
    def step(weights, x):
        parts = sdy.mpmd.named_tensor({"x": named(0)(weights, x), "w": weights}, "parts")
        return named(1)(parts["w"], sdy.mpmd.broadcast([parts["x"]])[0])

    program = sdy.mpmd.partition(trace(step, assignment={**PLACES, "parts": "m1"}))
    (found,) = program.run([X, X], "interpreter")
    np.testing.assert_allclose(found, two(X, X), rtol=1e-4)


def test_donated_arguments_that_are_results():
    def step(weights, x):
        return weights, x, two(weights, x)

    traced = trace(step, donate_argnums=(0, 1), keep=((0, 0),))
    found = sdy.mpmd.partition(traced).run([X, X], "jit")
    for one, other in zip(found, step(X, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_functions_for_one_mesh_refuse():
    for function in (sdy.partition, sdy.propagate):
        with pytest.raises(sdy.UsageError, match=r"use 'sdy\.mpmd\.partition'"):
            function(trace(two))


def test_wrong_runs():
    program = sdy.mpmd.partition(trace(two))
    for options, message in (
        ({"backend": "jitt"}, "did you mean 'jit'"),
        ({"backend": {"m0": "jit"}}, "no backend of m1"),
        ({"backend": {"m0": "jit", "m2": "jit"}}, "no mesh 'm2'"),
        ({"workers": "thread"}, "no workers 'thread'"),
        ({"backend": X}, "'backend' is a name, such as 'jit', or .*, got: ndarray"),
    ):
        with pytest.raises(sdy.UsageError, match=message):
            program.run([X, X], **options)
    with pytest.raises(sdy.UsageError, match=r"MpmdProgram\.run' takes the arrays in a list"):
        program.run(None)
    with pytest.raises(sdy.UsageError, match="takes 2 arrays, but got 1: weights, x"):
        program.run([X])


@pytest.mark.parametrize("workers", ["serial", "threads"])
def test_failure_of_a_fragment(workers, capfd):
    def check(x):
        if x[0, 0] == 777:
            raise ValueError("bad value")
        return x

    def checked(weights, x):
        return jax.pure_callback(check, jax.ShapeDtypeStruct(x.shape, x.dtype), x * weights)

    def step(weights, x):
        def forward(weights, x):
            return named(1, checked)(weights, named(0, lambda w, x: w * x)(weights, x))

        return sdy.mpmd.microbatched(forward, 4, "stack")(weights, x)

    x = np.ones((8, 4), np.float32)
    program = sdy.mpmd.partition(trace(step, np.float32(1), x))
    assert np.all(program.run([1.0, x], "jit", workers=workers)[0] == 1)
    wrong = x.copy()
    wrong[4, 0] = 777
    start = time.monotonic()
    with pytest.raises(sdy.mpmd.FragmentError) as caught:
        program.run([1.0, wrong], "jit", workers=workers)
    assert time.monotonic() - start < 2
    message = str(caught.value)
    for part in ("of mesh m1", "from layer1", "in microbatch 2", "bad value", "test_mpmd_jax.py"):
        assert part in message
    assert np.all(program.run([1.0, x], "jit", workers=workers)[0] == 1)
    capfd.readouterr()
