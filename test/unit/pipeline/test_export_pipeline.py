# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the export pipeline stands for."""

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.pipeline import pipelines
from pyshardy.pipeline.export_pipeline import export_pipeline
from pyshardy.pipeline.plan import plan_pipeline
from pyshardy.pipeline.syntax import parse_pipeline


def steps(*arguments, **options) -> list[str]:
    return [
        str(element) for element in parse_pipeline(export_pipeline(*arguments, **options)).elements
    ]


def test_default():
    assert steps() == [
        "sdy-constant-or-scalar-merger",
        "sdy-sink-data-flow-edges",
        "sdy-remove-sharding-groups",
        "sdy-sharding-constraint-to-reshard",
        "sdy-update-non-divisible-input-output-shardings",
        "sdy-remove-sub-axes-in-input-output-shardings",
        "sdy-close-shardings",
        "sdy-verify-unreduced-axes",
        "sdy-insert-explicit-reshards",
        "canonicalize{enable-patterns=sdy-collective}",
        "sdy-drop-sharding-rules",
        "sdy-inline-meshes",
    ]


def test_without_export_for_partitioning():
    assert steps(avoid_export_for_partitioning=True, keep_sharding_rules=True) == [
        "sdy-constant-or-scalar-merger",
        "sdy-sink-data-flow-edges",
        "sdy-update-non-divisible-input-output-shardings",
        "sdy-remove-sub-axes-in-input-output-shardings",
        "sdy-close-shardings",
    ]


def test_explicit_collectives():
    added = set(
        steps(
            enable_insert_explicit_collectives=True, remove_all_gather_reduce_scatter_for_cmv1=True
        )
    ) - set(steps())
    assert added == {
        "sdy-insert-explicit-reshards{enable-full-version=true}",
        "canonicalize{enable-patterns=sdy-reshard}",
        "sdy-reshard-to-collectives",
        "sdy-remove-all-gather-reduce-scatter-for-cmv1",
    }


def test_instructions_are_not_partitioned_yet():
    with pytest.raises(UsageError, match="'enable-per-instruction-partitioning' is not supported"):
        plan_pipeline("sdy-export-pipeline{enable-per-instruction-partitioning=true}")


@pytest.mark.parametrize("option", ["dump_sharding_origins", "dump_propagation_edges"])
def test_debugging_is_cleaned_up(option):
    assert "sdy-remove-propagation-debug-info" in steps(**{option: True})


@pytest.mark.parametrize("first", [0, 2])
def test_dumps_are_numbered(first):
    written = steps(first, dump_directory="d", enable_insert_explicit_collectives=True)
    assert [step for step in written if "save" in step] == [
        f"sdy-save-module{{directory=d name={name} index={first + number}}}"
        for number, name in enumerate(
            [
                "after_propagation",
                "after_explicit_reshards",
                "after_partitioner_with_global_shapes",
            ]
        )
    ]


def test_every_option_is_described():
    for option in pipelines()["sdy-export-pipeline"].options:
        assert option.description
