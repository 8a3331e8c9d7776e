# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JIT compiler on any CPU: conversions, and arithmetic on small floating-point numbers.

Programs are compiled for this CPU, and for one that has nothing beyond what LLVM insists on. That
code may not need a function that the process lacks, and computes the same.
"""

import ctypes
import itertools
import platform
import sys

import numpy as np
import pytest
from case_counts import spread
from exact_rounding import (
    FLOATS,
    INTEGERS,
    SMALL_FLOATS,
    is_float,
    midpoints_of,
    numpy_type,
    to_float,
    to_integer,
    values_of,
    width_of,
)
from object_file import undefined_symbols

import pyshardy as sdy
from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.host import hand_out_all_constants, load_loop_passes
from pyshardy.backends import local_engine
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.jit import compiler
from pyshardy.backends.jit.engine import LACKED, FallbackEngine
from pyshardy.backends.jit.machine_code import CPU
from pyshardy.local_program.entry import from_plain, to_plain, with_plain_edges
from pyshardy.local_program.tensor_spec import TensorSpec

BARE = {
    # LLVM can't do without SSE2, in which x86-64 hands over floating-point numbers. The features
    # that this CPU has beside are named; it has none of the other ones.
    "x86_64": "x86-64,-x87,-mmx,-cmov,-cx8,-fxsr,-nopl",
    "aarch64": "generic,-bf16,-fullfp16",
    "arm64": "generic,-bf16,-fullfp16",
}.get(platform.machine(), "generic")
WITHOUT_NAN = ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
PROCESS = ctypes.CDLL(None)
RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def context():
    context = sdy.Context()
    load_loop_passes()
    hand_out_all_constants(context)
    return context


@pytest.fixture
def run(context, monkeypatch):
    """Runs a program compiled for a CPU, or for this one, and checks what its code calls."""

    def call(text, inputs, outputs, arrays, cpu=None, optimization=0):
        if cpu is None:
            monkeypatch.delenv(CPU, raising=False)
        else:
            monkeypatch.setenv(CPU, cpu)
        lowered = str(decomposed(parse(text, context), LACKED))
        plain = with_plain_edges(lowered, inputs, outputs, context)
        program = compiler.compile_text(plain, context, optimization)
        if sys.platform == "linux":
            for symbol in undefined_symbols(program._code):
                assert hasattr(PROCESS, symbol), f"nothing has the function {symbol}"
                assert not symbol.startswith("__"), f"a function of a compiler's library: {symbol}"
        return from_plain(program(to_plain(arrays, inputs)), outputs)

    return call


def assert_same(found, wanted, what):
    """Equal bits, but for the sign and payload of NaNs."""
    np.testing.assert_array_equal(found, wanted, err_msg=what)
    if found.dtype.kind == "f":
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(
            np.signbit(found)[known], np.signbit(wanted)[known], err_msg=f"signs: {what}"
        )


def samples_of(element: str) -> np.ndarray:
    """Numbers of a type: all of them, or those around which rounding decides, and random ones."""
    if element in SMALL_FLOATS:
        return values_of(element)
    width = width_of(element)
    if not is_float(element):
        is_unsigned = element.startswith("u") or element == "i1"
        stored = np.dtype("bool" if width == 1 else f"{'u' * is_unsigned}int{max(width, 8)}")
        low, high = (0, 2**width) if is_unsigned else (-(2 ** (width - 1)), 2 ** (width - 1))
        if width <= 16:
            return np.arange(low, high).astype(stored)
        found = [
            low,
            high - 1,
            0,
            *(int(RANDOM.integers(low, high, dtype=stored)) >> k for k in range(64)),
        ]
        for each in ("bf16", "f16", "f8E5M2"):
            found += [int(x) for x in RANDOM.choice(midpoints_of(each), 400) if x < high]
        found = [x + step for x in found for step in (-1, 0, 1)]
        found += [] if is_unsigned else [-x for x in found]
        return np.array([x for x in found if low <= x < high], stored)
    middles = [RANDOM.permutation(midpoints_of(each))[:2000] for each in SMALL_FLOATS]
    with np.errstate(over="ignore", under="ignore"):
        near = np.concatenate(middles).astype(numpy_type(element))
        bits = RANDOM.integers(0, 2**64, 4000, dtype=np.uint64)
        anything = (bits >> np.uint64(64 - width)).astype(f"u{width // 8}").view(near.dtype)
        edges = np.array([0, np.inf, np.nan, 1e-320, 1e-40, 2.0**31, 2.0**63, 2.0**64], near.dtype)
        numbers = np.concatenate(
            [near, np.nextafter(near, np.inf), np.nextafter(near, 0), anything, edges]
        )
    return np.concatenate([numbers, -numbers])


@pytest.mark.parametrize("source", spread([*FLOATS, *INTEGERS], 4))
def test_conversions(run, source):
    """To every type, rounded once; the code of a bare CPU calls no library for it."""
    numbers = samples_of(source)
    inputs = [TensorSpec((len(numbers),), source)]
    outputs = [TensorSpec((len(numbers),), target) for target in (*FLOATS, *INTEGERS)]
    lines = [
        f"  %{index} = stablehlo.convert %x : ({inputs[0]}) -> {spec}"
        for index, spec in enumerate(outputs)
    ]
    text = program(inputs, outputs, lines)
    arrays = [numbers.astype(inputs[0].dtype)]
    bare, here = (run(text, inputs, outputs, arrays, cpu) for cpu in (BARE, None))
    for spec, slow, fast in zip(outputs, bare, here, strict=True):
        convert = to_float if is_float(spec.element) else to_integer
        wanted = convert(numbers, spec.element).astype(spec.dtype)
        given = f"{source} to {spec.element}"
        assert_same(slow, fast, f"{given} on a bare CPU and here")
        if is_float(source) and spec.element in WITHOUT_NAN:
            # NaN becomes a zero of either sign.
            assert not fast[np.isnan(numbers)].any()
            assert_same(fast[~np.isnan(numbers)], wanted[~np.isnan(numbers)], given)
        else:
            assert_same(fast, wanted, given)


def program(inputs, outputs, lines):
    names = ", ".join(f"%{index}" for index in range(len(outputs)))
    types = ", ".join(map(str, outputs))
    arguments = ", ".join(f"%{name}: {spec}" for name, spec in zip("xyz", inputs, strict=False))
    body = "\n".join(lines)
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}"


@pytest.mark.parametrize("element", SMALL_FLOATS)
def test_constants(run, element):
    """The bits that LLVM gives a constant mean what ours do."""
    values = values_of(element)
    values = values[np.isfinite(values)]
    spec = TensorSpec((len(values),), element)
    wide = spec.with_element("f32")
    text = program(
        [wide],
        [wide],
        [
            f"  %c = stablehlo.constant dense<[{', '.join(map(repr, values.tolist()))}]> : {spec}",
            f"  %0 = stablehlo.convert %c : ({spec}) -> {wide}",
        ],
    )
    (found,) = run(text, [wide], [wide], [values.astype(np.float32)], BARE)
    assert_same(found, values.astype(np.float32), element)


UNARY = {
    "abs": np.abs,
    "negate": np.negative,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round_nearest_even": np.rint,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x),
}
"""Operations whose result is the exact one, rounded."""
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "remainder": np.fmod,
}
NEARLY_UNARY = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""Operations that C libraries and MLIR approximate."""
NEARLY_BINARY = {"power": np.power, "atan2": np.arctan2}


def operands_of(element: str) -> list[np.ndarray]:
    """Three arrays of numbers of a type: all triples of few, or random ones."""
    values = values_of(element)
    if len(values) <= 64:
        return [each.ravel() for each in np.meshgrid(values, values, values[::7])]
    first = np.tile(values, max(1, 2**14 // len(values)))
    return [first, RANDOM.permutation(first), RANDOM.permutation(first)]


@pytest.mark.parametrize("element", spread(SMALL_FLOATS, 6))
def test_operations(run, element):
    """Computed in f32 and rounded; what C libraries approximate is as near as f32 gives it."""
    operands = operands_of(element)
    with np.errstate(invalid="ignore"):
        x, y, z = (each.astype(np.float32) for each in operands)
    spec = TensorSpec(x.shape, element)
    truth = spec.with_element("i1")
    lines, outputs, wanted, exact = [], [], [], []

    def expect(line, result, numbers, is_exact=True):
        lines.append(f"  %{len(outputs)} = stablehlo.{line}")
        outputs.append(result)
        wanted.append(numbers)
        exact.append(is_exact)

    with np.errstate(all="ignore"):
        for name, function in (UNARY | NEARLY_UNARY).items():
            expect(f"{name} %x : {spec}", spec, function(x), name in UNARY)
        for name, function in (BINARY | NEARLY_BINARY).items():
            expect(f"{name} %x, %y : {spec}", spec, function(x, y), name in BINARY)
        for name, function in (
            ("LT", np.less),
            ("EQ", np.equal),
            ("GE", np.greater_equal),
            ("NE", np.not_equal),
        ):
            line = f"compare {name}, %x, %y, FLOAT : ({spec}, {spec}) -> {truth}"
            expect(line, truth, function(x, y))
        expect(f"is_finite %x : ({spec}) -> {truth}", truth, np.isfinite(x))
        expect(f"clamp %x, %y, %z : {spec}", spec, np.minimum(np.maximum(y, x), z))
        lines.append(f"  %p = stablehlo.compare LT, %x, %y, FLOAT : ({spec}, {spec}) -> {truth}")
        expect(f"select %p, %y, %z : {truth}, {spec}", spec, np.where(x < y, y, z))
    inputs = [spec] * 3
    text = program(inputs, outputs, lines)
    bare, here = (run(text, inputs, outputs, [x, y, z], cpu) for cpu in (BARE, None))
    names = [line.split()[2] for line in lines if not line.startswith("  %p")]
    for name, result, slow, fast, numbers, is_exact in zip(
        names, outputs, bare, here, wanted, exact, strict=True
    ):
        assert_same(slow, fast, f"{name} of {element} on a bare CPU and here")
        if result is truth:
            np.testing.assert_array_equal(fast, numbers, err_msg=name)
        else:
            assert_rounded(fast, numbers, element, name, is_exact)


def assert_rounded(found, wanted, element, name, is_exact):
    rounded = to_float(wanted.astype(np.float64), element)
    is_same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    if not is_exact:
        lower, upper = (
            to_float(wanted.astype(np.float64) * (1 + step), element) for step in (-2e-5, 2e-5)
        )
        is_same |= (found == lower) | (found == upper) | (np.abs(found - wanted) < 1e-37)
    assert is_same.all(), (name, element, found[~is_same][:4], rounded[~is_same][:4])


INTEGER_OPERATIONS = {
    "abs": 1,
    "negate": 1,
    "sign": 1,
    "not": 1,
    "popcnt": 1,
    "count_leading_zeros": 1,
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "remainder": 2,
    "power": 2,
    "maximum": 2,
    "minimum": 2,
    "and": 2,
    "or": 2,
    "xor": 2,
    "shift_left": 2,
    "shift_right_arithmetic": 2,
    "shift_right_logical": 2,
}
COMPLEX_OPERATIONS = {
    "negate": 1,
    "sign": 1,
    "sqrt": 1,
    "rsqrt": 1,
    "exponential": 1,
    "exponential_minus_one": 1,
    "log": 1,
    "log_plus_one": 1,
    "logistic": 1,
    "sine": 1,
    "cosine": 1,
    "tan": 1,
    "tanh": 1,
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "power": 2,
}
FLOAT_OPERATIONS = {
    **dict.fromkeys(UNARY | NEARLY_UNARY, 1),
    **dict.fromkeys(BINARY | NEARLY_BINARY, 2),
}
LARGE = {
    **{element: INTEGER_OPERATIONS for element in INTEGERS if element != "i1"},
    **dict.fromkeys(("f32", "f64"), FLOAT_OPERATIONS),
    **dict.fromkeys(("complex<f32>", "complex<f64>"), COMPLEX_OPERATIONS),
}


@pytest.mark.parametrize(
    ("element", "optimization"), spread([*itertools.product(LARGE, (0, 2))], 4)
)
def test_operations_on_other_types(run, element, optimization):
    """Integers of 64 bits, complex numbers and C functions need no other library, either."""
    operations = LARGE[element]
    spec = TensorSpec((64,), element)
    without_sign = element.startswith("u") and ("abs", "sign")
    names = [name for name in operations if name not in (without_sign or ())]
    lines = [
        f"  %{index} = stablehlo.{name} {', '.join(['%x', '%y'][: operations[name]])} : {spec}"
        for index, name in enumerate(names)
    ]
    x, y = (RANDOM.integers(1, 8, 64).astype(spec.dtype) for _ in range(2))
    outputs = [spec] * len(names)
    text = program([spec] * 2, outputs, lines)
    bare, here = (run(text, [spec] * 2, outputs, [x, y], cpu, optimization) for cpu in (BARE, None))
    for name, slow, fast in zip(names, bare, here, strict=True):
        np.testing.assert_array_equal(slow, fast, err_msg=name)


STRUCTURED = """
func.func @main(%x: tensor<8x8xELEMENT>, %y: tensor<8x8xELEMENT>, %z: tensor<ELEMENT>)
    -> (tensor<8x8xELEMENT>, tensor<8xELEMENT>, tensor<8xELEMENT>, tensor<8x8xELEMENT>,
        tensor<8x8xELEMENT>, tensor<8x8xELEMENT>, tensor<7x7xELEMENT>, tensor<8x8xELEMENT>) {
  %0 = stablehlo.iota dim = 0 : tensor<8x8xELEMENT>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<8x8xELEMENT>, tensor<ELEMENT>) -> tensor<8xELEMENT>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1]
    : (tensor<8x8xELEMENT>, tensor<ELEMENT>) -> tensor<8xELEMENT>
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<8x8xELEMENT>, tensor<8x8xELEMENT>) -> tensor<8x8xELEMENT>
  %4 = stablehlo.reduce_precision %x, format = e3m1 : tensor<8x8xELEMENT>
  %5 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
      %c = stablehlo.compare LT, %a, %b, TOTALORDER
        : (tensor<ELEMENT>, tensor<ELEMENT>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<8x8xELEMENT>) -> tensor<8x8xELEMENT>
  %6 = "stablehlo.reduce_window"(%x, %z) ({
    ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
      %c = stablehlo.add %a, %b : tensor<ELEMENT>
      stablehlo.return %c : tensor<ELEMENT>
  }) {window_dimensions = array<i64: 2, 2>}
    : (tensor<8x8xELEMENT>, tensor<ELEMENT>) -> tensor<7x7xELEMENT>
  %7 = stablehlo.transpose %y, dims = [1, 0]
    : (tensor<8x8xELEMENT>) -> tensor<8x8xELEMENT>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<8x8xELEMENT>, tensor<8xELEMENT>, tensor<8xELEMENT>,
    tensor<8x8xELEMENT>, tensor<8x8xELEMENT>, tensor<8x8xELEMENT>, tensor<7x7xELEMENT>,
    tensor<8x8xELEMENT>
}"""


@pytest.mark.parametrize(
    ("element", "optimization"),
    [*((each, 0) for each in spread(SMALL_FLOATS, 6)), ("bf16", 2), ("f4E2M1FN", 2)],
)
def test_structured_operations(run, element, optimization):
    whole, scalar, line = (TensorSpec(shape, element) for shape in ((8, 8), (), (8,)))
    inputs = [whole, whole, scalar]
    outputs = [whole, line, line, whole, whole, whole, TensorSpec((7, 7), element), whole]
    x, y = (2.0 ** RANDOM.integers(0, 3, (8, 8)).astype(np.float32) for _ in range(2))
    z = np.float32(1)
    text = STRUCTURED.replace("ELEMENT", element)
    bare, here = (run(text, inputs, outputs, [x, y, z], cpu, optimization) for cpu in (BARE, None))
    for slow, fast in zip(bare, here, strict=True):
        assert_same(slow, fast, element)
    count, _, greatest, product, _, sorted_x, _, transposed = here
    np.testing.assert_array_equal(count[:, 0], to_float(np.arange(8.0), element))
    np.testing.assert_array_equal(greatest, x.max(axis=1))
    np.testing.assert_array_equal(product, to_float((x @ y).ravel(), element).reshape(8, 8))
    np.testing.assert_array_equal(sorted_x, np.sort(x, axis=1))
    np.testing.assert_array_equal(transposed, y.T)


CONVERSION = """
func.func @main(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xbf16> {
  %0 = stablehlo.add %x, %y : tensor<2xf64>
  %1 = stablehlo.convert %0 : (tensor<2xf64>) -> tensor<2xbf16>
  return %1 : tensor<2xbf16>
}"""
WITHOUT_EXPANSION = """
from pyshardy.backends.jit import compiler
compiler.expand_small_floats = lambda *_: None
compiler.run_programs(0)
"""


def test_the_warning_names_the_operation_and_the_missing_function(context, monkeypatch):
    """Were the conversion not written out, the interpreter would take over and say why."""
    monkeypatch.setenv(CPU, BARE)
    child = ChildEngine("the JIT compiler", ("-c", WITHOUT_EXPANSION), lambda module: module)
    engine = FallbackEngine(child, lambda: local_engine("interpreter"), "another one runs it")
    x = np.array([1.0, 3.0])
    with collect() as told:
        (found,) = engine.compile(parse(CONVERSION, context, "p.mlir")).run([[x, x]])[0]
    child.close()
    assert found.tolist() == [2, 6]
    (warning,) = told
    assert str(warning.location) == "p.mlir:4:8"
    assert warning.message == (
        "the JIT compiler failed: 'stablehlo.convert' needs the function '__truncdfbf2', "
        "which this process doesn't have; another one runs it"
    )


def test_the_check_of_symbols_can_fail(context, monkeypatch):
    """Without the expansion, code for a bare CPU can't be linked."""
    monkeypatch.setenv(CPU, BARE)
    monkeypatch.setattr(compiler, "expand_small_floats", lambda *_: None)
    text = (
        "func.func @main(%x: tensor<f64>) -> tensor<f32> {\n"
        "  %0 = stablehlo.convert %x : (tensor<f64>) -> tensor<f16>\n"
        "  %1 = stablehlo.convert %0 : (tensor<f16>) -> tensor<f32>\n  return %1 : tensor<f32>\n}"
    )
    with pytest.raises(RuntimeError, match=r"'stablehlo\.convert' needs the function '__"):
        compiler.compile_text(text, context, 0)
