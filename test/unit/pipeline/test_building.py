# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines as values."""

import pytest

from pyshardy.pipeline import (
    PassPipeline,
    on_functions,
    parse_pipeline,
    pipeline_of,
    pipelines,
    plan_pipeline,
    use,
)


def test_the_example_of_the_module():
    built = pipeline_of("sdy-close-shardings", on_functions("cse"), use("inline", max_iterations=2))
    assert built == parse_pipeline("sdy-close-shardings,func.func(cse),inline{max-iterations=2}")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "sdy-resolve-permutation-factors"),
        (False, "sdy-resolve-permutation-factors{enable-halo-exchange=false}"),
    ],
)
def test_an_option_that_equals_its_default_is_omitted(value: bool, text: str):
    assert str(use("sdy-resolve-permutation-factors", enable_halo_exchange=value)) == text


def test_options_of_named_pipelines_and_of_the_host():
    assert str(use("sdy-partition-pipeline", replica_count=1)) == "sdy-partition-pipeline"
    assert str(use("canonicalize", top_down=True)) == "canonicalize{top-down=true}"


def test_pipelines_on_the_module_are_spliced():
    inner = pipeline_of("cse", on_functions("canonicalize"))
    assert str(pipeline_of("symbol-dce", inner)) == (
        "builtin.module(symbol-dce,cse,func.func(canonicalize))"
    )


@pytest.mark.parametrize("name", pipelines())
def test_named_pipelines_are_values_that_their_text_denotes(name: str):
    built = pipelines()[name].build()
    assert isinstance(built, PassPipeline)
    assert parse_pipeline(str(built)) == built
    assert plan_pipeline(built)
