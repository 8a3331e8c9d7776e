# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for capacities: one for several sizes, whose padding isn't read."""

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases, spread
from dynamic_programs import MESH, arrays_of, filled, size, traced
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from pyshardy.program import run_unpartitioned

ROWS = jnp.arange(64.0).reshape(16, 4)

KERNEL = np.random.default_rng(1).standard_normal((3, 4, 8)).astype("float32")


def convolved(x, stride=1, padding=(1, 1)):
    numbers = ("NWC", "WIO", "NWC")
    return jax.lax.conv_general_dilated(
        x[None], jnp.asarray(KERNEL), (stride,), [padding], dimension_numbers=numbers
    )[0]


def attention(x):
    mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool))
    return jax.nn.softmax(jnp.where(mask, x @ x.T, -1e9)) @ x


def windows(x, size, stride, edges):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (size, 1), (stride, 1), edges)


REDUCTIONS = {
    "mean and size": lambda x: x.mean(0) + x.shape[0],
    "maximum and minimum": lambda x: x.max(0) + x.min(),
    "product": lambda x: x.prod(0),
    "first greatest": lambda x: x.argmax(0),
    "all": lambda x: (x > -9).all(0),
    "ones": lambda x: jnp.ones_like(x).sum(),
    "positions": lambda x: (jnp.arange(x.shape[0]) % x.shape[0]).sum(),
    "softmax": lambda x: jax.nn.softmax(x, 0),
    "integers": lambda x: 10 // (jnp.abs(x).astype(int) + 1),
    "product over rows": lambda x: x.T @ x,
    "attention": attention,
    "normalization": lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5),
}

MOVES = {
    "sort": lambda x: jnp.sort(x, 0),
    "stable sort of several": lambda x: jnp.argsort(jnp.round(x), 0),
    "median": lambda x: jnp.median(x, 0),
    "reversal": lambda x: (x[::-1], jnp.sort(x, 0, descending=True)),
    "greatest": lambda x: jax.lax.top_k(x.T, 2),
    "slices": lambda x: (x[1:], x[:-1], x[-2:], x[:2], x[::2]),
    "rolls": lambda x: (jnp.roll(x, -2, 0).cumsum(0), x[x.shape[0] - 1 :]),
    "pads": lambda x: (
        jnp.pad(ROWS[:3] + x[0, 0], ((x.shape[0], 0), (0, 0))),
        jnp.pad(x, ((1, 2), (0, 0)), constant_values=3.0),
        jnp.pad(x, ((1, 0), (0, 0))).max(0),
    ),
    "reshapes": lambda x: (x.reshape(-1), x.reshape(-1, 2, 2).sum((0, 1)), x[:, None].max((0, 1))),
    "reshapes of rows": lambda x: (
        (jnp.tile(x, (2, 1)), jnp.repeat(x.T, 3, 1), (x @ x.T).reshape(-1).cumsum()),
        (x.T.reshape(2, -1), x.T.reshape(-1).reshape(4, -1).argmin(1), x.argmin()),
    ),
    "concatenations": lambda x: (
        jnp.concatenate([x, x, jnp.ones((1, 4))]),
        jnp.concatenate([jnp.ones((3, 4)), x]).sum(0),
    ),
    "rows": lambda x: (x[jnp.array([0, 2, -1])], jax.lax.dynamic_slice(x, (7, 0), (2, 4))),
    "updates": lambda x: (
        x.at[-1].set(7.0),
        jax.lax.dynamic_update_slice(x, jnp.zeros((2, 4)), (100, 0)),
        x.at[1:].set(7.0),
        jax.lax.dynamic_update_slice(jnp.concatenate([x, x]), x, (jnp.int32(x.sum()), 0)),
    ),
    "scatters": lambda x: (
        jnp.zeros((3, 4)).at[jnp.arange(x.shape[0]) % 3].add(x),
        jnp.zeros((64, 4)).at[jnp.arange(x.shape[0]) + 3].set(x),
    ),
}

WINDOWS = {
    "convolutions": lambda x: (convolved(x), convolved(x, 2, (2, 0))),
    "gradient of a convolution": jax.grad(lambda x: (convolved(x) ** 2).sum()),
    "windows": lambda x: (windows(x, 3, 1, ((1, 1), (0, 0))), windows(x, 2, 2, "VALID")),
    "scans": lambda x: (
        jnp.cumsum(x, 0),
        jax.lax.cummax(x, 0),
        jax.lax.cumprod(x, 0, reverse=True),
    ),
    "scan of unusual body": lambda x: jax.lax.cumlogsumexp(x, 0),
    "loops": lambda x: (
        jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x, reverse=True),
        jax.lax.fori_loop(0, x.shape[0], lambda i, total: total + x[i], jnp.zeros(4)),
        jax.lax.while_loop(lambda v: v.sum() < 50, lambda v: v * 2 + 1, jnp.abs(x)),
    ),
    "branches": lambda x: jax.lax.cond(x.sum() > 0, lambda: x * 2, lambda: -x),
    "gradients": lambda x: (
        jax.grad(lambda y: y.std(0).sum())(x),
        jax.grad(lambda y: (jnp.sort(y, 0) ** 2).sum())(x),
        jax.grad(lambda y: (y[1:] ** 2).sum())(x),
        jax.grad(lambda y: (y[jnp.array([0, 2, 2])] ** 2).sum())(x),
        jax.grad(lambda y: (jnp.roll(y, y.shape[0] // 2, 0) * y**2).sum())(x),
    ),
}


def program_of(function, *constraints, **keywords):
    rows = jax.ShapeDtypeStruct((size("b", "b >= 3", *constraints), 4), "float32")
    sharding = (sdy.sharding(P("data", None)),)
    module = sdy.jax.trace(function, rows, mesh=MESH, in_shardings=sharding)
    with collect():
        sdy.propagate(module)
        return sdy.partition(module, **keywords)


@pytest.mark.parametrize("name", spread([*REDUCTIONS, *MOVES, *WINDOWS], 10))
def test_operations(name):
    function = (REDUCTIONS | MOVES | WINDOWS)[name]
    program = program_of(function, buckets={"b": [8, 16]})
    for number in (5, 11, 3, 8)[: cases(1)]:
        x = np.random.default_rng(number).standard_normal((number, 4)).astype("float32")
        made = program.at(b=number)
        assert made is program.at(b={5: 7, 11: 16, 3: 8, 8: 3}[number])
        found = made.run(filled(made, [x], {"b": number}), "jit")
        cut = program.run([x], "jit")
        for one, other, padded in zip(
            jax.tree.leaves(function(jnp.asarray(x))), cut, found, strict=True
        ):
            expected = np.asarray(one)
            assert other.shape == expected.shape
            np.testing.assert_allclose(other, expected, rtol=2e-4, atol=2e-5)
            unpadded = padded[tuple(map(slice, expected.shape))]
            np.testing.assert_allclose(unpadded, expected, rtol=2e-4, atol=2e-5)


def test_least_elements_are_before_padding():
    program = program_of(lambda x: jax.lax.top_k(x[:, 0], 2), buckets=[8])
    x = np.full((3, 4), 0xFFC00000, "uint32").view("float32")  # NaN below minus infinity
    assert program.run([x], "jit")[1].tolist() == [0, 1]


PROGRAMS = ["step", "attention", "sequence", "scanned", "constrained"]


@pytest.mark.parametrize("case", spread(PROGRAMS, 2))
def test_programs_with_powers_of_two(case):
    module = traced(case, size())
    with collect():
        sdy.propagate(module, hints={"b": 16})
        program = sdy.partition(module, buckets="pow2")
    capacities = set()
    for number in (*(1, 5)[: cases(2)], *range(2, cases(1))[:16]):
        inputs, made = arrays_of(case, number), program.at(b=number)
        capacities.add(id(made))
        expected = run_unpartitioned(traced(case, number), inputs, "jit")
        found = made.run(filled(made, inputs, {"b": number}), "jit")
        for one, other in zip(found, expected, strict=True):
            cut = one[tuple(map(slice, other.shape))]
            np.testing.assert_allclose(cut, other, rtol=3e-5, atol=1e-4)
    assert len(capacities) <= (6 if case == "sequence" else 5)  # 1 to 32, or multiples of shards


def test_refusals():
    def updated(x):
        return x.at[:-1].set(2.0)

    with pytest.raises(
        UsageError,
        match=r"test_buckets.py:\d+:\d+: error: 'stablehlo.scatter' op can't be computed on "
        r"padding: dimension 0 of an operand of type tensor<15x4xf32> may have a smaller size, "
        "b - 1; leave b out of 'buckets'",
    ):
        program_of(updated, buckets={"b": [16]})
    with collect() as said:
        program = program_of(updated, uneven="pad")
        assert program.at(b=10).inputs[0].local_spec.shape == (5, 4)
    assert said == []
    x = jnp.ones((10, 4))
    with collect() as said:
        assert program_of(updated, uneven="pad").run([x])[0].tolist() == updated(x).tolist()


UNKNOWN = {
    "size that shrinks": lambda x: jnp.ones((16 - x.shape[0], 4)) * x[0, 0],
    "rest of a division": lambda x: jnp.ones((x.shape[0] % 4 + 1, 4)) * x[0, 0],
    "end of a constant": lambda x: ROWS[x.shape[0] :] + x[0, 0],
    "padding between": lambda x: jax.lax.pad(ROWS + x[0, 0], 0.0, ((0, 0, x.shape[0]), (0, 0, 0))),
    "slices of a constant": lambda x: jax.vmap(
        lambda i: jax.lax.dynamic_slice(ROWS + x[0, 0], (i, 0), (x.shape[0], 4))
    )(jnp.array([12, 1])),
    "large windows": lambda x: windows(ROWS + x[0, 0], x.shape[0], 1, ((0, 0), (0, 0))),
    "windows before": lambda x: windows(ROWS + x[0, 0], 2, 1, ((x.shape[0], 0), (0, 0))),
}
"""Functions whose results aren't at the beginning of those for a capacity."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_results_that_are_no_part_of_those_for_a_capacity(name):
    with pytest.raises(UsageError, match=r"'stablehlo.*; leave b out of 'buckets'"):
        program_of(UNKNOWN[name], "b <= 8", buckets={"b": [8]})
    with collect():
        program = program_of(UNKNOWN[name], "b <= 8", uneven="pad")
    x = np.ones((5, 4), "float32")
    np.testing.assert_allclose(program.run([x])[0], UNKNOWN[name](x), rtol=1e-5)


def test_positions_and_sizes_that_are_checked_for_each_size():
    program = program_of(lambda x: ROWS[: x.shape[0]] + x, "b <= 16", buckets={"b": [8]})
    x = np.ones((5, 4), "float32")
    np.testing.assert_array_equal(program.run([x])[0], ROWS[:5] + x)
    even = program_of(lambda x: x[: x.shape[0] - x.shape[0] % 2], buckets={"b": [8]})
    assert even.run([x])[0].shape == (4, 4)
    strided = program_of(lambda x: ROWS[:: x.shape[0]] + x[0, 0], buckets={"b": [8]})
    with pytest.raises(UsageError, match=r"shape \[4\] for b = 5, but \[2\] for b = 8, which is"):
        strided.run([x])
    with collect():
        padded = program_of(lambda x: ROWS[:: x.shape[0]] + x[0, 0], uneven="pad")
    np.testing.assert_array_equal(padded.run([x])[0], ROWS[::5] + 1)


def test_bad_buckets():
    def refused(buckets, match):
        with pytest.raises(UsageError, match=match):
            program_of(lambda x: x, buckets=buckets)

    refused({"c": [4]}, "buckets: the program has no size 'c'; it has b")
    refused({"b": [4, 2]}, r"the buckets of b: \[4, 2\] don't increase; expected a list of sizes")
    refused({"b": []}, r"the buckets of b: got \[\]; expected")
    refused({"b": [..., 4]}, "the buckets of b: got .Ellipsis, 4.; expected")
    refused({"b": "pow3"}, "the buckets of b: 'pow3'; did you mean 'pow2'")
    refused({"b": 0}, "the buckets of b: 0 is no multiple; expected")
    refused({"b": 2.5}, "the buckets of b: got 2.5; expected")
    refused({"b": [1, 2]}, "the buckets of b end at 2, below its least value 3")
    program = program_of(lambda x: x + 1, buckets={"b": [8, 24]})
    message = r"b = 25 is above its largest bucket, 24; use buckets={'b': \[..., 25\]}, or end the"
    with pytest.raises(UsageError, match=message):
        program.run([np.ones((25, 4), "float32")])
    with pytest.raises(UsageError, match="so it takes no 'buckets'"):
        sdy.partition(traced("layers", 8), buckets="pow2")
    more = program_of(lambda x: x + 1, buckets={"b": [8, ...]})
    assert more.at(b=25) is more.at(b=32)
    assert program_of(lambda x: x + 1, buckets=8).at(b=9).inputs[0].spec.shape == (16, 4)


@pytest.mark.parametrize("buckets", [6, [6, 20]])
def test_capacities_that_shards_round_up(buckets):
    """The capacity of 5 is 8, as 4 shards don't divide 6; that of 8 is 12, or 20."""
    program = program_of(lambda x: x.mean(0), buckets=buckets)
    for number in (5, 8):
        x = np.random.default_rng(number).standard_normal((number, 4)).astype("float32")
        np.testing.assert_allclose(program.run([x])[0], x.mean(0), rtol=1e-4)
    assert [program.at(b=n).inputs[0].spec.shape[0] for n in (3, 6)] == [8, 8]


def test_invalid_sizes_are_refused_within_a_capacity():
    text = """
    module {
      sdy.mesh @mesh = <["data"=2]>
      func.func @main(%x: tensor<?x4xf32>) -> tensor<6x4xf32> {
        %0 = stablehlo.slice %x [0:6, 0:4] : (tensor<?x4xf32>) -> tensor<6x4xf32>
        return %0 : tensor<6x4xf32>
      }
    }"""
    module = sdy.parse(text)
    sdy.propagate(module)
    program = sdy.partition(module, buckets={"x0": [8]})
    assert program.run([np.ones((7, 4), "float32")])[0].shape == (6, 4)
    with pytest.raises(UsageError, match=r"the program doesn't fit the sizes x0 = 5: .*limit"):
        program.run([np.ones((5, 4), "float32")])


def test_positions_of_more_elements_than_32_bits_count():
    text = """
    module {
      sdy.mesh @mesh = <["data"=2]>
      func.func @main(%x: tensor<65536x?xi8>) -> tensor<?xi8> {
        %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<65536x?xi8>) -> tensor<i32>
        %c = stablehlo.constant dense<65536> : tensor<i32>
        %1 = stablehlo.multiply %c, %0 : tensor<i32>
        %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
        %3 = stablehlo.dynamic_reshape %x, %2 : (tensor<65536x?xi8>, tensor<1xi32>) -> tensor<?xi8>
        return %3 : tensor<?xi8>
      }
    }"""
    module = sdy.parse(text)
    sdy.propagate(module)
    program = sdy.partition(module, buckets={"x1": [65536]})
    assert "iota dim = 0 : tensor<4294967296xi64>" in str(program.at(x1=3).module)


@pytest.mark.parametrize("rows", [8, 16])
def test_slices_of_a_constant_that_begin_anywhere(rows):
    text = f"""
    module {{
      sdy.mesh @mesh = <["data"=2]>
      func.func @main(%x: tensor<?xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}]>}},
          %y: tensor<{rows}xf32>, %start: tensor<1xi32>) -> tensor<?xf32> {{
        %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %1 = stablehlo.reshape %start : (tensor<1xi32>) -> tensor<i32>
        %2 = stablehlo.add %1, %0 : tensor<i32>
        %begin = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
        %end = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %3 = stablehlo.real_dynamic_slice %y, %begin, %end, %one : (tensor<{rows}xf32>,
            tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
        return %3 : tensor<?xf32>
      }}
    }}"""
    module = sdy.parse(text)
    sdy.propagate(module, hints={"x0": 8})
    with pytest.raises(UsageError, match="op can't be computed on padding: dimension 0"):
        sdy.partition(module, buckets={"x0": [8]})
    x, y = np.zeros(5, "float32"), np.arange(rows, dtype="float32")
    with collect():
        found = sdy.partition(module).run([x, y, np.int32([rows - 5])])[0]
    np.testing.assert_array_equal(found, y[-5:])


def test_sizes_of_a_text():
    text = """
    module attributes {sdy.symbols = {b = {max = 6}}} {
      sdy.mesh @mesh = <["data"=2]>
      func.func @main(%x: tensor<?x?xf32> {sdy.sizes = ["2*b", "s"],
          sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<?xf32> {
        %0 = stablehlo.constant dense<0.0> : tensor<f32>
        %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0]
            : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
        %2 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
        %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<f32>
        %4 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        %5 = stablehlo.reshape %4 : (tensor<i32>) -> tensor<1xi32>
        %6 = stablehlo.dynamic_broadcast_in_dim %3, %5, dims = [] : (tensor<f32>, tensor<1xi32>)
            -> tensor<?xf32>
        %7 = stablehlo.divide %1, %6 : tensor<?xf32>
        return %7 : tensor<?xf32>
      }
    }"""
    module = sdy.parse(text)
    sdy.propagate(module)
    program = sdy.partition(module, buckets={"b": "pow2", "s": [8]})
    for rows, columns in ((6, 5), (8, 8), (10, 3), (2, 1)):
        x = np.random.default_rng(0).standard_normal((rows, columns)).astype("float32")
        np.testing.assert_allclose(program.run([x])[0], x.mean(0), rtol=1e-5)
    assert [port.name for port in program.at(b=3, s=5).inputs] == ["%x", "b", "s"]
    assert program.at(b=6, s=8).inputs[0].spec.shape == (12, 8)  # the largest b
