# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of reshards: those of the documentation, and each step against its definition."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_helpers import disjoint_refs, mesh_of_sizes, meshes, refs

from mlir_sdy.model import AxisRef, Mesh, add_or_merge
from pyshardy.partition.resharding.plan import plan_reshard
from pyshardy.partition.types.steps import (
    AllGather,
    AllSlice,
    AllToAll,
    AxesPerDim,
    CollectivePermute,
    ReshardStep,
)

MESH = mesh_of_sizes(a=2, b=2, c=2)


def dims(text: str) -> AxesPerDim:
    """Read `a b | c`: the axes of each dimension."""
    return tuple(refs(dim) for dim in text.split("|"))


def written(step: ReshardStep) -> str:
    def listed(axes: AxesPerDim) -> str:
        return " | ".join(" ".join(map(str, dim)) for dim in axes).replace('"', "").strip()

    match step:
        case AllSlice(axes, _):
            return f"slice {listed(axes)}"
        case AllGather(axes, _):
            return f"gather {listed(axes)}"
        case AllToAll(param, _):
            return f"move {listed((param.axes,))} {param.src_dim}->{param.tgt_dim}"
    return f"permute {listed(step.result)}"


def plan(
    source: str, target: str, mesh: Mesh = MESH, shape: tuple[int, ...] | None = None, **options
) -> list[str]:
    before, after = dims(source), dims(target)
    steps = plan_reshard(
        before, after, shape or (16,) * len(before), mesh, **{"reorder": False, **options}
    )
    check(steps, before, after, mesh, reorder=options.get("reorder", False))
    return list(map(written, steps))


# --- What each step does to the axes ------------------------------------------------------------


def unit_refs(axes: AxesPerDim, mesh: Mesh) -> tuple[tuple[AxisRef, ...], ...]:
    """Axis lists in a form that doesn't depend on how refs are cut: merged where possible."""
    merged = []
    for dim in axes:
        done: tuple[AxisRef, ...] = ()
        for axis in dim:
            done = add_or_merge(done, axis, mesh)
        merged.append(done)
    return tuple(merged)


def after_step(before: AxesPerDim, step: ReshardStep, mesh: Mesh) -> AxesPerDim:
    """The axes after a step by its definition; a permute may choose them freely."""
    match step:
        case AllSlice(axes, _):
            return unit_refs(tuple(map(tuple.__add__, before, axes)), mesh)
        case AllGather(axes, result):
            # What is left, followed by what was gathered, is what there was.
            whole = unit_refs(tuple(map(tuple.__add__, result, axes)), mesh)
            assert whole == unit_refs(before, mesh)
            return result
        case AllToAll(param, result):
            whole = list(result)
            target = unit_refs((*before, before[param.tgt_dim] + param.axes), mesh)[-1]
            assert result[param.tgt_dim] == target
            source = unit_refs((result[param.src_dim] + param.axes,), mesh)[0]
            assert source == before[param.src_dim]
            whole[param.tgt_dim], whole[param.src_dim] = target, result[param.src_dim]
            rest = set(range(len(before))) - {param.src_dim, param.tgt_dim}
            assert all(result[dim] == before[dim] for dim in rest)
            return tuple(whole)
        case CollectivePermute(result):
            sizes = [[mesh.axes_size(axes) for axes in some] for some in (before, result)]
            assert sizes[0] == sizes[1]
            return result


def check(steps, source: AxesPerDim, target: AxesPerDim, mesh: Mesh, *, reorder: bool) -> None:
    """Each step leads from the result of the one before to its own, and the last to the target."""
    axes = unit_refs(source, mesh)
    for step in steps:
        axes = after_step(axes, step, mesh)
        assert axes == unit_refs(step.result, mesh)
        used = list(itertools.chain.from_iterable(axes))
        assert not any(a.overlaps(b) for a, b in itertools.combinations(used, 2))
    assert axes == unit_refs(target, mesh)
    assert not reorder or any(isinstance(step, CollectivePermute) for step in steps)


# --- Examples -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        ("a b |", "a |", ["gather b |"]),
        ("|", "a | b", ["slice a | b"]),
        ("a |", "| a", ["move a 0->1"]),
        ("a | b", "b | a", ["permute b | a"]),
        ("a |", "| b", ["slice | b", "gather a |"]),
        ("a b |", "c |", ["permute c b |", "gather b |"]),
        ("| a", "a b c |", ["slice | b c", "move a b c 1->0"]),
        ("b | a |", "| | a b", ["move a 1->2", "move b 0->2"]),
        ("a | b", "a | b", []),
    ],
)
def test_examples(source, target, steps):
    assert plan(source, target) == [step.strip() for step in steps]


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        ("q |", "p |", ["slice p:(1)2 |", "permute p |"]),
        ("p |", "q |", ["permute q p:(2)2 |", "gather p:(2)2 |"]),
    ],
)
def test_axes_of_different_sizes(source, target, steps):
    assert plan(source, target, mesh_of_sizes(p=4, q=2)) == steps


def test_axes_whose_sizes_do_not_divide_one_another():
    mesh = mesh_of_sizes(p=2, q=3)
    steps = ["move p 0->1", "permute | p q", "move q 1->0"]
    assert plan("p | q", "q | p", mesh, shape=(12, 12)) == steps


def test_dimensions_whose_padding_changes():
    mesh = mesh_of_sizes(p=2, q=3)
    assert plan("p | q", "q | p", mesh, shape=(16, 16)) == ["gather p | q", "slice q | p"]
    assert plan("p |", "p q |", mesh, shape=(8, 8)) == ["gather p |", "slice p q |"]
    assert plan("p |", "p q |", mesh, shape=(12, 8)) == ["slice q |"]
    assert plan("p q |", "q p |", mesh, shape=(8, 8)) == ["permute q p |"]


def test_refs_that_cut_an_axis_differently():
    mesh = mesh_of_sizes(u=6)
    assert plan("u:(1)2 |", "u:(1)3 |", mesh) == ["gather u:(1)2 |", "slice u:(1)3 |"]
    mesh = mesh_of_sizes(u=6, v=2)
    assert plan("v u:(1)2 |", "u:(1)3 | v", mesh, shape=(12, 12)) == [
        "gather u:(1)2 |",
        "slice u:(1)3 |",
        "permute u:(1)3 v |",
        "move v 0->1",
    ]


def test_another_order_of_devices():
    assert plan("a |", "a |", reorder=True) == ["permute a |"]
    assert plan("a b |", "a |", reorder=True) == ["permute a b |", "gather b |"]
    assert plan("a |", "| b", reorder=True)[0] == "slice | b"


# --- Properties ---------------------------------------------------------------------------------


@st.composite
def reshards(draw) -> tuple[Mesh, AxesPerDim, AxesPerDim, tuple[int, ...]]:
    mesh = draw(meshes())
    rank = draw(st.integers(1, 3))

    def axes() -> AxesPerDim:
        lists: list[tuple[AxisRef, ...]] = [()] * rank
        for ref in draw(disjoint_refs(mesh)):
            dim = draw(st.integers(0, rank - 1))
            lists[dim] = add_or_merge(lists[dim], ref, mesh)
        return tuple(lists)

    shape = tuple(draw(st.sampled_from([4, 6, 8, 24, 96])) for _ in range(rank))
    return mesh, axes(), axes(), shape


@settings(max_examples=400, deadline=None)
@given(reshards(), st.booleans())
def test_every_plan_leads_to_its_target(reshard, reorder):
    mesh, source, target, shape = reshard
    check(
        plan_reshard(source, target, shape, mesh, reorder=reorder),
        source,
        target,
        mesh,
        reorder=reorder,
    )
