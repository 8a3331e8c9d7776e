# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The nearest of known names."""

import pytest

from mlir_sdy.suggest import nearest


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("tahn", ["tan", "tanh"], "tanh"),
        ("dta", ["dat", "data"], "dat"),
        ("modl", ["data", "model"], "model"),
        ("sdy-basic", ["sdy-basic-propagate", "sdy-basic-x"], "sdy-basic-x"),
        ("tanh", ["tanh"], "tanh"),
        ("q", ["weights"], None),
        ("norm1.weight", ["model.bias", "model.norm1.weight"], "model.norm1.weight"),
    ],
)
def test_nearest(name, known, expected):
    assert nearest(name, known) == expected
