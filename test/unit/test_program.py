# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioning and running whole programs."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError, UsageError
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy import program as program_module
from pyshardy.api import propagate
from pyshardy.local_program.errors import ExecutionError
from pyshardy.pipeline import Instrumentation, run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

MATMUL = """
sdy.mesh @mesh = <["u"=2, "v"=4]>
func.func @product(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"u"}, {"v"}]>} loc("x"),
    %y: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"v"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"u"}, {}]>,
                         jax.result_info = "out"}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"u"}, {}]>]>}
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


@pytest.fixture(scope="module")
def context() -> Context:
    return Context()


@pytest.fixture(scope="module")
def program(context: Context) -> PartitionedProgram:
    return partition(parse(MATMUL, context, "m.mlir"))


def operands() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.integers(-4, 5, shape).astype(np.float32) for shape in ((8, 16), (16, 4))]


def test_what_a_program_says_of_itself(program):
    assert [port.name for port in program.inputs] == ["x", "%arg1"]
    assert [port.name for port in program.outputs] == ["out"]
    assert [str(port.local_spec) for port in program.inputs] == [
        *("tensor<4x4xf32>", "tensor<4x4xf32>")
    ]
    assert str(program.in_shardings[0]) == '<@mesh, [{"u"}, {"v"}]>'
    assert str(program.out_shardings[0]) == '<@mesh, [{"u"}, {}]>'
    assert program.mesh.total_size == 8
    (collective,) = program.collectives
    assert (collective.kind, collective.nbytes) == ("all_reduce", 4 * 4 * 4)
    assert (collective.group_size, collective.axes) == (4, ("v",))
    assert str(collective.location).startswith("m.mlir:8")


def test_running_gives_the_global_results(program, context):
    x, y = operands()
    (found,) = program.run([x, y])
    np.testing.assert_array_equal(found, x @ y)
    (expected,) = run_unpartitioned(parse(MATMUL, context), [x, y])
    np.testing.assert_array_equal(expected, x @ y)


def test_partitioning_leaves_the_module_alone(context):
    module = parse(MATMUL, context)
    before = str(module)
    partition(module)
    assert str(module) == before


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ([np.zeros((8, 16))], "takes 2 arrays, but got 1"),
        ([np.zeros((8, 16)), np.zeros((4, 16))], r"%arg1 must be .* shape \(16, 4\), got"),
        ([np.zeros((8, 16), complex), np.zeros((16, 4))], "x must be an array of float32"),
        ([[[1, 2], [3]], np.zeros((16, 4))], "x can't become an array: setting an array element"),
        (None, "'sdy.PartitionedProgram.run' takes the arrays in a list, or by name, got None"),
        ((each for each in ()), "takes the arrays in a list, or by name, got a value of type gen"),
    ],
)
def test_inputs_that_do_not_fit(program, inputs, complaint):
    with pytest.raises(SdyError, match=complaint):
        program.run(inputs)


def test_integers_that_a_type_does_not_hold(context):
    text = """
    func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
      return %x : tensor<2xi32>
    }"""
    with pytest.raises(SdyError, match=r"arg0 has an integer of int64 that int32 can't hold"):
        run_unpartitioned(parse(text, context), [np.array([1, 2**40])])


def test_options_of_another_type(program):
    with pytest.raises(SdyError, match="takes options that 'CompileOptions' makes, got 'fast'"):
        program.run(operands(), options="fast")


def test_an_unknown_backend(program):
    with pytest.raises(SdyError, match="unknown backend 'gpu'; there are: 'interpreter', 'jit', "):
        program.run(operands(), backend="gpu")


def test_a_wrong_partitioning_is_noticed(program, context):
    """Without its all-reduce, the copies of the result differ from device to device."""
    text = str(program.module)
    start, end = text.index("%1 ="), text.index("return %1")
    broken = text[:start] + text[end:].replace("return %1", "return %0")
    wrong = replace(program, module=ir.Module.parse(broken, context))
    with pytest.raises(ExecutionError, match="out: devices 0 and 1 should both hold"):
        wrong.run(operands())


def test_a_program_without_a_mesh(context):
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}"
    with pytest.raises(SdyError, match=r"m.mlir:1:1: error: the program has no mesh") as failure:
        partition(parse(text, context, "m.mlir"))
    assert "sdy.mesh @mesh =" in failure.value.diagnostics[0].notes[0].message
    text = text.replace("%x: tensor<4xf32>", '%x: tensor<4xf32> {mhlo.sharding = "{replicated}"}')
    with pytest.raises(SdyError) as failure:
        partition(parse(text, context))
    assert "'mhlo.sharding' is of GSPMD" in failure.value.diagnostics[0].notes[0].message


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("xla.sdy.GlobalToLocalShape", "'sdy-translate FILE --to=portable -o NEW.mlirbc'"),
        ("Sharding", "jax.config.update('jax_use_shardy_partitioner', True)"),
        ("SPMDFullToShardShape", "jax.config.update('jax_use_shardy_partitioner', True)"),
    ],
)
def test_manual_computations_as_calls(context, target, advice):
    """Their operands are on all devices, and their results on one of them."""
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.custom_call @{target}(%a) : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
    with pytest.raises(UsageError, match=re.escape(advice)) as caught:
        partition(parse(text, context))
    assert caught.value.diagnostics[0].location.line == 3


def test_an_entry_without_a_body(context):
    module = parse('sdy.mesh @mesh = <["x"=2]>\nfunc.func private @main(tensor<8xf32>)', context)
    with pytest.raises(SdyError, match="has no entry: '@main' is a declaration without a body"):
        partition(module)


def test_a_program_without_an_entry(context):
    text = MATMUL + MATMUL.replace("@product", "@other").replace("sdy.mesh @mesh", "sdy.mesh @n")
    with pytest.raises(SdyError, match="has no entry: it has 2 functions, none of them '@main'"):
        partition(parse(text, context))


def test_a_private_entry_that_propagation_erased(context):
    module = parse(MATMUL.replace("func.func @", "func.func private @"), context)
    propagate(module)
    with pytest.raises(SdyError, match="has no entry: it has 0 functions") as failure:
        partition(module)
    assert "the entry must be public" in failure.value.diagnostics[0].notes[0].message


@pytest.mark.parametrize("ids", ["", ", device_ids=[3, 1, 0, 2]"])
@pytest.mark.parametrize("spread", ['[{"a"}, {"b"}]', '[{"b", "a"}, {}]', "[{}, {}]"])
def test_layouts_and_orders_of_devices(context, ids, spread):
    sharding = f"#sdy.sharding<@mesh, {spread}>"
    text = f"""
sdy.mesh @mesh = <["a"=2, "b"=2]{ids}>
func.func @main(%x: tensor<4x8xi32> {{sdy.sharding = {sharding}}})
    -> (tensor<4x8xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"a", "b"}}]>}}) {{
  %0 = stablehlo.add %x, %x {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {spread}>]>}}
    : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}}"""
    x = np.arange(32, dtype=np.int32).reshape(4, 8)
    np.testing.assert_array_equal(partition(parse(text, context)).run([x])[0], 2 * x)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("tf.aliasing_output = f32", "'tf.aliasing_output' is f32, which is not a result index"),
        ("tf.aliasing_output = 7 : i32", "'tf.aliasing_output' is 7, but there are 1 results"),
        ("jax.buffer_donor = {}", "'jax.buffer_donor' is {}, which is not a boolean"),
    ],
)
def test_malformed_donations(context, attribute, message):
    text = f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {{{attribute}}}) -> tensor<4xf32> {{
  return %a : tensor<4xf32>
}}"""
    with pytest.raises(UsageError, match=re.escape(message)):
        partition(parse(text, context))


class PassCounts(Instrumentation):
    """Counts the runs of each pass."""

    def __init__(self):
        self.runs = Counter()

    def before_pass(self, step, module):  # noqa: ARG002 (the interface of observers)
        self.runs[str(step.pipeline)] += 1


def test_no_pass_runs_twice(context, monkeypatch):
    counts = PassCounts()

    def counting(module, pipeline, **options):
        observers = (*options.pop("instrumentation", ()), counts)
        run_pipeline(module, pipeline, instrumentation=observers, **options)

    monkeypatch.setattr(program_module, "run_pipeline", counting)
    partition(parse(MATMUL, context))
    assert len(counts.runs) > 20
    assert set(counts.runs.values()) == {1}


def test_interfaces_with_inlined_meshes(context):
    text = MATMUL.replace("@mesh,", 'mesh<["u"=2, "v"=4]>,')
    inlined = partition(parse(text.replace('sdy.mesh @mesh = <["u"=2, "v"=4]>', ""), context))
    named = partition(parse(MATMUL, context))
    assert inlined.mesh == named.mesh
    assert [port.local_spec for port in inlined.inputs] == [
        port.local_spec for port in named.inputs
    ]
