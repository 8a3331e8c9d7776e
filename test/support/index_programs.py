# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with operations that count or combine along sharded dimensions.

Each comes with what its devices communicate: the kinds of collectives, and the bytes that each
device puts in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MESHES = {
    "mesh": '<["x"=2, "y"=3]>',
    "row": '<["y"=3]>',
    "shuffled": '<["x"=2, "y"=2], device_ids=[2, 0, 3, 1]>',
    "wide": '<["x"=8]>',
}


@dataclass(frozen=True)
class IndexProgram:
    """A program.

    Attributes:
        body: its operations; the last one makes `%r`.
        arguments: the type of each argument, and its sharding.
        result: the type of `%r`, and its sharding.
        collectives: what is communicated: the kind of a collective and its bytes.
        mesh: the mesh of all shardings.
    """

    body: str
    arguments: dict[str, tuple[str, str]]
    result: tuple[str, str]
    collectives: list[tuple[str, int]] = field(default_factory=list)
    mesh: str = "row"

    @property
    def text(self) -> str:
        """The program as a module."""
        arguments = ", ".join(
            f"%{name}: tensor<{kind}> {self._attribute(dims)}"
            for name, (kind, dims) in self.arguments.items()
        )
        kind, dims = self.result
        return (
            f"sdy.mesh @{self.mesh} = {MESHES[self.mesh]}\n"
            f"func.func @main({arguments}) -> (tensor<{kind}> {self._attribute(dims)}) {{\n"
            f"{self.body}\n  return %r : tensor<{kind}>\n}}"
        )

    def _attribute(self, dims: str) -> str:
        return f"{{sdy.sharding = #sdy.sharding<@{self.mesh}, [{dims}]>}}"


def region(operation: str, element: str = "f32") -> str:
    scalar = f"tensor<{element}>"
    return (
        f"({{ ^bb0(%p: {scalar}, %q: {scalar}): %s = stablehlo.{operation} %p, %q : {scalar} "
        f"stablehlo.return %s : {scalar} }})"
    )


REPLACE = "({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): stablehlo.return %q : tensor<f32> })"


def look_up(table: str, indices: str, result: str) -> str:
    """Rows of a table."""
    columns = table.split("x")[1]
    offset_dim = len(result.split("x")) - 2
    return (
        '  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<'
        f"offset_dims = [{offset_dim}], collapsed_slice_dims = [0], start_index_map = [0], "
        f"index_vector_dim = 1>, slice_sizes = array<i64: 1, {columns}>}} : "
        f"(tensor<{table}>, tensor<{indices}>) -> tensor<{result}>"
    )


def scatter_rows(
    table: str,
    indices: str,
    updates: str,
    body: str,
    table_name: str = "table",
) -> str:
    """Rows of updates into those of a table."""
    window_dim = len(updates.split("x")) - 2
    return (
        f'  %r = "stablehlo.scatter"(%{table_name}, %indices, %updates) {body} '
        f"{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{window_dim}], "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
        f"index_vector_dim = 1>}} : (tensor<{table}>, tensor<{indices}>, "
        f"tensor<{updates}>) -> tensor<{table}>"
    )


def sharded(name: str, kind: str) -> str:
    """A value that is sharded along its first dimension, even or not, as an argument can't be."""
    return (
        f'  %{name} = sdy.sharding_constraint %whole_{name} <@row, [{{"y"}}, {{}}]> '
        f": tensor<{kind}>\n"
    )


GATHERS = {
    "embedding sharded over the vocabulary": IndexProgram(
        look_up("12x4xf32", "5xi32", "5x4xf32"),
        {"table": ("12x4xf32", '{"y"}, {}'), "indices": ("5xi32", "{}")},
        ("5x4xf32", "{}, {}"),
        [("all_reduce", 80)],
    ),
    "embedding of an uneven vocabulary": IndexProgram(
        sharded("table", "11x4xf32") + look_up("11x4xf32", "5x1xi64", "5x4xf32"),
        {"whole_table": ("11x4xf32", "{}, {}"), "indices": ("5x1xi64", "{}, {}")},
        ("5x4xf32", "{}, {}"),
        [("all_reduce", 80)],
    ),
    "embedding of tokens sharded along another axis": IndexProgram(
        look_up("12x4xf32", "6xi32", "6x4xf32"),
        {"table": ("12x4xf32", '{"y"}, {}'), "indices": ("6xi32", '{"x"}')},
        ("6x4xf32", '{"x"}, {}'),
        [("all_reduce", 48)],
        mesh="mesh",
    ),
    "embedding that is scattered again": IndexProgram(
        look_up("12x4xf32", "6xi32", "6x4xf32"),
        {"table": ("12x4xf32", '{"y"}, {}'), "indices": ("6xi32", "{}")},
        ("6x4xf32", '{"y"}, {}'),
        [("reduce_scatter", 96)],
    ),
    "embedding sharded over the features": IndexProgram(
        look_up("12x6xf32", "5xi32", "5x6xf32"),
        {"table": ("12x6xf32", '{}, {"y"}'), "indices": ("5xi32", "{}")},
        ("5x6xf32", '{}, {"y"}'),
    ),
    **{
        f"indices of type {element}": IndexProgram(
            look_up("12x4xf32", f"5x{element}", "5x4xf32"),
            {"table": ("12x4xf32", '{"y"}, {}'), "indices": (f"5x{element}", "{}")},
            ("5x4xf32", "{}, {}"),
            [("all_reduce", 80)],
        )
        for element in ("i8", "ui8", "i16", "ui32", "i64", "ui64")
    },
    "a table larger than its indices can count": IndexProgram(
        look_up("300x2xf32", "5xi8", "5x2xf32"),
        {"table": ("300x2xf32", '{"y"}, {}'), "indices": ("5xi8", "{}")},
        ("5x2xf32", "{}, {}"),
        [("all_reduce", 40)],
    ),
    "two dimensions, index vectors in front": IndexProgram(
        """  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<
      offset_dims = [0], collapsed_slice_dims = [0, 2], start_index_map = [2, 0],
      index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 1>}
      : (tensor<6x4x8xf32>, tensor<2x5xi32>) -> tensor<4x5xf32>""",
        {"table": ("6x4x8xf32", '{"y"}, {}, {"x"}'), "indices": ("2x5xi32", "{}, {}")},
        ("4x5xf32", "{}, {}"),
        [("all_reduce", 80)],
        mesh="mesh",
    ),
    "a window of one element, and a dimension without an index": IndexProgram(
        """  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}
      : (tensor<6x8xf32>, tensor<5x1xi32>) -> tensor<5x1xf32>""",
        {"table": ("6x8xf32", '{"y"}, {"x"}'), "indices": ("5x1xi32", "{}, {}")},
        ("5x1xf32", "{}, {}"),
        [("all_reduce", 20)],
        mesh="mesh",
    ),
    "windows of several elements beside it": IndexProgram(
        """  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}
      : (tensor<6x8xf32>, tensor<5x2xi32>) -> tensor<5x3xf32>""",
        {"table": ("6x8xf32", '{"y"}, {}'), "indices": ("5x2xi32", "{}, {}")},
        ("5x3xf32", "{}, {}"),
        [("all_reduce", 60)],
    ),
    "windows as large as a sharded dimension beside it": IndexProgram(
        """  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}
      : (tensor<24x8xf32>, tensor<5x2xui32>) -> tensor<5x8xf32>""",
        {"table": ("24x8xf32", '{"y"}, {"x"}'), "indices": ("5x2xui32", "{}, {}")},
        ("5x8xf32", '{}, {"x"}'),
        [("all_reduce", 80)],
        mesh="mesh",
    ),
    "batches": IndexProgram(
        """  %r = "stablehlo.gather"(%table, %indices) {dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1],
      index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}
      : (tensor<6x7x4xf32>, tensor<6x5x1xi32>) -> tensor<6x5x4xf32>""",
        {"table": ("6x7x4xf32", '{"y"}, {}, {"x"}'), "indices": ("6x5x1xi32", '{"y"}, {}, {}')},
        ("6x5x4xf32", '{"y"}, {}, {"x"}'),
        mesh="mesh",
    ),
    "truth values": IndexProgram(
        look_up("12x4xi1", "5xi32", "5x4xi1"),
        {"table": ("12x4xi1", '{"y"}, {}'), "indices": ("5xi32", "{}")},
        ("5x4xi1", "{}, {}"),
        [("all_reduce", 20)],
    ),
    "devices in another order": IndexProgram(
        look_up("12x4xf32", "5xi32", "5x4xf32"),
        {"table": ("12x4xf32", '{"y", "x"}, {}'), "indices": ("5xi32", "{}")},
        ("5x4xf32", "{}, {}"),
        [("all_reduce", 80)],
        "shuffled",
    ),
    "parts of an axis": IndexProgram(
        look_up("12x4xf32", "5xi32", "5x4xf32"),
        {"table": ("12x4xf32", '{"x":(2)2}, {"x":(4)2}'), "indices": ("5xi32", "{}")},
        ("5x4xf32", '{}, {"x":(4)2}'),
        [("all_reduce", 40)],
        "wide",
    ),
}

_ROWS = {
    "table": ("12x4xf32", '{"y"}, {}'),
    "indices": ("5xi32", "{}"),
    "updates": ("5x4xf32", "{}, {}"),
}
_UPDATES = {name: _ROWS[name] for name in ("indices", "updates")}
_BATCHES = {
    "table": ("6x4xf32", "{}, {}"),
    "indices": ("30xi32", '{"y"}'),
    "updates": ("30x4xf32", '{"y"}, {}'),
}

SCATTERS = {
    **{
        f"{body} into shards": IndexProgram(
            scatter_rows("12x4xf32", "5xi32", "5x4xf32", region(body)),
            _ROWS,
            ("12x4xf32", '{"y"}, {}'),
        )
        for body in ("add", "maximum", "multiply")
    },
    "replacement in shards": IndexProgram(
        scatter_rows("12x4xf32", "5x1xui8", "5x4xf32", REPLACE),
        {**_ROWS, "indices": ("5x1xui8", "{}, {}")},
        ("12x4xf32", '{"y"}, {}'),
    ),
    "into an uneven table": IndexProgram(
        sharded("table", "11x4xf32") + scatter_rows("11x4xf32", "5xi32", "5x4xf32", region("add")),
        {**_UPDATES, "whole_table": ("11x4xf32", "{}, {}")},
        ("11x4xf32", "{}, {}"),
        [("all_gather", 64)],
    ),
    **{
        f"uneven updates by {body}": IndexProgram(
            sharded("updates", "29x4xf32")
            + scatter_rows("6x4xf32", "29xi32", "29x4xf32", region(body)),
            {
                "table": ("6x4xf32", "{}, {}"),
                "indices": ("29xi32", "{}"),
                "whole_updates": ("29x4xf32", "{}, {}"),
            },
            ("6x4xf32", "{}, {}"),
            [("all_reduce", 96)],
        )
        for body in ("add", "maximum", "multiply")
    },
    "a table larger than its indices can count": IndexProgram(
        scatter_rows("300x2xf32", "5xi8", "5x2xf32", region("add")),
        {
            "table": ("300x2xf32", '{"y"}, {}'),
            "indices": ("5xi8", "{}"),
            "updates": ("5x2xf32", "{}, {}"),
        },
        ("300x2xf32", '{"y"}, {}'),
    ),
    **{
        f"{body} of sharded updates": IndexProgram(
            scatter_rows("6x4xf32", "30xi32", "30x4xf32", region(body)),
            _BATCHES,
            ("6x4xf32", "{}, {}"),
            [("all_reduce", 96)],
        )
        for body in ("add", "maximum", "minimum", "multiply")
    },
    "replacement by sharded updates": IndexProgram(
        scatter_rows("6x4xf32", "30xi32", "30x4xf32", REPLACE),
        _BATCHES,
        ("6x4xf32", "{}, {}"),
        [("all_gather", 40), ("all_gather", 160)],
    ),
    "updates by a body of three operations": IndexProgram(
        scatter_rows(
            "6x4xf32",
            "30xi32",
            "30x4xf32",
            "({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %n = stablehlo.negate %q : tensor<f32> "
            "%s = stablehlo.add %p, %n : tensor<f32> stablehlo.return %s : tensor<f32> })",
        ),
        _BATCHES,
        ("6x4xf32", "{}, {}"),
        [("all_gather", 40), ("all_gather", 160)],
    ),
    "gradient of an embedding": IndexProgram(
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] "
        ": (tensor<f32>) -> tensor<12x4xf32>\n"
        + scatter_rows("12x4xf32", "60xi32", "60x4xf32", region("add"), table_name="zeros"),
        {"indices": ("60xi32", '{"x"}'), "updates": ("60x4xf32", '{"x"}, {}')},
        ("12x4xf32", '{"y"}, {}'),
        [("all_reduce", 64)],
        mesh="mesh",
    ),
    "truth values": IndexProgram(
        scatter_rows("6x4xi1", "6xi32", "6x4xi1", region("and", "i1")),
        {
            "table": ("6x4xi1", "{}, {}"),
            "indices": ("6xi32", '{"y"}'),
            "updates": ("6x4xi1", '{"y"}, {}'),
        },
        ("6x4xi1", "{}, {}"),
        [("all_reduce", 24)],
    ),
    "windows beside the indexed dimension": IndexProgram(
        f"""  %r = "stablehlo.scatter"(%table, %indices, %updates) {region("add")}
      {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0>}}
      : (tensor<6x8xf32>, tensor<2x5xi32>, tensor<5x3xf32>) -> tensor<6x8xf32>""",
        {
            "table": ("6x8xf32", '{"y"}, {}'),
            "indices": ("2x5xi32", "{}, {}"),
            "updates": ("5x3xf32", "{}, {}"),
        },
        ("6x8xf32", '{"y"}, {}'),
    ),
    "a dimension without an index": IndexProgram(
        f"""  %r = "stablehlo.scatter"(%table, %indices, %updates) {region("add")}
      {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [],
      inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
      : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<6x8xf32>""",
        {
            "table": ("6x8xf32", '{"y"}, {"x"}'),
            "indices": ("5x1xi32", "{}, {}"),
            "updates": ("5xf32", "{}"),
        },
        ("6x8xf32", '{"y"}, {"x"}'),
        mesh="mesh",
    ),
    "devices in another order": IndexProgram(
        scatter_rows("12x4xf32", "60xi32", "60x4xf32", region("add")),
        {
            "table": ("12x4xf32", '{"y"}, {}'),
            "indices": ("60xi32", '{"x"}'),
            "updates": ("60x4xf32", '{"x"}, {}'),
        },
        ("12x4xf32", '{"y"}, {}'),
        [("all_reduce", 96)],
        "shuffled",
    ),
}


def dynamic_slice(sizes: str, lengths: str, starts: int, element: str = "i32") -> str:
    listed = ", ".join(["%start"] * starts)
    types = ", ".join([f"tensor<{element}>"] * starts)
    return (
        f"  %r = stablehlo.dynamic_slice %a, {listed}, sizes = [{lengths}] : "
        f"(tensor<{sizes}xf32>, {types}) -> tensor<{lengths.replace(', ', 'x')}xf32>"
    )


def dynamic_update(sizes: str, lengths: str, starts: int, element: str = "i32") -> str:
    listed = ", ".join(["%start"] * starts)
    types = ", ".join([f"tensor<{element}>"] * starts)
    return (
        f"  %r = stablehlo.dynamic_update_slice %a, %update, {listed} : "
        f"(tensor<{sizes}xf32>, tensor<{lengths}xf32>, {types}) -> tensor<{sizes}xf32>"
    )


START = {"start": ("i32", "")}

DYNAMIC_SLICES = {
    "one row of many": IndexProgram(
        dynamic_slice("12x4", "1, 4", 2),
        {"a": ("12x4xf32", '{"y"}, {}'), **START},
        ("1x4xf32", "{}, {}"),
        [("all_reduce", 16)],
    ),
    "some rows of many": IndexProgram(
        dynamic_slice("24x4", "3, 4", 2),
        {"a": ("24x4xf32", '{"y"}, {}'), **START},
        ("3x4xf32", "{}, {}"),
        [("all_reduce", 48)],
    ),
    "more rows than a shard has": IndexProgram(
        dynamic_slice("24x4", "10, 4", 2),
        {"a": ("24x4xf32", '{"x", "y"}, {}'), **START},
        ("10x4xf32", "{}, {}"),
        [("all_reduce", 160)],
        mesh="mesh",
    ),
    "nearly all rows": IndexProgram(
        dynamic_slice("12x4", "11, 4", 2),
        {"a": ("12x4xf32", '{"y"}, {}'), **START},
        ("11x4xf32", "{}, {}"),
        [("all_gather", 64)],
    ),
    "some of both dimensions": IndexProgram(
        dynamic_slice("12x8", "2, 1", 2, "ui8"),
        {"a": ("12x8xf32", '{"y"}, {"x"}'), "start": ("ui8", "")},
        ("2x1xf32", "{}, {}"),
        [("all_reduce", 8)],
        mesh="mesh",
    ),
    "uneven rows": IndexProgram(
        sharded("a", "23x4xf32") + dynamic_slice("23x4", "2, 4", 2),
        {"whole_a": ("23x4xf32", "{}, {}"), **START},
        ("2x4xf32", "{}, {}"),
        [("all_reduce", 32)],
    ),
    "rows, of which columns are sharded": IndexProgram(
        dynamic_slice("12x4", "3, 4", 2),
        {"a": ("12x4xf32", '{}, {"x"}'), **START},
        ("3x4xf32", '{}, {"x"}'),
        mesh="mesh",
    ),
}

UPDATES = {
    "one row of a cache": IndexProgram(
        dynamic_update("12x4", "1x4", 2),
        {"a": ("12x4xf32", '{"y"}, {}'), "update": ("1x4xf32", "{}, {}"), **START},
        ("12x4xf32", '{"y"}, {}'),
    ),
    "some rows of a cache": IndexProgram(
        dynamic_update("12x4", "3x4", 2),
        {"a": ("12x4xf32", '{"y"}, {}'), "update": ("3x4xf32", "{}, {}"), **START},
        ("12x4xf32", '{"y"}, {}'),
    ),
    "more rows than a shard has": IndexProgram(
        dynamic_update("12x4", "7x4", 2),
        {"a": ("12x4xf32", '{"x", "y"}, {}'), "update": ("7x4xf32", "{}, {}"), **START},
        ("12x4xf32", '{"x", "y"}, {}'),
        mesh="mesh",
    ),
    "a part of both dimensions": IndexProgram(
        dynamic_update("12x8", "5x3", 2, "ui32"),
        {
            "a": ("12x8xf32", '{"y"}, {"x"}'),
            "update": ("5x3xf32", "{}, {}"),
            "start": ("ui32", ""),
        },
        ("12x8xf32", '{"y"}, {"x"}'),
        mesh="mesh",
    ),
    "an update that is sharded": IndexProgram(
        dynamic_update("12x4", "6x4", 2),
        {"a": ("12x4xf32", '{"y"}, {}'), "update": ("6x4xf32", '{"y"}, {}'), **START},
        ("12x4xf32", '{"y"}, {}'),
        [("all_gather", 32)],
    ),
    "an uneven cache": IndexProgram(
        sharded("a", "11x4xf32") + dynamic_update("11x4", "2x4", 2),
        {"whole_a": ("11x4xf32", "{}, {}"), "update": ("2x4xf32", "{}, {}"), **START},
        ("11x4xf32", "{}, {}"),
        [("all_gather", 64)],
    ),
}


def reduce(body: str, sizes: str, result: str, element: str = "f32", dims: str = "1") -> str:
    return (
        f"  %r = stablehlo.reduce(%a init: %init) applies stablehlo.{body} across "
        f"dimensions = [{dims}] : (tensor<{sizes}x{element}>, tensor<{element}>) -> "
        f"tensor<{result}{element}>"
    )


def _reduction(body: str, element: str, collective: tuple[str, int]) -> IndexProgram:
    return IndexProgram(
        reduce(body, "4x6", "4x", element),
        {"a": (f"4x6x{element}", '{}, {"y"}'), "init": (element, "")},
        (f"4x{element}", "{}"),
        [collective],
    )


ARGMAX = """
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %index = stablehlo.iota dim = 1 : tensor<{sizes}xi32>
  %v, %r = stablehlo.reduce(%a init: %least), (%index init: %none) across dimensions = [1]
      : (tensor<{sizes}xf32>, tensor<{sizes}xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<4xf32>, tensor<4xi32>)
      reducer(%p: tensor<f32>, %q: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
    %more = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %before = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %same, %before : tensor<i1>
    %first = stablehlo.or %more, %tie : tensor<i1>
    %value = stablehlo.select %more, %p, %q : tensor<i1>, tensor<f32>
    %at = stablehlo.select %first, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %value, %at : tensor<f32>, tensor<i32>
  }}"""

REDUCTIONS = {
    **{
        f"{body} of {element}": _reduction(body, element, ("all_reduce", 4 * nbytes))
        for body, element, nbytes in (
            ("add", "f32", 4),
            ("add", "i8", 1),
            ("maximum", "f32", 4),
            ("minimum", "i32", 4),
            ("multiply", "f32", 4),
            ("multiply", "i32", 4),
            ("and", "i1", 1),
            ("or", "i1", 1),
            ("add", "i1", 1),
            ("multiply", "i1", 1),
        )
    },
    **{
        f"{body} of {element}": _reduction(body, element, ("all_gather", 4 * nbytes))
        for body, element, nbytes in (("and", "i32", 4), ("or", "ui8", 1), ("xor", "i32", 4))
    },
    "of both dimensions": IndexProgram(
        reduce("add", "4x6", "", dims="0, 1"),
        {"a": ("4x6xf32", '{"x"}, {"y"}'), "init": ("f32", "")},
        ("f32", ""),
        [("all_reduce", 4)],
        mesh="mesh",
    ),
    "that is scattered": IndexProgram(
        reduce("add", "6x6", "6x"),
        {"a": ("6x6xf32", '{}, {"y"}'), "init": ("f32", "")},
        ("6xf32", '{"y"}'),
        [("reduce_scatter", 24)],
    ),
    "an argmax": IndexProgram(
        ARGMAX.format(sizes="4x6"),
        {"a": ("4x6xf32", '{}, {"y"}')},
        ("4xi32", "{}"),
        [("all_gather", 16), ("all_gather", 16)],
    ),
    "devices in another order": IndexProgram(
        ARGMAX.format(sizes="4x8"),
        {"a": ("4x8xf32", '{}, {"y", "x"}')},
        ("4xi32", "{}"),
        [("all_gather", 16), ("all_gather", 16)],
        "shuffled",
    ),
    "sum and maximum at once": IndexProgram(
        """
  %both:2 = stablehlo.reduce(%a init: %init), (%a init: %init) across dimensions = [1]
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>)
      reducer(%p: tensor<f32>, %q: tensor<f32>) (%i: tensor<f32>, %j: tensor<f32>) {
    %s = stablehlo.add %p, %q : tensor<f32>
    %m = stablehlo.maximum %i, %j : tensor<f32>
    stablehlo.return %s, %m : tensor<f32>, tensor<f32>
  }
  %r = stablehlo.subtract %both#0, %both#1 : tensor<4xf32>""",
        {"a": ("4x6xf32", '{}, {"y"}'), "init": ("f32", "")},
        ("4xf32", "{}"),
        [("all_reduce", 16), ("all_reduce", 16)],
    ),
    "sum and product at once": IndexProgram(
        """
  %both:2 = stablehlo.reduce(%a init: %init), (%a init: %init) across dimensions = [1]
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>)
      reducer(%p: tensor<f32>, %q: tensor<f32>) (%i: tensor<f32>, %j: tensor<f32>) {
    %s = stablehlo.add %p, %q : tensor<f32>
    %m = stablehlo.multiply %i, %j : tensor<f32>
    stablehlo.return %s, %m : tensor<f32>, tensor<f32>
  }
  %r = stablehlo.subtract %both#0, %both#1 : tensor<4xf32>""",
        {"a": ("4x6xf32", '{}, {"y"}'), "init": ("f32", "")},
        ("4xf32", "{}"),
        [("all_gather", 16), ("all_gather", 16)],
    ),
}

_MATRIX = {"a": ("6x8xf32", '{"y"}, {"x"}')}

OTHERS = {
    "the greatest of many": IndexProgram(
        """
  %v, %i = chlo.top_k(%a, k = 2) : tensor<4x48xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %f = stablehlo.convert %i : (tensor<4x2xi32>) -> tensor<4x2xf32>
  %r = stablehlo.add %v, %f : tensor<4x2xf32>""",
        {"a": ("4x48xf32", '{}, {"y"}')},
        ("4x2xf32", "{}, {}"),
        [("all_gather", 32), ("all_gather", 32)],
    ),
    "the greatest of few": IndexProgram(
        """
  %v, %i = chlo.top_k(%a, k = 5) : tensor<4x6xf32> -> (tensor<4x5xf32>, tensor<4x5xi32>)
  %f = stablehlo.convert %i : (tensor<4x5xi32>) -> tensor<4x5xf32>
  %r = stablehlo.add %v, %f : tensor<4x5xf32>""",
        {"a": ("4x6xf32", '{}, {"y"}')},
        ("4x5xf32", "{}, {}"),
        [("all_gather", 32)],
    ),
    "a sort, whose shards move to another dimension": IndexProgram(
        """
  %r = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<48x48xf32>) -> tensor<48x48xf32>""",
        {"a": ("48x48xf32", '{}, {"y"}')},
        ("48x48xf32", '{}, {"y"}'),
        [("all_to_all", 3072), ("all_to_all", 3072)],
    ),
    "branches that use what is sharded outside": IndexProgram(
        """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %p = stablehlo.compare LT, %start, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %s = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [0]
        : (tensor<6x8xf32>, tensor<f32>) -> tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }, {
    %d = stablehlo.dynamic_slice %a, %start, %start, sizes = [1, 8]
        : (tensor<6x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %s = stablehlo.reshape %d : (tensor<1x8xf32>) -> tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>""",
        {**_MATRIX, **START},
        ("8xf32", '{"x"}'),
        [("all_reduce", 16), ("all_reduce", 16)],
        "mesh",
    ),
    "sizes that are known": IndexProgram(
        """
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<6x8xf32>) -> tensor<i32>
  %sizes = stablehlo.constant dense<[6, 8]> : tensor<2xi32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.dynamic_broadcast_in_dim %f, %sizes, dims = []
      : (tensor<f32>, tensor<2xi32>) -> tensor<6x8xf32>
  %i = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xi32>) -> tensor<6x8xf32>
  %s = stablehlo.add %b, %i : tensor<6x8xf32>
  %r = stablehlo.add %s, %a : tensor<6x8xf32>""",
        _MATRIX,
        ("6x8xf32", '{"y"}, {"x"}'),
        [],
        "mesh",
    ),
    "a convolution whose padding is known": IndexProgram(
        """
  %p = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %r = "stablehlo.dynamic_conv"(%a, %k, %p) <{batch_group_count = 1 : i64,
      feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
      : (tensor<2x9x3xf32>, tensor<3x3x5xf32>, tensor<1x2xi64>) -> tensor<2x10x5xf32>""",
        {"a": ("2x9x3xf32", '{"x"}, {}, {}'), "k": ("3x3x5xf32", "{}, {}, {}")},
        ("2x10x5xf32", '{"x"}, {}, {}'),
        [],
        "mesh",
    ),
    "a sum of complex numbers": IndexProgram(
        """
  %zero = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  %c = stablehlo.complex %a, %a : tensor<6x8xcomplex<f32>>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<6x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
  %r = stablehlo.imag %s : (tensor<8xcomplex<f32>>) -> tensor<8xf32>""",
        _MATRIX,
        ("8xf32", '{"x"}'),
        [("all_reduce", 32)],
        "mesh",
    ),
    "a map": IndexProgram(
        """
  %r = "stablehlo.map"(%a, %a) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.multiply %p, %q : tensor<f32>
    %t = stablehlo.subtract %s, %p : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>""",
        _MATRIX,
        ("6x8xf32", '{"y"}, {"x"}'),
        [],
        "mesh",
    ),
    "bits of another rank": IndexProgram(
        """
  %b = stablehlo.bitcast_convert %a : (tensor<6x8xf32>) -> tensor<6x8x2xui16>
  %c = stablehlo.reverse %b, dims = [2] : tensor<6x8x2xui16>
  %r = stablehlo.bitcast_convert %c : (tensor<6x8x2xui16>) -> tensor<6x8xf32>""",
        _MATRIX,
        ("6x8xf32", '{"y"}, {"x"}'),
        [],
        "mesh",
    ),
}
