# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing the text of attributes: one function per attribute, from a cursor to a plain value.

The text of an attribute is its *body*; where the context does not determine the kind, the body
follows the kind's name: `#sdy.sharding<@m, [{"x"}]>` for a body that starts with `<`, and
`#sdy<axis_ref"x":(2)3>` for the others. Printing is `str` of the value (see `mlir_sdy.model`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from mlir_sdy import model
from mlir_sdy.assembly.source import Cursor

T = TypeVar("T")
ReadBody = Callable[[Cursor], Any]

_PRIORITY = re.compile(r"p(0|[1-9]\d*)\Z")
_COMPOUND_FACTORS = re.compile(r"(?:z_[1-9]\d*|[i-z])+\Z")
_FACTOR = re.compile(r"z_(\d+)|([i-z])")
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
        raise cursor.error(f"expected at least one {what}")
    return items


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
        raise cursor.source.error(f"unknown attribute '{mnemonic}' in dialect 'sdy'", start)
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
            raise cursor.source.error(f"expected a '{mnemonic}' attribute, found '{found}'", start)
        return value

    return read_either


# --- Axes -----------------------------------------------------------------------------------


def read_axis_ref(cursor: Cursor) -> model.AxisRef:
    """Read `"x"` or `"x":(pre)size`."""
    name = cursor.string("an axis name")
    if not cursor.try_token(":"):
        return model.AxisRef(name)
    return model.AxisRef(name, read_sub_axis_info(cursor))


def read_sub_axis_info(cursor: Cursor) -> model.SubAxisInfo:
    """Read `(pre)size`."""
    cursor.token("(")
    pre_size = cursor.integer("the sub-axis pre-size")
    cursor.token(")")
    return model.SubAxisInfo(pre_size, cursor.integer("the sub-axis size"))


def _read_axes(cursor: Cursor) -> tuple[model.AxisRef, ...]:
    return list_of(cursor, "{", or_full("axis_ref", read_axis_ref), "}")


def _read_axes_not_empty(cursor: Cursor) -> tuple[model.AxisRef, ...]:
    return non_empty_list(cursor, "{", or_full("axis_ref", read_axis_ref), "}", "axis")


def read_axis_ref_list(cursor: Cursor) -> model.AxisRefList:
    """Read `{"x", "y":(1)2}`."""
    return model.AxisRefList(_read_axes(cursor))


def read_list_of_axis_ref_lists(cursor: Cursor) -> model.ListOfAxisRefLists:
    """Read `[{"x"}, {}]`."""
    return model.ListOfAxisRefLists(
        list_of(cursor, "[", or_full("axis_ref_list", read_axis_ref_list), "]")
    )


def read_manual_axes(cursor: Cursor) -> model.ManualAxes:
    """Read `{"x", "y"}`: full axes only."""
    return model.ManualAxes(list_of(cursor, "{", lambda c: c.string("an axis name"), "}"))


# --- Meshes ---------------------------------------------------------------------------------


def read_mesh_axis(cursor: Cursor) -> model.MeshAxis:
    """Read `"x"=4`."""
    cursor.skip_blank()
    start = cursor.position
    name = cursor.string("an axis name")
    cursor.token("=")
    size = cursor.integer("the axis size")
    try:
        return model.MeshAxis(name, size)
    except model.ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


def read_mesh(cursor: Cursor) -> model.Mesh:
    """Read `<["x"=4, "y"=2], device_ids=[...]>`."""
    cursor.skip_blank()
    start = cursor.position
    cursor.token("<")
    axes = list_of(cursor, "[", or_full("mesh_axis", read_mesh_axis), "]")
    device_ids: tuple[int, ...] = ()
    if cursor.try_token(","):
        cursor.keyword("device_ids")
        cursor.token("=")
        device_ids = non_empty_list(
            cursor, "[", lambda c: c.integer("a device id"), "]", "device id"
        )
    cursor.token(">")
    try:
        return model.Mesh(axes, device_ids)
    except model.ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


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
        raise cursor.source.error(
            f"expected a priority such as 'p1' (no leading zeros), found '{word}'", start
        )
    priority = int(match[1])
    if priority >= 2**63:
        raise cursor.source.error(f"priority {priority} does not fit in 64 bits", start)
    return priority


def read_sharding(cursor: Cursor) -> model.TensorSharding:
    """Read `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced=max{"z"}>`."""
    cursor.token("<")
    mesh_or_ref = read_mesh(cursor) if cursor.try_keyword("mesh") else cursor.symbol("a mesh")
    cursor.token(",")
    read_dimension = or_full("dimension_sharding", read_dimension_sharding)
    dim_shardings = list_of(cursor, "[", read_dimension, "]")
    named: dict[str, tuple[model.AxisRef, ...]] = {}
    reduction = model.ReductionOp.SUM
    while cursor.try_token(","):
        cursor.skip_blank()
        start = cursor.position
        clause = cursor.try_word()
        if clause not in ("replicated", "unreduced"):
            cursor.position = start
            raise cursor.unexpected("'replicated' or 'unreduced'")
        if clause in named:
            raise cursor.source.error(f"'{clause}' is given twice", start)
        if clause == "replicated":
            cursor.token("=")
        elif cursor.try_token("="):
            reduction = read_reduction(cursor)
        named[clause] = _read_axes_not_empty(cursor)
    cursor.token(">")
    return model.TensorSharding(
        mesh_or_ref,
        dim_shardings,
        named.get("replicated", ()),
        named.get("unreduced", ()),
        reduction,
    )


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
    raise cursor.unexpected("'sum', 'max' or 'min'")


def read_stripped_sharding_per_value(cursor: Cursor) -> model.TensorShardingPerValue:
    """Read `[<@mesh, [{"x"}]>, <@mesh, []>]`."""
    return model.TensorShardingPerValue(
        list_of(cursor, "[", or_full("sharding", read_sharding), "]")
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
        raise cursor.source.error(
            f"expected factors ('i' to 'z', then 'z_1', 'z_2', ...), found '{token}'", start
        )
    return tuple(
        _LAST_LETTER_FACTOR + int(number) if number else ord(letter) - _FIRST_FACTOR_LETTER
        for number, letter in _FACTOR.findall(token)
    )


def _read_some_factors(cursor: Cursor) -> tuple[int, ...]:
    factors = _read_factors(cursor)
    if not factors:
        raise cursor.unexpected("a factor")
    return factors


def read_dim_mapping(cursor: Cursor) -> model.DimMapping:
    """Read the factors of a dimension, major to minor."""
    return model.DimMapping(_read_factors(cursor))


def read_tensor_mapping(cursor: Cursor) -> model.TensorMapping:
    """Read `[i, jk]`."""
    return model.TensorMapping(list_of(cursor, "[", read_dim_mapping, "]"))


def _read_mappings(cursor: Cursor, what: str) -> tuple[model.TensorMapping, ...]:
    read_mapping = or_full("tensor_mapping", read_tensor_mapping)
    return non_empty_list(cursor, "(", read_mapping, ")", f"mapping of the {what}")


def _read_factor_sizes(cursor: Cursor) -> tuple[int, ...]:
    """Read `{i=2, j=3}`: the sizes of factors 0, 1, ... without a gap."""
    sizes: list[int] = []

    def read_size(inner: Cursor) -> None:
        inner.skip_blank()
        start = inner.position
        if _read_some_factors(inner) != (len(sizes),):
            raise inner.source.error(
                f"factor sizes must come in order: expected '{model.factor_name(len(sizes))}'",
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
    operands = _read_mappings(cursor, "operands")
    cursor.token("->")
    results = _read_mappings(cursor, "results")
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
    return model.AllToAllParamList(
        list_of(cursor, "[", or_full("all_to_all_param", read_all_to_all_param), "]")
    )


# --- Propagation edges ----------------------------------------------------------------------


def read_edge_value_ref(cursor: Cursor) -> model.EdgeValueRef:
    """Read `operand-0` or `result-1`."""
    for kind in model.EdgeNodeType:
        if cursor.try_keyword(str(kind)):
            cursor.token("-")
            return model.EdgeValueRef(kind, cursor.integer("the index of the value"))
    raise cursor.unexpected("'operand' or 'result'")


def read_axis_to_propagation_details(cursor: Cursor) -> model.AxisToPropagationDetails:
    """Read `{"x" = operand-1 -> [operand-0, result-0]}`."""
    cursor.token("{")
    axis = read_axis_ref(cursor)
    cursor.token("=")
    source = read_edge_value_ref(cursor)
    cursor.token("->")
    targets = non_empty_list(cursor, "[", read_edge_value_ref, "]", "target")
    cursor.token("}")
    return model.AxisToPropagationDetails(axis, source, targets)


def read_propagation_one_step(cursor: Cursor) -> model.PropagationOneStep:
    """Read `{step-2 = [{"x" = operand-1 -> [result-0]}]}`."""
    cursor.token("{")
    cursor.keyword("step")
    cursor.token("-")
    step = cursor.integer("the step index")
    cursor.token("=")
    entries = non_empty_list(cursor, "[", read_axis_to_propagation_details, "]", "axis entry")
    cursor.token("}")
    return model.PropagationOneStep(step, entries)


def read_propagation_edges(cursor: Cursor) -> model.PropagationEdges:
    """Read `<[{step-0 = [...]}, {step-2 = [...]}]>`."""
    cursor.skip_blank()
    start = cursor.position
    cursor.token("<")
    steps = list_of(cursor, "[", read_propagation_one_step, "]")
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
