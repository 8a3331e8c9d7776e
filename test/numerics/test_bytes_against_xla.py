# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the corpus with loops send at most as many bytes as XLA's partition of them."""

import importlib.util
import sys
from pathlib import Path

import pytest
from case_counts import spread

ROOT = Path(__file__).resolve().parents[2]
WITH_LOOPS = sorted(
    path
    for path in (ROOT / "test" / "corpus" / "mlir").glob("*.mlir")
    if "stablehlo.while" in path.read_text()
)


@pytest.fixture(scope="module")
def communication():
    """`bench/communication.py` as a module."""
    spec = importlib.util.spec_from_file_location(
        "communication", ROOT / "bench" / "communication.py"
    )
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "bench")
        patch.setitem(sys.modules, "communication", module)
        spec.loader.exec_module(module)
        yield module


def test_there_are_loops():
    assert {"stencil", "transformer_scan_remat"} <= {path.stem for path in WITH_LOOPS}


@pytest.mark.parametrize("path", spread(WITH_LOOPS, 8), ids=lambda path: path.stem)
def test_loops(communication, path):
    row = communication.compare(path)
    assert communication.total(row.ours) <= communication.total(row.theirs)
