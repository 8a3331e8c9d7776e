# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analysis of the bodies of reductions."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.uses import defining_operation

_OPERATIONS = frozenset(
    f"stablehlo.{name}" for name in ("add", "and", "maximum", "minimum", "multiply", "or", "xor")
)

_IDEMPOTENT = frozenset(f"stablehlo.{name}" for name in ("and", "maximum", "minimum", "or"))


def combining_operations(body: ir.Block) -> tuple[str, ...] | None:
    """Return the operations by which a body combines pairs of values; None if it doesn't.

    1. For n values there are 2n arguments, and n results are returned.
    2. Result i is computed from the arguments i and i + n, in either order, by a single operation.
    3. The operation is `add`, `multiply`, `maximum`, `minimum`, `and`, `or` or `xor`, and may
       differ between values.

    Example: `return add(%p, %q)` gives `("stablehlo.add",)`, but `return add(%p, abs(%q))` None.
    """
    arguments = list(body.arguments)
    *combinations, terminator = [view.operation for view in body.operations]
    count = len(arguments) // 2
    if len(arguments) != 2 * count or len(combinations) != count:
        return None
    returned = list(terminator.operands)
    if len(returned) != count:
        return None
    names: list[str] = []
    for index, value in enumerate(returned):
        operation = defining_operation(value)
        if operation is None:
            return None
        name = operation.name
        pair = (arguments[index], arguments[index + count])
        if name not in _OPERATIONS or tuple(operation.operands) not in (pair, pair[::-1]):
            return None
        names.append(name)
    return tuple(names)


def only_selects(body: ir.Block) -> bool:
    """Whether a body returns, for each value, either of its two arguments.

    1. Result i is argument i or i + n, or a `select` or a maximum or minimum of such.
    2. The predicate may be anything.

    Such is the body of an argmax: `return select(%less, %q, %p), select(%less, %j, %i)`.
    """
    arguments = list(body.arguments)
    operations = [view.operation for view in body.operations]
    returned = list(operations[-1].operands)
    if len(arguments) != 2 * len(returned):
        return False

    def is_one_of(value: ir.Value, choices: list[ir.Value]) -> bool:
        if isinstance(value, ir.BlockArgument):
            return value in choices
        operation = value.owner.operation
        if operation.name == "stablehlo.select":
            _, *options = operation.operands
        elif operation.name in ("stablehlo.maximum", "stablehlo.minimum"):
            options = list(operation.operands)
        else:
            return False
        return all(is_one_of(option, choices) for option in options)

    count = len(returned)
    return all(
        is_one_of(value, [arguments[index], arguments[index + count]])
        for index, value in enumerate(returned)
    )


def is_idempotent(operation: str, element_type: ir.Type) -> bool:
    """Whether a value combined with itself is the same value."""
    return operation in _IDEMPOTENT or (operation != "stablehlo.xor" and is_boolean(element_type))


def is_boolean(element_type: ir.Type) -> bool:
    """Whether a type is that of truth values, for which `add` is `or`, and `multiply` is `and`."""
    return isinstance(element_type, ir.IntegerType) and element_type.width == 1
