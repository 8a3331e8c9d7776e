# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Misspelled attributes are reported, and others of users are not."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect


def warnings(attributes, context):
    with collect() as found:
        parse(
            f"""sdy.mesh @mesh = <["x"=2]>
            func.func @main(%a: tensor<8xf32> {{{attributes}}}) -> tensor<8xf32> {{
              return %a : tensor<8xf32>
            }}""",
            context,
        )
    return [(str(each.location), each.message) for each in found]


def test_a_misspelled_attribute(context):
    message = "nothing reads the attribute 'sdy.shading'; did you mean 'sdy.sharding'?"
    found = warnings('sdy.shading = #sdy.sharding<@mesh, [{"x"}]>', context)
    assert found == [("-:2:48", message)]


@pytest.mark.parametrize(
    "attributes",
    [
        'sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>',
        "sdy.of_a_user = 1 : i32",
        'xla.sdy.shading = "{}"',
        'jax.text = "sdy.shading = 1"',
    ],
)
def test_others_are_not_reported(context, attributes):
    assert warnings(attributes, context) == []
