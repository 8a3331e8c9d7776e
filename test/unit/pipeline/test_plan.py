# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a pipeline to its steps: look-up of names, nesting, errors."""

import pytest

from mlir_sdy.diagnostics import UsageError, collect
from pyshardy.pipeline import plan_pipeline, register_pass
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.host_passes import knows


def steps(text: str) -> list[str]:
    return [str(step.pipeline) for step in plan_pipeline(text)]


@pytest.mark.parametrize("name", WELL_KNOWN_HOST_PASSES)
def test_the_host_has_the_well_known_passes(name: str):
    assert knows(name)


def test_old_names_are_accepted_with_a_warning():
    text = "sdy-insert-explicit-reshards{replicate-without-local-form=true}"
    with collect() as diagnostics:
        planned = steps(f"func.func(sdy-unshard-short-dimensions,{text})")
    assert planned == [
        "builtin.module(func.func(sdy-unshard-size-one-dims))",
        "builtin.module(func.func(sdy-insert-explicit-reshards{compatibility=cheapest}))",
    ]
    assert [each.message for each in diagnostics] == [
        "pass 'sdy-unshard-short-dimensions' is deprecated and will be removed in the next "
        "release: use 'sdy-unshard-size-one-dims'",
        "option 'replicate-without-local-form' of 'sdy-insert-explicit-reshards' is deprecated and "
        "will be removed in the next release: use 'compatibility=cheapest'",
    ]
    assert [each.location.column for each in diagnostics] == [11, 40]


def test_python_and_host_passes_mix():
    assert steps("cse,sdy-close-shardings,func.func(canonicalize{max-iterations=2},cse)") == [
        "builtin.module(cse)",
        "builtin.module(sdy-close-shardings)",
        "builtin.module(func.func(canonicalize{max-iterations=2}))",
        "builtin.module(func.func(cse))",
    ]


@pytest.mark.parametrize("name", ["sdy-drop-sharding-rules", "stablehlo-canonicalize-dynamism"])
def test_function_passes_nest_implicitly(name: str):
    assert steps(name) == steps(f"func.func({name})") == [f"builtin.module(func.func({name}))"]


def test_host_passes_may_nest_in_other_operations():
    assert steps("builtin.module(cse),any(cse)") == [
        "builtin.module(builtin.module(cse))",
        "builtin.module(any(cse))",
    ]


def test_named_pipelines_are_expanded(add_pass):
    def tidy(*, rounds: int = 1) -> str:
        return ",".join(["cse"] * rounds)

    add_pass("tidy", tidy, anchor=None)
    assert steps("func.func(tidy{rounds=2}),tidy") == [
        "builtin.module(func.func(cse))",
        "builtin.module(func.func(cse))",
        "builtin.module(cse)",
    ]


def test_the_partition_pipeline():
    names = [step.argument for step in plan_pipeline("sdy-partition-pipeline")]
    assert names[:2] == ["sdy-lift-inlined-meshes", "sdy-mark-contracts"]
    assert names[-1] == "sdy-drop-sharding-and-mesh"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("csee", 1, "unknown pass 'csee'; did you mean 'cse'?"),
        ("cse,sdy-close-sharding", 5, "did you mean 'sdy-close-shardings'?"),
        ("qqqqq", 1, "unknown pass 'qqqqq'"),
        ("func.func(sdy-close-shardings)", 11, "runs on 'builtin.module', not within 'func.func("),
        ("builtin.module(builtin.module(sdy-close-shardings))", 31, "not within 'builtin.module("),
        ("func.func(convert-func-to-llvm)", 11, "runs on 'builtin.module', not within"),
        ("scf.for(sdy-drop-sharding-rules)", 9, "runs on 'func.func', not within 'scf.for(...)'"),
        ("canonicalize{a=1}", 14, "pass 'canonicalize': no option 'a'"),
        ("canonicalize{max-iterations=a}", 14, "option 'max-iterations': 'a' value invalid"),
        ("canonicalize{test-convergence=5}", 14, "option 'test-convergence': '5' is invalid value"),
        ("sdy-close-shardings{x}", 21, "'sdy-close-shardings' has no options"),
    ],
)
def test_errors(text: str, column: int, message: str, capfd):
    with pytest.raises(UsageError) as raised:
        plan_pipeline(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.location is not None
    assert diagnostic.location.column == column
    assert message in diagnostic.message
    assert capfd.readouterr().err == "", "the host's own message must not get through"


def test_a_pipeline_that_contains_itself(add_pass):
    add_pass("loop", lambda: "cse,loop", anchor=None)
    with pytest.raises(UsageError, match="pipeline 'loop' contains itself"):
        plan_pipeline("loop")


def test_a_pass_named_as_one_of_mlir(add_pass):
    add_pass("cse", lambda _: None)
    with collect() as said:
        assert [step.info is None for step in plan_pipeline("cse")] == [False]
    assert "the registered pass 'cse' hides the one of MLIR" in said[0].message
    register_pass("cse", replace=True)(lambda _: None)
    with collect() as said:
        assert [step.info is None for step in plan_pipeline("cse")] == [False]
    assert not said


def test_errors_in_a_named_pipeline_are_located_in_it(add_pass):
    add_pass("broken", lambda: "cse,,", anchor=None)
    with pytest.raises(UsageError, match="<broken>:1:5: error"):
        plan_pipeline("broken")


def test_a_pipeline_that_refuses_its_options(add_pass):
    def pick(*, one: bool = False, other: bool = False) -> str:
        if one and other:
            raise ValueError("options 'one' and 'other' exclude each other")
        return "cse"

    add_pass("pick", pick, anchor=None)
    with pytest.raises(UsageError, match="pipeline 'pick': options 'one' and 'other'"):
        plan_pipeline("pick{one=true other=true}")
    assert plan_pipeline("pick{one=true}")
