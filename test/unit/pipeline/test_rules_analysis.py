# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether operations have rules is known after propagation, until a pass may have added some."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.discardable import get_discardable, set_discardable
from pyshardy.irtools.analyses import UNCHANGED, Changes, analyses_cached, note_analysis
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import PipelineError, run_pipeline
from pyshardy.propagation.rule_attributes import has_rules, may_have_rules
from pyshardy.rules import SHARDING_RULE

TEXT = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a RULE : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
RULE = "{sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>}"
DROP = "func.func(sdy-drop-sharding-rules)"
EXPORT = (
    "sdy-close-shardings,func.func(sdy-insert-explicit-reshards),"
    "canonicalize{enable-patterns=sdy-reshard}"
)


def add_rule(module):
    other = parse(TEXT.replace("RULE", RULE), module.context)
    (given,), (negate,) = (operations_named({"stablehlo.negate"}, each) for each in (other, module))
    set_discardable(negate, SHARDING_RULE, get_discardable(given, SHARDING_RULE))


def add_wrongly(module) -> Changes:
    add_rule(module)
    return UNCHANGED


def module_of(context, rule=""):
    return parse(TEXT.replace("RULE", rule), context)


def test_unknown_outside_of_pipelines(context):
    module = module_of(context).operation
    assert may_have_rules(module)
    assert not has_rules(module)
    assert has_rules(module_of(context, RULE).operation)
    with analyses_cached():
        assert may_have_rules(module)
        note_analysis("sharding-rules", module, False)
        assert not may_have_rules(module)


def known_after(add_pass, module, pipeline):
    known: list[bool] = []
    add_pass("look", lambda module: known.append(may_have_rules(module.operation)))
    run_pipeline(module, f"{pipeline},look", verify_analyses=True)
    return known[-1]


@pytest.mark.parametrize(
    ("rule", "options", "left"),
    [("", "", False), (RULE, "", True), ("", "{keep-sharding-rules=true}", True)],
)
def test_propagation_knows_the_rules_that_are_left(context, add_pass, rule, options, left):
    module = module_of(context, rule)
    pipeline = f"sdy-user-priority-propagate{options}"
    assert known_after(add_pass, module, pipeline) is left


def test_kept_until_rules_are_dropped(context, add_pass):
    module = module_of(context)
    passes = f"sdy-user-priority-propagate,{EXPORT},{DROP}"
    assert not known_after(add_pass, module, passes)


def test_rules_of_other_passes_are_dropped(context, add_pass):
    add_pass("add-rule", add_rule)
    module = module_of(context)
    run_pipeline(module, f"sdy-user-priority-propagate,add-rule,{DROP}")
    assert "sharding_rule" not in asm(module)


def test_a_wrong_declaration_is_found(context, add_pass):
    add_pass("add-wrongly", add_wrongly)
    with pytest.raises(PipelineError, match="changes sharding-rules"):
        run_pipeline(
            module_of(context), "sdy-user-priority-propagate,add-wrongly", verify_analyses=True
        )
