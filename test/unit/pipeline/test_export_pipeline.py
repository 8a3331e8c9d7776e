# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the export pipeline stands for."""

import pytest

from pyshardy.pipeline import pipelines
from pyshardy.pipelines.exporting import ExportOptions, export_pipeline


def steps(*, first_dump: int = 0, **options) -> list[str]:
    pipeline = export_pipeline(ExportOptions(**options), first_dump=first_dump)
    return list(map(str, pipeline.elements))


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
        "sdy-optimize-collectives",
        "sdy-remove-all-gather-reduce-scatter-for-cmv1",
    }


def test_partitioning_of_single_instructions():
    options = {
        "enable_per_instruction_partitioning": True,
        "per_instruction_partitioning_filter": "selectHigh=3",
        "replica_count": 4,
    }
    expected = [
        "sdy-insert-explicit-reshards{enable-full-version=true}",
        "sdy-per-instruction-partitioning{filter=selectHigh=3 replica-count=4}",
        "canonicalize{enable-patterns=sdy-collective}",
    ]
    for explicit_collectives in (True, False):
        written = steps(**options, enable_insert_explicit_collectives=explicit_collectives)
        start = written.index(expected[0])
        assert written[start : start + 3] == expected


@pytest.mark.parametrize("option", ["dump_sharding_origins", "dump_propagation_edges"])
def test_debugging_is_cleaned_up(option):
    assert "sdy-remove-propagation-debug-info" in steps(**{option: True})


@pytest.mark.parametrize("first", [1, 2])
def test_dumps_are_numbered(first):
    written = steps(first_dump=first, dump_directory="d", enable_insert_explicit_collectives=True)
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
