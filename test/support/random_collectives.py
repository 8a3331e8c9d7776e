# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random collectives on random shardings: valid ones, and changed ones that may not be."""

from dataclasses import replace

from mlir_sdy.model import (
    AllToAllParam,
    AllToAllParamList,
    AxisRef,
    AxisRefList,
    DimensionSharding,
    ListOfAxisRefLists,
    Mesh,
    MeshAxis,
    TensorSharding,
    add_or_merge,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.model.collectives import (
    add_unreduced_axes,
    all_to_all_axes,
    gather_axes,
    slice_axes,
)

MESH = Mesh((MeshAxis("u", 8), MeshAxis("v", 2), MeshAxis("w", 12)))
OPS = [
    "all_gather",
    "all_slice",
    "all_to_all",
    "collective_permute",
    "all_reduce",
    "reduce_scatter",
    "sharded_to_unreduced",
    "replicated_to_unreduced",
]


def random_pieces(rng, mesh=MESH):
    """The axes of the mesh, some of them cut in two or three, in random order."""
    pieces = []
    for axis in mesh.axes:
        start = 1
        while start < axis.size and rng.random() < 0.5:
            rest = axis.size // start
            size = rng.choice([size for size in range(2, rest + 1) if rest % size == 0])
            if size == axis.size:
                break
            pieces.append(AxisRef.sub(axis.name, start, size))
            start *= size
        if start == 1:
            pieces.append(AxisRef(axis.name))
        elif start < axis.size:
            pieces.append(AxisRef.sub(axis.name, start, axis.size // start))
    rng.shuffle(pieces)
    return pieces


def random_sharding(rng, rank, mesh=MESH, mesh_or_ref="m"):
    """A sharding that leaves some axes unused."""
    dims, replicated, unreduced = [()] * rank, [], []
    for piece in random_pieces(rng, mesh):
        match rng.randrange(6):
            case 0:
                replicated.append(piece)
            case 1:
                unreduced.append(piece)
            case 2:
                pass
            case _ if rank:
                dim = rng.randrange(rank)
                dims[dim] = add_or_merge(dims[dim], piece, mesh)
    return TensorSharding(
        mesh_or_ref,
        tuple(
            DimensionSharding(axes, bool(axes) and rng.random() < 0.5, rng.choice([None, None, 1]))
            for axes in dims
        ),
        sort_and_merge(replicated, mesh),
        sort_and_merge(unreduced, mesh),
    )


def random_suffix(rng, axes, mesh=MESH):
    """Axes along which a dimension can be gathered."""
    taken = list(axes[rng.randrange(len(axes) + 1) :])
    position = len(axes) - len(taken) - 1
    if position >= 0 and rng.random() < 0.4:
        axis = axes[position]
        inner = [size for size in range(2, axis.size(mesh)) if axis.size(mesh) % size == 0]
        if inner:
            size = rng.choice(inner)
            pre_size = axis.next_pre_size(mesh) // size
            part = AxisRef.sub(axis.name, pre_size, size)
            taken = [part, *taken]
    return tuple(taken)


def lists(axes_per_dim):
    return ListOfAxisRefLists(tuple(map(AxisRefList, axes_per_dim)))


def random_collective(rng):
    """The name, axes and shardings of a collective that is valid."""
    return collective_of(rng, random_sharding(rng, rng.randint(1, 4)))


def collective_of(rng, source, mesh=MESH):
    """The name, axes and shardings of a collective of what is sharded as `source`.

    It is valid, unless it happens to have no axes where it needs some. Axes that `mesh` leaves out
    are not used.
    """
    rank = source.rank
    all_axes = [AxisRef(axis.name) for axis in mesh.axes]
    unused = list(set_difference(all_axes, source.all_axes(), mesh))
    rng.shuffle(unused)
    name = rng.choice(OPS)
    dims, unreduced, axes = list(source.dim_axes), source.unreduced_axes, None
    if name in ("all_gather", "sharded_to_unreduced"):
        axes = lists(random_suffix(rng, axes, mesh) for axes in dims)
        dims = [
            gather_axes(before, taken.value, mesh) for before, taken in zip(dims, axes, strict=True)
        ]
        if name == "sharded_to_unreduced":
            added = [axis for taken in axes for axis in taken]
            unreduced = add_unreduced_axes(unreduced, added, mesh)
    elif name in ("all_slice", "reduce_scatter"):
        taken = [()] * rank
        for axis in unused + (list(unreduced) if name == "reduce_scatter" else []):
            dim = rng.randrange(rank)
            taken[dim] = add_or_merge(taken[dim], axis, mesh)
        axes = lists(taken)
        dims = [slice_axes(before, new, mesh) for before, new in zip(dims, taken, strict=True)]
        if name == "reduce_scatter":
            unreduced = ()
    elif name == "all_to_all":
        order = rng.sample(range(rank), rank)
        moves = []
        for src, tgt in zip(order[::2], order[1::2], strict=False):
            if moved := random_suffix(rng, dims[src], mesh):
                moves.append(AllToAllParam(moved, src, tgt))
        axes = AllToAllParamList(tuple(sorted(moves, key=lambda move: move.src_dim)))
        dims = all_to_all_axes(dims, axes, mesh)
    elif name == "all_reduce":
        axes = AxisRefList(sort_and_merge([*unused, *unreduced], mesh))
        unreduced = ()
    elif name == "replicated_to_unreduced":
        axes = AxisRefList(sort_and_merge(unused, mesh))
        unreduced = add_unreduced_axes(unreduced, unused, mesh)
    result = TensorSharding(
        source.mesh_or_ref,
        tuple(
            # A closed dimension without axes can't have a priority.
            DimensionSharding(
                new, old.is_closed, old.priority if new or not old.is_closed else None
            )
            for new, old in zip(dims, source.dim_shardings, strict=True)
        ),
        set_difference(source.replicated_axes, unreduced, mesh),
        unreduced,
    )
    return name, axes, source, result


def mutated(rng, name, axes, source, result):
    """The same with one part changed, which may or may not leave it valid."""
    match rng.randrange(6):
        case 0:
            dim = rng.randrange(result.rank)
            result = result.with_dim(dim, DimensionSharding(random_suffix(rng, (AxisRef("u"),))))
        case 1:
            result = replace(result, replicated_axes=())
        case 2:
            result = result.with_unreduced_axes(source.unreduced_axes[1:])
        case 3:
            dims = rng.sample(result.dim_shardings, result.rank)
            result = result.with_dims(tuple(dims))
        case 4 if axes is not None and len(axes):
            axes = type(axes)(axes.value[1:])
        case _:
            other_name, other_axes, *_ = random_collective(rng)
            if type(other_axes) is type(axes):
                name, axes = other_name, other_axes
    return name, axes, source, result
