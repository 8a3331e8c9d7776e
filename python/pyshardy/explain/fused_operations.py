# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations that compilers fuse into their users (see `partition.op_facts.fusion`)."""

from __future__ import annotations

from collections import defaultdict

from pyshardy.explain.operation_table import OperationTable
from pyshardy.partition.op_facts.fusion import (
    FUSED_OPERATIONS,
    FUSING_OPERATIONS,
    RECOMPUTED_OPERATIONS,
)


def fused_operations(table: OperationTable) -> frozenset[int]:
    """Return the numbers of the operations whose results are computed by their users.

    Args:
        table: the operations of the program.
    """
    names, results = table.names, table.results
    users: defaultdict[int, set[int]] = defaultdict(set)
    for number, operands in enumerate(table.operands):
        for operand in operands:
            users[operand].add(number)
    block_of: dict[int, int] = {}
    num_blocks = 0
    for blocks in table.blocks.values():
        for block in blocks:
            block_of.update(dict.fromkeys(table.directly_in(block), num_blocks))
            num_blocks += 1
    fused: set[int] = set()
    for number, name in enumerate(names):
        if name in FUSED_OPERATIONS:
            own = users.get(results[number][0])
            if (
                own
                and (name in RECOMPUTED_OPERATIONS or len(own) == 1)
                and all(names[user] in FUSING_OPERATIONS for user in own)
                and all(block_of[user] == block_of[number] for user in own)
            ):
                fused.add(number)
    return frozenset(fused)
