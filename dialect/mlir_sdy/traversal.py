# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looking at every operation once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mlir_sdy.host import ir

SCALAR_BODIES = frozenset(
    f"stablehlo.{name}"
    for name in """
        all_reduce map reduce reduce_scatter reduce_window scatter select_and_scatter sort
    """.split()  # noqa: SIM905
)
"""Operations whose bodies compute with scalars only: nothing in them is sharded."""


def operations_in(
    root: ir.Operation | ir.OpView,
    *,
    leaving_out: Collection[str] = (),
    inner_first: bool = False,
) -> Iterator[ir.Operation | ir.OpView]:
    """`root` and all operations in its regions, in the order of the text.

    Attributes may be changed meanwhile, but no operation may be erased. Unlike a walk of the
    bindings, which calls back, a loop over these can be left, and errors in it stay what they are.

    Args:
        root: the operation to begin with.
        leaving_out: the names of operations whose regions are left out.
        inner_first: whether an operation comes after those in its regions instead of before them.
    """
    if not inner_first:
        yield root
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                if len(view.regions) and view.operation.name not in leaving_out:
                    yield from operations_in(view, leaving_out=leaving_out, inner_first=inner_first)
                else:
                    yield view
    if inner_first:
        yield root
