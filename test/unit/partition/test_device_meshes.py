# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mesh whose devices run a function is one in use there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyshardy as sdy
from mlir_sdy.diagnostics import SdyError

SIZES = (2, 3, 4, 6, 8)


def program(entries, meshes, depth):
    """A chain of `depth` functions below each entry, all sharded on the entry's mesh.

    Args:
        entries: for each entry the number of its devices.
        meshes: the numbers of devices of all meshes, in the order of their declarations.
        depth: how many functions an entry calls, one through the other.
    """
    lines = [f'sdy.mesh @mesh{size} = <["x"={size}]>' for size in meshes]
    for entry, size in enumerate(entries):
        sharded = f'sdy.sharding = #sdy.sharding<@mesh{size}, [{{"x"}}]>'
        value = f'sdy.sharding = #sdy.sharding_per_value<[<@mesh{size}, [{{"x"}}]>]>'
        for level in range(depth + 1):
            name = f"@f{entry}_{level}" if level or entry else "@main"
            call = f"func.call @f{entry}_{level + 1}(%a)"
            operation = "stablehlo.negate %a" if level == depth else call
            kind = "(tensor<48xf32>) -> tensor<48xf32>" if level < depth else "tensor<48xf32>"
            lines.append(
                f"func.func {'private ' if level else ''}{name}(%a: tensor<48xf32> {{{sharded}}})"
                f" -> (tensor<48xf32> {{{sharded}}}) {{\n"
                f"  %0 = {operation} {{{value}}} : {kind}\n  return %0 : tensor<48xf32>\n}}"
            )
    return "\n".join(lines)


@given(
    st.lists(st.sampled_from(SIZES), min_size=1, max_size=3),
    st.permutations(SIZES),
    st.integers(0, 3),
)
@settings(max_examples=30, deadline=None)
def test_functions_that_do_not_call_each_other_have_devices_of_their_own(entries, meshes, depth):
    module = sdy.parse(program(entries, meshes, depth), sdy.Context())
    sdy.run_pipeline(module, "sdy-convert-global-to-local")
    found = {
        view.operation.attributes["sym_name"].value: view.type.inputs[0].shape[0]
        for view in module.body.operations
        if view.operation.name == "func.func"
    }
    for entry, size in enumerate(entries):
        for level in range(depth + 1):
            name = f"f{entry}_{level}" if level or entry else "main"
            assert found[name] == 48 // size


@given(st.sampled_from(SIZES), st.permutations(SIZES))
@settings(max_examples=10, deadline=None)
def test_meshes_that_nothing_uses_do_not_count(size, meshes):
    module = sdy.parse(program([size], meshes, 1), sdy.Context())
    made = sdy.partition(module)
    assert made.mesh.total_size == size
    x = np.arange(48, dtype=np.float32)
    np.testing.assert_array_equal(made.run([x])[0], -x)


def test_replicated_shardings_do_not_decide():
    text = """
      sdy.mesh @two = <["a"=2]>
      sdy.mesh @eight = <["x"=8]>
      func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@two, [{}]>},
                      %b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@eight, [{"x"}]>})
          -> tensor<16xf32> {
        %0 = stablehlo.add %a, %b : tensor<16xf32>
        return %0 : tensor<16xf32>
      }"""
    made = sdy.partition(sdy.parse(text, sdy.Context()))
    assert made.mesh.total_size == 8
    np.testing.assert_array_equal(made.run([np.ones(16), np.ones(16)])[0], np.full(16, 2))


def test_callers_and_callees_need_the_same_devices():
    text = program([2], [8, 2], 1)
    inner = text.index("func.func private")
    text = text[:inner] + text[inner:].replace("@mesh2", "@mesh8")
    with pytest.raises(SdyError, match=r"on \d devices, but the mesh @mesh8 of its function has 8"):
        sdy.run_pipeline(sdy.parse(text, sdy.Context()), "sdy-convert-global-to-local")
