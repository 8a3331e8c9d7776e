# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pytest plugin: the fixture `sdy_contract` and the flag `--sdy-update`.

pytest loads this module in every session, so it imports the rest of the package only when a test
uses the fixture.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from pyshardy.contracts.contract import MeasuredProgram

_UPDATE = "--sdy-update"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--sdy-update`."""
    group = parser.getgroup("pyshardy")
    group.addoption(
        _UPDATE,
        action="store_true",
        help="write the golden files of 'sdy_contract' instead of comparing with them",
    )


class CheckContract(Protocol):
    """Checks the communication of a program."""

    def __call__(
        self, program: Any, *args: Any, golden: str | None = None, **keywords: Any
    ) -> MeasuredProgram:
        """Assert that the communication of a program is within limits; see `sdy_contract`."""
        ...


@pytest.fixture
def sdy_contract(request: pytest.FixtureRequest) -> CheckContract:
    """Return a function that asserts limits of the communication of a program.

        def test_step(sdy_contract):
            sdy_contract(step, parameters, batch, mesh=mesh, in_shardings=shardings,
                         at_most={"all_gather": 0}, golden="step.json")

    Its arguments are those of `pyshardy.testing.assert_communication`, and `golden`: a file, from
    the folder of the test, with the collectives that the program must have. `--sdy-update` writes
    it. With `golden`, limits aren't needed. Warnings, such as of a limit that always holds, are
    those of pytest.
    """
    from mlir_sdy.diagnostics import collect  # noqa: PLC0415 (loads the host)
    from pyshardy.testing import (  # noqa: PLC0415 (loads the host)
        assert_communication,
        assert_equals_golden,
        measure_communication,
    )

    def check(
        program: Any, *args: Any, golden: str | None = None, **keywords: Any
    ) -> MeasuredProgram:
        __tracebackhide__ = True
        limits = {"contract", "at_most", "no_axes", "max_bytes", "max_memory"}
        has_limits = golden is None or limits & keywords.keys()
        measure = assert_communication if has_limits else measure_communication
        with collect() as told:
            try:
                measured = measure(program, *args, **keywords)
            finally:  # pytest drops what tests that pass print
                for each in told:
                    warnings.warn(str(each), stacklevel=2)
        if golden is not None:
            folder = Path(request.path).parent
            update = bool(request.config.getoption(_UPDATE))
            assert_equals_golden(measured, folder / golden, update=update)
        return measured

    return check
