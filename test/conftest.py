# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of all tests."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
VERIFIED = "unit"
"""The tests in which each pass is checked: does it preserve the analyses that it is declared to
preserve? That takes a quarter of the time of a pipeline. These tests include mutated programs of
the whole corpus; the others run the same pipelines, and are checked in the weekly run of more
cases."""

MORE_CASES = "PYSHARDY_CASES" in os.environ

# Several processes run tests at once: threads for matrix products would wait for each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Hypothesis draws the same examples in each run, as far as the same modules are loaded, whose
# constants it tries; and new ones in the weekly run. A case may take as long as it does on a busy
# machine.
settings.register_profile("pyshardy", derandomize=not MORE_CASES, database=None, deadline=None)
settings.load_profile("pyshardy")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for runs that have to be short."""
    told = "run at most N cases of each test, spread evenly"
    parser.addoption("--most-cases", type=int, metavar="N", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep as many cases of each test as `--most-cases` says; all of them in the weekly run."""
    most = config.getoption("--most-cases")
    if most is None or MORE_CASES:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {
        item
        for of_test in cases.values()
        for item in (of_test[len(of_test) * index // most] for index in range(most))
    }
    items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    """Leave what is loaded out of garbage collections, which take a third of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell the pipelines of a test, also those in other processes, whether to check analyses."""
    part = item.path.relative_to(HERE).parts[0]
    is_verified = part == VERIFIED or MORE_CASES
    os.environ["PYSHARDY_VERIFY_ANALYSES"] = "1" if is_verified else ""
