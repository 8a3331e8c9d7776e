# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions, calls, the call graph, and names for new symbols."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from mlir_sdy.diagnostics import PassError, SdyError, error, note
from mlir_sdy.discardable import as_text, has_discardable, set_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import global_type, operations_in, terminator_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import argument_shardings, result_shardings, result_shardings_of
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, callee_of, symbol_name
from pyshardy.irtools.walks import operations_named

ENTRY = "main"
"""The name of the function that a program begins with."""

ORIGINAL_FUNCTION_NAME = "sdy.original_func_name"
"""The attribute of a copied function with the name of the user's function."""

NO_INLINE = "no_inline"
"""The attribute of a function or a call that keeps the call from being inlined."""

FUNCTION_NO_INLINE = "sdy.func_no_inline"
"""The attribute of a named computation that becomes `no_inline` of its function."""


def functions_of(module: ir.Module) -> list[ir.Operation]:
    """Return the functions directly in a module, in order."""
    operations = (view.operation for view in module.body.operations)
    return [operation for operation in operations if operation.name == "func.func"]


def has_body(function: ir.Operation) -> bool:
    """Whether a function has a body; declarations have none."""
    return len(function.regions[0].blocks) > 0


def is_private(function: ir.Operation) -> bool:
    """Whether a function can be called only within its module."""
    return FunctionView(function).sym_visibility == "private"


def is_public(function: ir.Operation) -> bool:
    """Whether a function may be called from outside of the module."""
    return FunctionView(function).sym_visibility in (None, "public")


def main_function(module: ir.Module) -> ir.Operation | None:
    """Return the only function of a module, or the one named `main`; None without any function.

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    functions = functions_of(module)
    if len(functions) <= 1:
        return functions[0] if functions else None
    for function in functions:
        if symbol_name(function) == ENTRY:
            return function
    where = location_of(functions[0].location)
    message = f"a module with several functions must have one called '{ENTRY}'"
    raise PassError(error(message, where))


def original_name(function: ir.Operation) -> str:
    """Return the name of the user's function that a function was copied from, or its own."""
    original = text_of(function, ORIGINAL_FUNCTION_NAME)
    return symbol_name(function) if original is None else original


def entry_block(function: ir.Operation) -> ir.Block | None:
    """Return the first block of a function; None for a declaration."""
    blocks = function.regions[0].blocks
    return blocks[0] if len(blocks) else None


def returned_values(function: ir.Operation) -> list[ir.Value] | None:
    """Return the operands of the entry block's `func.return`; None if it doesn't end in one."""
    block = entry_block(function)
    if block is None:
        return None
    try:
        last = terminator_of(block)
    except ValueError:
        return None
    return list(last.operands) if last.name == "func.return" else None


def update_type(function: ir.Operation) -> None:
    """Set the type of a function to the types of its arguments and returned values.

    A declaration keeps its type.
    """
    block, returned = entry_block(function), returned_values(function)
    if block is not None and returned is not None:
        inputs, results = (
            [value.type for value in values] for values in (block.arguments, returned)
        )
        FunctionView(function).function_type = ir.FunctionType.get(
            inputs, results, function.context
        )


def erase_arguments(function: ir.Operation, erased: Collection[int]) -> None:
    """Erase unused arguments of a function with a body, with their attributes."""
    view, block = FunctionView(function), function.regions[0].blocks[0]
    attributes = list(view.arg_attrs)
    for index in sorted(erased, reverse=True):
        block.erase_argument(index)
        if attributes:
            del attributes[index]
    if attributes:
        view.arg_attrs = attributes
    update_type(function)


def has_static_shape(value_type: ir.Type) -> bool:
    """Whether a type is a ranked tensor without dynamic sizes."""
    tensor = global_type(value_type)
    return isinstance(tensor, ir.RankedTensorType) and tensor.has_static_shape


class FreshNames:
    """Generates names that no symbol of a module has.

    A free name is used unchanged; otherwise a number is appended. One counter that is never reset
    numbers all names: clashes of `f`, `g` and `f` give `f_0`, `g_1` and `f_2`.
    """

    def __init__(self, module: ir.Module):
        self._counter = 0
        self._taken = {
            symbol_name(view.operation)
            for view in module.body.operations
            if FunctionView.sym_name.is_in(view.operation)
        }

    def name(self, base: str) -> str:
        """Return a free name that begins with `base`, and mark it as used."""
        name = base
        while name in self._taken:
            name = f"{base}_{self._counter}"
            self._counter += 1
        self._taken.add(name)
        return name


# --- Inlining -------------------------------------------------------------------------------------


MOST_OPERATIONS = 40
"""The most operations of a function that is inlined at several calls."""

_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
_COMPUTE_TYPE = "_xla_compute_type"
_INLINEABLE = "inlineable"


def can_be_inlined(function: ir.Operation) -> bool:
    """Whether calls of a function may be replaced by its body."""
    shardings = (*argument_shardings(function), *result_shardings(function))
    return (
        is_private(function)
        and not has_discardable(function, NO_INLINE)
        and len(function.regions[0].blocks) == 1
        and returned_values(function) is not None
        and not any(map(_has_unreduced_axes, shardings))
    )


def replace_by_body(operation: ir.Operation, body: ir.Block) -> None:
    """Replace a call by the operations of its callee's copy, or an operation by those of its body.

    Args:
        operation: its operands are the arguments of the block, its results what that returns.
        body: the block. It is empty afterwards, as a copy may live longer than the values it uses.
    """
    for argument, operand in zip(body.arguments, operation.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *inner, terminator = body.operations
    for each in inner:
        each.operation.move_before(operation)
    results = list(terminator.operation.operands)
    terminator.operation.erase()
    replace_by(operation, *results)


def must_stay(call: ir.Operation) -> bool:
    """Whether the results of a call are unreduced, or its attributes forbid to inline it.

    JAX and XLA forbid it by `inlineable = "false"`, or by `_xla_compute_type`, which places the
    callee (`jax.experimental.compute_on`); among the frontend attributes or as attributes of the
    call.
    """
    own = dict(call.attributes.items())
    frontend = own.get(_FRONTEND_ATTRIBUTES)
    given = (own, frontend) if isinstance(frontend, ir.DictAttr) else (own,)
    forbidden = NO_INLINE in own or any(
        _COMPUTE_TYPE in each or (_INLINEABLE in each and _is_false(each[_INLINEABLE]))
        for each in given
    )
    return forbidden or any(map(_has_unreduced_axes, result_shardings_of(call)))


def has_at_most(number: int, function: ir.Operation) -> bool:
    """Whether a function has that many operations or fewer, without its terminator."""
    # The count includes the function itself and its terminator.
    return sum(1 for _ in islice(operations_in(function), number + 3)) <= number + 2


def _is_false(attribute: ir.Attribute) -> bool:
    if isinstance(attribute, ir.BoolAttr):
        return not attribute.value
    return as_text(attribute) == "false"


def _has_unreduced_axes(sharding: TensorSharding | None) -> bool:
    return sharding is not None and bool(sharding.unreduced_axes)


# --- The call graph of a module, and copies of functions with their callees -----------------------


class CallGraph:
    """The functions of a module that have a body, and the calls in them.

    It is a snapshot of the module at the time of its construction.

    Attributes:
        functions: the functions by their names, in the order of the module, without declarations.
        calls: for each function its calls, in the order of the text, those in regions included.
    """

    def __init__(self, module: ir.Module):
        self.functions: dict[str, ir.Operation] = {
            symbol_name(function): function
            for function in functions_of(module)
            if has_body(function)
        }
        self.calls: dict[str, list[ir.Operation]] = {
            name: operations_named({"func.call"}, function)
            for name, function in self.functions.items()
        }
        self._cycle: list[ir.Operation] = []
        self._post_order = self._search()

    @property
    def post_order(self) -> list[str]:
        """Yield the functions, callees before callers.

        Functions are visited in the order of the module and, depth first, their callees in the
        order of the calls. With functions `main`, `a` and `b` in this order, where `main` calls
        `b` and `b` calls `a`, the result is `a`, `b`, `main`.

        A recursive function comes after all its other callees.
        """
        return self._post_order

    def calls_in_post_order(self) -> Iterator[ir.Operation]:
        """Yield all calls, function by function, callees before callers."""
        for name in self._post_order:
            yield from self.calls[name]

    @property
    def is_recursive(self) -> bool:
        """Whether a function calls itself, directly or indirectly."""
        return bool(self._cycle)

    def check_not_recursive(self, purpose: str, failure: type[SdyError] = PassError) -> None:
        """Check that no function of the module calls itself.

        Args:
            purpose: the participle that the error message uses, such as "flattened".
            failure: the class of the error.

        Raises:
            PassError: a function is recursive; or another error, as `failure` says.
        """
        if self._cycle:
            first, *others = self._cycle
            name = callee_of(self._cycle[-1])
            notes = [
                note(f"which calls '{callee_of(call)}' here", location_of(call.location))
                for call in others
            ]
            message = f"function '{name}' calls itself: recursive functions can't be {purpose}"
            raise failure(error(message, location_of(first.location), notes))

    def _search(self) -> list[str]:
        finished: list[str] = []
        seen: set[str] = set()
        for root in self.functions:
            if root in seen:
                continue
            seen.add(root)
            # The path to the current function: names, the calls on the path, and calls to follow.
            path: list[tuple[str, ir.Operation | None, Iterator[ir.Operation]]] = [
                (root, None, iter(self.calls[root]))
            ]
            on_path = {root}
            while path:
                name, _, calls = path[-1]
                call = next(calls, None)
                if call is None:
                    path.pop()
                    on_path.remove(name)
                    finished.append(name)
                    continue
                callee = callee_of(call)
                if callee in on_path and not self._cycle:
                    start = [step[0] for step in path].index(callee)
                    self._cycle = [step[1] for step in path[start + 1 :] if step[1] is not None]
                    self._cycle.append(call)
                if callee in self.functions and callee not in seen:
                    seen.add(callee)
                    path.append((callee, call, iter(self.calls[callee])))
                    on_path.add(callee)
        return finished


class FunctionCloner:
    """Copies functions of a module, so that no copy has two calls.

    1. A copy has all attributes of its function, and in `sdy.original_func_name` the name of the
       function that it is a direct or indirect copy of.
    2. Its callees are copied likewise, once for each call. Declarations are not copied.
    3. Copies are appended to the module, callees before callers, and named after the copied
       function by `FreshNames`.

    If `f` calls `g`, a copy of `f` is called `f_1` and calls `g_0`.
    """

    def __init__(self, module: ir.Module):
        self._module = module
        self._functions = {
            symbol_name(function): function
            for function in functions_of(module)
            if has_body(function)
        }
        self._fresh = FreshNames(module)

    def clone(self, name: str) -> str:
        """Copy the function of that name, which must not be recursive; return the copy's name."""
        # The unfinished copies, outermost first: their calls, and the current call.
        begun: list[tuple[str, ir.Operation, Iterator[ir.Operation]]] = [self._begin(name)]
        pending: list[ir.Operation] = []
        while True:
            base, copy, calls = begun[-1]
            call = next((c for c in calls if callee_of(c) in self._functions), None)
            if call is not None:
                pending.append(call)
                begun.append(self._begin(callee_of(call)))
                continue
            begun.pop()
            finished = self._insert(copy, base)
            if not begun:
                return finished
            CallView(pending.pop()).callee = finished

    def _begin(self, name: str) -> tuple[str, ir.Operation, Iterator[ir.Operation]]:
        function = self._functions[name]
        copy = function.clone(ip=False).operation
        context = self._module.context
        original = ir.StringAttr.get(original_name(function), context)
        set_discardable(copy, ORIGINAL_FUNCTION_NAME, original)
        return name, copy, iter(operations_named({"func.call"}, copy))

    def _insert(self, copy: ir.Operation, base: str) -> str:
        name = self._fresh.name(base)
        FunctionView(copy).sym_name = name
        self._module.body.append(copy)
        self._functions[name] = copy
        return name
