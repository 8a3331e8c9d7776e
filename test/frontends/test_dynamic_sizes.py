# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of JAX with symbolic dimensions: one plan, right numbers at every size."""

from unittest import mock

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases, spread
from dynamic_programs import CASES, F32, MESH, TYPE, arrays_of, filled, layers, size, traced
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import result_shardings_of
from pyshardy import advised_partition
from pyshardy import program as programs
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.dynamic.guards import conditions_of
from pyshardy.program import run_unpartitioned
from pyshardy.sizes.signature import entry_of, signature_of
from pyshardy.sizes.size_map import SizeMap
from pyshardy.sizes.static_program import static_at


def shardings_of(module):
    """Return the names, types and shardings of operations that are used, but for constants.

    As a set, since propagation merges equal constant expressions at its end.
    """
    return {
        (each.name, tuple(str(result.type) for result in each.results), result_shardings_of(each))
        for each in operations_in(entry_of(module))
        if not each.name.endswith("constant") and any(list(result.uses) for result in each.results)
    }


@pytest.mark.parametrize("case", CASES)
def test_one_plan_and_right_numbers(case):
    module = traced(case, size())
    same = static_at(module, {"b": 64})
    with collect():
        sdy.propagate(module, hints={"b": 64})
        sdy.propagate(same)
        program = sdy.partition(module)
    assert shardings_of(program.static(b=64)) == shardings_of(same)
    for number in (8, 3, 10)[: cases(2)]:
        inputs = arrays_of(case, number)
        found = program.run(inputs, "jit")
        expected = run_unpartitioned(traced(case, number), inputs, "jit")
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=3e-5, atol=3e-5)


def test_padding_is_not_read():
    module = traced("step", size())
    sdy.propagate(module)
    program = sdy.partition(module, uneven="pad")
    inputs = arrays_of("step", 10)
    padded = program.at(b=10)
    assert program.at(b=9) is padded
    assert [port.spec.shape for port in padded.inputs[2:]] == [(12, 16), (12, 16), ()]
    even = program.at(b=12).collectives
    assert [each.nbytes for each in padded.collectives] == [each.nbytes for each in even]
    found = padded.run(filled(padded, inputs, {"b": 10}))
    for one, other in zip(found, program.run(inputs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_guards():
    module = traced("layers", size("4*b"))
    with collect():
        sdy.propagate(module)
        proven = sdy.partition(module)
    assert [str(each).split(";")[0] for each in proven.guards] == ["4 divides 4*b: proven"]
    with pytest.raises(
        UsageError, match=r"4.b = 10 has no solution, as 4 doesn't divide 10; use 8"
    ):
        proven.run(arrays_of("layers", 10))
    module = traced("layers", size("b", "b >= 2", "b <= 64"))
    sdy.propagate(module, hints={"b": 32})
    default = sdy.partition(module)
    assert [each.policy for each in default.guards] == ["pad"]
    (own,) = sdy.partition(module, uneven="unshard").guards
    assert str(own).startswith("4 divides b: left unsharded otherwise; dimension 0 of x")
    assert "4 divides b: padded; dimension 0 of x is sharded along" in str(default.guards[0])
    checked = sdy.partition(module, uneven="guard")
    message = "dimension 0 of x has size 10, which 4 doesn't divide: it is sharded along .data.; "
    partitioned = mock.Mock(side_effect=AssertionError("sizes are checked before"))
    with mock.patch.object(advised_partition, "partition_without_advice", partitioned):
        with pytest.raises(UsageError, match=message + "use 8 or 12, or uneven='pad'"):
            checked.run(arrays_of("layers", 10))
        with pytest.raises(UsageError, match="b = 70 is above 64; use b = 64"):
            checked.run(arrays_of("layers", 70))
    with pytest.raises(UsageError, match="'uneven' can't be 'pads'; did you mean 'pad'"):
        sdy.partition(module, uneven="pads").guards  # noqa: B018
    with collect() as said:
        assert sdy.partition(module, uneven="unshard").at(b=10).inputs[2].local_spec.shape[0] == 5
    assert said == []


def test_hints():
    with pytest.raises(UsageError, match="hint: the program has no size 'q'; it has b"):
        sdy.propagate(traced("layers", size()), hints={"q": 3})
    with pytest.raises(UsageError, match="the hint of b is no value of it: b = 1 is below 2"):
        sdy.propagate(traced("layers", size("b", "b >= 2")), hints={"b": 1})
    with pytest.raises(UsageError, match="no dynamic sizes, so it takes no 'hints'"):
        sdy.propagate(traced("layers", 8), hints={"b": 3})
    with pytest.raises(UsageError, match="so it takes no 'uneven'"):
        sdy.partition(traced("layers", 8), uneven="pad")


@pytest.mark.parametrize("buckets", [None, "pow2"])
def test_an_index_may_be_negative(buckets):
    """A scalar argument is no size: whether it is below 0 isn't known."""
    rows, index = TYPE((size("b", "b >= 4"), 16), F32), TYPE((), "int32")
    shardings = (sdy.sharding(P("data", None)), sdy.sharding(P()))
    module = sdy.jax.trace(
        lambda x, i: (x[i], jax.lax.max(i, -9)), rows, index, mesh=MESH, in_shardings=shardings
    )
    with collect():
        sdy.propagate(module)
        program = sdy.partition(module, buckets=buckets)
    x = np.arange(96, dtype=F32).reshape(6, 16)
    for at in (-2, 1):
        row, same = program.run([x, np.int32(at)])
        np.testing.assert_array_equal(row, x[at])
        assert same == at


@pytest.mark.parametrize("generator", ["threefry2x32", "rbg"])
def test_random_numbers(generator):
    """The bits of keys aren't sizes: they are unsigned, or have all bits of a number."""
    rows = TYPE((size("b", "b >= 3"), 16), F32)

    def noise(x):
        return x + jax.random.uniform(jax.random.key(7, impl=generator), (x.shape[0], 16))

    shardings = (sdy.sharding(P("data", None)),)
    module = sdy.jax.trace(noise, rows, mesh=MESH, in_shardings=shardings)
    with collect():
        sdy.propagate(module)
        program = sdy.partition(module, uneven="pad")
    x = np.zeros((5, 16), F32)
    engine = "xla" if generator == "rbg" else "jit"  # which alone has the algorithm
    np.testing.assert_allclose(program.run([x], engine)[0], noise(x), rtol=1e-5)


def test_weights_stay_on_their_devices(monkeypatch):
    module = traced("layers", size())
    sdy.propagate(module)
    program = sdy.partition(module)
    down, up, _ = arrays_of("layers", 8)
    placed = []
    for port, array in zip(program.at(b=8).inputs, (down, up), strict=False):
        parts = program.at(b=8).scatter([down, up, arrays_of("layers", 8)[2], np.int32(8)])
        column = [each[len(placed)] for each in parts]
        placed.append(
            ShardedArray(port.name, port.spec, port.sharding, port.mesh, port.local_spec, column)
        )
        assert port.spec.shape == array.shape
    scatter = mock.Mock(wraps=programs.scatter)
    monkeypatch.setattr(programs, "scatter", scatter)
    for number in (8, 12, 20):
        x = arrays_of("layers", number)[2]
        (found,) = program.run_sharded([*placed, x])
        np.testing.assert_allclose(
            found.gather(), np.maximum(x @ up, 0) @ down, rtol=1e-4, atol=1e-4
        )
    scattered = [call.args[0].shape for call in scatter.call_args_list]
    assert scattered == [(8, 16), (), (12, 16), (), (20, 16), ()]  # batches and their sizes only
    x = arrays_of("layers", 10)[2]
    (found,) = program.run_sharded([*placed, x])
    assert found.shape == (10, 16)
    assert found.spec.shape == (12, 16)
    np.testing.assert_allclose(found, np.maximum(x @ up, 0) @ down, rtol=1e-4, atol=1e-4)


def test_the_least_recently_used_program_is_dropped():
    module = traced("layers", size())
    sdy.propagate(module)
    program = sdy.partition(module, max_programs=2)
    kept = program.at(b=8)
    assert program.at(b=8) is kept
    assert program.compile("interpreter", b=8) is kept.compile("interpreter")
    with collect() as said:
        program.at(b=12)
        program.at(b=16)
        assert program.at(b=8) is not kept
    (warning,) = said
    assert "more than 2 sizes were used, at last b = 8; b = 12: programs are" in warning.message
    for number in (0, "x"):
        with pytest.raises(UsageError, match=f"'max_programs' is at least 1, got {number!r}"):
            sdy.partition(module, max_programs=number)


def test_functions_of_jax():
    module = traced("layers", size())
    sdy.propagate(module)
    function = sdy.partition(module).as_jax()
    down, up, _ = arrays_of("layers", 8)
    weights = {"down": down, "up": up}
    for number in (8, 10):
        x = arrays_of("layers", number)[2]
        expected = layers(weights, x)
        np.testing.assert_allclose(function(weights, x), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(jax.jit(function)(weights, x), expected, rtol=1e-4, atol=1e-4)


def test_exported_functions(tmp_path):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("data",))
    rows = jax.sharding.NamedSharding(mesh, P("data"))
    function = jax.jit(lambda x: jnp.cumsum(jax.nn.softmax(x), 0).reshape(-1, 4), in_shardings=rows)
    batch, length = jax.export.symbolic_shape("4*b, t", constraints=["t >= 4", "mod(t, 2) == 0"])
    exported = jax.export.export(function)(TYPE((batch, length, 16), F32))
    file = tmp_path / "f.jax"
    file.write_bytes(exported.serialize())
    x = np.random.default_rng(0).standard_normal((12, 6, 16)).astype(F32)
    for source in (exported, file):
        module = sdy.jax.from_exported(source)
        sdy.propagate(module)
        program = sdy.partition(module)
        assert str(program.sizes["t"]).startswith("t >= 4, a multiple of 2")
        np.testing.assert_allclose(program.run([x], "jit")[0], function(x), rtol=1e-5, atol=1e-5)
    with pytest.raises(
        UsageError, match="dimension 1 of %arg0 has size 3: t = 3 is below 4; use t = 4"
    ):
        program.at((12, 3, 16))


def test_exported_functions_for_several_platforms():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("data",))
    rows = jax.sharding.NamedSharding(mesh, P("data"))
    function = jax.jit(lambda x: jnp.cumsum(x, 0) - x.mean(0), in_shardings=rows)
    shape = TYPE(jax.export.symbolic_shape("2*b, 4"), F32)
    exported = jax.export.export(function, platforms=("cpu", "tpu"))(shape)
    module = sdy.jax.from_exported(exported, platform="cpu")
    sdy.propagate(module)
    program = sdy.partition(module)
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(F32)
    assert [*program.sizes] == ["b"]
    np.testing.assert_allclose(program.run([x])[0], function(x), rtol=1e-5, atol=1e-5)


def test_exported_functions_without_attributes():
    b, s = jax.export.symbolic_shape("b, s", constraints=["b <= s", "s >= 2"])
    function = jax.jit(lambda x, y: x.sum(0) + y[:, 0])
    module = sdy.jax.from_exported(
        jax.export.export(function)(TYPE((b, s), F32), TYPE((s, 4), F32))
    )
    sdy.propagate(module)
    signature = signature_of(module)
    assert [*map(str, signature.arguments)] == ["f32[b, s]", "f32[s, 4]"]
    conditions = conditions_of(module, SizeMap(module, signature))
    assert [*map(str, conditions)] == ["b <= s: checked at run time; an assertion"]


EXPORTED = {
    "4*b": (lambda x: x * 2, ("4*b, 16",)),
    "8*b": (lambda x: x @ x.T, ("8*b, 16",)),
    "mod(b, 4) == 0": (jnp.tanh, ("b, 16", "mod(b, 4) == 0")),
    "b <= 64": (lambda x: x.sum(0), ("b, 16", "mod(b, 4) == 0", "b <= 64")),
    "softmax": (jax.nn.softmax, ("4*b, s", "s >= 8")),
    "softmax over rows": (lambda x: jax.nn.softmax(x, 0), ("4*b, s", "s >= 8")),
    "arange": (lambda x: x + jnp.arange(x.shape[0])[:, None], ("4*b, 16",)),
    "tril": (jnp.tril, ("4*b, s",)),
    "x[1:]": (lambda x: x[1:], ("4*b, 16",)),
    "x[:, -1]": (lambda x: x[:, -1], ("4*b, s",)),
    "reshape": (lambda x: x.reshape(-1), ("4*b, s",)),
    "groups": (lambda x: x.reshape(-1, 4, 16).sum(1), ("4*b, 16",)),
    "cumsum": (lambda x: jnp.cumsum(x, 0), ("4*b, 16",)),
    "concatenate": (lambda x: jnp.concatenate([x, x]), ("4*b, 16",)),
    "mean": (lambda x: x - x.mean(0), ("4*b, s", "s >= 2", "mod(s, 2) == 0")),
    "size": (lambda x: x / x.shape[0] + x.shape[1], ("4*b, s",)),
}


@pytest.mark.parametrize("case", spread([*EXPORTED], 4))
def test_exported_files(case, tmp_path):
    function, (text, *constraints) = EXPORTED[case]
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("data",))
    rows = jax.sharding.NamedSharding(mesh, P("data"))
    shape = jax.export.symbolic_shape(text, constraints=constraints)
    exported = jax.export.export(jax.jit(function, in_shardings=rows))(TYPE(shape, F32))
    file = tmp_path / "f.jax"
    file.write_bytes(exported.serialize())
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(F32)
    symbols = []
    for source in (exported, file):
        module = sdy.jax.from_exported(source)
        with collect():
            sdy.propagate(module)
            program = sdy.partition(module)
        symbols.append([str(each) for each in program.sizes.values()])
        found = program.run([x], "jit")[0]
        np.testing.assert_allclose(found, function(x), rtol=2e-5, atol=2e-5)
    assert symbols[0] == symbols[1]


def test_sizes_and_explanations():
    module = traced("layers", size())
    explained = sdy.explain(module, sizes={"b": 64})
    assert explained.value("x").value.type.shape == [64, 16]
    sdy.propagate(module)
    assert sdy.explain(module).value("x").value.type.shape == [128, 16]
    program = sdy.partition(module)
    assert [each.type for each in program.outputs] == ["f32[b, 16]"]
    assert "sizes b >= 1 (hint 128); 3 arguments, 1 result" in program.summary()
    with pytest.raises(UsageError, match="sizes: the program has no size 'c'; it has b"):
        program.at(c=3)
    with pytest.raises(AttributeError, match=r"depends on the sizes .*: program.at\(b=...\).coll"):
        program.collectives  # noqa: B018
    with pytest.raises(
        AttributeError, match="'DynamicProgram' object has no attribute 'colectives"
    ):
        program.colectives  # noqa: B018
    with pytest.raises(UsageError, match="sizes are given by shapes or by names, not by both"):
        program.at((32, 16), (16, 32), (8, 16), b=8)
    with pytest.raises(UsageError, match="takes no 'sizes'"):
        sdy.explain(traced("layers", 8), sizes={"b": 3})


@pytest.mark.parametrize("case", ["fsdp", "constrained", *spread(["step", "shapes", "scanned"], 1)])
def test_frozen_collectives(case):
    with collect():
        module = traced(case, size())
        sdy.propagate(module, hints={"b": 1024})
        free, frozen = sdy.partition(module), sdy.partition(module, freeze="all")

    def kinds(program, number):
        collectives = program.at(b=number).collectives
        return sorted((each.kind, str(each.axes)) for each in collectives)

    expected = kinds(free, 1024)
    for number in (12, 8192, 1024, 4, 16, 64)[: cases(3)]:
        assert kinds(frozen, number) == expected
    assert kinds(free, 12) != expected or case in {"scanned", "shapes"}
    inputs = arrays_of(case, 12)
    for one, other in zip(frozen.run(inputs), free.run(inputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-5, atol=3e-5)
    with pytest.raises(UsageError, match="'freeze' can't be 'al'; did you mean 'all'"):
        sdy.partition(module, freeze="al")
    with pytest.raises(UsageError, match="'freeze' can't be '3'; it is one of shardings, all"):
        sdy.partition(module, freeze=3)


def test_explicit_axes():
    mesh = jax.make_mesh((4, 2), ("data", "model"))  # explicit by default
    types = TYPE((16, 8), F32), TYPE((size("4*b"), 16), F32)
    shardings = P(None, "model"), P("data", None)

    def function(w, x):
        return jnp.tanh(x @ w)

    with jax.set_mesh(mesh):
        placed = [jax.sharding.NamedSharding(mesh, each) for each in shardings]
        exported = jax.export.export(jax.jit(function, in_shardings=tuple(placed)))(*types)
    traced_function = sdy.jax.trace(function, *types, mesh=mesh, in_shardings=shardings)
    w, x = np.ones((16, 8), F32), np.random.default_rng(0).standard_normal((12, 16)).astype(F32)
    for module in (traced_function, sdy.jax.from_exported(exported)):
        sdy.propagate(module)
        program = sdy.partition(module)
        assert program.inputs[1].axes == (("data",), ())
        np.testing.assert_allclose(program.run([w, x])[0], np.tanh(x @ w), rtol=1e-5)


@pytest.mark.parametrize("case", spread(["fsdp", "step", "layers", "attention", "scanned"], 1))
def test_one_plan_sends_little_more_than_the_plan_of_each_size(case):
    with collect():
        module = traced(case, size())
        sdy.propagate(module, hints={"b": 1024})
        program = sdy.partition(module, uneven="guard")
        for number in (16, 64, 1024, 4, 12, 8192)[: cases(2)]:
            own = traced(case, number)
            sdy.propagate(own)
            bytes_of = [
                sum(each.nbytes_total for each in one.collectives)
                for one in (program.at(b=number), sdy.partition(own))
            ]
            assert bytes_of[0] <= 1.25 * bytes_of[1], (number, bytes_of)
            masked = sdy.partition(module, buckets={"b": [number]}).at(b=number).collectives
            assert sum(each.nbytes_total for each in masked) <= 1.25 * bytes_of[1] + 64


@pytest.mark.parametrize("keywords", [{}, {"buckets": {"b": [8]}}])
def test_slices_that_begin_anywhere(keywords):
    def column(x, at):
        return jax.lax.dynamic_index_in_dim(x, at, 1, keepdims=False)

    types = TYPE((size(), 8), F32), TYPE((), "int32")
    rows = sdy.sharding(P("data", None)), sdy.sharding(P())
    module = sdy.jax.trace(column, *types, mesh=MESH, in_shardings=rows)
    sdy.propagate(module)
    program = sdy.partition(module, **keywords)
    assert [each.type for each in program.outputs] == ["f32[b]"]
    x = np.arange(48, dtype=F32).reshape(6, 8)
    np.testing.assert_array_equal(program.run([x, np.int32(3)])[0], x[:, 3])


@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize("axis", [0, 1])
def test_tables_of_rows_that_may_be_missing(mode, axis):
    """A size is compared with each number of a table, and selects among all of them at once."""
    rows = np.array([[0, 7, -3], [9, 1, -12]], "int32")

    def table(x):
        doubled = jnp.concatenate([x, x], axis)
        return jnp.take(doubled, rows, axis=axis, mode=mode)

    shape = (size(), 8) if axis == 0 else (8, size())
    sharding = sdy.sharding(P("data", None) if axis == 0 else P(None, "data"))
    module = sdy.jax.trace(table, TYPE(shape, F32), mesh=MESH, in_shardings=(sharding,))
    sdy.propagate(module)
    program = sdy.partition(module)
    for count in 4, 8, 3:
        x = np.arange(8 * count, dtype=F32).reshape((count, 8) if axis == 0 else (8, count))
        np.testing.assert_array_equal(program.run([x])[0], jax.jit(table)(x))
