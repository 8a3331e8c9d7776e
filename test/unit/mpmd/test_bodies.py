# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that equal bodies of fragments share."""

import pyshardy as sdy
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.bodies import inline_shared_bodies, share_bodies

TANH = "stablehlo.tanh %x : tensor<4xf32>"
NEGATE = "stablehlo.negate %x : tensor<4xf32>"
CUSTOM = "stablehlo.custom_call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>"
MANUAL = """sdy.manual_computation(%x) in_shardings=[<@m1, [{"x"}]>]
    out_shardings=[<@m1, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
      sdy.return %b : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>"""


def fragment(result, operand, *, operations, counter, text=TANH):
    """Return the text of a fragment with a number of operations."""
    body = "\n".join(
        f"    %x{number + 1} = {text.replace('%x', f'%x{number}')}" for number in range(operations)
    )
    return f"""
  %{result} = mpmd.fragment<mesh="m1", origin=["f"]> (%{operand})
      {{call_counter = {counter} : ui32}} (%x0: tensor<4xf32>) {{
{body}
    mpmd.return %x{operations} : tensor<4xf32>
  }} : (!m1) -> !m1"""


def program(*fragments):
    """Return a program of fragments, each of which takes the result of the one before."""
    lines = [
        fragment(at + 1, at, counter=at, **{"operations": 8, **options})
        for at, options in enumerate(fragments)
    ]
    text = f"""
sdy.mesh @m1 = <["x"=2]>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
func.func @main(%0: !m1) -> !m1 attributes {{topology = #mpmd.topology<<"m1" : <["x"=2]>>>}} {{
{"".join(lines)}
  return %{len(lines)} : !m1
}}"""
    return sdy.parse(text.replace("(%0: !m1)", "(%a: !m1)").replace("(%0)", "(%a)"), sdy.Context())


def test_equal_bodies_share_a_function():
    """Two of three bodies are equal; afterwards each fragment has its own body again."""
    module = program({}, {"text": NEGATE}, {})
    before = str(module)
    share_bodies(module)
    assert len(operations_named({"func.func"}, module)) == 3
    assert len(operations_named({"func.call"}, module)) == 3
    assert module.operation.verify()
    inline_shared_bodies(module)
    assert str(module) == before


def test_functions_of_users_stay():
    """A function is shared by its mark, not by its name, which may be taken."""
    own = "func.func private @mpmd.shared_body(%x: tensor<f32>) { return }"
    text = str(program({}, {})).rstrip().removesuffix("}")
    module = sdy.parse(f"{text}{own} }}", sdy.Context())
    before = str(module)
    share_bodies(module)
    assert module.operation.verify()
    inline_shared_bodies(module)
    assert str(module) == before


def test_other_bodies_stay():
    """Passes of the export look into small bodies, and at some operations."""
    module = program({"operations": 2}, {"text": CUSTOM}, {"text": MANUAL})
    before = str(module)
    share_bodies(module)
    assert str(module) == before


def test_exported_programs_have_no_shared_functions():
    """Three fragments call two functions, since a single fragment keeps its argument."""
    found = sdy.mpmd.partition(program({}, {}, {}), schedule="none")
    assert len(found.plan.calls) == 3
    assert len(operations_named({"func.func"}, found.module)) == 3
    assert str(found.module).count("stablehlo.tanh") == 2 * 8
