# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operation with a sharding rule has a record, and the fields of records agree."""

import sys

import pytest

import operation_table
from pyshardy.partition import records as families
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord, record_of, records
from pyshardy.partition.records import pad
from pyshardy.rules import registered_names


def test_operations_with_rules_have_records():
    """Operations of `mpmd` are not partitioned: each fragment is, as a program of its own."""
    names = {name for name in registered_names() if not name.startswith("mpmd.")}
    assert names <= records().keys()


def test_operations_exist(context):
    assert not [name for name in records() if not context.is_registered_operation(name)]


def test_unknown_operations_are_not_registered(context):
    assert not context.is_registered_operation("stablehlo.no_such_operation")
    assert record_of("stablehlo.no_such_operation") == PartitionRecord()


def test_operations_have_a_local_form_or_a_reason():
    for name, record in records().items():
        assert (record.local_form is None) == bool(record.replicated_because), name


def test_fields_agree():
    """Fields that describe the computation on shards need a local form."""
    for name, record in records().items():
        if record.local_form is None:
            assert record == PartitionRecord(
                replicated_because=record.replicated_because, work=record.work
            ), name
        if record.fit_sizes or record.is_device_dependent or record.is_unchanged_locally:
            assert record.local_form is not retype_only, name
        if record.neutral_values:
            assert record.completion, name
        if record.linear_operands and record.local_form is retype_only:
            assert record.linearity, name


@pytest.fixture
def reread():
    """Read the families again, in the test and after it."""
    records.cache_clear()
    yield
    records.cache_clear()
    sys.modules.pop("pyshardy.partition.records.mine", None)


@pytest.mark.usefixtures("reread")
def test_operations_are_in_one_family(monkeypatch):
    monkeypatch.setattr(pad, "RECORDS", {"stablehlo.slice": PartitionRecord()})
    with pytest.raises(ValueError, match=r"records\.slices: other records of stablehlo\.slice"):
        records()


@pytest.mark.usefixtures("reread")
def test_a_family_is_found_by_its_place(tmp_path, monkeypatch):
    """Another operation needs one more file, and no other change."""
    (tmp_path / "mine.py").write_text(
        "from pyshardy.partition.local.arithmetic import retype_only\n"
        "from pyshardy.partition.op_facts.record import PartitionRecord\n"
        'RECORDS = {"my.scale": PartitionRecord(local_form=retype_only)}\n'
    )
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(tmp_path)])
    assert record_of("my.scale").local_form is retype_only


def test_the_table_has_text():
    """The cells are docstrings; that of the local form or of the reason is never empty."""
    for name, record in records().items():
        cells = [*operation_table.local_cells(record), *operation_table.reason_cells(record)]
        assert cells[0], name


def test_table_is_current():
    text = operation_table.PAGE.read_text(encoding="utf-8")
    assert text == operation_table.page(), "run tools/operation_table.py"
