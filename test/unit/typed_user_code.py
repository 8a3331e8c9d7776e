# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user's typed program looks like; `test_api.py` has pyright check it, and runs it."""

import numpy as np
import numpy.typing as npt

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


def shardings_of_arguments() -> list[sdy.TensorSharding | None]:
    """Shardings are read from and written to the values of a module."""
    module = sdy.parse(PROGRAM, sdy.Context())
    function = module.body.operations[1].operation
    arguments = list(function.regions[0].blocks[0].arguments)
    sdy.set_sharding(arguments[1], sdy.TensorSharding.fully_open(2, "mesh"))
    return [sdy.get_sharding(argument) for argument in arguments]


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
