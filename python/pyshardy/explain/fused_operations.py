# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations that compilers fuse into their users (see `partition.op_facts.fusion`)."""

from __future__ import annotations

from collections import defaultdict

from pyshardy.explain.operation_table import OperationTable
from pyshardy.partition.op_facts.fusion import FUSED_OPERATIONS, Use, is_fusable


def fused_operations(table: OperationTable) -> frozenset[int]:
    """Return the numbers of the operations whose results are computed by their users.

    Args:
        table: the operations of the program.
    """
    names, results = table.names, table.results
    users: defaultdict[int, list[int]] = defaultdict(list)
    for number, operands in enumerate(table.operands):
        for operand in operands:
            users[operand].append(number)
    block_of: dict[int, int] = {}
    num_blocks = 0
    for blocks in table.blocks.values():
        for block in blocks:
            block_of.update(dict.fromkeys(table.directly_in(block), num_blocks))
            num_blocks += 1
    return frozenset(
        number
        for number, name in enumerate(names)
        if name in FUSED_OPERATIONS
        and is_fusable(
            name,
            block_of[number],
            (Use(each, names[each], block_of[each]) for each in users[results[number][0]]),
        )
    )
