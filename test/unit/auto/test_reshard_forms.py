# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of reshards: equal forms have equal plans."""

import itertools
import math
import random

import pytest

from mlir_sdy.model import AxisRef, Mesh
from pyshardy.auto.strategies.costs import ReshardCosts, SentBytes
from pyshardy.auto.strategies.reshard_forms import ReshardForm, ReshardForms
from pyshardy.partition.halo.reshard import exchanging_reshard_collectives
from pyshardy.partition.resharding.completions import completion_collectives
from pyshardy.partition.resharding.cost import Reshard, reshard_collectives

A, B, C = map(AxisRef, "abc")


def shardings(mesh, rank):
    """Return all ways to shard the dimensions of a tensor along axes of a mesh."""
    found = set()
    for count in range(len(mesh.axes) + 1):
        for order in itertools.permutations(mesh.axis_names, count):
            for places in itertools.product(range(rank), repeat=count):
                axes = [()] * rank
                for name, dim in zip(order, places, strict=True):
                    axes[dim] = (*axes[dim], AxisRef(name))
                found.add(tuple(axes))
    return sorted(found, key=repr)


def is_even(shape, axes, mesh):
    return all(size % mesh.axes_size(own) == 0 for size, own in zip(shape, axes, strict=True))


def described(collectives):
    return [(each.kind, each.group_size, each.axes) for each in collectives]


@pytest.mark.parametrize(
    ("sizes", "shape"),
    [
        ({"a": 2, "b": 4, "c": 4}, (8, 32, 32)),
        ({"a": 2, "b": 4, "c": 4}, (16, 4)),
        ({"a": 2, "b": 2, "c": 2}, (4, 8, 2)),
        ({"a": 2, "b": 2, "c": 2}, (3, 6, 5)),
        ({"a": 4, "b": 8}, (8, 4, 32)),
        ({"a": 2, "b": 3, "c": 6}, (12, 6)),
        ({"a": 2, "b": 3, "c": 6}, (6, 6, 6)),
        ({"a": 2, "b": 4, "c": 8}, (16, 64, 8)),
    ],
)
def test_the_plan_of_a_form_is_that_of_the_reshard(sizes, shape):
    mesh = Mesh(sizes)
    costs = ReshardCosts(mesh, SentBytes())
    ways = shardings(mesh, len(shape))
    pairs = list(itertools.product(ways, ways))
    for source, target in random.Random(0).sample(pairs, min(len(pairs), 1200)):
        reshard = Reshard(shape, 1, source, target, mesh)
        if is_even(shape, source, mesh) and is_even(shape, target, mesh):
            expected = reshard_collectives(reshard)
        else:
            expected = exchanging_reshard_collectives(reshard)
        found = costs.collectives(math.prod(shape), shape, source, target)
        assert described(found) == described(expected), (source, target)
        sent = [each.sent for each in expected]
        assert [each.sent for each in found] == pytest.approx(sent), (source, target)
        matrix = costs.matrix(math.prod(shape), shape, [source], [target])
        assert matrix[0, 0] == pytest.approx(sum(sent)), (source, target)


@pytest.mark.parametrize("reduced", [(B,), (C,), (C, B), (A, C)])
def test_the_completion_of_a_form_is_that_of_the_result(reduced):
    mesh, shape = Mesh({"a": 2, "b": 4, "c": 4}), (8, 16, 32)
    costs = ReshardCosts(mesh, SentBytes())
    ways = [axes for axes in shardings(mesh, 3) if is_even(shape, axes, mesh)]
    free = [axes for axes in ways if not {*reduced} & {ref for own in axes for ref in own}]
    pairs = list(itertools.product(free, ways))
    for source, target in random.Random(0).sample(pairs, min(len(pairs), 300)):
        expected = completion_collectives(Reshard(shape, 1, source, target, mesh), reduced)
        found = costs.collectives(math.prod(shape), shape, source, target, reduced)
        assert described(found) == described(expected), (source, target)
        sent = [each.sent for each in expected]
        assert [each.sent for each in found] == pytest.approx(sent), (source, target)


def form_in(forms, shape, source, target):
    ends = (forms.sharding(axes) for axes in (source, target))
    return forms.forms[forms.number(shape, *ends, is_padded=False)]


def test_axes_of_one_size_have_one_form():
    """The example of the module."""
    forms = ReshardForms(Mesh({"a": 2, "b": 4, "c": 4}))
    first = form_in(forms, (8, 64, 16), ((), (C,), ()), ((), (), ()))
    second = form_in(forms, (12, 5), ((B,), ()), ((), ()))
    assert first.form == second.form == ReshardForm((32,), False, ((B,),), ((),))
    assert first.names == (("b", "c"),)
    assert second.names == ()


def test_axes_of_other_sizes_have_other_forms():
    forms = ReshardForms(Mesh({"a": 2, "b": 4, "c": 4}))
    first = form_in(forms, (8, 8), ((A,), ()), ((), ()))
    second = form_in(forms, (8, 8), ((B,), ()), ((), ()))
    assert first.form != second.form


def test_sizes_matter_where_a_plan_may_slice_before_it_moves():
    mesh = Mesh({"a": 2, "b": 2})
    forms = ReshardForms(mesh)
    source, target = ((A,), ()), ((), (A, B))
    large, small = (form_in(forms, shape, source, target) for shape in ((4, 4), (2, 4)))
    assert large.form != small.form
    plans = [Reshard(shape, 1, source, target, mesh).plan() for shape in (large.form.shape, (2, 4))]
    assert [type(step).__name__ for step in plans[0]] != [type(step).__name__ for step in plans[1]]


def test_parts_of_axes_keep_their_names():
    mesh = Mesh({"a": 4, "b": 4})
    forms = ReshardForms(mesh)
    part = AxisRef.sub("b", 1, 2)
    found = form_in(forms, (8, 8), ((part,), ()), ((), (part,)))
    assert found.names == ()
    assert found.form.source == ((part,), ())
