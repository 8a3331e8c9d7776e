# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comments with the users of values, for `--mlir-print-value-users`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in

_RESULTS = re.compile(r"^\s*(%[\w$.-]+)(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)* = ", re.MULTILINE)


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
