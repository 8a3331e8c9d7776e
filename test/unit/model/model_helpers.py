# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Short ways to write values, and strategies that make valid ones."""

import itertools
import re

from hypothesis import strategies as st

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, MeshAxis, TensorSharding

_REF = re.compile(r"(\w+)(?::\((-?\d+)\)(-?\d+))?\Z")


def ref(text: str) -> AxisRef:
    """Read `u` or `u:(1)2`: a ref without the quotes."""
    match = _REF.match(text)
    assert match, text
    name, pre_size, size = match.groups()
    return AxisRef(name) if pre_size is None else AxisRef.sub(name, int(pre_size), int(size))


def refs(text: str) -> tuple[AxisRef, ...]:
    """Read `u, v:(1)2`: a list of refs."""
    return tuple(map(ref, text.replace(",", " ").split()))


def mesh_of_sizes(device_ids: tuple[int, ...] = (), **sizes: int) -> Mesh:
    return Mesh(tuple(itertools.starmap(MeshAxis, sizes.items())), device_ids)


def sharding(*dims: str, mesh: str | Mesh = "m", **fields) -> TensorSharding:
    """Read dimensions like `u v`, open if they end in `?`."""
    return TensorSharding(mesh, tuple(map(dim, dims)), **fields)


def dim(text: str, priority: int | None = None) -> DimensionSharding:
    is_open = text.endswith("?")
    return DimensionSharding(refs(text.removesuffix("?")), not is_open, priority)


def divisors(size: int) -> list[int]:
    return [divisor for divisor in range(1, size + 1) if size % divisor == 0]


def valid_refs(name: str, size: int) -> list[AxisRef]:
    """The full axis and all its proper parts."""
    ends = [
        (start, end)
        for start in divisors(size)
        for end in divisors(size)
        if end > start and end % start == 0 and (start, end) != (1, size)
    ]
    parts = [AxisRef.sub(name, start, end // start) for start, end in ends]
    return [AxisRef(name), *parts]


AXIS_SIZES = st.sampled_from([2, 3, 4, 6, 8, 12])


@st.composite
def meshes(draw, max_axes: int = 3, max_size: int = 48, permuted: bool = True) -> Mesh:
    sizes = draw(st.lists(AXIS_SIZES, min_size=1, max_size=max_axes))
    while len(sizes) > 1 and Mesh(_axes(sizes)).total_size > max_size:
        sizes.pop()
    mesh = Mesh(_axes(sizes))
    if not permuted or not draw(st.booleans()):
        return mesh
    return Mesh(mesh.axes, tuple(draw(st.permutations(range(mesh.total_size)))))


def _axes(sizes: list[int]) -> tuple[MeshAxis, ...]:
    return tuple(MeshAxis(name, size) for name, size in zip("uvwx", sizes, strict=False))


@st.composite
def disjoint_refs(draw, mesh: Mesh) -> list[AxisRef]:
    """Refs of a mesh that are disjoint and coexist, in any order."""
    pieces: list[AxisRef] = []
    for axis in mesh.axes:
        cuts = [1]
        while cuts[-1] != axis.size:
            factors = [d for d in divisors(axis.size // cuts[-1]) if d > 1]
            cuts.append(cuts[-1] * draw(st.sampled_from(factors)))
        if len(cuts) == 2:
            pieces.append(AxisRef(axis.name))
        else:
            pieces += [
                AxisRef.sub(axis.name, start, end // start)
                for start, end in itertools.pairwise(cuts)
            ]
    return [piece for piece in draw(st.permutations(pieces)) if draw(st.booleans())]


@st.composite
def shardings(draw, mesh: Mesh, max_rank: int = 3) -> TensorSharding:
    """Shardings whose neighbours in a dimension are never mergeable, as the verifier wants it."""
    rank = draw(st.integers(1, max_rank))
    axes_per_dim: list[list[AxisRef]] = [[] for _ in range(rank)]
    for axis in draw(disjoint_refs(mesh)):
        axes = axes_per_dim[draw(st.integers(0, rank - 1))]
        if not axes or not axes[-1].can_merge(axis):
            axes.append(axis)
    return TensorSharding.from_axes("m", map(tuple, axes_per_dim))
