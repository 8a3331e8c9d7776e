# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of users that the system refuses, or that aren't text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mlir_sdy.diagnostics import UsageError
from mlir_sdy.files import write_file
from pyshardy.auto.plans.restrictions import SavedPlan
from pyshardy.auto.strategies.costs import read_measured
from pyshardy.calibration.report import read_measurements
from pyshardy.contracts.files import load_contract
from pyshardy.cost.hardware import load_hardware
from pyshardy.schedules.files import read_tactics


def _read_costs(path: Path) -> object:
    return read_measured(path, load_hardware("h100"))


READERS: dict[str, Callable[[Path], object]] = {
    "the plan": SavedPlan.load,
    "the measurements": _read_costs,
    "the measurements of a script": read_measurements,
    "the contract": load_contract,
    "the hardware file": lambda path: load_hardware(str(path)),
    "the schedule": read_tactics,
}


@pytest.mark.parametrize("content", READERS)
def test_files_that_can_not_be_read(content, tmp_path):
    read, content = READERS[content], content.removesuffix(" of a script")
    path = tmp_path / "file.toml"
    refused = f"cannot read {content} '{path}': "
    with pytest.raises(UsageError, match=f"^{re.escape(refused)}No such file or directory$"):
        read(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=f"^{re.escape(refused)}it is not UTF-8 text$"):
        read(path)


def test_files_that_can_not_be_written(tmp_path):
    with pytest.raises(UsageError, match=f"^cannot write output file '{tmp_path}': Is a directory"):
        write_file(tmp_path, "text")
    write_file(tmp_path / "text", "naïve")
    assert (tmp_path / "text").read_bytes() == "naïve".encode()
