# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of custom calls in XLA's form, as strings, are read wherever rules are."""

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, collect

RULE = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}, custom>"
FORMS = [
    f'mhlo.frontend_attributes = {{xla.sdy.sharding_rule = "{RULE}"}}',
    f'xla.sdy.sharding_rule = "{RULE}"',
    f"sdy.sharding_rule = {RULE}",
]
TEXT = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @foo(%a) {ATTRIBUTE} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}"""


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


@pytest.mark.parametrize("form", FORMS)
def test_propagated_partitioned_and_run(context, form):
    module = sdy.parse(TEXT.replace("ATTRIBUTE", form), context)
    with collect() as found:
        record = sdy.propagate(module)
    assert not found
    assert "factor i=8" in str(record.explain("%1"))
    program = sdy.partition(module)
    assert not program.collectives
    options = sdy.CompileOptions(custom_calls={"foo": lambda array: [array + 1]})
    (result,) = program.run([np.ones((8, 4), np.float32)], options=options)
    np.testing.assert_array_equal(result, np.full((8, 4), -2))


def test_explained_and_planned(context):
    """All forms give the same explanations and plans."""
    explained, plans = set(), set()
    for form in FORMS:
        module = sdy.parse(TEXT.replace("ATTRIBUTE", form), context)
        explained.add(str(sdy.explain(module).collectives))
        with collect() as found:
            plans.add(str(sdy.auto_shard(module, hardware="h100").shardings))
        assert not found
    assert explained == {"CollectiveList(0 collectives, 0 bytes sent)"}
    assert len(plans) == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("#sdy.sharding<@mesh, [{}]>", "is not an #sdy.op_sharding_rule"),
        ("([i])->([i])", "is not an #sdy.op_sharding_rule"),
        ("#sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>", "mapping rank must match"),
    ],
)
def test_wrong_rules_are_refused(context, rule, message):
    text = TEXT.replace("ATTRIBUTE", FORMS[0].replace(RULE, rule))
    with pytest.raises(PassError, match=message) as refusal:
        sdy.propagate(sdy.parse(text, context))
    assert "stablehlo.custom_call" in str(refusal.value)
