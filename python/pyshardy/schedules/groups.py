# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The members of sharding groups by the names that tactics use."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.host import ir
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.named_values import NamedValues, name_of
from pyshardy.irtools.walks import operations_named


def group_members(module: ir.Module, values: NamedValues) -> dict[str, list[str]]:
    """Return the names of the members of each sharding group: `sharding_group 7`.

    Args:
        module: the program, before it is imported, which numbers its groups anew.
        values: its values by name.
    """
    found: dict[str, list[str]] = {}
    main = main_function(module)
    for operation in operations_named({"sdy.sharding_group"}, module):
        member = operation.operands[0]
        if isinstance(member, ir.BlockArgument):
            if member.owner.owner.operation != main:
                continue  # its name is unique in its function only
            name = name_of(member) or f"arg{member.arg_number}"
        else:
            at = ir.OpResult(member).result_number
            name = values.result_names_of(member.owner.operation)[at]
        group = view_as(sdy.ShardingGroupOp, operation).group_id.value
        found.setdefault(f"sharding_group {group}", []).append(name)
    return found
