# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing the text of attributes: one function per attribute, from a cursor to a plain value.

The text of an attribute is its *body*; where the context does not determine the kind, the body
follows the kind's name: `#sdy.sharding<@m, [{"x"}]>` for a body that starts with `<`, and
`#sdy<axis_ref"x":(2)3>` for the others. Printing is `str` of the value (see `mlir_sdy.model`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from mlir_sdy import model
from mlir_sdy.assembly.source import Cursor
from mlir_sdy.diagnostics import ParseError

T = TypeVar("T")
Read: TypeAlias = Callable[[Cursor], T]
ReadBody = Callable[[Cursor], Any]

_PRIORITY = re.compile(r"p(0|[1-9]\d*)\Z")
_LEADING_ZERO = re.compile(r"p0\d+\Z")
_COMPOUND_FACTORS = re.compile(r"(?:z_[1-9]\d*|[i-z])+\Z", re.ASCII)
_VALID_FACTORS = re.compile(r"(?:z_[1-9]\d*|[i-y]|z(?!_))*", re.ASCII)
_NUMBER_OF_FACTOR = re.compile(r"z_(\d*)", re.ASCII)
_FACTOR = re.compile(r"z_(\d+)|([i-z])", re.ASCII)
_FIRST_FACTOR_LETTER = ord("i")
_LAST_LETTER_FACTOR = 17


# --- Lists ----------------------------------------------------------------------------------


def list_of(
    cursor: Cursor, opening: str, read: Callable[[Cursor], T], closing: str
) -> tuple[T, ...]:
    """Read a comma-separated list in brackets, possibly empty."""
    cursor.token(opening)
    if cursor.try_token(closing):
        return ()
    items = [read(cursor)]
    while cursor.try_token(","):
        items.append(read(cursor))
    cursor.token(closing)
    return tuple(items)


def non_empty_list(
    cursor: Cursor, opening: str, read: Callable[[Cursor], T], closing: str, what: str
) -> tuple[T, ...]:
    """Read a comma-separated list in brackets with at least one element."""
    items = list_of(cursor, opening, read, closing)
    if not items:
        cursor.position -= len(closing)
        raise cursor.error(f"expected {what}")
    return items


def followed_by(error: ParseError, *consequences: str) -> ParseError:
    """Return a parse error with the errors that C++ Shardy reports after it."""
    first, *others = error.diagnostics
    first = replace(first, consequences=(*first.consequences, *consequences))
    return ParseError(first, *others)


def parameter(read: Callable[[Cursor], T], attribute: str, name: str, kind: str) -> Read[T]:
    """Return a reader of the parameter of an attribute, with what C++ Shardy says if it fails."""
    message = f"failed to parse {attribute} parameter '{name}' which is to be a `{kind}`"

    def read_parameter(cursor: Cursor) -> T:
        try:
            return read(cursor)
        except ParseError as error:
            raise followed_by(error, message) from None

    return read_parameter


def _integer(attribute: str, name: str, what: str) -> Read[int]:
    return parameter(lambda cursor: cursor.integer(what), attribute, name, "int64_t")


def _string(attribute: str, name: str, what: str) -> Read[str]:
    return parameter(lambda cursor: cursor.string(what), attribute, name, "::llvm::StringRef")


def _listed(
    opening: str, read: Callable[[Cursor], T], closing: str, attribute: str, name: str, kind: str
) -> Read[tuple[T, ...]]:
    """Return a reader of a parameter that is a list in brackets."""

    def read_list(cursor: Cursor) -> tuple[T, ...]:
        return list_of(cursor, opening, read, closing)

    return parameter(read_list, attribute, name, f"::llvm::ArrayRef<{kind}>")


# --- Full forms -----------------------------------------------------------------------------


def read_full_attribute(cursor: Cursor) -> tuple[str, Any]:
    """Read `#sdy.NAME<...>` or `#sdy<NAME...>`: the attribute's name and its value."""
    cursor.token("#sdy")
    if cursor.text.startswith("<", cursor.position):
        cursor.position += 1
        mnemonic = _glued_mnemonic(cursor)
        value = _read_body(cursor, mnemonic)
        cursor.token(">")
        return str(mnemonic), value
    cursor.token(".")
    start = cursor.position
    mnemonic = cursor.try_word()
    value = _read_body(cursor, mnemonic)
    if mnemonic in _GLUED:
        raise cursor.source.error(
            f"'{mnemonic}' is written '#sdy<{mnemonic}...>', with the name inside the brackets",
            start,
        )
    return str(mnemonic), value


def _read_full_or_alias(cursor: Cursor) -> tuple[str, Any]:
    if cursor.text.startswith(("#sdy.", "#sdy<"), cursor.position):
        return read_full_attribute(cursor)
    return _read_full_or_alias(cursor.alias())


def _glued_mnemonic(cursor: Cursor) -> str | None:
    """Read the name of an attribute, which a body that begins with a word may follow directly."""
    word = cursor.try_word()
    if word is not None and word not in BODIES:
        for mnemonic in _BEGINNING_WITH_WORD:
            if word.startswith(mnemonic):
                cursor.position -= len(word) - len(mnemonic)
                return mnemonic
    return word


def _read_body(cursor: Cursor, mnemonic: str | None) -> Any:
    if mnemonic is None:
        raise cursor.unexpected("the name of an sdy attribute")
    read = BODIES.get(mnemonic)
    if read is None:
        start = cursor.position - len(mnemonic)
        raise cursor.source.error(f"unknown attribute `{mnemonic}` in dialect `sdy`", start)
    start = cursor.position
    try:
        return read(cursor)
    except model.ModelError as reason:
        cursor.position = start
        raise cursor.error(str(reason)) from None


def or_full(mnemonic: str, read: Callable[[Cursor], T]) -> Callable[[Cursor], T]:
    """Extend a reader of the stripped form to the full form and aliases."""

    def read_either(cursor: Cursor) -> T:
        if not cursor.peek("#"):
            return read(cursor)
        start = cursor.position
        found, value = _read_full_or_alias(cursor)
        if found != mnemonic:
            wrong = f"expected a '{mnemonic}' attribute, found '{found}'"
            raise cursor.source.error(f"invalid kind of attribute specified: {wrong}", start)
        return value

    return read_either


# --- Axes -----------------------------------------------------------------------------------


def read_axis_ref(cursor: Cursor) -> model.AxisRef:
    """Read `"x"` or `"x":(pre)size`."""
    name = _axis_name(cursor)
    if not cursor.try_token(":"):
        return model.AxisRef(name)
    return model.AxisRef(name, _sub_axis_info(cursor))


def read_sub_axis_info(cursor: Cursor) -> model.SubAxisInfo:
    """Read `(pre)size`."""
    cursor.token("(")
    pre_size = _pre_size(cursor)
    cursor.token(")")
    return model.SubAxisInfo(pre_size, _sub_axis_size(cursor))


_axis_name = _string("Sdy_AxisRef", "name", "an axis name")
_sub_axis_info = parameter(read_sub_axis_info, "Sdy_AxisRef", "sub_axis_info", "SubAxisInfoAttr")
_pre_size = _integer("Sdy_SubAxisInfo", "pre_size", "the sub-axis pre-size")
_sub_axis_size = _integer("Sdy_SubAxisInfo", "size", "the sub-axis size")
_axis_ref = or_full("axis_ref", read_axis_ref)
_axes = _listed("{", _axis_ref, "}", "Sdy_AxisRefList", "value", "AxisRefAttr")


def _read_axes_not_empty(cursor: Cursor) -> tuple[model.AxisRef, ...]:
    return non_empty_list(cursor, "{", _axis_ref, "}", "string: at least one axis")


def read_axis_ref_list(cursor: Cursor) -> model.AxisRefList:
    """Read `{"x", "y":(1)2}`."""
    return model.AxisRefList(_axes(cursor))


def read_list_of_axis_ref_lists(cursor: Cursor) -> model.ListOfAxisRefLists:
    """Read `[{"x"}, {}]`."""
    return model.ListOfAxisRefLists(_axis_ref_lists(cursor))


_axis_ref_lists = _listed(
    "[",
    or_full("axis_ref_list", read_axis_ref_list),
    "]",
    "Sdy_ListOfAxisRefLists",
    "value",
    "AxisRefListAttr",
)


def read_manual_axes(cursor: Cursor) -> model.ManualAxes:
    """Read `{"x", "y"}`: full axes only."""
    return model.ManualAxes(_manual_axes(cursor))


_manual_axes = _listed(
    "{", lambda c: c.string("an axis name"), "}", "Sdy_ManualAxes", "value", "StringAttr"
)


# --- Meshes ---------------------------------------------------------------------------------


def read_mesh_axis(cursor: Cursor) -> model.MeshAxis:
    """Read `"x"=4`."""
    cursor.skip_blank()
    start = cursor.position
    name = _mesh_axis_name(cursor)
    cursor.token("=")
    size = _mesh_axis_size(cursor)
    try:
        return model.MeshAxis(name, size)
    except model.ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


def read_mesh(cursor: Cursor) -> model.Mesh:
    """Read `<["x"=4, "y"=2], device_ids=[...]>`."""
    cursor.skip_blank()
    start = cursor.position
    cursor.token("<")
    axes = _mesh_axes(cursor)
    device_ids: tuple[int, ...] = ()
    if cursor.try_token(","):
        cursor.keyword("device_ids")
        cursor.token("=")
        device_ids = _device_ids(cursor)
    cursor.token(">")
    try:
        return model.Mesh(axes, device_ids)
    except model.ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


def _read_device_ids(cursor: Cursor) -> tuple[int, ...]:
    what = "integer value: at least one device id"
    return non_empty_list(cursor, "[", lambda c: c.integer("a device id"), "]", what)


_mesh_axis_name = _string("Sdy_MeshAxis", "name", "an axis name")
_mesh_axis_size = _integer("Sdy_MeshAxis", "size", "the axis size")
_mesh_axes = _listed(
    "[", or_full("mesh_axis", read_mesh_axis), "]", "Sdy_Mesh", "axes", "MeshAxisAttr"
)
_device_ids = parameter(_read_device_ids, "Sdy_Mesh", "device_ids", "::llvm::ArrayRef<int64_t>")


# --- Shardings ------------------------------------------------------------------------------


def read_dimension_sharding(cursor: Cursor) -> model.DimensionSharding:
    """Read `{"x", ?}p1`: axes, `?` when open, and a priority."""
    cursor.token("{")
    axes: list[model.AxisRef] = []
    is_open = False
    if not cursor.try_token("}"):
        while True:
            if cursor.try_token("?"):
                is_open = True
                break
            axes.append(read_axis_ref(cursor))
            if not cursor.try_token(","):
                if not cursor.peek("}"):
                    raise cursor.unexpected("',' or '}'")
                break
        cursor.token("}")
    return model.DimensionSharding(tuple(axes), not is_open, _read_priority(cursor))


def _read_priority(cursor: Cursor) -> int | None:
    cursor.skip_blank()
    start = cursor.position
    word = cursor.try_identifier()
    if word is None:
        return None
    match = _PRIORITY.match(word)
    if match is None:
        fault = "expecting priority in format 'p<number>'"
        if _LEADING_ZERO.match(word):
            fault = "priorities with leading zeros are not allowed"
        raise cursor.source.error(f"{fault}, got: {word}", start)
    priority = int(match[1])
    if priority >= 2**63:
        message = f"expecting integer priority, got: {word}, which doesn't fit in 64 bits"
        raise cursor.source.error(message, start)
    return priority


def read_sharding(cursor: Cursor) -> model.TensorSharding:
    """Read `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced=max{"z"}>`."""
    cursor.token("<")
    mesh_or_ref = _read_mesh_or_name(cursor)
    cursor.token(",")
    dim_shardings = _dim_shardings(cursor)
    named: dict[str, tuple[model.AxisRef, ...]] = {}
    reduction = model.ReductionOp.SUM
    while cursor.try_token(","):
        cursor.skip_blank()
        start = cursor.position
        clause = cursor.try_word()
        if clause not in ("replicated", "unreduced"):
            cursor.position = start
            raise _not_valid(cursor.unexpected("'replicated' or 'unreduced'"))
        if clause in named:
            raise _not_valid(cursor.source.error(f"'{clause}' is given twice", start))
        try:
            if clause == "replicated":
                cursor.token("=")
            elif cursor.try_token("="):
                reduction = read_reduction(cursor)
            named[clause] = _read_named_axes(cursor)
        except ParseError as error:
            failure = f"failed to parse Sdy_TensorSharding parameter '{clause}_axes'"
            raise followed_by(error, failure) from None
    cursor.token(">")
    return model.TensorSharding(
        mesh_or_ref,
        dim_shardings,
        named.get("replicated", ()),
        named.get("unreduced", ()),
        reduction,
    )


_dim_shardings = _listed(
    "[",
    or_full("dimension_sharding", read_dimension_sharding),
    "]",
    "Sdy_TensorSharding",
    "dim_shardings",
    "DimensionShardingAttr",
)


def _read_mesh_or_name(cursor: Cursor) -> model.Mesh | str:
    if cursor.try_keyword("mesh"):
        try:
            return read_mesh(cursor)
        except ParseError as error:
            raise followed_by(error, "failed to parse MeshAttr") from None
    try:
        return cursor.symbol("a mesh")
    except ParseError as error:
        kind, (reason,) = "invalid kind of attribute specified", error.diagnostics
        message = reason.message if reason.message.startswith(kind) else f"{kind}: {reason.message}"
        failure = "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>"
        wrong = ParseError(replace(reason, message=message))
        raise followed_by(wrong, failure) from None


def _read_named_axes(cursor: Cursor) -> tuple[model.AxisRef, ...]:
    try:
        return _read_axes_not_empty(cursor)
    except ParseError as error:
        failure = "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`"
        raise followed_by(error, failure) from None


def _not_valid(error: ParseError) -> ParseError:
    """Return the error of C++ Shardy for what follows a comma in a sharding, with the reason."""
    (reason,) = error.diagnostics
    message = "failed to parse Sdy_TensorSharding, expected valid named axis list after comma"
    return ParseError(replace(reason, message=f"{message}: {reason.message}"))


def read_reduction(cursor: Cursor) -> model.ReductionOp:
    """Read `sum`, `max`, `min` or nothing, which means sum."""
    cursor.skip_blank()
    start = cursor.position
    word = cursor.try_word()
    if word is None:
        return model.ReductionOp.SUM
    for reduction in model.ReductionOp:
        if str(reduction) == word:
            return reduction
    cursor.position = start
    raise cursor.unexpected("'{' after 'sum', 'max', 'min' or nothing")


def read_stripped_sharding_per_value(cursor: Cursor) -> model.TensorShardingPerValue:
    """Read `[<@mesh, [{"x"}]>, <@mesh, []>]`."""
    return model.TensorShardingPerValue(_shardings(cursor))


_shardings = _listed(
    "[",
    or_full("sharding", read_sharding),
    "]",
    "Sdy_TensorShardingPerValue",
    "shardings",
    "TensorShardingAttr",
)


def read_sharding_per_value(cursor: Cursor) -> model.TensorShardingPerValue:
    """Read `<[<@mesh, [{"x"}]>, <@mesh, []>]>`."""
    cursor.token("<")
    value = read_stripped_sharding_per_value(cursor)
    cursor.token(">")
    return value


# --- Rules ----------------------------------------------------------------------------------


def _read_factors(cursor: Cursor) -> tuple[int, ...]:
    """Read adjacent factors, such as `ij` or `zz_1`, possibly none."""
    cursor.skip_blank()
    start = cursor.position
    token = cursor.try_word()
    if token is None:
        return ()
    if not _COMPOUND_FACTORS.match(token):
        raise cursor.source.error(_wrong_factor(token), start)
    factors = tuple(
        _LAST_LETTER_FACTOR + int(number) if number else ord(letter) - _FIRST_FACTOR_LETTER
        for number, letter in _FACTOR.findall(token)
    )
    if max(factors) >= 2**63:
        number = max(factors) - _LAST_LETTER_FACTOR
        raise cursor.source.error(f"expecting symbol index <=2^63-1. Received: '{number}'", start)
    return factors


def _wrong_factor(token: str) -> str:
    """Return the message for the first wrong factor of adjacent ones."""
    valid = _VALID_FACTORS.match(token)
    rest = token[valid.end() if valid else 0 :]
    number = _NUMBER_OF_FACTOR.match(rest)
    if number is None:
        return f"expecting symbol from 'i' to 'z'. Received: '{rest[:1]}'"
    if not number[1]:
        return f"expecting integer after 'z_'. Received: '{rest}'"
    return f"expecting positive integer without leading zeros. Received: '{number[1]}'"


def _read_some_factors(cursor: Cursor) -> tuple[int, ...]:
    factors = _read_factors(cursor)
    if not factors:
        raise cursor.unexpected("valid keyword: a factor")
    return factors


def read_dim_mapping(cursor: Cursor) -> model.DimMapping:
    """Read the factors of a dimension, major to minor."""
    return model.DimMapping(_read_factors(cursor))


def read_tensor_mapping(cursor: Cursor) -> model.TensorMapping:
    """Read `[i, jk]`."""
    return model.TensorMapping(_dim_mappings(cursor))


_dim_mappings = _listed(
    "[", read_dim_mapping, "]", "Sdy_TensorMapping", "dim_mappings", "DimMappingAttr"
)


def _mappings(what: str) -> Read[tuple[model.TensorMapping, ...]]:
    """Return a reader of the mappings of the operands, or of the results."""
    read_mapping = or_full("tensor_mapping", read_tensor_mapping)
    missing = f"'[': at least one mapping of the {what}s"

    def read_mappings(cursor: Cursor) -> tuple[model.TensorMapping, ...]:
        return non_empty_list(cursor, "(", read_mapping, ")", missing)

    kind = "::llvm::ArrayRef<TensorMappingAttr>"
    return parameter(read_mappings, "Sdy_OpShardingRule", f"{what}_mappings", kind)


_operand_mappings, _result_mappings = _mappings("operand"), _mappings("result")


def _read_factor_sizes(cursor: Cursor) -> tuple[int, ...]:
    """Read `{i=2, j=3}`: the sizes of factors 0, 1, ... without a gap."""
    sizes: list[int] = []

    def read_size(inner: Cursor) -> None:
        inner.skip_blank()
        start = inner.position
        factor, *others = _read_some_factors(inner)
        if others:
            names = "".join(map(model.factor_name, others))
            raise inner.source.error(f"expecting single factor symbol: {names}", start)
        if factor != len(sizes):
            raise inner.source.error(
                "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, "
                f"...}}). Expecting factor index symbol '{model.factor_name(len(sizes))}', "
                f"received: '{model.factor_name(factor)}'",
                start,
            )
        inner.token("=")
        sizes.append(inner.integer("the factor size"))

    if cursor.peek("{"):
        list_of(cursor, "{", read_size, "}")
    return tuple(sizes)


def _read_factor_clause(cursor: Cursor, keyword: str) -> tuple[int, ...]:
    if not cursor.try_keyword(keyword):
        return ()
    cursor.token("=")
    if not cursor.peek("{"):
        return ()
    # Shardy keeps the first of adjacent factors in such a list.
    return list_of(cursor, "{", lambda inner: _read_some_factors(inner)[0], "}")


def read_op_sharding_rule(cursor: Cursor) -> model.OpShardingRule:
    """Read `<([i, j], [j, k])->([i, k]) {i=2, j=3, k=5} reduction={j}, custom>`."""
    cursor.token("<")
    operands = _operand_mappings(cursor)
    cursor.token("->")
    results = _result_mappings(cursor)
    sizes = _read_factor_sizes(cursor)
    clauses = [
        _read_factor_clause(cursor, keyword)
        for keyword in ("reduction", "need_replication", "permutation", "blocked_propagation")
    ]
    is_custom = cursor.try_token(",")
    if is_custom:
        cursor.keyword("custom")
    cursor.token(">")
    return model.OpShardingRule(sizes, operands, results, *clauses, is_custom_rule=is_custom)


# --- All-to-all -----------------------------------------------------------------------------


def read_all_to_all_param(cursor: Cursor) -> model.AllToAllParam:
    """Read `{"x"}: 0->2`."""
    axes = _read_axes_not_empty(cursor)
    cursor.token(":")
    source = cursor.integer("the source dimension")
    cursor.token("->")
    return model.AllToAllParam(axes, source, cursor.integer("the target dimension"))


def read_all_to_all_param_list(cursor: Cursor) -> model.AllToAllParamList:
    """Read `[{"x"}: 0->2, {"y"}: 1->3]`."""
    return model.AllToAllParamList(_all_to_all_params(cursor))


_all_to_all_params = _listed(
    "[",
    or_full("all_to_all_param", read_all_to_all_param),
    "]",
    "Sdy_AllToAllParamList",
    "value",
    "AllToAllParamAttr",
)


# --- Propagation edges ----------------------------------------------------------------------


def read_edge_value_ref(cursor: Cursor) -> model.EdgeValueRef:
    """Read `operand-0` or `result-1`."""
    for kind in model.EdgeNodeType:
        if cursor.try_keyword(str(kind)):
            cursor.token("-")
            return model.EdgeValueRef(kind, cursor.integer("the index of the value"))
    raise cursor.unexpected("::mlir::sdy::EdgeNodeType to be one of: operand, result")


_propagated_axis = parameter(
    read_axis_ref, "Sdy_AxisToPropagationDetails", "axis_name", "::mlir::sdy::AxisRefAttr"
)


def read_axis_to_propagation_details(cursor: Cursor) -> model.AxisToPropagationDetails:
    """Read `{"x" = operand-1 -> [operand-0, result-0]}`."""
    cursor.token("{")
    axis = _propagated_axis(cursor)
    cursor.token("=")
    source = read_edge_value_ref(cursor)
    cursor.token("->")
    targets = non_empty_list(
        cursor, "[", read_edge_value_ref, "]", "valid keyword or string: at least one target"
    )
    cursor.token("}")
    return model.AxisToPropagationDetails(axis, source, targets)


def _read_axis_entries(cursor: Cursor) -> tuple[model.AxisToPropagationDetails, ...]:
    what = "'{': at least one axis entry"
    return non_empty_list(cursor, "[", read_axis_to_propagation_details, "]", what)


_axis_entries = parameter(
    _read_axis_entries,
    "Sdy_PropagationOneStep",
    "axis_entries",
    "::llvm::ArrayRef<AxisToPropagationDetailsAttr>",
)


def read_propagation_one_step(cursor: Cursor) -> model.PropagationOneStep:
    """Read `{step-2 = [{"x" = operand-1 -> [result-0]}]}`."""
    cursor.token("{")
    cursor.keyword("step")
    cursor.token("-")
    step = cursor.integer("the step index")
    cursor.token("=")
    entries = _axis_entries(cursor)
    cursor.token("}")
    return model.PropagationOneStep(step, entries)


_propagation_steps = _listed(
    "[",
    read_propagation_one_step,
    "]",
    "Sdy_PropagationEdges",
    "value",
    "PropagationOneStepAttr",
)


def read_propagation_edges(cursor: Cursor) -> model.PropagationEdges:
    """Read `<[{step-0 = [...]}, {step-2 = [...]}]>`."""
    cursor.skip_blank()
    start = cursor.position
    cursor.token("<")
    steps = _propagation_steps(cursor)
    cursor.token(">")
    try:
        return model.PropagationEdges(steps)
    except model.ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


BODIES: dict[str, ReadBody] = {
    "all_to_all_param": read_all_to_all_param,
    "all_to_all_param_list": read_all_to_all_param_list,
    "axis_ref": read_axis_ref,
    "axis_ref_list": read_axis_ref_list,
    "axis_to_propagation_details": read_axis_to_propagation_details,
    "dim_mapping": read_dim_mapping,
    "dimension_sharding": read_dimension_sharding,
    "edge_value_ref": read_edge_value_ref,
    "list_of_axis_ref_lists": read_list_of_axis_ref_lists,
    "manual_axes": read_manual_axes,
    "mesh": read_mesh,
    "mesh_axis": read_mesh_axis,
    "op_sharding_rule": read_op_sharding_rule,
    "propagation_edges": read_propagation_edges,
    "propagation_one_step": read_propagation_one_step,
    "sharding": read_sharding,
    "sharding_per_value": read_sharding_per_value,
    "sub_axis_info": read_sub_axis_info,
    "tensor_mapping": read_tensor_mapping,
}
"""The reader of each attribute's body, by the attribute's name."""

BRACKETED = frozenset(
    ("mesh", "sharding", "sharding_per_value", "op_sharding_rule", "propagation_edges")
)
"""The attributes whose body starts with `<`, so that it follows the name directly."""

_GLUED = frozenset(BODIES) - BRACKETED
_BEGINNING_WITH_WORD = ("dim_mapping", "edge_value_ref")


def read_stripped(mnemonic: str) -> ReadBody:
    """Return the reader of the attribute's body that accepts the full form as well."""
    return or_full(mnemonic, BODIES[mnemonic])


def full_text(mnemonic: str, value: Any) -> str:
    """Return the full form of an attribute, with its dialect and name."""
    return f"#sdy.{mnemonic}{value}" if mnemonic in BRACKETED else f"#sdy<{mnemonic}{value}>"
