# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model, by numbers that can be worked out by hand."""

from dataclasses import replace

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError
from pyshardy.api import propagate
from pyshardy.cost.hardware import Hardware, Link, load_hardware, presets
from pyshardy.cost.measured import Curve
from pyshardy.cost.op_work import TensorSizes, Work
from pyshardy.explain.cost_difference import compare
from pyshardy.explain.estimate import estimate
from pyshardy.local_program.communication import Collective
from pyshardy.partition.op_facts.fusion import FusedValues
from pyshardy.partition.op_facts.work import work_of
from pyshardy.program import partition
from pyshardy.timeline.durations import resource_use_of, seconds_of
from pyshardy.timeline.memory import memory_of
from pyshardy.timeline.operation_table import OperationTable

SLOW = Link(1e3, 1.0)
FAST = Link(1e9, 1e-6)
HARDWARE = Hardware("test", 1e6, 1e6, 1e4, FAST, {"x": SLOW})


def function(context, arguments: str, body: str, result: str):
    module = parse(f"func.func @main({arguments}) -> {result} {{\n{body}\n}}", context)
    block = module.body.operations[0].operation.regions[0].blocks[0]
    return module, [view.operation for view in block.operations]


# --- Work -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text", "result", "work"),
    [
        (
            "%a: tensor<2x3xf32>, %b: tensor<3x5xf32>",
            "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] "
            ": (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>",
            "tensor<2x5xf32>",
            Work(2 * 2 * 3 * 5, 4 * (6 + 15 + 10), "f32", 2),
        ),
        (
            "%a: tensor<2x3xf32>, %b: tensor<3x5xbf16>",
            "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], "
            "precision = [HIGH, HIGHEST] "
            ": (tensor<2x3xf32>, tensor<3x5xbf16>) -> tensor<2x5xf32>",
            "tensor<2x5xf32>",
            Work(2 * 2 * 3 * 5, 4 * (6 + 10) + 2 * 15, "f32-highest", 2),
        ),
        (
            "%a: tensor<2x3xcomplex<f32>>, %b: tensor<3x5xcomplex<f32>>",
            "stablehlo.dot %a, %b "
            ": (tensor<2x3xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<2x5xcomplex<f32>>",
            "tensor<2x5xcomplex<f32>>",
            Work(4 * 2 * 2 * 3 * 5, 8 * (6 + 15 + 10), "f32", 2),
        ),
        (
            "%a: tensor<6x4xbf16>, %b: tensor<3x4x5xbf16>, %c: tensor<3xi32>",
            '"chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<'
            "lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
            "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
            "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> "
            ": (tensor<6x4xbf16>, tensor<3x4x5xbf16>, tensor<3xi32>) -> tensor<6x5xbf16>",
            "tensor<6x5xbf16>",
            # Each of the 6 rows is multiplied with one of the 3 matrices.
            Work(2 * 6 * 4 * 5, 2 * (24 + 60 + 30) + 12, "bf16", 2),
        ),
        (
            "%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %c: tensor<3xi32>",
            '"chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<'
            "lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
            "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], "
            "lhs_ragged_dimensions = [1], rhs_group_dimensions = []>}> "
            ": (tensor<4x6xbf16>, tensor<6x5xbf16>, tensor<3xi32>) -> tensor<3x4x5xbf16>",
            "tensor<3x4x5xbf16>",
            # Each of the 6 contracted elements belongs to one of the 3 products.
            Work(2 * 6 * 4 * 5, 2 * (24 + 30 + 60) + 12, "bf16", 2),
        ),
        (
            "%a: tensor<8xf64>",
            "stablehlo.add %a, %a : tensor<8xf64>",
            "tensor<8xf64>",
            Work(8, 2 * 64),
        ),
        (
            "%a: tensor<8x2xbf16>",
            "stablehlo.transpose %a, dims = [1, 0] : (tensor<8x2xbf16>) -> tensor<2x8xbf16>",
            "tensor<2x8xbf16>",
            Work(0, 64),
        ),
        (
            "%a: tensor<8x2xf32>",
            "stablehlo.slice %a [0:2, 0:2] : (tensor<8x2xf32>) -> tensor<2x2xf32>",
            "tensor<2x2xf32>",
            Work(0, 32),
        ),
        (
            "%a: tensor<8x2xf32>",
            "stablehlo.reshape %a : (tensor<8x2xf32>) -> tensor<16xf32>",
            "tensor<16xf32>",
            Work(),
        ),
        (
            "%a: tensor<8x4xf32>, %b: tensor<f32>",
            "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] "
            ": (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>",
            "tensor<8xf32>",
            Work(32, 4 * (32 + 1 + 8)),
        ),
    ],
)
def test_work(context, arguments, text, result, work):
    module, operations = function(context, arguments, f"%r = {text}\nreturn %r : {result}", result)
    operation = operations[0].operation
    sized = TensorSizes().of_operation(operation, FusedValues(module).accesses(operation))
    assert work_of(operation.name, sized) == work


EXPONENTIALS = """
    %0 = stablehlo.multiply %a, %a : tensor<8x4xf32>
    %1 = stablehlo.exponential %0 : tensor<8x4xf32>
    %2 = stablehlo.reduce(%1 init: %b) applies stablehlo.add across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>"""
FUSED = f"{EXPONENTIALS}\nreturn %2 : tensor<8xf32>"
SOFTMAX = f"""{EXPONENTIALS}
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.divide %1, %3 : tensor<8x4xf32>
    return %4 : tensor<8x4xf32>"""


@pytest.mark.parametrize(
    ("body", "result", "nbytes"),
    [
        # The product, a part of the sum, reads %a; the sum writes 8 elements and reads the scalar.
        (FUSED, "tensor<8xf32>", 4 * (32 + 8 + 1)),
        # The exponential is computed again in the quotient, which reads %a and the sums.
        (SOFTMAX, "tensor<8x4xf32>", 4 * (32 + 8 + 1 + 32 + 8 + 32)),
    ],
    ids=["fused", "softmax"],
)
def test_results_that_are_fused_are_not_in_memory(context, body, result, nbytes):
    module, _ = function(context, "%a: tensor<8x4xf32>, %b: tensor<f32>", body, result)
    use = resource_use_of(module)
    assert sum(each.nbytes for each in use.work.values()) == nbytes


def test_results_that_an_inner_block_uses_are_in_memory(context):
    body = """
        %0 = stablehlo.multiply %a, %a : tensor<8xf32>
        %1 = "stablehlo.if"(%p) ({
          %2 = stablehlo.negate %0 : tensor<8xf32>
          stablehlo.return %2 : tensor<8xf32>
        }, {
          stablehlo.return %a : tensor<8xf32>
        }) : (tensor<i1>) -> tensor<8xf32>
        return %1 : tensor<8xf32>"""
    module, operations = function(
        context, "%a: tensor<8xf32>, %p: tensor<i1>", body, "tensor<8xf32>"
    )
    use = resource_use_of(module)
    (product,) = (n for n, each in enumerate(use.table.operations) if each == operations[0])
    assert use.work[product].nbytes == 4 * 2 * 8


# --- Memory ---------------------------------------------------------------------------------


def test_values_live_until_their_last_use(context):
    module, operations = function(
        context,
        "%a: tensor<100xi8>",
        """
        %0 = stablehlo.concatenate %a, %a, dim = 0
          : (tensor<100xi8>, tensor<100xi8>) -> tensor<200xi8>
        %1 = stablehlo.concatenate %0, %a, dim = 0
          : (tensor<200xi8>, tensor<100xi8>) -> tensor<300xi8>
        %2 = stablehlo.slice %1 [0:10] : (tensor<300xi8>) -> tensor<10xi8>
        return %2 : tensor<10xi8>""",
        "tensor<10xi8>",
    )
    found = memory_of(module)
    assert (found.arguments, found.peak) == (100, 600)  # both concatenations
    assert OperationTable.of(module).operations[found.at] == operations[1]


def test_what_is_fused_or_the_same_memory_counts_once(context):
    module, _ = function(
        context,
        "%a: tensor<10x10xi8>",
        """
        %0 = stablehlo.reshape %a : (tensor<10x10xi8>) -> tensor<100xi8>
        %1 = stablehlo.negate %0 : tensor<100xi8>
        %2 = stablehlo.add %1, %0 : tensor<100xi8>
        return %2 : tensor<100xi8>""",
        "tensor<100xi8>",
    )
    assert memory_of(module).peak == 200  # the argument, and %2


def test_a_loop_needs_what_its_body_needs(context):
    module, _ = function(
        context,
        "%a: tensor<100xi8>, %n: tensor<i32>",
        """
        %0:2 = stablehlo.while(%x = %a, %i = %n) : tensor<100xi8>, tensor<i32>
          cond {
            %c = stablehlo.constant dense<4> : tensor<i32>
            %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          } do {
            %s = stablehlo.concatenate %x, %x, dim = 0
              : (tensor<100xi8>, tensor<100xi8>) -> tensor<200xi8>
            %t = stablehlo.slice %s [50:150] : (tensor<200xi8>) -> tensor<100xi8>
            stablehlo.return %t, %i : tensor<100xi8>, tensor<i32>
          }
        return %0#0 : tensor<100xi8>""",
        "tensor<100xi8>",
    )
    # Arguments, the value that the body changes, and %s; %t is written over %x.
    assert memory_of(module).peak == 104 + 100 + 200


def test_operands_of_fused_operations_are_live_until_the_user_runs(context):
    module, _ = function(
        context,
        "%a: tensor<100xi8>",
        """
        %0 = stablehlo.reverse %a, dims = [0] : tensor<100xi8>
        %1 = stablehlo.compare GT, %0, %a : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi1>
        %2 = stablehlo.concatenate %a, %a, dim = 0
          : (tensor<100xi8>, tensor<100xi8>) -> tensor<200xi8>
        %3 = stablehlo.slice %2 [50:150] : (tensor<200xi8>) -> tensor<100xi8>
        %4 = stablehlo.select %1, %3, %0 : tensor<100xi1>, tensor<100xi8>
        %5 = stablehlo.add %4, %4 : tensor<100xi8>
        return %5 : tensor<100xi8>""",
        "tensor<100xi8>",
    )
    # %0 and %2 and %3; %1 and %4 are fused.
    assert memory_of(module).peak == 100 + 400


@pytest.mark.parametrize(("donated", "beyond"), [("", 100), (" {tf.aliasing_output = 0 : i32}", 0)])
def test_results_are_written_over_donated_arguments(context, donated, beyond):
    body = """
        %0 = stablehlo.negate %a : tensor<100xi8>
        return %0 : tensor<100xi8>"""
    module, _ = function(context, f"%a: tensor<100xi8>{donated}", body, "tensor<100xi8>")
    assert memory_of(module).peak == 100 + beyond


def test_updates_are_in_place(context):
    body = """
        %0 = stablehlo.concatenate %a, %a, dim = 0
          : (tensor<100xi8>, tensor<100xi8>) -> tensor<200xi8>
        %1 = stablehlo.dynamic_update_slice %0, %a, %i
          : (tensor<200xi8>, tensor<100xi8>, tensor<i32>) -> tensor<200xi8>
        return %1 : tensor<200xi8>"""
    arguments = "%a: tensor<100xi8>, %i: tensor<i32>"
    module, _ = function(context, arguments, body, "tensor<200xi8>")
    assert memory_of(module).peak == 104 + 200


# --- Communication --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "nbytes", "group", "axes", "seconds"),
    [
        ("all_gather", 1000, 4, ("y",), 3e-6 + 3e-6),  # the worked example
        ("all_gather", 1000, 4, ("x",), 3.0 + 3.0),
        ("all_reduce", 1000, 4, ("x",), 1.5 + 6.0),
        ("reduce_scatter", 1000, 4, ("y", "x"), 0.75 + 3.0),  # the slowest axis counts
        ("collective_permute", 1000, 4, ('"x":(1)2',), 1.0 + 1.0),
        ("all_to_all", 1000, 1, ("x",), 0.0),
    ],
)
def test_time_of_a_collective(kind, nbytes, group, axes, seconds):
    collective = Collective(kind, nbytes, group, axes, None)
    assert seconds_of(collective, HARDWARE) == pytest.approx(seconds)


PRODUCT = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {}>}},
                %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {}>}})
    -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}"""


def product(context, lhs: str, rhs: str):
    module = parse(PRODUCT.format(lhs, rhs), context)
    propagate(module)
    return partition(module)


def test_estimate(context):
    found = estimate(product(context, '[{}, {"x"}]', '[{"x"}, {}]'), HARDWARE)
    assert found.operations == 2 * 8 * 4 * 8
    assert found.nbytes_sent == 256  # an all-reduce of 256 bytes between two devices
    assert found.bytes_by_axes == {"x": 256}
    assert found.communication_seconds == pytest.approx(0.256 + 2.0)
    assert found.compute_seconds == pytest.approx(512e-6)
    assert found.seconds > found.overlapped
    assert found.argument_bytes == 256
    assert found.fits


def test_difference(context):
    first = product(context, '[{}, {"x"}]', '[{"x"}, {}]')
    second = product(context, '[{}, {"y"}]', '[{"y"}, {}]')
    found = compare(first, second, HARDWARE)
    assert found.first.seconds > found.second.seconds
    assert [(each.name, str(each.second)) for each in found.ports] == [
        ("%arg0", '<@mesh, [{}, {"y"}]>'),
        ("%arg1", '<@mesh, [{"y"}, {}]>'),
    ]
    assert {(each.axes, each.counts) for each in found.collectives} == {
        ("x", (1, 0)),
        ("y", (0, 1)),
    }
    assert not compare(first, first, HARDWARE).collectives


# --- Hardware -------------------------------------------------------------------------------


def test_presets_are_read():
    assert {"a100", "b200", "cpu", "h100", "h200", "mi300x"} <= set(presets())
    assert {"tpu-v5e", "tpu-v5p", "tpu-v6e"} <= set(presets())
    for name in presets():
        assert load_hardware(name).flops_per_second > 0


GOOD = """
flops_per_second = 1e14
bytes_per_second = 1e12
bytes_of_memory = 16e9
[link]
bytes_per_second = 1e11
seconds_to_start = 1e-6
[axes.data]
bytes_per_second = 1e10
seconds_to_start = 1e-5
"""


ORIGIN = f"""{GOOD}
[origin]
devices = "8 x cpu"
date = "2026-11-27"
versions = "jax 0"
mesh = "x:2"
"""
CURVE = f"""{GOOD}
[[measured]]
kind = "all_reduce"
axes = ["data"]
amounts = [10, 20]
seconds = [1, 2]
"""


@pytest.mark.parametrize(
    ("element", "rate"),
    [
        (None, 1e14),
        ("bf16", 1e14),
        ("f16", 1e14),
        ("f32", 5e13),
        ("f32-high", 5e13),
        ("f32-highest", 1e13),
        ("f8E4M3FN", 2e14),
        ("f8E5M2", 3e14),
        ("ui8", 4e14),
        ("i8", 4e14),
        ("i32", 1e14),
    ],
)
def test_rates_by_element(element, rate):
    by_element = {"f32": 5e13, "f32-highest": 1e13, "f8": 2e14, "f8E5M2": 3e14, "i8": 4e14}
    hardware = replace(HARDWARE, flops_per_second=1e14, flops_by_element=by_element)
    assert hardware.flops_of(element) == rate
    assert hardware.work_seconds(rate, 0, element) == 1


def test_estimates_use_the_rate_of_the_elements(context):
    text = """
        sdy.mesh @mesh = <["x"=1]>
        func.func @main(%a: tensor<64x64xELEMENT>) -> tensor<64x64xELEMENT> {
          %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
            : (tensor<64x64xELEMENT>, tensor<64x64xELEMENT>) -> tensor<64x64xELEMENT>
          return %0 : tensor<64x64xELEMENT>
        }"""
    hardware = replace(HARDWARE, bytes_per_second=1e30, flops_by_element={"f32": 5e5})
    for element, rate in (("f32", 5e5), ("f16", HARDWARE.flops_per_second)):
        program = partition(parse(text.replace("ELEMENT", element), context))
        found = estimate(program, hardware)
        assert found.compute_seconds == 2 * 64**3 / rate


def test_hardware_is_read_from_its_text():
    for name in presets():
        assert load_hardware(load_hardware(name).text) == load_hardware(name)


def test_products_of_a_small_dimension_are_slower():
    """A product of 64 rows runs at half of the rate if `half_rate_size` is 64."""
    hardware = Hardware("", 1e12, 1e12, 1e12, Link(1e9, 0), half_rate_size=64)
    work = Work(1e12, 0.0, "f32", 64)
    assert work.seconds(hardware) == 2.0
    assert work.seconds(replace(hardware, half_rate_size=0.0)) == 1.0
    assert Work(1e12).seconds(hardware) == 1.0


def test_estimates_show_the_origin(context, tmp_path):
    """Also those of a program that is partitioned for the value, which passes get as a text."""
    (tmp_path / "mine.toml").write_text(f'name = "mine"\n{ORIGIN}{CURVE.replace(GOOD, "")}')
    hardware = load_hardware(str(tmp_path / "mine.toml"))
    text = 'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main() { return }'
    program = partition(parse(text, context), hardware=hardware)
    found = estimate(program, hardware).summary()
    assert found.startswith("mine (measured on 2026-11-27, 8 x cpu, x:2, jax 0): ")


def test_measured_times_and_rates():
    """They count instead of the constants, where an amount was measured."""
    product = Curve("product", (32, 64), (1e9, 2e9), element="f32")
    passes = Curve("elementwise", (100, 200), (1e-3, 3e-3))
    hardware = replace(HARDWARE, measured=(product, passes), seconds_per_kernel=1e-4)
    assert Work(1e9, 0.0, "f32", 48).seconds(hardware) == pytest.approx(1 / 1.5 + 1e-4)
    assert Work(1e9, 0.0, "f32", 16).seconds(hardware) == pytest.approx(2 + 1e-4)
    assert Work(1e9, 0.0, "f32", 900).seconds(hardware) == pytest.approx(0.5 + 1e-4)
    assert hardware.work_seconds(1e9, 0.0, "f64", 900) == HARDWARE.work_seconds(1e9, 0.0)
    times = [hardware.work_seconds(0, amount) for amount in (0, 50, 150, 400)]
    assert times == [0, 1e-3, 2e-3, pytest.approx(6e-3)]
    assert Work().seconds(hardware) == 0


def test_lanes():
    shared = Hardware("", 1, 1, 1, Link(1, 0), {"data": Link(1, 0, "axis")})
    torus = Hardware("", 1, 1, 1, Link(1, 0, "axis", 2), {"data": Link(1, 0)})
    assert shared.lanes(("data", "x", "y")) == ("data", "link")
    assert torus.lanes(("data", "x", "y")) == ("link", "x", "y")
    assert shared.lanes(()) == ("link",)


def test_a_file(tmp_path):
    (tmp_path / "two_hosts.toml").write_text(GOOD)
    found = load_hardware(str(tmp_path / "two_hosts.toml"))
    assert found.link_along("data") == Link(1e10, 1e-5, "axis")
    assert found.link_along("model") == Link(1e11, 1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("1e14", "0"), "'flops_per_second' in the file is 0: expected a positive"),
        (GOOD.replace("seconds_to_start = 1e-5", ""), "'seconds_to_start' in [axes.data] is miss"),
        (
            GOOD.replace("bytes_of_memory", "memory"),
            "unknown key 'memory' in the file; expected one of",
        ),
        (
            f"{GOOD}[flops_by_element]\nfloat32 = 1e13",
            "unknown elements 'float32' in [flops_by_element]; expected a type of MLIR",
        ),
        (
            f"{GOOD}[flops_by_element]\nf32 = -1",
            "'f32' in [flops_by_element] is -1: expected a positive number",
        ),
        ("flops_per_second = ", "Invalid value (at end of document)"),
        (f"{GOOD}directions = 3", "'directions' in [axes.data] is 3: expected 1 or 2"),
        (
            f'{GOOD}lane = "axes"',
            "'lane' in [axes.data] is 'axes': expected \"shared\" or \"axis\"",
        ),
        (f"half_rate_size = -1\n{GOOD}", "'half_rate_size' in the file is -1: expected zero or a"),
        (f"half_rate_size = inf\n{GOOD}", "'half_rate_size' in the file is inf: expected zero"),
        (f"seconds_per_collective = nan\n{GOOD}", "'seconds_per_collective' in the file is nan"),
        (
            f"compute_while_communicating = 1.5\n{GOOD}",
            "'compute_while_communicating' in the file is 1.5: expected a part of the rate",
        ),
        (
            f"compute_while_communicating = 0\n{GOOD}",
            "'compute_while_communicating' in the file is 0: expected a positive number",
        ),
        (f"seconds_per_kernel = -1\n{GOOD}", "'seconds_per_kernel' in the file is -1: expected"),
        (f"seconds_per_kernel = 3\n{GOOD}", "'seconds_per_kernel' in the file is 3 seconds: exp"),
        (
            GOOD.replace("1e-6", "20"),
            "'seconds_to_start' in [link] is 20 seconds: expected",
        ),
        (GOOD.replace("1e11", "1e30"), "'bytes_per_second' in [link] is 1e+30: expected at most"),
        (f"{GOOD}[origin]\ndate = 3", "'devices' in [origin] is missing: expected a text"),
        (f"{ORIGIN}spred = 3", "unknown key 'spred' in [origin]; expected one of date, devices"),
        (f"{ORIGIN}spread = -1", "'spread' in [origin] is -1: expected zero or a positive"),
        (f"{ORIGIN}interrupted = 1", "'interrupted' in [origin] is 1: expected true or false"),
        (
            ORIGIN.replace("x:2", "x:a"),
            "'mesh' in [origin] is 'x:a': expected axes and sizes",
        ),
        (f"measured = 3\n{GOOD}", "'measured' in the file is no list of tables: write [[meas"),
        (f'{GOOD}[[measured]]\nkind = "al_gather"', "is 'al_gather': expected one of all_gather"),
        (f"{CURVE}rates = [1]", "'rates' in [[measured]] 1 (all_reduce) is for another kind"),
        (f'{CURVE}element = "f32"', "'element' in [[measured]] 1 (all_reduce) is for an"),
        (CURVE.replace("axes =", "axis ="), "unknown key 'axis' in [[measured]] 1; expected"),
        (CURVE.replace('axes = ["data"]', ""), "'axes' in [[measured]] 1 (all_reduce) is missing"),
        (CURVE.replace('["data"]', '"data"'), "(all_reduce) is 'data': expected a list of names"),
        (f"{CURVE}devices = 1", "'devices' in [[measured]] 1 (all_reduce) is 1: expected an int"),
        (CURVE.replace("[10, 20]", "[20, 10]"), "don't rise: sort them, each one once"),
        (CURVE.replace("[10, 20]", "[10]"), "(all_reduce) has 1 amounts, but 2 seconds"),
        (CURVE.replace("[1, 2]", "[1, 0]"), "'seconds' in [[measured]] 1 (all_reduce) has 0: exp"),
        (CURVE.replace("[1, 2]", "1"), "(all_reduce) is 1: expected a list of numbers"),
        (CURVE + CURVE.replace(GOOD, ""), "[[measured]] 2 is the second one of all_reduce along"),
    ],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(UsageError) as failure:
        load_hardware(str(tmp_path / "bad.toml"))
    assert message in str(failure.value)


def test_no_such_hardware(tmp_path):
    with pytest.raises(UsageError, match="unknown hardware 'abacus': expected one of a100, b200"):
        load_hardware("abacus")
    with pytest.raises(UsageError, match=r"cannot read the hardware file '.*none.toml': No such"):
        load_hardware(str(tmp_path / "none.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"hardware file '.*binary.toml': it is not UTF-8 text"):
        load_hardware(str(tmp_path / "binary.toml"))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            """
              cf.br ^bb1(%a : tensor<4xf32>)
            ^bb1(%b: tensor<4xf32>):
              return %b : tensor<4xf32>""",
            "several blocks is unknown: use stablehlo.if",
        ),
        (
            """
              %0 = func.call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
              return %0 : tensor<4xf32>""",
            "no body is unknown",
        ),
    ],
)
def test_functions_of_unknown_cost(context, body, problem):
    text = f"""
    func.func private @outer(tensor<4xf32>) -> tensor<4xf32>
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{{body}
    }}"""
    with pytest.raises(UsageError, match=f"error: the cost of a function with {problem}"):
        resource_use_of(parse(text, context))
