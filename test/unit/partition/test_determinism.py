# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program is partitioned to one text, whatever strings hash to and wherever memory is.

A part of the corpus here; `python tools/check_determinism.py` checks all of it.
"""

from pathlib import Path

import numpy as np

from check_determinism import CORPUS, differences
from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.program import partition, run_unpartitioned

GROUPED = Path(__file__).with_name("programs") / "grouped_convolutions.mlir"
"""Its second kernel is padded and cut again, by operations that take the place of others."""


def test_one_text():
    programs = [GROUPED, *sorted(CORPUS.glob("*.mlir"))[::36]]
    assert list(differences(programs, times=2)) == []


def test_uneven_input_features_of_a_grouped_kernel():
    module = parse(GROUPED.read_text(), Context())
    propagate(module)
    program = partition(module)
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-3, 4, port.spec.shape).astype(np.float32) for port in program.inputs]
    np.testing.assert_array_equal(program.run(inputs), run_unpartitioned(module, inputs))
