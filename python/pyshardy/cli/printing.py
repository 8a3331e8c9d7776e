# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of operations in the forms that flags of `sdy-opt` ask for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in

_RESULTS = re.compile(r"^\s*(%[\w$.-]+)(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)* = ", re.MULTILINE)
_UNIQUE, _NUMBERED = "sdy__", re.compile(r"%sdy__(\w+)")


def with_unique_names(module: ir.Module | ir.OpView, text_of: Callable[[ir.Operation], str]) -> str:
    """Return the text of an operation with numbers of values that are unique in all functions.

    Args:
        module: the operation.
        text_of: returns the text of an operation in which locations name values.
    """
    copy = module.operation.clone().operation
    num_arguments = num_results = 0
    for operation in operations_in(copy):
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    name = f"{_UNIQUE}arg{num_arguments}"
                    argument.set_location(ir.Location.name(name, context=copy.context))
                    num_arguments += 1
        if operation.results:
            name = f"{_UNIQUE}{num_results}"
            operation.operation.location = ir.Location.name(name, context=copy.context)
            num_results += 1
    return _NUMBERED.sub(r"%\1", text_of(copy))


def with_value_users(text: str, module: ir.Module | ir.OpView) -> str:
    """Return the text of an operation with a comment on each line that defines values.

        %0 = stablehlo.abs %arg0 : tensor<4xf32>  // users: %1, func.return

    The text is returned as it is if it has another number of definitions than the operation, as
    when regions are left out.

    Args:
        text: the text.
        module: the operation.
    """
    makers = [each.operation for each in operations_in(module.operation) if each.operation.results]
    lines = list(_RESULTS.finditer(text))
    if len(lines) != len(makers):
        return text
    names = {maker: line[1] for maker, line in zip(makers, lines, strict=True)}
    comments = {
        text.count("\n", 0, line.start(1)): ", ".join(_users(maker, names)) or "unused"
        for maker, line in zip(makers, lines, strict=True)
    }
    return "\n".join(
        line if comments.get(number) is None else f"{line}  // {_phrase(comments[number])}"
        for number, line in enumerate(text.split("\n"))
    )


def _phrase(users: str) -> str:
    return users if users == "unused" else f"{'users' if ',' in users else 'user'}: {users}"


def _users(maker: ir.Operation, names: dict[ir.Operation, str]) -> Iterator[str]:
    """Yield each user once: the name of its first result, or its own if it has none."""
    seen: set[ir.Operation] = set()
    for result in maker.results:
        for use in result.uses:
            user = use.owner.operation
            if user not in seen:
                seen.add(user)
                yield names.get(user, user.name)
