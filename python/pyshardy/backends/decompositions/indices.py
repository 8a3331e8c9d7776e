# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The indices of gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyshardy.backends.decompositions.tensors import Tensor, array, concatenate, index_type, iota


def explicit_indices(
    indices: Tensor, index_vector_dim: int, batching_dims: Sequence[int]
) -> Tensor:
    """Return indices whose last dimension is that of index vectors, batches included.

    1. The dimension of index vectors becomes the last one; there is one for scalar indices, too.
    2. Along a dimension of batches, an index is added to each vector: the number of the batch.

    Example: `[[5, 6]]` of batches along dimension 1 and vectors along dimension 0 becomes
    `[[5, 0], [6, 1]]`.
    """
    wide = indices.to(index_type())
    if index_vector_dim == wide.rank:
        wide = wide.reshape(*wide.shape, 1)
    others = [dim for dim in range(wide.rank) if dim != index_vector_dim]
    vectors = wide.transpose(*others, index_vector_dim)
    *shape, _ = vectors.shape
    places = [iota(indices.shape[dim]) for dim in batching_dims]
    numbers = [
        place.broadcast_in_dim((*shape, 1), [others.index(dim)])
        for place, dim in zip(places, batching_dims, strict=True)
    ]
    return concatenate([vectors, *numbers], vectors.rank - 1)


def index_row(numbers: Sequence[int]) -> Tensor:
    """Numbers as a vector of indices."""
    return array(np.array(numbers, np.int64))
