# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choice of the axes of factors by time, and the time of reshards and completions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import mesh_of_sizes, refs, sharding
from test_factor_axes import rule

from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Link, load_hardware
from pyshardy.irtools.tensor_types import shard_elements
from pyshardy.partition.choice.cheapest_axes import AxisComparison, FactorTensor
from pyshardy.partition.resharding.completions import completion_cost
from pyshardy.partition.resharding.cost import (
    Reshard,
    reshard_bytes,
    reshard_cost,
)
from pyshardy.partition.types.factor_axes import choose_factor_axes
from pyshardy.propagation.projection import ShardingProjection

MESH = mesh_of_sizes(x=2, y=4)
DEFAULT = load_hardware(DEFAULT_HARDWARE)
RATE = DEFAULT.link.bytes_per_second
START = DEFAULT.seconds_per_collective
SLOW_X = replace(DEFAULT, axes={"x": Link(RATE / 64, 0.0)})
"""Hardware with a slow link along "x"."""


def shapes_of(rule):
    return [
        tuple(rule.factor_sizes[dim.factor_indices[0]] for dim in mapping.dim_mappings)
        for mapping in rule.mappings
    ]


def cheapest(rule, *dims_of_tensors, mesh=MESH, blocked=(), hardware=DEFAULT):
    """Return the axes of each factor by Shardy's choice, and those of the shortest time."""
    shardings = [sharding(*dims) for dims in dims_of_tensors]
    shapes = shapes_of(rule)
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    answer = tuple(
        () if factor in blocked else axes
        for factor, axes in enumerate(choose_factor_axes(rule, projection, shapes, mesh))
    )
    tensors = [
        FactorTensor(shape, 4, sharding.dim_axes)
        for shape, sharding in zip(shapes, shardings, strict=True)
    ]
    comparison = AxisComparison(
        rule, projection, tensors, frozenset(blocked), answer, mesh, hardware
    )
    best = comparison.cheapest()
    return [[", ".join(map(str, axes)) for axes in chosen] for chosen in (answer, best)]


def product(**sizes):
    """The rule of a matrix product."""
    return rule("i k, k j -> i j", sizes, reduction="k")


SMALL_BY_LARGE = {"i": 4, "k": 64, "j": 64}
ON_X = mesh_of_sizes(x=2)


def test_small_operand_is_gathered():
    given, best = cheapest(product(**SMALL_BY_LARGE), ("", "x"), ("", ""), ("", ""), mesh=ON_X)
    assert given == ["", '"x"', ""]
    assert best == ["", "", ""]


def test_operands_that_agree_are_not_gathered():
    given, best = cheapest(product(**SMALL_BY_LARGE), ("", "x"), ("x", ""), ("", ""), mesh=ON_X)
    assert given == best == ["", '"x"', ""]


def test_much_work_is_not_repeated_to_save_few_bytes():
    sizes = {"i": 4, "k": 4096, "j": 4096}
    given, best = cheapest(product(**sizes), ("", "x"), ("", ""), ("", ""), mesh=ON_X)
    assert given == best == ["", '"x"', ""]


def test_factors_of_no_tensor_are_no_work():
    """A halo form of a convolution has new factors in the place of others."""
    of_product = product(**SMALL_BY_LARGE)
    form = replace(of_product, factor_sizes=(*of_product.factor_sizes, 1024))
    assert cheapest(form, ("", "x"), ("", ""), ("", ""), mesh=ON_X)[1] == ["", "", "", ""]


def test_axes_of_blocked_factors_move_to_others():
    """A sort along a sharded dimension: the other one is sharded meanwhile."""
    sort = rule("a b -> a b", {"a": 64, "b": 64}, need_replication="b")
    assert cheapest(sort, ("", "y"), ("", "y"))[1] == ['"y"', ""]


def test_idle_axes_share_an_all_reduce():
    sizes = {"i": 64, "k": 512, "j": 64}
    given, best = cheapest(product(**sizes), ("", "y"), ("y", ""), ("", ""))
    assert given == ["", '"y"', ""]
    assert best == ["", '"y"', '"x"']


@given(st.data())
def test_no_axis_is_used_twice(data):
    axes = ["", "x", "y", "x y"]
    of_matrices = [(a, b) for a in axes for b in axes if not set(a.split()) & set(b.split())]
    dims = [data.draw(st.sampled_from(of_matrices)) for _ in range(3)]
    _, best = cheapest(product(i=8, k=16, j=8), *dims)
    names = [name for axes in best for name in axes.split(", ") if name]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (("x", ""), ("", ""), 128),
        (("x", ""), ("", "x"), 64),
        (("x", ""), ("y", ""), 64),
        (("", ""), ("x", "y"), 0),
        (("y", ""), ("", ""), 3 * 64),
    ],
)
def test_reshard_cost(source, target, expected):
    ends = [sharding(*dims).dim_axes for dims in (source, target)]
    latency = START if expected else 0
    reshard = Reshard((8, 8), 4, *ends, MESH)
    assert reshard_bytes(reshard) == expected
    assert reshard_cost(reshard, DEFAULT) == expected / RATE + latency


def test_reshard_cost_where_padding_moves():
    """10 elements are 5 and 5, or 3, 3, 3 and 1: they are gathered, and sliced again."""
    mesh = mesh_of_sizes(x=2, z=2)
    halves, finer = (sharding(axes).dim_axes for axes in ("x", "x z"))
    uneven, even = (Reshard((size,), 4, halves, finer, mesh) for size in (10, 12))
    assert reshard_cost(uneven, DEFAULT) == 20 / RATE + START
    assert reshard_cost(even, DEFAULT) == 0


def test_completion_cost():
    whole, scattered = (sharding(*dims).dim_axes for dims in (("", ""), ("x", "")))

    def cost(reduced, target):
        return completion_cost(Reshard((8, 8), 4, whole, target, MESH), reduced, DEFAULT)

    assert cost(refs("x"), whole) == 256 / RATE + START
    assert cost(refs("x"), scattered) == 128 / RATE + START
    assert cost((), scattered) == 0


def test_shard_elements_include_padding():
    assert shard_elements((10, 7), sharding("y", "x").dim_axes, MESH) == 3 * 4


def test_the_time_of_work_is_a_maximum():
    assert DEFAULT.work_seconds(4096 * 10, 64 * 3) == 10 / RATE
    assert DEFAULT.work_seconds(4096 * 10, 64 * 30) == 30 / RATE


def test_the_slowest_link_counts():
    source, target = (sharding(*dims).dim_axes for dims in (("x", "y"), ("", "")))
    reshard = Reshard((8, 8), 4, source, target, MESH)
    fast, slow = (reshard_cost(reshard, hardware) for hardware in (DEFAULT, SLOW_X))
    assert slow - START == 64 * (fast - START)


def test_slow_links_are_avoided():
    """The contracted dimension has other axes in both operands: one of them is resharded."""
    sizes = {"i": 256, "k": 64, "j": 256}
    operands = ("", "x"), ("y", ""), ("", "")
    assert (
        cheapest(product(**sizes), *operands)[1]
        != (cheapest(product(**sizes), *operands, hardware=SLOW_X)[1])
    )
