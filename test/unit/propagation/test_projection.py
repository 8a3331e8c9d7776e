# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dealing the axes of dimensions to factors, and gathering them again."""

import pytest

from mlir_sdy.model import (
    AxisRef,
    DimensionSharding,
    DimMapping,
    Mesh,
    MeshAxis,
    OpShardingRule,
    TensorMapping,
    TensorSharding,
)
from pyshardy.propagation.projection import (
    FactorSharding,
    ShardingProjection,
    deal_axes,
    gather_axes,
)

MESH = Mesh((MeshAxis("p", 8), MeshAxis("q", 3), MeshAxis("r", 2), MeshAxis("u", 1)))


def axes(text: str) -> tuple[AxisRef, ...]:
    """The refs in a text such as `p:2.4 q`, where `2.4` is the part `(2)4`."""
    refs = []
    for word in text.split():
        name, _, part = word.partition(":")
        refs.append(AxisRef.sub(name, *map(int, part.split("."))) if part else AxisRef(name))
    return tuple(refs)


@pytest.mark.parametrize(
    ("sizes", "dim_axes", "dealt"),
    [
        ((4, 6), "p q", [("p:1.4", ""), ("p:4.2 q", "")]),
        ((2, 9), "p", [("p:1.2", ""), ("p:2.4", "")]),
        ((6, 4), "p", [("p:1.2", "p:2.4"), ("", "")]),
        ((12, 2), "p", [("p:1.4", "p:4.2"), ("", "")]),
        ((6, 4), "r q p", [("r q", ""), ("p", "")]),
        ((2, 3, 4), "p", [("p:1.2", ""), ("", "p:2.4"), ("", "")]),
        ((3, 4, 5), "r", [("", "r"), ("", "")]),
        ((4, 6), "u q", [("u", "q"), ("", "")]),
        ((5,), "p", [("p", "")]),
        ((4, 6), "", [("", ""), ("", "")]),
    ],
)
def test_deal_axes(sizes, dim_axes, dealt):
    found = deal_axes(DimensionSharding(axes(dim_axes)), range(len(sizes)), sizes, MESH)
    assert [(f.axes, f.overflow_axes) for f in found.values()] == [
        (axes(own), axes(overflow)) for own, overflow in dealt
    ]
    overflowed = False
    for factor, sharding in found.items():
        assert sharding.is_minor_most == (factor == len(sizes) - 1)
        assert sharding.is_closed == overflowed
        overflowed = overflowed or bool(sharding.overflow_axes)


@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.parametrize(
    ("sizes", "dim_axes"), [((4, 6), "p q"), ((6, 4), "p"), ((6, 4), "r q p"), ((2, 3, 4), "p")]
)
def test_gathering_undoes_dealing(sizes, dim_axes, is_closed):
    dim = DimensionSharding(axes(dim_axes), is_closed)
    dealt = deal_axes(dim, range(len(sizes)), sizes, MESH)
    assert gather_axes(dealt, range(len(sizes)), sizes, MESH).axes == dim.axes


def test_strided_axes_are_dropped():
    shardings = {0: FactorSharding(), 1: FactorSharding(axes("q"), is_closed=True)}
    assert gather_axes(shardings, (0, 1), (4, 6), MESH) == DimensionSharding()


def test_closedness_of_a_later_factor_counts_once_it_is_reached():
    shardings = {0: FactorSharding(axes("p:1.4")), 1: FactorSharding((), is_closed=True)}
    assert gather_axes(shardings, (0, 1), (4, 6), MESH) == DimensionSharding(axes("p:1.4"), True)


RESHAPE = OpShardingRule(
    (4, 6),
    (TensorMapping((DimMapping((0,)), DimMapping((1,)))),),
    (TensorMapping((DimMapping((0, 1)),)),),
)


def test_project_reshape_and_expand():
    operand = TensorSharding(
        "mesh", (DimensionSharding(axes("p:1.4")), DimensionSharding(axes("p:4.2 q")))
    )
    projection = ShardingProjection.of(RESHAPE, (operand, None), MESH)
    assert projection.greatest_common_prefix(0) == ()
    assert projection.expand(0, axes("p:1.4")) == [1]
    assert projection.expand(0, axes("p:1.4")) == []
    assert projection.expand(1, axes("p:4.2 q")) == [1]
    result = projection.sharding(RESHAPE, 1, "mesh", MESH)
    assert str(result) == '<@mesh, [{"p", "q", ?}]>'
    assert projection.greatest_common_prefix(1) == axes("p:4.2 q")


def test_missing_sharding_may_count_as_closed():
    projection = ShardingProjection.of(RESHAPE, (None, None), MESH, closed_if_missing=True)
    assert str(projection.sharding(RESHAPE, 0, "mesh", MESH)) == "<@mesh, [{}, {}]>"


def test_update_overwrites_all_tensors_with_the_factor():
    projection = ShardingProjection.from_factor_axes(RESHAPE, [axes("p:1.4"), axes("q")])
    assert str(projection.sharding(RESHAPE, 1, "mesh", MESH)) == '<@mesh, [{"p":(1)4, "q"}]>'
    assert projection.update(0, axes("r"), axes("p")) == [0, 1]
    assert projection.update(0, axes("r"), axes("p")) == []
    assert projection.operands[0].has_overflow
    assert projection.results[0].sharding_size(MESH) == 2 * 8 * 3
