# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that mark the memory, the layouts and the donations of the values of fragments."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlir_sdy.diagnostics import Diagnostic, PassError, error, note
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    FRAGMENT,
    RESERVED_BYTES,
    RESULT_ATTRIBUTES,
    TRANSFER,
    body_of,
    mesh_name_of,
    mesh_type,
    producer,
    returned_values,
    users_of,
)
from mlir_sdy.mpmd.values import PINNED_HOST
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import is_used
from mlir_sdy.values import set_argument_attributes, set_result_attributes
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    entry_points,
    mpmd_functions,
    result_attributes,
    top_level_operations,
)
from pyshardy.mpmd.rewriting.marks import (
    ALIASES,
    DONATED,
    LAYOUT_MODE,
    is_on_device,
    is_on_host,
    last_users,
    mark_values,
    shard_bytes,
    topology,
)
from pyshardy.mpmd.rewriting.regions import with_values
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass

_KIND = "mhlo.memory_kind"
_NO_ATTRIBUTE = "<<NULL ATTRIBUTE>>"
"""The form of a missing attribute, as MLIR prints it."""


@register_pass("mpmd-mark-offloaded-input-output", release="0.10.2")
def mark_offloaded_input_output(module: ir.Module) -> None:
    """Mark operands and results of fragments in the memory of the host by `mhlo.memory_kind`.

    A value is in that memory if its type says so; if it is an argument of the function with the
    attribute; or if the fragment returns it from an annotation, a custom call of
    `annotate_device_placement`, or writes such a value into it by `dynamic_update_slice`. The
    attributes of the results of a function must say the same of what it returns.
    """
    for function in entry_points(module):
        on_host = set(_arguments_on_host(function))
        for fragment in operations_named({FRAGMENT}, function):
            for result, value in zip(fragment.results, returned_values(fragment), strict=True):
                if _is_annotated(value):
                    on_host.add(result)
            _mark_host(fragment, ARGUMENT_ATTRIBUTES, fragment.operands, on_host)
            _mark_host(fragment, RESULT_ATTRIBUTES, fragment.results, on_host)
        _check_results(function, on_host)


def _arguments_on_host(function: ir.Operation) -> Iterable[ir.Value]:
    attributes = argument_attributes(function)
    for argument, given in zip(body_of(function).arguments, attributes, strict=True):
        if _is_host(given.get(_KIND)):
            yield argument


def _is_annotated(value: ir.Value) -> bool:
    update = producer(value, "stablehlo.dynamic_update_slice")
    call = producer(value if update is None else update.operands[1], "stablehlo.custom_call")
    if call is None or target_of(call) != "annotate_device_placement":
        return False
    attributes = get_discardable(call, "mhlo.frontend_attributes") or ()
    return any(each.name == "_xla_buffer_placement" and _is_host(each.attr) for each in attributes)


def _is_host(kind: Any) -> bool:
    return isinstance(kind, ir.StringAttr) and kind.value == PINNED_HOST


def _mark_host(
    fragment: ir.Operation, name: str, values: Iterable[ir.Value], on_host: set[ir.Value]
) -> None:
    kind = ir.StringAttr.get(PINNED_HOST, fragment.context)
    marks = [{_KIND: kind} if is_on_host(each) or each in on_host else {} for each in values]
    mark_values(fragment, name, marks)


def _check_results(function: ir.Operation, on_host: set[ir.Value]) -> None:
    attributes, errors = result_attributes(function), list[Diagnostic]()
    for index, value in enumerate(returned_values(function)):
        says_host = _is_host(attributes[index].get(_KIND))
        if is_on_host(value) or says_host == (value in on_host):
            continue
        declared, actual = (f'"{PINNED_HOST}"', _NO_ATTRIBUTE)[:: 1 if says_host else -1]
        remedy = f"set '{_KIND}' of the result, or move the value in a fragment"
        place = terminator_of(body_of(function)).location
        if isinstance(value, ir.BlockArgument):
            kinds = {
                _is_host(attributes[use.operand_number].get(_KIND))
                if use.owner.operation.name == "func.return"
                else value in on_host
                for use in value.uses
            }
            whiches = [f"arg {value.arg_number} and users: {actual} vs {declared}"]
            if len(kinds) > 1:
                whiches.insert(0, f"users of arg {value.arg_number}: {declared} vs {actual}")
            for which in whiches:
                message = f"Memory kind mismatch between {which}; {remedy}"
                errors.append(error(message, location_of(value.location)))
        which = f"result {index} and defining op: {declared} vs {actual}"
        message = f"Memory kind mismatch between {which}; {remedy}"
        errors.append(error(message, location_of(place)))
    if errors:
        raise PassError(*errors)


_AUTO = "auto"
_DEFAULT = "default"


# The layout of a value is the text of the attribute, or empty for the default one. An argument has
# the layout that the function states, a result of a fragment that of the results of the function it
# is returned as, and the result of a transfer that of its operand.


@register_pass("mpmd-mark-input-output-with-layouts", release="0.10.2")
def mark_input_output_with_layouts(module: ir.Module) -> None:
    """Mark operands and results of fragments by the layouts of the program's inputs and outputs.

    A layout is the attribute `mhlo.layout_mode`: minor to major dimensions as in `{0,1}`, `auto`
    for the compiler's choice, or `default`, which means the same as no attribute. A value that is
    several inputs or outputs has one layout: `auto` follows the others, and two others that
    differ are an error. Each operation would choose its own layout for `auto`; the default
    replaces it for an input that several operands take, and for an output that any operand takes,
    returned values aside. A transfer keeps the layout, and results of the function get those of
    the values they return.
    """
    for function in entry_points(module):
        layouts = _agreed_layouts(function)
        for operation in top_level_operations(function):
            if operation.name == TRANSFER:
                layouts[operation.results[0]] = layouts.get(operation.operands[0], "")
            elif operation.name == FRAGMENT:
                _mark_layouts(operation, ARGUMENT_ATTRIBUTES, operation.operands, layouts)
                _mark_layouts(operation, RESULT_ATTRIBUTES, operation.results, layouts)
        arguments, results = body_of(function).arguments, returned_values(function)
        set_argument_attributes(function, LAYOUT_MODE, _attributes(arguments, layouts))
        set_result_attributes(function, LAYOUT_MODE, _attributes(results, layouts))


def _agreed_layouts(function: ir.Operation) -> dict[ir.Value, str]:
    """Return the layouts of the arguments, and of what fragments compute."""
    layouts: dict[ir.Value, str] = {}
    stated: dict[ir.Value, str] = {}
    arguments = body_of(function).arguments
    for argument, given in zip(arguments, argument_attributes(function), strict=True):
        if any(argument.uses):
            layouts[argument] = _layout(given)
            stated[argument] = f"Arg #{argument.arg_number}"
    for fragment in operations_named({FRAGMENT}, function):
        layouts.update(dict.fromkeys(fragment.results, _AUTO))
    results = zip(returned_values(function), result_attributes(function), strict=True)
    for index, (value, given) in enumerate(results):
        if value not in layouts:
            continue
        layout, other = _layout(given), layouts[value]
        if _AUTO not in (layout, other) and layout != other:
            texts = [f'"{each}"' if each else _NO_ATTRIBUTE for each in (other, layout)]
            which, place = f"{stated[value]} is returned as result #{index}", function.location
            if not isinstance(value, ir.BlockArgument):
                which = f"Result #{index} is also returned as {stated[value].lower()}"
                texts, place = texts[::-1], terminator_of(body_of(function)).location
            message = (
                f"{which}, but with incompatible layouts: {' vs. '.join(texts)}: state one of "
                f"them, or \"auto\", as '{LAYOUT_MODE}' of both"
            )
            raise PassError(error(message, location_of(place)))
        if other == _AUTO:
            layouts[value] = layout
            stated[value] = f"Result #{index}"
    for value, layout in layouts.items():
        taken = sum(use.owner.operation.name != "func.return" for use in value.uses)
        if layout == _AUTO and taken > isinstance(value, ir.BlockArgument):
            layouts[value] = ""
    return layouts


def _layout(attributes: Mapping[str, Any]) -> str:
    """Return the layout that attributes state, empty for the default."""
    mode = attributes.get(LAYOUT_MODE)
    return "" if mode is None or mode.value == _DEFAULT else mode.value


def _mark_layouts(
    fragment: ir.Operation, name: str, values: Sequence[ir.Value], layouts: Mapping[ir.Value, str]
) -> None:
    if known := _attributes(values, layouts):
        indices = range(len(values))
        marks = [{LAYOUT_MODE: known[each]} if each in known else {} for each in indices]
        mark_values(fragment, name, marks)


def _attributes(
    values: Sequence[ir.Value], layouts: Mapping[ir.Value, str]
) -> dict[int, ir.Attribute | None]:
    """Return the attribute of each value whose layout is known: none for the default."""
    return {
        index: ir.StringAttr.get(layouts[each], each.context) if layouts[each] else None
        for index, each in enumerate(values)
        if each in layouts
    }


_TOKEN = "!stablehlo.token"


@register_pass("mpmd-sink-create-token-into-fragments", release="0.10.2")
def sink_create_token_into_fragments(module: ir.Module) -> None:
    """Create the tokens of fragments inside of them, and return none.

    So effects are ordered within a fragment, but not from one fragment to the next.

    Raises:
        PassError: something other than a fragment uses a token that a fragment returns.
    """
    for function in mpmd_functions(module):
        # The last fragment first, so that no fragment uses the tokens of those before it.
        for fragment in reversed(list(operations_named({FRAGMENT}, function))):
            _sink(fragment)


def _sink(fragment: ir.Operation) -> None:
    body = body_of(fragment)
    operands = [index for index, each in enumerate(fragment.operands) if not _is_token(each)]
    results = [index for index, each in enumerate(fragment.results) if not _is_token(each)]
    for index, result in enumerate(fragment.results):
        if _is_token(result) and (use := next(iter(result.uses), None)) is not None:
            message = f"the token that is result {index} of the fragment is used outside"
            here = note("it is used here", location_of(use.owner.operation.location))
            raise PassError(error(message, location_of(fragment.location), [here]))
    with ir.InsertionPoint.at_block_begin(body), fragment.location:
        for argument in body.arguments:
            if _is_token(argument):
                token = ir.Operation.create("stablehlo.create_token", results=[argument.type])
                argument.replace_all_uses_with(token.results[0])
    with_values(fragment, operands, results)


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == _TOKEN


@register_pass("mpmd-mark-aliasing-and-donation", release="0.10.2")
def mark_aliasing_and_donation(module: ir.Module) -> None:
    """Mark the operands of fragments whose memory the results may take.

    These are operands that nothing uses afterwards, of no transfer, once each. An argument of
    the program is one only if the user gave it away. A result of the same type takes the memory
    (`tf.aliasing_output`) if there is one left; other operands are donated (`jax.buffer_donor`).
    """
    for function in mpmd_functions(module):
        last, given = last_users(function), argument_attributes(function)
        for fragment in operations_named({FRAGMENT}, function):
            marks = _marks(fragment, function, last, given)
            if any(marks):
                mark_values(fragment, ARGUMENT_ATTRIBUTES, marks)


def _marks(
    fragment: ir.Operation,
    function: ir.Operation,
    last: dict[ir.Value, ir.Operation],
    given: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the attributes of each operand of a fragment."""
    free: dict[ir.Type, list[int]] = {}
    for index, each in enumerate(fragment.results):
        if is_on_device(each):
            free.setdefault(each.type, []).append(index)
    marks: list[dict[str, Any]] = [{} for _ in fragment.operands]
    operands = list(fragment.operands)
    for index, (mark, value) in enumerate(zip(marks, operands, strict=True)):
        is_last = last[value] == fragment and value not in operands[index + 1 :]
        if not is_last or mesh_type(value) is None:
            continue
        if any(user.name == TRANSFER for user in users_of(value)):
            continue
        wanted: int | None = None
        takes = free.get(value.type, [])
        if isinstance(value, ir.BlockArgument):
            own = given[value.arg_number]
            if not {ALIASES, DONATED} & own.keys():
                continue
            if ALIASES in own:
                wanted = _result_for(own[ALIASES].value, fragment, function)
            else:
                takes = []
        if takes:
            taken = wanted if wanted in takes else takes[0]
            takes.remove(taken)
            number = ir.IntegerType.get_signless(32, fragment.context)
            mark[ALIASES] = ir.IntegerAttr.get(number, taken)
        else:
            mark[DONATED] = ir.BoolAttr.get(value=True, context=fragment.context)
    return marks


def _result_for(output: int, fragment: ir.Operation, function: ir.Operation) -> int | None:
    """Return the result of a fragment that the function returns as an output, if there is one."""
    value = before_transfers(returned_values(function)[output])
    made = producer(value, FRAGMENT)
    is_made_here = made is not None and made == fragment
    return ir.OpResult(value).result_number if is_made_here else None


@register_pass("mpmd-mark-fragment-reserved-memory", release="0.10.2")
def mark_fragment_reserved_memory(module: ir.Module) -> None:
    """Mark fragments with the bytes that other values of the mesh take while they run.

    Raises:
        PassError: the program has other operations than fragments and transfers.
    """
    for function in mpmd_functions(module):
        _mark_reserved(function)


def _mark_reserved(function: ir.Operation) -> None:
    meshes, last = topology(function), last_users(function)
    live: Counter[str] = Counter()

    @functools.cache
    def bytes_of(found: ir.Type) -> tuple[str, int] | None:
        """Return the mesh of a type and the bytes on a device; None without a mesh."""
        if not isinstance(found, MeshTensorType):
            return None
        return found.mesh_name, shard_bytes(found, meshes)

    def add(value: ir.Value, sign: int = 1) -> None:
        if (found := bytes_of(value.type)) is not None:
            mesh, nbytes = found
            live[mesh] += sign * nbytes

    kept: set[ir.Value] = set()
    given = argument_attributes(function)
    for argument, attributes in zip(body_of(function).arguments, given, strict=True):
        is_donated = DONATED in attributes
        if not is_donated:
            kept.add(argument)
        if is_used(argument) or not is_donated:
            add(argument)
    for operation in top_level_operations(function):
        if operation.name not in (FRAGMENT, TRANSFER):
            expected = "TransferOp, FragmentOp, FragmentCallOp and ReturnOp"
            message = f"Expected only {expected} in the function body. Got '{operation.name}'"
            raise PassError(error(message, location_of(operation.location)))
        operands = set(operation.operands)
        if operation.name == FRAGMENT:
            mesh = mesh_name_of(operation)
            for value in filter(is_on_device, operands):
                add(value, -1)
            number = ir.IntegerType.get_signless(64, function.context)
            set_discardable(operation, RESERVED_BYTES, ir.IntegerAttr.get(number, live[mesh]))
            for value in filter(is_on_device, operands):
                add(value)
        for result in operation.results:
            if is_used(result):
                add(result)
        for value in operands - kept:
            if last[value] == operation:
                add(value, -1)
