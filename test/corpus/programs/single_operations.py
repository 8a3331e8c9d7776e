# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation each, sharded along the dimensions that make it communicate.

The meshes have axes of 2 and 4, or of 2 and 3; sizes that no axis divides are among them, and axes
of which a dimension gets a part only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import PROGRAMS, P, array, constrain, integers, lower, mesh

EVEN = {"a": 4, "b": 2}
ODD = {"a": 3, "b": 2}

CONVOLUTION = ("NHWC", "HWIO", "NHWC")


def single(
    name: str,
    function: Callable[..., Any],
    *arguments: tuple[Any, tuple[Any, ...]],
    result: tuple[Any, ...] | None = None,
    axes: dict[str, int] = EVEN,
    even: bool = True,
    platform: str = "cpu",
) -> None:
    """Put an operation into the corpus.

    Args:
        name: of the program, after `op_`.
        function: the operation.
        arguments: what each argument looks like, and the axes of its dimensions.
        result: the axes of the dimensions of the result, if it is constrained.
        axes: the mesh.
        even: whether axes divide sizes; else arguments are constrained in the program, since JAX
            doesn't take such arguments.
        platform: what JAX lowers for.
    """

    def write() -> str:
        where = mesh(**axes)

        def run(*values: jax.Array) -> Any:
            if not even:
                values = tuple(
                    constrain(value, where, *dims)
                    for value, (_, dims) in zip(values, arguments, strict=True)
                )
            made = function(*values)
            return made if result is None else constrain(made, where, *result)

        given = tuple(like for like, _ in arguments)
        specs = tuple(P(*dims) for _, dims in arguments) if even else None
        return lower(run, given, where, specs, platform=platform)

    PROGRAMS[f"op_{name}"] = write


MATRIX = array(16, 24)
ROWS = ("a", None)
COLUMNS = (None, "a")
BOTH = ("a", "b")
MATRIX_OF_ODD_SIZES = array(13, 10)

single("slice_rows", lambda x: x[3:11], (MATRIX, ROWS))
single("slice_with_stride", lambda x: x[1:15:3], (MATRIX, ROWS))
single("slice_of_uneven", lambda x: x[2:9], (MATRIX_OF_ODD_SIZES, BOTH), even=False)
single("pad_both_ends", lambda x: jnp.pad(x, ((2, 3), (0, 0)), constant_values=7), (MATRIX, ROWS))
single("pad_interior", lambda x: lax.pad(x, 1.5, ((1, 2, 1), (0, 0, 2))), (MATRIX, BOTH))
single("pad_negative", lambda x: lax.pad(x, 0.5, ((-3, -2, 0), (-1, 4, 0))), (MATRIX, BOTH))
single("roll", lambda x: jnp.roll(x, 3, axis=0), (MATRIX, ROWS))
single("reverse", lambda x: jnp.flip(x, (0, 1)), (MATRIX, BOTH))
single("reverse_of_uneven", lambda x: jnp.flip(x, 0), (MATRIX_OF_ODD_SIZES, ROWS), even=False)
single(
    "concatenate_along_shards", lambda x, y: jnp.concatenate([x, y]), (MATRIX, ROWS), (MATRIX, ROWS)
)
single("transpose", lambda x: x.T, (MATRIX, BOTH), result=("a", "b"))
single("iota", lambda x: x + lax.broadcasted_iota(jnp.float32, (16, 24), 0), (MATRIX, ROWS))

single("sum_of_shards", lambda x: x.sum(0), (MATRIX, BOTH))
single("sum_from_three", lambda x: lax.reduce(x, 3.0, lax.add, (0,)), (MATRIX, ROWS))
single("product_of_shards", lambda x: x.prod(0), (MATRIX, ROWS))
single("largest_of_uneven", lambda x: x.max(0), (MATRIX_OF_ODD_SIZES, ROWS), even=False)
single(
    "sum_of_uneven_exponentials",
    lambda x: jnp.exp(x).sum(0),
    (MATRIX_OF_ODD_SIZES, ROWS),
    axes=ODD,
    even=False,
)
single("any_and_all", lambda x: ((x > 0).any(0), (x > 0).all(0)), (MATRIX, ROWS))
single("argmax", lambda x: (x.argmax(0), x.argmin(0)), (MATRIX, ROWS))
single("mean_and_variance", lambda x: (x.mean(), x.var(0)), (MATRIX, BOTH))
single("cumsum", lambda x: jnp.cumsum(x, 0), (MATRIX, ROWS))
single("cumulative_maximum_reversed", lambda x: lax.cummax(x, 0, reverse=True), (MATRIX, ROWS))

single("dot_of_contracted", lambda x, y: x @ y, (MATRIX, (None, "a")), (array(24, 8), ("a", None)))
single(
    "dot_scattered",
    lambda x, y: x @ y,
    (MATRIX, (None, "a")),
    (array(24, 8), ("a", None)),
    result=ROWS,
)
single(
    "dot_of_uneven",
    lambda x, y: x @ y,
    (MATRIX_OF_ODD_SIZES, COLUMNS),
    (array(10, 7), ROWS),
    axes=ODD,
    even=False,
)
single(
    "dot_in_batches",
    lambda x, y: jnp.einsum("bij,bjk->bik", x, y),
    (array(4, 8, 6), ("a", "b")),
    (array(4, 6, 8), (None, None, "b")),
)

single(
    "convolution_rows",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CONVOLUTION),
    (array(2, 16, 8, 3), (None, "a")),
    (array(3, 3, 3, 4), ()),
)
single(
    "convolution_with_stride",
    lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=CONVOLUTION),
    (array(2, 16, 8, 3), (None, "a", "b")),
    (array(3, 3, 3, 4), ()),
)
single(
    "convolution_dilated",
    lambda x, w: lax.conv_general_dilated(
        x,
        w,
        (1, 1),
        ((1, 1), (2, 2)),
        lhs_dilation=(2, 1),
        rhs_dilation=(1, 2),
        dimension_numbers=CONVOLUTION,
    ),
    (array(2, 8, 8, 3), (None, "a")),
    (array(3, 3, 3, 4), ()),
)
single(
    "convolution_of_uneven",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=CONVOLUTION),
    (array(2, 13, 8, 3), (None, "a")),
    (array(3, 3, 3, 4), ()),
    even=False,
)
single(
    "max_pool",
    lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 2, 1), "SAME"),
    (array(4, 16, 6), (None, "a")),
)
single(
    "average_pool",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2), (1, 2, 2), "VALID") / 4,
    (array(4, 16, 6), ("b", "a")),
)
single(
    "max_pool_gradient",
    jax.grad(
        lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 2), "SAME") ** 2).sum()
    ),
    (array(4, 16), (None, "a")),
)

single("take_of_rows", lambda x, i: jnp.take(x, i, axis=0), (MATRIX, ROWS), (integers(6), ()))
single(
    "take_by_sharded_indices",
    lambda x, i: jnp.take(x, i, axis=0),
    (MATRIX, (None, "b")),
    (integers(8), ("a",)),
)
single(
    "take_along_axis",
    lambda x, i: jnp.take_along_axis(x, i, axis=1),
    (MATRIX, BOTH),
    (integers(16, 5), ("a", None)),
)
single(
    "scatter_add_to_rows",
    lambda x, i, u: x.at[i].add(u),
    (MATRIX, ROWS),
    (integers(6), ()),
    (array(6, 24), ()),
)
single(
    "scatter_add_of_shards",
    lambda x, i, u: x.at[i].add(u),
    (MATRIX, ()),
    (integers(8), ("a",)),
    (array(8, 24), ("a", None)),
)
single(
    "scatter_max",
    lambda x, i, u: x.at[i].max(u),
    (MATRIX, ROWS),
    (integers(8), ("b",)),
    (array(8, 24), ("b", None)),
)
single(
    "dynamic_slice",
    lambda x, i: lax.dynamic_slice(x, (i, i), (4, 24)),
    (MATRIX, BOTH),
    (integers(), ()),
)
single(
    "dynamic_update_slice",
    lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)),
    (MATRIX, ROWS),
    (array(3, 24), ()),
    (integers(), ()),
)
single("sort_along_shards", lambda x: jnp.sort(x, 0), (MATRIX, ROWS))
single("sort_pairs", lambda x: lax.sort((x, -x), dimension=0, num_keys=1), (MATRIX, ROWS))
single("top_k", lambda x: lax.top_k(x, 3), (MATRIX, ("b", "a")))
single("fft_along_shards", lambda x: jnp.abs(jnp.fft.fft(x, axis=1)), (MATRIX, COLUMNS))
single("random_bits", lambda x: x + jax.random.uniform(jax.random.key(3), (16, 24)), (MATRIX, BOTH))
single(
    "cholesky",
    lambda x: lax.linalg.cholesky(jnp.eye(8) + x @ x.swapaxes(1, 2)),
    (array(4, 8, 8), (None, "a")),
    platform="tpu",
)
single(
    "select_and_clamp",
    lambda x, y: jnp.where(x > y, jnp.clip(x, -1, 1), y),
    (MATRIX, ROWS),
    (MATRIX, COLUMNS),
)
single("convert_gathered", lambda x: x.astype(jnp.bfloat16) * 2, (MATRIX, ROWS), result=())
single("reshape_of_parts", functools.partial(jnp.reshape, shape=(2, 8, 24)), (MATRIX, ROWS))
single("reshape_merging", functools.partial(jnp.reshape, shape=(384,)), (MATRIX, BOTH))
single(
    "reshape_uneven",
    functools.partial(jnp.reshape, shape=(10, 13)),
    (MATRIX_OF_ODD_SIZES, ROWS),
    even=False,
)
