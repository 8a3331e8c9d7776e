# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs by hand for `test_halo.py`: one operation, sharded where it needs data of other shards.

Elements take 4 bytes.
"""

from dataclasses import dataclass

LINE = '<["x"=4]>'
GRID = '<["x"=3, "y"=2]>'
SHUFFLED = '<["x"=2, "y"=2], device_ids=[2, 0, 3, 1]>'
PARTS = '<["x"=4, "y"=2]>'

SHARDINGS = """
#x = #sdy.sharding<@mesh, [{"x"}]>
#rows = #sdy.sharding<@mesh, [{"x"}, {}]>
#tiles = #sdy.sharding<@mesh, [{"x"}, {"y"}]>
#fine = #sdy.sharding<@mesh, [{"y", "x"}, {}]>
#part = #sdy.sharding<@mesh, [{"x":(2)2}, {"y"}]>
#part_tiles = #sdy.sharding<@mesh, [{"x":(2)2}, {"x":(1)2, "y"}]>
#image = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>
#image_tiles = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>
#features = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>
#kernel = #sdy.sharding<@mesh, [{}, {}, {"y"}, {}]>
"""


@dataclass(frozen=True)
class Case:
    """A program.

    Attributes:
        text: the program.
        collectives: the kind of each collective of the partitioned program, and the bytes that a
            device puts in.
        backend: what can run it.
    """

    text: str
    collectives: tuple[tuple[str, int], ...]
    backend: str = "interpreter"


def permutes(*nbytes: int) -> tuple[tuple[str, int], ...]:
    return tuple(("collective_permute", number) for number in nbytes)


def tensor(shape: str) -> str:
    return f"tensor<{shape}xf32>" if shape else "tensor<f32>"


def case(
    body: str,
    arguments: list[str],
    result: str,
    collectives: tuple[tuple[str, int], ...],
    mesh: str = LINE,
    backend: str = "interpreter",
) -> Case:
    """A program of some lines.

    Args:
        body: the lines, of which the last one makes `%r` of `%0`, `%1`, ...; {types} is its type.
        arguments: the shape of each argument and its sharding: `8x4 #rows`.
        result: those of the result.
        collectives: see `Case`.
        mesh: the devices.
        backend: see `Case`.
    """
    shapes, written = [], []
    for index, argument in enumerate((*arguments, result)):
        shape, _, sharding = argument.partition("#")
        shapes.append(tensor(shape.strip()))
        attribute = f" {{sdy.sharding = #{sharding}}}" if sharding else ""
        name = f"%{index}: " if index < len(arguments) else ""
        written.append(f"{name}{shapes[-1]}{attribute}")
    types = f"({', '.join(shapes[:-1])}) -> {shapes[-1]}"
    text = (
        f"sdy.mesh @mesh = {mesh}{SHARDINGS}"
        f"func.func @main({', '.join(written[:-1])}) -> ({written[-1]}) {{\n"
        f"  {body.strip().replace('{types}', types)}\n  return %r : {shapes[-1]}\n}}"
    )
    return Case(text, collectives, backend)


def body_of(operation: str) -> str:
    """The region of a reduction."""
    return f"""({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.{operation} %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }})"""


def selecting(comparison: str, scatter: str) -> str:
    """The regions of a `select_and_scatter`."""
    return f"""({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare {comparison}, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }}, {body_of(scatter)[1:]}"""


def convolution(window: str, groups: int = 1, numbers: str = "[b, 0, 1, f]x[0, 1, i, o]") -> str:
    output = "[0, 1, b, f]" if numbers.startswith("[f") else "[b, 0, 1, f]"
    return (
        f"%r = stablehlo.convolution(%0, %1) dim_numbers = {numbers}->{output}, "
        f"window = {{{window}}} {{batch_group_count = 1 : i64, "
        f"feature_group_count = {groups} : i64}} : {{types}}"
    )


def pad(low: list[int], high: list[int], interior: list[int]) -> str:
    return (
        f"%r = stablehlo.pad %0, %1, low = {low}, high = {high}, interior = {interior} : {{types}}"
    )


def rolled(shape: tuple[int, int], count: int) -> str:
    rows, columns = shape
    part, rest = tensor(f"{rows - count}x{columns}"), tensor(f"{count}x{columns}")
    return f"""
  %a = stablehlo.slice %0 [{count}:{rows}, 0:{columns}] : ({tensor(f"{rows}x{columns}")}) -> {part}
  %b = stablehlo.slice %0 [0:{count}, 0:{columns}] : ({tensor(f"{rows}x{columns}")}) -> {rest}
  %r = stablehlo.concatenate %a, %b, dim = 0 : ({part}, {rest}) -> {tensor(f"{rows}x{columns}")}"""


_GRADIENT = "[f, 0, 1, b]x[i, 0, 1, o]"
_WINDOWS = '%r = "stablehlo.reduce_window"(%0, %1) <{{{attributes}}}> {body} : {{types}}'


def windows(attributes: str, body: str) -> str:
    return _WINDOWS.format(attributes=attributes, body=body_of(body))


def cumulative(operation: str, initial: str, padding: str, size: int) -> str:
    return (
        f"%i = stablehlo.constant dense<{initial}> : tensor<f32>\n"
        f'  %r = "stablehlo.reduce_window"(%0, %i) <{{window_dimensions = array<i64: {size}, 1>, '
        f"padding = dense<[{padding}, [0, 0]]> : tensor<2x2xi64>}}> {body_of(operation)} : "
        f"(tensor<{size}x3xf32>, tensor<f32>) -> tensor<{size}x3xf32>"
    )


def gradient_of_windows(attributes: str, shapes: tuple[str, str], comparison: str = "GE") -> str:
    return (
        "%i = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f'  %r = "stablehlo.select_and_scatter"(%0, %1, %i) <{{{attributes}}}> '
        f"{selecting(comparison, 'add')} : ({tensor(shapes[0])}, {tensor(shapes[1])}, "
        f"tensor<f32>) -> {tensor(shapes[0])}"
    )


PROGRAMS = {
    # Shards have 17 rows before and 16 after: shard 3 needs 2 rows of shard 2.
    "slice": case(
        "%r = stablehlo.slice %0 [1:65, 0:8] : {types}", ["68x8 #rows"], "64x8 #rows", permutes(64)
    ),
    "slice with a stride": case(
        "%r = stablehlo.slice %0 [1:32:2, 0:8:3] : {types}", ["32x8 #rows"], "16x3 #rows", ()
    ),
    # The elements of the first shard are spread over all.
    "slice of the beginning": case(
        "%r = stablehlo.slice %0 [0:4] : {types}", ["64 #x"], "4 #x", permutes(4, 4, 4)
    ),
    "slice of both dimensions": case(
        "%r = stablehlo.slice %0 [2:11, 1:7] : {types}", ["12x8 #tiles"], "9x6 #tiles",
        permutes(16), GRID,
    ),
    # Shards have 4 rows before and 5 after: the first and the last one get 3 of a neighbour.
    "pad": case(pad([2, 0], [2, 0], [0, 0]), ["16x8 #rows", ""], "20x8 #rows", permutes(32, 32)),
    "pad with holes": case(
        pad([1, 0], [0, 1], [1, 0]), ["12x4 #fine", ""], "24x5 #fine", (), SHUFFLED
    ),
    "pad that cuts off": case(
        pad([-3, 1], [-1, 0], [0, 2]), ["16x2 #rows", ""], "12x5 #rows", permutes(16)
    ),
    "pad, wider than a shard": case(
        pad([3, 0], [5, 0], [0, 0]), ["8x2 #rows", ""], "16x2 #rows", permutes(8, 16)
    ),
    "reverse": case(
        "%r = stablehlo.reverse %0, dims = [0] : tensor<16x8xf32>", ["16x8 #fine"], "16x8 #fine",
        permutes(128), SHUFFLED,
    ),
    "reverse of tiles": case(
        "%r = stablehlo.reverse %0, dims = [0, 1] : tensor<12x8xf32>", ["12x8 #tiles"],
        "12x8 #tiles", permutes(64), GRID,
    ),
    "reverse of tiles by parts of axes": case(
        "%r = stablehlo.reverse %0, dims = [0, 1] : tensor<12x8xf32>",
        ["12x8 #part_tiles"], "12x8 #part_tiles", permutes(48), PARTS,
    ),
    # The slices need nothing. Of the reverse, each shard gets 2 rows of two others.
    "reverse, uneven": case(
        """%a = stablehlo.slice %0 [0:14, 0:8] : (tensor<16x8xf32>) -> tensor<14x8xf32>
  %b = stablehlo.reverse %a, dims = [0, 1] : tensor<14x8xf32>
  %r = stablehlo.pad %b, %1, low = [0, 0], high = [2, 0], interior = [0, 0]
      : (tensor<14x8xf32>, tensor<f32>) -> tensor<16x8xf32>""",
        ["16x8 #rows", ""], "16x8 #rows", permutes(64, 64),
    ),
    "roll by one": case(rolled((16, 8), 1), ["16x8 #rows"], "16x8 #rows", permutes(32)),
    "roll by more than a shard": case(
        rolled((16, 8), 7), ["16x8 #fine"], "16x8 #fine", permutes(32, 96), SHUFFLED
    ),
    "periodic border": case(
        """%a = stablehlo.slice %0 [15:16, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
  %b = stablehlo.slice %0 [0:3, 0:8] : (tensor<16x8xf32>) -> tensor<3x8xf32>
  %r = stablehlo.concatenate %a, %0, %b, dim = 0
      : (tensor<1x8xf32>, tensor<16x8xf32>, tensor<3x8xf32>) -> tensor<20x8xf32>""",
        ["16x8 #rows"], "20x8 #rows", permutes(32, 96, 64),
    ),
    "concatenation": case(
        "%r = stablehlo.concatenate %0, %1, dim = 0 : {types}", ["8x2 #rows", "12x2 #rows"],
        "20x2 #rows", permutes(16, 24, 8, 16),
    ),
    # From each neighbour a row of 16 columns of 3 features, of 2 images.
    "convolution": case(
        convolution("pad = [[1, 1], [1, 1]]"), ["2x16x16x3 #image", "3x3x3x4"],
        "2x16x16x4 #image", permutes(384, 384),
    ),
    # A row of 4 columns of 2 features; then 2 columns of 4 + 2 rows, in both directions.
    "convolution, two dimensions": case(
        convolution("pad = [[1, 1], [2, 2]], rhs_dilate = [1, 2]"),
        ["1x12x8x2 #image_tiles", "3x3x2x2"], "1x12x8x2 #image_tiles",
        (("all_gather", 128), *permutes(64, 64)), GRID,
    ),
    "convolution with strides": case(
        convolution("stride = [2, 2], pad = [[0, 1], [0, 1]]"), ["2x16x16x3 #image", "3x3x3x4"],
        "2x8x8x4 #image", permutes(384),
    ),
    "convolution, contracted along a sharded dimension, too": case(
        convolution("pad = [[1, 1], [1, 1]]"), ["2x6x4x4 #features", "3x3x4x2 #kernel"],
        "2x6x4x2 #image", (*permutes(64, 64), ("all_reduce", 128)), GRID,
    ),
    "gradient of the input of a convolution": case(
        convolution("pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], reverse = [true, true]"),
        ["2x8x8x4 #image", "3x3x4x3"], "2x16x16x3 #image", permutes(256),
    ),
    "gradient of the kernel of a convolution": case(
        convolution("pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]", numbers=_GRADIENT),
        ["8x16x16x3 #image", "8x8x8x4 #image"], "3x3x3x4",
        (*permutes(1536), ("all_reduce", 432)), backend="xla",
    ),
    "grouped convolution, uneven": case(
        convolution("pad = [[0, 0], [1, 1]]", groups=2), ["2x16x6x4 #image", "3x3x2x4"],
        "2x14x6x4", (*permutes(384), ("all_gather", 768)),
    ),
    "maximum of windows": case(
        windows(
            "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, "
            "padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>", "maximum",
        ),
        ["24x2 #rows", ""], "12x2 #rows", permutes(8), GRID,
    ),
    "product of windows over holes": case(
        windows(
            "window_dimensions = array<i64: 3, 1>, window_dilations = array<i64: 2, 1>, "
            "base_dilations = array<i64: 3, 2>, "
            "padding = dense<[[2, 0], [0, 1]]> : tensor<2x2xi64>", "multiply",
        ),
        ["6x2 #part", ""], "14x4 #part", permutes(4), PARTS,
    ),
    "windows that fit into shards": case(
        windows(
            "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>", "minimum"
        ),
        ["16x4 #rows", ""], "8x2 #rows", (),
    ),
    # One total of each column from each shard.
    "cumulative sum": case(
        cumulative("add", "0.0", "[11, 0]", 12), ["12x3 #rows"], "12x3 #rows",
        (("all_gather", 12),),
    ),
    "cumulative maximum from the end": case(
        cumulative("maximum", "0xFF800000", "[0, 11]", 12), ["12x3 #rows"], "12x3 #rows",
        (("all_gather", 12),), GRID,
    ),
    "gradient of windows": case(
        gradient_of_windows(
            "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, "
            "padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>", ("16x8", "8x8"),
        ),
        ["16x8 #rows", "8x8 #rows"], "16x8 #rows", permutes(64, 32, 32),
    ),
    "gradient of windows that fit into shards": case(
        gradient_of_windows(
            "window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>",
            ("16x8", "8x8"), "LT",
        ),
        ["16x8 #rows", "8x8 #rows"], "16x8 #rows", (),
    ),
}  # fmt: skip
