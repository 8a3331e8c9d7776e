# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the communication of programs.

    from pyshardy.testing import assert_communication

    def test_step():
        assert_communication(step, parameters, batch, mesh=mesh, in_shardings=shardings,
                             at_most={"all_reduce": 2, "all_gather": 0}, max_memory="1GiB")

The pytest plugin has the fixture `sdy_contract`, which also compares with golden files.
"""

from pyshardy.contracts.contract import (
    Contract,
    ContractViolation,
    MeasuredProgram,
    PlacedCollective,
)
from pyshardy.testing.communication import (
    assert_communication,
    assert_equals_golden,
    golden_text,
    measure_communication,
)

__all__ = [
    "Contract",
    "ContractViolation",
    "MeasuredProgram",
    "PlacedCollective",
    "assert_communication",
    "assert_equals_golden",
    "golden_text",
    "measure_communication",
]
