# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of other sizes, of the nearest elements."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import shape_of


@lowering(
    "aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec", "aten.upsample_nearest3d.vec"
)
def upsample_nearest(
    build: LoweringBuilder,
    value: ir.Value,
    output_size: Sequence[int] | None,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    """Return for each element of the result the element of the operand at its relative position.

    1. Along a dimension whose elements are all repeated equally often, the operand is broadcast and
       reshaped, so that the dimension can stay sharded.
    2. Other dimensions are gathered.
    """
    sizes, results = (shape_of(each)[2:] for each in (value.type, build.result_types[0]))
    for index, (size, result) in enumerate(zip(sizes, results, strict=True)):
        factor = scale_factors[index] if scale_factors else None
        positions = _positions(size, result, factor)
        if result % size == 0 and positions == [each // (result // size) for each in range(result)]:
            value = _repeated(build, value, index + 2, result // size)
        else:
            value = _taken(build, value, index + 2, positions)
    return value


def _positions(size: int, result: int, factor: float | None) -> list[int]:
    """Return the position in the operand of each element, computed with 32 bits as by PyTorch."""
    scale = np.float32(size / result if factor is None else 1 / factor)
    positions = np.floor(np.arange(result, dtype=np.float32) * scale).astype(int)
    return np.minimum(positions, size - 1).tolist()


def _repeated(build: LoweringBuilder, value: ir.Value, dim: int, count: int) -> ir.Value:
    """Repeat each element of a dimension."""
    if count == 1:
        return value
    shape = shape_of(value.type)
    kept = [each for each in range(len(shape) + 1) if each != dim + 1]
    wide = build.broadcast_in_dim(value, [*shape[: dim + 1], count, *shape[dim + 1 :]], kept)
    return build.reshape(wide, [*shape[:dim], shape[dim] * count, *shape[dim + 1 :]])


def _taken(build: LoweringBuilder, value: ir.Value, dim: int, positions: Sequence[int]) -> ir.Value:
    """Return the elements of a dimension at some positions."""
    shape = list(shape_of(value.type))
    others = [each for each in range(len(shape)) if each != dim]
    numbers = (
        f"offset_dims = {others}, collapsed_slice_dims = [{dim}], start_index_map = [{dim}], "
        "index_vector_dim = 1"
    )
    indices = build.constant(np.array(positions, np.int64))
    slice_sizes = [1 if each == dim else size for each, size in enumerate(shape)]
    shape[dim] = len(positions)
    attribute = ir.Attribute.parse(f"#stablehlo.gather<{numbers}>")
    return build.gather(value, indices, attribute, slice_sizes, shape)
