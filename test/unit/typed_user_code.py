# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A user's typed program: `test_api.py` runs it, `test/documentation/test_types.py` checks it."""

import numpy as np
import numpy.typing as npt
from torch_mlir import ir

import pyshardy as sdy

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
"""


def edited(sharding: sdy.TensorSharding, mesh: sdy.Mesh) -> sdy.TensorSharding:
    """Values are edited by methods that return others."""
    part: sdy.AxisRef = mesh.sub_axis("x", 1, 2)
    try:
        return sharding.open(0).with_axis(0, part).close()
    except sdy.ModelError as reason:
        print(reason)
        return sharding.without_axis("x").replicated_on(mesh.axis("x"), mesh)


def picture() -> str:
    """Drawings are text, or files."""
    mesh = sdy.Mesh.of({"x": 4, "y": 2})
    sharding = edited(sdy.sharding('<@mesh, [{}, {"y"}]>'), mesh)
    drawing: sdy.Drawing = sdy.draw(sharding, (8, 4), mesh)
    return drawing.svg + sdy.draw_mesh(mesh).svg


def collectives() -> list[str]:
    """Propagation returns its record, and partitioning the program of one device."""
    context = sdy.Context()
    module = sdy.parse(PROGRAM, context)
    for step in sdy.propagate(module):
        print(step.name, *step.after)
    sdy.verify(module)
    sdy.run_pipeline(module, "canonicalize")
    program: sdy.PartitionedProgram = sdy.partition(module)
    inputs: list[npt.NDArray[np.float32]] = [
        np.ones((8, 4), np.float32),
        np.ones((4, 6), np.float32),
    ]
    (product,) = program.run(inputs)
    assert product.shape == (8, 6)
    assert (product == 4).all()
    print(sdy.asm(program.module))
    return [collective.kind for collective in program.collectives]


def several_sizes() -> list[str]:
    """A program with dynamic sizes is partitioned for each size."""
    text = PROGRAM.replace("8x", "?x")
    module = sdy.parse(text)
    sdy.propagate(module, hints={"a0": 16})
    program: sdy.DynamicProgram = sdy.partition(module, buckets="pow2")
    program = sdy.partition(module, uneven="pad", freeze="all")
    at_a_size: sdy.PartitionedProgram = program.at(a0=8)
    return [str(guard) for guard in program.guards] + [at_a_size.summary()]


def shardings_of_arguments() -> list[sdy.TensorSharding | None]:
    """Shardings are read from and written to the values of a module."""
    module = sdy.parse(PROGRAM)
    values = sdy.values(module)
    sdy.set_sharding(values["%b"], sdy.TensorSharding.fully_open(2, "mesh"))
    return [sdy.get_sharding(values[name]) for name in ("%a", "%b")]


def answers() -> list[str]:
    """One call explains a program; its parts are typed."""
    explained: sdy.ProgramExplanation = sdy.explain(PROGRAM, conservative_propagation=True)
    explained.check(sdy.Contract.of(at_most={"all_reduce": 1}, max_memory="1MB"))
    seconds: float = explained.cost.seconds
    groups = {axes: group.nbytes_sent for axes, group in explained.collectives.by_axes().items()}
    drawing = sdy.draw(explained.program.inputs[0])
    return [str(explained.value("%a")), f"{seconds:.1e}", str(groups), repr(drawing)]


def local_program(module: ir.Module) -> str:
    """The options of pipelines are typed; operations of the dialect have classes."""
    record: sdy.Propagation = sdy.propagate(module, propagation_strategy="basic")
    print(record.explain("%0").sharding, sdy.MeshOp.OPERATION_NAME, sdy.sharding(("x", None)))
    program = sdy.partition(module, hardware="tpu-v5e", combine_collectives=True)
    operations = [view.operation.name for view in program.module.body.operations]
    return f"{operations} on {program.mesh.total_size} devices"


def step(x: npt.NDArray[np.float32], scale: float = 2.0) -> npt.NDArray[np.float32]:
    """A function for JAX."""
    return x * np.float32(scale)


def traced() -> ir.Module:
    """A function becomes a module with the types and shardings of its arguments."""
    mesh = sdy.Mesh({"x": 2})
    x = np.ones((8, 4), np.float32)
    return sdy.jax.trace(step, x, mesh=mesh, in_shardings=sdy.sharding(("x", None)))


def complaint() -> str:
    """Whatever goes wrong in a program is an `SdyError` with diagnostics."""
    try:
        sdy.parse("func.func @f() {", sdy.Context())
    except sdy.ParseError as failure:
        first: sdy.Diagnostic = failure.diagnostics[0]
        return str(first)
    return ""


@sdy.sharding_rule("stablehlo.custom_call", target="typed_user_code.attention")
def attention_rule(_op: object):
    """A rule of one's own."""
    return sdy.rule("b s h d, b t h d -> b s h d", reduction="t")
