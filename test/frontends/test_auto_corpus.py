# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of the programs of the corpus: partitioned programs send at most what was predicted."""

from pathlib import Path

import pytest

import pyshardy as sdy

CORPUS = Path(__file__).parents[1] / "corpus" / "mlir"
LARGEST = 5500
"""The size of the texts of the largest programs; others take long."""

TOLERANCE = 1.01
"""The most that may be sent, in terms of the predicted bytes."""


def differences(names):
    """Return the programs that send more than predicted, with both numbers of bytes."""
    found = {}
    for name in names:
        module = sdy.parse(CORPUS / f"{name}.mlir")
        check = sdy.auto_shard(module, hardware="h100").check()
        predicted, counted = (sum(each.values()) for each in (check.predicted, check.counted))
        if counted > predicted * TOLERANCE:
            found[name] = predicted, counted
    return found


def names():
    files = [path for path in CORPUS.glob("*.mlir") if path.stat().st_size <= LARGEST]
    return sorted(path.stem for path in files)


@pytest.mark.parametrize("part", range(4))
def test_programs_send_what_was_predicted(part):
    """Collectives of users and of manual computations count as well."""
    own = names()[part::4]
    assert len(own) > 20
    assert differences(own) == {}


@pytest.mark.parametrize(
    "name",
    [
        "convnet_train",
        "transformer_forward_3d",
        "transformer_scan_remat",
        "transformer_scan_train",
        "transformer_train_adam_fsdp",
    ],
)
def test_larger_programs_send_what_was_predicted(name):
    """Any plan does, so that a fast search suffices."""
    module = sdy.parse(CORPUS / f"{name}.mlir")
    plan = sdy.auto_shard(module, hardware="h100", gap=1.0, solver="message_passing")
    check = plan.check()
    predicted, counted = (sum(each.values()) for each in (check.predicted, check.counted))
    assert 0 < counted <= TOLERANCE * predicted, check
