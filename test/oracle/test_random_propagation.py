# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs through propagation, against C++ Shardy: the same text afterwards.

Seeds and sizes are drawn by hypothesis; a failure ends with the smallest program that it could
find. `PYSHARDY_CASES=20` tries 2,000 programs in all, other ones in each run.
"""

import pytest
from case_counts import cases
from flow_programs import random_flow_module
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from operation_programs import random_operation_module
from programs import random_module_with_calls
from rule_programs import random_rule_module
from shardy import Shardy, ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from pyshardy.pipeline import run_pipeline

NUM_PROGRAMS = cases(100)

PASSES = (
    "sdy-basic-propagate",
    "sdy-basic-propagate{conservative-propagation=true}",
    "sdy-aggressive-propagate",
    "sdy-aggressive-propagate{propagation-strategy=basic-then-aggressive}",
    "sdy-aggressive-propagate{conservative-propagation=true}",
    "sdy-op-priority-propagate",
    "sdy-op-priority-propagate{propagation-strategy=basic}",
    "sdy-user-priority-propagate",
    "sdy-user-priority-propagate{keep-sharding-rules=true}",
    "sdy-user-priority-propagate{run-op-priority-propagation=false}",
)


def programs(*kinds: str) -> st.SearchStrategy[str]:
    """Texts of random programs."""
    writers = {
        "flow": random_flow_module,
        "flow and priorities": lambda *size: random_flow_module(*size, priorities=True),
        "operations": random_operation_module,
        "operations and priorities": lambda *size: random_operation_module(*size, priorities=True),
        "calls": random_module_with_calls,
        "rules": random_rule_module,
        "rules and priorities": lambda *size: random_rule_module(*size, priorities=True),
    }
    return st.builds(
        lambda kind, seed, size: writers[kind](seed, size),
        st.sampled_from(kinds),
        st.integers(0, 2**32 - 1),
        st.integers(1, 14),
    )


def tries(share: float):
    """Settings for some of the programs."""
    return settings(
        max_examples=max(1, round(share * NUM_PROGRAMS)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def compare(shardy: Shardy, context: Context, text: str, theirs: str, ours: str) -> None:
    module = parse(text, context)
    printed = asm(module)
    try:
        expected = shardy.run(printed, f"builtin.module({theirs})")
    except (ShardyAborted, ShardyRefused):  # Here there must be an answer all the same.
        event("C++ Shardy has no answer")
        expected = None
    with collect():
        run_pipeline(module, ours)
    if expected is not None:
        assert asm(module) == asm(parse(expected, context)), f"{ours}\n{printed}"


@tries(0.6)
@given(
    text=programs(
        "flow",
        "flow and priorities",
        "operations",
        "operations and priorities",
        "calls",
        "rules",
        "rules and priorities",
    ),
    dedup=st.booleans(),
)
@pytest.mark.shardy_since(0, 12)
def test_pipeline(shardy, context, text, dedup):
    pipeline = "sdy-propagation-pipeline"
    options = "dedup-functions-fully=true" if dedup else ""
    ours = f"{pipeline}{{{options} compatible=true}}"
    compare(shardy, context, text, f"{pipeline}{{{options}}}", ours)


@tries(0.4)
@given(
    text=programs("flow", "operations", "calls", "rules"),
    propagation=st.sampled_from(PASSES),
    has_edges=st.booleans(),
)
@pytest.mark.shardy_since(0, 12)
def test_passes(shardy, context, text, propagation, has_edges):
    before = "sdy-add-data-flow-edges," if has_edges else ""
    name, _, options = propagation.rstrip("}").partition("{")
    ours = f"{name}{{{options} compatible=true}}"
    compare(shardy, context, text, before + propagation, before + ours)
