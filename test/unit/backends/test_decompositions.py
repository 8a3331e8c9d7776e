# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations written out compute what the operations are defined to."""

import itertools

import numpy as np
import pytest

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.linear_algebra import split_of
from pyshardy.backends.decompositions.reductions import exchange_partners
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.irtools.walks import operations_named


@pytest.fixture
def written_out(context, engine):
    """Runs a program after an operation of it is written out, which must change it."""

    def run(text: str, name: str, *arrays: np.ndarray) -> list[np.ndarray]:
        module = ir.Module.parse(text, context)
        result = decomposed(module, {name})
        assert result is not module
        assert result.operation.verify()
        return engine.compile(result).run([list(arrays)])[0]

    return run


@pytest.fixture
def as_it_is(context, engine):
    def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
        return engine.compile(ir.Module.parse(text, context)).run([list(arrays)])[0]

    return run


def function(arguments: str, result: str, body: str) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %0 : {result}\n}}"


# --- Linear algebra -----------------------------------------------------------------------------


def positive_definite(rng, shape, *, is_complex: bool) -> np.ndarray:
    factor = rng.normal(size=shape)
    if is_complex:
        factor = factor + 1j * rng.normal(size=shape)
    return factor @ factor.conj().swapaxes(-1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(written_out, lower, is_complex):
    matrix = positive_definite(np.random.default_rng(0), (2, 5, 5), is_complex=is_complex)
    element = "complex<f64>" if is_complex else "f64"
    tensor = f"tensor<2x5x5x{element}>"
    text = function(
        f"%a: {tensor}",
        tensor,
        f"  %0 = stablehlo.cholesky %a, lower = {str(lower).lower()} : {tensor}",
    )
    # The other triangle isn't looked at.
    rows, columns = np.indices((5, 5))
    noisy = np.where(rows >= columns if lower else rows <= columns, matrix, np.nan)
    (factor,) = written_out(text, "cholesky", noisy)
    wanted = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(
        factor, wanted if lower else wanted.conj().swapaxes(-1, -2), rtol=1e-10, atol=1e-10
    )


def test_the_example_of_cholesky(written_out):
    text = function(
        "%a: tensor<2x2xf32>",
        "tensor<2x2xf32>",
        "  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>",
    )
    (factor,) = written_out(text, "cholesky", np.array([[4, 2], [2, 10]], np.float32))
    assert factor.tolist() == [[2, 0], [1, 3]]


@pytest.mark.parametrize(
    ("left", "lower", "unit", "change"),
    [
        *itertools.product(
            [True, False], [True, False], [False], ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]
        ),
        (True, True, True, "NO_TRANSPOSE"),
        (False, False, True, "ADJOINT"),
    ],
)
def test_triangular_solve(written_out, left, lower, unit, change):
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)) + 3 * np.eye(4)
    values = rng.normal(size=(4, 3) if left else (3, 4)) + 0j
    shape = "x".join(map(str, values.shape))
    a, b = "tensor<4x4xcomplex<f64>>", f"tensor<{shape}xcomplex<f64>>"
    flags = ", ".join(
        f"{name} = {str(flag).lower()}"
        for name, flag in (("left_side", left), ("lower", lower), ("unit_diagonal", unit))
    )
    text = function(
        f"%a: {a}, %b: {b}",
        b,
        f'  %0 = "stablehlo.triangular_solve"(%a, %b) {{{flags}, '
        f"transpose_a = #stablehlo<transpose {change}>}} : ({a}, {b}) -> {b}",
    )
    (solution,) = written_out(text, "triangular_solve", matrix, values)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    if unit:
        np.fill_diagonal(triangle, 1)
    changed = {
        "NO_TRANSPOSE": triangle,
        "TRANSPOSE": triangle.T,
        "ADJOINT": triangle.conj().T,
    }[change]
    product = changed @ solution if left else solution @ changed
    np.testing.assert_allclose(product, values, rtol=1e-9, atol=1e-9)


# --- Fourier transforms -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 8, 24, 37, 96])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_fourier_transforms(written_out, kind, both, size):
    rng = np.random.default_rng(2)
    half = size // 2 + 1
    before = {"RFFT": (size, "f64"), "IRFFT": (half, "complex<f64>")}
    after = {"RFFT": (half, "complex<f64>"), "IRFFT": (size, "f64")}
    whole = (size, "complex<f64>")
    operand, result = (
        f"tensor<2x3x{length}x{element}>"
        for length, element in (before.get(kind, whole), after.get(kind, whole))
    )
    data = rng.normal(size=(2, 3, before.get(kind, whole)[0]))
    if kind != "RFFT":
        data = data + 1j * rng.normal(size=data.shape)
    lengths = [3, size] if both else [size]
    text = function(
        f"%a: {operand}",
        result,
        f"  %0 = stablehlo.fft %a, type = {kind}, length = {lengths} : ({operand}) -> {result}",
    )
    (found,) = written_out(text, "fft", data)
    reference = getattr(np.fft, f"{kind.lower()}n")
    wanted = reference(data, s=lengths, axes=range(3 - len(lengths), 3))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_how_lengths_are_split():
    assert [split_of(length) for length in (8, 37, 64, 96)] == [1, 1, 8, 8]


# --- Sorting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 20))
def test_exchanges_sort_everything(size):
    """A network sorts all inputs if it sorts all of 0 and 1: here, those with one step."""
    for zeros in range(size + 1):
        line = np.array([1] * (size - zeros) + [0] * zeros)
        for partner in exchange_partners(size) if size > 1 else []:
            other = line[partner]
            line = np.where(
                partner >= np.arange(size), np.minimum(line, other), np.maximum(line, other)
            )
        assert (np.diff(line) >= 0).all()


def test_the_example_of_exchanges():
    assert exchange_partners(4).tolist() == [[2, 3, 0, 1], [1, 0, 3, 2], [0, 2, 1, 3]]


@pytest.mark.parametrize("size", [2, 5, 16, 19])
def test_sort_keeps_the_order_of_equals(written_out, size):
    keys = np.random.default_rng(3).integers(0, 4, (2, size, 3)).astype(np.int32)
    places = np.arange(keys.size, dtype=np.int32).reshape(keys.shape)
    tensor = f"tensor<2x{size}x3xi32>"
    text = f"""
func.func @main(%a: {tensor}, %b: {tensor}) -> ({tensor}, {tensor}) {{
  %0:2 = "stablehlo.sort"(%a, %b) ({{
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %z: tensor<i32>, %w: tensor<i32>):
    %c = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) {{dimension = 1 : i64, is_stable = true}} : ({tensor}, {tensor}) -> ({tensor}, {tensor})
  return %0#0, %0#1 : {tensor}, {tensor}
}}"""
    order = np.argsort(-keys, axis=1, kind="stable")
    sorted_keys, sorted_places = written_out(text, "sort", keys, places)
    np.testing.assert_array_equal(sorted_keys, np.take_along_axis(keys, order, 1))
    np.testing.assert_array_equal(sorted_places, np.take_along_axis(places, order, 1))


# --- Windows ------------------------------------------------------------------------------------

SCATTER = """
func.func @main(%a: tensor<3x5x4xf32>, %i: tensor<{indices}x{itype}>, %u: tensor<{updates}xf32>)
    -> tensor<3x5x4xf32> {{
  %0 = "stablehlo.scatter"(%a, %i, %u) ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.constant dense<0.5> : tensor<f32>
    %h = stablehlo.multiply %x, %c : tensor<f32>
    %s = stablehlo.add %h, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}
    : (tensor<3x5x4xf32>, tensor<{indices}x{itype}>, tensor<{updates}xf32>) -> tensor<3x5x4xf32>
  return %0 : tensor<3x5x4xf32>
}}"""


@pytest.mark.parametrize(
    ("indices", "updates", "numbers", "itype"),
    [
        # Windows that are partly or wholly outside, in both directions, several at one place.
        (
            "7x2",
            "7x2x3",
            "update_window_dims = [1, 2], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 1",
            "i32",
        ),
        # Indices without a dimension of their own, in the middle; unsigned.
        (
            "2x3",
            "2x2x3x3",
            "update_window_dims = [0, 3], inserted_window_dims = [1], "
            "scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
            "ui32",
        ),
        # Batches, and indices along the first dimension.
        (
            "1x6x3",
            "6x3x4",
            "update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], "
            "scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], "
            "index_vector_dim = 0",
            "i64",
        ),
        # A single window, at a place that no index says.
        ("0", "3x2x4", "update_window_dims = [0, 1, 2], index_vector_dim = 0", "i32"),
    ],
)
def test_scatter(written_out, as_it_is, indices, updates, numbers, itype):
    rng = np.random.default_rng(4)
    text = SCATTER.format(indices=indices, updates=updates, numbers=numbers, itype=itype)
    kind = {"i32": np.int32, "ui32": np.uint32, "i64": np.int64}[itype]
    low = 0 if itype == "ui32" else -4
    arrays = [
        rng.normal(size=(3, 5, 4)).astype(np.float32),
        rng.integers(low, 7, tuple(map(int, indices.split("x")))).astype(kind),
        rng.normal(size=tuple(map(int, updates.split("x")))).astype(np.float32),
    ]
    (found,), (wanted,) = written_out(text, "scatter", *arrays), as_it_is(text, *arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert (found != arrays[0]).any()


@pytest.mark.parametrize(
    ("indices", "numbers", "sizes", "result"),
    [
        # Batches, with vectors of indices before them.
        (
            "1x3x2",
            "offset_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [1], "
            "start_index_map = [2], collapsed_slice_dims = [2], index_vector_dim = 0",
            "1, 2, 1",
            "2x3x2",
        ),
        # Scalar indices.
        (
            "4",
            "offset_dims = [1, 2], start_index_map = [1], collapsed_slice_dims = [1], "
            "index_vector_dim = 1",
            "2, 1, 4",
            "4x2x4",
        ),
        # Two batches in another order, and vectors between them.
        (
            "4x1x3",
            "offset_dims = [2], operand_batching_dims = [0, 2], "
            "start_indices_batching_dims = [2, 0], start_index_map = [1], index_vector_dim = 1",
            "1, 3, 1",
            "4x3x3",
        ),
    ],
)
def test_gather(written_out, as_it_is, indices, numbers, sizes, result):
    rng = np.random.default_rng(8)
    text = f"""
func.func @main(%a: tensor<3x5x4xf32>, %i: tensor<{indices}xi32>) -> tensor<{result}xf32> {{
  %0 = "stablehlo.gather"(%a, %i) {{dimension_numbers = #stablehlo.gather<{numbers}>,
    slice_sizes = array<i64: {sizes}>}}
    : (tensor<3x5x4xf32>, tensor<{indices}xi32>) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}"""
    arrays = [
        rng.normal(size=(3, 5, 4)).astype(np.float32),
        rng.integers(-3, 8, tuple(map(int, indices.split("x")))).astype(np.int32),
    ]
    (found,), (wanted,) = written_out(text, "gather", *arrays), as_it_is(text, *arrays)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("padding", [((1, 2), (0, 1)), ((0, 0), (-1, -2)), ((0, 0), (0, 0))])
def test_select_and_scatter(written_out, padding):
    """Each window's first largest element gets the window's source, on top of 0.5."""
    rng = np.random.default_rng(5)
    data = rng.permutation(54).reshape(6, 9).astype(np.float32)
    around = [(max(0, low), max(0, high)) for low, high in padding]
    kept = tuple(
        slice(max(0, -low), n - max(0, -high))
        for n, (low, high) in zip((6, 9), padding, strict=True)
    )
    seen = np.pad(data[kept], around, constant_values=-np.inf)
    steps = [(seen.shape[0] - 2) // 2 + 1, (seen.shape[1] - 3) // 2 + 1]
    source = rng.normal(size=steps).astype(np.float32)
    wanted = np.full_like(data, 0.5)
    for row, column in np.ndindex(*steps):
        window = seen[2 * row : 2 * row + 2, 2 * column : 2 * column + 3]
        if np.isfinite(window).any():
            wanted[data == window.max()] += source[row, column]
    rows = f"tensor<{steps[0]}x{steps[1]}xf32>"
    pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
    text = f"""
func.func @main(%a: tensor<6x9xf32>, %s: {rows}, %i: tensor<f32>) -> tensor<6x9xf32> {{
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) {{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 2>,
       padding = dense<[{pads}]> : tensor<2x2xi64>}}
    : (tensor<6x9xf32>, {rows}, tensor<f32>) -> tensor<6x9xf32>
  return %0 : tensor<6x9xf32>
}}"""
    (found,) = written_out(text, "select_and_scatter", data, source, np.float32(0.5))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "interior"),
    [([0, 0], [0, 0], [1, 0]), ([-2, 1], [3, -4], [1, 2]), ([2, 0], [0, -1], [0, 3])],
)
def test_pad(written_out, as_it_is, low, high, interior):
    shape = [
        size + (size - 1) * between + before + behind
        for size, between, before, behind in zip((5, 12), interior, low, high, strict=True)
    ]
    result = f"tensor<{shape[0]}x{shape[1]}xf32>"
    text = function(
        "%a: tensor<5x12xf32>, %z: tensor<f32>",
        result,
        f"  %0 = stablehlo.pad %a, %z, low = {low}, high = {high}, interior = {interior}"
        f" : (tensor<5x12xf32>, tensor<f32>) -> {result}",
    )
    arrays = np.arange(60, dtype=np.float32).reshape(5, 12), np.float32(-7)
    np.testing.assert_array_equal(written_out(text, "pad", *arrays), as_it_is(text, *arrays))


def test_convolutions_of_any_layout(written_out):
    text = function(
        "%a: tensor<2x3x7xf32>, %k: tensor<4x3x3xf32>",
        "tensor<2x4x4xf32>",
        "  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],"
        " window = {stride = [2], pad = [[1, 1]]}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<2x3x7xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>",
    )
    rng = np.random.default_rng(6)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in ((2, 3, 7), (4, 3, 3))]
    data, kernel = np.pad(arrays[0], ((0, 0), (0, 0), (1, 1))), arrays[1]
    wanted = np.stack(
        [np.einsum("bfw,ofw->bo", data[:, :, 2 * at : 2 * at + 3], kernel) for at in range(4)], 2
    )
    np.testing.assert_allclose(written_out(text, "convolution", *arrays)[0], wanted, rtol=1e-5)


def test_convolutions_add_up_in_the_type_of_the_result(written_out):
    """Products of 8 bits exceed these: 24 * 100 * 100."""
    text = function(
        "%a: tensor<2x8x5xi8>, %k: tensor<4x8x3xi8>",
        "tensor<2x4x3xi32>",
        "  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],"
        " window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<2x8x5xi8>, tensor<4x8x3xi8>) -> tensor<2x4x3xi32>",
    )
    arrays = np.full((2, 8, 5), 100, np.int8), np.full((4, 8, 3), 100, np.int8)
    (found,) = written_out(text, "convolution", *arrays)
    np.testing.assert_array_equal(found, np.full((2, 4, 3), 240000))


# --- Other operations ---------------------------------------------------------------------------


def test_products_of_narrow_numbers_are_added_up_in_wide_ones(written_out):
    """Of 300 ones, a sum in bf16 comes to 256 and stays there."""
    text = function(
        "%a: tensor<1x300xbf16>, %b: tensor<300x1xbf16>",
        "tensor<1x1xbf16>",
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<1x300xbf16>, tensor<300x1xbf16>) -> tensor<1x1xbf16>",
    )
    ones = np.ones((1, 300), np.float32)
    assert written_out(text, "dot_general", ones, ones.T) == [[[300]]]


def test_products_of_wide_numbers_stay(context):
    text = function(
        "%a: tensor<2x2xf32>",
        "tensor<2x2xf32>",
        "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]"
        " : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
    )
    module = decomposed(ir.Module.parse(text, context), {"dot_general"})
    assert len(operations_named({"stablehlo.dot_general"}, module)) == 1
    assert not operations_named({"stablehlo.convert"}, module)


def test_sums_of_truth_values(context):
    """Also in the bodies of reductions; other sums stay."""
    text = """
func.func @main(%a: tensor<4x2xi1>, %n: tensor<4xi8>) -> (tensor<4xi1>, tensor<4xi8>) {
  %c = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<4x2xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = stablehlo.add %0, %0 : tensor<4xi1>
  %2 = stablehlo.add %n, %n : tensor<4xi8>
  return %1, %2 : tensor<4xi1>, tensor<4xi8>
}"""
    module = decomposed(ir.Module.parse(text, context), {"add"})
    assert len(operations_named({"stablehlo.add"}, module)) == 1
    assert len(operations_named({"stablehlo.or"}, module)) == 2


def test_barriers(context):
    text = function(
        "%a: tensor<2xf32>",
        "tensor<2xf32>",
        "  %0 = stablehlo.optimization_barrier %a : tensor<2xf32>",
    )
    module = decomposed(ir.Module.parse(text, context), {"optimization_barrier"})
    assert not operations_named({"stablehlo.optimization_barrier"}, module)


def test_batch_normalisation(written_out):
    rng = np.random.default_rng(7)
    data, gradient = rng.normal(size=(2, 4, 3, 2)).astype(np.float64)[..., None] * [1, 2]
    scale, offset = rng.normal(size=(2, 3))
    epsilon = 0.1
    mean, variance = data.mean((0, 2, 3)), data.var((0, 2, 3))
    spread = lambda vector: vector.reshape(1, -1, 1, 1)  # noqa: E731
    root = np.sqrt(variance + epsilon)
    tensor, vector = "tensor<4x3x2x2xf64>", "tensor<3xf64>"
    attributes = "{epsilon = 0.1 : f32, feature_index = 1 : i64}"
    text = f"""
func.func @main(%x: {tensor}, %s: {vector}, %o: {vector}, %d: {tensor})
    -> ({tensor}, {vector}, {vector}, {tensor}, {tensor}, {vector}, {vector}) {{
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {attributes}
    : ({tensor}, {vector}, {vector}) -> ({tensor}, {vector}, {vector})
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %0#1, %0#2) {attributes}
    : ({tensor}, {vector}, {vector}, {vector}, {vector}) -> {tensor}
  %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %0#1, %0#2, %d) {attributes}
    : ({tensor}, {vector}, {vector}, {vector}, {tensor}) -> ({tensor}, {vector}, {vector})
  return %0#0, %0#1, %0#2, %1, %2#0, %2#1, %2#2
    : {tensor}, {vector}, {vector}, {tensor}, {tensor}, {vector}, {vector}
}}"""
    found = written_out(text, "batch_norm_training", data, scale, offset, gradient)
    normal = (data - spread(mean)) / spread(root)
    wanted = normal * spread(scale) + spread(offset)
    of_scale, of_offset = (gradient * normal).sum((0, 2, 3)), gradient.sum((0, 2, 3))
    count = data.size // 3
    of_data = spread(scale / root) * (
        gradient - spread(of_offset) / count - normal * spread(of_scale) / count
    )
    for ours, theirs in zip(
        found, [wanted, mean, variance, wanted, of_data, of_scale, of_offset], strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
